//! ERGNN: keep a few train nodes of every class, without their edges, and train on them again with every later task.
//!
//! A node without edges is its own neighbourhood, S^hops x = x, so what is replayed are raw feature rows while a task's own rows are
//! smoothed. The two do not look alike, which is the method's weakness with this network.

mod samplers;

use rand::seq::index::sample;
use serde::{Deserialize, Serialize};
use treering_data::{Purpose, random};
use treering_graph::NodeId;

use self::samplers::{Group, coverage, distance_to_mean, dot_with_mean, lowest, sampled_coverage};
use super::{Baseline, Beside, Lesson, StoredRows, Strategy, Training, Turn};
use crate::LearnError;
use crate::network::classifier::Classifier;
use crate::network::loss::row_weights;
use crate::network::session::{Gradient, Session};
use crate::parameters::{count, range};

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// Draws for choosing nodes are kept apart from those for batches by this bit.
pub(super) const CHOICE: u64 = 1 << 31;

/// The parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// Which nodes are kept.
    #[serde(flatten)]
    pub choice: Choice,
    /// Keep the nodes with the smallest product with their class's mean, as the published code does where it means the nearest.
    pub farthest_mean: bool,
    /// In classes of `compared` nodes and more, score a sample drawn with repetition and take its ranks for places in the whole class, as
    /// the published code does. What is kept then has nothing to do with the scores.
    pub sampled_coverage: bool,
}

/// Which train nodes of a class are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Choice {
    /// Nodes kept of every class, or all where it has fewer.
    pub budget: usize,
    /// How they are chosen.
    pub sampler: Sampler,
    /// How near a node of another class has to be to count, for `coverage`.
    pub distance: f64,
    /// Nodes of each other class that a node is compared with at most, for `coverage`; 0 compares with all.
    pub compared: usize,
}

impl Default for Choice {
    fn default() -> Self {
        Choice {
            budget: 100,
            sampler: Sampler::Coverage,
            distance: 0.5,
            compared: 1000,
        }
    }
}

/// How nodes are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampler {
    /// Those with the fewest nodes of the task's other classes nearby.
    Coverage,
    /// Those nearest to the mean of their class.
    MeanOfFeature,
    /// Any.
    Random,
}

impl Choice {
    /// Refuses what cannot work.
    ///
    /// # Errors
    /// The first parameter that is outside its range.
    pub(super) fn check(&self) -> Result<(), LearnError> {
        count(
            "budget",
            self.budget,
            1..=1_000_000_000,
            "between 1 and 1000000000",
        )?;
        range("distance", self.distance, 0.0, f64::MAX, "0 or more")
    }
}

/// What of the published code's behaviour is wanted.
#[derive(Clone, Copy, Debug, Default)]
struct Bugs {
    farthest_mean: bool,
    sampled_coverage: bool,
}

/// Chooses nodes by raw features.
pub(super) struct Chooser<'l, 'a> {
    choice: &'l Choice,
    bugs: Bugs,
    lesson: &'l Lesson<'a>,
}

impl<'l, 'a> Chooser<'l, 'a> {
    pub(super) fn new(choice: &'l Choice, lesson: &'l Lesson<'a>) -> Self {
        Chooser {
            choice,
            bugs: Bugs::default(),
            lesson,
        }
    }

    /// The chosen train rows, class by class.
    pub(super) fn rows(&self) -> Vec<usize> {
        let classes = self.lesson.rows_by_class();
        (0..classes.len())
            .flat_map(|class| self.of_class(&classes, class))
            .collect()
    }

    fn of_class(&self, classes: &[Vec<usize>], class: usize) -> Vec<usize> {
        let (rows, budget) = (&classes[class], self.choice.budget);
        let nodes = &self.lesson.task.train().nodes;
        let nodes_of = |rows: &[usize]| rows.iter().map(|&row| nodes[row].index()).collect();
        let mut random = random(
            self.lesson.training.seed,
            Purpose::Sampling,
            self.lesson.task.number() << 32 | CHOICE | class as u64,
        );
        let group = Group::new(self.lesson.task.graph().features(), nodes_of(rows));
        let chosen = match self.choice.sampler {
            Sampler::Random => {
                let mut drawn = sample(&mut random, rows.len(), budget.min(rows.len())).into_vec();
                drawn.sort_unstable();
                drawn
            }
            Sampler::MeanOfFeature if self.bugs.farthest_mean => {
                lowest(&dot_with_mean(&group), budget)
            }
            Sampler::MeanOfFeature => lowest(&distance_to_mean(&group), budget),
            Sampler::Coverage => {
                let others: Vec<Vec<usize>> = (0..classes.len())
                    .filter(|&other| other != class)
                    .map(|other| nodes_of(&classes[other]))
                    .collect();
                let most = match self.choice.compared {
                    0 => usize::MAX,
                    most => most,
                };
                match self.bugs.sampled_coverage && rows.len() >= most {
                    true => sampled_coverage(&group, &others, self.choice, most, &mut random),
                    false => {
                        let near =
                            coverage(&group, &others, self.choice.distance, most, &mut random);
                        lowest(&near, budget)
                    }
                }
            }
        };
        chosen.into_iter().map(|at| rows[at]).collect()
    }
}

/// The kept rows of a task and their classes.
pub(super) fn raw_rows(lesson: &Lesson<'_>, rows: &[usize]) -> treering_graph::Features {
    let nodes: Vec<NodeId> = rows
        .iter()
        .map(|&row| lesson.task.train().nodes[row])
        .collect();
    lesson.task.graph().features().select(&nodes)
}

/// Keeps nodes and trains on them again.
pub struct Ergnn {
    choice: Choice,
    bugs: Bugs,
    buffer: StoredRows,
    /// Rows that were there before the task being learned.
    old: usize,
}

impl Strategy for Ergnn {
    /// The task's own nodes are kept before it is trained, so they are replayed beside it already.
    fn before(&mut self, lesson: &Lesson<'_>, _: &Classifier) -> Result<Beside, LearnError> {
        let chooser = Chooser {
            choice: &self.choice,
            bugs: self.bugs,
            lesson,
        };
        let rows = chooser.rows();
        let labels: Vec<u32> = rows.iter().map(|&row| lesson.labels[row]).collect();
        self.old = self.buffer.len();
        self.buffer.add(&raw_rows(lesson, &rows), &labels);
        let replayed = self.buffer.source().filter(|_| lesson.index > 0);
        Ok(Beside::reading(replayed))
    }

    /// beta times the loss on the task and 1 - beta times that on the kept rows, each with class weights of its own.
    fn gradient(
        &mut self,
        session: &mut Session<'_, '_>,
        lesson: &Lesson<'_>,
        turn: &Turn,
        gradient: &mut Gradient<f32>,
    ) -> f64 {
        if lesson.index == 0 {
            return turn.add_loss(session, gradient);
        }
        let kept = match turn.epoch {
            0 => self.old,
            _ => self.buffer.len(),
        };
        let beta = beta(kept, turn.rows.len());
        let balanced = lesson.training.balanced;
        let own = row_weights(&turn.labels, balanced, beta);
        let labels = self.buffer.labels();
        let again = row_weights(labels, balanced, 1.0 - beta);
        turn.add_losses(session, gradient, &own, (labels, &again))
    }

    fn memory(&self) -> u64 {
        self.buffer.numbers()
    }
}

/// What the task's own rows count. The fewer rows are kept, the more they count: this is the published formula.
fn beta(kept: usize, own: usize) -> f64 {
    kept as f64 / (kept + own) as f64
}

impl Ergnn {
    /// The kept rows.
    pub fn buffer(&self) -> &StoredRows {
        &self.buffer
    }
}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<Baseline<Ergnn>, LearnError> {
    parameters.choice.check()?;
    let strategy = Ergnn {
        choice: parameters.choice,
        bugs: Bugs {
            farthest_mean: parameters.farthest_mean,
            sampled_coverage: parameters.sampled_coverage,
        },
        buffer: StoredRows::default(),
        old: 0,
    };
    Baseline::new("ergnn", parameters.training, strategy)
}

#[cfg(test)]
mod tests;
