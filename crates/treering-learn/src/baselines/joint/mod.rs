//! Joint: train from scratch on all tasks together. What a learner that may keep everything reaches; with the task given (protocol
//! `oracle`) it is the paper's Oracle.

use serde::{Deserialize, Serialize};
use treering_data::Progress;

use super::{Lesson, Seen, Training};
use crate::network::classifier::Classifier;
use crate::network::loss::{CrossEntropy, row_weights};
use crate::network::session::Session;
use crate::{Answer, LearnError, Learner, Query, Stages, Stored, TrainingTask};

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// Train anew after every task, so that the whole accuracy matrix is there; without, once at the end, which gives its last row alone.
    pub every_stage: bool,
    /// Let only the classes of a row's own task compete in the loss. The paper does not say which kind of joint training its Oracle is.
    pub task_loss: bool,
}

/// The learner. It keeps every task.
pub struct Joint {
    parameters: Parameters,
    tasks: Vec<TrainingTask>,
    seen: Seen,
    network: Option<Classifier>,
}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<Joint, LearnError> {
    parameters.training.check()?;
    Ok(Joint {
        parameters,
        tasks: Vec::new(),
        seen: Seen::default(),
        network: None,
    })
}

impl Joint {
    /// Sum over tasks of each one's cross entropy, from fresh weights and a fresh optimiser.
    fn train(&mut self, progress: &dyn Progress) -> Result<(), LearnError> {
        let Some(first) = self.tasks.first() else {
            return Ok(());
        };
        let training = &self.parameters.training;
        let mut network = training.network(first, 0);
        network.grow(self.seen.classes().max(training.outputs));
        let lesson = |(at, task)| Lesson::new(task, self.seen.columns(at), at, training);
        let lessons: Vec<Lesson<'_>> = self.tasks.iter().enumerate().map(lesson).collect();
        let weights: Vec<Vec<f32>> = lessons
            .iter()
            .map(|lesson| row_weights(&lesson.labels, training.balanced, 1.0))
            .collect();
        let sources = lessons.iter().map(Lesson::rows).collect();
        let mut session = Session::new(&mut network, sources, None);
        let mut gradient = session.no_gradient();
        progress.begin("learning all tasks together", training.epochs as u64);
        for _ in 0..training.epochs {
            gradient.clear();
            for (at, (lesson, weights)) in lessons.iter().zip(&weights).enumerate() {
                session.add_gradient(at, &mut gradient, |logits, slopes| {
                    self.loss(lesson, weights, logits, slopes)
                });
            }
            session.step(&mut gradient);
            progress.advance(1);
        }
        progress.end();
        session.finish();
        match network.is_finite() {
            true => self.network = Some(network),
            false => {
                return Err(LearnError::Diverged {
                    what: "the network",
                });
            }
        }
        Ok(())
    }

    fn loss(
        &self,
        lesson: &Lesson<'_>,
        weights: &[f32],
        logits: &[f32],
        slopes: &mut [f32],
    ) -> f64 {
        let outputs = self.seen.classes();
        // Classes of other tasks are shifted out of the competition.
        let shift: Option<Vec<f32>> = self.parameters.task_loss.then(|| {
            let own = |output: usize| lesson.columns.contains(&output);
            (0..outputs)
                .map(|output| if own(output) { 0.0 } else { f32::MIN / 4.0 })
                .collect()
        });
        CrossEntropy {
            labels: &lesson.labels,
            weights,
            columns: outputs,
            shift: shift.as_deref(),
        }
        .add(logits, slopes)
    }
}

impl Learner for Joint {
    fn name(&self) -> &str {
        "joint"
    }

    fn learn(&mut self, tasks: &[TrainingTask], progress: &dyn Progress) -> Result<(), LearnError> {
        for task in tasks {
            self.seen.add(task)?;
            self.tasks.push(task.clone());
        }
        self.train(progress)
    }

    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        let network = self.network.as_ref().ok_or(LearnError::Nothing)?;
        self.seen.check(query)?;
        self.seen
            .answers(query, &network.logits_of(query.graph(), &query.nodes))
    }

    fn stages(&self) -> Stages {
        match self.parameters.every_stage {
            true => Stages::Passing,
            false => Stages::LastOnly,
        }
    }

    fn stored(&self) -> Stored {
        let kept = |task: &TrainingTask| {
            (task.graph().features().non_zeros() + task.graph().arcs().len()) as u64
        };
        Stored {
            model: self
                .network
                .as_ref()
                .map_or(0, |network| network.numbers() as u64),
            memory: self.tasks.iter().map(kept).sum(),
        }
    }
}
