//! The memory of centres and the objective over a task and all of them.

use rand::seq::index::sample;
use serde::{Deserialize, Serialize};
use treering_data::{Purpose, random};
use treering_graph::NodeId;

use super::Neighbours;
use crate::LearnError;
use crate::baselines::ergnn::CHOICE;
use crate::baselines::{Beside, Lesson, StoredRows, Strategy, Turn};
use crate::network::classifier::Classifier;
use crate::network::loss::row_weights;
use crate::network::session::{Gradient, Session};
use crate::network::source::smoothed_rows;
use crate::parameters::count;

/// What is kept and how it counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Memory {
    /// Centres kept of every class, or all its train nodes where it has fewer.
    pub budget: usize,
    /// Neighbours kept for every centre and hop, on average over a task.
    pub neighbours: usize,
    /// Leave the centres of the task being learned out of what is replayed beside it. The published code counts them twice.
    pub old_only: bool,
    /// Count replayed rows once more with every epoch of a task, as the published code does by adding them to its train list again.
    pub growing_replay: bool,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            budget: 60,
            neighbours: 5,
            old_only: false,
            growing_replay: false,
        }
    }
}

/// Keeps centres and trains on them again.
pub struct Centres<N> {
    memory: Memory,
    neighbours: N,
    rows: StoredRows,
    /// Classes of the rows that the task at hand replays.
    replayed: Vec<u32>,
    retained: Vec<usize>,
}

impl<N: Neighbours> Centres<N> {
    /// No centres yet.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn new(memory: Memory, neighbours: N) -> Result<Self, LearnError> {
        count(
            "budget",
            memory.budget,
            1..=1_000_000_000,
            "between 1 and 1000000000",
        )?;
        count(
            "neighbours",
            memory.neighbours,
            0..=1_000_000,
            "between 0 and 1000000",
        )?;
        Ok(Centres {
            memory,
            neighbours,
            rows: StoredRows::default(),
            replayed: Vec::new(),
            retained: Vec::new(),
        })
    }

    /// The kept rows of S^hops X.
    pub fn rows(&self) -> &StoredRows {
        &self.rows
    }

    /// For each task, the nodes of the sub-graph that its rows were worked out on. The published method stores all of them.
    pub fn retained(&self) -> &[usize] {
        &self.retained
    }

    /// Chooses a task's centres and works out their rows.
    fn keep(&mut self, lesson: &Lesson<'_>) {
        let graph = lesson.task.graph();
        let chosen = self.centres(lesson);
        let node = |&row: &usize| lesson.task.train().nodes[row];
        let centres: Vec<NodeId> = chosen.iter().map(node).collect();
        let nodes = self.neighbours.retain(
            graph,
            &centres,
            lesson.training.hops,
            self.memory.neighbours,
            &mut random(
                lesson.training.seed,
                Purpose::Sampling,
                lesson.task.number() << 32 | CHOICE | (CHOICE - 1),
            ),
        );
        self.retained.push(nodes.len());
        // Centres come first among the nodes, so their places are the first ones.
        let places: Vec<NodeId> = NodeId::first(centres.len()).collect();
        let rows = smoothed_rows(&graph.induced(&nodes), lesson.training.hops, &places);
        let labels: Vec<u32> = chosen.iter().map(|&row| lesson.labels[row]).collect();
        self.rows.add(&rows, &labels);
    }

    /// Random train rows of every class.
    fn centres(&self, lesson: &Lesson<'_>) -> Vec<usize> {
        let mut chosen = Vec::new();
        for (class, rows) in lesson.rows_by_class().iter().enumerate() {
            let mut random = random(
                lesson.training.seed,
                Purpose::Sampling,
                lesson.task.number() << 32 | CHOICE | class as u64,
            );
            let drawn = sample(&mut random, rows.len(), self.memory.budget.min(rows.len()));
            chosen.extend(drawn.into_iter().map(|at| rows[at]));
        }
        chosen
    }
}

impl<N: Neighbours> Strategy for Centres<N> {
    fn before(&mut self, lesson: &Lesson<'_>, _: &Classifier) -> Result<Beside, LearnError> {
        let old = (self.rows.source(), self.rows.labels().to_vec());
        self.keep(lesson);
        let (source, labels) = match (lesson.index, self.memory.old_only) {
            (0, _) => (None, Vec::new()),
            (_, true) => old,
            (_, false) => (self.rows.source(), self.rows.labels().to_vec()),
        };
        self.replayed = labels;
        Ok(Beside::reading(source))
    }

    /// One cross entropy over the step's rows and the replayed ones together.
    fn gradient(
        &mut self,
        session: &mut Session<'_, '_>,
        lesson: &Lesson<'_>,
        turn: &Turn,
        gradient: &mut Gradient<f32>,
    ) -> f64 {
        if self.replayed.is_empty() {
            return turn.add_loss(session, gradient);
        }
        let times = match self.memory.growing_replay {
            true => turn.epoch + 1,
            false => 1,
        };
        let balanced = lesson.training.balanced;
        let (own, again) = together(&turn.labels, &self.replayed, balanced, times);
        turn.add_losses(session, gradient, &own, (&self.replayed, &again))
    }

    fn memory(&self) -> u64 {
        self.rows.numbers()
    }
}

/// What each row counts in one loss over both sets of rows, where those of the second are there `times` times. Classes are counted as if
/// they were there once, so that repeating them does change the balance.
pub(super) fn together(
    own: &[u32],
    replayed: &[u32],
    balanced: bool,
    times: usize,
) -> (Vec<f32>, Vec<f32>) {
    let labels = [own, replayed].concat();
    let weights: Vec<f64> = row_weights(&labels, balanced, 1.0);
    let times = times as f64;
    let (first, second) = weights.split_at(own.len());
    let all = first.iter().sum::<f64>() + times * second.iter().sum::<f64>();
    let scaled = |weights: &[f64], by: f64| -> Vec<f32> {
        weights.iter().map(|&weight| (by * weight) as f32).collect()
    };
    (scaled(first, 1.0 / all), scaled(second, times / all))
}
