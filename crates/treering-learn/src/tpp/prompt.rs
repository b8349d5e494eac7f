//! Prompting: the tokens and the head of one task, trained on the frozen backbone.
//!
//! With X' = X + alpha Phi, alpha = softmax(X A^T + b), the backbone's first layer is S^h X' W1 = B + M (Phi W1) with B = S^h X W1
//! worked out once and M = S^h alpha. So an epoch propagates k columns instead of all features, multiplies by the hidden
//! layer only where there is loss, and folds W2 into the head.
//!
//! What is left is Phi W1 and its gradient, two products with all of W1. [`super::together`] takes both in one pass over W1,
//! for all tasks that are learned at once.

use rayon::prelude::*;
use treering_data::{Large, Purpose, random};
use treering_graph::{Propagation, Room, Side};

use super::parameters::TppParameters;
use crate::network::adam::{Step, Trained, decayed};
use crate::network::backbone::{Backbone, uniform};
use crate::network::dense::Into;
use crate::network::inputs::Inputs;
use crate::network::kernels::{Rows, Sums, add_scaled, dot, prompted_rows, softmax_rows};
use crate::network::number::Number;
use crate::{LearnError, TrainingTask};

/// Rows that one thread works on at a time.
const PIECE: usize = 256;

/// The tokens of a task and the scores that mix them.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt<T = f32> {
    /// How many tokens.
    pub count: usize,
    /// Phi: `count` rows of one number per feature column.
    pub tokens: Vec<T>,
    /// A: `count` rows of one number per feature column.
    pub scorer: Vec<T>,
    /// b.
    pub bias: Vec<T>,
}

/// The classifier of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Head<T = f32> {
    /// One row of the hidden width per class.
    pub weights: Vec<T>,
    /// One number per class.
    pub bias: Vec<T>,
}

impl<T: Number> Prompt<T> {
    /// The prompt of `count` tokens that every task starts from.
    pub fn start(parameters: &TppParameters, count: usize, features: usize) -> Self {
        let mut random = random(parameters.seed, Purpose::Initialisation, 2);
        let bound = 1.0 / (features as f64).sqrt();
        let tokens_bound = (6.0 / (count + features) as f64).sqrt();
        let tokens = uniform(&mut random, count * features, tokens_bound);
        let scorer = uniform(&mut random, count * features, bound);
        let mut bias = uniform(&mut random, count, bound);
        if parameters.scorer_without_bias {
            bias.fill(T::ZERO);
        }
        Prompt {
            count,
            tokens,
            scorer,
            bias,
        }
    }
}

impl<T: Number> Head<T> {
    /// The head that every task of as many classes starts from.
    pub fn start(seed: u64, hidden: usize, classes: usize) -> Self {
        let mut random = random(seed, Purpose::Initialisation, 3);
        let bound = (6.0 / (hidden + classes) as f64).sqrt();
        Head {
            weights: uniform(&mut random, classes * hidden, bound),
            bias: vec![T::ZERO; classes],
        }
    }
}

/// One task in training: everything but its tokens, which live in [`super::together`].
pub(crate) struct Session<'a, T> {
    parameters: &'a TppParameters,
    backbone: &'a Backbone<T>,
    propagation: Propagation<'a>,
    inputs: Inputs<T>,
    train: Vec<usize>,
    labels: Vec<u32>,
    weights: Vec<T>,
    /// B on the train rows, each padded to the width of W1's rows in [`super::together`].
    base: Large<T>,
    width: usize,
    count: usize,
    start: Prompt<T>,
    /// Of the present columns, one row a column.
    scorer: Trained<T>,
    bias: Trained<T>,
    head: Trained<T>,
    head_bias: Trained<T>,
    head_frozen: bool,
    /// Phi W1, as the last pass left it.
    pub(crate) product: Vec<T>,
    /// The gradient by it.
    pub(crate) slope: Vec<T>,
    room: Room<T>,
}

/// Gradients by everything but the tokens.
pub(crate) struct Slopes<T> {
    pub(crate) loss: f64,
    pub(crate) scorer: Vec<T>,
    pub(crate) bias: Vec<T>,
    pub(crate) head: Vec<T>,
    pub(crate) head_bias: Vec<T>,
}

impl<'a, T: Number> Session<'a, T> {
    /// `count` tokens, none for a head alone; `head` to start from, frozen or not.
    pub(crate) fn new(
        parameters: &'a TppParameters,
        backbone: &'a Backbone<T>,
        task: &'a TrainingTask,
        count: usize,
        head: Head<T>,
        head_frozen: bool,
        width: usize,
    ) -> Result<Self, LearnError> {
        let graph = task.graph();
        let propagation = Propagation::new(graph.arcs());
        let inputs = Inputs::new(graph.features());
        let train: Vec<usize> = task.train().nodes.iter().map(|node| node.index()).collect();
        let base = backbone.hidden_layer(&inputs, &propagation, &train)?;
        let base = padded_rows(base, backbone.hidden, width)?;
        let start = Prompt::start(parameters, count, backbone.features);
        let columns = inputs.present();
        let scorer = columns
            .iter()
            .flat_map(|&column| (0..count).map(move |token| (token, column as usize)))
            .map(|(token, column)| start.scorer[token * backbone.features + column])
            .collect();
        Ok(Session {
            weights: class_weights(
                &task.train().classes,
                head.bias.len(),
                parameters.balanced_loss,
            ),
            labels: task.train().classes.clone(),
            bias: Trained::new(start.bias.clone()),
            scorer: Trained::new(scorer),
            head: Trained::new(head.weights),
            head_bias: Trained::new(head.bias),
            product: vec![T::ZERO; count * width],
            slope: vec![T::ZERO; count * width],
            room: Room::new(),
            parameters,
            backbone,
            propagation,
            inputs,
            train,
            base,
            width,
            count,
            start,
            head_frozen,
        })
    }

    /// The tokens to start from.
    pub(crate) fn tokens(&self) -> &[T] {
        &self.start.tokens
    }

    /// One epoch: all but the tokens follow their gradient, and `slope` holds what the tokens need to follow theirs.
    pub(crate) fn epoch(&mut self, step: &Step<T>) -> f64 {
        let slopes = self.gradients();
        if self.count > 0 {
            self.scorer.follow(&slopes.scorer, step);
            if !self.parameters.scorer_without_bias {
                self.bias.follow(&slopes.bias, step);
            }
        }
        if !self.head_frozen {
            self.head.follow(&slopes.head, step);
            self.head_bias.follow(&slopes.head_bias, step);
        }
        slopes.loss
    }

    /// The loss and its gradients; that by Phi W1 goes to `slope`.
    pub(crate) fn gradients(&mut self) -> Slopes<T> {
        let alpha = shares(&self.inputs, &self.scorer.values, &self.bias.values);
        let smooth = match self.count {
            0 => &[][..],
            count => self.propagation.smooth_in(
                &mut self.room,
                Side::Forward,
                &alpha,
                count,
                self.backbone.hops,
            ),
        };
        let mixed = crate::network::backbone::pick(smooth, self.count, &self.train);
        let folded = fold_head(self.backbone, &self.head.values, self.width);
        let mut by_mixed = vec![T::ZERO; mixed.len()];
        let sums = self.rows(&mixed, &folded, &mut by_mixed);
        self.slope.copy_from_slice(&sums.product);
        let (scorer, bias) = self.through_shares(&alpha, &by_mixed);
        Slopes {
            loss: sums.loss,
            scorer,
            bias,
            head: unfold_head(self.backbone, &sums.folded, self.width),
            head_bias: sums.bias,
        }
    }

    /// All train rows, in pieces whose sums are added up in order.
    fn rows(&self, mixed: &[T], folded: &[T], by_mixed: &mut [T]) -> Sums<T> {
        let piece = |at: usize| {
            let range = at * PIECE..((at + 1) * PIECE).min(self.train.len());
            Rows {
                base: &self.base[range.start * self.width..range.end * self.width],
                shares: &mixed[range.start * self.count..range.end * self.count],
                product: &self.product,
                folded,
                bias: &self.head_bias.values,
                labels: &self.labels[range],
                weights: &self.weights,
            }
        };
        let work = |at: usize, by_mixed: &mut [T]| {
            let rows = piece(at);
            let mut sums = Sums::none(&rows);
            prompted_rows(&rows, &mut sums, by_mixed);
            sums
        };
        let pieces = self.train.len().div_ceil(PIECE);
        let parts: Vec<Sums<T>> = match self.count {
            0 => (0..pieces)
                .into_par_iter()
                .map(|at| work(at, &mut []))
                .collect(),
            count => by_mixed
                .par_chunks_mut(PIECE * count)
                .enumerate()
                .map(|(at, by)| work(at, by))
                .collect(),
        };
        let mut total = Sums::none(&piece(0));
        parts.iter().for_each(|part| total.add(part));
        total
    }

    /// From the gradient by M on the train rows to those by A (present columns) and b.
    fn through_shares(&mut self, alpha: &[T], by_mixed: &[T]) -> (Vec<T>, Vec<T>) {
        let count = self.count;
        if count == 0 {
            return (Vec::new(), Vec::new());
        }
        let mut spread = vec![T::ZERO; alpha.len()];
        for (&row, by) in self.train.iter().zip(by_mixed.chunks(count)) {
            spread[row * count..(row + 1) * count].copy_from_slice(by);
        }
        let by_alpha = self.propagation.smooth_in(
            &mut self.room,
            Side::Transposed,
            &spread,
            count,
            self.backbone.hops,
        );
        // d score = alpha (d alpha - sum alpha d alpha)
        let mut by_score = vec![T::ZERO; alpha.len()];
        let mut bias = vec![T::ZERO; count];
        for ((out, alpha), by_alpha) in by_score
            .chunks_mut(count)
            .zip(alpha.chunks(count))
            .zip(by_alpha.chunks(count))
        {
            let mut mean = T::ZERO;
            for (&alpha, &by) in alpha.iter().zip(by_alpha) {
                mean += alpha * by;
            }
            for (token, out) in out.iter_mut().enumerate() {
                *out = alpha[token] * (by_alpha[token] - mean);
                bias[token] += *out;
            }
        }
        let mut scorer = Vec::new();
        self.inputs
            .transposed_times(&by_score, count, None, Into::Replace, &mut scorer);
        (scorer, bias)
    }

    /// What was learned, with the tokens that were trained apart.
    pub(crate) fn finish(self, tokens: Vec<T>) -> (Option<Prompt<T>>, Head<T>) {
        let head = Head {
            weights: self.head.values,
            bias: self.head_bias.values,
        };
        if self.count == 0 {
            return (None, head);
        }
        let features = self.backbone.features;
        let mut scorer = self.start.scorer;
        decayed(&mut scorer, self.parameters.adam, self.parameters.epochs);
        for (&column, row) in self
            .inputs
            .present()
            .iter()
            .zip(self.scorer.values.chunks(self.count))
        {
            for (token, &value) in row.iter().enumerate() {
                scorer[token * features + column as usize] = value;
            }
        }
        let prompt = Prompt {
            count: self.count,
            tokens,
            scorer,
            bias: self.bias.values,
        };
        (Some(prompt), head)
    }
}

/// alpha = softmax(X A^T + b), one row a node; `scorer` holds A for the present columns, one row a column.
pub(crate) fn shares<T: Number>(inputs: &Inputs<T>, scorer: &[T], bias: &[T]) -> Vec<T> {
    let mut scores = Vec::new();
    if bias.is_empty() {
        return scores;
    }
    inputs.times(scorer, bias.len(), None, &mut scores);
    scores
        .par_chunks_mut(1024 * bias.len())
        .for_each(|rows| softmax_rows(rows, bias));
    scores
}

/// Rows of `from` numbers, with zeros up to `to`.
pub(crate) fn padded<T: Number>(rows: &[T], from: usize, to: usize) -> Vec<T> {
    if from == to {
        return rows.to_vec();
    }
    let mut padded = vec![T::ZERO; rows.len() / from * to];
    for (into, row) in padded.chunks_mut(to).zip(rows.chunks(from)) {
        into[..from].copy_from_slice(row);
    }
    padded
}

/// The same for rows that may lie in a file; those that are wide enough stay where they are.
pub(crate) fn padded_rows<T: Number>(
    rows: Large<T>,
    from: usize,
    to: usize,
) -> Result<Large<T>, LearnError> {
    if from == to {
        return Ok(rows);
    }
    let mut padded = Large::zeros(rows.len() / from * to)?;
    padded.fill(to, |some, padded| {
        let rows = rows[some.start * from..].chunks(from);
        for (into, row) in padded.chunks_mut(to).zip(rows) {
            into[..from].copy_from_slice(row);
        }
    });
    Ok(padded)
}

/// W2 times the head, one padded row a class.
pub(crate) fn fold_head<T: Number>(backbone: &Backbone<T>, head: &[T], width: usize) -> Vec<T> {
    let d = backbone.hidden;
    let mut folded = vec![T::ZERO; head.len() / d * width];
    for (out, head) in folded.chunks_mut(width).zip(head.chunks(d)) {
        for (out, row) in out.iter_mut().zip(backbone.second.chunks(d)) {
            *out = dot(row, head);
        }
    }
    folded
}

/// The gradient by the head from that by W2 times the head.
fn unfold_head<T: Number>(backbone: &Backbone<T>, by_folded: &[T], width: usize) -> Vec<T> {
    let d = backbone.hidden;
    let mut by_head = vec![T::ZERO; by_folded.len() / width * d];
    for (out, by) in by_head.chunks_mut(d).zip(by_folded.chunks(width)) {
        for (&by, row) in by.iter().zip(backbone.second.chunks(d)) {
            add_scaled(out, by, row);
        }
    }
    by_head
}

/// The weight of each class in the loss: the mean over nodes, or over classes of their means.
fn class_weights<T: Number>(labels: &[u32], classes: usize, balanced: bool) -> Vec<T> {
    let mut counts = vec![0usize; classes];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    counts
        .iter()
        .map(|&count| match balanced {
            true => 1.0 / (classes * count.max(1)) as f64,
            false => 1.0 / labels.len() as f64,
        })
        .map(T::from_f64)
        .collect()
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
