//! Synthetic graphs, always labelled as such: a degree-corrected block model with class-dependent features.
//!
//! A [`Recipe`] says everything; the same recipe gives the same bytes, whatever the number of threads. The parts
//! are drawn one after the other: classes and propensities of nodes, edges, features. The recipe travels in the
//! graph's origin.

mod blocks;
mod check;
mod edges;
mod error;
mod gaussian;
mod members;
mod presets;
mod recipe;
mod streams;
#[cfg(test)]
mod tests;
mod words;

use std::path::Path;

use treering_graph::{
    Arcs, Dense, Direction, Features, Graph, GraphError, Labels, NodeNames, Origin, Parts,
    build_arcs,
};

pub use error::{RecipeError, SynthError};
pub use presets::Preset;
pub use recipe::{FeatureKind, Recipe};

use crate::{Context, Fault};
use members::Members;

/// Makes the graph of a recipe.
///
/// # Errors
/// [`SynthError::Recipe`] for a recipe that makes no graph, [`SynthError::Data`] for one that takes more memory than
/// the context allows; both before anything large is allocated, unless edges turn out to be impossible to place.
///
/// # Complexity
/// Time O(edges log edges + feature entries); memory 16 bytes an edge on the way beside the graph itself.
pub fn synthesize(recipe: &Recipe, context: &Context<'_>) -> Result<Graph, SynthError> {
    let wrong = |error| SynthError::Recipe {
        name: recipe.name.clone(),
        error,
    };
    let place = Path::new(&recipe.name);
    recipe.check().map_err(wrong)?;
    let (graph_bytes, working_bytes) = bytes(recipe);
    context.take(place, graph_bytes.saturating_add(working_bytes))?;
    let made = draw_parts(recipe, context).map_err(wrong);
    context.give_back(working_bytes);
    if made.is_err() {
        context.give_back(graph_bytes);
    }
    Ok(made?.map_err(|error| Fault::Graph(error).at(place))?)
}

/// What the graph takes, and what drawing it takes on top.
fn bytes(recipe: &Recipe) -> (u64, u64) {
    let (nodes, edges) = (recipe.nodes as u64, recipe.edges);
    let (features, classes) = (recipe.features as u64, recipe.classes as u64);
    let arcs = edges.saturating_mul(if recipe.directed { 1 } else { 2 });
    let (rows, tables) = match recipe.feature_kind {
        FeatureKind::Gaussian => (
            nodes.saturating_mul(features).saturating_mul(4),
            classes.saturating_mul(features).saturating_mul(4),
        ),
        FeatureKind::BagOfWords { words_per_node } => {
            let topics = classes.saturating_mul(words::topic_words(recipe, words_per_node) as u64);
            let words = (nodes as f64 * words_per_node) as u64;
            (
                words.saturating_mul(8).saturating_add(8 * nodes),
                topics.saturating_mul(4).saturating_add(13 * features),
            )
        }
    };
    let graph = arcs
        .saturating_mul(4)
        .saturating_add(12 * nodes)
        .saturating_add(rows);
    let working = edges
        .saturating_mul(16)
        .saturating_add(40 * nodes)
        .saturating_add(tables);
    (graph, working)
}

/// Draws everything. What goes wrong with drawing is the recipe's fault; that the parts fit is checked after.
fn draw_parts(
    recipe: &Recipe,
    context: &Context<'_>,
) -> Result<Result<Graph, GraphError>, RecipeError> {
    let members = Members::new(recipe);
    let (sources, targets) = edges::draw(recipe, &members, context.progress)?;
    context.progress.begin("sorting edges into rows", 0);
    let direction = match recipe.directed {
        true => Direction::Directed,
        false => Direction::Undirected,
    };
    let arcs = build_arcs(recipe.nodes, &sources, &targets, None, direction);
    context.progress.end();
    drop((sources, targets));
    let class_of = members.class_of;
    Ok(arcs.and_then(|(arcs, _)| put_together(recipe, arcs, class_of, context)))
}

fn put_together(
    recipe: &Recipe,
    arcs: Arcs,
    class_of: Vec<u32>,
    context: &Context<'_>,
) -> Result<Graph, GraphError> {
    let features = draw_features(recipe, &class_of, context)?;
    let names = (0..recipe.classes).map(|class| class.to_string()).collect();
    Graph::new(Parts {
        arcs,
        features,
        labels: Some(Labels::new(class_of.into(), names)?),
        names: NodeNames::Positions(recipe.nodes),
        split: None,
        origin: Origin {
            name: recipe.name.clone(),
            // A recipe is numbers and texts, which JSON can always hold; the debug form is never needed.
            synthetic: Some(
                serde_json::to_string(recipe).unwrap_or_else(|_| format!("{recipe:?}")),
            ),
        },
    })
}

fn draw_features(
    recipe: &Recipe,
    class_of: &[u32],
    context: &Context<'_>,
) -> Result<Features, GraphError> {
    let progress = context.progress;
    progress.begin("drawing features", recipe.nodes as u64);
    let features = match recipe.feature_kind {
        FeatureKind::Gaussian => {
            let values = gaussian::draw(recipe, class_of, progress);
            Dense::new(recipe.nodes, recipe.features, values.into()).map(Features::Dense)
        }
        FeatureKind::BagOfWords { words_per_node } => {
            words::draw(recipe, words_per_node, class_of, progress).map(Features::Sparse)
        }
    };
    progress.end();
    features
}
