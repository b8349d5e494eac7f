//! Training into a model directory: who holds the lock, what is learned together, what is committed when.
//!
//! The lock comes before the training, so that a second writer is refused at once instead of after an hour. A model's first task is
//! committed as soon as it is learned, because everything later stands on its backbone; later tasks are trained together, which is faster and
//! gives the same bytes, and committed one by one.

use std::path::Path;

use serde_json::Value;
use treering_data::Progress;
use treering_graph::Graph;
use treering_learn::saved::{self, Keep, Parameters};
use treering_learn::{LearnError, Shown, TrainingTask};
use treering_store::{Change, Fault, Model, NewRing, RingEntry, Writer};

use super::ground::Ground;
use crate::failure::Failure;

/// A model that is being added to, or begun.
pub(super) struct Training {
    writer: Writer,
    learner: Box<dyn Keep>,
    /// The ring that is learned anew.
    replaced: Option<RingEntry>,
}

/// The parameters of the model in a folder; none where a model would begin.
pub(super) fn parameters_in(folder: &Path) -> Result<Option<Parameters>, Failure> {
    match Model::open(folder) {
        Ok(model) => Ok(Some(saved::parameters(&model)?)),
        Err(error) => match *error.fault {
            Fault::NotFound | Fault::NotAModel | Fault::Unfinished => Ok(None),
            _ => Err(error.into()),
        },
    }
}

impl Training {
    /// Takes the lock on a new folder.
    pub(super) fn begin(folder: &Path, parameters: Parameters) -> Result<Self, Failure> {
        let learner = parameters.build()?;
        Ok(Training {
            writer: super::prepared(Writer::reserve(folder)?)?,
            learner,
            replaced: None,
        })
    }

    /// Takes the lock on a model. The ring to be replaced is not read: it may be the damaged one.
    pub(super) fn resume(folder: &Path, replace: Option<&str>) -> Result<Self, Failure> {
        let writer = super::prepared(Writer::open(folder)?)?;
        let model = Model::open(folder)?;
        let replaced = replace.map(|task| model.find(task)).transpose()?.cloned();
        let keep = |ring: &RingEntry| Some(ring.number) != replaced.as_ref().map(|r| r.number);
        let learner = saved::load_some(&model, keep)?;
        Ok(Training {
            writer,
            learner,
            replaced,
        })
    }

    /// The number that the next ring will have.
    pub(super) fn next_number(&self) -> u32 {
        self.writer
            .manifest()
            .map_or(1, |manifest| manifest.next_ring)
    }

    /// The names of the rings that are there.
    pub(super) fn names(&self) -> Vec<&str> {
        let rings = self.writer.manifest().map(|manifest| &manifest.rings[..]);
        let names = rings.unwrap_or_default().iter();
        names.map(|ring| &ring.name[..]).collect()
    }

    /// The ring that is learned anew.
    pub(super) fn replaced(&self) -> Option<&RingEntry> {
        self.replaced.as_ref()
    }

    /// The model as it is now.
    pub(super) fn model(&self) -> Option<&Model> {
        self.writer.model()
    }

    /// Refuses tasks that do not fit the model, before any work.
    pub(super) fn check(&self, tasks: &[Graph], names: &[String]) -> Result<(), Failure> {
        Ground {
            folder: self.writer.folder(),
            manifest: self.writer.manifest(),
            replaced: self.replaced.as_ref(),
        }
        .check(tasks, names)
    }

    /// Learns tasks and commits their rings; `done` hears of every commit.
    pub(super) fn learn(
        mut self,
        graphs: &[Graph],
        names: &[String],
        progress: &dyn Progress,
        mut done: impl FnMut(&RingEntry) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let next = u64::from(self.next_number());
        // Validation nodes have no part in what is answered; how sure an answer is may be told by them.
        let shown = match self.learner.calibrates() {
            true => Shown::TrainAndValidation,
            false => Shown::Train,
        };
        let tasks = (next..)
            .zip(graphs)
            .map(|(number, graph)| TrainingTask::new(graph.clone(), number, shown))
            .collect::<Result<Vec<_>, LearnError>>()?;
        let is_new = self.model().is_none();
        for batch in batches(tasks.len(), is_new) {
            let known = self.learner.rings();
            self.learner.learn(&tasks[batch.clone()], progress)?;
            for (ring, at) in (known..).zip(batch) {
                let begins = is_new && at == 0;
                if begins {
                    let head = saved::head(&*self.learner, &tasks[at], &names[at]);
                    self.writer = self.writer.with_head(head)?;
                }
                let facts = saved::facts(&self.learner.parameters(), &tasks[at], begins);
                let bytes = self.learner.ring(ring);
                done(&self.commit(&names[at], &tasks[at], bytes, facts)?)?;
            }
        }
        Ok(self)
    }

    fn commit(
        &mut self,
        name: &str,
        task: &TrainingTask,
        bytes: Vec<u8>,
        facts: Value,
    ) -> Result<RingEntry, Failure> {
        let ring = NewRing {
            name: name.to_owned(),
            classes: task.classes().to_vec(),
            facts,
            bytes,
        };
        let change = match &self.replaced {
            None => Change::Add(ring),
            Some(old) => Change::Replace {
                number: old.number,
                ring,
            },
        };
        let entries = self.writer.commit(vec![change])?;
        let entry = entries.into_iter().next();
        entry.ok_or_else(|| Failure::system("the commit gave no ring"))
    }
}

/// A new model's first task alone, the others together.
fn batches(tasks: usize, is_new: bool) -> Vec<std::ops::Range<usize>> {
    let first = usize::from(is_new).min(tasks);
    [0..first, first..tasks]
        .into_iter()
        .filter(|batch| !batch.is_empty())
        .collect()
}
