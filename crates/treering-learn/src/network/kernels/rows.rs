//! The rows of a prompted network: forward, cross entropy, backward.
#![allow(unsafe_code)]

use super::{add_scaled, add_scaled_body, dot_body, fold, is_fast, softmax};
use crate::network::lanes::{LANES, Lanes, Plain};
use crate::network::number::Number;

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

/// Forward and backward through ReLU(base + shares product) folded^T + bias and the cross entropy. Adds to `sums`; writes the
/// gradient by the shares.
pub(crate) fn prompted_rows<T: Number>(
    rows: &Rows<'_, T>,
    sums: &mut Sums<T>,
    by_shares: &mut [T],
) {
    let classes = rows.bias.len();
    let tokens = rows.product.len() / (rows.folded.len() / classes);
    match (tokens, classes) {
        (0, 2) => few_rows::<T, 0, 2>(rows, sums, by_shares),
        (1, 2) => few_rows::<T, 1, 2>(rows, sums, by_shares),
        (2, 2) => few_rows::<T, 2, 2>(rows, sums, by_shares),
        (3, 2) => few_rows::<T, 3, 2>(rows, sums, by_shares),
        _ => any_rows(rows, sums, by_shares),
    }
}

/// The loss of a row and its gradient by the logits, which become probabilities on the way.
#[inline(always)]
fn slopes<T: Number>(
    rows: &Rows<'_, T>,
    at: usize,
    logits: &mut [T],
    sums_loss: &mut f64,
    sums_bias: &mut [T],
) {
    let label = rows.labels[at] as usize;
    let weight = rows.weights[label];
    softmax(logits);
    *sums_loss -= weight.to_f64() * logits[label].to_f64().max(f64::MIN_POSITIVE).ln();
    logits[label] -= T::ONE;
    for (slope, bias) in logits.iter_mut().zip(sums_bias) {
        *slope = weight * *slope;
        *bias += *slope;
    }
}

for_this_processor! {
    /// Any number of tokens and classes, one array after another.
    any_rows = any_rows_body [T: Number] <T>
    (rows: &Rows<'_, T>, sums: &mut Sums<T>, by_shares: &mut [T])
}

#[inline(always)]
fn any_rows_body<T: Number, L: Lanes<T>>(
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
    for at in 0..rows.labels.len() {
        let shares = &rows.shares[at * tokens..(at + 1) * tokens];
        let base = &rows.base[at * width..(at + 1) * width];
        logits_body::<T, L>(rows, base, shares, &mut hidden, &mut logits);
        slopes(rows, at, &mut logits, &mut sums.loss, &mut sums.bias);
        back.fill(T::ZERO);
        for (class, &slope) in logits.iter().enumerate() {
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

for_this_processor! {
    /// The usual few tokens and two classes, everything at once while a vector is in registers.
    few_rows = few_rows_body [T: Number, const K: usize, const C: usize] <T, K, C>
    (rows: &Rows<'_, T>, sums: &mut Sums<T>, by_shares: &mut [T])
}

#[inline(always)]
fn few_rows_body<T: Number, const K: usize, const C: usize, L: Lanes<T>>(
    rows: &Rows<'_, T>,
    sums: &mut Sums<T>,
    by_shares: &mut [T],
) {
    let width = rows.folded.len() / C;
    let vectors = width / LANES;
    let (base, _) = rows.base.as_chunks::<LANES>();
    let (product, _) = rows.product.as_chunks::<LANES>();
    let (folded, _) = rows.folded.as_chunks::<LANES>();
    let (by_product, _) = sums.product.as_chunks_mut::<LANES>();
    let (by_folded, _) = sums.folded.as_chunks_mut::<LANES>();
    let mut hidden = vec![[T::ZERO; LANES]; vectors];
    assert!(width.is_multiple_of(LANES) && base.len() >= rows.labels.len() * vectors);
    assert!(product.len() == K * vectors && folded.len() == C * vectors);
    assert!(by_product.len() == K * vectors && by_folded.len() == C * vectors);
    for at in 0..rows.labels.len() {
        let shares: [L; K] = std::array::from_fn(|k| L::splat(rows.shares[at * K + k]));
        let mut sum = [L::splat(T::ZERO); C];
        // SAFETY, here and below: vector < vectors, at < labels, k < K and c < C, so every place is inside by the assertions above.
        for vector in 0..vectors {
            unsafe {
                let mut value = L::load(base.get_unchecked(at * vectors + vector));
                for k in 0..K {
                    value = L::load(product.get_unchecked(k * vectors + vector))
                        .times(shares[k], value);
                }
                let value = value.positive();
                *hidden.get_unchecked_mut(vector) = value.store();
                for c in 0..C {
                    sum[c] =
                        L::load(folded.get_unchecked(c * vectors + vector)).times(value, sum[c]);
                }
            }
        }
        let mut logits: [T; C] = std::array::from_fn(|c| fold(sum[c].store()) + rows.bias[c]);
        slopes(rows, at, &mut logits, &mut sums.loss, &mut sums.bias);
        let slopes: [L; C] = std::array::from_fn(|c| L::splat(logits[c]));
        let mut by = [L::splat(T::ZERO); K];
        for vector in 0..vectors {
            unsafe {
                let value = L::load(hidden.get_unchecked(vector));
                let mut back = L::splat(T::ZERO);
                for c in 0..C {
                    back =
                        L::load(folded.get_unchecked(c * vectors + vector)).times(slopes[c], back);
                    let place = by_folded.get_unchecked_mut(c * vectors + vector);
                    *place = value.times(slopes[c], L::load(place)).store();
                }
                let back = back.where_positive(value);
                for k in 0..K {
                    by[k] = L::load(product.get_unchecked(k * vectors + vector)).times(back, by[k]);
                    let place = by_product.get_unchecked_mut(k * vectors + vector);
                    *place = back.times(shares[k], L::load(place)).store();
                }
            }
        }
        for k in 0..K {
            by_shares[at * K + k] = fold(by[k].store());
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

#[cfg(test)]
mod tests {
    use super::{Rows, Sums, any_rows, prompted_rows};
    use crate::network::number::Number;

    /// The quick form for few tokens and two classes gives what the general one gives.
    fn agree<T: Number>(tokens: usize, tolerance: f64) {
        let (nodes, width) = (5, 24);
        let number = |i: usize| T::from_f64(((i * 37) % 23) as f64 / 11.0 - 1.0);
        let many =
            |count: usize, salt: usize| (0..count).map(|i| number(i + salt)).collect::<Vec<T>>();
        let (base, shares) = (many(nodes * width, 1), many(nodes * tokens, 2));
        let (product, folded, bias) = (many(tokens * width, 3), many(2 * width, 4), many(2, 5));
        let rows = Rows {
            base: &base,
            shares: &shares,
            product: &product,
            folded: &folded,
            bias: &bias,
            labels: &[0, 1, 1, 0, 1],
            weights: &[T::from_f64(0.3), T::from_f64(0.7)],
        };
        let run = |work: fn(&Rows<'_, T>, &mut Sums<T>, &mut [T])| {
            let (mut sums, mut by) = (Sums::none(&rows), vec![T::ZERO; nodes * tokens]);
            work(&rows, &mut sums, &mut by);
            assert!(sums.loss > 0.0);
            let all = [&sums.product, &sums.folded, &sums.bias, &by];
            let numbers = all.into_iter().flatten().map(|x| x.to_f64());
            numbers.chain([sums.loss]).collect::<Vec<f64>>()
        };
        for (few, any) in run(prompted_rows).iter().zip(run(any_rows)) {
            assert!((few - any).abs() < tolerance, "{few} {any}");
        }
    }

    #[test]
    fn few_tokens_give_what_any_number_gives() {
        for tokens in 0..4 {
            agree::<f64>(tokens, 1e-12);
            agree::<f32>(tokens, 1e-4);
        }
    }
}
