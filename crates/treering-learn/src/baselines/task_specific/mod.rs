//! Task-specific models: a network of its own for every task, chosen by the task's prototype. Nothing is forgotten, and everything is kept
//! as many times as there are tasks.

use serde::{Deserialize, Serialize};
use treering_data::Progress;

use super::finetune::Finetune;
use super::{Lesson, Seen, Training, train};
use crate::network::classifier::Classifier;
use crate::network::kernels::softmax;
use crate::parameters::count;
use crate::plus_tp::{self, routed};
use crate::tpp::Recogniser;
use crate::{Answer, LearnError, Learner, Query, Stages, Stored, TrainingTask};

/// Revision of the method; results of another one are not comparable.
pub const REVISION: u32 = 1;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The training.
    #[serde(flatten)]
    pub training: Training,
    /// How tasks are recognised.
    #[serde(flatten)]
    pub tp: plus_tp::Parameters,
}

impl Default for Parameters {
    /// The loss counts every row alike.
    fn default() -> Self {
        Parameters {
            training: Training {
                balanced: false,
                ..Training::default()
            },
            tp: plus_tp::Parameters::default(),
        }
    }
}

/// What a task leaves behind.
#[derive(Clone, Debug)]
struct Own {
    network: Classifier,
    prototype: Vec<f64>,
}

/// The learner.
pub struct TaskSpecific {
    training: Training,
    recogniser: Recogniser,
    seen: Seen,
    tasks: Vec<Own>,
}

/// The learner.
///
/// # Errors
/// A parameter outside its range.
pub fn learner(parameters: Parameters) -> Result<TaskSpecific, LearnError> {
    let Parameters { training, tp } = parameters;
    training.check_networks_of_tasks()?;
    count(
        "tp-smoothing",
        tp.tp_smoothing,
        0..=1000,
        "between 0 and 1000",
    )?;
    Ok(TaskSpecific {
        recogniser: Recogniser {
            seed: training.seed,
            profile: tp.tp_profile,
            smoothing: tp.tp_smoothing,
            patch: tp.tp_patch,
        },
        training,
        seen: Seen::default(),
        tasks: Vec::new(),
    })
}

impl TaskSpecific {
    /// The network of a task, by its place among those learned.
    pub fn network(&self, task: usize) -> Option<&Classifier> {
        self.tasks.get(task).map(|own| &own.network)
    }

    fn train(
        &self,
        task: &TrainingTask,
        at: usize,
        progress: &dyn Progress,
    ) -> Result<Classifier, LearnError> {
        let mut network = self.training.network(task, at as u64);
        let classes = task.classes().len();
        network.grow(classes);
        let mut lesson = Lesson::new(task, 0..classes, at, &self.training);
        lesson.progress = progress;
        train(&mut Finetune, &mut network, &lesson)?;
        Ok(network)
    }

    /// Answers where the task of every node is decided. Each network reads its own nodes.
    fn within(&self, query: &Query, tasks: &[u32]) -> Result<Vec<Answer>, LearnError> {
        let mut answers = vec![None; query.nodes.len()];
        for (task, own) in self.tasks.iter().enumerate() {
            let places: Vec<usize> = (0..tasks.len())
                .filter(|&at| tasks[at] as usize == task)
                .collect();
            if places.is_empty() {
                continue;
            }
            let nodes: Vec<_> = places.iter().map(|&at| query.nodes[at]).collect();
            let mut logits = own.network.logits_of(query.graph(), &nodes);
            let rows = logits.chunks_mut(own.network.outputs());
            for ((row, &at), node) in rows.zip(&places).zip(&nodes) {
                if row.iter().any(|score| !score.is_finite()) {
                    return Err(LearnError::TooLarge(node.0));
                }
                softmax(row);
                answers[at] = Some(Answer {
                    task: task as u32,
                    margin: f64::INFINITY,
                    familiarity: None,
                    posterior: Vec::new(),
                    probabilities: row.to_vec(),
                });
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }
}

impl Learner for TaskSpecific {
    fn name(&self) -> &str {
        "task-specific"
    }

    fn learn(&mut self, tasks: &[TrainingTask], progress: &dyn Progress) -> Result<(), LearnError> {
        let prototypes = self.recogniser.prototypes(tasks, progress);
        for (task, prototype) in tasks.iter().zip(prototypes) {
            let mut seen = self.seen.clone();
            seen.add(task)?;
            let network = self.train(task, self.tasks.len(), progress)?;
            self.tasks.push(Own { network, prototype });
            self.seen = seen;
        }
        Ok(())
    }

    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        let Some(first) = self.tasks.first() else {
            return Err(LearnError::Nothing);
        };
        let seen = query.stage(self.tasks.len())?;
        query.check(first.prototype.len(), seen)?;
        if let Some(tasks) = &query.tasks {
            return self.within(query, tasks);
        }
        let prototypes: Vec<&[f64]> = self.tasks[..seen]
            .iter()
            .map(|own| &own.prototype[..])
            .collect();
        let routes = self.recogniser.routes(query, &prototypes);
        routed(query, &routes, |query| {
            self.within(query, query.tasks.as_deref().unwrap_or(&[]))
        })
    }

    fn stages(&self) -> Stages {
        Stages::Kept
    }

    fn stored(&self) -> Stored {
        let kept = |own: &Own| (own.network.numbers() + own.prototype.len()) as u64;
        Stored {
            model: self.tasks.iter().map(kept).sum(),
            memory: 0,
        }
    }

    fn recognises(&self) -> bool {
        true
    }
}
