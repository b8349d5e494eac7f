//! Streams that the tests of several files learn.
#![allow(dead_code)]

use serde_json::Value;
use treering_data::{Context, Recipe, Silent, Stream, StreamOptions, synthesize};
use treering_eval::{Protocol, evaluate};
use treering_graph::Graph;
use treering_learn::{Learner, registry};

/// A part of a built-in data set, as a stream of at least three tasks.
pub fn small(preset: &str, scale: f64) -> (Graph, Stream) {
    made(Recipe::preset(preset).unwrap().scaled(scale).unwrap())
}

/// Made-up data as a stream of at least three tasks.
pub fn made(recipe: Recipe) -> (Graph, Stream) {
    let graph = synthesize(&recipe, &Context::with_free_memory(&Silent)).unwrap();
    let stream = Stream::plan(&graph, &StreamOptions::default()).unwrap();
    assert!(stream.tasks.len() >= 3, "the tests need a few tasks");
    (graph, stream)
}

/// A learner of the registry with some parameters changed.
pub fn built(name: &str, changed: &[(&str, Value)]) -> Box<dyn Learner> {
    let own = |(key, value): &(&str, Value)| ((*key).to_owned(), value.clone());
    let changed: Vec<(String, Value)> = changed.iter().map(own).collect();
    registry::build(name, registry::complete(name, &changed).unwrap()).unwrap()
}

/// Average accuracy at the end.
pub fn accuracy(learner: &mut dyn Learner, graph: &Graph, stream: &Stream) -> f64 {
    let done = evaluate(learner, graph, stream, &[Protocol::Paper], &Silent).unwrap();
    done.outcomes[0].matrix.average_accuracy().unwrap()
}
