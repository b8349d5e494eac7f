//! One number that says how nodes attend to their neighbours, and its slopes by the logits.

use serde::{Deserialize, Serialize};
use treering_graph::{Arcs, NodeId};

use crate::network::kernels::softmax;
use crate::network::number::Number;

/// What a score below 0 is multiplied by.
const LEAK: f64 = 0.2;

/// What stands for the topology. z are the logits of all classes seen, arcs run from j to i, and every node has one arc to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// The length of the vector of attention over all arcs: scores LeakyReLU(z_j . tanh z_i), made probabilities over the arcs into i.
    #[default]
    AsCoded,
    /// The sum over all arcs of (z_i . tanh z_j)^2.
    AsIntended,
}

impl Form {
    /// Adds the gradient by `logits`, a row of `outputs` for every node, to `slopes`; returns the number.
    pub fn add<T: Number>(
        self,
        arcs: &Arcs,
        logits: &[T],
        outputs: usize,
        slopes: &mut [T],
    ) -> f64 {
        let squashed: Vec<T> = logits
            .iter()
            .map(|logit| T::from_f64(logit.to_f64().tanh()))
            .collect();
        let rows = Rows {
            plain: logits,
            squashed: &squashed,
            outputs,
        };
        match self {
            Form::AsCoded => attention(arcs, &rows, slopes),
            Form::AsIntended => scores(arcs, &rows, slopes),
        }
    }
}

/// The sources of the arcs into a node, itself last and once.
fn sources(arcs: &Arcs, target: usize) -> impl Iterator<Item = usize> + '_ {
    let others = arcs.sources_of(NodeId(target as u32)).iter();
    others
        .map(|&source| source as usize)
        .filter(move |&source| source != target)
        .chain([target])
}

/// Logits of all nodes, and their hyperbolic tangents.
struct Rows<'a, T> {
    plain: &'a [T],
    squashed: &'a [T],
    outputs: usize,
}

impl<T: Number> Rows<'_, T> {
    fn at<'b>(&self, values: &'b [T], node: usize) -> &'b [T] {
        &values[node * self.outputs..][..self.outputs]
    }

    /// z_a . tanh z_b
    fn score(&self, a: usize, b: usize) -> T {
        let pairs = self.at(self.plain, a).iter().zip(self.at(self.squashed, b));
        pairs.fold(T::ZERO, |sum, (&a, &b)| sum + a * b)
    }

    /// Adds `slope` x the gradient of z_a . tanh z_b.
    fn add_slopes(&self, a: usize, b: usize, slope: T, slopes: &mut [T]) {
        for output in 0..self.outputs {
            let (at_a, at_b) = (a * self.outputs + output, b * self.outputs + output);
            let squashed = self.squashed[at_b];
            slopes[at_a] += slope * squashed;
            slopes[at_b] += slope * self.plain[at_a] * (T::ONE - squashed * squashed);
        }
    }
}

fn attention<T: Number>(arcs: &Arcs, rows: &Rows<'_, T>, slopes: &mut [T]) -> f64 {
    let leak = T::from_f64(LEAK);
    let shares_of = |target: usize| {
        let raw: Vec<T> = sources(arcs, target)
            .map(|source| rows.score(source, target))
            .collect();
        let leaky = |&score: &T| if score > T::ZERO { score } else { score * leak };
        let mut shares: Vec<T> = raw.iter().map(leaky).collect();
        softmax(&mut shares);
        (raw, shares)
    };
    let square = |share: &T| share.to_f64() * share.to_f64();
    let squares = |target: usize| shares_of(target).1.iter().map(square).sum::<f64>();
    let length = (0..arcs.nodes()).map(squares).sum::<f64>().sqrt();
    for target in 0..arcs.nodes() {
        // Worked out again: kept, the shares of all arcs would take more memory than the logits.
        let (raw, shares) = shares_of(target);
        let mean: f64 = shares.iter().map(square).sum();
        for (source, (&raw, &share)) in sources(arcs, target).zip(raw.iter().zip(&shares)) {
            let by_score = share.to_f64() * (share.to_f64() - mean) / length;
            let by_raw = if raw > T::ZERO {
                by_score
            } else {
                LEAK * by_score
            };
            rows.add_slopes(source, target, T::from_f64(by_raw), slopes);
        }
    }
    length
}

fn scores<T: Number>(arcs: &Arcs, rows: &Rows<'_, T>, slopes: &mut [T]) -> f64 {
    let mut sum = 0.0;
    for target in 0..arcs.nodes() {
        for source in sources(arcs, target) {
            let score = rows.score(target, source);
            sum += score.to_f64() * score.to_f64();
            rows.add_slopes(target, source, score + score, slopes);
        }
    }
    sum
}
