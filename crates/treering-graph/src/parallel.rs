//! Sharing rows among threads so that the result cannot depend on how many there are.
//!
//! Rows are cut where the arcs are half, again and again, until a piece is small; every row is worked on
//! by exactly one thread from start to end, so no sum is ever split at a place that depends on the threads.

use std::ops::Range;

use rayon::prelude::*;

/// Arcs plus rows in the smallest piece: large enough to make the hand-over free, small enough to balance.
const GRAIN: u64 = 4096;

/// Calls `work(rows, part)` on pieces that together cover all rows; `place(row)` is where a row's part of `data`
/// starts.
pub(crate) fn split_rows<T: Send>(
    offsets: &[u64],
    data: &mut [T],
    place: &(impl Fn(usize) -> usize + Sync),
    work: &(impl Fn(Range<usize>, &mut [T]) + Sync),
) {
    split(offsets, 0..offsets.len() - 1, data, place, work);
}

fn split<T: Send>(
    offsets: &[u64],
    rows: Range<usize>,
    data: &mut [T],
    place: &(impl Fn(usize) -> usize + Sync),
    work: &(impl Fn(Range<usize>, &mut [T]) + Sync),
) {
    let load = |row: usize| offsets[row] + row as u64;
    let total = load(rows.end) - load(rows.start);
    if total <= GRAIN || rows.len() < 2 {
        return work(rows, data);
    }
    let half = load(rows.start) + total / 2;
    let middle = partition(rows.start + 1..rows.end - 1, |row| load(row) < half);
    let (left, right) = data.split_at_mut(place(middle) - place(rows.start));
    rayon::join(
        || split(offsets, rows.start..middle, left, place, work),
        || split(offsets, middle..rows.end, right, place, work),
    );
}

/// The first index of the range for which `before` no longer holds, or its end.
fn partition(range: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Sums `leaf(rows)` over blocks of fixed size in a fixed tree, so that the rounding is the same for any number of
/// threads.
pub(crate) fn sum_rows(
    rows: Range<usize>,
    leaf: &(impl Fn(Range<usize>) -> Vec<f64> + Sync),
) -> Vec<f64> {
    const BLOCK: usize = 4096;
    let blocks = rows.len().div_ceil(BLOCK);
    if blocks <= 1 {
        return leaf(rows);
    }
    let middle = rows.start + blocks / 2 * BLOCK;
    let (mut left, right) = rayon::join(
        || sum_rows(rows.start..middle, leaf),
        || sum_rows(middle..rows.end, leaf),
    );
    for (into, from) in left.iter_mut().zip(right) {
        *into += from;
    }
    left
}

/// The position of the first item that is `wrong`. Whole blocks are looked through at once, so a sound array costs one pass at the
/// speed of memory.
pub(crate) fn first_wrong<T: Sync>(
    items: &[T],
    wrong: impl Fn(&T) -> bool + Sync,
) -> Option<usize> {
    const BLOCK: usize = 1 << 14;
    // No early exit within a block: that would keep the compiler from using vectors.
    let any = |block: &[T]| block.iter().fold(false, |found, item| found | wrong(item));
    let block = items.par_chunks(BLOCK).position_first(any)?;
    let start = block * BLOCK;
    items[start..].iter().position(wrong).map(|at| start + at)
}
