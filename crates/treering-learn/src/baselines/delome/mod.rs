//! DeLoMe: synthetic rows whose gradients are those of the task's own rows, replayed with a loss that takes out what small memories and large
//! current classes would do to the scores.

mod matching;
mod memory;

pub use matching::{Desk, Matching, Net};
pub use memory::condensed;

use serde::{Deserialize, Serialize};

use super::condense::{Block, Columns, numbers};
use super::{Baseline, Beside, Lesson, Strategy, Training, Turn};
use crate::LearnError;
use crate::network::classifier::Classifier;
use crate::network::loss::{CrossEntropy, row_weights};
use crate::network::session::{Gradient, Session};
use crate::parameters::{count, range};

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The loss whose gradients are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Cross entropy.
    CrossEntropy,
    /// Minus the score of the right class: the published code leaves out the softmax.
    RawLogits,
}

/// What is done about classes of different size in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Balance {
    /// Scores are shifted by the logarithm of a class's share of all rows.
    Adjusted,
    /// Rows count less the more there are of their class.
    Weights,
    /// Nothing.
    None,
}

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// Synthetic rows of a class, at most as many as it has train rows.
    pub budget: usize,
    /// Random networks that a task is matched under.
    pub networks: usize,
    /// The length of a step of the synthetic rows.
    pub condense_rate: f64,
    /// The power that a class's share is raised to before its logarithm shifts the scores.
    pub tau: f64,
    /// The loss whose gradients are matched.
    pub loss: Loss,
    /// What is done about classes of different size in training.
    pub balance: Balance,
    /// The feature columns that synthetic rows live on.
    pub columns: Columns,
}

impl Default for Parameters {
    /// Rows count alike; the shift of the scores takes the place of weights.
    fn default() -> Self {
        Parameters {
            training: Training {
                balanced: false,
                ..Training::default()
            },
            budget: 60,
            networks: 800,
            condense_rate: 1e-4,
            tau: 1.0,
            loss: Loss::CrossEntropy,
            balance: Balance::Adjusted,
            columns: Columns::Present,
        }
    }
}

impl Parameters {
    fn check(&self) -> Result<(), LearnError> {
        count(
            "budget",
            self.budget,
            1..=1_000_000,
            "between 1 and 1000000",
        )?;
        let many = 0..=10_000_000;
        count("networks", self.networks, many, "between 0 and 10000000")?;
        range("tau", self.tau, 0.0, 100.0, "between 0 and 100")?;
        range(
            "condense-rate",
            self.condense_rate,
            1e-12,
            1e3,
            "above 0 and at most 1000",
        )
    }
}

/// The shift of each class's score: ln(share^tau + 1e-12).
pub fn shifts(rows: &[usize], tau: f64) -> Vec<f32> {
    let all: usize = rows.iter().sum();
    let shift = |&count: &usize| {
        let share = count as f64 / all.max(1) as f64;
        (share.powf(tau) + 1e-12).ln() as f32
    };
    rows.iter().map(shift).collect()
}

/// The memory.
pub struct Delome {
    parameters: Parameters,
    bank: Vec<Block>,
    /// What each row of old tasks counts.
    weights: Vec<Vec<f32>>,
    shifts: Option<Vec<f32>>,
}

impl Delome {
    /// The synthetic rows of every task learned.
    pub fn bank(&self) -> &[Block] {
        &self.bank
    }

    /// Rows of each class seen: synthetic ones of old tasks, real ones of this.
    fn rows(&self, lesson: &Lesson<'_>) -> Vec<usize> {
        let mut rows = vec![0usize; lesson.columns.end];
        let old = self.bank.iter().flat_map(|block| &block.labels);
        for &label in old.chain(&lesson.labels) {
            rows[label as usize] += 1;
        }
        rows
    }
}

impl Strategy for Delome {
    fn before(&mut self, lesson: &Lesson<'_>, _: &Classifier) -> Result<Beside, LearnError> {
        let weighted = lesson.training.balanced || self.parameters.balance == Balance::Weights;
        let weights = |block: &Block| row_weights(&block.labels, weighted, 1.0);
        self.weights = self.bank.iter().map(weights).collect();
        self.shifts = (self.parameters.balance == Balance::Adjusted)
            .then(|| shifts(&self.rows(lesson), self.parameters.tau));
        let sources: Vec<_> = self.bank.iter().map(Block::source).collect();
        // This task's rows are replayed from the next one on.
        self.bank.push(condensed(lesson, &self.parameters)?);
        Ok(Beside::reading(sources))
    }

    fn gradient(
        &mut self,
        session: &mut Session<'_, '_>,
        _: &Lesson<'_>,
        turn: &Turn,
        gradient: &mut Gradient<f32>,
    ) -> f64 {
        let outputs = turn.outputs;
        let own = match self.parameters.balance {
            Balance::Weights => row_weights(&turn.labels, true, 1.0),
            _ => turn.weights.clone(),
        };
        let old = self.bank.iter().zip(&self.weights);
        let old = old.map(|(block, weights)| (&block.labels, weights));
        let mut total = 0.0;
        for (at, (labels, weights)) in std::iter::once((&turn.labels, &own)).chain(old).enumerate()
        {
            let loss = CrossEntropy {
                labels,
                weights,
                columns: outputs,
                shift: self.shifts.as_deref(),
            };
            total += session.add_gradient(at, gradient, |logits, slopes| loss.add(logits, slopes));
        }
        total
    }

    fn memory(&self) -> u64 {
        numbers(&self.bank)
    }
}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<Baseline<Delome>, LearnError> {
    parameters.check()?;
    let training = parameters.training.clone();
    let strategy = Delome {
        parameters,
        bank: Vec::new(),
        weights: Vec::new(),
        shifts: None,
    };
    Baseline::new("delome", training, strategy)
}

#[cfg(test)]
mod tests {
    use super::shifts;

    #[test]
    fn shifts_are_logarithms_of_shares() {
        let found = shifts(&[1, 3, 4], 1.0);
        for (found, share) in found.iter().zip([0.125f32, 0.375, 0.5]) {
            assert!((found - share.ln()).abs() < 1e-6, "{found}");
        }
        let rooted = shifts(&[1, 3], 0.5);
        assert!((rooted[0] - 0.5f32.ln()).abs() < 1e-6);
        assert!(shifts(&[1, 3], 0.0).iter().all(|shift| shift.abs() < 1e-6));
        // A share too small for its power leaves the finite part.
        assert!((shifts(&[1, 999_999], 9.0)[0] - 1e-12f32.ln()).abs() < 1e-4);
    }
}
