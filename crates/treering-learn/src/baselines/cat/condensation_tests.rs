//! Condensation as a whole: under random layers that it never saw, synthetic rows match better than the rows they began with.

use treering_graph::{Direction, NodeId};

use super::{condensed, mirrored, symmetric};
use crate::baselines::cat::{Desk, Matching, Parameters, means};
use crate::baselines::condense::{Block, Network, Real, fill};
use crate::baselines::{Lesson, Training};
use crate::checks::{small_graph, sparsely};
use crate::network::source::Source;
use crate::{Shown, TrainingTask};

const WIDTH: usize = 32;

/// The mean matching loss under layers that condensation does not draw.
fn loss(block: &Block, lesson: &Lesson<'_>) -> f64 {
    let graph = symmetric(lesson.task.graph());
    let by_class = lesson.rows_by_class();
    let nodes: Vec<NodeId> = by_class
        .iter()
        .flatten()
        .map(|&row| lesson.task.train().nodes[row])
        .collect();
    let counts: Vec<usize> = by_class.iter().map(Vec::len).collect();
    let size = |class: u32| block.labels.iter().filter(|&&label| label == class).count();
    let mut real = Real::new(Source::smoothed(&graph, 1, &nodes), &block.columns);
    let mut sum = 0.0;
    for number in 0..20 {
        let network = Network {
            seed: 99,
            task: 0,
            number,
            layer: 0,
        };
        let (mut weights, mut layer, mut gradient) = (Vec::new(), Vec::new(), Vec::new());
        fill(network, block.columns.len() * WIDTH, 0.3, &mut weights);
        real.times(&weights, WIDTH, &mut layer);
        sum += Matching {
            values: &block.values,
            sizes: &[size(0), size(1)],
            weights: &weights,
            width: WIDTH,
            real: &means(&mut layer, WIDTH, &counts),
            counts: &[1.0, 1.0],
        }
        .gradient(&mut Desk::default(), &mut gradient);
    }
    sum / 20.0
}

#[test]
fn synthetic_rows_come_to_match_under_layers_they_never_met() {
    let training = Training::default();
    let dense = small_graph(60, 7, Direction::Directed);
    let sparse = sparsely(&dense);
    let variants = [(&dense, 0), (&sparse, 0), (&sparse, 20)];
    for (graph, real_rows) in variants {
        let task = TrainingTask::new(graph.clone(), 0, Shown::Train).unwrap();
        let lesson = Lesson::new(&task, 0..2, 0, &training);
        let after = |encoders: usize| {
            let parameters = Parameters {
                budget: 4,
                encoders,
                width: WIDTH,
                condense_rate: 1e-2,
                real_rows,
                ..Parameters::default()
            };
            loss(&condensed(&lesson, &parameters).unwrap(), &lesson)
        };
        let (before, after) = (after(0), after(300));
        assert!(after < before / 4.0, "{before} {after}");
    }
}

#[test]
fn mirrored_arcs_are_those_of_both_directions_once() {
    let arcs = small_graph(20, 3, Direction::Directed);
    let both = mirrored(arcs.arcs());
    assert!(!arcs.arcs().is_symmetric() && both.is_symmetric());
    for node in 0..20u32 {
        let mut right: Vec<u32> = arcs.arcs().sources_of(NodeId(node)).to_vec();
        right.extend(arcs.arcs().reversed().sources_of(NodeId(node)));
        right.sort_unstable();
        right.dedup();
        assert_eq!(both.sources_of(NodeId(node)), right);
    }
}
