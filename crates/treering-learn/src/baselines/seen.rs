//! The tasks seen so far, and answers over all their classes.

use std::ops::Range;

use crate::network::kernels::softmax;
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

    /// Turns rows of scores, of which the first are those of the classes seen, into answers: the class of the largest score among all, or among those of the task
    /// that the query names.
    ///
    /// # Errors
    /// Scores that are not finite.
    pub fn answers(&self, query: &Query, logits: &[f32]) -> Result<Vec<Answer>, LearnError> {
        let outputs = (logits.len() / query.nodes.len().max(1)).max(1);
        let rows = logits.chunks(outputs).zip(&query.nodes);
        rows.enumerate()
            .map(|(at, (row, node))| {
                let row = &row[..self.classes()];
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
            familiarity: None,
            posterior: Vec::new(),
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
            familiarity: Some(surest(row, best(chosen))),
            posterior: Vec::new(),
            probabilities: probabilities[self.columns(chosen)].to_vec(),
        }
    }
}

/// The largest probability over all classes. In f64, where answers that are all sure in f32 can still be told apart.
fn surest(row: &[f32], best: f32) -> f64 {
    let share = |&score: &f32| (f64::from(score) - f64::from(best)).exp();
    1.0 / row.iter().map(share).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::surest;

    #[test]
    fn the_surest_class_is_the_largest_of_a_softmax_over_all() {
        let row = [1.0f32, -2.0, 3.0];
        let sum: f64 = row.iter().map(|&score| f64::from(score).exp()).sum();
        assert!((surest(&row, 3.0) - 3f64.exp() / sum).abs() < 1e-15);
        // Both are 1 in f32.
        assert!(surest(&[30.0, 0.0], 30.0) < surest(&[31.0, 0.0], 31.0));
    }
}
