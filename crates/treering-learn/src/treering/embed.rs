//! From a graph to a row of numbers for each node: its features, made unit length, projected, smoothed over its real neighbours, made unit length
//! again. No label and no other task has a part in it, so all tasks share one space that is never learned and never changes.

use std::ops::Range;

use rand::Rng;
use rayon::prelude::*;
use treering_data::{Large, Purpose, memory_limit, random};
use treering_graph::{Features, Graph, NodeId, Propagation, Side};

use crate::LearnError;

/// Places of the projection that a feature column goes to, each with a sign. Sixteen keep lengths and angles nearly as well as a full matrix of
/// random signs, at a cost that does not depend on the width.
const PLACES: usize = 16;

/// Columns that are smoothed at a time: memory beyond the result is so many numbers a node.
pub(super) const STRIP: usize = 256;

/// The space of all tasks.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    features: usize,
    width: usize,
    /// Block by block of columns, where features go; empty where they are few enough to be taken as they are.
    blocks: Vec<Places>,
}

/// The sign of a place.
const SIGN: u32 = 1 << 31;

/// Where feature columns go within a block of columns. Kept by block, so that making one does not go over the places of all.
#[derive(Clone, Debug)]
struct Places {
    /// Of each column where its places begin, and where the last one's end.
    starts: Vec<u32>,
    /// Counted from the block's first column, the sign in the highest bit.
    places: Vec<u32>,
}

impl Places {
    /// # Arguments
    /// * `all`: of every feature column its places in the whole width.
    fn new(all: &[u32], start: usize) -> Self {
        let mut own = Places {
            starts: vec![0],
            places: Vec::new(),
        };
        for of_column in all.chunks(PLACES) {
            for &place in of_column {
                let at = ((place & !SIGN) as usize).wrapping_sub(start);
                if at < STRIP {
                    own.places.push(at as u32 | (place & SIGN));
                }
            }
            own.starts.push(own.places.len() as u32);
        }
        own
    }

    fn of(&self, column: usize) -> &[u32] {
        &self.places[self.starts[column] as usize..self.starts[column + 1] as usize]
    }
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
    pub(crate) rows: Large<f32>,
    /// By node, the rows of every hop as they are; empty where they are not kept.
    pub(crate) every_hop: Large<f32>,
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
        let places: Vec<u32> = match features > most {
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
        let starts = (0..width).step_by(STRIP).filter(|_| !places.is_empty());
        Space {
            features,
            width,
            blocks: starts.map(|start| Places::new(&places, start)).collect(),
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
    /// # Arguments
    /// * `done`: hears of every step over the arcs, as a share of all of them.
    ///
    /// # Errors
    /// No room on a disk for rows that are too many for memory.
    ///
    /// # Complexity
    /// O(non-zeros x 16 x width / 256 + hops x arcs x width).
    pub(crate) fn view(
        &self,
        graph: &Graph,
        nodes: &[NodeId],
        hops: usize,
        kept: Kept,
        done: &dyn Fn(f64),
    ) -> Result<View, LearnError> {
        let propagation = Propagation::new(graph.arcs());
        let each = match kept {
            Kept::EveryHop => (hops + 1) * self.width,
            Kept::LastHop => 0,
        };
        let mut seen = Seen {
            nodes,
            width: self.width,
            rows: Large::zeros(nodes.len() * self.width)?,
            every_hop: Large::zeros(nodes.len() * each)?,
            squares: vec![vec![0f64; nodes.len()]; hops + 1],
        };
        let lengths = lengths(graph.features());
        let step = strip_columns(graph.nodes());
        let mut sums = Sums::new(nodes.len(), hops + 1, self.width > STRIP);
        for block in (0..self.width).step_by(STRIP) {
            let block = block..self.width.min(block + STRIP);
            for start in block.clone().step_by(step) {
                let strip = start..block.end.min(start + step);
                let mut now = self.strip(graph.features(), &lengths, strip.clone());
                for hop in 0..=hops {
                    if hop > 0 {
                        let width = (strip.len(), block.len());
                        now = propagation.smooth_strip(Side::Forward, &now, width, 1);
                        done(strip.len() as f64 / (hops * self.width) as f64);
                    }
                    seen.take(&now, strip.clone(), hop, hop == hops);
                }
            }
            sums.add(&mut seen.squares);
        }
        let squares = sums.all(seen.squares).into_iter();
        let scales = squares.map(|of_hop| of_hop.into_iter().map(inverse_root).collect());
        let scales: Vec<Vec<f64>> = scales.collect();
        let mut rows = seen.rows;
        if let Some(last) = scales.last() {
            rows.fill(self.width, |some, rows| {
                let out = rows.par_chunks_mut(self.width).zip(&last[some]);
                out.with_min_len(64).for_each(|(row, &scale)| {
                    row.iter_mut().for_each(|value| *value *= scale as f32);
                });
            });
        }
        Ok(View {
            rows,
            every_hop: seen.every_hop,
            scales,
            lengths,
        })
    }

    /// Columns in slices of at most so many, each within a block that is summed as one.
    pub(crate) fn slices(&self, most: usize) -> Vec<Range<usize>> {
        let blocks = (0..self.width).step_by(STRIP);
        let of_block = |block: usize| {
            let end = self.width.min(block + STRIP);
            (block..end)
                .step_by(most.max(1))
                .map(move |start| start..end.min(start + most.max(1)))
        };
        blocks.flat_map(of_block).collect()
    }

    /// Where the block of a column begins and ends; its columns are summed as one.
    pub(crate) fn block(&self, column: usize) -> Range<usize> {
        let start = column / STRIP * STRIP;
        start..self.width.min(start + STRIP)
    }

    /// Some columns of all nodes, seen from 0 to `hops` steps away, as they are before rows are made unit length. They lie within one block.
    ///
    /// # Arguments
    /// * `take`: is given the columns of every hop in turn, by node.
    pub(crate) fn slice<E>(
        &self,
        graph: &Graph,
        columns: Range<usize>,
        hops: usize,
        mut take: impl FnMut(usize, &[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let propagation = Propagation::new(graph.arcs());
        let width = (columns.len(), self.block(columns.start).len());
        let mut now = self.strip(graph.features(), &lengths(graph.features()), columns);
        for hop in 0..=hops {
            if hop > 0 {
                now = propagation.smooth_strip(Side::Forward, &now, width, 1);
            }
            take(hop, &now)?;
        }
        Ok(())
    }

    /// Nodes as [`view`](Space::view) shows them, from rows of the farthest hop as they are and the square lengths of all hops.
    pub(crate) fn put_together(&self, mut rows: Vec<f32>, squares: Vec<Vec<f64>>) -> View {
        let scales = squares.into_iter();
        let scales = scales.map(|of_hop| of_hop.into_iter().map(inverse_root).collect());
        let scales: Vec<Vec<f64>> = scales.collect();
        if let Some(last) = scales.last() {
            assert_eq!(rows.len(), last.len() * self.width, "a row for every node");
            let out = rows.par_chunks_mut(self.width).zip(last);
            out.with_min_len(64).for_each(|(row, &scale)| {
                row.iter_mut().for_each(|value| *value *= scale as f32);
            });
        }
        View {
            rows: rows.into(),
            every_hop: Vec::new().into(),
            scales,
            lengths: Vec::new(),
        }
    }

    /// Some columns of the projected features of all nodes.
    fn strip(&self, features: &Features, lengths: &[f64], columns: Range<usize>) -> Vec<f32> {
        let width = columns.len();
        let mut out = vec![0f32; features.rows() * width];
        features.visit(|rows| {
            let some = &mut out[rows.start * width..rows.end * width];
            let each = some.par_chunks_mut(width).zip(rows).with_min_len(64);
            each.for_each(|(out, node)| match (features, self.blocks.is_empty()) {
                (Features::Dense(dense), true) => {
                    let from = &dense.row(node)[columns.clone()];
                    let both = out.iter_mut().zip(from);
                    both.for_each(|(out, &value)| *out += unit(value, lengths[node]));
                }
                _ => each_entry(features, node, |column, value| {
                    self.put(column, unit(value, lengths[node]), columns.start, out);
                }),
            });
        });
        out
    }

    /// Adds a feature to the columns of a strip that it goes to; a strip lies within a block.
    fn put(&self, column: usize, value: f32, start: usize, out: &mut [f32]) {
        let Some(block) = self.blocks.get(start / STRIP) else {
            if let Some(place) = column.checked_sub(start).and_then(|at| out.get_mut(at)) {
                *place += value;
            }
            return;
        };
        let bits = (value * (1.0 / (PLACES as f32).sqrt())).to_bits();
        for &place in block.of(column) {
            let at = ((place & !SIGN) as usize).wrapping_sub(start % STRIP);
            if let Some(sum) = out.get_mut(at) {
                *sum += f32::from_bits(bits ^ (place & SIGN));
            }
        }
    }
}

/// A feature of a row that is made unit length.
fn unit(value: f32, length: f64) -> f32 {
    (f64::from(value) / length) as f32
}

/// Columns that are smoothed at a time, where memory allows: two strips of all nodes are held at once, in a quarter of it.
pub(crate) fn strip_columns(nodes: usize) -> usize {
    let each = 2 * size_of::<f32>() as u64 * nodes.max(1) as u64;
    let columns = memory_limit() / 4 / each;
    // Whole cache lines where there are some.
    let columns = if columns >= 16 {
        columns / 16 * 16
    } else {
        columns
    };
    (columns.max(1) as usize).min(STRIP)
}

/// What is kept of the nodes of a view while strip after strip goes by.
struct Seen<'a> {
    nodes: &'a [NodeId],
    width: usize,
    rows: Large<f32>,
    every_hop: Large<f32>,
    /// By hop and node, over the columns of a block so far.
    squares: Vec<Vec<f64>>,
}

impl Seen<'_> {
    /// Takes some columns of a hop.
    fn take(&mut self, now: &[f32], strip: Range<usize>, hop: usize, is_last: bool) {
        let width = strip.len();
        let row = |node: &NodeId| &now[node.index() * width..(node.index() + 1) * width];
        let nodes = self.nodes;
        let put = |into: &mut Large<f32>, each: usize, from: usize| {
            into.fill(each, |some, out| {
                let out = out.par_chunks_mut(each).zip(&nodes[some]);
                out.with_min_len(64)
                    .for_each(|(out, node)| out[from..from + width].copy_from_slice(row(node)));
            });
        };
        if !self.every_hop.is_empty() {
            let each = self.every_hop.len() / nodes.len();
            put(&mut self.every_hop, each, hop * self.width + strip.start);
        }
        if is_last {
            put(&mut self.rows, self.width, strip.start);
        }
        let sums = self.squares[hop].par_iter_mut().zip(nodes);
        sums.with_min_len(64)
            .for_each(|(sum, node)| add_squares_of(row(node), sum));
    }
}

/// Sums over blocks of columns. A block is added up by itself first, however many strips it is cut into, so that the rounding does not depend on memory.
struct Sums(Option<Vec<Vec<f64>>>);

impl Sums {
    fn new(nodes: usize, hops: usize, several: bool) -> Self {
        Sums(several.then(|| vec![vec![0f64; nodes]; hops]))
    }

    /// Adds a block, and empties it.
    fn add(&mut self, block: &mut [Vec<f64>]) {
        for (all, block) in self.0.iter_mut().flatten().zip(block) {
            let both = all.iter_mut().zip(block);
            both.for_each(|(all, block)| *all += std::mem::take(block));
        }
    }

    /// All blocks; the only one where there is one.
    fn all(self, only: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        self.0.unwrap_or(only)
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
pub(super) fn lengths(features: &Features) -> Vec<f64> {
    let length = |row: usize| {
        let mut squares = 0f64;
        each_entry(features, row, |_, value| {
            squares += f64::from(value).powi(2)
        });
        if squares > 0.0 { squares.sqrt() } else { 1.0 }
    };
    let mut lengths = Vec::with_capacity(features.rows());
    features.visit(|rows| lengths.par_extend(rows.into_par_iter().map(length)));
    lengths
}

/// Adds the squares of more columns to those of the columns before them in a block.
pub(super) fn add_squares(rows: &[f32], sums: &mut [f64]) {
    let width = rows.len() / sums.len().max(1);
    let both = sums.par_iter_mut().zip(rows.par_chunks(width.max(1)));
    both.with_min_len(64)
        .for_each(|(sum, row)| add_squares_of(row, sum));
}

fn add_squares_of(row: &[f32], sum: &mut f64) {
    let squares = row.iter().map(|&value| f64::from(value).powi(2));
    *sum = squares.fold(*sum, |sum, value| sum + value);
}

/// What makes a row of this square length 1 long; rows of zeros stay.
fn inverse_root(squares: f64) -> f64 {
    if squares > 0.0 {
        1.0 / squares.sqrt()
    } else {
        0.0
    }
}
