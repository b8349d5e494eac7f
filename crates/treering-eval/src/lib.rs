//! What learners are judged by. The evaluator owns the labels of test nodes; a learner sees a task's graph and its train labels, and later
//! a query.

mod calibration;
mod cell;
mod classes;
mod matrix;
mod measure;
mod open;
mod protocol;
mod rejection;
mod run;
pub mod runs;
mod several;
pub mod studies;

pub use cell::Cell;
pub use classes::ClassCounts;
pub use matrix::{Matrix, balanced_accuracy};
pub use measure::{Costs, Spent, cpu_seconds, peak_memory, resident_memory};
pub use open::{Open, auroc};
pub use protocol::{
    Asked, Exam, GroupSize, Listed, NoSuchProtocol, Protocol, inductive_tasks_of, tasks_of,
};
pub use rejection::Rejection;
pub use run::{Evaluation, Outcome, evaluate, examine};
pub use several::Several;
