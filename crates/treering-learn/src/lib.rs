//! Learners: what they are shown, how they learn a task, how they recognise one.
//!
//! [`TrainingTask`] and [`Query`] are all that a learner gets to see; [`Learner`] is what it can do. One folder holds one method;
//! [`network`] holds what they share.

pub mod baselines;
pub mod network;
pub mod plus_tp;
pub mod registry;
pub mod saved;
pub mod tpp;
pub mod treering;

#[cfg(test)]
mod checks;
mod cut;
mod error;
mod learner;
pub mod memory;
mod parameters;
mod task;

pub use cut::{hold_out, one_task};
pub use error::LearnError;
pub use learner::{Foundation, Learner, PRETRAINING, PROFILING, Stages, Stored};
pub use task::{Answer, Groups, Labelled, Query, Shown, Stage, TrainingTask};
