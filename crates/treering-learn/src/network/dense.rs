//! Dense products, by faer, in pieces of fixed size so that the rounding is the same for any number of threads.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::number::Number;

/// Rows of a result that one thread works out at a time, from its shape alone: many, because every piece rearranges the
/// whole right side once; at least two pieces, so that two threads can share.
fn piece_rows(rows: usize) -> usize {
    rows.div_ceil(2).next_multiple_of(64).min(256)
}

/// Rows in blocks, so that what is made of them need not be held for all at once. Products of a block are, to the bit, those of all rows: no block but an only one is so
/// small that it would be cut into other pieces.
pub fn row_blocks(rows: usize) -> impl Iterator<Item = Range<usize>> {
    const BLOCK: usize = 8192;
    const SMALLEST: usize = 512;
    let blocks = match rows % BLOCK {
        rest if rest < SMALLEST => rows / BLOCK,
        _ => rows / BLOCK + 1,
    };
    let blocks = blocks.max(1);
    (0..blocks).map(move |at| {
        let end = if at + 1 == blocks {
            rows
        } else {
            (at + 1) * BLOCK
        };
        at * BLOCK..end
    })
}

/// `rows` x `columns` numbers, row by row.
///
/// # Panics
/// When `values` has another length.
pub fn view<T>(values: &[T], rows: usize, columns: usize) -> MatRef<'_, T> {
    assert_eq!(values.len(), rows * columns, "{rows} rows of {columns}");
    MatRef::from_row_major_slice(values, rows, columns)
}

/// What happens to the old content of a result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Into {
    /// It is replaced.
    Replace,
    /// It is added to.
    Add,
}

/// out (+)= a b.
///
/// # Panics
/// When the shapes do not fit.
pub fn product<T: Number>(out: &mut [T], into: Into, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    let width = b.ncols();
    assert_eq!(a.ncols(), b.nrows(), "inner sizes");
    assert_eq!(out.len(), a.nrows() * width, "outer sizes");
    if out.is_empty() {
        return;
    }
    let piece = piece_rows(a.nrows());
    out.par_chunks_mut(piece * width)
        .enumerate()
        .for_each(|(at, out)| {
            let rows = out.len() / width;
            product_here(out, into, a.subrows(at * piece, rows), b);
        });
}

/// As [`product`], on this thread alone and in one piece.
pub fn product_here<T: Number>(out: &mut [T], into: Into, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    let accumulate = match into {
        Into::Replace => Accum::Replace,
        Into::Add => Accum::Add,
    };
    let out = MatMut::from_row_major_slice_mut(out, a.nrows(), b.ncols());
    matmul(out, accumulate, a, b, T::ONE, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::{Into, product, row_blocks, view};

    #[test]
    fn blocks_cover_all_rows_and_multiply_to_the_same_bits() {
        for rows in [0, 1, 511, 8191, 8192, 8193, 8703, 8704, 16500, 25000] {
            let (k, n) = (37, 19);
            let a: Vec<f32> = (0..rows * k).map(|i| (i % 101) as f32 / 7.0).collect();
            let b: Vec<f32> = (0..k * n).map(|i| (i % 53) as f32 / 11.0 - 2.0).collect();
            let mut whole = vec![0f32; rows * n];
            product(&mut whole, Into::Replace, view(&a, rows, k), view(&b, k, n));
            let mut next = 0;
            for some in row_blocks(rows) {
                assert_eq!(some.start, next);
                next = some.end;
                let mut part = vec![0f32; some.len() * n];
                let rows = &a[some.start * k..some.end * k];
                product(
                    &mut part,
                    Into::Replace,
                    view(rows, some.len(), k),
                    view(&b, k, n),
                );
                assert!(part == whole[some.start * n..some.end * n], "{some:?}");
            }
            assert_eq!(next, rows);
        }
    }

    #[test]
    fn products_are_those_of_the_definition_either_way_round() {
        let (m, k, n) = (301, 7, 5);
        let a: Vec<f64> = (0..m * k).map(|i| (i % 13) as f64 - 6.0).collect();
        let b: Vec<f64> = (0..k * n).map(|i| (i % 5) as f64 - 2.0).collect();
        let naive = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum::<f64>();
        let mut out = vec![1.0; m * n];
        product(&mut out, Into::Add, view(&a, m, k), view(&b, k, n));
        let mut back = vec![0.0; n * m];
        product(
            &mut back,
            Into::Replace,
            view(&b, k, n).transpose(),
            view(&a, m, k).transpose(),
        );
        for i in 0..m {
            for j in 0..n {
                assert_eq!(out[i * n + j], 1.0 + naive(i, j));
                assert_eq!(back[j * m + i], naive(i, j));
            }
        }
    }
}
