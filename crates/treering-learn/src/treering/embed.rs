//! From a graph to a row of numbers for each node: its features, made unit length, projected, smoothed over its real neighbours, made unit length
//! again. No label and no other task has a part in it, so all tasks share one space that is never learned and never changes.

use rand::Rng;
use rayon::prelude::*;
use treering_data::{Purpose, random};
use treering_graph::{Features, Graph, NodeId, Propagation, Side};

/// Places of the projection that a feature column goes to, each with a sign. Sixteen keep lengths and angles nearly as well as a full matrix of
/// random signs, at a cost that does not depend on the width.
const PLACES: usize = 16;

/// Columns that are smoothed at a time: memory beyond the result is so many numbers a node.
const STRIP: usize = 256;

/// The space of all tasks.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    features: usize,
    width: usize,
    /// Of each feature column its places, the sign in the highest bit; empty where features are few enough to be taken as they are.
    places: Vec<u32>,
}

/// Which rows of a view's nodes are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Those of the farthest hop.
    LastHop,
    /// Those of all hops too.
    EveryHop,
}

/// Nodes as the space shows them.
pub(crate) struct View {
    /// The rows of the farthest hop, of unit length.
    pub(crate) rows: Vec<f32>,
    /// By node, the rows of every hop as they are; empty where they are not kept.
    pub(crate) every_hop: Vec<f32>,
    /// Of every hop, what makes each node's row unit length. Lengths are those of projected rows.
    pub(crate) scales: Vec<Vec<f64>>,
    /// Of every node of the graph, the length of its features.
    pub(crate) lengths: Vec<f64>,
}

impl Space {
    /// # Arguments
    /// * `most`: the width, unless there are fewer feature columns.
    pub(crate) fn new(features: usize, most: usize, seed: u64) -> Self {
        let width = features.min(most);
        let places = match features > most {
            false => Vec::new(),
            true => {
                let column = |column: usize| {
                    let mut draws = random(seed, Purpose::Projection, column as u64);
                    [(); PLACES].map(|()| {
                        let draw = draws.next_u64();
                        let place = ((draw & 0xffff_ffff) * width as u64) >> 32;
                        place as u32 | ((draw >> 63) as u32) << 31
                    })
                };
                (0..features)
                    .into_par_iter()
                    .flat_map_iter(column)
                    .collect()
            }
        };
        Space {
            features,
            width,
            places,
        }
    }

    /// Feature columns that a graph has to have.
    pub(crate) fn features(&self) -> usize {
        self.features
    }

    /// Numbers in a row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Some nodes of a graph, seen from up to `hops` steps away.
    ///
    /// # Complexity
    /// O(non-zeros x 16 x width / 256 + hops x arcs x width).
    pub(crate) fn view(&self, graph: &Graph, nodes: &[NodeId], hops: usize, kept: Kept) -> View {
        let propagation = Propagation::new(graph.arcs());
        let lengths = lengths(graph.features());
        let mut squares = vec![vec![0f64; nodes.len()]; hops + 1];
        let mut rows = vec![0f32; nodes.len() * self.width];
        let each = match kept {
            Kept::EveryHop => (hops + 1) * self.width,
            Kept::LastHop => 0,
        };
        let mut every_hop = vec![0f32; nodes.len() * each];
        let mut start = 0;
        while start < self.width {
            let strip = STRIP.min(self.width - start);
            let mut now = self.strip(graph.features(), &lengths, start, strip);
            for (hop, squares) in squares.iter_mut().enumerate() {
                if hop > 0 {
                    now = propagation.smooth(Side::Forward, &now, strip, 1);
                }
                let row = |node: &NodeId| &now[node.index() * strip..(node.index() + 1) * strip];
                if kept == Kept::EveryHop {
                    let from = hop * self.width + start;
                    let out = every_hop.par_chunks_mut(each).zip(nodes).with_min_len(64);
                    out.for_each(|(out, node)| out[from..from + strip].copy_from_slice(row(node)));
                }
                squares
                    .par_iter_mut()
                    .zip(nodes)
                    .with_min_len(64)
                    .for_each(|(sum, node)| {
                        *sum += row(node)
                            .iter()
                            .map(|&value| f64::from(value).powi(2))
                            .sum::<f64>();
                    });
            }
            let out = rows.par_chunks_mut(self.width).zip(nodes);
            out.with_min_len(64).for_each(|(row, node)| {
                let from = node.index() * strip;
                row[start..start + strip].copy_from_slice(&now[from..from + strip]);
            });
            start += strip;
        }
        let scales = squares
            .into_iter()
            .map(|of_hop| of_hop.into_iter().map(inverse_root).collect());
        let scales: Vec<Vec<f64>> = scales.collect();
        if let Some(last) = scales.last() {
            let out = rows.par_chunks_mut(self.width).zip(last);
            out.with_min_len(64).for_each(|(row, &scale)| {
                row.iter_mut().for_each(|value| *value *= scale as f32);
            });
        }
        View {
            rows,
            every_hop,
            scales,
            lengths,
        }
    }

    /// Some columns of the projected features of all nodes.
    fn strip(&self, features: &Features, lengths: &[f64], start: usize, strip: usize) -> Vec<f32> {
        let mut out = vec![0f32; features.rows() * strip];
        let scale = 1.0 / (PLACES as f32).sqrt();
        out.par_chunks_mut(strip)
            .enumerate()
            .with_min_len(64)
            .for_each(|(node, out)| {
                let mut add = |column: usize, value: f32| match self.places.is_empty() {
                    true => {
                        if let Some(place) =
                            column.checked_sub(start).and_then(|at| out.get_mut(at))
                        {
                            *place += value;
                        }
                    }
                    false => {
                        for &place in &self.places[column * PLACES..(column + 1) * PLACES] {
                            let at = ((place & 0x7fff_ffff) as usize).wrapping_sub(start);
                            if let Some(sum) = out.get_mut(at) {
                                *sum += f32::from_bits(
                                    (value * scale).to_bits() ^ (place & 0x8000_0000),
                                );
                            }
                        }
                    }
                };
                each_entry(features, node, |column, value| {
                    add(column, (f64::from(value) / lengths[node]) as f32)
                });
            });
        out
    }
}

/// Calls for every entry of a row that may differ from 0.
pub(super) fn each_entry(features: &Features, row: usize, mut call: impl FnMut(usize, f32)) {
    match features {
        Features::Dense(dense) => {
            let entries = dense.row(row).iter().enumerate();
            entries.for_each(|(column, &value)| call(column, value));
        }
        Features::Sparse(sparse) => {
            let (columns, values) = sparse.row(row);
            let entries = columns.iter().zip(values);
            entries.for_each(|(&column, &value)| call(column as usize, value));
        }
    }
}

/// The length of every row, 1 for rows of zeros. In f64, so that no square of a finite number is infinite.
fn lengths(features: &Features) -> Vec<f64> {
    let length = |row: usize| {
        let mut squares = 0f64;
        each_entry(features, row, |_, value| {
            squares += f64::from(value).powi(2)
        });
        if squares > 0.0 { squares.sqrt() } else { 1.0 }
    };
    (0..features.rows()).into_par_iter().map(length).collect()
}

/// What makes a row of this square length 1 long; rows of zeros stay.
fn inverse_root(squares: f64) -> f64 {
    if squares > 0.0 {
        1.0 / squares.sqrt()
    } else {
        0.0
    }
}
