//! What learners are judged by. The evaluator owns the labels of test nodes; a learner sees a task's graph and its train labels, and later
//! a query.

mod classes;
mod matrix;
mod measure;
mod run;
pub mod runs;
pub mod studies;

pub use classes::ClassCounts;
pub use matrix::{Matrix, balanced_accuracy};
pub use measure::{Costs, Spent, cpu_seconds, peak_memory};
pub use run::{Asked, Cell, Evaluation, Exam, Outcome, Protocol, evaluate, examine, tasks_of};
