//! Condensation: a task as a few synthetic rows without edges, made so that random networks cannot tell them from the task's own.
//!
//! Here is what the methods of this kind share: the synthetic rows, where they start, the columns they live on, and random weights that
//! are cheap enough to be drawn anew thousands of times a task. What is matched is the method's own.

mod draw;
mod real;

pub use draw::{Network, fill};
pub use real::Real;

use serde::{Deserialize, Serialize};
use treering_data::{Purpose, random};
use treering_graph::NodeId;

use super::Lesson;
use crate::LearnError;
use crate::network::inputs::Inputs;
use crate::network::source::{Source, dense_columns};

/// The feature columns that synthetic rows live on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Columns {
    /// Those that the task has. In the others real rows are zero, synthetic ones start at zero, and the gradient is noise around zero.
    Present,
    /// All of them, as published.
    All,
}

/// The synthetic rows of one task, class by class.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The feature columns that they live on, ascending; all others are zero.
    pub columns: Vec<u32>,
    /// A row for each label.
    pub values: Vec<f32>,
    /// Classes among all classes seen.
    pub labels: Vec<u32>,
}

impl Block {
    /// The rows, to be read by a network.
    pub fn source(&self) -> Source<'static, f32> {
        Source::from_inputs(Inputs::dense_of(
            self.labels.len(),
            self.columns.clone(),
            self.values.clone(),
        ))
    }

    /// The same rows with other values.
    ///
    /// # Errors
    /// Values that are not finite.
    pub fn with(self, values: Vec<f32>) -> Result<Self, LearnError> {
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(Block { values, ..self }),
            false => Err(LearnError::Diverged {
                what: "the synthetic rows",
            }),
        }
    }
}

/// Numbers that a memory of blocks keeps.
pub fn numbers(bank: &[Block]) -> u64 {
    bank.iter().map(|block| block.values.len() as u64).sum()
}

/// Rows to begin with: features of the chosen train rows as they are, class by class.
///
/// # Arguments
/// * `present`: the columns that the task has.
/// * `chosen`: for each class, places among the train rows.
pub fn start(
    lesson: &Lesson<'_>,
    present: &[u32],
    columns: Columns,
    chosen: &[Vec<usize>],
) -> Block {
    let features = lesson.task.graph().features();
    let columns = match columns {
        Columns::Present => present.to_vec(),
        Columns::All => (0..features.columns() as u32).collect(),
    };
    let rows = || chosen.iter().flatten();
    let nodes: Vec<NodeId> = rows().map(|&row| lesson.task.train().nodes[row]).collect();
    Block {
        values: dense_columns(&features.select(&nodes), &columns),
        columns,
        labels: rows().map(|&row| lesson.labels[row]).collect(),
    }
}

/// Draws for a task and a class of it, apart from those of the shared trainer.
pub fn choice(lesson: &Lesson<'_>, index: u32) -> rand_chacha::ChaCha8Rng {
    random(
        lesson.training.seed,
        Purpose::Sampling,
        1 << 63 | lesson.task.number() << 32 | u64::from(index),
    )
}
