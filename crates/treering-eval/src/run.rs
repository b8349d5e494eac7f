//! Running a learner over a stream and keeping score.

use serde::Serialize;
use treering_data::{Progress, Stream};
use treering_graph::{Graph, NodeId, Role};
use treering_learn::{Answer, Groups, LearnError, Learner, Query, Shown, TrainingTask};

use crate::matrix::{Matrix, balanced_accuracy};

/// What a learner is shown at the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// The paper's: all test nodes of one task are one group, on that task's graph, and isolated nodes are given a random neighbour.
    Paper,
    /// The same graph, but every node is a group of its own, and nothing is patched.
    Single,
}

/// What one query gave: the test nodes of one task, at one stage.
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
}

/// What a learner achieved on a stream under one protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// What it was shown.
    pub protocol: Protocol,
    /// Accuracy by stage and task.
    pub matrix: Matrix,
    /// Every query.
    pub cells: Vec<Cell>,
}

impl Outcome {
    /// The share of groups whose task was recognised after the last task, in percent.
    pub fn task_accuracy(&self) -> Option<f64> {
        let last = self.matrix.rows().len().checked_sub(1)?;
        let cells = self.cells.iter().filter(|cell| cell.stage == last);
        let (right, all) = cells.fold((0, 0), |sum, cell| {
            (sum.0 + cell.recognised.0, sum.1 + cell.recognised.1)
        });
        (all > 0).then(|| 100.0 * right as f64 / all as f64)
    }
}

/// The tasks of a stream as a learner sees them.
///
/// # Errors
/// A class without a train node.
pub fn tasks_of(
    graph: &Graph,
    stream: &Stream,
    shown: Shown,
) -> Result<Vec<TrainingTask>, LearnError> {
    let task = |task: &treering_data::Task| {
        TrainingTask::new(
            stream.task_graph(graph, task.id),
            u64::from(task.id.0) + 1,
            shown,
        )
    };
    stream.tasks.iter().map(task).collect()
}

/// The test nodes of one task, with the answers that only the evaluator knows.
struct Test {
    query: Query,
    classes: Vec<usize>,
    of_task: usize,
}

impl Test {
    fn new(graph: &Graph, stream: &Stream, task: usize, protocol: Protocol) -> Test {
        let graph = stream.task_graph(graph, stream.tasks[task].id);
        let roles = graph.split().unwrap_or(&[]);
        let nodes: Vec<NodeId> = NodeId::first(graph.nodes())
            .filter(|node| roles[node.index()] == Role::Test)
            .collect();
        let class = |node: &NodeId| graph.labels().and_then(|labels| labels.class_of(*node));
        let classes = nodes
            .iter()
            .filter_map(class)
            .map(|class| class.index())
            .collect();
        let groups = match protocol {
            Protocol::Paper => Groups::All,
            Protocol::Single => Groups::Single,
        };
        Test {
            query: Query::new(graph, nodes, groups),
            classes,
            of_task: stream.tasks[task].classes.len(),
        }
    }

    fn ask(
        &self,
        learner: &dyn Learner,
        stage: usize,
        task: usize,
        protocol: Protocol,
    ) -> Result<Cell, LearnError> {
        let mut query = self.query.clone();
        query.seen = Some(stage + 1);
        // The published method draws neighbours anew for every query.
        query.patch = (protocol == Protocol::Paper).then_some((stage as u64) << 32 | task as u64);
        Ok(self.judge(&learner.predict(&query)?, stage, task))
    }

    fn judge(&self, answers: &[Answer], stage: usize, task: usize) -> Cell {
        let right = |(answer, &class): (&Answer, &usize)| {
            (
                class,
                answer.task as usize == task && answer.class() == class,
            )
        };
        let judged: Vec<(usize, bool)> = answers.iter().zip(&self.classes).map(right).collect();
        let (numbers, groups) = self.query.group_numbers();
        let mut taken_for = vec![None; groups];
        for (answer, group) in answers.iter().zip(numbers) {
            taken_for[group as usize] = Some(answer.task as usize);
        }
        let mut mistaken: Vec<(usize, usize)> = Vec::new();
        for wrong in taken_for.iter().flatten().filter(|&&taken| taken != task) {
            match mistaken.iter_mut().find(|(known, _)| known == wrong) {
                Some((_, count)) => *count += 1,
                None => mistaken.push((*wrong, 1)),
            }
        }
        let wrong: usize = mistaken.iter().map(|(_, count)| count).sum();
        let plain =
            judged.iter().filter(|(_, right)| *right).count() as f64 / judged.len().max(1) as f64;
        Cell {
            stage,
            task,
            accuracy: balanced_accuracy(self.of_task, judged).unwrap_or(0.0),
            plain: 100.0 * plain,
            recognised: (groups - wrong, groups),
            mistaken,
        }
    }
}

/// Lets a learner learn a stream, and asks it about every task seen so far after each.
///
/// # Errors
/// Whatever the learner refuses.
pub fn evaluate(
    learner: &mut dyn Learner,
    graph: &Graph,
    stream: &Stream,
    protocols: &[Protocol],
    progress: &dyn Progress,
) -> Result<Vec<Outcome>, LearnError> {
    let tasks = tasks_of(graph, stream, Shown::Train)?;
    if learner.keeps_stages() {
        learner.learn(&tasks, progress)?;
        return examine(learner, graph, stream, protocols);
    }
    let mut examination = Examination::new(graph, stream, protocols);
    for (stage, task) in tasks.chunks(1).enumerate() {
        learner.learn(task, progress)?;
        examination.ask(learner, stage)?;
    }
    Ok(examination.outcomes())
}

/// Asks a learner that has learned the stream and [keeps its stages](Learner::keeps_stages) what it would have said after each task.
///
/// # Errors
/// Whatever the learner refuses.
pub fn examine(
    learner: &dyn Learner,
    graph: &Graph,
    stream: &Stream,
    protocols: &[Protocol],
) -> Result<Vec<Outcome>, LearnError> {
    let mut examination = Examination::new(graph, stream, protocols);
    for stage in 0..stream.tasks.len() {
        examination.ask(learner, stage)?;
    }
    Ok(examination.outcomes())
}

/// The tests of a stream under some protocols, and what they gave so far.
struct Examination(Vec<(Protocol, Vec<Test>, Vec<Cell>)>);

impl Examination {
    fn new(graph: &Graph, stream: &Stream, protocols: &[Protocol]) -> Self {
        let of = |&protocol: &Protocol| {
            let tests =
                (0..stream.tasks.len()).map(|task| Test::new(graph, stream, task, protocol));
            (protocol, tests.collect(), Vec::new())
        };
        Examination(protocols.iter().map(of).collect())
    }

    /// Asks about every task up to a stage.
    fn ask(&mut self, learner: &dyn Learner, stage: usize) -> Result<(), LearnError> {
        for (protocol, tests, cells) in &mut self.0 {
            for (task, test) in tests[..=stage].iter().enumerate() {
                cells.push(test.ask(learner, stage, task, *protocol)?);
            }
        }
        Ok(())
    }

    fn outcomes(self) -> Vec<Outcome> {
        let done = self.0.into_iter();
        done.map(|(protocol, _, cells)| outcome(protocol, cells))
            .collect()
    }
}

fn outcome(protocol: Protocol, cells: Vec<Cell>) -> Outcome {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for cell in &cells {
        if cell.task == 0 {
            rows.push(Vec::new());
        }
        if let Some(row) = rows.last_mut() {
            row.push(cell.accuracy);
        }
    }
    Outcome {
        protocol,
        matrix: Matrix::new(rows),
        cells,
    }
}
