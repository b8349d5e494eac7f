//! How every network of the comparison is trained.

use serde::{Deserialize, Serialize};

use crate::network::adam::Adam;
use crate::network::classifier::{Classifier, Shape, Start};
use crate::parameters::{count, range};
use crate::{LearnError, TrainingTask};

/// The training that all methods share. The defaults are the benchmark's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Training {
    /// Seeds everything that is drawn.
    pub seed: u64,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Steps of propagation.
    pub hops: usize,
    /// Passes over a task.
    pub epochs: usize,
    /// The length of a step.
    pub rate: f64,
    /// Times the parameter, added to its gradient.
    pub decay: f64,
    /// Train rows in a step; 0 takes all of a task at once.
    pub batch: usize,
    /// Weigh classes equally in the loss, as the metric does.
    pub balanced: bool,
    /// Outputs that are there from the start, as the benchmark has one for every class of the data set. Without, an output is drawn when
    /// its class arrives, because a stream does not know its end.
    pub outputs: usize,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            seed: 0,
            hidden: 256,
            hops: 2,
            epochs: 200,
            rate: 0.005,
            decay: 5e-4,
            batch: 0,
            balanced: true,
            outputs: 0,
        }
    }
}

impl Training {
    /// Refuses what cannot work.
    ///
    /// # Errors
    /// The first parameter that is outside its range.
    pub fn check(&self) -> Result<(), LearnError> {
        count("hidden", self.hidden, 1..=8192, "between 1 and 8192")?;
        count("hops", self.hops, 0..=1000, "between 0 and 1000")?;
        count(
            "epochs",
            self.epochs,
            0..=1_000_000,
            "between 0 and 1000000",
        )?;
        count(
            "outputs",
            self.outputs,
            0..=1_000_000,
            "between 0 and 1000000",
        )?;
        range("rate", self.rate, 1e-12, 1e3, "above 0 and at most 1000")?;
        range("decay", self.decay, 0.0, 1e3, "between 0 and 1000")
    }

    /// As [`Training::check`], for learners with a network for every task.
    ///
    /// # Errors
    /// The first parameter that is outside its range.
    pub fn check_networks_of_tasks(&self) -> Result<(), LearnError> {
        let allowed = "0: every task has a network of its own, with its own outputs";
        count("outputs", self.outputs, 0..=0, allowed)?;
        self.check()
    }

    /// A network for features as wide as a task's; `number` keeps several of one seed apart.
    pub fn network(&self, task: &TrainingTask, number: u64) -> Classifier {
        self.network_from(task, Start::Uniform, number)
    }

    /// As [`Training::network`], with weights drawn in a chosen way.
    pub fn network_from(&self, task: &TrainingTask, start: Start, number: u64) -> Classifier {
        let shape = Shape {
            features: task.graph().features().columns(),
            hidden: self.hidden,
            hops: self.hops,
            adam: Adam {
                rate: self.rate,
                decay: self.decay,
            },
        };
        Classifier::new(shape, start, self.seed, number)
    }
}
