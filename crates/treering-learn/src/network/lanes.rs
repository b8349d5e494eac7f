//! Eight numbers at a time. The compiler finds vectors by itself in simple loops, but not where a dozen sums have to stay in
//! registers at once; there, a loop written over these types runs at the processor's speed.
//!
//! # Safety
//! The intrinsics behind [`Avx`] need AVX2 and FMA. The type is used in this crate's kernels only, inside functions that are
//! called after the processor said that it has both. Loads and stores go through references to whole arrays.
#![allow(unsafe_code)]

use super::number::Number;

/// How many.
pub const LANES: usize = 8;

/// Eight numbers that are worked on together.
pub trait Lanes<T>: Copy {
    /// Whether the processor multiplies and adds with one rounding.
    const FUSED: bool;
    /// Takes them from memory.
    fn load(from: &[T; LANES]) -> Self;
    /// Gives them back.
    fn store(self) -> [T; LANES];
    /// Eight times the same.
    fn splat(value: T) -> Self;
    /// self x factor + plus.
    fn times(self, factor: Self, plus: Self) -> Self;
    /// 0 where negative.
    fn positive(self) -> Self;
    /// 0 where `other` is not positive.
    fn where_positive(self, other: Self) -> Self;
}

/// For any processor and any number type.
#[derive(Clone, Copy)]
pub struct Plain<T>([T; LANES]);

impl<T: Number> Lanes<T> for Plain<T> {
    const FUSED: bool = false;

    #[inline(always)]
    fn load(from: &[T; LANES]) -> Self {
        Plain(*from)
    }

    #[inline(always)]
    fn store(self) -> [T; LANES] {
        self.0
    }

    #[inline(always)]
    fn splat(value: T) -> Self {
        Plain([value; LANES])
    }

    #[inline(always)]
    fn times(self, factor: Self, plus: Self) -> Self {
        Plain(std::array::from_fn(|lane| {
            self.0[lane] * factor.0[lane] + plus.0[lane]
        }))
    }

    #[inline(always)]
    fn positive(self) -> Self {
        self.where_positive(self)
    }

    #[inline(always)]
    fn where_positive(self, other: Self) -> Self {
        Plain(std::array::from_fn(|lane| match other.0[lane] > T::ZERO {
            true => self.0[lane],
            false => T::ZERO,
        }))
    }
}

#[cfg(target_arch = "x86_64")]
pub use avx::Avx;

#[cfg(target_arch = "x86_64")]
mod avx {
    use std::arch::x86_64::{
        __m256, _CMP_GT_OQ, _mm256_and_ps, _mm256_cmp_ps, _mm256_fmadd_ps, _mm256_loadu_ps,
        _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
    };

    use super::{LANES, Lanes};

    /// One register of a processor with AVX2 and FMA.
    #[derive(Clone, Copy)]
    pub struct Avx(__m256);

    impl Lanes<f32> for Avx {
        const FUSED: bool = true;

        #[inline(always)]
        fn load(from: &[f32; LANES]) -> Self {
            // SAFETY: eight numbers may be read where an array of eight is; see the module about the instruction.
            Avx(unsafe { _mm256_loadu_ps(from.as_ptr()) })
        }

        #[inline(always)]
        fn store(self) -> [f32; LANES] {
            let mut into = [0.0; LANES];
            // SAFETY: eight numbers may be written where an array of eight is; see the module about the instruction.
            unsafe { _mm256_storeu_ps(into.as_mut_ptr(), self.0) };
            into
        }

        #[inline(always)]
        fn splat(value: f32) -> Self {
            // SAFETY: see the module.
            Avx(unsafe { _mm256_set1_ps(value) })
        }

        #[inline(always)]
        fn times(self, factor: Self, plus: Self) -> Self {
            // SAFETY: see the module.
            Avx(unsafe { _mm256_fmadd_ps(self.0, factor.0, plus.0) })
        }

        #[inline(always)]
        fn positive(self) -> Self {
            self.where_positive(self)
        }

        #[inline(always)]
        fn where_positive(self, other: Self) -> Self {
            // SAFETY: see the module.
            unsafe {
                let positive = _mm256_cmp_ps::<_CMP_GT_OQ>(other.0, _mm256_setzero_ps());
                Avx(_mm256_and_ps(self.0, positive))
            }
        }
    }
}
