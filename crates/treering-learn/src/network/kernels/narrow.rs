//! Products of dense features with a few columns, such as the scores of a prompt's tokens. A product made for large matrices fills a vector with columns of the
//! result, of which there are three here, and waits for one addition after the other; these work on many rows at once.
//!
//! Every sum runs in the order that `dense::product` has on processors with AVX2: one column after another, or blocks of [`DEPTH`] rows.
#![allow(unsafe_code)]

use treering_graph::prefetch;

use super::{LANES, Lanes, Number, Plain, is_fast, madd};

/// The most columns that count as few.
pub(crate) const FEW: usize = 4;

/// Rows that are added up on their own before their sum joins that of the rows before.
pub(crate) const DEPTH: usize = 512;

/// Rows whose sums are made in step.
const ROWS: usize = 8;

/// Rows that stay in the first-level cache while their columns are added up, some vectors at a time.
const NEAR: usize = 32;

/// Bytes that memory hands over at a time.
const LINE: usize = 64;

for_this_processor! {
    /// out = x w: a row of `width` numbers for every row of as many as w has rows. `padded` is w with every row filled up to a vector.
    few_columns = few_columns_body [T: Number] <T> (x: &[T], padded: &[[T; LANES]], width: usize, out: &mut [T])
}

#[inline(always)]
fn few_columns_body<T: Number, L: Lanes<T>>(
    x: &[T],
    padded: &[[T; LANES]],
    width: usize,
    out: &mut [T],
) {
    let columns = padded.len();
    let whole = out.len() / width / ROWS * ROWS;
    let (many, rest) = out.split_at_mut(whole * width);
    let (x_many, x_rest) = x.split_at(whole * columns);
    for (x, out) in x_many
        .chunks_exact(ROWS * columns)
        .zip(many.chunks_exact_mut(ROWS * width))
    {
        rows_in_step::<T, L, ROWS>(x, padded, width, out);
    }
    for (x, out) in x_rest
        .chunks_exact(columns)
        .zip(rest.chunks_exact_mut(width))
    {
        rows_in_step::<T, L, 1>(x, padded, width, out);
    }
}

#[inline(always)]
fn rows_in_step<T: Number, L: Lanes<T>, const R: usize>(
    x: &[T],
    padded: &[[T; LANES]],
    width: usize,
    out: &mut [T],
) {
    let columns = padded.len();
    assert!(x.len() >= R * columns);
    let mut sums = [L::splat(T::ZERO); R];
    for (column, w) in padded.iter().enumerate() {
        let w = L::load(w);
        // The next rows, a piece of them with every column: eight rows at once are too many for the processor to see them coming.
        prefetch(x, R * (columns + column));
        for r in 0..R {
            // SAFETY: r < R and column < columns, so the place is inside by the assertion above.
            let value = unsafe { *x.get_unchecked(r * columns + column) };
            sums[r] = L::splat(value).times(w, sums[r]);
        }
    }
    for (sum, out) in sums.into_iter().zip(out.chunks_exact_mut(width)) {
        out.copy_from_slice(&sum.store()[..width]);
    }
}

for_this_processor! {
    /// sums = x^T g for one block of rows; `sums` has `W` rows, one for each column of g, as long as x is wide.
    few_sums = few_sums_body [T: Number, const W: usize] <T, W> (x: &[T], g: &[[T; W]], sums: &mut [T])
}

/// Vectors of a row that are added up at once, for each column of g: as many as there are registers for.
const VECTORS: usize = 4;

#[inline(always)]
fn few_sums_body<T: Number, const W: usize, L: Lanes<T>>(x: &[T], g: &[[T; W]], sums: &mut [T]) {
    let columns = sums.len() / W;
    let vectors = columns / LANES;
    let many = vectors / VECTORS * VECTORS * LANES;
    sums.fill(T::ZERO);
    for (x, g) in x.chunks(NEAR * columns).zip(g.chunks(NEAR)) {
        for start in (0..many).step_by(VECTORS * LANES) {
            sum_columns::<T, W, VECTORS, L>(x, g, start, sums);
        }
        for start in (many..vectors * LANES).step_by(LANES) {
            sum_columns::<T, W, 1, L>(x, g, start, sums);
        }
        for (row, g) in x.chunks_exact(columns).zip(g) {
            for column in vectors * LANES..columns {
                for w in 0..W {
                    let sum = &mut sums[w * columns + column];
                    *sum = madd::<T, L>(row[column], g[w], *sum);
                }
            }
        }
    }
}

/// V vectors of every row, from column `start` on, added to what is there.
#[inline(always)]
fn sum_columns<T: Number, const W: usize, const V: usize, L: Lanes<T>>(
    x: &[T],
    g: &[[T; W]],
    start: usize,
    sums: &mut [T],
) {
    let columns = sums.len() / W;
    let places: [_; W] =
        std::array::from_fn(|w| w * columns + start..w * columns + start + V * LANES);
    let mut sum: [[L; V]; W] = std::array::from_fn(|w| {
        let (from, _) = sums[places[w].clone()].as_chunks::<LANES>();
        std::array::from_fn(|v| L::load(&from[v]))
    });
    for (at, (row, g)) in x.chunks_exact(columns).zip(g).enumerate() {
        for line in (0..V * LANES).step_by(LINE / size_of::<T>()) {
            prefetch(x, (NEAR + at) * columns + start + line);
        }
        let (row, _) = row[start..start + V * LANES].as_chunks::<LANES>();
        let row: [L; V] = std::array::from_fn(|v| L::load(&row[v]));
        for w in 0..W {
            let factor = L::splat(g[w]);
            for v in 0..V {
                sum[w][v] = row[v].times(factor, sum[w][v]);
            }
        }
    }
    for (place, sum) in places.into_iter().zip(sum) {
        let (into, _) = sums[place].as_chunks_mut::<LANES>();
        for (into, sum) in into.iter_mut().zip(sum) {
            *into = sum.store();
        }
    }
}
