//! A task as the shared trainer sees it: its rows, their classes among all classes, its steps.

use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use treering_data::{Progress, Purpose, Silent, random};
use treering_graph::Features;

use super::{Training, shuffled};
use crate::TrainingTask;
use crate::network::loss::{CrossEntropy, row_weights};
use crate::network::session::{Gradient, Session};
use crate::network::source::{Source, smoothed_rows};

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
            return vec![Turn {
                epoch,
                ..lesson.whole()
            }];
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
#[derive(Clone)]
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
            self.loss(&self.weights).add(logits, slopes)
        })
    }

    /// As [`Turn::add_loss`] with weights of one's own, and the same for rows that are replayed, which are source 1.
    pub fn add_losses(
        &self,
        session: &mut Session<'_, '_>,
        gradient: &mut Gradient<f32>,
        own: &[f32],
        (labels, weights): (&[u32], &[f32]),
    ) -> f64 {
        let replayed = CrossEntropy {
            labels,
            ..self.loss(weights)
        };
        let loss = session.add_gradient(0, gradient, |logits, slopes| {
            self.loss(own).add(logits, slopes)
        });
        loss + session.add_gradient(1, gradient, |logits, slopes| replayed.add(logits, slopes))
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
