//! The backbone: f(X) = ReLU(S^hops X W1) W2, frozen once it is pre-trained.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use treering_graph::{Propagation, Side};

use super::dense::{Into, product, view};
use super::inputs::Inputs;
use super::number::Number;

/// The frozen network that every task shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Backbone<T = f32> {
    /// Columns of the features.
    pub features: usize,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Steps of propagation before the first layer.
    pub hops: usize,
    /// `features` rows of `hidden`.
    pub first: Vec<T>,
    /// `hidden` rows of `hidden`.
    pub second: Vec<T>,
}

/// Numbers between -bound and bound.
pub fn uniform<T: Number>(random: &mut ChaCha8Rng, count: usize, bound: f64) -> Vec<T> {
    (0..count)
        .map(|_| T::from_f64((random.random::<f64>() * 2.0 - 1.0) * bound))
        .collect()
}

impl<T: Number> Backbone<T> {
    /// Random weights, between plus and minus one over the root of a layer's inputs.
    pub fn new(features: usize, hidden: usize, hops: usize, random: &mut ChaCha8Rng) -> Self {
        let bound = |inputs: usize| 1.0 / (inputs.max(1) as f64).sqrt();
        Backbone {
            features,
            hidden,
            hops,
            first: uniform(random, features * hidden, bound(features)),
            second: uniform(random, hidden * hidden, bound(hidden)),
        }
    }

    /// The rows of W1 for the columns that a task has.
    pub fn first_of(&self, present: &[u32]) -> Vec<T> {
        let row = |column: &u32| &self.first[*column as usize * self.hidden..][..self.hidden];
        present.iter().flat_map(row).copied().collect()
    }

    /// S^hops X W1 on `rows`, before the ReLU. Smooths whichever is narrower, X or X W1.
    ///
    /// # Complexity
    /// O((entries of X + hops x arcs) x hidden), or with dense X of few columns O(hops x arcs x columns + rows x columns
    /// x hidden).
    pub fn hidden_layer(
        &self,
        inputs: &Inputs<T>,
        propagation: &Propagation<'_>,
        rows: &[usize],
    ) -> Vec<T> {
        let columns = inputs.present().len();
        let first = self.first_of(inputs.present());
        if let Some(x) = inputs.dense().filter(|_| columns < self.hidden) {
            let smooth = propagation.smooth(Side::Forward, x, columns, self.hops);
            let chosen = pick(&smooth, columns, rows);
            let mut out = vec![T::ZERO; rows.len() * self.hidden];
            let a = view(&chosen, rows.len(), columns);
            product(
                &mut out,
                Into::Replace,
                a,
                view(&first, columns, self.hidden),
            );
            return out;
        }
        let mut projected = Vec::new();
        inputs.times(&first, self.hidden, None, &mut projected);
        let smooth = propagation.smooth(Side::Forward, &projected, self.hidden, self.hops);
        pick(&smooth, self.hidden, rows)
    }
}

/// Some rows of a matrix.
pub fn pick<T: Copy>(values: &[T], width: usize, rows: &[usize]) -> Vec<T> {
    rows.iter()
        .flat_map(|&row| &values[row * width..(row + 1) * width])
        .copied()
        .collect()
}
