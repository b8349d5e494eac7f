//! Fine-tune: go on training the same network, with nothing to protect what it knew. The lower bound.

use serde::{Deserialize, Serialize};

use super::{Baseline, Strategy, Training};
use crate::LearnError;

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters: none but the training's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
}

/// Adds nothing.
pub struct Finetune;

impl Strategy for Finetune {}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<Baseline<Finetune>, LearnError> {
    Baseline::new("finetune", parameters.training, Finetune)
}
