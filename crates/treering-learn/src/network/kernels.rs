//! The inner loops of training: Adam, rows of a network, and the one pass over the frozen first layer.
//!
//! Written as plain loops over arrays of eight numbers, which the compiler turns into vector instructions, and compiled
//! twice: for any processor, and for those with AVX2 and fused multiply-add. Sums run in an order that
//! depends on nothing but the shapes.
//!
//! # Safety
//! The only `unsafe` is the call of a function compiled for AVX2 and FMA after the processor said that it has both.
#![allow(unsafe_code)]

use super::adam::Step;
use super::number::Number;

use super::lanes::{LANES, Lanes, Plain};

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
    /// All steps of Adam on parameters whose gradient is the decay alone.
    decay = decay_body [T: Number] <T> (values: &mut [T], steps: &[Step<T>])
}

#[inline(always)]
fn decay_body<T: Number, L: Lanes<T>>(values: &mut [T], steps: &[Step<T>]) {
    // Several vectors at a time: the root and the division of one hide behind those of the others.
    const MANY: usize = 4 * LANES;
    for values in values.chunks_mut(MANY) {
        let (mut value, mut first, mut second) =
            ([T::ZERO; MANY], [T::ZERO; MANY], [T::ZERO; MANY]);
        value[..values.len()].copy_from_slice(values);
        for step in steps {
            for at in 0..MANY {
                (value[at], first[at], second[at]) =
                    adam_one::<T, L>(value[at], first[at], second[at], T::ZERO, step);
            }
        }
        values.copy_from_slice(&value[..values.len()]);
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
    /// The inner product.
    dot = dot_body [T: Number] <T> (a: &[T], b: &[T]) -> T
}

#[inline(always)]
fn dot_body<T: Number, L: Lanes<T>>(a: &[T], b: &[T]) -> T {
    const MANY: usize = 4;
    let (a_many, a_rest) = a.as_chunks::<LANES>();
    let (b_many, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [L::splat(T::ZERO); MANY];
    for (a, b) in a_many.chunks(MANY).zip(b_many.chunks(MANY)) {
        for ((a, b), sum) in a.iter().zip(b).zip(&mut sums) {
            *sum = L::load(a).times(L::load(b), *sum);
        }
    }
    let one = L::splat(T::ONE);
    let pairs = [sums[0].times(one, sums[1]), sums[2].times(one, sums[3])];
    let mut sum = fold(pairs[0].times(one, pairs[1]).store());
    for (&a, &b) in a_rest.iter().zip(b_rest) {
        sum = madd::<T, L>(a, b, sum);
    }
    sum
}

#[inline(always)]
fn fold<T: Number>(s: [T; LANES]) -> T {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

for_this_processor! {
    /// Turns a row of inner products into exponentials and adds them up.
    exponentials = exponentials_body [T: Number] <T> (row: &mut [T], scale: T) -> T
}

#[inline(always)]
fn exponentials_body<T: Number, L: Lanes<T>>(row: &mut [T], scale: T) -> T {
    let mut sums = [T::ZERO; LANES];
    let (many, rest) = row.as_chunks_mut::<LANES>();
    for chunk in many {
        for lane in 0..LANES {
            chunk[lane] = (chunk[lane] * scale).power_of_e();
        }
        for lane in 0..LANES {
            sums[lane] += chunk[lane];
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

/// Rows of the first layer worked on together: read for the gradient, they are still in the first-level cache for the product.
pub(crate) const BLOCK: usize = 16;

/// The prompt of one task on a few columns of the features, and what it needs to follow its gradient.
pub(crate) struct Tokens<'a, T> {
    /// How many.
    pub count: usize,
    /// `count` rows of parameters, and their running means; each row is `stride` long.
    pub values: &'a mut [T],
    pub first: &'a mut [T],
    pub second: &'a mut [T],
    pub stride: usize,
    /// The gradient at the first layer, `count` rows of the layer's width, or nothing to only multiply.
    pub gradient: Option<&'a [T]>,
    /// Tokens times first layer, added up; `count` rows of the layer's width.
    pub product: &'a mut [T],
}

/// One pass over a block of rows of the first layer for one task: the gradient of its tokens, the step, and the product
/// of the new tokens with these rows. `at` is where the block's columns start in the token rows.
pub(crate) fn pass<T: Number>(
    layer: &[T],
    width: usize,
    at: usize,
    tokens: &mut Tokens<'_, T>,
    step: &Step<T>,
) {
    let mut done = 0;
    while done < tokens.count {
        match tokens.count - done {
            1 => pass_few::<T, 1>(layer, width, at, done, tokens, step),
            2 => pass_few::<T, 2>(layer, width, at, done, tokens, step),
            _ => pass_few::<T, 3>(layer, width, at, done, tokens, step),
        }
        done += 3;
    }
}

/// K tokens from number `token` on.
fn pass_few<T: Number, const K: usize>(
    layer: &[T],
    width: usize,
    at: usize,
    token: usize,
    tokens: &mut Tokens<'_, T>,
    step: &Step<T>,
) {
    let rows = layer.len() / width;
    let (layer, _) = layer.as_chunks::<LANES>();
    if let Some(gradient) = tokens.gradient {
        let (gradient, _) = gradient[token * width..(token + K) * width].as_chunks::<LANES>();
        let mut inner = [[T::ZERO; BLOCK]; K];
        inner_products::<T, K>(layer, gradient, rows, &mut inner);
        for (k, inner) in inner.iter().enumerate() {
            let start = (token + k) * tokens.stride + at;
            adam(
                &mut tokens.values[start..start + rows],
                &mut tokens.first[start..start + rows],
                &mut tokens.second[start..start + rows],
                &inner[..rows],
                step,
            );
        }
    }
    let mut factors = [[T::ZERO; K]; BLOCK];
    for (row, factors) in factors.iter_mut().enumerate().take(rows) {
        for (k, factor) in factors.iter_mut().enumerate() {
            *factor = tokens.values[(token + k) * tokens.stride + at + row];
        }
    }
    let (product, _) = tokens.product[token * width..(token + K) * width].as_chunks_mut::<LANES>();
    outer_products::<T, K>(layer, &factors[..rows], product);
}

for_this_processor! {
    /// inner[k][row] = gradient_k . layer_row.
    inner_products = inner_body [T: Number, const K: usize] <T, K>
    (layer: &[[T; LANES]], gradient: &[[T; LANES]], rows: usize, inner: &mut [[T; BLOCK]; K])
}

#[inline(always)]
fn inner_body<T: Number, const K: usize, L: Lanes<T>>(
    layer: &[[T; LANES]],
    gradient: &[[T; LANES]],
    rows: usize,
    inner: &mut [[T; BLOCK]; K],
) {
    let mut row = 0;
    while row + 4 <= rows {
        inner_rows::<T, L, K, 4>(layer, gradient, row, inner);
        row += 4;
    }
    while row < rows {
        inner_rows::<T, L, K, 1>(layer, gradient, row, inner);
        row += 1;
    }
}

/// R rows at a time, so that each vector of the gradient serves R products.
#[inline(always)]
fn inner_rows<T: Number, L: Lanes<T>, const K: usize, const R: usize>(
    layer: &[[T; LANES]],
    gradient: &[[T; LANES]],
    row: usize,
    inner: &mut [[T; BLOCK]; K],
) {
    let vectors = gradient.len() / K;
    assert!(gradient.len() == K * vectors && layer.len() >= (row + R) * vectors);
    let mut sums = [[L::splat(T::ZERO); R]; K];
    for vector in 0..vectors {
        // SAFETY: vector < vectors, r < R and k < K, so both places are inside by the assertion above.
        let tokens: [L; K] = std::array::from_fn(|k| unsafe {
            L::load(gradient.get_unchecked(k * vectors + vector))
        });
        for r in 0..R {
            let row = L::load(unsafe { layer.get_unchecked((row + r) * vectors + vector) });
            for k in 0..K {
                sums[k][r] = row.times(tokens[k], sums[k][r]);
            }
        }
    }
    for k in 0..K {
        for r in 0..R {
            inner[k][row + r] = fold(sums[k][r].store());
        }
    }
}

for_this_processor! {
    /// product_k += sum over rows of factor[row][k] layer_row.
    outer_products = outer_body [T: Number, const K: usize] <T, K>
    (layer: &[[T; LANES]], factors: &[[T; K]], product: &mut [[T; LANES]])
}

#[inline(always)]
fn outer_body<T: Number, const K: usize, L: Lanes<T>>(
    layer: &[[T; LANES]],
    factors: &[[T; K]],
    product: &mut [[T; LANES]],
) {
    let vectors = product.len() / K;
    let mut vector = 0;
    while vector + 4 <= vectors {
        outer_columns::<T, L, K, 4>(layer, factors, vector, product);
        vector += 4;
    }
    while vector < vectors {
        outer_columns::<T, L, K, 1>(layer, factors, vector, product);
        vector += 1;
    }
}

/// V vectors of every row at a time, so that each factor serves V products.
#[inline(always)]
fn outer_columns<T: Number, L: Lanes<T>, const K: usize, const V: usize>(
    layer: &[[T; LANES]],
    factors: &[[T; K]],
    vector: usize,
    product: &mut [[T; LANES]],
) {
    let vectors = product.len() / K;
    let mut sums = [[L::splat(T::ZERO); V]; K];
    assert!(product.len() == K * vectors && vector + V <= vectors);
    assert!(layer.len() >= factors.len() * vectors);
    for (row, factors) in factors.iter().enumerate() {
        let factors: [L; K] = std::array::from_fn(|k| L::splat(factors[k]));
        for v in 0..V {
            // SAFETY: row < factors.len() and vector + v < vectors, so the place is inside by the assertion above.
            let row = L::load(unsafe { layer.get_unchecked(row * vectors + vector + v) });
            for k in 0..K {
                sums[k][v] = row.times(factors[k], sums[k][v]);
            }
        }
    }
    let one = L::splat(T::ONE);
    for k in 0..K {
        for v in 0..V {
            // SAFETY: k < K and vector + v < vectors, so the place is inside by the first assertion above.
            let place = unsafe { product.get_unchecked_mut(k * vectors + vector + v) };
            *place = L::load(place).times(one, sums[k][v]).store();
        }
    }
}

/// Rows of a prompted network: what goes in, what comes out.
pub(crate) struct Rows<'a, T> {
    /// S^hops X W1 without the prompt, one row a node.
    pub base: &'a [T],
    /// How much of each token reaches the node.
    pub shares: &'a [T],
    /// Tokens times W1.
    pub product: &'a [T],
    /// W2 times the head, one row a class.
    pub folded: &'a [T],
    /// The head's bias.
    pub bias: &'a [T],
    /// The class of each node.
    pub labels: &'a [u32],
    /// The weight of each class in the loss.
    pub weights: &'a [T],
}

/// What the rows add to the gradients.
#[derive(Clone)]
pub(crate) struct Sums<T> {
    pub loss: f64,
    /// By tokens times W1.
    pub product: Vec<T>,
    /// By W2 times the head.
    pub folded: Vec<T>,
    /// By the head's bias.
    pub bias: Vec<T>,
}

impl<T: Number> Sums<T> {
    pub(crate) fn none(rows: &Rows<'_, T>) -> Self {
        Sums {
            loss: 0.0,
            product: vec![T::ZERO; rows.product.len()],
            folded: vec![T::ZERO; rows.folded.len()],
            bias: vec![T::ZERO; rows.bias.len()],
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.loss += other.loss;
        for (into, from) in [
            (&mut self.product, &other.product),
            (&mut self.folded, &other.folded),
            (&mut self.bias, &other.bias),
        ] {
            add_scaled(into, T::ONE, from);
        }
    }
}

for_this_processor! {
    /// Forward and backward through ReLU(base + shares product) folded^T + bias and the cross entropy. Adds to `sums`; writes the
    /// gradient by the shares.
    prompted_rows = prompted_rows_body [T: Number] <T>
    (rows: &Rows<'_, T>, sums: &mut Sums<T>, by_shares: &mut [T])
}

#[inline(always)]
fn prompted_rows_body<T: Number, L: Lanes<T>>(
    rows: &Rows<'_, T>,
    sums: &mut Sums<T>,
    by_shares: &mut [T],
) {
    let classes = rows.bias.len();
    let width = rows.folded.len() / classes;
    let tokens = rows.product.len() / width;
    let mut hidden = vec![T::ZERO; width];
    let mut back = vec![T::ZERO; width];
    let mut logits = vec![T::ZERO; classes];
    for (at, &label) in rows.labels.iter().enumerate() {
        let shares = &rows.shares[at * tokens..(at + 1) * tokens];
        let base = &rows.base[at * width..(at + 1) * width];
        logits_body::<T, L>(rows, base, shares, &mut hidden, &mut logits);
        softmax(&mut logits);
        let weight = rows.weights[label as usize];
        sums.loss -= weight.to_f64()
            * (logits[label as usize].to_f64())
                .max(f64::MIN_POSITIVE)
                .ln();
        back.fill(T::ZERO);
        for class in 0..classes {
            let target = if class == label as usize {
                T::ONE
            } else {
                T::ZERO
            };
            let slope = weight * (logits[class] - target);
            sums.bias[class] += slope;
            let part = class * width..(class + 1) * width;
            add_scaled_body::<T, L>(&mut sums.folded[part.clone()], slope, &hidden);
            add_scaled_body::<T, L>(&mut back, slope, &rows.folded[part]);
        }
        for (back, &hidden) in back.iter_mut().zip(&hidden) {
            *back = if hidden > T::ZERO { *back } else { T::ZERO };
        }
        for token in 0..tokens {
            let part = token * width..(token + 1) * width;
            by_shares[at * tokens + token] = dot_body::<T, L>(&back, &rows.product[part.clone()]);
            add_scaled_body::<T, L>(&mut sums.product[part], shares[token], &back);
        }
    }
}

/// hidden = ReLU(base + shares product), logits = folded hidden + bias.
#[inline(always)]
fn logits_body<T: Number, L: Lanes<T>>(
    rows: &Rows<'_, T>,
    base: &[T],
    shares: &[T],
    hidden: &mut [T],
    logits: &mut [T],
) {
    let width = hidden.len();
    hidden.copy_from_slice(base);
    for (product, &share) in rows.product.chunks_exact(width).zip(shares) {
        add_scaled_body::<T, L>(hidden, share, product);
    }
    for value in hidden.iter_mut() {
        *value = if *value > T::ZERO { *value } else { T::ZERO };
    }
    let classes = rows.folded.chunks_exact(width).zip(rows.bias);
    for (logit, (folded, &bias)) in logits.iter_mut().zip(classes) {
        *logit = dot_body::<T, L>(hidden, folded) + bias;
    }
}

for_this_processor! {
    /// The probabilities of every class, one row a node.
    prompted_probabilities = prompted_probabilities_body [T: Number] <T>
    (rows: &Rows<'_, T>, probabilities: &mut [T])
}

#[inline(always)]
fn prompted_probabilities_body<T: Number, L: Lanes<T>>(
    rows: &Rows<'_, T>,
    probabilities: &mut [T],
) {
    let classes = rows.bias.len();
    let width = rows.folded.len() / classes;
    let tokens = rows.product.len() / width;
    let mut hidden = vec![T::ZERO; width];
    for (at, logits) in probabilities.chunks_exact_mut(classes).enumerate() {
        let shares = &rows.shares[at * tokens..(at + 1) * tokens];
        let base = &rows.base[at * width..(at + 1) * width];
        logits_body::<T, L>(rows, base, shares, &mut hidden, logits);
        softmax(logits);
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
        *score = *score / total;
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Tokens, dot, pass};
    use crate::network::adam::{Adam, Trained};

    /// One pass equals the gradient, the step and the product taken one after the other, for any number of tokens, any width
    /// and any number of rows.
    fn pass_equals_its_parts<T: super::Number>(tolerance: f64) {
        let number = |i: usize| T::from_f64(((i * 37) % 23) as f64 / 11.0 - 1.0);
        let step = Adam {
            rate: 0.1,
            decay: 0.01,
        }
        .step::<T>(1);
        for (count, width, columns) in
            [(1, 8, 5), (2, 40, 16), (3, 32, 37), (4, 16, 3), (7, 72, 50)]
        {
            let layer: Vec<T> = (0..columns * width).map(number).collect();
            let gradient: Vec<T> = (0..count * width).map(|i| number(i + 5)).collect();
            let start: Vec<T> = (0..count * columns).map(|i| number(i + 9)).collect();
            let mut moving = [
                start.clone(),
                vec![T::ZERO; start.len()],
                vec![T::ZERO; start.len()],
            ];
            let mut product = vec![T::ZERO; count * width];
            for at in (0..columns).step_by(BLOCK) {
                let rows = BLOCK.min(columns - at);
                let [values, first, second] = &mut moving;
                let mut tokens = Tokens {
                    count,
                    values,
                    first,
                    second,
                    stride: columns,
                    gradient: Some(&gradient),
                    product: &mut product,
                };
                pass(
                    &layer[at * width..(at + rows) * width],
                    width,
                    at,
                    &mut tokens,
                    &step,
                );
            }
            let slopes: Vec<T> = (0..count * columns)
                .map(|i| {
                    dot(
                        &gradient[i / columns * width..][..width],
                        &layer[i % columns * width..][..width],
                    )
                })
                .collect();
            let mut right = Trained::new(start);
            right.follow(&slopes, &step);
            for (found, right) in moving[0].iter().zip(&right.values) {
                assert!((found.to_f64() - right.to_f64()).abs() < tolerance);
            }
            for token in 0..count {
                for column in 0..width {
                    let sum: f64 = (0..columns)
                        .map(|row| {
                            right.values[token * columns + row].to_f64()
                                * layer[row * width + column].to_f64()
                        })
                        .sum();
                    assert!(
                        (product[token * width + column].to_f64() - sum).abs() < tolerance * 50.0
                    );
                }
            }
        }
    }

    #[test]
    fn one_pass_equals_gradient_step_and_product() {
        pass_equals_its_parts::<f64>(1e-12);
        pass_equals_its_parts::<f32>(1e-5);
    }

    #[test]
    fn inner_products_of_any_length() {
        for length in 0..80 {
            let a: Vec<f32> = (0..length).map(|i| i as f32 - 7.0).collect();
            let b: Vec<f32> = (0..length).map(|i| 3.0 - i as f32).collect();
            let right: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), right);
        }
    }
}
