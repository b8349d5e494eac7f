//! Adam with the decay added to the gradient, as the published methods use it.

use std::ops::Range;

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

/// A spring on every parameter: its gradient is strength x (value - centre).
#[derive(Clone, Debug, PartialEq)]
pub struct Spring<T> {
    /// How strongly it pulls.
    pub strength: Vec<T>,
    /// Where to.
    pub centre: Vec<T>,
}

impl<T: Number> Spring<T> {
    /// Adds its gradient.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn add(&self, gradient: &mut [T], values: &[T]) {
        assert_eq!(
            self.strength.len(),
            values.len(),
            "one strength a parameter"
        );
        kernels::pull(gradient, values, &self.strength, &self.centre);
    }

    fn part(&self, part: Range<usize>) -> (&[T], &[T]) {
        (&self.strength[part.clone()], &self.centre[part])
    }

    /// The springs of some rows of `width`.
    pub(crate) fn pick(&self, rows: &[u32], width: usize) -> Self {
        Spring {
            strength: pick_rows(&self.strength, rows, width),
            centre: pick_rows(&self.centre, rows, width),
        }
    }
}

fn pick_rows<T: Copy>(values: &[T], rows: &[u32], width: usize) -> Vec<T> {
    let row = |&row: &u32| &values[row as usize * width..][..width];
    rows.iter().flat_map(row).copied().collect()
}

impl<T: Number> Trained<T> {
    /// More parameters, not trained yet.
    pub fn extend(&mut self, values: &[T]) {
        self.values.extend_from_slice(values);
        self.first.resize(self.values.len(), T::ZERO);
        self.second.resize(self.values.len(), T::ZERO);
    }

    /// Some rows of `width` parameters, with their running means.
    pub(crate) fn pick(&self, rows: &[u32], width: usize) -> Self {
        Trained {
            values: pick_rows(&self.values, rows, width),
            first: pick_rows(&self.first, rows, width),
            second: pick_rows(&self.second, rows, width),
        }
    }

    /// Puts rows back where [`Trained::pick`] took them from.
    pub(crate) fn put(&mut self, rows: &[u32], width: usize, from: &Self) {
        for (to, from) in [
            (&mut self.values, &from.values),
            (&mut self.first, &from.first),
            (&mut self.second, &from.second),
        ] {
            for (&row, from) in rows.iter().zip(from.chunks(width)) {
                to[row as usize * width..][..width].copy_from_slice(from);
            }
        }
    }

    /// Takes many steps on the rows of `width` that `moves` allows, with no gradient but the decay and a spring. Works each parameter out from
    /// start to end in registers, which is the same numbers without a pass over memory per step.
    pub(crate) fn coast(
        &mut self,
        width: usize,
        moves: impl Fn(usize) -> bool + Sync,
        steps: &[Step<T>],
        spring: Option<&Spring<T>>,
    ) {
        let moments = self
            .first
            .par_chunks_mut(width)
            .zip(self.second.par_chunks_mut(width));
        let rows = self.values.par_chunks_mut(width).zip(moments).enumerate();
        rows.with_min_len(16)
            .filter(|(row, _)| moves(*row))
            .for_each(|(row, (values, (first, second)))| {
                let part = row * width..row * width + values.len();
                let (strength, centre) = spring.map_or((&[][..], &[][..]), |s| s.part(part));
                kernels::coast(values, first, second, strength, centre, steps);
            });
    }
}

/// Parameters that no input ever reached: only the decay moves them.
pub fn decayed<T: Number>(values: &mut [T], adam: Adam, steps: usize) {
    if adam.decay == 0.0 {
        return;
    }
    const PIECE: usize = 4096;
    let steps: Vec<Step<T>> = (1..=steps).map(|count| adam.step(count)).collect();
    for values in values.chunks_mut(PIECE) {
        let (mut first, mut second) = ([T::ZERO; PIECE], [T::ZERO; PIECE]);
        let length = values.len();
        kernels::coast(
            values,
            &mut first[..length],
            &mut second[..length],
            &[],
            &[],
            &steps,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{Adam, Spring, Trained, decayed};

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

    #[test]
    fn coasting_on_a_spring_gives_the_same_bits_as_step_by_step() {
        let start: Vec<f32> = (0..40).map(|i| (i as f32 - 18.0) / 7.0).collect();
        let spring = Spring {
            strength: start.iter().map(|x| x * x).collect(),
            centre: start.iter().map(|x| 0.3 - x / 2.0).collect(),
        };
        let mut stepped = Trained::new(start);
        let bump: Vec<f32> = (0..40).map(|i| (i % 3) as f32 - 1.0).collect();
        stepped.follow(&bump, &ADAM.step(1));
        let mut coasted = stepped.clone();
        for count in 2..=30 {
            let mut gradient = vec![0.0; 40];
            spring.add(&mut gradient, &stepped.values);
            // The second of five rows stays where it is.
            let before = stepped.clone();
            stepped.follow(&gradient, &ADAM.step(count));
            stepped.put(&[1], 8, &before.pick(&[1], 8));
        }
        let steps: Vec<_> = (2..=30).map(|count| ADAM.step(count)).collect();
        coasted.coast(8, |row| row != 1, &steps, Some(&spring));
        assert_eq!(coasted.values, stepped.values);
        assert_eq!(coasted.second, stepped.second);
    }
}
