//! Telling a task's classes apart: least squares with a ridge on the features of a node and of what lies 1, 2, ... steps around it, every block of
//! unit length. Classes weigh the same, whatever their sizes, as in the metric.
//!
//! Of sparse features no block is ever made: a block times a vector is one pass over the features and some steps of one column over the arcs. So the head stands in the
//! full feature space, and a step of its training costs O(non-zeros + arcs).

use std::ops::Range;

use rayon::prelude::*;
use treering_graph::{Features, Graph, NodeId, Propagation, Side};

use super::embed::{View, each_entry};
use super::gram;
use crate::Labelled;

/// A solution is exact enough when its residual is so much smaller than the right side.
const ACCURACY: f64 = 1e-6;

/// Steps after which a solution is taken as it is; a graph of any kind seen so far took fewer than a hundred.
const MOST_STEPS: usize = 1000;

/// The ridge times the number of train nodes. By validation nodes of three graphs; see docs/treering-learner.md.
const RIDGE: f64 = 3.0;

/// What tells a task's classes apart: an output for each, or one for both of two.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// By output, hop and feature column.
    pub weights: Vec<f32>,
    /// By output.
    pub bias: Vec<f32>,
}

/// How many outputs a head of so many classes has.
pub(crate) fn outputs(classes: usize) -> usize {
    match classes {
        0 | 1 => 0,
        2 => 1,
        more => more,
    }
}

/// A graph's features and what lies around each node, as a matrix that need not be made. Its rows are the nodes of a view; its columns the hops times
/// the features, and one column of ones.
pub(crate) struct Blocks<'a> {
    features: &'a Features,
    propagation: Propagation<'a>,
    view: &'a View,
    nodes: &'a [NodeId],
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(graph: &'a Graph, view: &'a View, nodes: &'a [NodeId]) -> Self {
        Blocks {
            features: graph.features(),
            propagation: Propagation::new(graph.arcs()),
            view,
            nodes,
        }
    }

    /// Nodes of the graph.
    pub(crate) fn nodes(&self) -> usize {
        self.features.rows()
    }

    /// Whether the view has all that rows are made of.
    fn is_made(&self) -> bool {
        !self.view.every_hop.is_empty()
    }

    /// A row without its one, from a view that keeps every hop.
    pub(super) fn put_row(&self, at: usize, row: &mut [f64]) {
        let (each, columns) = (self.each(), self.features.columns());
        let from = &self.view.every_hop[at * each..(at + 1) * each];
        for (hop, from) in from.chunks(columns).enumerate() {
            let scale = self.scale(hop, at);
            let to = row[hop * columns..].iter_mut().zip(from);
            to.for_each(|(to, &value)| *to = scale * f64::from(value));
        }
    }

    /// Gives the memory of some rows back, where they lie in a file.
    pub(super) fn release(&self, rows: Range<usize>) {
        let each = self.each();
        self.view
            .every_hop
            .release(rows.start * each..rows.end * each);
    }

    fn hops(&self) -> usize {
        self.view.scales.len()
    }

    /// Weights of one output: hops times feature columns.
    pub(crate) fn each(&self) -> usize {
        self.hops() * self.features.columns()
    }

    /// What a node's row of a hop is multiplied with; hops share one unit length.
    fn scale(&self, hop: usize, at: usize) -> f64 {
        self.view.scales[hop][at] / (self.hops() as f64).sqrt()
    }

    /// X w for several w at once, by rows of features of unit length.
    ///
    /// # Arguments
    /// * `weights`: by feature column, `width` numbers each.
    fn features_times(&self, weights: &[f64], width: usize) -> Vec<f64> {
        let mut out = vec![0f64; self.features.rows() * width];
        self.features.visit(|rows| {
            let some = &mut out[rows.start * width..rows.end * width];
            let each = some.par_chunks_mut(width).zip(rows).with_min_len(64);
            each.for_each(|(out, node)| self.put_product(node, weights, out));
        });
        out
    }

    fn put_product(&self, node: usize, weights: &[f64], out: &mut [f64]) {
        let (width, length) = (out.len(), self.view.lengths[node]);
        match self.features {
            Features::Dense(dense) => {
                let entries = dense.row(node).iter().zip(weights.chunks(width));
                for (&value, weights) in entries {
                    let sums = out.iter_mut().zip(weights);
                    sums.for_each(|(sum, weight)| *sum += f64::from(value) * weight);
                }
                // Once, because a division takes longer than all else here.
                out.iter_mut().for_each(|sum| *sum /= length);
            }
            Features::Sparse(_) => each_entry(self.features, node, |column, value| {
                let value = f64::from(value) / length;
                let weights = &weights[column * width..(column + 1) * width];
                let sums = out.iter_mut().zip(weights);
                sums.for_each(|(sum, weight)| *sum += value * weight);
            }),
        }
    }

    /// The matrix times some vectors.
    ///
    /// # Arguments
    /// * `weights`: by hop, feature column and vector.
    /// * `bias`: by vector.
    pub(crate) fn times(&self, weights: &[f64], bias: &[f64]) -> Vec<f64> {
        self.some_times(weights, bias, bias.len())
    }

    /// As [`times`](Blocks::times), as if these were some of `whole` vectors.
    pub(crate) fn some_times(&self, weights: &[f64], bias: &[f64], whole: usize) -> Vec<f64> {
        let width = bias.len();
        let each = self.features.columns() * width;
        let mut out: Vec<f64> = self
            .nodes
            .iter()
            .flat_map(|_| bias.iter().copied())
            .collect();
        for hop in 0..self.hops() {
            let block = self.hop_times(hop, &weights[hop * each..(hop + 1) * each], (width, whole));
            for (at, (node, out)) in self.nodes.iter().zip(out.chunks_mut(width)).enumerate() {
                let scale = self.scale(hop, at);
                let block = &block[node.index() * width..(node.index() + 1) * width];
                out.iter_mut()
                    .zip(block)
                    .for_each(|(sum, value)| *sum += scale * value);
            }
        }
        out
    }

    /// Features as they lie `hop` steps around every node of the graph, not made unit length, times some of `whole` vectors.
    pub(super) fn hop_times(
        &self,
        hop: usize,
        weights: &[f64],
        (width, whole): (usize, usize),
    ) -> Vec<f64> {
        let block = self.features_times(weights, width);
        let operator = &self.propagation;
        operator.smooth_strip(Side::Forward, &block, (width, whole), hop)
    }

    /// The transposed matrix times a vector: what belongs to the features by hop and column, then what belongs to the ones.
    fn transposed_times(&self, vector: &[f64]) -> Vec<f64> {
        let columns = self.features.columns();
        let mut out = vec![0f64; self.hops() * columns + 1];
        for hop in 0..self.hops() {
            let mut spread = vec![0f64; self.features.rows()];
            for (at, (node, value)) in self.nodes.iter().zip(vector).enumerate() {
                spread[node.index()] += self.scale(hop, at) * value;
            }
            let spread = self.propagation.smooth(Side::Transposed, &spread, 1, hop);
            let out = &mut out[hop * columns..(hop + 1) * columns];
            for (node, &value) in spread
                .iter()
                .enumerate()
                .filter(|(_, value)| **value != 0.0)
            {
                let value = value / self.view.lengths[node];
                each_entry(self.features, node, |column, entry| {
                    out[column] += value * f64::from(entry);
                });
            }
        }
        if let Some(ones) = out.last_mut() {
            *ones = vector.iter().sum();
        }
        out
    }
}

impl Head {
    /// Learns from train nodes, which are the nodes of the blocks.
    pub(crate) fn new(blocks: &Blocks<'_>, train: &Labelled, classes: usize) -> Self {
        let mut counts = vec![0f64; classes];
        train
            .classes
            .iter()
            .for_each(|&class| counts[class as usize] += 1.0);
        let weight = |&class: &u32| 1.0 / (classes as f64 * counts[class as usize]);
        let weights: Vec<f64> = train.classes.iter().map(weight).collect();
        let ridge = RIDGE / train.nodes.len() as f64;
        let target = |class: u32, output: u32| if class == output { 1.0 } else { -1.0 };
        let outputs = outputs(classes) as u32;
        if outputs > 0 && blocks.is_made() {
            let of_node = |&class: &u32| (0..outputs).map(move |output| target(class, output));
            let targets: Vec<f64> = train.classes.iter().flat_map(of_node).collect();
            if let Some(head) = gram::solved(blocks, &targets, &weights, ridge) {
                return head;
            }
        }
        let mut head = Head {
            weights: Vec::new(),
            bias: Vec::new(),
        };
        for output in 0..outputs {
            let targets = train.classes.iter().map(|&class| target(class, output));
            let targets: Vec<f64> = targets.collect();
            let mut found = least_squares(blocks, &targets, &weights, ridge);
            head.bias.extend(found.pop().map(|bias| bias as f32));
            head.weights
                .extend(found.iter().map(|&weight| weight as f32));
        }
        head
    }

    /// Numbers that it keeps.
    pub(crate) fn numbers(&self) -> usize {
        self.weights.len() + self.bias.len()
    }
}

/// The w with the least sum of weights (target - row w)^2 + ridge |w|^2, by conjugate gradients.
fn least_squares(blocks: &Blocks<'_>, targets: &[f64], weights: &[f64], ridge: f64) -> Vec<f64> {
    let weighted = |values: &[f64]| -> Vec<f64> {
        values
            .iter()
            .zip(weights)
            .map(|(value, weight)| value * weight)
            .collect()
    };
    let operator = |w: &[f64]| -> Vec<f64> {
        let (features, bias) = w.split_at(w.len() - 1);
        let mut image = blocks.transposed_times(&weighted(&blocks.times(features, bias)));
        image
            .iter_mut()
            .zip(w)
            .for_each(|(image, w)| *image += ridge * w);
        image
    };
    let mut residual = blocks.transposed_times(&weighted(targets));
    let mut solution = vec![0f64; residual.len()];
    let mut direction = residual.clone();
    let mut square = inner(&residual, &residual);
    let enough = square * ACCURACY * ACCURACY;
    for _ in 0..MOST_STEPS {
        if square <= enough {
            break;
        }
        let image = operator(&direction);
        let length = square / inner(&direction, &image);
        for at in 0..solution.len() {
            solution[at] += length * direction[at];
            residual[at] -= length * image[at];
        }
        let next = inner(&residual, &residual);
        let turn = next / square;
        square = next;
        direction
            .iter_mut()
            .zip(&residual)
            .for_each(|(d, r)| *d = r + turn * *d);
    }
    solution
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
