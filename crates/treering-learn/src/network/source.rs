//! Rows that a network reads: nodes of a graph after smoothing, or stored rows as they are.
//!
//! Smoothing has no parameters, so S^hops X can be worked out once and every epoch is a product with its rows. Where X is sparse the
//! rows fill up, and smoothing X W anew in every epoch is cheaper; a count of multiplications decides.

use std::cell::RefCell;

use treering_graph::{Features, Graph, NodeId, Propagation, Room, Side};

use super::backbone::pick;
use super::dense::Into;
use super::inputs::Inputs;
use super::number::Number;

/// A multiplication in a sparse product takes as long as so many in a dense one.
const SPARSE_COST: usize = 8;
/// Smoothed rows are worked out once only where they take at most so many numbers.
const READY_LIMIT: usize = 1 << 28;

/// Rows that a network reads.
pub struct Source<'a, T> {
    inputs: Inputs<T>,
    smoothing: Option<Smoothing<'a, T>>,
}

/// What is still to be done to the product X W in every pass.
struct Smoothing<'a, T> {
    propagation: Propagation<'a>,
    hops: usize,
    nodes: Vec<usize>,
    room: RefCell<(Vec<T>, Room<T>)>,
}

impl<'a, T: Number> Source<'a, T> {
    /// Rows as they are: nodes without edges, or rows smoothed before.
    pub fn rows_of(features: &Features) -> Source<'static, T> {
        Source {
            inputs: Inputs::new(features),
            smoothing: None,
        }
    }

    /// Rows from inputs.
    pub fn from_inputs(inputs: Inputs<T>) -> Source<'static, T> {
        Source {
            inputs,
            smoothing: None,
        }
    }

    /// Rows of S^hops X, in whichever form is cheaper to multiply.
    pub fn smoothed(graph: &'a Graph, hops: usize, nodes: &[NodeId]) -> Self {
        let inputs = Inputs::new(graph.features());
        let columns = inputs.present().len();
        let ready = nodes.len() * columns;
        let anew = SPARSE_COST * (inputs.entries() + hops * (graph.arcs().len() + graph.nodes()));
        let cheap = graph.nodes() * columns <= READY_LIMIT && ready <= anew;
        // Dense features are multiplied in full either way; smoothing the narrower side once is always better.
        if cheap || inputs.dense().is_some() {
            return Self::ready(graph, hops, nodes, &inputs);
        }
        Source {
            inputs,
            smoothing: Some(Smoothing {
                propagation: Propagation::new(graph.arcs()),
                hops,
                nodes: nodes.iter().map(|node| node.index()).collect(),
                room: RefCell::new((Vec::new(), Room::new())),
            }),
        }
    }

    fn ready(graph: &Graph, hops: usize, nodes: &[NodeId], inputs: &Inputs<T>) -> Self {
        let present = inputs.present().to_vec();
        let propagation = Propagation::new(graph.arcs());
        let own = match inputs.dense() {
            Some(_) => None,
            None => Some(dense_columns(graph.features(), &present)),
        };
        let values = own.as_deref().or(inputs.dense()).unwrap_or(&[]);
        let smooth = propagation.smooth(Side::Forward, values, present.len(), hops);
        let rows: Vec<usize> = nodes.iter().map(|node| node.index()).collect();
        let values = pick(&smooth, present.len(), &rows);
        Source::from_inputs(Inputs::dense_of(rows.len(), present, values))
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.smoothing
            .as_ref()
            .map_or(self.inputs.rows(), |smoothing| smoothing.nodes.len())
    }

    /// The feature columns that can be other than zero, ascending.
    pub fn columns(&self) -> &[u32] {
        self.inputs.present()
    }

    /// The rows themselves, where they are worked out.
    pub fn inputs(&self) -> Option<&Inputs<T>> {
        self.smoothing.is_none().then_some(&self.inputs)
    }

    /// out = rows W, with one row of `width` in `w` for every one of [`Source::columns`].
    pub fn times(&self, w: &[T], width: usize, out: &mut Vec<T>) {
        let Some(smoothing) = &self.smoothing else {
            return self.inputs.times(w, width, None, out);
        };
        let (product, room) = &mut *smoothing.room.borrow_mut();
        self.inputs.times(w, width, None, product);
        let smooth =
            smoothing
                .propagation
                .smooth_in(room, Side::Forward, product, width, smoothing.hops);
        out.clear();
        for &node in &smoothing.nodes {
            out.extend_from_slice(&smooth[node * width..(node + 1) * width]);
        }
    }

    /// out (+)= rows^T g, one row of `width` for every one of [`Source::columns`].
    pub fn transposed_times(&self, g: &[T], width: usize, into: Into, out: &mut Vec<T>) {
        let Some(smoothing) = &self.smoothing else {
            return self.inputs.transposed_times(g, width, None, into, out);
        };
        let (spread, room) = &mut *smoothing.room.borrow_mut();
        spread.clear();
        spread.resize(smoothing.propagation.nodes() * width, T::ZERO);
        for (&node, row) in smoothing.nodes.iter().zip(g.chunks(width)) {
            let into = &mut spread[node * width..(node + 1) * width];
            into.iter_mut().zip(row).for_each(|(into, &g)| *into += g);
        }
        let smooth =
            smoothing
                .propagation
                .smooth_in(room, Side::Transposed, spread, width, smoothing.hops);
        self.inputs.transposed_times(smooth, width, None, into, out);
    }
}

/// Some columns of features, row by row. They have to be all that are not zero.
pub(crate) fn dense_columns<T: Number>(features: &Features, columns: &[u32]) -> Vec<T> {
    let number = |value: f32| T::from_f64(f64::from(value));
    match features {
        Features::Dense(dense) => {
            let row = |row| {
                columns
                    .iter()
                    .map(move |&c| number(dense.row(row)[c as usize]))
            };
            (0..dense.rows()).flat_map(row).collect()
        }
        Features::Sparse(sparse) => {
            let mut place = vec![0usize; sparse.columns()];
            for (at, &column) in columns.iter().enumerate() {
                place[column as usize] = at;
            }
            let mut values = vec![T::ZERO; sparse.rows() * columns.len()];
            for (row, values) in values.chunks_mut(columns.len().max(1)).enumerate() {
                let (indices, found) = sparse.row(row);
                for (&column, &value) in indices.iter().zip(found) {
                    values[place[column as usize]] = number(value);
                }
            }
            values
        }
    }
}

/// Rows of S^hops X, to be kept.
pub fn smoothed_rows(graph: &Graph, hops: usize, nodes: &[NodeId]) -> Features {
    let smooth = Propagation::new(graph.arcs()).smooth_features(graph.features(), hops);
    smooth.select(nodes)
}

#[cfg(test)]
mod tests {
    use treering_graph::{Direction, NodeId};

    use super::{Into, Source, smoothed_rows};
    use crate::checks::{small_graph, sparsely};

    #[test]
    fn every_form_of_the_same_rows_gives_the_same_products() {
        for direction in [Direction::Undirected, Direction::Directed] {
            let dense = small_graph(40, 7, direction);
            let graph = sparsely(&dense);
            let nodes: Vec<NodeId> = [3, 0, 17, 3, 39].map(NodeId).into();
            let explicit = smoothed_rows(&dense, 2, &nodes).to_dense();
            let few = Source::<f64>::smoothed(&graph, 2, &nodes);
            let all: Vec<NodeId> = (0..4000).map(|i| NodeId(i % 40)).collect();
            let many = Source::<f64>::smoothed(&graph, 2, &all);
            assert!(few.inputs().is_some() && many.inputs().is_none());
            for source in [&few, &many] {
                let (columns, rows) = (source.columns(), source.rows());
                let w: Vec<f64> = (0..columns.len() * 3)
                    .map(|i| (i % 5) as f64 - 1.5)
                    .collect();
                let mut out = Vec::new();
                source.times(&w, 3, &mut out);
                let full =
                    smoothed_rows(&dense, 2, &NodeId::first(40).collect::<Vec<_>>()).to_dense();
                let row = |at: usize| match rows {
                    5 => explicit.row(at),
                    _ => full.row(at % 40),
                };
                for at in 0..rows {
                    for j in 0..3 {
                        let right: f64 = columns
                            .iter()
                            .enumerate()
                            .map(|(c, &column)| f64::from(row(at)[column as usize]) * w[c * 3 + j])
                            .sum();
                        assert!((out[at * 3 + j] - right).abs() < 1e-5, "{at} {j}");
                    }
                }
                let g: Vec<f64> = (0..rows * 3).map(|i| (i % 7) as f64 - 3.0).collect();
                let mut back = Vec::new();
                source.transposed_times(&g, 3, Into::Replace, &mut back);
                for (c, &column) in columns.iter().enumerate() {
                    for j in 0..3 {
                        let right: f64 = (0..rows)
                            .map(|at| f64::from(row(at)[column as usize]) * g[at * 3 + j])
                            .sum();
                        assert!((back[c * 3 + j] - right).abs() < 1e-3, "{column} {j}");
                    }
                }
            }
        }
    }
}
