//! Gradients against an autodiff crate, in f32 and at full size of the formula: dense S, dense X, nothing factorised, nothing folded.

use candle_core::{DType, Device, Result, Tensor, Var};
use treering_graph::{
    Arcs, Dense, Direction, Features, Graph, Labels, NodeId, NodeNames, Origin, Parts, Propagation,
    Side, build_arcs,
};

use crate::baselines::anchor::Importance;
use crate::baselines::{Lesson, Training};
use crate::network::classifier::Classifier;
use crate::network::session::Session;
use crate::network::source::{Source, smoothed_rows};
use crate::{Shown, TrainingTask};

/// A small graph with a loop-free mix of degrees, one isolated node, and features with an empty column.
pub(crate) fn small_graph(nodes: usize, columns: usize, direction: Direction) -> Graph {
    let ends: Vec<(u32, u32)> = (0..2 * nodes as u32)
        .map(|i| {
            (
                (i * 7 + 3) % (nodes as u32 - 1),
                (i * i + 1) % (nodes as u32 - 1),
            )
        })
        .filter(|(a, b)| a != b)
        .collect();
    let (sources, targets): (Vec<u32>, Vec<u32>) = ends.into_iter().unzip();
    let (arcs, _) = build_arcs(nodes, &sources, &targets, None, direction).unwrap();
    let x: Vec<f32> = (0..nodes * columns)
        .map(|i| match i % columns == 1 {
            true => 0.0,
            false => ((i * 31 + i / columns * 7) % 13) as f32 / 6.0 - 1.0,
        })
        .collect();
    let class_of: Vec<u32> = (0..nodes as u32).map(|node| node * node % 3 % 2).collect();
    Graph::new(Parts {
        arcs,
        features: Features::Dense(Dense::new(nodes, columns, x.into()).unwrap()),
        labels: Some(Labels::new(class_of.into(), vec!["a".into(), "b".into()]).unwrap()),
        names: NodeNames::Positions(nodes),
        split: None,
        origin: Origin::default(),
    })
    .unwrap()
}

/// The same graph with its features stored sparsely.
pub(crate) fn sparsely(graph: &Graph) -> Graph {
    let dense = graph.features().to_dense();
    let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
    for row in 0..dense.rows() {
        for (column, &value) in dense
            .row(row)
            .iter()
            .enumerate()
            .filter(|(_, value)| **value != 0.0)
        {
            indices.push(column as u32);
            values.push(value);
        }
        offsets.push(indices.len() as u64);
    }
    let sparse = treering_graph::Sparse::new(
        dense.columns(),
        offsets.into(),
        indices.into(),
        values.into(),
    )
    .unwrap();
    Graph::new(Parts {
        arcs: graph.arcs().clone(),
        features: Features::Sparse(sparse),
        labels: graph.labels().cloned(),
        names: graph.names().clone(),
        split: None,
        origin: Origin::default(),
    })
    .unwrap()
}

/// S as a dense matrix.
pub(crate) fn dense_s(arcs: &Arcs) -> Result<Tensor> {
    let nodes = arcs.nodes();
    let identity: Vec<f32> = (0..nodes * nodes)
        .map(|i| f32::from(u8::from(i / nodes == i % nodes)))
        .collect();
    let s = Propagation::new(arcs).smooth(Side::Forward, &identity, nodes, 1);
    Tensor::from_vec(s, (nodes, nodes), &Device::Cpu)
}

pub(crate) fn var(values: &[f32], shape: (usize, usize)) -> Result<Var> {
    Var::from_tensor(&Tensor::from_slice(values, shape, &Device::Cpu)?)
}

/// The gradient that autodiff found, beside ours.
pub(crate) fn assert_close(
    gradients: &candle_core::backprop::GradStore,
    var: &Var,
    ours: &[f32],
    what: &str,
) -> Result<()> {
    let right = gradients
        .get(var)
        .unwrap()
        .flatten_all()?
        .to_dtype(DType::F32)?
        .to_vec1::<f32>()?;
    let largest = right.iter().fold(0f32, |a, b| a.max(b.abs()));
    assert!(largest > 0.0, "{what}: autodiff found nothing");
    assert_eq!(right.len(), ours.len(), "{what}");
    for (at, (right, ours)) in right.iter().zip(ours).enumerate() {
        assert!(
            (right - ours).abs() <= 2e-5 * largest.max(1e-3),
            "{what}[{at}]: {ours} here, {right} by autodiff"
        );
    }
    Ok(())
}

/// A network of 5 hidden units and 4 outputs, on the train nodes of a small directed graph whose classes are the outputs 2 and 3. Source 1
/// holds all nodes.
pub(crate) fn with_session(run: impl FnOnce(&mut Session<'_, '_>, &Lesson<'_>, &Classifier)) {
    let training = Training {
        hidden: 5,
        ..Training::default()
    };
    let graph = sparsely(&small_graph(20, 7, Direction::Directed));
    let task = TrainingTask::new(graph, 1, Shown::Train).unwrap();
    let lesson = Lesson::new(&task, 2..4, 1, &training);
    let mut network = training.network(&task, 0);
    network.grow(4);
    let before = network.clone();
    let all: Vec<_> = NodeId::first(task.graph().nodes()).collect();
    let all = Source::rows_of(&smoothed_rows(task.graph(), training.hops, &all));
    let mut session = Session::new(&mut network, vec![lesson.rows(), all], None);
    run(&mut session, &lesson, &before);
}

/// The gradient of one row alone, by the textbook. `slopes` turns its logits into the slopes of a loss by them.
pub(crate) fn row_gradient(
    x: &[f32],
    network: &Classifier,
    slopes: impl Fn(&[f64]) -> Vec<f64>,
) -> Importance {
    let (hidden, outputs) = (network.shape().hidden, network.outputs());
    let w1 = |c: usize, h: usize| f64::from(network.first()[c * hidden + h]);
    let w2 = |k: usize, h: usize| f64::from(network.second()[k * hidden + h]);
    let sum = |h: usize| {
        (0..x.len())
            .map(|c| f64::from(x[c]) * w1(c, h))
            .sum::<f64>()
    };
    let layer: Vec<f64> = (0..hidden).map(|h| sum(h).max(0.0)).collect();
    let logit = |k: usize| (0..hidden).map(|h| layer[h] * w2(k, h)).sum::<f64>();
    let slopes = slopes(&(0..outputs).map(logit).collect::<Vec<_>>());
    let back = |h: usize| match layer[h] > 0.0 {
        true => (0..outputs).map(|k| slopes[k] * w2(k, h)).sum::<f64>(),
        false => 0.0,
    };
    let back: Vec<f64> = (0..hidden).map(back).collect();
    let times = |a: f64, b: &[f64]| b.iter().map(|b| a * b).collect::<Vec<_>>();
    Importance {
        first: x.iter().flat_map(|&x| times(f64::from(x), &back)).collect(),
        second: slopes
            .iter()
            .flat_map(|&slope| times(slope, &layer))
            .collect(),
    }
}

/// The slopes of a row's cross entropy by its logits.
pub(crate) fn cross_entropy_slopes(logits: &[f64], label: u32) -> Vec<f64> {
    let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
    let right = |k: usize| f64::from(u8::from(k == label as usize));
    (0..logits.len())
        .map(|k| logits[k].exp() / total - right(k))
        .collect()
}

/// Whether two sets of numbers agree, in proportion to the largest.
pub(crate) fn assert_same_importance(found: &Importance, right: &Importance, what: &str) {
    for (found, right) in [(&found.first, &right.first), (&found.second, &right.second)] {
        assert_eq!(found.len(), right.len(), "{what}");
        let largest = right.iter().fold(0f64, |a, b| a.max(b.abs()));
        assert!(largest > 0.0, "{what}: nothing to compare");
        for (at, (found, right)) in found.iter().zip(right).enumerate() {
            let apart = (found - right).abs();
            assert!(
                apart <= 1e-4 * largest,
                "{what}[{at}]: {found} here, {right}"
            );
        }
    }
}
