//! What every learner can do.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use treering_data::Progress;

use crate::network::backbone::Backbone;
use crate::{Answer, LearnError, Query, Stage, TrainingTask};

/// What a [`Progress`] hears when the training of a backbone begins.
pub const PRETRAINING: &str = "training the backbone";

/// What a [`Progress`] hears when prototypes are taken.
pub const PROFILING: &str = "taking prototypes";

/// Turns shares of the work, which add up to 1, into steps of a [`Progress`].
pub(crate) struct Counted<'a> {
    progress: &'a dyn Progress,
    done: Mutex<(f64, u64)>,
}

impl<'a> Counted<'a> {
    /// Steps of all the work.
    pub(crate) const ALL: u64 = 100;

    pub(crate) fn new(progress: &'a dyn Progress) -> Self {
        Counted {
            progress,
            done: Mutex::default(),
        }
    }

    /// Some more is done.
    pub(crate) fn add(&self, share: f64) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.0 += share;
        // A little less than it may be, so that rounding up comes at the end of the work.
        let steps = ((done.0 + 1e-9).min(1.0) * Self::ALL as f64) as u64;
        let more = steps.saturating_sub(done.1);
        done.1 += more;
        drop(done);
        // Whoever listens may want to stop, so it hears of work that is no whole step too.
        self.progress.advance(more);
    }
}

/// What a learner lays down with the first task and never changes.
#[derive(Clone, Debug)]
pub struct Foundation(pub(crate) Backbone);

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

    /// As [`predict`](Learner::predict), some answers at a time, for as long as `take` wants more of them: those of a large graph take more memory than the graph.
    ///
    /// # Errors
    /// As [`predict`](Learner::predict).
    fn predict_each(
        &self,
        query: &Query,
        progress: &dyn Progress,
        take: &mut dyn FnMut(Vec<Answer>) -> bool,
    ) -> Result<(), LearnError> {
        let _ = progress;
        take(self.predict(query)?);
        Ok(())
    }

    /// Answers the same query at several [kept](Stages::Kept) stages; `take` is given the place of a stage and its answers. What depends on the graph
    /// alone need not be done again for each.
    ///
    /// # Errors
    /// As [`predict`](Learner::predict).
    fn predict_at(
        &self,
        query: &Query,
        stages: &[Stage],
        take: &mut dyn FnMut(usize, Vec<Answer>),
    ) -> Result<(), LearnError> {
        let mut query = query.clone();
        for (at, stage) in stages.iter().enumerate() {
            query.go_to(*stage);
            take(at, self.predict(&query)?);
        }
        Ok(())
    }

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

    /// Whether [familiarity](Answer::familiarity) is a share: that of queries of known tasks, of this group size, that are less familiar. Rejecting what
    /// lies below a rate then raises false alarms at that rate.
    fn familiarity_is_calibrated(&self) -> bool {
        false
    }

    /// Whether it asks for validation labels, to calibrate. Protocols that show whole tasks at training then grant them.
    fn calibrates(&self) -> bool {
        false
    }

    /// The parameters that decide what it lays down with the first task and never changes; none where there is no such thing. Learners that agree in
    /// them, and learn the same first task, have the same [foundation](Learner::foundation).
    fn foundation_parameters(&self) -> Option<Value> {
        None
    }

    /// What it laid down, so that a learner with other parameters does not have to do it again.
    fn foundation(&self) -> Option<Foundation> {
        None
    }

    /// Begins with what another learner laid down. It then learns as if it had done so itself.
    fn begin_with(&mut self, _: Foundation) {}

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
