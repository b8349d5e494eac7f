//! Methods that replay what they keep, over whole streams: with enough kept they are as good as training on everything.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use serde_json::{Value, json};
use treering_data::{Recipe, Stream};
use treering_graph::{Arcs, Graph, Parts};

fn demo() -> (Graph, Stream) {
    common::small("demo", 0.4)
}

/// Average accuracy at the end.
fn accuracy(name: &str, changed: &[(&str, Value)], graph: &Graph, stream: &Stream) -> f64 {
    let hidden = [("hidden", json!(32))];
    let mut learner = common::built(name, &[&hidden[..], changed].concat());
    common::accuracy(&mut *learner, graph, stream)
}

#[test]
fn with_everything_kept_neighbourhoods_give_what_joint_training_gives() {
    let (graph, stream) = demo();
    let joint = accuracy("joint", &[], &graph, &stream);
    let finetune = accuracy("finetune", &[], &graph, &stream);
    assert!(joint > finetune + 25.0, "{joint} {finetune}");
    let everything = [("budget", json!(10_000)), ("neighbours", json!(1000))];
    for name in ["ssm-uniform", "ssm-degree", "sem"] {
        let found = accuracy(name, &everything, &graph, &stream);
        assert!((found - joint).abs() < 6.0, "{name} {found}, joint {joint}");
        // As good as nothing kept: far from it.
        let little = [("budget", json!(1)), ("neighbours", json!(0))];
        let little = accuracy(name, &little, &graph, &stream);
        assert!(little < found - 10.0, "{name} {little} of {found}");
    }
}

/// The same nodes without arcs.
fn without_arcs(graph: &Graph) -> Graph {
    Graph::new(Parts {
        arcs: Arcs::none(graph.nodes()),
        features: graph.features().clone(),
        labels: graph.labels().cloned(),
        names: graph.names().clone(),
        split: graph.split().map(|split| split.to_vec().into()),
        origin: graph.origin().clone(),
    })
    .unwrap()
}

#[test]
fn single_nodes_are_enough_where_there_are_no_edges() {
    // Features that tell the class of a node that has no neighbours.
    let (graph, stream) = common::made(Recipe {
        feature_noise: 0.25,
        ..Recipe::preset("demo").unwrap().scaled(0.4).unwrap()
    });
    let bare = without_arcs(&graph);
    let everything = [("budget", json!(10_000))];
    let joint = accuracy("joint", &[], &bare, &stream);
    assert!(joint > 60.0, "{joint}");
    let kept = accuracy("ergnn", &everything, &bare, &stream);
    assert!((kept - joint).abs() < 6.0, "ergnn {kept}, joint {joint}");
    let one = accuracy("ergnn", &[("budget", json!(1))], &bare, &stream);
    assert!(one < kept - 10.0, "{one} of {kept}");
}

#[test]
fn detectors_hold_what_fine_tuning_forgets() {
    let (graph, stream) = demo();
    let finetune = accuracy("finetune", &[], &graph, &stream);
    let smoothed = [("smoothed-buffer", json!(true)), ("shuffle", json!(true))];
    let found = accuracy("oodcil", &smoothed, &graph, &stream);
    assert!(found > finetune + 5.0, "{found} {finetune}");
}
