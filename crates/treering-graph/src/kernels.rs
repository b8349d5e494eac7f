//! The inner loops of propagation: out_i = scale_i * (own_i x_i + sum over arcs j -> i of m_a x_j).
//!
//! Two shapes. *Narrow* rows (up to 16 numbers, padded to 1, 2, 4, 8 or 16) are summed in registers. *Wide* rows are summed
//! four neighbours at a time into the output row, which stays in the first-level cache. Both read neighbours at
//! random, so what bounds them is how many cache misses are under way at once; each asks ahead for the rows it will
//! need. There is no fused multiply-add, so the bits do not depend on the vector width that was found at run time.
//!
//! # Safety
//! This is the one module of the crate with `unsafe`, for two things only. (1) Calling a function compiled for
//! AVX2 after the processor said that it has AVX2. (2) The prefetch instruction, which never faults,
//! whatever the address. All reads and writes are bounds-checked slices.
#![allow(unsafe_code)]

use std::ops::{AddAssign, Mul, Range};

use crate::Arcs;
use crate::propagate::Scaled;

/// A number that propagation works on.
pub trait Real:
    Scaled
    + Copy
    + Default
    + Send
    + Sync
    + AddAssign
    + Mul<Output = Self>
    + std::ops::Add<Output = Self>
    + 'static
{
    /// Rounds to this type.
    fn from_f64(value: f64) -> Self;
}

impl Real for f32 {
    // A call for every arc where it is not.
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Real for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
}

/// The factor of an arc, known at compile time to be 1 where it is.
pub(crate) trait Factor<T: Real>: Copy + Sync {
    const ONE: bool;
    fn arc(self, at: usize, source: usize) -> T;
    fn own(self, node: usize) -> T;
}

/// Every factor is 1: a 0/1 graph whose rows were scaled beforehand.
#[derive(Clone, Copy)]
pub(crate) struct Ones;

/// One factor per source node: a 0/1 graph whose rows are scaled while they are read.
#[derive(Clone, Copy)]
pub(crate) struct PerSource<'a, T>(pub &'a [T]);

/// Arc weights, on rows that were scaled beforehand.
#[derive(Clone, Copy)]
pub(crate) struct PerArc<'a>(pub &'a [f32]);

/// Arc weights, on rows that are scaled while they are read.
#[derive(Clone, Copy)]
pub(crate) struct PerBoth<'a, T>(pub &'a [f32], pub &'a [T]);

impl<T: Real> Factor<T> for Ones {
    const ONE: bool = true;
    #[inline(always)]
    fn arc(self, _: usize, _: usize) -> T {
        T::from_f64(1.0)
    }
    #[inline(always)]
    fn own(self, _: usize) -> T {
        T::from_f64(1.0)
    }
}

impl<T: Real> Factor<T> for PerSource<'_, T> {
    const ONE: bool = false;
    #[inline(always)]
    fn arc(self, _: usize, source: usize) -> T {
        self.0[source]
    }
    #[inline(always)]
    fn own(self, node: usize) -> T {
        self.0[node]
    }
}

impl<T: Real> Factor<T> for PerArc<'_> {
    const ONE: bool = false;
    #[inline(always)]
    fn arc(self, at: usize, _: usize) -> T {
        T::from_f64(f64::from(self.0[at]))
    }
    #[inline(always)]
    fn own(self, _: usize) -> T {
        T::from_f64(1.0)
    }
}

impl<T: Real> Factor<T> for PerBoth<'_, T> {
    const ONE: bool = false;
    #[inline(always)]
    fn arc(self, at: usize, source: usize) -> T {
        T::from_f64(f64::from(self.0[at])) * self.1[source]
    }
    #[inline(always)]
    fn own(self, node: usize) -> T {
        self.1[node]
    }
}

/// Defines `$name`, which runs `$body` compiled for AVX2 where the processor has it.
macro_rules! for_this_processor {
    ($(#[$doc:meta])* $name:ident = $body:ident / $avx2:ident [$($generics:tt)*] <$($pass:ident),*> ($($arg:ident: $type:ty),* $(,)?)) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $name<$($generics)*>($($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                #[allow(clippy::too_many_arguments)]
                fn $avx2<$($generics)*>($($arg: $type),*) {
                    $body::<$($pass),*>($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2, as the line above found out.
                    return unsafe { $avx2::<$($pass),*>($($arg),*) };
                }
            }
            $body::<$($pass),*>($($arg),*)
        }
    };
}

for_this_processor! {
    /// One step on `rows` for rows of `W` numbers; `out` holds just those rows.
    narrow = narrow_rows / narrow_avx2 [T: Real, F: Factor<T>, const W: usize] <T, F, W>
    (arcs: &Arcs, factor: F, x: &[T], scale: &[T], rows: Range<usize>, out: &mut [T])
}

for_this_processor! {
    /// One step on `rows` for rows of any number of columns; `out` holds just those rows.
    wide = wide_rows / wide_avx2 [T: Real, F: Factor<T>] <T, F>
    (arcs: &Arcs, factor: F, x: &[T], columns: usize, scale: &[T], rows: Range<usize>, out: &mut [T])
}

/// Operands up to this size stay in a near cache, where asking ahead costs more than it saves.
const NEAR: usize = 1 << 20;

/// How many cache lines are asked for ahead of their use: about as many misses as a core can have under way.
const LINES_AHEAD: usize = 24;

const LINE: usize = 64;

#[inline(always)]
fn narrow_rows<T: Real, F: Factor<T>, const W: usize>(
    arcs: &Arcs,
    factor: F,
    x: &[T],
    scale: &[T],
    rows: Range<usize>,
    out: &mut [T],
) {
    match size_of_val(x) > NEAR {
        true => narrow_sums::<T, F, W, true>(arcs, factor, x, scale, rows, out),
        false => narrow_sums::<T, F, W, false>(arcs, factor, x, scale, rows, out),
    }
}

#[inline(always)]
fn narrow_sums<T: Real, F: Factor<T>, const W: usize, const AHEAD: bool>(
    arcs: &Arcs,
    factor: F,
    x: &[T],
    scale: &[T],
    rows: Range<usize>,
    out: &mut [T],
) {
    let sources = arcs.sources();
    let offsets = &arcs.offsets()[rows.start..=rows.end];
    let bounds = offsets
        .windows(2)
        .map(|pair| pair[0] as usize..pair[1] as usize);
    for ((row, range), out) in rows.zip(bounds).zip(out.chunks_exact_mut(W)) {
        let mut first: [T; W] = [T::default(); W];
        let mut second: [T; W] = [T::default(); W];
        add_narrow::<T, F, W>(&mut first, factor.own(row), x, row);
        let start = range.start;
        // Two sums at once: an addition takes several cycles, and the next one need not wait for it.
        let (pairs, last) = sources[range].as_chunks::<2>();
        for (pair, &[a, b]) in pairs.iter().enumerate() {
            let at = start + 2 * pair;
            if AHEAD
                && let Some(&[c, d]) = sources
                    .get(at + LINES_AHEAD..at + LINES_AHEAD + 2)
                    .and_then(|s| s.first_chunk())
            {
                prefetch(x, c as usize * W);
                prefetch(x, d as usize * W);
            }
            add_narrow::<T, F, W>(&mut first, factor.arc(at, a as usize), x, a as usize);
            add_narrow::<T, F, W>(&mut second, factor.arc(at + 1, b as usize), x, b as usize);
        }
        for &a in last {
            add_narrow::<T, F, W>(
                &mut first,
                factor.arc(start + 2 * pairs.len(), a as usize),
                x,
                a as usize,
            );
        }
        for (out, (a, b)) in out.iter_mut().zip(first.into_iter().zip(second)) {
            *out = scale[row] * (a + b);
        }
    }
}

#[inline(always)]
fn add_narrow<T: Real, F: Factor<T>, const W: usize>(
    sum: &mut [T; W],
    factor: T,
    x: &[T],
    row: usize,
) {
    let from = &x[row * W..row * W + W];
    for column in 0..W {
        sum[column] += if F::ONE {
            from[column]
        } else {
            factor * from[column]
        };
    }
}

/// How many neighbours are added in one pass over a wide row.
const TOGETHER: usize = 4;

#[inline(always)]
fn wide_rows<T: Real, F: Factor<T>>(
    arcs: &Arcs,
    factor: F,
    x: &[T],
    columns: usize,
    scale: &[T],
    rows: Range<usize>,
    out: &mut [T],
) {
    let sources = arcs.sources();
    let far = size_of_val(x) > NEAR;
    for (row, out) in rows.zip(out.chunks_exact_mut(columns)) {
        let range = arcs.row(row);
        let mut at = range.start;
        let mut pass = Pass {
            sources,
            x,
            columns,
            own: Some((row, factor.own(row))),
            scale: None,
        };
        loop {
            let count = (range.end - at).min(TOGETHER);
            if at + count == range.end {
                pass.scale = Some(scale[row]);
            }
            if far {
                // The arcs of the next targets follow those of this one.
                let next = (at + count).min(sources.len());
                for &source in &sources[next..(next + TOGETHER).min(sources.len())] {
                    prefetch_row(x, source as usize * columns, columns);
                }
            }
            match count {
                0 => pass.add::<F, 0>(factor, at, out),
                1 => pass.add::<F, 1>(factor, at, out),
                2 => pass.add::<F, 2>(factor, at, out),
                3 => pass.add::<F, 3>(factor, at, out),
                _ => pass.add::<F, TOGETHER>(factor, at, out),
            }
            at += count;
            pass.own = None;
            if at == range.end {
                break;
            }
        }
    }
}

/// One pass over a wide row. The first one starts from the node's own row, the last one scales.
struct Pass<'a, T> {
    sources: &'a [u32],
    x: &'a [T],
    columns: usize,
    own: Option<(usize, T)>,
    scale: Option<T>,
}

impl<T: Real> Pass<'_, T> {
    /// Adds the rows of the `N` arcs from `at` on.
    #[inline(always)]
    fn add<F: Factor<T>, const N: usize>(&self, factor: F, at: usize, out: &mut [T]) {
        let row_of = |node: usize| &self.x[node * self.columns..][..self.columns];
        let node = |k: usize| self.sources[at + k] as usize;
        let rows: [&[T]; N] = std::array::from_fn(|k| row_of(node(k)));
        let factors: [T; N] = std::array::from_fn(|k| factor.arc(at + k, node(k)));
        let out = &mut out[..self.columns];
        match (self.own, self.scale) {
            (None, None) => sum_rows::<T, F, N>(out, rows, factors, |out, _, sum| out + sum),
            (None, Some(scale)) => {
                sum_rows::<T, F, N>(out, rows, factors, |out, _, sum| scale * (out + sum));
            }
            (Some((node, m)), None) => {
                let own = row_of(node);
                sum_rows::<T, F, N>(out, rows, factors, |_, column, sum| m * own[column] + sum);
            }
            (Some((node, m)), Some(scale)) => {
                let own = row_of(node);
                sum_rows::<T, F, N>(out, rows, factors, |_, column, sum| {
                    scale * (m * own[column] + sum)
                });
            }
        }
    }
}

/// out = combine(out, column, sum of the rows), column by column.
#[inline(always)]
fn sum_rows<T: Real, F: Factor<T>, const N: usize>(
    out: &mut [T],
    rows: [&[T]; N],
    factors: [T; N],
    combine: impl Fn(T, usize, T) -> T,
) {
    let rows = rows.map(|row| &row[..out.len()]);
    for (column, out) in out.iter_mut().enumerate() {
        let mut sum = T::default();
        for k in 0..N {
            let value = rows[k][column];
            sum += if F::ONE { value } else { factors[k] * value };
        }
        *out = combine(*out, column, sum);
    }
}

/// Asks for every cache line of a row.
#[inline(always)]
fn prefetch_row<T>(x: &[T], start: usize, columns: usize) {
    let step = LINE / size_of::<T>();
    let mut at = start;
    while at < start + columns {
        prefetch(x, at);
        at += step;
    }
}

/// Asks for the cache line that would hold `x[index]`; does nothing where there is no such instruction.
#[inline(always)]
pub fn prefetch<T>(x: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = x.as_ptr().wrapping_add(index).cast::<i8>();
        // SAFETY: a prefetch is a hint; it reads nothing into the program and does not fault on any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (x, index);
}
