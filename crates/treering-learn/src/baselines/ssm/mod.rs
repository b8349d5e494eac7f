//! SSM: keep a few train nodes of every class together with a thinned neighbourhood, and train on them again with every later task.
//!
//! What a kept node, a centre, contributes to training is its row of S^hops X on the sub-graph that is kept around it. Nothing in that row
//! changes later, so the row is worked out once and all else is let go. How neighbours are chosen is a [`Neighbours`]; the memory and the
//! objective are the same for all of them, [`Centres`].

mod centres;
mod neighbours;

use serde::{Deserialize, Serialize};

pub use centres::{Centres, Memory};
pub use neighbours::{ByDegree, Neighbours, Uniform};
pub(crate) use neighbours::{Retained, others_into, weighted_draws};

use super::{Baseline, Training};
use crate::LearnError;

/// Revision of the methods; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters of `ssm-uniform`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// What is kept and how it counts.
    #[serde(flatten)]
    pub memory: Memory,
}

/// The parameters of `ssm-degree`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct DegreeParameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// What is kept and how it counts.
    #[serde(flatten)]
    pub memory: Memory,
    /// Draw every hop among the neighbours of the centres, as the published code does, rather than among those of the nodes drawn last.
    pub stuck_frontier: bool,
}

/// The learner that draws neighbours uniformly.
///
/// # Errors
/// A parameter outside its range.
pub fn uniform(parameters: Parameters) -> Result<Baseline<Centres<Uniform>>, LearnError> {
    let strategy = Centres::new(parameters.memory, Uniform)?;
    Baseline::new("ssm-uniform", parameters.training, strategy)
}

/// The learner that draws neighbours in proportion to their degree.
///
/// # Errors
/// A parameter outside its range.
pub fn degree(parameters: DegreeParameters) -> Result<Baseline<Centres<ByDegree>>, LearnError> {
    let neighbours = ByDegree {
        stuck_frontier: parameters.stuck_frontier,
    };
    let strategy = Centres::new(parameters.memory, neighbours)?;
    Baseline::new("ssm-degree", parameters.training, strategy)
}

#[cfg(test)]
mod tests;
