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

/// A number that propagation works on.
pub trait Real:
    Copy
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
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}

impl Real for f64 {
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

/// How many arcs ahead a narrow row is asked for.
const NARROW_AHEAD: usize = 24;

#[inline(always)]
fn narrow_rows<T: Real, F: Factor<T>, const W: usize>(
    arcs: &Arcs,
    factor: F,
    x: &[T],
    scale: &[T],
    rows: Range<usize>,
    out: &mut [T],
) {
    let sources = arcs.sources();
    let offsets = arcs.offsets();
    for (row, out) in rows.zip(out.chunks_exact_mut(W)) {
        let mut sum: [T; W] = [T::default(); W];
        let mut other: [T; W] = [T::default(); W];
        add_narrow::<T, F, W>(&mut sum, factor.own(row), x, row);
        let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
        let mut at = start;
        // Two sums at once: an addition takes four cycles, and the next one need not wait for it.
        while at + 1 < end {
            if let Some(&ahead) = sources.get(at + NARROW_AHEAD) {
                prefetch(x, ahead as usize * W);
            }
            if let Some(&ahead) = sources.get(at + NARROW_AHEAD + 1) {
                prefetch(x, ahead as usize * W);
            }
            let (a, b) = (sources[at] as usize, sources[at + 1] as usize);
            add_narrow::<T, F, W>(&mut sum, factor.arc(at, a), x, a);
            add_narrow::<T, F, W>(&mut other, factor.arc(at + 1, b), x, b);
            at += 2;
        }
        if at < end {
            let last = sources[at] as usize;
            add_narrow::<T, F, W>(&mut sum, factor.arc(at, last), x, last);
        }
        for (out, (a, b)) in out.iter_mut().zip(sum.into_iter().zip(other)) {
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
    let offsets = arcs.offsets();
    let row_of = |node: usize| &x[node * columns..(node + 1) * columns];
    for (row, out) in rows.zip(out.chunks_exact_mut(columns)) {
        let own = factor.own(row);
        for (out, &value) in out.iter_mut().zip(row_of(row)) {
            *out = if F::ONE { value } else { own * value };
        }
        let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
        let mut at = start;
        while at + TOGETHER <= end {
            for &ahead in &sources[at + TOGETHER..(at + 2 * TOGETHER).min(sources.len())] {
                prefetch_row(x, ahead as usize * columns, columns);
            }
            let node = |k: usize| sources[at + k] as usize;
            let (a, b, c, d) = (
                row_of(node(0)),
                row_of(node(1)),
                row_of(node(2)),
                row_of(node(3)),
            );
            if F::ONE {
                for ((((out, &a), &b), &c), &d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                    *out += (a + b) + (c + d);
                }
            } else {
                let m = |k: usize| factor.arc(at + k, sources[at + k] as usize);
                let (e, f, g, h) = (m(0), m(1), m(2), m(3));
                for ((((out, &a), &b), &c), &d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                    *out += (e * a + f * b) + (g * c + h * d);
                }
            }
            at += TOGETHER;
        }
        for at in at..end {
            let source = sources[at] as usize;
            if let Some(&ahead) = sources.get(at + TOGETHER) {
                prefetch_row(x, ahead as usize * columns, columns);
            }
            let m = factor.arc(at, source);
            for (out, &value) in out.iter_mut().zip(row_of(source)) {
                *out += if F::ONE { value } else { m * value };
            }
        }
        for out in out.iter_mut() {
            *out = scale[row] * *out;
        }
    }
}

/// Asks for every cache line of a row.
#[inline(always)]
fn prefetch_row<T>(x: &[T], start: usize, columns: usize) {
    const LINE: usize = 64;
    let step = LINE / size_of::<T>();
    let mut at = start;
    while at < start + columns {
        prefetch(x, at);
        at += step;
    }
}

/// Asks for the cache line that holds `x[index]`; does nothing where there is no such instruction.
#[inline(always)]
fn prefetch<T>(x: &[T], index: usize) {
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
