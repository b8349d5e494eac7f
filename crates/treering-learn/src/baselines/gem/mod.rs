//! GEM: a step that would raise the loss on stored rows of an old task is turned until it does not.

mod memory;
mod products;
mod settle;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Baseline, Beside, Lesson, Strategy, Training, Turn};
use crate::LearnError;
use crate::network::classifier::Classifier;
use crate::network::session::{Gradient, Session};
use crate::parameters::{count, range};
use memory::Kept;
use products::{Own, gram};
use settle::settle;

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// Rows kept of each task, of each of its classes as many where there are enough.
    pub memory_rows: usize,
    /// At least so much of every old task's gradient is added to a step that is turned.
    pub margin: f64,
    /// Added to the diagonal of the products of old gradients.
    pub epsilon: f64,
    /// Take epsilon times the mean square of the old gradients' lengths, so that it means the same for gradients of any size.
    pub relative_epsilon: bool,
    /// Keep the first train rows, class by class, as the benchmark's code does: where the first class has enough, of that alone.
    pub first_rows: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            training: Training::default(),
            memory_rows: 100,
            margin: 0.5,
            epsilon: 1e-3,
            relative_epsilon: false,
            first_rows: false,
        }
    }
}

/// The stored rows of every old task.
pub struct Gem {
    parameters: Parameters,
    memory: Vec<Kept>,
    /// Each old task's gradient in this step, in memory that is used again.
    gradients: Vec<Own>,
    /// Steps of this task that could not be turned to the accuracy asked for.
    unsettled: usize,
}

impl Gem {
    fn old_gradients(&mut self, session: &mut Session<'_, '_>) {
        let width = session.width();
        for at in self.gradients.len()..self.memory.len() {
            self.gradients.push(Own {
                places: session.places(at + 1),
                slopes: Gradient {
                    first: Vec::new(),
                    second: Vec::new(),
                },
                width,
            });
        }
        for (at, (kept, own)) in self.memory.iter().zip(&mut self.gradients).enumerate() {
            session.own_gradient(at + 1, &mut own.slopes, |logits, slopes| {
                kept.loss().add(logits, slopes)
            });
        }
    }

    /// Adds as much of the old tasks' gradients as it takes, if any is crossed.
    fn turn(&mut self, gradient: &mut Gradient<f32>) {
        let whole = &*gradient;
        let along: Vec<f64> = self
            .gradients
            .par_iter()
            .map(|own| own.along(whole))
            .collect();
        if along.iter().all(|&product| product >= 0.0) {
            return;
        }
        let mut gram = gram(&self.gradients);
        // What is not finite shows in the network itself at the end of the task.
        if along
            .iter()
            .chain(&gram)
            .any(|product| !product.is_finite())
        {
            return;
        }
        let tasks = along.len();
        let mean = (0..tasks).map(|at| gram[at * tasks + at]).sum::<f64>() / tasks as f64;
        let epsilon = match self.parameters.relative_epsilon {
            true => self.parameters.epsilon * mean,
            false => self.parameters.epsilon,
        };
        (0..tasks).for_each(|at| gram[at * tasks + at] += epsilon);
        let Some(added) = settle(&gram, &along, self.parameters.margin) else {
            self.unsettled += 1;
            return;
        };
        for (old, by) in self.gradients.iter().zip(added) {
            old.add_to(gradient, by as f32);
        }
    }
}

impl Strategy for Gem {
    fn before(&mut self, _: &Lesson<'_>, _: &Classifier) -> Result<Beside, LearnError> {
        Ok(Beside {
            sources: self.memory.iter().map(Kept::source).collect(),
            ..Beside::default()
        })
    }

    fn gradient(
        &mut self,
        session: &mut Session<'_, '_>,
        _: &Lesson<'_>,
        turn: &Turn,
        gradient: &mut Gradient<f32>,
    ) -> f64 {
        let loss = turn.add_loss(session, gradient);
        self.old_gradients(session);
        self.turn(gradient);
        loss
    }

    fn after(&mut self, _: &mut Session<'_, '_>, lesson: &Lesson<'_>) -> Result<(), LearnError> {
        self.gradients = Vec::new();
        let Parameters {
            memory_rows,
            first_rows,
            ..
        } = self.parameters;
        self.memory.push(Kept::of(lesson, memory_rows, first_rows));
        match std::mem::take(&mut self.unsettled) {
            0 => Ok(()),
            steps => Err(LearnError::Unsettled {
                steps,
                task: lesson.index + 1,
            }),
        }
    }

    fn memory(&self) -> u64 {
        self.memory.iter().map(Kept::numbers).sum()
    }
}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<Baseline<Gem>, LearnError> {
    count(
        "memory-rows",
        parameters.memory_rows,
        1..=1_000_000_000,
        "between 1 and 1000000000",
    )?;
    range("margin", parameters.margin, 0.0, 1e6, "between 0 and 1e6")?;
    range("epsilon", parameters.epsilon, 0.0, 1e6, "between 0 and 1e6")?;
    let training = parameters.training.clone();
    let strategy = Gem {
        parameters,
        memory: Vec::new(),
        gradients: Vec::new(),
        unsettled: 0,
    };
    Baseline::new("gem", training, strategy)
}

#[cfg(test)]
mod tests;
