//! Adam with the decay added to the gradient, as the published methods use it.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::kernels;
use super::number::Number;

/// How parameters follow their gradient.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    /// The length of a step.
    pub rate: f64,
    /// Times the parameter, added to its gradient.
    pub decay: f64,
}

const BETA: (f64, f64) = (0.9, 0.999);
const EPSILON: f64 = 1e-8;

/// The factors of one step.
#[derive(Clone, Copy)]
pub struct Step<T> {
    pub(super) decay: T,
    pub(super) keep: (T, T),
    pub(super) take: (T, T),
    pub(super) rate: T,
    pub(super) root: T,
    pub(super) epsilon: T,
}

impl Adam {
    /// The factors of step `count`, from 1.
    pub fn step<T: Number>(self, count: usize) -> Step<T> {
        let number = T::from_f64;
        let count = count as f64;
        Step {
            decay: number(self.decay),
            keep: (number(BETA.0), number(BETA.1)),
            take: (number(1.0 - BETA.0), number(1.0 - BETA.1)),
            rate: number(self.rate / (1.0 - BETA.0.powf(count))),
            root: number(1.0 / (1.0 - BETA.1.powf(count)).sqrt()),
            epsilon: number(EPSILON),
        }
    }
}

/// Parameters with the two running means of their gradient.
#[derive(Clone, Debug)]
pub struct Trained<T> {
    /// The parameters.
    pub values: Vec<T>,
    first: Vec<T>,
    second: Vec<T>,
}

impl<T: Number> Trained<T> {
    /// Not trained yet.
    pub fn new(values: Vec<T>) -> Self {
        Trained {
            first: vec![T::ZERO; values.len()],
            second: vec![T::ZERO; values.len()],
            values,
        }
    }

    /// Follows `gradient` one step.
    ///
    /// # Panics
    /// When the gradient has another length.
    pub fn follow(&mut self, gradient: &[T], step: &Step<T>) {
        self.follow_part(0, gradient, step);
    }

    /// As [`Trained::follow`], shared among threads.
    pub fn follow_together(&mut self, gradient: &[T], step: &Step<T>) {
        const PIECE: usize = 1 << 14;
        let moments = self
            .first
            .par_chunks_mut(PIECE)
            .zip(self.second.par_chunks_mut(PIECE));
        let values = self
            .values
            .par_chunks_mut(PIECE)
            .zip(gradient.par_chunks(PIECE));
        values
            .zip(moments)
            .for_each(|((values, gradient), (first, second))| {
                kernels::adam(values, first, second, gradient, step);
            });
    }

    /// Follows the gradient of the parameters from `start` on.
    pub(crate) fn follow_part(&mut self, start: usize, gradient: &[T], step: &Step<T>) {
        let part = start..start + gradient.len();
        kernels::adam(
            &mut self.values[part.clone()],
            &mut self.first[part.clone()],
            &mut self.second[part],
            gradient,
            step,
        );
    }
}

/// Parameters that no input ever reached: only the decay moves them. Works each out from start to end in registers, which is the
/// same numbers without a pass over memory per step.
pub fn decayed<T: Number>(values: &mut [T], adam: Adam, steps: usize) {
    if adam.decay == 0.0 {
        return;
    }
    let steps: Vec<Step<T>> = (1..=steps).map(|count| adam.step(count)).collect();
    kernels::decay(values, &steps);
}

#[cfg(test)]
mod tests {
    use super::{Adam, Trained, decayed};

    /// The textbook's form, one number at a time.
    fn textbook(mut p: f64, gradients: &[f64], adam: Adam) -> f64 {
        let (mut m, mut v) = (0.0, 0.0);
        for (t, gradient) in (1i32..).zip(gradients) {
            let g = gradient + adam.decay * p;
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let (m_hat, v_hat) = (m / (1.0 - 0.9f64.powi(t)), v / (1.0 - 0.999f64.powi(t)));
            p -= adam.rate * m_hat / (v_hat.sqrt() + 1e-8);
        }
        p
    }

    const ADAM: Adam = Adam {
        rate: 0.01,
        decay: 0.05,
    };

    #[test]
    fn steps_are_those_of_the_textbook() {
        let gradients: Vec<f64> = (0..20).map(|i| f64::from(i % 7) - 2.5).collect();
        let mut trained = Trained::new(vec![0.3f64, -1.0, 2.0]);
        for (count, &g) in gradients.iter().enumerate() {
            trained.follow(&[g, -g, 0.0], &ADAM.step(count + 1));
        }
        let negative: Vec<f64> = gradients.iter().map(|g| -g).collect();
        let right = [
            textbook(0.3, &gradients, ADAM),
            textbook(-1.0, &negative, ADAM),
            textbook(2.0, &[0.0; 20], ADAM),
        ];
        for (found, right) in trained.values.iter().zip(right) {
            assert!((found - right).abs() < 1e-12, "{found} {right}");
        }
    }

    #[test]
    fn untouched_parameters_decay_to_the_same_bits_as_step_by_step() {
        let start: Vec<f32> = (0..37).map(|i| (i as f32 - 18.0) / 7.0).collect();
        let mut trained = Trained::new(start.clone());
        for count in 1..=50 {
            trained.follow(&[0.0; 37], &ADAM.step(count));
        }
        let mut quick = start;
        decayed(&mut quick, ADAM, 50);
        assert_eq!(quick, trained.values);
    }
}
