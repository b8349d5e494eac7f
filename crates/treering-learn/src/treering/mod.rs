//! Treering's own learner. A task's ring holds sums over its train nodes, by which single nodes and groups find it, and a head in closed form.
//! Nothing is trained by gradients, nothing is shared but a fixed space, nothing learned before changes.

mod answer;
mod embed;
mod familiar;
mod gram;
mod head;
mod parameters;
mod parts;
mod profile;
mod router;
pub(crate) mod saved;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;
use treering_data::Progress;
use treering_graph::Features;

pub use familiar::Usual;
pub use head::Head;
pub use parameters::Parameters;
pub use parts::{HeadSlice, Parts, Piece, Read};
pub use profile::{Profile, Scatter};
pub use router::Router;

use crate::learner::Counted;
use crate::tpp::{Profile as Means, Recogniser};
use crate::{Answer, LearnError, Learner, PROFILING, Query, Stage, Stages, Stored, TrainingTask};
pub(crate) use embed::strip_columns;
use embed::{Kept, Space};
pub(crate) use gram::is_shorter as equations_are_shorter;
use head::Blocks;
use router::{Scores, Sums};

/// Counts up whenever the method or its defaults change.
pub const REVISION: u32 = 2;

/// The learner's name.
pub const LEARNER: &str = "treering";

/// How the time of learning a task is shared, roughly: it is told to whoever waits.
const VIEW: f64 = 0.6;
const PROFILE: f64 = 0.2;

/// What a task leaves behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Ring {
    /// Its smoothed mean, for the paper's router.
    pub prototype: Vec<f64>,
    /// By which its nodes are recognised.
    pub profile: Profile,
    /// How far its own nodes are from it.
    pub usual: Usual,
    /// Tells its classes apart.
    pub head: Head,
}

impl Ring {
    /// How many classes it knows.
    pub fn classes(&self) -> usize {
        self.profile.classes()
    }

    /// Numbers that it keeps.
    pub fn numbers(&self) -> usize {
        let recognised = self.prototype.len() + self.profile.numbers() + self.usual.numbers();
        recognised + self.head.numbers()
    }
}

/// The learner.
#[derive(Debug)]
pub struct Treering {
    parameters: Parameters,
    space: OnceLock<Space>,
    rings: Vec<Ring>,
    memory: Mutex<Memory>,
}

/// What was worked out from rings and may be needed again.
#[derive(Debug, Default)]
struct Memory {
    sums: Option<Sums>,
    /// By stage.
    scores: Vec<Option<Arc<Scores>>>,
}

impl Treering {
    /// A learner that has learned nothing.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn new(parameters: Parameters) -> Result<Self, LearnError> {
        parameters.check()?;
        Ok(Treering {
            parameters,
            space: OnceLock::new(),
            rings: Vec::new(),
            memory: Mutex::default(),
        })
    }

    /// A learner put together from what it learned before.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn restore(parameters: Parameters, rings: Vec<Ring>) -> Result<Self, LearnError> {
        let mut learner = Treering::new(parameters)?;
        if let Some(ring) = rings.first() {
            learner.space(ring.prototype.len())?;
        }
        learner.rings = rings;
        Ok(learner)
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The rings, in the order in which they were learned.
    pub fn rings(&self) -> &[Ring] {
        &self.rings
    }

    /// The space for so many feature columns; the first graph decides.
    fn space(&self, features: usize) -> Result<&Space, LearnError> {
        if features == 0 {
            return Err(LearnError::NoFeatures);
        }
        let p = &self.parameters;
        let space = self
            .space
            .get_or_init(|| Space::new(features, p.width, p.seed));
        match space.features() == features {
            true => Ok(space),
            false => Err(LearnError::Width {
                found: features,
                expected: space.features(),
            }),
        }
    }

    fn recogniser(&self) -> Recogniser {
        Recogniser {
            seed: self.parameters.seed,
            profile: Means::Smoothed,
            smoothing: self.parameters.hops,
            patch: true,
        }
    }

    fn grow(
        &self,
        space: &Space,
        task: &TrainingTask,
        progress: &dyn Progress,
    ) -> Result<Ring, LearnError> {
        let done = Counted::new(progress);
        let (graph, train, classes) = (task.graph(), task.train(), task.classes().len());
        let p = &self.parameters;
        let apart = task.validation().map_or(&[][..], |known| &known.nodes);
        let nodes = [&train.nodes[..], apart].concat();
        // Projected rows would make another head.
        let plain = space.width() == space.features();
        let is_dense = matches!(graph.features(), Features::Dense(_));
        let columns = (p.hops + 1) * space.features();
        let shorter = gram::is_shorter(is_dense, columns, train.nodes.len());
        let kept = match plain && shorter {
            true => Kept::EveryHop,
            false => Kept::LastHop,
        };
        let view = space.view(graph, &nodes, p.hops, kept, &|share| {
            done.add(VIEW * share);
        })?;
        let (rows, others) = view.rows.split_at(train.nodes.len() * space.width());
        let profile = Profile::new(rows, train, classes, p.rank, p.seed)?;
        done.add(PROFILE);
        let ring = Ring {
            prototype: self.recogniser().prototype_drawn(task, 0),
            usual: Usual::new(&profile, rows, train, others, p.seed),
            profile,
            head: Head::new(&Blocks::new(graph, &view, &train.nodes), train, classes),
        };
        done.add(1.0 - VIEW - PROFILE);
        Ok(ring)
    }

    fn remembered(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scores of the router after so many tasks: sums in the order of the rings, so that it does not matter what was learned or forgotten
    /// in between.
    fn scores(&self, space: &Space, stage: usize) -> Result<Arc<Scores>, LearnError> {
        let mut memory = self.remembered();
        if let Some(Some(known)) = memory.scores.get(stage) {
            return Ok(known.clone());
        }
        let reusable = memory.sums.take().filter(|sums| sums.stage <= stage);
        // Not held while working: a thread that waits for parallel work may be given another query, which would wait here for itself.
        drop(memory);
        let mut sums = reusable.unwrap_or_else(|| Sums::new(space.width()));
        for ring in &self.rings[sums.stage..stage] {
            sums.add(&ring.profile);
        }
        let found = Arc::new(sums.scores(self.parameters.router)?);
        let mut memory = self.remembered();
        memory.sums = Some(sums);
        if memory.scores.len() <= stage {
            memory.scores.resize(stage + 1, None);
        }
        memory.scores[stage] = Some(found.clone());
        Ok(found)
    }
}

impl Learner for Treering {
    fn name(&self) -> &str {
        LEARNER
    }

    fn learn(&mut self, tasks: &[TrainingTask], progress: &dyn Progress) -> Result<(), LearnError> {
        for task in tasks {
            self.space(task.graph().features().columns())?;
        }
        progress.begin(PROFILING, Counted::ALL * tasks.len() as u64);
        let one = |task: &TrainingTask| {
            let space = self.space(task.graph().features().columns())?;
            self.grow(space, task, progress)
        };
        let rings: Result<Vec<Ring>, LearnError> = tasks.par_iter().map(one).collect();
        progress.end();
        self.rings.extend(rings?);
        Ok(())
    }

    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        self.answers(query)
    }

    fn predict_each(
        &self,
        query: &Query,
        progress: &dyn Progress,
        take: &mut dyn FnMut(Vec<Answer>) -> bool,
    ) -> Result<(), LearnError> {
        self.each_answer(query, progress, take)
    }

    fn predict_at(
        &self,
        query: &Query,
        stages: &[Stage],
        take: &mut dyn FnMut(usize, Vec<Answer>),
    ) -> Result<(), LearnError> {
        self.answers_at(query, stages, take)
    }

    fn stages(&self) -> Stages {
        Stages::Kept
    }

    fn stored(&self) -> Stored {
        Stored {
            model: self.rings.iter().map(|ring| ring.numbers() as u64).sum(),
            memory: 0,
        }
    }

    fn recognises(&self) -> bool {
        true
    }

    fn familiarity_is_calibrated(&self) -> bool {
        self.parameters.router != Router::Prototype
    }

    fn calibrates(&self) -> bool {
        true
    }
}
