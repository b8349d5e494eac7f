//! A task as the shared trainer sees it: its rows, their classes among all classes, its steps.

use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use treering_data::{Progress, Purpose, Silent, random};
use treering_graph::Features;

use super::{Training, shuffled};
use crate::network::classifier::{Gradient, Session};
use crate::network::kernels::softmax;
use crate::network::loss::{CrossEntropy, row_weights};
use crate::network::source::{Source, smoothed_rows};
use crate::{Answer, LearnError, Query, TrainingTask};

/// The tasks that a learner has seen, and which outputs are whose.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Where each task's outputs end.
    ends: Vec<usize>,
    features: usize,
}

impl Seen {
    /// Takes in a task; returns its outputs.
    ///
    /// # Errors
    /// Features of another width than before, or of none.
    pub fn add(&mut self, task: &TrainingTask) -> Result<Range<usize>, LearnError> {
        let found = task.graph().features().columns();
        if found == 0 {
            return Err(LearnError::NoFeatures);
        }
        if !self.ends.is_empty() && found != self.features {
            return Err(LearnError::Width {
                found,
                expected: self.features,
            });
        }
        self.features = found;
        let start = self.classes();
        self.ends.push(start + task.classes().len());
        Ok(start..self.classes())
    }

    /// As it was after the first so many tasks.
    pub fn first(&self, tasks: usize) -> Seen {
        Seen {
            ends: self.ends[..tasks].to_vec(),
            features: self.features,
        }
    }

    /// How many tasks.
    pub fn tasks(&self) -> usize {
        self.ends.len()
    }

    /// How many classes.
    pub fn classes(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The outputs of a task.
    pub fn columns(&self, task: usize) -> Range<usize> {
        let start = task.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[task]
    }

    /// Refuses a query that does not fit.
    ///
    /// # Errors
    /// Another width, a node outside the graph, groups of another length, a stage that is gone.
    pub fn check(&self, query: &Query) -> Result<(), LearnError> {
        let learned = self.tasks();
        if learned == 0 {
            return Err(LearnError::Nothing);
        }
        match query.seen.unwrap_or(learned) {
            seen if seen == learned => query.check(self.features, learned),
            seen => Err(LearnError::Stage { seen, learned }),
        }
    }

    /// Turns rows of scores, one for each class seen, into answers: the class of the largest score among all, or among those of the task
    /// that the query names.
    ///
    /// # Errors
    /// Scores that are not finite.
    pub fn answers(&self, query: &Query, logits: &[f32]) -> Result<Vec<Answer>, LearnError> {
        let rows = logits.chunks(self.classes().max(1)).zip(&query.nodes);
        rows.enumerate()
            .map(|(at, (row, node))| {
                if row.iter().any(|score| !score.is_finite()) {
                    return Err(LearnError::TooLarge(node.0));
                }
                Ok(match &query.tasks {
                    Some(tasks) => self.within(row, tasks[at] as usize),
                    None => self.among_all(row),
                })
            })
            .collect()
    }

    fn within(&self, row: &[f32], task: usize) -> Answer {
        let mut probabilities = row[self.columns(task)].to_vec();
        softmax(&mut probabilities);
        Answer {
            task: task as u32,
            margin: f64::INFINITY,
            probabilities,
        }
    }

    /// The margin is the lead over the best class of another task.
    fn among_all(&self, row: &[f32]) -> Answer {
        let mut probabilities = row.to_vec();
        softmax(&mut probabilities);
        // The scores themselves decide: probabilities of far larger and far smaller scores may be equal.
        let best = |task: usize| {
            row[self.columns(task)]
                .iter()
                .copied()
                .fold(f32::NEG_INFINITY, f32::max)
        };
        let likeliest = |task: usize| {
            probabilities[self.columns(task)]
                .iter()
                .copied()
                .fold(0f32, f32::max)
        };
        let mut chosen = 0;
        for task in 1..self.tasks() {
            if best(task) > best(chosen) {
                chosen = task;
            }
        }
        let second = (0..self.tasks())
            .filter(|&task| task != chosen)
            .map(likeliest)
            .fold(0f32, f32::max);
        Answer {
            task: chosen as u32,
            margin: f64::from(likeliest(chosen)) - f64::from(second),
            probabilities: probabilities[self.columns(chosen)].to_vec(),
        }
    }
}

/// A task to be learned.
pub struct Lesson<'a> {
    /// The task.
    pub task: &'a TrainingTask,
    /// Its outputs.
    pub columns: Range<usize>,
    /// Its place among the tasks learned, from 0.
    pub index: usize,
    /// The class of each train node, among all classes seen.
    pub labels: Vec<u32>,
    /// How to train.
    pub training: &'a Training,
    /// Whom to tell about work before the first step; nobody unless set.
    pub progress: &'a dyn Progress,
}

impl<'a> Lesson<'a> {
    /// A task whose classes are the outputs `columns`.
    pub fn new(
        task: &'a TrainingTask,
        columns: Range<usize>,
        index: usize,
        training: &'a Training,
    ) -> Self {
        let global = |&class: &u32| class + columns.start as u32;
        let labels = task.train().classes.iter().map(global).collect();
        Lesson {
            task,
            columns,
            index,
            labels,
            training,
            progress: &Silent,
        }
    }

    /// The train rows, smoothed.
    pub fn rows(&self) -> Source<'a, f32> {
        Source::smoothed(
            self.task.graph(),
            self.training.hops,
            &self.task.train().nodes,
        )
    }

    /// The train rows, smoothed and worked out, to be kept or picked from.
    pub fn kept_rows(&self) -> Features {
        smoothed_rows(
            self.task.graph(),
            self.training.hops,
            &self.task.train().nodes,
        )
    }

    /// Where the rows of each class are among the train rows, class by class.
    pub fn rows_by_class(&self) -> Vec<Vec<usize>> {
        let mut found = vec![Vec::new(); self.columns.len()];
        for (row, &class) in self.task.train().classes.iter().enumerate() {
            found[class as usize].push(row);
        }
        found
    }

    /// Draws for this task that belong to no epoch.
    pub fn random(&self) -> ChaCha8Rng {
        // Epochs are numbered from 0 and never come as far as this.
        let index = self.task.number() << 32 | u64::from(u32::MAX);
        random(self.training.seed, Purpose::Sampling, index)
    }

    /// A step on all train rows at once.
    pub fn whole(&self) -> Turn {
        Turn::new(0, (0..self.labels.len()).collect(), self)
    }

    pub(super) fn batches(&self) -> Batches<'_, 'a> {
        let size = match self.training.batch {
            0 => self.labels.len(),
            size => size.min(self.labels.len()),
        };
        Batches {
            lesson: self,
            size,
            kept: (size < self.labels.len()).then(|| self.kept_rows()),
        }
    }
}

/// The rows of a task, step by step.
pub(super) struct Batches<'l, 'a> {
    lesson: &'l Lesson<'a>,
    size: usize,
    kept: Option<Features>,
}

impl<'a> Batches<'_, 'a> {
    pub(super) fn is_split(&self) -> bool {
        self.kept.is_some()
    }

    /// All rows.
    pub(super) fn whole(&self) -> Source<'a, f32> {
        match &self.kept {
            Some(kept) => Source::rows_of(kept),
            None => self.lesson.rows(),
        }
    }

    /// The steps of an epoch.
    pub(super) fn turns(&self, epoch: usize) -> Vec<Turn> {
        let lesson = self.lesson;
        if !self.is_split() {
            return vec![Turn::new(epoch, (0..lesson.labels.len()).collect(), lesson)];
        }
        let order = shuffled(
            lesson.labels.len(),
            lesson.training.seed,
            lesson.task.number(),
            epoch,
        );
        order
            .chunks(self.size)
            .map(|rows| Turn::new(epoch, rows.to_vec(), lesson))
            .collect()
    }

    /// The rows of a step, where they are not all.
    pub(super) fn rows(&self, turn: &Turn) -> Option<Source<'a, f32>> {
        let nodes: Vec<_> = turn
            .rows
            .iter()
            .map(|&row| treering_graph::NodeId(row as u32))
            .collect();
        self.kept
            .as_ref()
            .map(|kept| Source::rows_of(&kept.select(&nodes)))
    }
}

/// One step on a task's own rows.
pub struct Turn {
    /// The pass over the task, from 0.
    pub epoch: usize,
    /// Which of the train rows are read.
    pub rows: Vec<usize>,
    /// Their classes.
    pub labels: Vec<u32>,
    /// What each counts in a loss of weight 1.
    pub weights: Vec<f32>,
    /// The outputs that compete.
    pub outputs: usize,
}

impl Turn {
    fn new(epoch: usize, rows: Vec<usize>, lesson: &Lesson<'_>) -> Self {
        let labels: Vec<u32> = rows.iter().map(|&row| lesson.labels[row]).collect();
        Turn {
            epoch,
            weights: row_weights(&labels, lesson.training.balanced, 1.0),
            rows,
            labels,
            outputs: lesson.columns.end,
        }
    }

    /// Adds the gradient of the cross entropy on this step's rows; returns the loss.
    pub fn add_loss(&self, session: &mut Session<'_, '_>, gradient: &mut Gradient<f32>) -> f64 {
        session.add_gradient(0, gradient, |logits, slopes| {
            self.loss(&self.weights).add(logits, self.outputs, slopes)
        })
    }

    /// The cross entropy of this step's rows, with weights of one's own.
    pub fn loss<'t>(&'t self, weights: &'t [f32]) -> CrossEntropy<'t, f32> {
        CrossEntropy {
            labels: &self.labels,
            weights,
            columns: self.outputs,
            shift: None,
        }
    }
}
