//! CaT: every task is condensed to a few synthetic rows, and the network is trained on those alone, those of the current task included, so
//! that old and new classes weigh the same.

mod budget;
mod condensation;
mod matching;

pub use budget::sizes;
pub use condensation::condensed;
pub use matching::{Desk, Matching, means};

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

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// Synthetic rows of a task, for each of its classes; classes share them as they share the train rows.
    pub budget: usize,
    /// Random layers that a task is matched under.
    pub encoders: usize,
    /// Outputs of a random layer.
    pub width: usize,
    /// The length of a step of the synthetic rows.
    pub condense_rate: f64,
    /// Weigh classes in the matching by their share of the train rows, as the paper says and its code does not.
    pub class_ratio: bool,
    /// Real rows read under each random layer, chosen anew each time; 0 takes all.
    pub real_rows: usize,
    /// The feature columns that synthetic rows live on.
    pub columns: Columns,
    /// Train on the current task's real rows as well.
    pub with_real_rows: bool,
}

impl Default for Parameters {
    /// The loss counts every row alike.
    fn default() -> Self {
        Parameters {
            training: Training {
                balanced: false,
                ..Training::default()
            },
            budget: 60,
            encoders: 3000,
            width: 512,
            condense_rate: 1e-3,
            class_ratio: false,
            real_rows: 0,
            columns: Columns::Present,
            with_real_rows: false,
        }
    }
}

impl Parameters {
    fn check(&self) -> Result<(), LearnError> {
        let many = 0..=10_000_000;
        count(
            "budget",
            self.budget,
            1..=1_000_000,
            "between 1 and 1000000",
        )?;
        count("encoders", self.encoders, many, "between 0 and 10000000")?;
        count("width", self.width, 1..=65536, "between 1 and 65536")?;
        range(
            "condense-rate",
            self.condense_rate,
            1e-12,
            1e3,
            "above 0 and at most 1000",
        )?;
        // Without them a step reads the memory, which has no batches.
        let batch = match self.with_real_rows {
            true => usize::MAX,
            false => 0,
        };
        count(
            "batch",
            self.training.batch,
            0..=batch,
            "0: cat trains on its memory, all at once (with-real-rows allows batches)",
        )
    }
}

/// The memory.
pub struct Cat {
    parameters: Parameters,
    bank: Vec<Block>,
    /// What each row of the memory counts.
    weights: Vec<Vec<f32>>,
}

impl Cat {
    /// The synthetic rows of every task learned.
    pub fn bank(&self) -> &[Block] {
        &self.bank
    }
}

impl Strategy for Cat {
    fn before(&mut self, lesson: &Lesson<'_>, _: &Classifier) -> Result<Beside, LearnError> {
        self.bank.push(condensed(lesson, &self.parameters)?);
        let labels: Vec<u32> = self.bank.iter().flat_map(|b| &b.labels).copied().collect();
        let weights: Vec<f32> = row_weights(&labels, lesson.training.balanced, 1.0);
        let mut rest = &weights[..];
        self.weights = (self.bank.iter())
            .map(|block| {
                let (own, others) = rest.split_at(block.labels.len());
                rest = others;
                own.to_vec()
            })
            .collect();
        Ok(Beside::reading(self.bank.iter().map(Block::source)))
    }

    fn gradient(
        &mut self,
        session: &mut Session<'_, '_>,
        _: &Lesson<'_>,
        turn: &Turn,
        gradient: &mut Gradient<f32>,
    ) -> f64 {
        let mut total = match self.parameters.with_real_rows {
            true => turn.add_loss(session, gradient),
            false => 0.0,
        };
        for (at, (block, weights)) in self.bank.iter().zip(&self.weights).enumerate() {
            let loss = CrossEntropy {
                labels: &block.labels,
                weights,
                columns: turn.outputs,
                shift: None,
            };
            total +=
                session.add_gradient(at + 1, gradient, |logits, slopes| loss.add(logits, slopes));
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
pub fn learner(parameters: Parameters) -> Result<Baseline<Cat>, LearnError> {
    parameters.check()?;
    let training = parameters.training.clone();
    let strategy = Cat {
        parameters,
        bank: Vec::new(),
        weights: Vec::new(),
    };
    Baseline::new("cat", training, strategy)
}
