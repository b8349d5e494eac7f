//! The two limits: a triad (sequential bandwidth) and a bare gather (random rows, nothing else).
//!
//! Both are written to be as fast as they can be, because a slow limit flatters. The gather asks ahead for rows as
//! the real kernel does, sums them in registers or in the first-level cache, and writes nothing.
#![allow(unsafe_code)]

use rayon::prelude::*;

/// a = b + 3 c over arrays of `values` numbers in all; returns the bytes read and written.
pub fn triad(a: &mut [f32], b: &[f32], c: &[f32]) -> f64 {
    const PIECE: usize = 1 << 16;
    a.par_chunks_mut(PIECE)
        .zip(b.par_chunks(PIECE))
        .zip(c.par_chunks(PIECE))
        .for_each(|((a, b), c)| {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b + 3.0 * c;
            }
        });
    12.0 * a.len() as f64
}

/// Sums the rows of `x` that `rows` names; returns the bytes read, and the sum so that nothing is optimised away.
pub fn gather(x: &[f32], width: usize, rows: &[u32]) -> (f64, f32) {
    const PIECE: usize = 1 << 14;
    let sum = rows
        .par_chunks(PIECE)
        .map(|rows| match width {
            1 => narrow::<1>(x, rows),
            3 => narrow::<3>(x, rows),
            4 => narrow::<4>(x, rows),
            16 => narrow::<16>(x, rows),
            _ => wide(x, width, rows),
        })
        .sum();
    (rows.len() as f64 * 4.0 * (width as f64 + 1.0), sum)
}

fn narrow<const W: usize>(x: &[f32], rows: &[u32]) -> f32 {
    #[target_feature(enable = "avx2")]
    fn work<const W: usize>(x: &[f32], rows: &[u32]) -> f32 {
        const AHEAD: usize = 24;
        let mut sums = [[0f32; W]; 4];
        for (at, four) in rows.chunks(4).enumerate() {
            for ahead in rows.iter().skip(4 * at + AHEAD).take(4) {
                prefetch(x, *ahead as usize * W);
            }
            for (sum, &row) in sums.iter_mut().zip(four) {
                let from = &x[row as usize * W..row as usize * W + W];
                for column in 0..W {
                    sum[column] += from[column];
                }
            }
        }
        sums.iter().flatten().sum()
    }
    assert!(
        std::arch::is_x86_feature_detected!("avx2"),
        "this benchmark is written for AVX2"
    );
    // SAFETY: the line above made sure of AVX2.
    unsafe { work::<W>(x, rows) }
}

fn wide(x: &[f32], width: usize, rows: &[u32]) -> f32 {
    #[target_feature(enable = "avx2")]
    fn work(x: &[f32], width: usize, rows: &[u32]) -> f32 {
        let mut sum = vec![0f32; width];
        let row_of = |row: u32| &x[row as usize * width..(row as usize + 1) * width];
        for (at, four) in rows.chunks_exact(4).enumerate() {
            for ahead in rows.iter().skip(4 * at + 4).take(4) {
                for line in (0..width).step_by(16) {
                    prefetch(x, *ahead as usize * width + line);
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
    unsafe { work(x, width, rows) }
}

#[inline(always)]
fn prefetch(x: &[f32], index: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch is a hint and does not fault on any address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(x.as_ptr().wrapping_add(index).cast()) };
}
