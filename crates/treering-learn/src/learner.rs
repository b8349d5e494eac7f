//! What every learner can do.

use treering_data::Progress;

use crate::{Answer, LearnError, Query, TrainingTask};

/// Learns a stream task by task, and answers queries about everything learned so far.
pub trait Learner {
    /// What it is called in flags and tables.
    fn name(&self) -> &'static str;

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

    /// Whether learning never changes what was there, so that [`Query::seen`] brings every earlier stage back. Such a learner may be
    /// given several tasks at once and asked about each stage afterwards.
    fn keeps_stages(&self) -> bool {
        false
    }
}
