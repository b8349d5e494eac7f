//! The rows that are kept of a task.

use rand::seq::SliceRandom;
use treering_graph::{Features, NodeId};

use crate::baselines::Lesson;
use crate::network::loss::{CrossEntropy, row_weights};
use crate::network::source::Source;

/// Rows of one old task, smoothed.
pub(super) struct Kept {
    rows: Features,
    labels: Vec<u32>,
    weights: Vec<f32>,
    /// The classes that were known when the task was learned.
    outputs: usize,
}

impl Kept {
    pub(super) fn of(lesson: &Lesson<'_>, count: usize, first: bool) -> Self {
        let chosen = match first {
            true => lesson.rows_by_class().concat(),
            false => in_turn(lesson),
        };
        let chosen = &chosen[..count.min(chosen.len())];
        let nodes: Vec<NodeId> = chosen.iter().map(|&row| NodeId(row as u32)).collect();
        let labels: Vec<u32> = chosen.iter().map(|&row| lesson.labels[row]).collect();
        Kept {
            rows: lesson.kept_rows().select(&nodes),
            weights: row_weights(&labels, false, 1.0),
            labels,
            outputs: lesson.columns.end,
        }
    }

    pub(super) fn source(&self) -> Source<'static, f32> {
        Source::rows_of(&self.rows)
    }

    /// The mean over all rows, among the classes known at the time.
    pub(super) fn loss(&self) -> CrossEntropy<'_, f32> {
        CrossEntropy {
            labels: &self.labels,
            weights: &self.weights,
            columns: self.outputs,
            shift: None,
        }
    }

    pub(super) fn numbers(&self) -> u64 {
        self.rows.non_zeros() as u64
    }

    #[cfg(test)]
    pub(super) fn labels(&self) -> &[u32] {
        &self.labels
    }
}

/// All train rows in random order, a row of each class in turn as long as it has any: the first so many are as balanced as can be.
fn in_turn(lesson: &Lesson<'_>) -> Vec<usize> {
    let mut random = lesson.random();
    let mut classes = lesson.rows_by_class();
    classes
        .iter_mut()
        .for_each(|rows| rows.shuffle(&mut random));
    let longest = classes.iter().map(Vec::len).max().unwrap_or(0);
    let turn = |at: usize| classes.iter().filter_map(move |rows| rows.get(at));
    (0..longest).flat_map(turn).copied().collect()
}
