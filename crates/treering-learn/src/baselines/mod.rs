//! The methods that TPP is compared with. They share one network, one trainer and one loss; a folder holds what one method adds.
//!
//! Most methods train a single network task after task and differ in three places: what is read beside the task's own rows, what the
//! gradient of a step is, and what is kept when the task is over. Those three are [`Strategy`]; [`Baseline`] does the rest.

pub mod anchor;
pub mod cat;
pub mod condense;
pub mod delome;
pub mod ergnn;
pub mod ewc;
pub mod finetune;
pub mod gem;
pub mod joint;
mod lesson;
pub mod lwf;
pub mod mas;
pub mod oodcil;
mod seen;
pub mod sem;
pub mod ssm;
mod stored_rows;
pub mod task_specific;
mod training;
pub mod twp;

pub use lesson::{Lesson, Turn};
pub use seen::Seen;
pub use stored_rows::StoredRows;
pub use training::Training;

use rand::seq::SliceRandom;
use treering_data::{Progress, Purpose, random};

use crate::network::classifier::{Classifier, Start};
use crate::network::session::{Gradient, Session, Springs};
use crate::network::source::Source;
use crate::{Answer, LearnError, Learner, Query, Stored, TrainingTask};

/// What a method reads beside the task's own rows.
#[derive(Default)]
pub struct Beside {
    /// More rows; they are the session's sources from 1 on.
    pub sources: Vec<Source<'static, f32>>,
    /// Pulls on the weights.
    pub springs: Option<Springs>,
}

impl Beside {
    /// Rows, if there are any, and no pull.
    pub fn reading(rows: impl IntoIterator<Item = Source<'static, f32>>) -> Self {
        Beside {
            sources: rows.into_iter().collect(),
            springs: None,
        }
    }
}

/// What one method adds to plain training.
pub trait Strategy {
    /// How the first weights are drawn.
    fn start(&self) -> Start {
        Start::Uniform
    }

    /// Before a task is trained. The network has its outputs already.
    ///
    /// # Errors
    /// A task that the method cannot learn.
    fn before(&mut self, lesson: &Lesson<'_>, network: &Classifier) -> Result<Beside, LearnError> {
        let _ = (lesson, network);
        Ok(Beside::default())
    }

    /// Adds the gradient of one step's loss and returns the loss. Source 0 holds the rows of this step.
    fn gradient(
        &mut self,
        session: &mut Session<'_, '_>,
        lesson: &Lesson<'_>,
        turn: &Turn,
        gradient: &mut Gradient<f32>,
    ) -> f64 {
        let _ = lesson;
        turn.add_loss(session, gradient)
    }

    /// After the last step of a task. Source 0 holds all rows of the task again.
    ///
    /// # Errors
    /// What the method cannot keep.
    fn after(
        &mut self,
        session: &mut Session<'_, '_>,
        lesson: &Lesson<'_>,
    ) -> Result<(), LearnError> {
        let _ = (session, lesson);
        Ok(())
    }

    /// Numbers kept for the sake of old tasks: stored rows, importances, an old network.
    fn memory(&self) -> u64 {
        0
    }
}

/// A learner that trains one network task after task.
pub struct Baseline<S> {
    name: &'static str,
    training: Training,
    network: Option<Classifier>,
    seen: Seen,
    strategy: S,
}

impl<S: Strategy> Baseline<S> {
    /// A learner that has learned nothing.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn new(name: &'static str, training: Training, strategy: S) -> Result<Self, LearnError> {
        training.check()?;
        Ok(Baseline {
            name,
            training,
            network: None,
            seen: Seen::default(),
            strategy,
        })
    }

    /// The method's own state.
    pub fn strategy(&self) -> &S {
        &self.strategy
    }

    /// The network, once there is one.
    pub fn network(&self) -> Option<&Classifier> {
        self.network.as_ref()
    }

    fn learn_one(
        &mut self,
        task: &TrainingTask,
        progress: &dyn Progress,
    ) -> Result<(), LearnError> {
        let columns = self.seen.add(task)?;
        let network = self
            .network
            .get_or_insert_with(|| self.training.network_from(task, self.strategy.start(), 0));
        network.grow(columns.end.max(self.training.outputs));
        let mut lesson = Lesson::new(task, columns, self.seen.tasks() - 1, &self.training);
        lesson.progress = progress;
        train(&mut self.strategy, network, &lesson)
    }
}

/// Trains a network on one task, as a strategy has it.
fn train<S: Strategy>(
    strategy: &mut S,
    network: &mut Classifier,
    lesson: &Lesson<'_>,
) -> Result<(), LearnError> {
    let Beside { sources, springs } = strategy.before(lesson, network)?;
    let batches = lesson.batches();
    let mut all = vec![batches.whole()];
    all.extend(sources);
    let mut session = Session::new(network, all, springs.as_ref());
    let mut gradient = session.no_gradient();
    let (epochs, progress) = (lesson.training.epochs, lesson.progress);
    let what = format!("learning task {}", lesson.index + 1);
    progress.begin(&what, epochs as u64);
    for epoch in 0..epochs {
        for turn in batches.turns(epoch) {
            if let Some(rows) = batches.rows(&turn) {
                session.replace(0, rows);
            }
            gradient.clear();
            strategy.gradient(&mut session, lesson, &turn, &mut gradient);
            session.step(&mut gradient);
        }
        progress.advance(1);
    }
    progress.end();
    if batches.is_split() {
        session.replace(0, batches.whole());
    }
    strategy.after(&mut session, lesson)?;
    session.finish();
    match network.is_finite() {
        true => Ok(()),
        false => Err(LearnError::Diverged {
            what: "the network",
        }),
    }
}

impl<S: Strategy> Learner for Baseline<S> {
    fn name(&self) -> &str {
        self.name
    }

    fn learn(&mut self, tasks: &[TrainingTask], progress: &dyn Progress) -> Result<(), LearnError> {
        tasks
            .iter()
            .try_for_each(|task| self.learn_one(task, progress))
    }

    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        let network = self.network.as_ref().ok_or(LearnError::Nothing)?;
        self.seen.check(query)?;
        self.seen
            .answers(query, &network.logits_of(query.graph(), &query.nodes))
    }

    fn stored(&self) -> Stored {
        Stored {
            model: self
                .network
                .as_ref()
                .map_or(0, |network| network.numbers() as u64),
            memory: self.strategy.memory(),
        }
    }
}

/// Rows in a random order, the same for the same seed, task and epoch.
fn shuffled(rows: usize, seed: u64, task: u64, epoch: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut random(
        seed,
        Purpose::Sampling,
        task << 32 | epoch as u64,
    ));
    order
}
