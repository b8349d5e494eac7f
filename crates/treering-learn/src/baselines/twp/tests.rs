//! The topology against a list of arcs and finite differences; importances against their definition.

use treering_graph::{Arcs, Direction, NodeId};

use super::{Form, Parameters, Twp};
use crate::baselines::anchor::{Anchor, Importance};
use crate::checks::{
    assert_same_importance, cross_entropy_slopes, row_gradient, small_graph, with_session,
};
use crate::network::loss::row_weights;
use crate::network::source::{Source, smoothed_rows};

const OUTPUTS: usize = 3;

/// Every arc once as (source, target), and one from each node to itself.
fn list(arcs: &Arcs) -> Vec<(usize, usize)> {
    let mut list: Vec<(usize, usize)> = arcs
        .iter()
        .filter(|(target, source, _)| target != source)
        .map(|(target, source, _)| (source, target))
        .collect();
    list.extend((0..arcs.nodes()).map(|node| (node, node)));
    list
}

fn naive(form: Form, arcs: &Arcs, z: &[f64]) -> f64 {
    let dot = |a: usize, b: usize| -> f64 {
        (0..OUTPUTS)
            .map(|c| z[a * OUTPUTS + c] * z[b * OUTPUTS + c].tanh())
            .sum()
    };
    let list = list(arcs);
    if form == Form::AsIntended {
        return list.iter().map(|&(j, i)| dot(i, j).powi(2)).sum();
    }
    let power = |&(j, i): &(usize, usize)| {
        let score = dot(j, i);
        (if score > 0.0 { score } else { 0.2 * score }).exp()
    };
    let total = |target: usize| -> f64 {
        let into = list.iter().filter(|arc| arc.1 == target);
        into.map(power).sum()
    };
    let square = |arc: &(usize, usize)| (power(arc) / total(arc.1)).powi(2);
    list.iter().map(square).sum::<f64>().sqrt()
}

fn logits(nodes: usize) -> Vec<f64> {
    (0..nodes * OUTPUTS)
        .map(|i| ((i * 37 + i / 5) % 19) as f64 / 7.0 - 1.3)
        .collect()
}

#[test]
fn the_topology_is_that_of_the_list_of_arcs_and_its_slopes_those_of_finite_differences() {
    for form in [Form::AsCoded, Form::AsIntended] {
        for direction in [Direction::Directed, Direction::Undirected] {
            let graph = small_graph(12, 4, direction);
            let (arcs, z) = (graph.arcs(), logits(12));
            assert_eq!(arcs.is_symmetric(), direction == Direction::Undirected);
            let mut slopes = vec![0.0; z.len()];
            let found = form.add(arcs, &z, OUTPUTS, &mut slopes);
            let right = naive(form, arcs, &z);
            assert!((found - right).abs() < 1e-11 * right, "{found} {right}");
            assert!(slopes.iter().any(|slope| slope.abs() > 1e-3));
            for at in 0..z.len() {
                let moved = |by: f64| {
                    let mut z = z.clone();
                    z[at] += by;
                    naive(form, arcs, &z)
                };
                let right = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(
                    (slopes[at] - right).abs() < 1e-6,
                    "{form:?} {at}: {} {right}",
                    slopes[at]
                );
            }
        }
    }
}

#[test]
fn loops_in_the_graph_count_once_and_the_direction_of_arcs_matters() {
    // 0 -> 1 and 1 -> 1
    let looped = Arcs::from_rows(vec![0, 0, 2].into(), vec![0, 1].into(), None).unwrap();
    let plain = Arcs::from_rows(vec![0, 0, 1].into(), vec![0].into(), None).unwrap();
    let back = Arcs::from_rows(vec![0, 1, 1].into(), vec![1].into(), None).unwrap();
    let z = logits(2);
    for form in [Form::AsCoded, Form::AsIntended] {
        let of = |arcs: &Arcs| {
            let mut slopes = vec![0.0; z.len()];
            (form.add(arcs, &z, OUTPUTS, &mut slopes), slopes)
        };
        assert_eq!(of(&looped), of(&plain));
        assert_ne!(of(&plain).0, of(&back).0);
    }
}

#[test]
fn nodes_without_neighbours_attend_to_themselves_whatever_the_logits() {
    let z: Vec<f32> = logits(4).iter().map(|&z| z as f32).collect();
    let mut slopes = vec![0.0f32; z.len()];
    let length = Form::AsCoded.add(&Arcs::none(4), &z, OUTPUTS, &mut slopes);
    assert_eq!(length, 2.0);
    assert!(slopes.iter().all(|&slope| slope == 0.0));
}

fn twp(mixed_topology: bool) -> Twp {
    Twp {
        parameters: Parameters {
            lambda_loss: 3.0,
            lambda_topology: 50.0,
            mixed_topology,
            ..Parameters::default()
        },
        anchor: Anchor::default(),
    }
}

/// Row gradients summed: of the weighted loss over train rows, and of the topology over all nodes with slopes from finite differences.
fn gradients(found: &mut [Importance; 2]) {
    with_session(|_, lesson, network| {
        let rows = lesson.kept_rows().to_dense();
        let weights: Vec<f64> = row_weights(&lesson.labels, true, 1.0);
        for (at, &label) in lesson.labels.iter().enumerate() {
            let one = row_gradient(rows.row(at), network, |z| cross_entropy_slopes(z, label));
            found[0].blend(1.0, &one, weights[at]);
        }
        let graph = lesson.task.graph();
        let nodes: Vec<NodeId> = NodeId::first(graph.nodes()).collect();
        let all = smoothed_rows(graph, 2, &nodes);
        let z: Vec<f64> = network
            .logits(&Source::rows_of(&all))
            .iter()
            .map(|&z| f64::from(z))
            .collect();
        let mut slopes = vec![0.0; z.len()];
        Form::AsCoded.add(graph.arcs(), &z, 4, &mut slopes);
        for node in 0..graph.nodes() {
            let own = slopes[node * 4..][..4].to_vec();
            let one = row_gradient(all.to_dense().row(node), network, |_| own.clone());
            found[1].blend(1.0, &one, 1.0);
        }
    });
}

#[test]
fn importances_are_squares_of_the_two_gradients_apart_or_mixed() {
    for mixed in [false, true] {
        let mut sums = [Importance::default(), Importance::default()];
        gradients(&mut sums);
        let [loss, topology] = &sums;
        let weigh = |loss: &[f64], topology: &[f64]| -> Vec<f64> {
            let pairs = loss.iter().zip(topology);
            pairs
                .map(|(l, t)| 3.0 * l * l + 50.0 * (t + if mixed { *l } else { 0.0 }).powi(2))
                .collect()
        };
        let right = Importance {
            first: weigh(&loss.first, &topology.first),
            second: weigh(&loss.second, &topology.second),
        };
        with_session(|session, lesson, _| {
            let found = twp(mixed).importance(session, lesson);
            assert_same_importance(&found, &right, "twp");
        });
    }
}
