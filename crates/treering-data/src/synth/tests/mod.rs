//! Tests of the generator: recipes, the graphs they make, and whether the demo can be learned.
#![allow(clippy::unwrap_used, clippy::panic)]

mod demo;
mod features;
mod graphs;
mod random_recipes;
mod recipes;

use treering_graph::Graph;

use super::{Recipe, SynthError, synthesize};
use crate::{Context, Silent};

fn made(recipe: &Recipe) -> Graph {
    try_made(recipe).unwrap()
}

fn try_made(recipe: &Recipe) -> Result<Graph, SynthError> {
    synthesize(recipe, &Context::new(&Silent, 1_000_000_000))
}

/// Small in nodes, but with enough edges to measure shares.
fn middling() -> Recipe {
    Recipe {
        nodes: 6_000,
        edges: 40_000,
        features: 4,
        isolated: 0.0,
        ..Recipe::demo()
    }
}
