//! One pass over the frozen first layer for the tokens of a task.
#![allow(unsafe_code)]

use super::{adam, fold, is_fast};
use crate::network::adam::Step;
use crate::network::lanes::{LANES, Lanes, Plain};
use crate::network::number::Number;

/// Rows of the first layer worked on together: read for the gradient, they are still in the second-level cache for the product, and
/// the step between the two has whole vectors to work on.
pub(crate) const BLOCK: usize = 64;

/// The prompt of one task on a few columns of the features, and what it needs to follow its gradient.
pub(crate) struct Tokens<'a, T> {
    /// How many.
    pub count: usize,
    /// `count` rows of parameters, and their running means; each row is `stride` long.
    pub values: &'a mut [T],
    pub first: &'a mut [T],
    pub second: &'a mut [T],
    pub stride: usize,
    /// The gradient at the first layer, `count` rows of the layer's width, and the step to follow it; without, they are only multiplied.
    pub follow: Option<(&'a [T], &'a Step<T>)>,
    /// Tokens times first layer, added up; `count` rows of the layer's width.
    pub product: &'a mut [T],
}

/// One pass over a block of rows of the first layer for one task: the gradient of its tokens, the step, and the product
/// of the new tokens with these rows. `at` is where the block's columns start in the token rows.
pub(crate) fn pass<T: Number>(layer: &[T], width: usize, at: usize, tokens: &mut Tokens<'_, T>) {
    let mut done = 0;
    while done < tokens.count {
        match tokens.count - done {
            1 => pass_few::<T, 1>(layer, width, at, done, tokens),
            2 => pass_few::<T, 2>(layer, width, at, done, tokens),
            _ => pass_few::<T, 3>(layer, width, at, done, tokens),
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
) {
    let rows = layer.len() / width;
    let (layer, _) = layer.as_chunks::<LANES>();
    if let Some((gradient, step)) = tokens.follow {
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

#[cfg(test)]
mod tests {
    use super::super::dot;
    use super::{BLOCK, Tokens, pass};
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
                    follow: Some((&gradient, &step)),
                    product: &mut product,
                };
                pass(
                    &layer[at * width..(at + rows) * width],
                    width,
                    at,
                    &mut tokens,
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
}
