//! What learners are judged by. The evaluator owns the labels of test nodes; a learner sees a task's graph and its train labels, and later
//! a query.

mod matrix;
mod run;

pub use matrix::{Matrix, balanced_accuracy};
pub use run::{Cell, Outcome, Protocol, evaluate, examine, tasks_of};
