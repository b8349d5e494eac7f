//! The inner loops of training: Adam, rows of a network, and the one pass over the frozen first layer.
//!
//! Written as plain loops over arrays of eight numbers, which the compiler turns into vector instructions, and compiled
//! twice: for any processor, and for those with AVX2 and fused multiply-add. Sums run in an order that
//! depends on nothing but the shapes.
//!
//! # Safety
//! `unsafe` is for two things only. (1) Calling a function compiled for AVX2 and FMA after the processor said that it has both.
//! (2) Reading places that an assertion just before has shown to be inside, in loops where a check would cost as much as the work.
#![allow(unsafe_code)]
// Several arrays are walked in step by one index; that is the shape the compiler makes vectors of.
#![allow(clippy::needless_range_loop)]

pub(crate) use narrow::{DEPTH, FEW, few_columns, few_sums};
pub(crate) use pass::{BLOCK, Tokens, pass};
pub(crate) use rows::{Rows, Sums, prompted_probabilities, prompted_rows};

use super::adam::Step;
use super::lanes::{LANES, Lanes, Plain};
use super::number::Number;

/// Whether the processor has AVX2 and FMA.
fn is_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Defines `$name`, which runs `$body::<.., Lanes>` compiled for AVX2 and FMA where the processor has them.
macro_rules! for_this_processor {
    ($(#[$doc:meta])* $name:ident = $body:ident [$($generics:tt)*] <$($pass:ident),*> ($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)?) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $name<$($generics)*>($($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn fast<$($generics)*>($($arg: $type),*) $(-> $result)? {
                    $body::<$($pass,)* <T as Number>::Fast>($($arg),*)
                }
                if is_fast() {
                    // SAFETY: the processor has AVX2 and FMA, as the line above found out.
                    return unsafe { fast::<$($pass),*>($($arg),*) };
                }
            }
            $body::<$($pass,)* Plain<T>>($($arg),*)
        }
    };
}

mod narrow;
mod pass;
mod rows;

/// a x b + c, with one rounding where that is one instruction.
#[inline(always)]
fn madd<T: Number, L: Lanes<T>>(a: T, b: T, c: T) -> T {
    match L::FUSED {
        true => a.fused(b, c),
        false => a * b + c,
    }
}

for_this_processor! {
    /// One step of Adam.
    adam = adam_body [T: Number] <T>
    (values: &mut [T], first: &mut [T], second: &mut [T], gradient: &[T], step: &Step<T>)
}

#[inline(always)]
fn adam_body<T: Number, L: Lanes<T>>(
    values: &mut [T],
    first: &mut [T],
    second: &mut [T],
    gradient: &[T],
    step: &Step<T>,
) {
    let moments = first.iter_mut().zip(second);
    for ((value, gradient), (first, second)) in values.iter_mut().zip(gradient).zip(moments) {
        (*value, *first, *second) = adam_one::<T, L>(*value, *first, *second, *gradient, step);
    }
}

#[inline(always)]
fn adam_one<T: Number, L: Lanes<T>>(
    value: T,
    first: T,
    second: T,
    gradient: T,
    step: &Step<T>,
) -> (T, T, T) {
    let gradient = madd::<T, L>(step.decay, value, gradient);
    let first = madd::<T, L>(step.keep.0, first, step.take.0 * gradient);
    let second = madd::<T, L>(step.keep.1, second, step.take.1 * gradient * gradient);
    let size = madd::<T, L>(second.root(), step.root, step.epsilon);
    (value - step.rate * first / size, first, second)
}

for_this_processor! {
    /// Many steps of Adam on parameters whose gradient is the decay and a pull alone. `strength` and `centre` are empty where nothing pulls.
    coast = coast_body [T: Number] <T>
    (values: &mut [T], first: &mut [T], second: &mut [T], strength: &[T], centre: &[T], steps: &[Step<T>])
}

/// Parameters that stay in registers while they take all their steps: four vectors, so that the root and the division of one hide behind
/// those of the others.
const COASTING: usize = 4 * LANES;

#[inline(always)]
fn coast_body<T: Number, L: Lanes<T>>(
    values: &mut [T],
    first: &mut [T],
    second: &mut [T],
    strength: &[T],
    centre: &[T],
    steps: &[Step<T>],
) {
    for start in (0..values.len()).step_by(COASTING) {
        let part = start..values.len().min(start + COASTING);
        let state = [
            &mut values[part.clone()],
            &mut first[part.clone()],
            &mut second[part.clone()],
        ];
        match strength.is_empty() {
            true => coast_some::<T, L>(state, steps, |_, _| T::ZERO),
            false => {
                let (strength, centre) = (taken(&strength[part.clone()]), taken(&centre[part]));
                coast_some::<T, L>(state, steps, |at, value| {
                    madd::<T, L>(strength[at], value - centre[at], T::ZERO)
                });
            }
        }
    }
}

#[inline(always)]
fn coast_some<T: Number, L: Lanes<T>>(
    state: [&mut [T]; 3],
    steps: &[Step<T>],
    gradient: impl Fn(usize, T) -> T,
) {
    let [values, first, second] = state;
    let (mut value, mut m, mut v) = (taken(values), taken(first), taken(second));
    for step in steps {
        for at in 0..COASTING {
            let gradient = gradient(at, value[at]);
            (value[at], m[at], v[at]) = adam_one::<T, L>(value[at], m[at], v[at], gradient, step);
        }
    }
    for (to, from) in [(values, value), (first, m), (second, v)] {
        to.copy_from_slice(&from[..to.len()]);
    }
}

#[inline(always)]
fn taken<T: Number>(from: &[T]) -> [T; COASTING] {
    let mut into = [T::ZERO; COASTING];
    into[..from.len()].copy_from_slice(from);
    into
}

for_this_processor! {
    /// gradient += strength x (value - centre), each for itself.
    pull = pull_body [T: Number] <T> (gradient: &mut [T], values: &[T], strength: &[T], centre: &[T])
}

#[inline(always)]
fn pull_body<T: Number, L: Lanes<T>>(
    gradient: &mut [T],
    values: &[T],
    strength: &[T],
    centre: &[T],
) {
    let pulls = strength.iter().zip(centre);
    for ((gradient, &value), (&strength, &centre)) in gradient.iter_mut().zip(values).zip(pulls) {
        *gradient = madd::<T, L>(strength, value - centre, *gradient);
    }
}

for_this_processor! {
    /// into += factor x from.
    add_scaled = add_scaled_body [T: Number] <T> (into: &mut [T], factor: T, from: &[T])
}

#[inline(always)]
fn add_scaled_body<T: Number, L: Lanes<T>>(into: &mut [T], factor: T, from: &[T]) {
    for (into, &from) in into.iter_mut().zip(from) {
        *into = madd::<T, L>(factor, from, *into);
    }
}

for_this_processor! {
    /// into += sum of value x row(index), with rows as long as `into`.
    add_rows_scaled = add_rows_scaled_body [T: Number] <T> (into: &mut [T], indices: &[u32], values: &[T], rows: &[T])
}

/// Eight vectors of the sum stay in registers while all rows go by.
#[inline(always)]
fn add_rows_scaled_body<T: Number, L: Lanes<T>>(
    into: &mut [T],
    indices: &[u32],
    values: &[T],
    rows: &[T],
) {
    const MANY: usize = 8;
    let width = into.len();
    let (blocks, rest) = into.as_chunks_mut::<{ MANY * LANES }>();
    for (at, block) in blocks.iter_mut().enumerate() {
        let (lanes, _) = block.as_chunks_mut::<LANES>();
        let mut sums = [L::splat(T::ZERO); MANY];
        for (sum, lanes) in sums.iter_mut().zip(lanes.iter()) {
            *sum = L::load(lanes);
        }
        for (&index, &value) in indices.iter().zip(values) {
            let start = index as usize * width + at * MANY * LANES;
            let (from, _) = rows[start..start + MANY * LANES].as_chunks::<LANES>();
            let value = L::splat(value);
            for lane in 0..MANY {
                sums[lane] = L::load(&from[lane]).times(value, sums[lane]);
            }
        }
        for (lanes, sum) in lanes.iter_mut().zip(sums) {
            *lanes = sum.store();
        }
    }
    if !rest.is_empty() {
        let start = width - rest.len();
        for (&index, &value) in indices.iter().zip(values) {
            let from = &rows[index as usize * width + start..][..rest.len()];
            add_scaled_body::<T, L>(rest, value, from);
        }
    }
}

for_this_processor! {
    /// The inner product.
    dot = dot_body [T: Number] <T> (a: &[T], b: &[T]) -> T
}

#[inline(always)]
fn dot_body<T: Number, L: Lanes<T>>(a: &[T], b: &[T]) -> T {
    let (a_all, a_rest) = a.as_chunks::<LANES>();
    let (b_all, b_rest) = b.as_chunks::<LANES>();
    let (a_fours, a_left) = a_all.as_chunks::<4>();
    let (b_fours, b_left) = b_all.as_chunks::<4>();
    let mut sums = [L::splat(T::ZERO); 4];
    for (a, b) in a_fours.iter().zip(b_fours) {
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum = L::load(&a[at]).times(L::load(&b[at]), *sum);
        }
    }
    for (a, b) in a_left.iter().zip(b_left) {
        sums[0] = L::load(a).times(L::load(b), sums[0]);
    }
    let one = L::splat(T::ONE);
    let pairs = [sums[0].times(one, sums[1]), sums[2].times(one, sums[3])];
    let mut sum = fold(pairs[0].times(one, pairs[1]).store());
    for (&a, &b) in a_rest.iter().zip(b_rest) {
        sum = madd::<T, L>(a, b, sum);
    }
    sum
}

for_this_processor! {
    /// The inner product, summed in f64.
    dot_wide = dot_wide_body [T: Number] <T> (a: &[T], b: &[T]) -> f64
}

#[inline(always)]
fn dot_wide_body<T: Number, L: Lanes<T>>(a: &[T], b: &[T]) -> f64 {
    let (a_all, a_rest) = a.as_chunks::<LANES>();
    let (b_all, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0f64; LANES];
    for (a, b) in a_all.iter().zip(b_all) {
        for lane in 0..LANES {
            sums[lane] += a[lane].to_f64() * b[lane].to_f64();
        }
    }
    let rest = a_rest.iter().zip(b_rest);
    fold(sums) + rest.map(|(a, b)| a.to_f64() * b.to_f64()).sum::<f64>()
}

#[inline(always)]
fn fold<T: Number>(s: [T; LANES]) -> T {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

for_this_processor! {
    /// Turns a row of inner products into exponentials and adds them up.
    exponentials = exponentials_body [T: Number] <T> (row: &mut [T], scale: T) -> T
}

/// Numbers whose exponentials are taken before they are added up: few enough to stay in the first-level cache in between.
const POWERS: usize = 1024;

/// Two loops over a piece instead of one: the first is then the same for every number, which the compiler makes vectors of. With the sums in it, it
/// did so for pairs only, and took four times as long.
#[inline(always)]
fn exponentials_body<T: Number, L: Lanes<T>>(row: &mut [T], scale: T) -> T {
    let mut sums = [T::ZERO; LANES];
    let (many, rest) = row.as_chunks_mut::<LANES>();
    for piece in many.chunks_mut(POWERS / LANES) {
        for value in piece.as_flattened_mut() {
            *value = (*value * scale).power_of_e();
        }
        for chunk in piece {
            for lane in 0..LANES {
                sums[lane] += chunk[lane];
            }
        }
    }
    let mut sum = fold(sums);
    for value in rest {
        *value = (*value * scale).power_of_e();
        sum += *value;
    }
    sum
}

for_this_processor! {
    /// ELU(row + bias).
    elu = elu_body [T: Number] <T> (row: &mut [T], bias: &[T])
}

#[inline(always)]
fn elu_body<T: Number, L: Lanes<T>>(row: &mut [T], bias: &[T]) {
    for (value, &bias) in row.iter_mut().zip(bias) {
        let sum = *value + bias;
        // Both sides are worked out, so that there is no branch and the loop runs on vectors.
        let below = sum.power_of_e() - T::ONE;
        *value = if sum > T::ZERO { sum } else { below };
    }
}

/// Scores become probabilities, in place.
#[inline(always)]
pub(crate) fn softmax<T: Number>(scores: &mut [T]) {
    let largest = scores
        .iter()
        .copied()
        .fold(scores[0], |a, b| if b > a { b } else { a });
    let mut total = T::ZERO;
    for score in scores.iter_mut() {
        *score = (*score - largest).power_of_e();
        total += *score;
    }
    for score in scores.iter_mut() {
        *score /= total;
    }
}

for_this_processor! {
    /// [`softmax`] of every row of `width` scores, with a bias added first: the same numbers, and the exponentials in vectors.
    softmax_rows = softmax_rows_body [T: Number] <T> (rows: &mut [T], bias: &[T])
}

#[inline(always)]
fn softmax_rows_body<T: Number, L: Lanes<T>>(rows: &mut [T], bias: &[T]) {
    for piece in rows.chunks_mut(POWERS / bias.len().min(POWERS) * bias.len()) {
        for row in piece.chunks_exact_mut(bias.len()) {
            let scores = row.iter_mut().zip(bias);
            scores.for_each(|(score, &bias)| *score += bias);
            let first = row[0];
            let largest = row.iter().fold(first, |a, &b| if b > a { b } else { a });
            row.iter_mut().for_each(|score| *score -= largest);
        }
        for score in piece.iter_mut() {
            *score = score.power_of_e();
        }
        for row in piece.chunks_exact_mut(bias.len()) {
            let total = row.iter().fold(T::ZERO, |total, &score| total + score);
            row.iter_mut().for_each(|score| *score /= total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LANES, Number, POWERS, dot, dot_wide, exponentials, fold, softmax, softmax_rows};

    #[test]
    fn rows_of_scores_become_the_same_probabilities_as_one_by_one() {
        for width in [1, 2, 3, 5, POWERS + 1] {
            let bias: Vec<f32> = (0..width).map(|i| (i % 5) as f32 / 3.0).collect();
            let mut rows: Vec<f32> = (0..width * 700).map(|i| (i % 89) as f32 / 9.0).collect();
            let mut right = rows.clone();
            for row in right.chunks_mut(width) {
                let scores = row.iter_mut().zip(&bias);
                scores.for_each(|(score, bias)| *score += bias);
                softmax(row);
            }
            softmax_rows(&mut rows, &bias);
            assert_eq!(rows, right);
        }
    }

    /// Eight running sums, one after the other, however the row is cut.
    #[test]
    fn exponentials_are_added_up_in_the_same_order_for_any_length() {
        for length in [
            0,
            1,
            7,
            8,
            9,
            POWERS - 1,
            POWERS,
            POWERS + 8,
            3 * POWERS + 5,
        ] {
            let start: Vec<f32> = (0..length).map(|i| (i % 97) as f32 / 50.0 - 1.0).collect();
            let powers: Vec<f32> = start.iter().map(|x| (x * 2.0).power_of_e()).collect();
            let (whole, rest) = powers.as_chunks::<LANES>();
            let mut sums = [0f32; LANES];
            for chunk in whole {
                (0..LANES).for_each(|lane| sums[lane] += chunk[lane]);
            }
            let right = rest.iter().fold(fold(sums), |sum, value| sum + value);
            let mut row = start;
            assert_eq!(exponentials(&mut row, 2.0), right);
            assert_eq!(row, powers);
        }
    }

    #[test]
    fn inner_products_of_any_length() {
        for length in 0..80 {
            let a: Vec<f32> = (0..length).map(|i| i as f32 - 7.0).collect();
            let b: Vec<f32> = (0..length).map(|i| 3.0 - i as f32).collect();
            let right: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), right);
            assert_eq!(dot_wide(&a, &b), f64::from(right));
        }
    }
}
