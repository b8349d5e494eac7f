//! What came of asking about one task's nodes at one stage.

use std::collections::BTreeMap;

use serde::Serialize;
use treering_learn::Answer;

use crate::classes::ClassCounts;
use crate::matrix::balanced_accuracy;
use crate::protocol::Question;

/// What a learner said about the test nodes of one task, at one stage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The stage: tasks learned so far, less one.
    pub stage: usize,
    /// The task that was asked about.
    pub task: usize,
    /// Class-balanced accuracy in percent.
    pub accuracy: f64,
    /// Plain accuracy in percent.
    pub plain: f64,
    /// Groups whose task was recognised, and all groups.
    pub recognised: (usize, usize),
    /// The tasks that groups were taken for wrongly, with how many groups.
    pub mistaken: Vec<(usize, usize)>,
    /// How often every class was there, was answered, and was answered rightly.
    #[serde(skip)]
    pub classes: ClassCounts,
}

/// One node's answer, class and group.
type Judged<'a> = (&'a Answer, usize, u32);

/// Whether task and class are those of the truth.
pub(crate) fn is_right(answer: &Answer, truth: (usize, usize)) -> bool {
    (answer.task as usize, answer.class()) == truth
}

/// The cells of a question, one for each of its tasks.
///
/// # Arguments
/// * `of_task`: how many classes a task has.
pub(crate) fn judge(
    question: &Question,
    answers: &[Answer],
    stage: usize,
    of_task: impl Fn(usize) -> usize,
) -> Vec<Cell> {
    let mut by_task: Vec<Vec<Judged<'_>>> = vec![Vec::new(); question.tasks.len()];
    let groups = question.query.group_numbers().0;
    for ((answer, &(task, class)), group) in answers.iter().zip(&question.truth).zip(groups) {
        by_task[task - question.tasks.start].push((answer, class, group));
    }
    let tasks = question.tasks.clone().zip(by_task);
    tasks
        .map(|(task, judged)| cell(&judged, stage, task, of_task(task)))
        .collect()
}

fn cell(judged: &[Judged<'_>], stage: usize, task: usize, of_task: usize) -> Cell {
    let mut classes = ClassCounts::default();
    let mut taken_for: BTreeMap<u32, usize> = BTreeMap::new();
    for &(answer, class, group) in judged {
        classes.count((task, class), (answer.task as usize, answer.class()));
        taken_for.insert(group, answer.task as usize);
    }
    let mut mistaken: Vec<(usize, usize)> = Vec::new();
    for wrong in taken_for.values().filter(|&&taken| taken != task) {
        match mistaken.iter_mut().find(|(known, _)| known == wrong) {
            Some((_, count)) => *count += 1,
            None => mistaken.push((*wrong, 1)),
        }
    }
    let wrong: usize = mistaken.iter().map(|(_, count)| count).sum();
    let right = |&(answer, class, _): &Judged<'_>| (class, is_right(answer, (task, class)));
    let right: Vec<(usize, bool)> = judged.iter().map(right).collect();
    let plain = right.iter().filter(|(_, right)| *right).count() as f64 / right.len().max(1) as f64;
    Cell {
        stage,
        task,
        accuracy: balanced_accuracy(of_task, right).unwrap_or(0.0),
        plain: 100.0 * plain,
        recognised: (taken_for.len() - wrong, taken_for.len()),
        mistaken,
        classes,
    }
}
