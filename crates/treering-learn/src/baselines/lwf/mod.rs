//! LwF: on the new task's rows, the outputs for old classes shall stay what they were.

mod distil;

use serde::{Deserialize, Serialize};

use super::{Baseline, Beside, Lesson, Strategy, Training, Turn};
use crate::LearnError;
use crate::network::classifier::{Classifier, Start};
use crate::network::session::{Gradient, Session};
use crate::parameters::range;

pub use distil::Distillation;

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// What keeping the old outputs counts beside the new task's loss.
    pub lambda: f64,
    /// Outputs are divided by this before they become probabilities.
    pub temperature: f64,
    /// Keep the outputs of the first task, of the first two, and so on, each as a term of its own, as the benchmark's code does in batches.
    /// Without, those of all old classes once.
    pub prefix_sum: bool,
    /// Draw the first weights from a normal distribution of variance one over a layer's inputs, as the benchmark's code does for this
    /// method alone. Without, as for all others.
    pub kaiming_start: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            training: Training::default(),
            lambda: 1.0,
            temperature: 2.0,
            prefix_sum: false,
            kaiming_start: false,
        }
    }
}

/// What the old network says about the new task's rows, while that is learned.
pub struct Lwf {
    parameters: Parameters,
    /// Where the outputs of each old task end.
    ends: Vec<usize>,
    /// A row for each train row, an output for each old class.
    old: Vec<f32>,
}

impl Lwf {
    /// The groups of outputs that are kept: from the first up to each of these.
    fn prefixes(&self) -> &[usize] {
        match self.parameters.prefix_sum {
            true => &self.ends,
            false => &self.ends[self.ends.len().saturating_sub(1)..],
        }
    }
}

impl Strategy for Lwf {
    fn start(&self) -> Start {
        match self.parameters.kaiming_start {
            true => Start::Normal,
            false => Start::Uniform,
        }
    }

    fn before(&mut self, lesson: &Lesson<'_>, network: &Classifier) -> Result<Beside, LearnError> {
        let (outputs, kept) = (network.outputs(), lesson.columns.start);
        self.old.clear();
        if kept > 0 {
            let logits = network.logits(&lesson.rows());
            let rows = logits.chunks(outputs);
            self.old.extend(rows.flat_map(|row| &row[..kept]));
        }
        Ok(Beside::default())
    }

    fn gradient(
        &mut self,
        session: &mut Session<'_, '_>,
        lesson: &Lesson<'_>,
        turn: &Turn,
        gradient: &mut Gradient<f32>,
    ) -> f64 {
        let outputs = session.outputs();
        session.add_gradient(0, gradient, |logits, slopes| {
            let loss = turn.loss(&turn.weights).add(logits, slopes);
            let kept = |&columns: &usize| {
                let distillation = Distillation {
                    old: &self.old,
                    kept: lesson.columns.start,
                    rows: &turn.rows,
                    columns,
                    temperature: self.parameters.temperature,
                    weight: self.parameters.lambda,
                };
                distillation.add(logits, outputs, slopes)
            };
            loss + self.prefixes().iter().map(kept).sum::<f64>()
        })
    }

    fn after(&mut self, _: &mut Session<'_, '_>, lesson: &Lesson<'_>) -> Result<(), LearnError> {
        self.ends.push(lesson.columns.end);
        self.old = Vec::new();
        Ok(())
    }
}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<Baseline<Lwf>, LearnError> {
    range("lambda", parameters.lambda, 0.0, 1e9, "between 0 and 1e9")?;
    range(
        "temperature",
        parameters.temperature,
        1e-3,
        1e6,
        "between 0.001 and 1e6",
    )?;
    let training = parameters.training.clone();
    let strategy = Lwf {
        parameters,
        ends: Vec::new(),
        old: Vec::new(),
    };
    Baseline::new("lwf", training, strategy)
}

#[cfg(test)]
mod tests;
