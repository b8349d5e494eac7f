//! What holds the weights of old tasks: an importance for every weight, and where it is pulled to.
//!
//! A sum of quadratic pulls is one quadratic pull: sum_j F_j (w - w_j)^2 = O (w - c)^2 + a constant, with O = sum_j F_j and c the mean of
//! the w_j weighted by F_j. So any number of tasks takes two numbers a weight. Both are f64: importances of tasks differ by many powers
//! of ten, and c would stand still otherwise.

use crate::network::adam::Spring;
use crate::network::classifier::Classifier;
use crate::network::session::{Gradient, Session, Springs};

/// How much each weight of a network matters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Importance {
    /// Of W1, whole.
    pub first: Vec<f64>,
    /// Of W2, for the classes seen so far.
    pub second: Vec<f64>,
}

impl Importance {
    /// From a gradient of a session, number by number. Weights that the session does not read get what `change` makes of 0.
    pub fn of(
        session: &Session<'_, '_>,
        gradient: &Gradient<f32>,
        change: impl Fn(f64) -> f64,
    ) -> Self {
        let whole = session.spread(gradient);
        let changed =
            |values: &[f32]| -> Vec<f64> { values.iter().map(|&x| change(f64::from(x))).collect() };
        Importance {
            first: changed(&whole.first),
            second: changed(&whole.second),
        }
    }

    /// own x self + other x `by`. Weights that are new here count as 0 before.
    pub fn blend(&mut self, own: f64, other: &Importance, by: f64) {
        for (into, from) in [
            (&mut self.first, &other.first),
            (&mut self.second, &other.second),
        ] {
            into.resize(from.len().max(into.len()), 0.0);
            into.iter_mut().for_each(|value| *value *= own);
            into.iter_mut()
                .zip(from)
                .for_each(|(value, &from)| *value += by * from);
        }
    }

    /// How many numbers.
    pub fn numbers(&self) -> u64 {
        (self.first.len() + self.second.len()) as u64
    }

    /// Springs whose energy is lambda x importance x (weight - weight now)^2; none where nothing has been learned.
    pub fn springs_at(&self, lambda: f64, network: &Classifier) -> Option<Springs> {
        let spring = |strength: &[f64], centre: &[f32]| Spring {
            strength: strengths(lambda, strength),
            centre: centre[..strength.len()].to_vec(),
        };
        (self.numbers() > 0).then(|| Springs {
            first: spring(&self.first, network.first()),
            second: spring(&self.second, network.second()),
        })
    }
}

fn strengths(lambda: f64, importance: &[f64]) -> Vec<f32> {
    importance
        .iter()
        .map(|&importance| (2.0 * lambda * importance) as f32)
        .collect()
}

/// The pulls of all tasks learned so far, as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Anchor {
    importance: Importance,
    centre: Importance,
}

impl Anchor {
    /// Adds the pull of a task that ended with the weights of a session. Of weights that the session does not read the importance has to be
    /// 0, and their values are not asked for.
    pub fn add(&mut self, importance: &Importance, session: &Session<'_, '_>) {
        let (first, second) = session.weights();
        let weights = Gradient {
            first: first.to_vec(),
            second: second.to_vec(),
        };
        self.add_weights(importance, &Importance::of(session, &weights, |w| w));
    }

    fn add_weights(&mut self, importance: &Importance, weights: &Importance) {
        let layers = [
            (
                (&mut self.importance.first, &mut self.centre.first),
                (&importance.first, &weights.first),
            ),
            (
                (&mut self.importance.second, &mut self.centre.second),
                (&importance.second, &weights.second),
            ),
        ];
        for ((sums, centres), (importance, weights)) in layers {
            sums.resize(weights.len(), 0.0);
            centres.resize(weights.len(), 0.0);
            let old = sums.iter_mut().zip(centres);
            for ((sum, centre), (&new, &weight)) in old.zip(importance.iter().zip(weights)) {
                let both = *sum + new;
                match *sum > 0.0 {
                    true => *centre += new / both * (weight - *centre),
                    false => *centre = weight,
                }
                *sum = both;
            }
        }
    }

    /// Springs whose energy is, up to a constant, lambda x the sum over tasks of importance x (weight - weight then)^2; none before the
    /// first task.
    pub fn springs(&self, lambda: f64) -> Option<Springs> {
        let spring = |importance: &[f64], centre: &[f64]| Spring {
            strength: strengths(lambda, importance),
            centre: centre.iter().map(|&centre| centre as f32).collect(),
        };
        (self.numbers() > 0).then(|| Springs {
            first: spring(&self.importance.first, &self.centre.first),
            second: spring(&self.importance.second, &self.centre.second),
        })
    }

    /// How many numbers are kept.
    pub fn numbers(&self) -> u64 {
        self.importance.numbers() + self.centre.numbers()
    }
}

#[cfg(test)]
#[path = "anchor_tests.rs"]
mod tests;
