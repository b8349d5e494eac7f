//! Inner products of many gradients with many.

use rayon::prelude::*;

use crate::network::classifier::Gradient;
use crate::network::dense::{Into, product_here, view};

/// Numbers of each gradient that are multiplied at a time: few enough to stay in cache.
const PIECE: usize = 2048;

/// The product of each of `left` with each of `right`, row by row, in f64: rounded to f32, products of nearly opposite gradients would not
/// even belong to real ones. The same for any number of threads.
pub(super) fn products(left: &[Gradient<f32>], right: &[Gradient<f32>]) -> Vec<f64> {
    let mut sums = vec![0.0; left.len() * right.len()];
    for layer in [first, second] {
        let length = left.first().map_or(0, |gradient| layer(gradient).len());
        let pieces: Vec<Vec<f64>> = (0..length.div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                let part = piece * PIECE..length.min((piece + 1) * PIECE);
                let cut = |gradients: &[Gradient<f32>]| -> Vec<f64> {
                    let parts = gradients
                        .iter()
                        .map(|gradient| &layer(gradient)[part.clone()]);
                    parts.flatten().map(|&slope| f64::from(slope)).collect()
                };
                let mut out = vec![0.0; left.len() * right.len()];
                let (a, b) = (cut(left), cut(right));
                let b = view(&b, right.len(), part.len());
                let a = view(&a, left.len(), part.len());
                product_here(&mut out, Into::Replace, a, b.transpose());
                out
            })
            .collect();
        for piece in pieces {
            let pairs = sums.iter_mut().zip(piece);
            pairs.for_each(|(sum, part)| *sum += part);
        }
    }
    sums
}

fn first(gradient: &Gradient<f32>) -> &[f32] {
    &gradient.first
}

fn second(gradient: &Gradient<f32>) -> &[f32] {
    &gradient.second
}
