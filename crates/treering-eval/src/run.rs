//! Running a learner over a stream and keeping score.

use serde::{Deserialize, Serialize};
use treering_data::{Progress, Stream};
use treering_graph::{Graph, NodeId, Role};
use treering_learn::{Answer, Groups, LearnError, Learner, Query, Shown, Stages, TrainingTask};

use crate::classes::ClassCounts;
use crate::matrix::{Matrix, balanced_accuracy};
use crate::measure::{Costs, Watch};

/// What a learner is shown at the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// The paper's: all test nodes of one task are one group, on that task's graph, and isolated nodes are given a random neighbour.
    Paper,
    /// The same graph, but every node is a group of its own, and nothing is patched.
    Single,
    /// The same graph, and the true task of every node is given.
    Oracle,
}

/// Which nodes are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// The test nodes: what results are made of.
    Test,
    /// The validation nodes: what parameters are chosen by.
    Validation,
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
    /// How often every class was there, was answered, and was answered rightly.
    #[serde(skip)]
    pub classes: ClassCounts,
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

    /// The classes of all nodes that were asked about after the last task.
    pub fn classes(&self) -> ClassCounts {
        let last = self.matrix.rows().len().saturating_sub(1);
        let mut all = ClassCounts::default();
        for cell in self.cells.iter().filter(|cell| cell.stage == last) {
            all.add(&cell.classes);
        }
        all
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
    fn new(graph: &Graph, stream: &Stream, task: usize, protocol: Protocol, asked: Asked) -> Test {
        let wanted = match asked {
            Asked::Test => Role::Test,
            Asked::Validation => Role::Validation,
        };
        let graph = stream.task_graph(graph, stream.tasks[task].id);
        let roles = graph.split().unwrap_or(&[]);
        let nodes: Vec<NodeId> = NodeId::first(graph.nodes())
            .filter(|node| roles[node.index()] == wanted)
            .collect();
        let class = |node: &NodeId| graph.labels().and_then(|labels| labels.class_of(*node));
        let classes = nodes
            .iter()
            .filter_map(class)
            .map(|class| class.index())
            .collect();
        let groups = match protocol {
            Protocol::Paper | Protocol::Oracle => Groups::All,
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
        query.tasks =
            (protocol == Protocol::Oracle).then(|| vec![task as u32; self.query.nodes.len()]);
        Ok(self.judge(&learner.predict(&query)?, stage, task))
    }

    fn judge(&self, answers: &[Answer], stage: usize, task: usize) -> Cell {
        let right = |(answer, &class): (&Answer, &usize)| {
            (
                class,
                answer.task as usize == task && answer.class() == class,
            )
        };
        let mut classes = ClassCounts::default();
        for (answer, &class) in answers.iter().zip(&self.classes) {
            classes.count((task, class), (answer.task as usize, answer.class()));
        }
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
            classes,
        }
    }
}

/// One series of questions: what is shown, and about which nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Exam {
    /// What is shown.
    pub protocol: Protocol,
    /// About which nodes.
    pub asked: Asked,
    /// Ask the learner that task prediction was plugged into, without it.
    pub host: bool,
}

impl From<Protocol> for Exam {
    fn from(protocol: Protocol) -> Self {
        Exam {
            protocol,
            asked: Asked::Test,
            host: false,
        }
    }
}

/// What came of a stream.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// One for every exam.
    pub outcomes: Vec<Outcome>,
    /// What it took, all exams together.
    pub costs: Costs,
}

/// Lets a learner learn a stream, and asks it about every task seen so far after each.
///
/// # Errors
/// Whatever the learner refuses.
pub fn evaluate<E: Copy + Into<Exam>>(
    learner: &mut dyn Learner,
    graph: &Graph,
    stream: &Stream,
    exams: &[E],
    progress: &dyn Progress,
) -> Result<Evaluation, LearnError> {
    let tasks = tasks_of(graph, stream, Shown::Train)?;
    let (mut costs, watch) = (Costs::default(), Watch::new(progress));
    let mut examination = Examination::new(graph, stream, exams);
    let size = match learner.stages() {
        Stages::Passing => 1,
        Stages::Kept | Stages::LastOnly => tasks.len().max(1),
    };
    for (batch, tasks) in tasks.chunks(size).enumerate() {
        costs.learn.on(|| learner.learn(tasks, &watch))?;
        let last = batch * size + tasks.len() - 1;
        let first = match learner.stages() {
            Stages::Kept => 0,
            Stages::Passing | Stages::LastOnly => last,
        };
        let mut ask = || (first..=last).try_for_each(|stage| examination.ask(learner, stage));
        costs.predict.on(&mut ask)?;
    }
    watch.divide(&mut costs);
    Ok(Evaluation {
        outcomes: examination.outcomes(stream.tasks.len()),
        costs,
    })
}

/// Asks a learner that has learned the stream and [keeps its stages](Stages::Kept) what it would have said after each task.
///
/// # Errors
/// Whatever the learner refuses.
pub fn examine<E: Copy + Into<Exam>>(
    learner: &dyn Learner,
    graph: &Graph,
    stream: &Stream,
    exams: &[E],
) -> Result<Vec<Outcome>, LearnError> {
    let mut examination = Examination::new(graph, stream, exams);
    for stage in 0..stream.tasks.len() {
        examination.ask(learner, stage)?;
    }
    Ok(examination.outcomes(stream.tasks.len()))
}

/// The questions of a stream, and what they gave so far.
struct Examination(Vec<(Exam, Vec<Test>, Vec<Cell>)>);

impl Examination {
    fn new<E: Copy + Into<Exam>>(graph: &Graph, stream: &Stream, exams: &[E]) -> Self {
        let of = |&exam: &E| {
            let exam: Exam = exam.into();
            let test = |task| Test::new(graph, stream, task, exam.protocol, exam.asked);
            let tests = (0..stream.tasks.len()).map(test);
            (exam, tests.collect(), Vec::new())
        };
        Examination(exams.iter().map(of).collect())
    }

    /// Asks about every task up to a stage.
    fn ask(&mut self, learner: &dyn Learner, stage: usize) -> Result<(), LearnError> {
        for (exam, tests, cells) in &mut self.0 {
            let learner = learner.host().filter(|_| exam.host).unwrap_or(learner);
            for (task, test) in tests[..=stage].iter().enumerate() {
                cells.push(test.ask(learner, stage, task, exam.protocol)?);
            }
        }
        Ok(())
    }

    fn outcomes(self, stages: usize) -> Vec<Outcome> {
        let done = self.0.into_iter();
        done.map(|(exam, _, cells)| outcome(exam.protocol, cells, stages))
            .collect()
    }
}

fn outcome(protocol: Protocol, cells: Vec<Cell>, stages: usize) -> Outcome {
    let mut rows: Vec<Vec<f64>> = vec![Vec::new(); stages];
    for cell in &cells {
        rows[cell.stage].push(cell.accuracy);
    }
    Outcome {
        protocol,
        matrix: Matrix::new(rows),
        cells,
    }
}
