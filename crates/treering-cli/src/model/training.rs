//! Training into a model directory: who holds the lock, what is learned together, what is committed when.
//!
//! The lock comes before the training, so that a second writer is refused at once instead of after an hour. A model's first task is
//! committed as soon as it is learned, because everything later stands on its backbone; later tasks are trained together as far as memory allows, which is
//! faster and gives the same bytes, and committed as many at once as make a few megabytes. A task's graph is cut out of the data when its turn comes and goes when it is learned.

use std::path::Path;

use treering_data::{Progress, check_mapped};
use treering_eval::Several;
use treering_learn::saved::{self, Keep, Parameters};
use treering_learn::{Shown, TrainingTask};
use treering_store::{Change, Fault, Model, NewRing, RingEntry, Writer};

use super::ground::Ground;
use super::tasks::Tasks;
use crate::failure::Failure;
use crate::memory::{self, Estimate};

/// Rings of so many bytes are committed together. Every commit writes the whole manifest: with one ring a commit, a thousand small rings write it a thousand
/// times. All of them are trained by then, so little is lost where a commit is interrupted.
const AT_ONCE: usize = 16 << 20;

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
    pub(super) fn check(&self, tasks: &Tasks, names: &[String]) -> Result<(), Failure> {
        Ground {
            folder: self.writer.folder(),
            manifest: self.writer.manifest(),
            replaced: self.replaced.as_ref(),
        }
        .check(tasks, names)
    }

    /// What learning these tasks takes.
    pub(super) fn estimate(&self, tasks: &Tasks) -> Estimate {
        let is_new = self.model().is_none();
        let parameters = self.learner.parameters();
        Estimate::of(tasks.to_cut() + memory::to_learn(&parameters, tasks.sizes(), is_new))
    }

    /// Learns tasks and commits their rings; `done` hears of every commit.
    pub(super) fn learn(
        mut self,
        tasks: &Tasks,
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
        let is_new = self.model().is_none();
        let batches = memory::batches(&self.learner.parameters(), tasks.sizes(), is_new);
        for batch in batches {
            let one = |at: usize| -> Result<TrainingTask, Failure> {
                let graph = tasks.graph(at)?;
                Ok(TrainingTask::new(graph, next + at as u64, shown)?)
            };
            let cut = batch.clone().map(one).collect::<Result<Vec<_>, _>>()?;
            let known = self.learner.rings();
            let several = Several {
                inner: progress,
                before: batch.start,
                here: batch.len(),
                all: tasks.len(),
            };
            self.learner.learn(&cut, &several)?;
            check_mapped()?;
            let (mut pending, mut bytes) = (Vec::new(), 0);
            for ((ring, at), task) in (known..).zip(batch.clone()).zip(&cut) {
                let begins = is_new && at == 0;
                if begins {
                    let head = saved::head(&*self.learner, task, &names[at]);
                    self.writer = self.writer.with_head(head)?;
                }
                let ring = NewRing {
                    name: names[at].clone(),
                    classes: task.classes().to_vec(),
                    facts: saved::facts(&self.learner.parameters(), task, begins),
                    bytes: self.learner.ring(ring),
                };
                bytes += ring.bytes.len();
                pending.push(self.change(ring));
                if bytes >= AT_ONCE || at + 1 == batch.end {
                    bytes = 0;
                    let entries = self.writer.commit(std::mem::take(&mut pending))?;
                    entries.iter().try_for_each(&mut done)?;
                }
            }
        }
        Ok(self)
    }

    fn change(&self, ring: NewRing) -> Change {
        match &self.replaced {
            None => Change::Add(ring),
            Some(old) => Change::Replace {
                number: old.number,
                ring,
            },
        }
    }
}
