//! Gradients of the network against finite differences in f64 and against autodiff in f32, and sessions against training without them.

use candle_core::{D, Device, Tensor};
use treering_graph::{Direction, Graph, NodeId};

use super::{Gradient, Session, Springs};
use crate::checks::{assert_close, dense_s, small_graph, sparsely, var};
use crate::network::adam::{Adam, Spring};
use crate::network::classifier::{Classifier, Shape, Start};
use crate::network::loss::{CrossEntropy, row_weights};
use crate::network::number::Number;
use crate::network::source::Source;

const SHAPE: Shape = Shape {
    features: 7,
    hidden: 5,
    hops: 2,
    adam: Adam {
        rate: 0.01,
        decay: 5e-3,
    },
};

fn network<T: Number>() -> Classifier<T> {
    let mut network = Classifier::new(SHAPE, Start::Uniform, 3, 0);
    network.grow(4);
    network
}

fn nodes() -> Vec<NodeId> {
    (0..20).filter(|i| i % 3 != 1).map(NodeId).collect()
}

fn labels() -> Vec<u32> {
    nodes().iter().map(|node| node.0 * 7 % 3).collect()
}

fn loss<T: Number>(logits: &[T], slopes: &mut [T]) -> f64 {
    let labels = labels();
    let weights = row_weights(&labels, true, 1.0);
    let loss = CrossEntropy {
        labels: &labels,
        weights: &weights,
        columns: 3,
        shift: None,
    };
    loss.add(logits, slopes)
}

fn gradient<T: Number>(network: &Classifier<T>, graph: &Graph) -> (f64, Gradient<T>) {
    let mut network = network.clone();
    let source = Source::smoothed(graph, SHAPE.hops, &nodes());
    let mut session = Session::new(&mut network, vec![source], None);
    let mut gradient = session.no_gradient();
    let value = session.add_gradient(0, &mut gradient, loss);
    (value, session.spread(&gradient))
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let graph = sparsely(&small_graph(20, 7, Direction::Directed));
    let start = network::<f64>();
    let (_, found) = gradient(&start, &graph);
    let value = |change: &dyn Fn(&mut Classifier<f64>)| {
        let mut moved = start.clone();
        change(&mut moved);
        gradient(&moved, &graph).0
    };
    for at in 0..start.first.values.len() {
        let by = |by: f64| value(&|network| network.first.values[at] += by);
        let right = (by(1e-6) - by(-1e-6)) / 2e-6;
        assert!((found.first[at] - right).abs() < 1e-7, "W1[{at}]");
    }
    for at in 0..start.second.values.len() {
        let by = |by: f64| value(&|network| network.second.values[at] += by);
        let right = (by(1e-6) - by(-1e-6)) / 2e-6;
        assert!((found.second[at] - right).abs() < 1e-7, "W2[{at}]");
    }
}

#[test]
fn gradients_are_those_of_autodiff() -> candle_core::Result<()> {
    let graph = small_graph(20, 7, Direction::Directed);
    let network = network::<f32>();
    let (value, found) = gradient(&network, &graph);
    let (w1, w2) = (
        var(network.first(), (7, 5))?,
        var(network.second(), (4, 5))?,
    );
    let s = dense_s(graph.arcs())?;
    let x = Tensor::from_slice(graph.features().to_dense().values(), (20, 7), &Device::Cpu)?;
    let layer = s.matmul(&s)?.matmul(&x)?.matmul(&w1)?.relu()?;
    let logits = layer.matmul(&w2.t()?)?.narrow(1, 0, 3)?.contiguous()?;
    let rows: Vec<u32> = nodes().iter().map(|node| node.0).collect();
    let logits = logits.index_select(&Tensor::new(rows, &Device::Cpu)?, 0)?;
    let total = logits.exp()?.sum_keepdim(D::Minus1)?.log()?;
    let logs = logits.broadcast_sub(&total)?;
    let labels = Tensor::new(labels(), &Device::Cpu)?.unsqueeze(1)?;
    let weights = Tensor::new(row_weights::<f32>(&self::labels(), true, 1.0), &Device::Cpu)?;
    let right = (logs.gather(&labels, 1)?.squeeze(1)? * weights)?
        .sum_all()?
        .neg()?;
    assert!((f64::from(right.to_scalar::<f32>()?) - value).abs() < 1e-5);
    let gradients = right.backward()?;
    assert_close(&gradients, &w1, &found.first, "W1")?;
    assert_close(&gradients, &w2, &found.second, "W2")
}

/// Trains on a graph that has no column 1, once with that column left out and caught up with, once stepped like any other.
#[test]
fn columns_that_are_left_out_end_at_the_same_bits() {
    let sparse = sparsely(&small_graph(20, 7, Direction::Undirected));
    let dense = small_graph(20, 7, Direction::Undirected);
    let springs = Springs {
        first: Spring {
            strength: (0..35).map(|i| (i % 4) as f32).collect(),
            centre: (0..35).map(|i| (i % 3) as f32 / 9.0).collect(),
        },
        second: Spring {
            strength: vec![0.5; 10],
            centre: vec![0.1; 10],
        },
    };
    let ends: Vec<Classifier> = [&sparse, &dense]
        .map(|graph| {
            let mut network = network::<f32>();
            for _ in 0..2 {
                let nodes = nodes();
                let rows = crate::network::source::smoothed_rows(graph, 2, &nodes);
                let source = Source::rows_of(&rows);
                let mut session = Session::new(&mut network, vec![source], Some(&springs));
                for _ in 0..20 {
                    let mut gradient = session.no_gradient();
                    // A gradient that both forms round alike: none from the loss, so that only the column's own path is compared.
                    session.step(&mut gradient);
                }
                session.finish();
            }
            network
        })
        .into();
    assert_eq!(ends[0].first(), ends[1].first());
    assert_eq!(ends[0].second(), ends[1].second());
    assert_ne!(ends[0].first(), network::<f32>().first());
}

#[test]
fn sums_over_rows_of_squares_are_those_of_single_rows() {
    let graph = small_graph(20, 7, Direction::Directed);
    let all = nodes();
    let rows = crate::network::source::smoothed_rows(&graph, 2, &all);
    let mut network = network::<f64>();
    let mut session = Session::new(&mut network, vec![Source::rows_of(&rows)], None);
    let mut found = session.no_gradient();
    assert!(session.add_row_by_row(0, &mut found, |x| x * x, loss));
    let mut right = session.no_gradient();
    for row in 0..all.len() {
        let mut one = session.no_gradient();
        session.add_gradient(0, &mut one, |logits, slopes| {
            let value = loss(logits, slopes);
            for (at, slopes) in slopes.chunks_mut(4).enumerate() {
                if at != row {
                    slopes.fill(0.0);
                }
            }
            value
        });
        for (sum, one) in right
            .first
            .iter_mut()
            .zip(one.first)
            .chain(right.second.iter_mut().zip(one.second))
        {
            *sum += one * one;
        }
    }
    for (found, right) in found
        .first
        .iter()
        .zip(&right.first)
        .chain(found.second.iter().zip(&right.second))
    {
        assert!((found - right).abs() < 1e-12, "{found} {right}");
    }
}

#[test]
fn outputs_that_come_later_do_not_depend_on_when() {
    let mut late: Classifier<f32> = Classifier::new(SHAPE, Start::Normal, 3, 1);
    late.grow(2);
    late.grow(4);
    let mut early: Classifier<f32> = Classifier::new(SHAPE, Start::Normal, 3, 1);
    early.grow(4);
    assert_eq!(late.second(), early.second());
    let other: Classifier<f32> = Classifier::new(SHAPE, Start::Normal, 3, 2);
    assert_ne!(late.first(), other.first());
}
