//! Gradients against an autodiff crate, in f32 and at full size of the formula: dense S, dense X, nothing factorised, nothing folded.

use candle_core::{DType, Device, Result, Tensor, Var};
use treering_graph::{
    Arcs, Dense, Direction, Features, Graph, Labels, NodeNames, Origin, Parts, Propagation, Side,
    build_arcs,
};

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
