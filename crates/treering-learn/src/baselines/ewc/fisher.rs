//! Estimates of the diagonal of the Fisher information, which EWC takes for the importance of weights.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::baselines::Lesson;
use crate::baselines::anchor::Importance;
use crate::network::kernels::softmax;
use crate::network::loss::CrossEntropy;
use crate::network::session::Session;
use crate::network::source::Source;

/// How the importance of a weight is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fisher {
    /// The square of the gradient of the task's loss: what the benchmark's code does. It nearly vanishes where training has converged.
    #[default]
    SquaredMean,
    /// The mean over train rows of the square of each row's own gradient, with its label as given.
    PerRow,
    /// As `per-row`, with a label that the network itself draws: the definition.
    PerRowSampled,
}

impl Fisher {
    /// The importance of each weight for a task that has just been trained. May leave other rows in source 0.
    pub(super) fn importance(
        self,
        session: &mut Session<'_, '_>,
        lesson: &Lesson<'_>,
    ) -> Importance {
        let mut gradient = session.no_gradient();
        if self == Fisher::SquaredMean {
            lesson.whole().add_loss(session, &mut gradient);
            return Importance::of(session, &gradient, |slope| slope * slope);
        }
        session.replace(0, Source::rows_of(&lesson.kept_rows()));
        let labels = match self {
            Fisher::PerRowSampled => drawn(session, lesson),
            _ => lesson.labels.clone(),
        };
        let rows = labels.len();
        let loss = CrossEntropy {
            labels: &labels,
            weights: &vec![1.0; rows],
            columns: lesson.columns.end,
            shift: None,
        };
        let ready = session.add_row_by_row(0, &mut gradient, square, |logits, slopes| {
            loss.add(logits, slopes)
        });
        debug_assert!(ready, "the rows were worked out above");
        Importance::of(session, &gradient, |sum| sum / rows as f64)
    }
}

fn square(value: f32) -> f32 {
    value * value
}

/// A class for each row of source 0, drawn with the network's probabilities.
fn drawn(session: &mut Session<'_, '_>, lesson: &Lesson<'_>) -> Vec<u32> {
    let mut random = lesson.random();
    let outputs = session.outputs();
    let mut rows = session.logits(0);
    rows.chunks_mut(outputs)
        .map(|row| {
            let row = &mut row[..lesson.columns.end];
            softmax(row);
            class_at(row, random.random::<f32>())
        })
        .collect()
}

/// The class whose share of 0..1 holds `point`.
fn class_at(probabilities: &[f32], point: f32) -> u32 {
    let mut sum = 0.0;
    let within = probabilities.iter().position(|probability| {
        sum += probability;
        point < sum
    });
    within.unwrap_or(probabilities.len() - 1) as u32
}

#[cfg(test)]
#[path = "fisher_tests.rs"]
mod tests;
