//! Dense products, by faer, in pieces of fixed size so that the rounding is the same for any number of threads.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
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

/// out = a b, where a row of the result depends on that row of a alone, to the bit: all products have one shape, whatever the number of rows. For answers, which must not
/// depend on what else is asked.
///
/// # Panics
/// When the shapes do not fit.
pub fn product_by_row<T: Number>(out: &mut [T], a: &[T], b: MatRef<'_, T>) {
    const ROWS: usize = 128;
    let (inner, width) = (b.nrows(), b.ncols());
    if out.is_empty() {
        return;
    }
    assert_eq!(a.len() / inner.max(1), out.len() / width, "outer sizes");
    let pieces = out.par_chunks_mut(ROWS * width);
    pieces.zip(a.par_chunks(ROWS * inner)).for_each(|(out, a)| {
        let rows = out.len() / width;
        if rows == ROWS {
            return product_here(out, Into::Replace, view(a, ROWS, inner), b);
        }
        let mut padded = a.to_vec();
        padded.resize(ROWS * inner, T::ZERO);
        let mut all = vec![T::ZERO; ROWS * width];
        product_here(&mut all, Into::Replace, view(&padded, ROWS, inner), b);
        out.copy_from_slice(&all[..rows * width]);
    });
}

/// As [`product`], on this thread alone and in one piece.
pub fn product_here<T: Number>(out: &mut [T], into: Into, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    product_into(out, b.ncols(), into, a, b);
}

/// As [`product_here`], into the first columns of rows that are `stride` long.
fn product_into<T: Number>(
    out: &mut [T],
    stride: usize,
    into: Into,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
) {
    let accumulate = match into {
        Into::Replace => Accum::Replace,
        Into::Add => Accum::Add,
    };
    let out = MatMut::from_row_major_slice_mut(out, a.nrows(), stride);
    let out = out.subcols_mut(0, b.ncols());
    matmul(out, accumulate, a, b, T::ONE, Par::Seq);
}

/// Rows of a triangle that are worked out together: with more, more is worked out beyond the diagonal; with fewer, the right side is rearranged
/// more often.
const STEP: usize = 128;

/// The rows of a square result, cut for [`each_lower`]: where [`product`] cuts, so that the bits are the same, and long pieces again.
fn steps(rows: usize) -> Vec<Range<usize>> {
    let piece = piece_rows(rows);
    let mut steps = Vec::new();
    for start in (0..rows).step_by(piece) {
        let end = rows.min(start + piece);
        let parts = ((end - start) / STEP).max(1);
        steps.extend((0..parts).map(|part| {
            let from = start + part * STEP;
            from..if part + 1 == parts { end } else { from + STEP }
        }));
    }
    steps
}

/// Calls `work(rows, out, room)` for pieces of a square matrix of which nobody looks above the diagonal, on any thread: `out` holds the piece's whole rows, of
/// which those up to the column `rows.end` matter, and `room` is memory that may be used.
pub fn each_lower<T: Number, U: Send>(
    size: usize,
    out: &mut [U],
    work: impl Fn(Range<usize>, &mut [U], &mut Vec<T>) + Sync,
) {
    assert_eq!(out.len(), size * size, "a square of {size}");
    let mut rest = out;
    let cut = |rows: Range<usize>| {
        let (piece, after) = std::mem::take(&mut rest).split_at_mut(rows.len() * size);
        rest = after;
        (rows, piece)
    };
    let mut short: Vec<_> = steps(size).into_iter().map(cut).collect();
    let long = short.split_off(short.len() / 2);
    // Later pieces are longer: one of each in turn, so that threads get as much.
    let mut short = short.into_iter();
    let turns = long.into_iter().rev();
    let mixed: Vec<_> = turns.flat_map(|long| [Some(long), short.next()]).collect();
    mixed
        .into_par_iter()
        .flatten_iter()
        .for_each_init(Vec::new, |room, (rows, out)| work(rows, out, room));
}

/// out (+)= a b up to the diagonal, where the result is square and nobody looks above it. The same bits as [`product`] gives there.
///
/// # Panics
/// When the shapes do not fit.
pub fn lower_product<T: Number>(out: &mut [T], into: Into, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    assert_eq!(a.ncols(), b.nrows(), "inner sizes");
    assert_eq!(a.nrows(), b.ncols(), "a square");
    let size = a.nrows();
    each_lower::<T, T>(size, out, |rows, out, _| {
        let a = a.subrows(rows.start, rows.len());
        product_into(out, size, into, a, b.subcols(0, rows.end));
    });
}

/// The lower triangle of a matrix that is given row by row, each number changed. In tiles, because rows lie far apart and columns are what is written.
pub fn lower_matrix(values: &[f64], size: usize, change: impl Fn(f64) -> f64) -> Mat<f64> {
    const TILE: usize = 32;
    let mut matrix = Mat::zeros(size, size);
    for top in (0..size).step_by(TILE) {
        for left in (0..=top).step_by(TILE) {
            for column in left..size.min(left + TILE) {
                for row in top.max(column)..size.min(top + TILE) {
                    matrix[(row, column)] = change(values[row * size + column]);
                }
            }
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::{Into, Number, lower_matrix, lower_product, product, row_blocks, steps, view};

    #[test]
    fn a_row_of_a_product_by_row_depends_on_nothing_but_itself() {
        for (inner, width) in [(7, 3), (100, 23), (2048, 70)] {
            let number = |i: usize| ((i * 7919) % 2003) as f32 / 1000.0 - 1.0;
            let b: Vec<f32> = (0..inner * width).map(|i| number(i + 3)).collect();
            let row: Vec<f32> = (0..inner).map(|i| number(i + 11)).collect();
            let of = |count: usize, place: usize| {
                let mut a: Vec<f32> = (0..count * inner).map(|i| number(i + 5)).collect();
                a[place * inner..(place + 1) * inner].copy_from_slice(&row);
                let mut out = vec![0f32; count * width];
                super::product_by_row(&mut out, &a, view(&b, inner, width));
                out[place * width..(place + 1) * width].to_vec()
            };
            let alone = of(1, 0);
            for (count, place) in [(2, 1), (77, 5), (128, 127), (300, 131), (300, 299)] {
                assert_eq!(of(count, place), alone, "{count} rows, the {place}th");
            }
            let right = |column: usize| {
                let terms = row.iter().zip(b.iter().skip(column).step_by(width));
                terms
                    .map(|(a, b)| f64::from(*a) * f64::from(*b))
                    .sum::<f64>()
            };
            for (column, &found) in alone.iter().enumerate() {
                assert!((f64::from(found) - right(column)).abs() < 1e-2);
            }
        }
    }

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

    /// The lower triangle has the bits of the whole product, for sizes around those at which pieces are cut.
    fn triangles_agree<T: Number>() {
        let number = |i: usize| T::from_f64(((i * 7919) % 2003) as f64 / 1000.0 - 1.0);
        for size in [1, 2, 63, 64, 65, 127, 129, 256, 257, 385, 401, 513, 700] {
            assert_eq!(
                steps(size).iter().map(|rows| rows.len()).sum::<usize>(),
                size
            );
            for inner in [1, 3, 40, 600] {
                let a: Vec<T> = (0..size * inner).map(number).collect();
                let b: Vec<T> = (0..size * inner).map(|i| number(i + 5)).collect();
                let (a, b) = (view(&a, inner, size), view(&b, inner, size));
                let mut whole: Vec<T> = (0..size * size).map(number).collect();
                let mut lower = whole.clone();
                product(&mut whole, Into::Add, a.transpose(), b);
                lower_product(&mut lower, Into::Add, a.transpose(), b);
                for row in 0..size {
                    let part = row * size..row * size + row + 1;
                    assert_eq!(lower[part.clone()], whole[part], "{size} {inner} {row}");
                }
            }
        }
    }

    #[test]
    fn a_lower_triangle_has_the_bits_of_the_whole_product() {
        triangles_agree::<f32>();
        triangles_agree::<f64>();
    }

    #[test]
    fn a_lower_matrix_has_every_number_up_to_the_diagonal() {
        for size in [1, 31, 32, 33, 70] {
            let values: Vec<f64> = (0..size * size).map(|i| i as f64 + 1.0).collect();
            let matrix = lower_matrix(&values, size, |value| 2.0 * value);
            for row in 0..size {
                for column in 0..=row {
                    assert_eq!(matrix[(row, column)], 2.0 * values[row * size + column]);
                }
            }
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
