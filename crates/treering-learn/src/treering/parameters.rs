//! Everything about the learner that can be set, checked once before any work.

use serde::{Deserialize, Serialize};

use super::router::Router;
use crate::LearnError;
use crate::parameters::count;

/// The parameters. The defaults were decided on validation nodes; `docs/treering-learner.md` gives the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Parameters {
    /// Seeds the projection and all that is drawn.
    pub seed: u64,
    /// Most columns of the space in which tasks are recognised.
    pub width: usize,
    /// How many steps away a node is seen from.
    pub hops: usize,
    /// Principal directions of a task's scatter that its ring keeps.
    pub rank: usize,
    /// How a query finds its task.
    pub router: Router,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            seed: 0,
            width: 2048,
            hops: 3,
            rank: 256,
            router: Router::Ridge,
        }
    }
}

impl Parameters {
    /// Refuses what lies outside its range.
    ///
    /// # Errors
    /// The first parameter that does.
    pub fn check(&self) -> Result<(), LearnError> {
        count("width", self.width, 1..=16384, "between 1 and 16384")?;
        count("hops", self.hops, 0..=100, "between 0 and 100")?;
        count("rank", self.rank, 0..=16384, "between 0 and 16384")
    }
}
