//! The backbone: f(X) = ReLU(S^hops X W1) W2, frozen once it is pre-trained.

use std::borrow::Cow;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use treering_data::{Large, memory_limit};
use treering_graph::{Propagation, Side};

use super::dense::{Into, product, row_blocks, view};
use super::inputs::Inputs;
use super::number::Number;
use crate::LearnError;

/// The frozen network that every task shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Backbone<T = f32> {
    /// Columns of the features.
    pub features: usize,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Steps of propagation before the first layer.
    pub hops: usize,
    /// `features` rows of `hidden`.
    pub first: Vec<T>,
    /// `hidden` rows of `hidden`.
    pub second: Vec<T>,
}

/// Numbers between -bound and bound.
pub fn uniform<T: Number>(random: &mut ChaCha8Rng, count: usize, bound: f64) -> Vec<T> {
    (0..count)
        .map(|_| T::from_f64((random.random::<f64>() * 2.0 - 1.0) * bound))
        .collect()
}

impl<T: Number> Backbone<T> {
    /// Random weights, between plus and minus one over the root of a layer's inputs.
    pub fn new(features: usize, hidden: usize, hops: usize, random: &mut ChaCha8Rng) -> Self {
        let bound = |inputs: usize| 1.0 / (inputs.max(1) as f64).sqrt();
        Backbone {
            features,
            hidden,
            hops,
            first: uniform(random, features * hidden, bound(features)),
            second: uniform(random, hidden * hidden, bound(hidden)),
        }
    }

    /// The rows of W1 for the columns that a task has.
    pub fn first_of(&self, present: &[u32]) -> Vec<T> {
        let row = |column: &u32| &self.first[*column as usize * self.hidden..][..self.hidden];
        present.iter().flat_map(row).copied().collect()
    }

    /// S^hops X W1 on `rows`, before the ReLU. Smooths whichever is narrower, X or X W1.
    ///
    /// # Complexity
    /// O((entries of X + hops x arcs) x hidden), or with dense X of few columns O(hops x arcs x columns + rows x columns
    /// x hidden).
    ///
    /// # Errors
    /// No room on a disk for what is too much for memory.
    pub fn hidden_layer(
        &self,
        inputs: &Inputs<T>,
        propagation: &Propagation<'_>,
        rows: &[usize],
    ) -> Result<Large<T>, LearnError> {
        let columns = inputs.present().len();
        let first = self.first_of(inputs.present());
        if let Some(x) = inputs.dense().filter(|_| columns < self.hidden) {
            let chosen = smoothed_rows(propagation, x, columns, self.hops, rows)?;
            let mut out = Large::zeros(rows.len() * self.hidden)?;
            for some in row_blocks(rows.len()) {
                let from = some.start * columns..some.end * columns;
                let to = some.start * self.hidden..some.end * self.hidden;
                let a = view(&chosen[from.clone()], some.len(), columns);
                let b = view(&first, columns, self.hidden);
                product(&mut out[to.clone()], Into::Replace, a, b);
                chosen.release(from);
                out.release(to);
            }
            return Ok(out);
        }
        let mut projected = Vec::new();
        inputs.times(&first, self.hidden, None, &mut projected);
        smoothed_rows(propagation, &projected, self.hidden, self.hops, rows)
    }
}

/// Some rows of S^hops X, for X row by row. As many columns are smoothed at a time as memory allows.
fn smoothed_rows<T: Number>(
    propagation: &Propagation<'_>,
    x: &[T],
    width: usize,
    hops: usize,
    rows: &[usize],
) -> Result<Large<T>, LearnError> {
    let mut out = Large::zeros(rows.len() * width)?;
    // The columns themselves and two strips to work in, in a quarter of the memory.
    let each = 3 * size_of::<T>() as u64 * propagation.nodes().max(1) as u64;
    let step = (memory_limit() / 4 / each).clamp(1, width.max(1) as u64) as usize;
    for start in (0..width).step_by(step) {
        let strip = start..width.min(start + step);
        let part: Cow<'_, [T]> = match strip.len() == width {
            true => Cow::Borrowed(x),
            false => {
                let rows = x.par_chunks(width).with_min_len(1024);
                let some = rows.flat_map_iter(|row| &row[strip.clone()]).copied();
                Cow::Owned(some.collect())
            }
        };
        let smooth = propagation.smooth_strip(Side::Forward, &part, (strip.len(), width), hops);
        drop(part);
        out.fill(width, |some, out| {
            let both = out.par_chunks_mut(width).zip(&rows[some]);
            both.with_min_len(64).for_each(|(to, &row)| {
                let from = &smooth[row * strip.len()..(row + 1) * strip.len()];
                to[strip.clone()].copy_from_slice(from);
            });
        });
    }
    Ok(out)
}

/// Some rows of a matrix.
pub fn pick<T: Copy>(values: &[T], width: usize, rows: &[usize]) -> Vec<T> {
    // Whole rows at once, instead of number by number.
    let mut picked = Vec::with_capacity(rows.len() * width);
    for &row in rows {
        picked.extend_from_slice(&values[row * width..(row + 1) * width]);
    }
    picked
}
