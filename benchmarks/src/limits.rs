//! The limits: a triad (sequential bandwidth), a bare gather (random rows, nothing else) and bare multiply-adds (arithmetic, nothing else).
//!
//! All are written to be as fast as they can be, because a slow limit flatters. The gather asks ahead for rows as
//! the real kernel does, sums them in registers or in the first-level cache, and writes nothing.
#![allow(unsafe_code)]

use rayon::prelude::*;

/// a = b + 3 c over arrays of `values` numbers in all; returns the bytes read and written.
pub fn triad(a: &mut [f32], b: &[f32], c: &[f32]) -> f64 {
    let pieces = 4 * rayon::current_num_threads();
    let piece = a.len().div_ceil(pieces).max(1);
    a.par_chunks_mut(piece)
        .zip(b.par_chunks(piece))
        .zip(c.par_chunks(piece))
        .for_each(|((a, b), c)| {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b + 3.0 * c;
            }
        });
    12.0 * a.len() as f64
}

/// Sums the rows of `x` that `rows` names; returns the bytes read, and the sum so that nothing is optimised away. `ahead` says
/// whether to ask for rows before they are needed: better from memory, worse from a cache.
pub fn gather(x: &[f32], width: usize, rows: &[u32], ahead: bool) -> (f64, f32) {
    const PIECE: usize = 1 << 14;
    let sum = rows
        .par_chunks(PIECE)
        .map(|rows| match (width, ahead) {
            (1, true) => narrow::<1, true>(x, rows),
            (1, false) => narrow::<1, false>(x, rows),
            (3, true) => narrow::<3, true>(x, rows),
            (3, false) => narrow::<3, false>(x, rows),
            (4, true) => narrow::<4, true>(x, rows),
            (4, false) => narrow::<4, false>(x, rows),
            (16, true) => narrow::<16, true>(x, rows),
            (16, false) => narrow::<16, false>(x, rows),
            _ => wide(x, width, rows, ahead),
        })
        .sum();
    (rows.len() as f64 * 4.0 * (width as f64 + 1.0), sum)
}

fn narrow<const W: usize, const AHEAD: bool>(x: &[f32], rows: &[u32]) -> f32 {
    #[target_feature(enable = "avx2")]
    fn work<const W: usize, const AHEAD: bool>(x: &[f32], rows: &[u32]) -> f32 {
        const DISTANCE: usize = 24;
        let mut sums = [[0f32; W]; 4];
        let mut at = 0;
        while at + 4 <= rows.len() {
            if AHEAD && at + DISTANCE + 4 <= rows.len() {
                for &row in &rows[at + DISTANCE..at + DISTANCE + 4] {
                    prefetch(x, row as usize * W);
                }
            }
            for k in 0..4 {
                let from = &x[rows[at + k] as usize * W..rows[at + k] as usize * W + W];
                for column in 0..W {
                    sums[k][column] += from[column];
                }
            }
            at += 4;
        }
        sums.iter().flatten().sum()
    }
    assert!(
        std::arch::is_x86_feature_detected!("avx2"),
        "this benchmark is written for AVX2"
    );
    // SAFETY: the line above made sure of AVX2.
    unsafe { work::<W, AHEAD>(x, rows) }
}

fn wide(x: &[f32], width: usize, rows: &[u32], ahead: bool) -> f32 {
    #[target_feature(enable = "avx2")]
    fn work(x: &[f32], width: usize, rows: &[u32], ahead: bool) -> f32 {
        let mut sum = vec![0f32; width];
        let row_of = |row: u32| &x[row as usize * width..(row as usize + 1) * width];
        for (at, four) in rows.chunks_exact(4).enumerate() {
            if ahead && 4 * at + 8 <= rows.len() {
                for &row in &rows[4 * at + 4..4 * at + 8] {
                    for line in (0..width).step_by(16) {
                        prefetch(x, row as usize * width + line);
                    }
                }
            }
            let (a, b, c, d) = (
                row_of(four[0]),
                row_of(four[1]),
                row_of(four[2]),
                row_of(four[3]),
            );
            for ((((sum, a), b), c), d) in sum.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *sum += (a + b) + (c + d);
            }
        }
        sum.iter().sum()
    }
    assert!(
        std::arch::is_x86_feature_detected!("avx2"),
        "this benchmark is written for AVX2"
    );
    // SAFETY: the line above made sure of AVX2.
    unsafe { work(x, width, rows, ahead) }
}

#[inline(always)]
fn prefetch(x: &[f32], index: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch is a hint and does not fault on any address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(x.as_ptr().wrapping_add(index).cast()) };
}

/// Sums that are worked on at once: more than a processor needs to hide how long an addition takes.
const SUMS: usize = 12;

/// Multiply-adds on numbers that stay in registers, on every thread of the pool at once; returns the flops.
pub fn fused() -> f64 {
    const TURNS: usize = 1 << 22;
    let of_threads = rayon::broadcast(|_| match std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the line above made sure of AVX-512.
        true => (16, unsafe { registers_512(TURNS) }),
        false => {
            assert!(
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("fma"),
                "this benchmark is written for AVX2 and FMA"
            );
            // SAFETY: the line above made sure of both.
            (8, unsafe { registers_256(TURNS) })
        }
    });
    let flops = of_threads.into_iter().map(|(lanes, sum)| {
        // Looked at, so that nothing is optimised away.
        assert!(!sum.is_nan(), "factors below 1 keep sums finite");
        (2 * lanes * SUMS * TURNS) as f64
    });
    flops.sum()
}

#[target_feature(enable = "avx512f")]
fn registers_512(turns: usize) -> f32 {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_reduce_add_ps, _mm512_set1_ps};
    let (factor, plus) = std::hint::black_box((_mm512_set1_ps(0.5), _mm512_set1_ps(1.0)));
    let mut sums = [plus; SUMS];
    for _ in 0..turns {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, factor, plus);
        }
    }
    sums.into_iter().map(|sum| _mm512_reduce_add_ps(sum)).sum()
}

#[target_feature(enable = "avx2,fma")]
fn registers_256(turns: usize) -> f32 {
    use std::arch::x86_64::{_mm256_cvtss_f32, _mm256_fmadd_ps, _mm256_set1_ps};
    let (factor, plus) = std::hint::black_box((_mm256_set1_ps(0.5), _mm256_set1_ps(1.0)));
    let mut sums = [plus; SUMS];
    for _ in 0..turns {
        for sum in &mut sums {
            *sum = _mm256_fmadd_ps(*sum, factor, plus);
        }
    }
    sums.into_iter().map(|sum| _mm256_cvtss_f32(sum)).sum()
}
