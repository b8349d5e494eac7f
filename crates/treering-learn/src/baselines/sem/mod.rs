//! SEM: as SSM, with neighbours chosen by the curvature of the edge that connects them.
//!
//! Its authors publish no definition that could be checked. What is here is a reading of their summary: centres, memory and objective of
//! [`ssm`](super::ssm), neighbours by balanced Forman curvature.

mod curvature;
mod neighbours;

use serde::{Deserialize, Serialize};

pub use curvature::{Curvature, Desk, Edges};
pub use neighbours::{ByCurvature, Pick};

use super::ssm::{Centres, Memory};
use super::{Baseline, Training};
use crate::LearnError;
use crate::parameters::count;

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// What is kept and how it counts.
    #[serde(flatten)]
    pub memory: Memory,
    /// Which curvature.
    pub curvature: Curvature,
    /// What becomes of it.
    pub choice: Pick,
    /// Arcs looked at for the four-cycles of one edge at most; an edge with more around it is scored without them, which gives a lower
    /// bound.
    pub limit: usize,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            training: Training::default(),
            memory: Memory::default(),
            curvature: Curvature::Exact,
            choice: Pick::Top,
            limit: 20_000,
        }
    }
}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<Baseline<Centres<ByCurvature>>, LearnError> {
    count("limit", parameters.limit, 1..=usize::MAX, "at least 1")?;
    let neighbours = ByCurvature {
        curvature: parameters.curvature,
        pick: parameters.choice,
        limit: parameters.limit,
    };
    let strategy = Centres::new(parameters.memory, neighbours)?;
    Baseline::new("sem", parameters.training, strategy)
}

#[cfg(test)]
mod tests;
