//! A corrupted copy of a task's graph, whose rows stand in for what the task is not.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use treering_data::{Purpose, random};
use treering_graph::{Dense, Features, Propagation, Sparse};

use crate::LearnError;
use crate::baselines::Lesson;
use crate::network::source::Source;
use crate::parameters::share;

/// How a graph is corrupted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Corruption {
    /// Share of arcs that are removed.
    pub edge_removal: f64,
    /// Share of feature columns that are set to zero.
    pub attribute_masking: f64,
    /// Shuffle every feature column over the nodes, each in its own way.
    pub shuffle: bool,
}

impl Default for Corruption {
    fn default() -> Self {
        Corruption {
            edge_removal: 0.2,
            attribute_masking: 0.3,
            shuffle: false,
        }
    }
}

impl Corruption {
    /// Refuses what cannot work.
    pub(super) fn check(&self) -> Result<(), LearnError> {
        share("edge-removal", self.edge_removal)?;
        share("attribute-masking", self.attribute_masking)
    }

    /// The rows of a task's train nodes in its corrupted graph, smoothed.
    pub(super) fn rows(&self, lesson: &Lesson<'_>) -> Source<'static, f32> {
        let mut random = random(
            lesson.training.seed,
            Purpose::Augmentation,
            lesson.task.number(),
        );
        let graph = lesson.task.graph();
        let arcs = graph
            .arcs()
            .filtered(|_, _| !random.random_bool(self.edge_removal));
        let columns = graph.features().columns();
        let kept: Vec<bool> = (0..columns)
            .map(|_| !random.random_bool(self.attribute_masking))
            .collect();
        let mut features = masked(graph.features(), &kept);
        if self.shuffle {
            features = shuffled(&features, &mut random);
        }
        let smooth = Propagation::new(&arcs).smooth_features(&features, lesson.training.hops);
        Source::rows_of(&smooth.select(&lesson.task.train().nodes))
    }
}

/// The features with only the columns that are kept.
pub(super) fn masked(features: &Features, kept: &[bool]) -> Features {
    match features {
        Features::Dense(x) => {
            let value = |(at, &value): (usize, &f32)| match kept[at % kept.len()] {
                true => value,
                false => 0.0,
            };
            dense(x, x.values().iter().enumerate().map(value).collect())
        }
        Features::Sparse(x) => {
            let rows = (0..x.rows()).map(|row| {
                let (columns, values) = x.row(row);
                let entries = columns.iter().copied().zip(values.iter().copied());
                entries
                    .filter(|(column, _)| kept[*column as usize])
                    .collect()
            });
            sparse(x.columns(), rows.collect())
        }
    }
}

/// The features with the values of every column at other nodes.
pub(super) fn shuffled(features: &Features, random: &mut ChaCha8Rng) -> Features {
    let (nodes, columns) = (features.rows(), features.columns());
    match features {
        Features::Dense(x) => {
            let mut values = x.values().to_vec();
            for column in 0..columns {
                let mut order: Vec<usize> = (0..nodes).collect();
                order.shuffle(random);
                for (to, from) in order.into_iter().enumerate() {
                    values[to * columns + column] = x.row(from)[column];
                }
            }
            dense(x, values)
        }
        Features::Sparse(x) => {
            let mut by_column: Vec<Vec<f32>> = vec![Vec::new(); columns];
            for (&column, &value) in x.indices().iter().zip(x.values()) {
                by_column[column as usize].push(value);
            }
            let mut rows = vec![Vec::new(); nodes];
            for (column, values) in by_column.into_iter().enumerate() {
                let places = sample(random, nodes, values.len());
                for (place, value) in places.into_iter().zip(values) {
                    rows[place].push((column as u32, value));
                }
            }
            sparse(columns, rows)
        }
    }
}

fn dense(like: &Dense, values: Vec<f32>) -> Features {
    match Dense::new(like.rows(), like.columns(), values.into()) {
        Ok(dense) => Features::Dense(dense),
        Err(_) => unreachable!("as many values as before"),
    }
}

/// Rows of entries whose columns ascend.
fn sparse(columns: usize, rows: Vec<Vec<(u32, f32)>>) -> Features {
    let mut offsets = vec![0u64];
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    for row in rows {
        indices.extend(row.iter().map(|entry| entry.0));
        values.extend(row.iter().map(|entry| entry.1));
        offsets.push(indices.len() as u64);
    }
    match Sparse::new(columns, offsets.into(), indices.into(), values.into()) {
        Ok(sparse) => Features::Sparse(sparse),
        Err(_) => unreachable!("columns were visited in order"),
    }
}
