//! What CaT matches: for each class, the mean of the normalised embeddings of real and of synthetic rows under a random layer.

use rayon::prelude::*;

use crate::network::dense::{Into, product, view};
use crate::network::kernels::{add_scaled, dot};
use crate::network::number::Number;

/// Rows that one thread sums up at a time.
const PIECE: usize = 64;

/// ReLU on a row, and one over its length afterwards; 0 for a row of zeros, which then counts as an embedding of zeros.
fn embed<T: Number>(row: &mut [T]) -> T {
    for value in row.iter_mut() {
        *value = if *value > T::ZERO { *value } else { T::ZERO };
    }
    let square = dot(row, row);
    match square > T::ZERO {
        true => T::ONE / square.root(),
        false => T::ZERO,
    }
}

/// The mean embedding of each class. Classes lie one after the other, `sizes[c]` rows of `width` each; `layer` is X W before the ReLU, and
/// after it when this is done.
pub fn means<T: Number>(layer: &mut [T], width: usize, sizes: &[usize]) -> Vec<T> {
    let mut means = vec![T::ZERO; sizes.len() * width];
    let mut rest = layer;
    for (mean, &size) in means.chunks_mut(width).zip(sizes) {
        let (rows, others) = rest.split_at_mut(size * width);
        let sums: Vec<Vec<T>> = rows
            .par_chunks_mut(PIECE * width)
            .map(|rows| {
                let mut sum = vec![T::ZERO; width];
                for row in rows.chunks_mut(width) {
                    let inverse = embed(row);
                    add_scaled(&mut sum, inverse, row);
                }
                sum
            })
            .collect();
        let each = T::from_f64(1.0 / size.max(1) as f64);
        for sum in &sums {
            add_scaled(mean, each, sum);
        }
        rest = others;
    }
    means
}

/// Synthetic rows and what they are matched with.
pub struct Matching<'a, T> {
    /// The rows, class by class.
    pub values: &'a [T],
    /// How many of each class.
    pub sizes: &'a [usize],
    /// W, a row of `width` for each column of the rows.
    pub weights: &'a [T],
    /// Outputs of the random layer.
    pub width: usize,
    /// The mean embedding of each class's real rows.
    pub real: &'a [T],
    /// What each class counts.
    pub counts: &'a [f64],
}

/// Memory that every network uses again.
#[derive(Default)]
pub struct Desk<T> {
    layer: Vec<T>,
    slopes: Vec<T>,
}

impl<T: Number> Matching<'_, T> {
    /// Writes the gradient by the rows; returns the loss: the sum over classes of the squared distance between the two means.
    pub fn gradient(&self, desk: &mut Desk<T>, gradient: &mut Vec<T>) -> f64 {
        let (rows, width) = (self.sizes.iter().sum::<usize>(), self.width);
        let columns = self.weights.len() / width;
        let w = view(self.weights, columns, width);
        desk.layer.resize(rows * width, T::ZERO);
        let x = view(self.values, rows, columns);
        product(&mut desk.layer, Into::Replace, x, w);
        let loss = self.slopes(desk);
        gradient.resize(rows * columns, T::ZERO);
        let slopes = view(&desk.slopes, rows, width);
        product(gradient, Into::Replace, slopes, w.transpose());
        loss
    }

    /// The slopes by X W, of the loss that is returned.
    fn slopes(&self, desk: &mut Desk<T>) -> f64 {
        let width = self.width;
        let mut pull = means(&mut desk.layer, width, self.sizes);
        let mut loss = 0.0;
        let classes = pull.chunks_mut(width).zip(self.real.chunks(width));
        for ((pull, real), (&size, &count)) in classes.zip(self.sizes.iter().zip(self.counts)) {
            add_scaled(pull, -T::ONE, real);
            loss += count * dot(pull, pull).to_f64();
            let factor = T::from_f64(2.0 * count / size.max(1) as f64);
            pull.iter_mut().for_each(|value| *value *= factor);
        }
        desk.slopes.resize(desk.layer.len(), T::ZERO);
        let class_of = self.sizes.iter().enumerate();
        let class_of: Vec<usize> = class_of
            .flat_map(|(class, &size)| std::iter::repeat_n(class, size))
            .collect();
        desk.slopes
            .par_chunks_mut(width)
            .with_min_len(16)
            .zip(desk.layer.par_chunks(width))
            .zip(&class_of)
            .for_each(|((slopes, row), &class)| {
                row_slopes(row, &pull[class * width..][..width], slopes);
            });
        loss
    }
}

/// [h > 0] (r - (r.e) e) / |h| with e = h / |h|; nothing pulls at a row of zeros.
fn row_slopes<T: Number>(row: &[T], pull: &[T], slopes: &mut [T]) {
    let square = dot(row, row);
    if square <= T::ZERO {
        return slopes.fill(T::ZERO);
    }
    let inverse = T::ONE / square.root();
    let along = dot(pull, row) * inverse * inverse;
    for ((slope, &h), &r) in slopes.iter_mut().zip(row).zip(pull) {
        *slope = match h > T::ZERO {
            true => (r - along * h) * inverse,
            false => T::ZERO,
        };
    }
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
