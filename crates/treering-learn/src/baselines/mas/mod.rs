//! MAS: as EWC, but a weight matters as much as it moves the network's outputs, so no labels are needed, and all weights are pulled to
//! where the last task left them.

use serde::{Deserialize, Serialize};

use super::anchor::Importance;
use super::{Baseline, Beside, Lesson, Strategy, Training};
use crate::LearnError;
use crate::network::classifier::Classifier;
use crate::network::number::Number;
use crate::network::session::Session;
use crate::network::source::Source;
use crate::parameters::range;

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// How strong the pull is.
    pub lambda: f64,
    /// Measure importance as the method was first published: the mean over rows of the size of each row's gradient. Without, as the
    /// benchmark's code does: the square of the mean gradient. Always over all train rows of a task at once.
    pub original: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            training: Training::default(),
            lambda: 1e4,
            original: false,
        }
    }
}

/// The mean importance over all rows seen so far.
pub struct Mas {
    lambda: f64,
    original: bool,
    importance: Importance,
    rows: usize,
}

impl Mas {
    fn task_importance(&self, session: &mut Session<'_, '_>, lesson: &Lesson<'_>) -> Importance {
        let (rows, columns) = (lesson.labels.len(), lesson.columns.end);
        let mut gradient = session.no_gradient();
        if !self.original {
            session.add_gradient(0, &mut gradient, |logits, slopes| {
                let weight = 1.0 / (rows * columns) as f64;
                add_squares(logits, rows, columns, weight, slopes)
            });
            return Importance::of(session, &gradient, |slope| slope * slope);
        }
        session.replace(0, Source::rows_of(&lesson.kept_rows()));
        let ready = session.add_row_by_row(0, &mut gradient, f32::abs, |logits, slopes| {
            add_squares(logits, rows, columns, 1.0, slopes)
        });
        debug_assert!(ready, "the rows were worked out above");
        Importance::of(session, &gradient, |sum| sum / rows as f64)
    }
}

/// weight x the sum of squares of the first columns of all rows of logits, and its slopes by them.
fn add_squares<T: Number>(
    logits: &[T],
    rows: usize,
    columns: usize,
    weight: f64,
    slopes: &mut [T],
) -> f64 {
    let outputs = logits.len() / rows;
    let factor = T::from_f64(2.0 * weight);
    let mut sum = 0.0;
    for (logits, slopes) in logits.chunks(outputs).zip(slopes.chunks_mut(outputs)) {
        for (slope, &logit) in slopes.iter_mut().zip(&logits[..columns]) {
            *slope += factor * logit;
            sum += logit.to_f64() * logit.to_f64();
        }
    }
    weight * sum
}

impl Strategy for Mas {
    fn before(&mut self, _: &Lesson<'_>, network: &Classifier) -> Result<Beside, LearnError> {
        Ok(Beside {
            springs: self.importance.springs_at(self.lambda, network),
            ..Beside::default()
        })
    }

    fn after(
        &mut self,
        session: &mut Session<'_, '_>,
        lesson: &Lesson<'_>,
    ) -> Result<(), LearnError> {
        let new = self.task_importance(session, lesson);
        let rows = self.rows + lesson.labels.len();
        let share = |part: usize| part as f64 / rows as f64;
        self.importance
            .blend(share(self.rows), &new, share(lesson.labels.len()));
        self.rows = rows;
        Ok(())
    }

    /// The importances, and the weights that the next task is pulled to.
    fn memory(&self) -> u64 {
        2 * self.importance.numbers()
    }
}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<Baseline<Mas>, LearnError> {
    let Parameters {
        training,
        lambda,
        original,
    } = parameters;
    range("lambda", lambda, 0.0, 1e15, "between 0 and 1e15")?;
    let strategy = Mas {
        lambda,
        original,
        importance: Importance::default(),
        rows: 0,
    };
    Baseline::new("mas", training, strategy)
}

#[cfg(test)]
mod tests;
