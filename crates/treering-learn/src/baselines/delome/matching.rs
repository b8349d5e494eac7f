//! What DeLoMe matches: the gradient that a random network gets from real rows of a class, and from synthetic ones.
//!
//! Here W1 has a row a feature column and W2 a row a class, as in the network that is trained.

use super::Loss;
use crate::baselines::condense::Real;
use crate::network::dense::{Into, product, view};
use crate::network::kernels::{dot, softmax};
use crate::network::number::Number;

/// A random network.
pub struct Net<'a, T> {
    /// W1.
    pub first: &'a [T],
    /// W2.
    pub second: &'a [T],
    /// Width of the hidden layer.
    pub hidden: usize,
}

/// A pass of rows of one class through a network, and back to the hidden layer; for the mean loss of the rows times their number.
#[derive(Default)]
pub struct Pass<T> {
    /// H, after the ReLU.
    layer: Vec<T>,
    /// The probabilities of the classes.
    probabilities: Vec<T>,
    /// Slopes by the logits.
    delta: Vec<T>,
    /// Slopes by X W1.
    back: Vec<T>,
}

impl<T: Number> Net<'_, T> {
    fn outputs(&self) -> usize {
        self.second.len() / self.hidden
    }

    /// Completes a pass whose `layer` is X W1.
    fn pass(&self, pass: &mut Pass<T>, label: usize, loss: Loss) {
        let (hidden, outputs) = (self.hidden, self.outputs());
        let rows = pass.layer.len() / hidden;
        for value in &mut pass.layer {
            *value = if *value > T::ZERO { *value } else { T::ZERO };
        }
        let second = view(self.second, outputs, hidden);
        pass.probabilities.clear();
        pass.probabilities.resize(rows * outputs, T::ZERO);
        if loss == Loss::CrossEntropy {
            let layer = view(&pass.layer, rows, hidden);
            product(
                &mut pass.probabilities,
                Into::Replace,
                layer,
                second.transpose(),
            );
            pass.probabilities.chunks_mut(outputs).for_each(softmax);
        }
        // The slope of minus a logit does not depend on the other logits, as if they had no probability.
        pass.delta.clone_from(&pass.probabilities);
        for delta in pass.delta.chunks_mut(outputs) {
            delta[label] -= T::ONE;
        }
        pass.back.resize(rows * hidden, T::ZERO);
        product(
            &mut pass.back,
            Into::Replace,
            view(&pass.delta, rows, outputs),
            second,
        );
        mask(&mut pass.back, &pass.layer);
    }
}

fn mask<T: Number>(slopes: &mut [T], layer: &[T]) {
    for (slope, &h) in slopes.iter_mut().zip(layer) {
        // A choice of values, not of stores: the compiler makes vectors of it.
        *slope = if h > T::ZERO { *slope } else { T::ZERO };
    }
}

/// Memory that every network uses again.
#[derive(Default)]
pub struct Desk<T> {
    real: Pass<T>,
    own: Pass<T>,
    /// The synthetic rows' gradient less the real rows', by W1 and by W2.
    first: Vec<T>,
    second: Vec<T>,
    /// X~ R1, then the slopes that go back through W1.
    layer: Vec<T>,
    outputs: Vec<T>,
}

/// Synthetic rows of one class and what they are matched under.
pub struct Matching<'a, T> {
    /// The rows.
    pub values: &'a [T],
    /// How many.
    pub rows: usize,
    /// The network.
    pub net: Net<'a, T>,
    /// The class's output.
    pub label: usize,
    /// The loss whose gradients are matched.
    pub loss: Loss,
    /// What the class counts.
    pub weight: f64,
}

impl<T: Number> Matching<'_, T> {
    /// Writes the gradient by the synthetic rows; returns weight x ||g_syn - g_real||^2.
    pub fn gradient(&self, real: &mut Real<'_, T>, desk: &mut Desk<T>, out: &mut [T]) -> f64 {
        self.differ(real, desk);
        let square = dot(&desk.first, &desk.first) + dot(&desk.second, &desk.second);
        let (net, rows) = (&self.net, self.rows);
        let (hidden, outputs) = (net.hidden, net.outputs());
        let columns = net.first.len() / hidden;
        let Desk {
            own,
            first,
            second,
            layer,
            outputs: w,
            ..
        } = desk;
        let first = view(first, columns, hidden);
        let second = view(second, outputs, hidden);
        let w2 = view(net.second, outputs, hidden);
        // w = H R2^T + [m (X~ R1)] W2^T
        layer.resize(rows * hidden, T::ZERO);
        product(
            layer,
            Into::Replace,
            view(self.values, rows, columns),
            first,
        );
        mask(layer, &own.layer);
        w.resize(rows * outputs, T::ZERO);
        let h = view(&own.layer, rows, hidden);
        product(w, Into::Replace, h, second.transpose());
        product(w, Into::Add, view(layer, rows, hidden), w2.transpose());
        // J w = p (w - p.w); zero where the loss is linear in the logits.
        let pairs = w.chunks_mut(outputs).zip(own.probabilities.chunks(outputs));
        for (w, p) in pairs {
            let mean = dot(w, p);
            w.iter_mut().zip(p).for_each(|(w, &p)| *w = p * (*w - mean));
        }
        // U = m (delta R2 + (J w) W2)
        let delta = view(&own.delta, rows, outputs);
        product(layer, Into::Replace, delta, second);
        product(layer, Into::Add, view(w, rows, outputs), w2);
        mask(layer, &own.layer);
        let u = view(layer, rows, hidden);
        let w1 = view(net.first, columns, hidden);
        product(out, Into::Replace, u, w1.transpose());
        let back = view(&own.back, rows, hidden);
        product(out, Into::Add, back, first.transpose());
        let factor = T::from_f64(2.0 * self.weight / rows as f64);
        out.iter_mut().for_each(|value| *value *= factor);
        self.weight * square.to_f64()
    }

    /// Leaves R1 and R2 on the desk, and the synthetic rows' pass.
    fn differ(&self, real: &mut Real<'_, T>, desk: &mut Desk<T>) {
        let (net, rows) = (&self.net, self.rows);
        let (hidden, outputs) = (net.hidden, net.outputs());
        let columns = net.first.len() / hidden;
        let x = view(self.values, rows, columns);
        desk.own.layer.resize(rows * hidden, T::ZERO);
        let w1 = view(net.first, columns, hidden);
        product(&mut desk.own.layer, Into::Replace, x, w1);
        net.pass(&mut desk.own, self.label, self.loss);
        real.times(net.first, hidden, &mut desk.real.layer);
        net.pass(&mut desk.real, self.label, self.loss);

        let own = T::from_f64(1.0 / rows as f64);
        desk.second.clear();
        desk.second.resize(outputs * hidden, T::ZERO);
        for (pass, each) in [
            (&desk.own, own),
            (&desk.real, -T::from_f64(1.0 / real.source.rows() as f64)),
        ] {
            let count = pass.layer.len() / hidden;
            let delta: Vec<T> = pass.delta.iter().map(|&delta| delta * each).collect();
            product(
                &mut desk.second,
                Into::Add,
                view(&delta, count, outputs).transpose(),
                view(&pass.layer, count, hidden),
            );
        }
        let scaled: Vec<T> = desk.own.back.iter().map(|&back| back * own).collect();
        desk.first.resize(columns * hidden, T::ZERO);
        product(
            &mut desk.first,
            Into::Replace,
            x.transpose(),
            view(&scaled, rows, hidden),
        );
        let each = T::from_f64(1.0 / real.source.rows() as f64);
        desk.real.back.iter_mut().for_each(|back| *back *= each);
        real.subtract_transposed(&desk.real.back, hidden, &mut desk.first);
    }
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
