//! What every learner can do.

use serde::{Deserialize, Serialize};
use treering_data::Progress;

use crate::{Answer, LearnError, Query, TrainingTask};

/// Learns a stream task by task, and answers queries about everything learned so far.
pub trait Learner {
    /// What it is called in flags and tables.
    fn name(&self) -> &str;

    /// Learns the next task, or the next few, in order. The result is the same as one by one.
    ///
    /// # Errors
    /// A task that does not fit what was learned before.
    fn learn(&mut self, tasks: &[TrainingTask], progress: &dyn Progress) -> Result<(), LearnError>;

    /// Answers for every node of the query, in its order.
    ///
    /// # Errors
    /// A query that does not fit; nothing learned yet.
    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError>;

    /// What becomes of earlier stages.
    fn stages(&self) -> Stages {
        Stages::Passing
    }

    /// Numbers that it keeps now.
    fn stored(&self) -> Stored;

    /// Whether a router decides on one task for every group.
    fn recognises(&self) -> bool {
        false
    }

    /// The learner that this one adds task prediction to.
    fn host(&self) -> Option<&dyn Learner> {
        None
    }
}

/// What becomes of what a learner knew after earlier tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stages {
    /// Learning never changes what was there, so [`Query::seen`] brings every earlier stage back. Such a learner may be given several tasks at
    /// once and asked about each stage afterwards.
    Kept,
    /// It has to be asked after every task.
    Passing,
    /// It is given all tasks at once, and only what it knows in the end counts.
    LastOnly,
}

/// Numbers that a learner keeps; indices and the optimiser's running means do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// What predictions need.
    pub model: u64,
    /// What is kept for the sake of old tasks only: stored rows, importances, an old network.
    pub memory: u64,
}
