//! Contrastive pre-training of the backbone: two views of one graph go through it and through a projection head, and a node's
//! two images are drawn together against those of all other nodes.
//!
//! The projection head is Z = ELU(f(X) W3 + b3) W4 + b4. Nothing lies between W2 and W3, so both are multiplied first and
//! the nodes see W2 W3 alone: fewer flops for more than 256 nodes, and the same gradients by the product rule.

use faer::MatRef;
use rand::seq::index::sample;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use treering_data::{Progress, Purpose, random};
use treering_graph::{Arcs, Features, Room};

use super::adam::{Adam, Trained, decayed};
use super::backbone::{Backbone, uniform};
use super::contrast::Pair;
use super::dense::{Into, product, view};
use super::inputs::Inputs;
use super::kernels::{dot, elu};
use super::number::Number;
use super::spare::Spare;
use super::views::{Memory, View, fewer_arcs, fewer_columns};

/// How a backbone is pre-trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Contrastive {
    /// Passes over the graph. None leaves the backbone as it was drawn.
    pub epochs: usize,
    /// How the weights follow their gradient.
    pub adam: Adam,
    /// The share of arcs that the corrupted view lacks.
    pub edge_removal: f64,
    /// How those arcs are drawn.
    pub edge_mask: EdgeMask,
    /// The probability that the corrupted view lacks a feature column.
    pub attribute_masking: f64,
    /// Corrupt both views, instead of one.
    pub corrupt_both: bool,
    /// Divides similarities.
    pub temperature: f64,
    /// The most nodes that are contrasted with one another in an epoch; larger graphs are sampled anew every epoch.
    pub budget: usize,
    /// Contrast all nodes whatever their number. Time grows with its square, memory does not.
    pub exact: bool,
}

impl Default for Contrastive {
    fn default() -> Self {
        Contrastive {
            epochs: 200,
            adam: Adam {
                rate: 0.001,
                decay: 1e-5,
            },
            edge_removal: 0.2,
            edge_mask: EdgeMask::FixedCount,
            attribute_masking: 0.3,
            corrupt_both: false,
            temperature: 0.5,
            budget: 4096,
            exact: false,
        }
    }
}

/// How arcs are drawn for removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeMask {
    /// A fixed number of them, loops counted but spared: the published code.
    FixedCount,
    /// Each with the same probability: the paper's text.
    Bernoulli,
}

impl Contrastive {
    /// How many nodes an epoch contrasts, out of `nodes`.
    pub fn contrasted(&self, nodes: usize) -> usize {
        match self.exact {
            true => nodes,
            false => nodes.min(self.budget),
        }
    }
}

/// The network that is trained: the backbone's rows for the columns that are present, and the projection head.
struct Weights<T> {
    /// W1, W2, W3, b3, W4, b4.
    parts: [Vec<T>; 6],
    hidden: usize,
}

/// The projection head is this much wider than the backbone.
const WIDER: usize = 2;

impl<T: Number> Weights<T> {
    fn new(backbone: &Backbone<T>, present: &[u32], random: &mut rand_chacha::ChaCha8Rng) -> Self {
        let (hidden, wide) = (backbone.hidden, backbone.hidden * WIDER);
        let bound = |inputs: usize| 1.0 / (inputs as f64).sqrt();
        Weights {
            parts: [
                backbone.first_of(present),
                backbone.second.clone(),
                uniform(random, hidden * wide, bound(hidden)),
                uniform(random, wide, bound(hidden)),
                uniform(random, wide * hidden, bound(wide)),
                uniform(random, hidden, bound(wide)),
            ],
            hidden,
        }
    }

    /// The loss and its gradient by every part. `rows` are the nodes that are contrasted, all without.
    fn gradients(
        &self,
        inputs: &Inputs<T>,
        views: [&View<'_, T>; 2],
        rows: Option<&[usize]>,
        temperature: f64,
        memory: &mut (Memory<T>, Spare<T>),
    ) -> (f64, [Vec<T>; 6]) {
        let (memory, spare) = memory;
        let [w1, w2, w3, b3, w4, b4] = &self.parts;
        let (d, wide) = (self.hidden, self.hidden * WIDER);
        let nodes = rows.map_or(inputs.rows(), <[usize]>::len);
        let both = 2 * nodes;
        let multiply = |rows: usize, columns: usize, a: MatRef<'_, T>, b: MatRef<'_, T>| {
            let mut out = spare.any(rows * columns);
            product(&mut out, Into::Replace, a, b);
            out
        };

        // Both views one below the other.
        let mut hidden = spare.any(both * d);
        let (first, second) = hidden.split_at_mut(nodes * d);
        views[0].hidden(inputs, w1, d, rows, memory, first);
        views[1].hidden(inputs, w1, d, rows, memory, second);
        each_row(&mut hidden, d, |row| {
            row.iter_mut().for_each(|h| *h = relu(*h))
        });
        let folded = multiply(d, wide, view(w2, d, d), view(w3, d, wide));
        let mut inner = multiply(both, wide, view(&hidden, both, d), view(&folded, d, wide));
        each_row(&mut inner, wide, |row| elu(row, b3));
        let mut z = multiply(both, d, view(&inner, both, wide), view(w4, wide, d));
        let lengths = normalise(&mut z, b4);
        let (u, v) = z.split_at(nodes * d);
        let contrast = Pair { u, v, width: d }.contrast(temperature, spare);

        let mut dz = contrast.du;
        dz.extend_from_slice(&contrast.dv);
        through_length(&mut dz, &z, &lengths, d);
        let dw4 = multiply(
            wide,
            d,
            view(&inner, both, wide).transpose(),
            view(&dz, both, d),
        );
        let mut dinner = multiply(
            both,
            wide,
            view(&dz, both, d),
            view(w4, wide, d).transpose(),
        );
        zip_rows(&mut dinner, &inner, wide, |gradient, value| {
            // ELU's slope, from its value: 1 above 0, value + 1 below.
            let slope = if value > T::ZERO {
                T::ONE
            } else {
                value + T::ONE
            };
            *gradient *= slope;
        });
        let dfolded = multiply(
            d,
            wide,
            view(&hidden, both, d).transpose(),
            view(&dinner, both, wide),
        );
        let mut dhidden = multiply(
            both,
            d,
            view(&dinner, both, wide),
            view(&folded, d, wide).transpose(),
        );
        zip_rows(&mut dhidden, &hidden, d, |gradient, value| {
            *gradient = if value > T::ZERO { *gradient } else { T::ZERO };
        });
        let dw2 = multiply(d, d, view(&dfolded, d, wide), view(w3, d, wide).transpose());
        let dw3 = multiply(d, wide, view(w2, d, d).transpose(), view(&dfolded, d, wide));
        let mut dw1 = spare.zeros(w1.len());
        let (first, second) = dhidden.split_at(nodes * d);
        views[0].back(inputs, first, d, rows, memory, &mut dw1);
        views[1].back(inputs, second, d, rows, memory, &mut dw1);
        let gradients = [
            dw1,
            dw2,
            dw3,
            column_sums(&dinner, wide),
            dw4,
            column_sums(&dz, d),
        ];
        spare.keep([
            hidden,
            folded,
            inner,
            z,
            contrast.dv,
            dz,
            dinner,
            dfolded,
            dhidden,
        ]);
        (contrast.loss, gradients)
    }
}

fn relu<T: Number>(value: T) -> T {
    if value > T::ZERO { value } else { T::ZERO }
}

fn each_row<T: Number>(values: &mut [T], width: usize, work: impl Fn(&mut [T]) + Sync + Send) {
    values.par_chunks_mut(width).with_min_len(32).for_each(work);
}

fn zip_rows<T: Number>(into: &mut [T], from: &[T], width: usize, work: impl Fn(&mut T, T) + Sync) {
    let rows = into.par_chunks_mut(width).zip(from.par_chunks(width));
    rows.with_min_len(32).for_each(|(into, from)| {
        into.iter_mut()
            .zip(from)
            .for_each(|(into, &from)| work(into, from));
    });
}

/// Adds the bias, brings rows to length 1, and returns the lengths that they had.
fn normalise<T: Number>(z: &mut [T], bias: &[T]) -> Vec<T> {
    z.par_chunks_mut(bias.len())
        .with_min_len(32)
        .map(|row| {
            row.iter_mut().zip(bias).for_each(|(z, &bias)| *z += bias);
            // As torch does: a row of zeros stays one instead of becoming undefined.
            let length = dot(row, row).root();
            let length = if length > T::from_f64(1e-12) {
                length
            } else {
                T::from_f64(1e-12)
            };
            row.iter_mut().for_each(|z| *z /= length);
            length
        })
        .collect()
}

/// dz = (du - (du.u) u) / |z|, row by row.
fn through_length<T: Number>(gradient: &mut [T], unit: &[T], lengths: &[T], width: usize) {
    let rows = gradient.par_chunks_mut(width).zip(unit.par_chunks(width));
    rows.zip(lengths)
        .with_min_len(32)
        .for_each(|((gradient, unit), &length)| {
            let along = dot(gradient, unit);
            for (gradient, &unit) in gradient.iter_mut().zip(unit) {
                *gradient = (*gradient - along * unit) / length;
            }
        });
}

fn column_sums<T: Number>(values: &[T], width: usize) -> Vec<T> {
    let mut sums = vec![T::ZERO; width];
    for row in values.chunks(width) {
        sums.iter_mut()
            .zip(row)
            .for_each(|(sum, &value)| *sum += value);
    }
    sums
}

/// Trains `backbone` on a graph; labels play no part.
///
/// # Complexity
/// Per epoch O(m^2 hidden + m hidden^2 + (entries of X + arcs) hidden) for m contrasted nodes.
pub fn pretrain<T: Number>(
    backbone: &mut Backbone<T>,
    arcs: &Arcs,
    features: &Features,
    options: &Contrastive,
    seed: u64,
    progress: &dyn Progress,
) -> Vec<f64> {
    let inputs = Inputs::new(features);
    let arcs = arcs.filtered(|target, source| target != source);
    let (hidden, hops) = (backbone.hidden, backbone.hops);
    let contrasted = options.contrasted(inputs.rows());
    let plain = View::new(&arcs, None, &inputs, hidden, hops, contrasted);
    let mut start = random(seed, Purpose::Initialisation, 1);
    let mut weights = Weights::new(backbone, inputs.present(), &mut start);
    let mut trained = weights.parts.clone().map(Trained::new);
    let mut losses = Vec::with_capacity(options.epochs);
    let room = Memory {
        room: Room::new(),
        projected: Vec::new(),
    };
    let mut memory = (room, Spare::new());
    for epoch in 0..options.epochs {
        let mut draws = random(seed, Purpose::Augmentation, epoch as u64);
        let mut corrupt = || {
            let arcs = fewer_arcs(&arcs, options, &mut draws);
            let kept = fewer_columns(inputs.present().len(), options, &mut draws);
            (arcs, kept)
        };
        let (arcs_b, kept_b) = corrupt();
        let second = View::new(&arcs_b, Some(kept_b), &inputs, hidden, hops, contrasted);
        let corrupted = options.corrupt_both.then(corrupt);
        let first = corrupted.as_ref().map(|(arcs, kept)| {
            View::new(arcs, Some(kept.clone()), &inputs, hidden, hops, contrasted)
        });
        let first = first.as_ref().unwrap_or(&plain);
        let rows = (contrasted < inputs.rows()).then(|| {
            let mut draws = random(seed, Purpose::Sampling, epoch as u64);
            let mut rows = sample(&mut draws, inputs.rows(), contrasted).into_vec();
            rows.sort_unstable();
            rows
        });
        let (loss, gradients) = weights.gradients(
            &inputs,
            [first, &second],
            rows.as_deref(),
            options.temperature,
            &mut memory,
        );
        losses.push(loss);
        let step = options.adam.step(epoch + 1);
        for ((trained, gradient), part) in
            trained.iter_mut().zip(&gradients).zip(&mut weights.parts)
        {
            trained.follow_together(gradient, &step);
            part.copy_from_slice(&trained.values);
        }
        memory.1.keep(gradients);
        progress.advance(1);
    }
    let [first, second, ..] = weights.parts;
    decayed(&mut backbone.first, options.adam, options.epochs);
    for (&column, row) in inputs.present().iter().zip(first.chunks(hidden)) {
        backbone.first[column as usize * hidden..][..hidden].copy_from_slice(row);
    }
    backbone.second = second;
    losses
}

#[cfg(test)]
#[path = "pretrain_tests.rs"]
mod tests;
