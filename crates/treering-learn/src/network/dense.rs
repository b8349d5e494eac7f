//! Dense products, by faer, in pieces of fixed size so that the rounding is the same for any number of threads.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::number::Number;

/// Rows of a result that one thread works out at a time, from its shape alone: many, because every piece rearranges the
/// whole right side once; at least two pieces, so that two threads can share.
fn piece_rows(rows: usize) -> usize {
    rows.div_ceil(2).next_multiple_of(64).min(256)
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
    use super::{Into, product, view};

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
