//! Running a learner over a stream and keeping score.

use std::ops::Range;

use serde::Serialize;
use treering_data::{Progress, Stream, TaskSize};
use treering_graph::Graph;
use treering_learn::{Answer, LearnError, Learner, Shown, Stage, Stages, TrainingTask};

use crate::calibration::Confidences;
use crate::cell::{Cell, is_right, judge};
use crate::classes::ClassCounts;
use crate::matrix::{Matrix, mean};
use crate::measure::{Costs, Spent, Watch};
use crate::open::{Familiar, Open};
use crate::protocol::{Exam, Protocol, Question, Questions, inductive_tasks_of, tasks_of, unites};
use crate::several::Several;

/// What a learner achieved on a stream under one protocol.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// What it was shown.
    pub protocol: Protocol,
    /// Accuracy by stage and task.
    pub matrix: Matrix,
    /// Every task at every stage.
    pub cells: Vec<Cell>,
    /// How well it told known tasks from unknown ones; only under the protocols `open` and `open:M`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<Open>,
    /// The expected calibration error after the last task, in percent: how far confidence and the share of right answers are apart, in bins of a fifteenth, on
    /// average over the nodes. None where an answer has no [confidence](treering_learn::Answer::confidence).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_error: Option<f64>,
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

    /// The mean over tasks of the share of their groups that were recognised after the last task, in percent: every task counts the same, however many
    /// groups it has.
    pub fn task_accuracy_by_task(&self) -> Option<f64> {
        let last = self.matrix.rows().len().checked_sub(1)?;
        let cells = self.cells.iter().filter(|cell| cell.stage == last);
        let shares = cells.filter(|cell| cell.recognised.1 > 0).map(|cell| {
            let (right, all) = cell.recognised;
            100.0 * right as f64 / all as f64
        });
        mean(&shares.collect::<Vec<_>>())
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
///
/// # Panics
/// When some exams are `inductive` and others are not: no one training serves both.
pub fn evaluate<E: Copy + Into<Exam>>(
    learner: &mut dyn Learner,
    graph: &Graph,
    stream: &Stream,
    exams: &[E],
    progress: &dyn Progress,
) -> Result<Evaluation, LearnError> {
    let exams: Vec<Exam> = exams.iter().map(|&exam| exam.into()).collect();
    let inductive = are_inductive(&exams);
    let tasks = match inductive {
        true => inductive_tasks_of(graph, stream)?,
        false if learner.calibrates() => tasks_of(graph, stream, Shown::TrainAndValidation)?,
        false => tasks_of(graph, stream, Shown::Train)?,
    };
    // The very graphs that were learned, where training shows the whole of them: there is no second copy of the data.
    let cut = tasks.iter().map(|task| task.graph().clone());
    let cut: Option<Vec<Graph>> = (!inductive).then(|| cut.collect());
    let mut examination = Examination::new(graph, stream, exams, cut);
    let (mut costs, watch) = (Costs::default(), Watch::new(progress));
    for batch in batches(learner.stages(), &tasks) {
        let several = Several {
            inner: &watch,
            before: batch.start,
            here: batch.len(),
            all: tasks.len(),
        };
        costs
            .learn
            .on(|| learner.learn(&tasks[batch.clone()], &several))?;
        match learner.stages() {
            Stages::Kept if batch.end == tasks.len() => examination.ask_all(learner)?,
            Stages::Kept => {}
            Stages::Passing | Stages::LastOnly => examination.ask(learner, batch.end - 1)?,
        }
    }
    watch.divide(&mut costs);
    costs.predict = examination.predict;
    Ok(Evaluation {
        costs,
        outcomes: examination.outcomes(),
    })
}

/// Which tasks are learned together. A learner that keeps its stages learns the same from several at once as from one after the other; small ones share passes, and
/// large ones would only take memory together.
fn batches(stages: Stages, tasks: &[TrainingTask]) -> Vec<Range<usize>> {
    const TOGETHER: u64 = 32 << 20;
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut taken = 0;
    for (at, task) in tasks.iter().enumerate() {
        let bytes = TaskSize::of(task.graph()).graph_bytes();
        let joins = match stages {
            Stages::Passing => false,
            Stages::Kept => taken + bytes <= TOGETHER,
            Stages::LastOnly => true,
        };
        match batches.last_mut().filter(|_| joins) {
            Some(last) => last.end = at + 1,
            None => {
                batches.push(at..at + 1);
                taken = 0;
            }
        }
        taken += bytes;
    }
    batches
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
    let exams = exams.iter().map(|&exam| exam.into()).collect();
    let mut examination = Examination::new(graph, stream, exams, None);
    examination.ask_all(learner)?;
    Ok(examination.outcomes())
}

fn are_inductive(exams: &[Exam]) -> bool {
    let inductive = |exam: &&Exam| exam.protocol == Protocol::Inductive;
    let count = exams.iter().filter(inductive).count();
    assert!(
        count == 0 || count == exams.len(),
        "the protocol inductive needs a training of its own"
    );
    count > 0
}

/// The exams of a stream, and what they gave so far.
struct Examination<'a> {
    stream: &'a Stream,
    questions: Questions<'a>,
    sheets: Vec<Sheet>,
    predict: Spent,
}

/// One exam's answers, judged.
struct Sheet {
    exam: Exam,
    cells: Vec<Cell>,
    familiar: Vec<Familiar>,
    /// Whether familiarity is a share that groups can be rejected by.
    calibrated: bool,
    /// Of the last stage alone.
    confidences: Confidences,
}

impl<'a> Examination<'a> {
    /// # Arguments
    /// * `cut`: every task's graph, where they are there already.
    fn new(
        graph: &'a Graph,
        stream: &'a Stream,
        exams: Vec<Exam>,
        cut: Option<Vec<Graph>>,
    ) -> Self {
        let sheet = |&exam: &Exam| Sheet {
            exam,
            cells: Vec::new(),
            familiar: Vec::new(),
            calibrated: false,
            confidences: Confidences::default(),
        };
        Examination {
            stream,
            questions: Questions::new(graph, stream, &exams, cut),
            sheets: exams.iter().map(sheet).collect(),
            predict: Spent::default(),
        }
    }

    /// Asks a learner that keeps its stages all that the exams ask after each of them, task by task where that is possible: what it finds out about a
    /// task's graph is the same at all stages.
    fn ask_all(&mut self, learner: &dyn Learner) -> Result<(), LearnError> {
        let tasks = self.stream.tasks.len();
        for at in 0..self.sheets.len() {
            let exam = self.sheets[at].exam;
            if unites(exam.protocol) {
                (0..tasks).try_for_each(|stage| self.ask_one(at, learner, stage))?;
                continue;
            }
            let sheet = &mut self.sheets[at];
            let learner = learner.host().filter(|_| exam.host).unwrap_or(learner);
            sheet.calibrated = learner.familiarity_is_calibrated();
            for task in 0..tasks {
                let question = self.questions.about(task, &exam);
                let first = if exam.protocol.is_open() { 0 } else { task };
                let stages = (first..tasks).map(|stage| Questions::stage(stage, task, &exam));
                let stages: Vec<Stage> = stages.collect();
                let stream = self.stream;
                self.predict.on(|| {
                    learner.predict_at(&question.query, &stages, &mut |at, answers| {
                        sheet.take(&question, &answers, first + at, stream);
                    })
                })?;
            }
        }
        Ok(())
    }

    /// Asks all that the exams ask after a stage.
    fn ask(&mut self, learner: &dyn Learner, stage: usize) -> Result<(), LearnError> {
        (0..self.sheets.len()).try_for_each(|at| self.ask_one(at, learner, stage))
    }

    /// Asks all that one exam asks after a stage.
    fn ask_one(
        &mut self,
        at: usize,
        learner: &dyn Learner,
        stage: usize,
    ) -> Result<(), LearnError> {
        let sheet = &mut self.sheets[at];
        let exam = sheet.exam;
        let learner = learner.host().filter(|_| exam.host).unwrap_or(learner);
        sheet.calibrated = learner.familiarity_is_calibrated();
        for question in self.questions.at(stage, &exam) {
            let answers = self.predict.on(|| learner.predict(&question.query))?;
            sheet.take(&question, &answers, stage, self.stream);
        }
        Ok(())
    }

    fn outcomes(self) -> Vec<Outcome> {
        let stages = self.stream.tasks.len();
        let sheets = self.sheets.into_iter();
        sheets.map(|sheet| sheet.outcome(stages)).collect()
    }
}

impl Sheet {
    /// Judges the answers to a question.
    fn take(&mut self, question: &Question, answers: &[Answer], stage: usize, stream: &Stream) {
        if self.exam.protocol.is_open() {
            let groups = Familiar::groups(question, answers, stage);
            self.familiar.extend(groups);
        }
        if question.tasks.start > stage {
            return;
        }
        let of_task = |task: usize| stream.tasks[task].classes.len();
        let cells = judge(question, answers, stage, of_task);
        self.cells.extend(cells);
        if stage + 1 == stream.tasks.len() {
            for (answer, &truth) in answers.iter().zip(&question.truth) {
                self.confidences.count(answer, is_right(answer, truth));
            }
        }
    }

    fn outcome(mut self, stages: usize) -> Outcome {
        // Not by stage and task where a task was asked about at all stages at once.
        self.cells.sort_by_key(|cell| (cell.stage, cell.task));
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); stages];
        for cell in &self.cells {
            rows[cell.stage].push(cell.accuracy);
        }
        let protocol = self.exam.protocol;
        Outcome {
            protocol,
            matrix: Matrix::new(rows),
            cells: self.cells,
            open: protocol
                .is_open()
                .then(|| Open::new(&self.familiar, stages, self.calibrated)),
            calibration_error: self.confidences.error(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_count_the_same_however_many_groups_they_have() {
        let cell = |stage: usize, task: usize, recognised: (usize, usize)| Cell {
            stage,
            task,
            accuracy: 0.0,
            plain: 0.0,
            recognised,
            mistaken: Vec::new(),
            classes: ClassCounts::default(),
        };
        let outcome = Outcome {
            protocol: Protocol::Single,
            matrix: Matrix::new(vec![vec![0.0], vec![0.0, 0.0]]),
            cells: vec![cell(0, 0, (0, 7)), cell(1, 0, (1, 2)), cell(1, 1, (9, 10))],
            open: None,
            calibration_error: None,
        };
        assert_eq!(outcome.task_accuracy(), Some(100.0 * 10.0 / 12.0));
        assert_eq!(outcome.task_accuracy_by_task(), Some(70.0));
    }
}
