//! What can be wrong with a recipe, and what to change.

use thiserror::Error;

use crate::DataError;

/// Why a recipe makes no graph.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecipeError {
    /// A value outside its range.
    #[error("`{field}` is {value}, but must be {valid}")]
    Field {
        /// The field of the recipe.
        field: &'static str,
        /// Its value.
        value: String,
        /// The values that it can have.
        valid: String,
    },
    /// More edges than there are pairs of nodes for them.
    #[error(
        "{asked} edges {place} are asked for, but there are only {pairs} pairs of nodes for them. Ask for fewer \
         `edges`, more `nodes`, or move edges elsewhere with `homophily` and `task_share`"
    )]
    TooManyEdges {
        /// Which kind of edges.
        place: &'static str,
        /// How many are asked for.
        asked: u64,
        /// How many there can be.
        pairs: u64,
    },
    /// Nearly every pair is joined already, and drawing on finds no new one.
    #[error(
        "only {reached} of {asked} edges {place} were found: the blocks are saturated. Ask for fewer `edges`, more \
         `nodes`, a larger `degree_exponent`, or move edges elsewhere with `homophily` and `task_share`"
    )]
    Saturated {
        /// Which kind of edges.
        place: &'static str,
        /// How many are asked for.
        asked: u64,
        /// How many were found.
        reached: u64,
    },
}

impl RecipeError {
    /// A value outside its range.
    pub(super) fn field(
        field: &'static str,
        value: impl ToString,
        valid: impl Into<String>,
    ) -> Self {
        RecipeError::Field {
            field,
            value: value.to_string(),
            valid: valid.into(),
        }
    }
}

/// Why no synthetic graph was made.
#[derive(Debug, Error)]
pub enum SynthError {
    /// The recipe is wrong.
    #[error("the recipe `{name}` makes no graph: {error}")]
    Recipe {
        /// The recipe's name.
        name: String,
        /// What is wrong with it.
        error: RecipeError,
    },
    /// The graph takes more memory than allowed.
    #[error(transparent)]
    Data(#[from] DataError),
}
