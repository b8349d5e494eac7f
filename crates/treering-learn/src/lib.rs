//! Learners: what they are shown, how they learn a task, how they recognise one.
//!
//! [`TrainingTask`] and [`Query`] are all that a learner gets to see; [`Learner`] is what it can do. One folder holds one method;
//! [`network`] holds what they share.

pub mod network;
pub mod tpp;

#[cfg(test)]
mod checks;
mod error;
mod learner;
mod task;

pub use error::LearnError;
pub use learner::Learner;
pub use task::{Answer, Groups, Labelled, Query, Shown, TrainingTask};
