//! The number types that learning is written for: f32 to work with, f64 to check the f32 formulas against finite differences.

use std::ops::{Div, DivAssign, MulAssign, Neg, Sub, SubAssign};

use treering_data::Pod;
use treering_graph::{Buffer, Real};

use super::lanes::{Lanes, Plain};

/// A number that networks are trained in.
pub trait Number:
    Real
    + Pod
    + faer::traits::ComplexField
    + PartialOrd
    + Sub<Output = Self>
    + SubAssign
    + MulAssign
    + DivAssign
    + Div<Output = Self>
    + Neg<Output = Self>
    + std::fmt::Debug
{
    /// Eight of them in the registers of a processor with AVX2 and FMA.
    type Fast: Lanes<Self>;
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// Without loss.
    fn to_f64(self) -> f64;
    /// Features in this type; the very same memory where they are.
    fn of_features(values: &Buffer<f32>) -> Buffer<Self>;
    /// The square root.
    fn root(self) -> Self;
    /// e to the power of this.
    fn power_of_e(self) -> Self;
    /// self x factor + plus with one rounding. Slow where the processor has no such instruction.
    fn fused(self, factor: Self, plus: Self) -> Self;
}

impl Number for f32 {
    #[cfg(target_arch = "x86_64")]
    type Fast = super::lanes::Avx;
    #[cfg(not(target_arch = "x86_64"))]
    type Fast = Plain<f32>;
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn of_features(values: &Buffer<f32>) -> Buffer<f32> {
        values.clone()
    }

    #[inline(always)]
    fn root(self) -> f32 {
        self.sqrt()
    }

    /// e^x = 2^n e^r with r at most half of ln 2 away from 0, and e^r by its series. Has no branches and no table, so loops over
    /// it become vector instructions; the library's function is a call per number, which would cost a tenth of
    /// contrastive training. Right to 2 units in the last place; underflow gives 0 or nearly so.
    #[inline(always)]
    fn power_of_e(self) -> f32 {
        const ROUND: f32 = 12_582_912.0; // 1.5 x 2^23: adding it leaves the nearest integer in the low bits
        let x = self.clamp(-87.0, 88.0);
        let shifted = x * std::f32::consts::LOG2_E + ROUND;
        let n = shifted - ROUND;
        // ln 2 in two parts, so that r keeps its low bits.
        let r = (x - n * 0.693_359_4) - n * -2.121_944_4e-4;
        let series = [
            1.0 / 5040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
            1.0,
        ];
        let mut value = 0.0;
        for term in series {
            value = value * r + term;
        }
        // The integer n sits in the low bits of `shifted`; moved into the exponent it multiplies by 2^n.
        let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
        value * scale
    }

    #[inline(always)]
    fn fused(self, factor: f32, plus: f32) -> f32 {
        self.mul_add(factor, plus)
    }
}

impl Number for f64 {
    type Fast = Plain<f64>;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn of_features(values: &Buffer<f32>) -> Buffer<f64> {
        let wide: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
        wide.into()
    }

    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn root(self) -> f64 {
        self.sqrt()
    }

    #[inline(always)]
    fn power_of_e(self) -> f64 {
        self.exp()
    }

    #[inline(always)]
    fn fused(self, factor: f64, plus: f64) -> f64 {
        self.mul_add(factor, plus)
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn the_exponential_is_right_to_the_last_bits() {
        for step in -86_000..=88_000 {
            let x = step as f32 / 1000.0;
            let (found, right) = (f64::from(x.power_of_e()), f64::from(x).exp());
            assert!(
                (found - right).abs() <= 3e-7 * right,
                "{x}: {found} {right}"
            );
        }
        assert_eq!(0f32.power_of_e(), 1.0);
        assert!((-1e9f32).power_of_e() < 1e-37 && 1e9f32.power_of_e().is_finite());
    }
}
