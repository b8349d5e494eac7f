//! OODCIL: one network for every task, a detector, with one output more than the task has classes: not mine.
//!
//! What is not mine is shown by kept rows of earlier tasks, and for the first task by a corrupted copy of its own graph. Detectors are
//! never trained again, so an early one has never seen what later tasks look like.

mod augment;

use serde::{Deserialize, Serialize};
use treering_data::Progress;
use treering_graph::NodeId;

pub use augment::Corruption;

use super::ergnn::{Choice, Chooser, Sampler, raw_rows};
use super::{Beside, Lesson, Seen, StoredRows, Strategy, Training, Turn, train};
use crate::network::classifier::Classifier;
use crate::network::loss::row_weights;
use crate::network::session::{Gradient, Session};
use crate::network::source::Source;
use crate::{Answer, LearnError, Learner, Query, Stages, Stored, TrainingTask};

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// Which nodes are kept.
    #[serde(flatten)]
    pub choice: Choice,
    /// Keep smoothed rows. Raw rows, as the paper's wording has it, let a detector tell old tasks by not being smoothed, which no query is.
    pub smoothed_buffer: bool,
    /// How the first task's graph is corrupted.
    #[serde(flatten)]
    pub corruption: Corruption,
    /// How classes of different tasks are compared.
    pub score: Score,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            training: Training::default(),
            choice: Choice {
                sampler: Sampler::Random,
                ..Choice::default()
            },
            smoothed_buffer: false,
            corruption: Corruption::default(),
            score: Score::Published,
        }
    }
}

/// How classes of different tasks are compared; y is a class's probability, o that of not mine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// (1 - o) y. All probabilities of a detector sum to 1, so y has 1 - o in it already and this counts it twice.
    Published,
    /// y.
    Single,
}

/// The learner.
pub struct Oodcil {
    parameters: Parameters,
    seen: Seen,
    detectors: Vec<Classifier>,
    buffer: StoredRows,
}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<Oodcil, LearnError> {
    parameters.training.check_networks_of_tasks()?;
    parameters.choice.check()?;
    parameters.corruption.check()?;
    Ok(Oodcil {
        parameters,
        seen: Seen::default(),
        detectors: Vec::new(),
        buffer: StoredRows::default(),
    })
}

impl Oodcil {
    /// The detectors, one a task.
    pub fn detectors(&self) -> &[Classifier] {
        &self.detectors
    }

    fn learn_one(
        &mut self,
        task: &TrainingTask,
        progress: &dyn Progress,
    ) -> Result<(), LearnError> {
        // A refused task leaves nothing behind.
        let mut seen = self.seen.clone();
        seen.add(task)?;
        let training = &self.parameters.training;
        let index = self.detectors.len();
        let mut lesson = Lesson::new(task, 0..task.classes().len(), index, training);
        lesson.progress = progress;
        let foreign = match self.buffer.source() {
            Some(rows) => rows,
            None => self.parameters.corruption.rows(&lesson),
        };
        let mut detector = training.network(task, index as u64);
        detector.grow(task.classes().len() + 1);
        train(&mut Foreign::new(foreign), &mut detector, &lesson)?;
        let rows = Chooser::new(&self.parameters.choice, &lesson).rows();
        let labels: Vec<u32> = rows.iter().map(|&row| lesson.labels[row]).collect();
        let kept = match self.parameters.smoothed_buffer {
            true => {
                let places: Vec<NodeId> = rows.iter().map(|&row| NodeId(row as u32)).collect();
                lesson.kept_rows().select(&places)
            }
            false => raw_rows(&lesson, &rows),
        };
        self.buffer.add(&kept, &labels);
        self.detectors.push(detector);
        self.seen = seen;
        Ok(())
    }

    /// The logarithm of each class's score, row by row over all classes of the detectors asked.
    fn scores(&self, query: &Query, detectors: &[Classifier]) -> Vec<f32> {
        let logits: Vec<Vec<f32>> = detectors
            .iter()
            .map(|detector| detector.logits_of(query.graph(), &query.nodes))
            .collect();
        let mut scores = Vec::new();
        for at in 0..query.nodes.len() {
            for (detector, logits) in detectors.iter().zip(&logits) {
                let outputs = detector.outputs();
                log_scores(
                    &logits[at * outputs..][..outputs],
                    self.parameters.score,
                    &mut scores,
                );
            }
        }
        scores
    }
}

/// Rows that are not of the task. Their class is the output behind the task's own.
struct Foreign {
    rows: Option<Source<'static, f32>>,
    weights: Vec<f32>,
}

impl Foreign {
    fn new(rows: Source<'static, f32>) -> Self {
        let weights = row_weights(&vec![0; rows.rows()], false, 1.0);
        Foreign {
            rows: Some(rows),
            weights,
        }
    }
}

impl Strategy for Foreign {
    fn before(&mut self, _: &Lesson<'_>, _: &Classifier) -> Result<Beside, LearnError> {
        Ok(Beside::reading(self.rows.take()))
    }

    /// The loss on the task's own rows, and that on the foreign ones.
    fn gradient(
        &mut self,
        session: &mut Session<'_, '_>,
        lesson: &Lesson<'_>,
        turn: &Turn,
        gradient: &mut Gradient<f32>,
    ) -> f64 {
        let foreign = lesson.columns.end;
        let turn = Turn {
            outputs: foreign + 1,
            ..turn.clone()
        };
        let labels = vec![foreign as u32; self.weights.len()];
        let own = turn.weights.clone();
        turn.add_losses(session, gradient, &own, (&labels, &self.weights))
    }
}

/// Adds ln y, and ln (1 - o) where the score has it, for every class of a detector. Logarithms, because probabilities of a sure detector
/// are 0 in f32.
fn log_scores(logits: &[f32], score: Score, into: &mut Vec<f32>) {
    let classes = &logits[..logits.len() - 1];
    let all = log_sum(logits);
    let mine = match score {
        Score::Published => log_sum(classes) - all,
        Score::Single => 0.0,
    };
    into.extend(classes.iter().map(|&z| (f64::from(z) - all + mine) as f32));
}

/// ln of the sum of exponentials.
fn log_sum(logits: &[f32]) -> f64 {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&z| f64::from(z - most).exp()).sum();
    f64::from(most) + sum.ln()
}

impl Learner for Oodcil {
    fn name(&self) -> &str {
        "oodcil"
    }

    fn learn(&mut self, tasks: &[TrainingTask], progress: &dyn Progress) -> Result<(), LearnError> {
        tasks
            .iter()
            .try_for_each(|task| self.learn_one(task, progress))
    }

    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        let learned = self.detectors.len();
        if learned == 0 {
            return Err(LearnError::Nothing);
        }
        let asked = match query.seen.unwrap_or(learned) {
            asked if (1..=learned).contains(&asked) => asked,
            seen => return Err(LearnError::Stage { seen, learned }),
        };
        let detectors = &self.detectors[..asked];
        query.check(detectors[0].shape().features, asked)?;
        self.seen
            .first(asked)
            .answers(query, &self.scores(query, detectors))
    }

    fn stages(&self) -> Stages {
        Stages::Kept
    }

    fn stored(&self) -> Stored {
        Stored {
            model: self
                .detectors
                .iter()
                .map(|detector| detector.numbers() as u64)
                .sum(),
            memory: self.buffer.numbers(),
        }
    }
}

#[cfg(test)]
mod tests;
