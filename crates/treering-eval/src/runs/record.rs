//! What is kept of a run.

use serde::{Deserialize, Serialize};
use treering_learn::{Learner, Stored};

use super::RunSpec;
use crate::{Costs, Matrix, Open, Outcome, Protocol, Spent, peak_memory};

/// The version of run files. Counts up when a reader of the old ones could not read the new ones.
pub const FORMAT: u32 = 1;

/// One run as its file has it. Everything that may differ from call to call is under `measured`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of the file.
    pub format: u32,
    /// What was asked for.
    pub spec: RunSpec,
    /// Whether there is a result.
    pub status: Status,
    /// Why not.
    pub error: Option<String>,
    /// What came out.
    pub result: Option<RunResult>,
    /// What it took.
    pub measured: Option<Measured>,
}

/// Whether a run gave a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It did.
    Done,
    /// It gave an error.
    Failed,
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Whether the data was made up by a generator.
    pub synthetic: bool,
    /// Classes of all tasks together; none in files that do not say.
    #[serde(default)]
    pub classes: Option<usize>,
    /// Average accuracy in percent.
    pub aa: Option<f64>,
    /// Average forgetting in points of percent; none for one task, or where earlier stages were not asked about.
    pub af: Option<f64>,
    /// The share of groups whose task was recognised, in percent; none for a learner without a router, and where the task is given.
    pub task_id_accuracy: Option<f64>,
    /// The mean over tasks of the share of their groups that were recognised, in percent; none in files that do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id_by_task: Option<f64>,
    /// The share of nodes answered rightly after the last task, in percent.
    pub micro_accuracy: Option<f64>,
    /// The mean of F1 over classes after the last task, in percent.
    pub macro_f1: Option<f64>,
    /// Accuracy by stage and task.
    pub matrix: Vec<Vec<f64>>,
    /// The mean of every row of the matrix.
    pub learning_curve: Vec<Option<f64>>,
    /// Numbers kept in the end.
    pub stored: Stored,
    /// All of them by the number of tasks.
    pub stored_floats_per_task: f64,
    /// How well known tasks were told from unknown ones; only under the protocols `open` and `open:M`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<Open>,
    /// How far confidence and the share of right answers are apart after the last task, in percent; none for a learner without confidences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration_error: Option<f64>,
}

impl RunResult {
    /// Reads an outcome off, of the learner that was asked.
    pub fn new(outcome: &Outcome, learner: &dyn Learner, about: About) -> Self {
        let (matrix, counts) = (&outcome.matrix, outcome.classes());
        let stored = learner.stored();
        let routed = learner.recognises() && outcome.protocol != Protocol::Oracle;
        let tasks = matrix.rows().len().max(1);
        RunResult {
            synthetic: about.synthetic,
            classes: Some(about.classes),
            aa: matrix.average_accuracy(),
            af: matrix.average_forgetting(),
            task_id_accuracy: outcome.task_accuracy().filter(|_| routed),
            task_id_by_task: outcome.task_accuracy_by_task().filter(|_| routed),
            micro_accuracy: counts.micro_accuracy(),
            macro_f1: counts.macro_f1(),
            matrix: matrix.rows().to_vec(),
            learning_curve: matrix.learning_curve(),
            stored,
            stored_floats_per_task: (stored.model + stored.memory) as f64 / tasks as f64,
            open: outcome.open.clone(),
            calibration_error: outcome.calibration_error,
        }
    }
}

impl RunResult {
    /// What can be computed from the matrix has to be what the matrix gives.
    fn contradiction(&self) -> Option<&'static str> {
        let unlike = unlike_matrix(&self.matrix, (self.aa, self.af), &self.learning_curve);
        if unlike.is_some() {
            return unlike;
        }
        let stored = (self.stored.model + self.stored.memory) as f64;
        let per_task = stored / self.matrix.len().max(1) as f64;
        if !same(Some(per_task), Some(self.stored_floats_per_task)) {
            return Some("its stored numbers per task are not those of its tasks");
        }
        let sound = |open: &Open| open.is_sound(self.matrix.len()) && same(open.mean(), open.auroc);
        let sound = self.open.as_ref().is_none_or(sound);
        if !sound {
            return Some(
                "its AUROC is not that of its stages, or its rejections are no shares of groups",
            );
        }
        let percent = |error: f64| (0.0..=100.0).contains(&error);
        let calibrated = self.calibration_error.is_none_or(percent);
        (!calibrated).then_some("its calibration error is no percentage")
    }
}

/// Why figures cannot be those of a matrix.
///
/// # Arguments
/// * `average`: accuracy and forgetting.
pub(super) fn unlike_matrix(
    rows: &[Vec<f64>],
    average: (Option<f64>, Option<f64>),
    curve: &[Option<f64>],
) -> Option<&'static str> {
    let row = |(stage, row): (usize, &Vec<f64>)| {
        let percent = row.iter().all(|value| (0.0..=100.0).contains(value));
        percent && (row.is_empty() || row.len() == stage + 1)
    };
    if !rows.iter().enumerate().all(row) {
        return Some("its matrix is none of accuracies");
    }
    let matrix = Matrix::new(rows.to_vec());
    let right = matrix.learning_curve();
    let same_curve =
        right.len() == curve.len() && right.iter().zip(curve).all(|(a, b)| same(*a, *b));
    let agrees = same(matrix.average_accuracy(), average.0)
        && same(matrix.average_forgetting(), average.1)
        && same_curve;
    (!agrees).then_some("its figures are not those of its own matrix")
}

/// Equal but for rounding.
fn same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// What a result says about its data.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Whether a generator made it up.
    pub synthetic: bool,
    /// Classes of all tasks together.
    pub classes: usize,
}

/// What a run took. Runs of one training share these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// By the clock.
    pub seconds: Phases,
    /// By all processor cores together.
    pub cpu_seconds: Phases,
    /// The most memory that the process held.
    pub peak_memory_bytes: u64,
    /// Threads it worked with.
    pub threads: usize,
    /// The program's version.
    pub version: String,
}

/// Seconds by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Starting the process, and reading the data.
    pub prepare: f64,
    /// Training the backbone.
    #[serde(default)]
    pub pretrain: f64,
    /// Learning all tasks, apart from that and from the profiles.
    pub learn: f64,
    /// Taking the prototypes of all tasks.
    #[serde(default)]
    pub profile: f64,
    /// Answering, for all runs of the training.
    pub predict: f64,
    /// All of these.
    pub total: f64,
}

impl Phases {
    /// Everything that a learner does before it can be asked.
    pub fn learning(&self) -> f64 {
        self.pretrain + self.learn + self.profile
    }

    /// One kind of seconds of all phases.
    fn of(prepare: Spent, costs: &Costs, seconds: fn(&Spent) -> f64) -> Self {
        let [pretrain, learn, profile, predict] = [
            &costs.pretrain,
            &costs.learn,
            &costs.profile,
            &costs.predict,
        ]
        .map(seconds);
        let prepare = seconds(&prepare);
        Phases {
            prepare,
            pretrain,
            learn,
            profile,
            predict,
            total: prepare + pretrain + learn + profile + predict,
        }
    }
}

impl Measured {
    /// What this process took for some runs.
    ///
    /// # Arguments
    /// * `prepare`: what it took before the learner began.
    pub fn new(prepare: Spent, costs: &Costs, threads: usize, version: &str) -> Self {
        Measured {
            seconds: Phases::of(prepare, costs, |spent| spent.wall),
            cpu_seconds: Phases::of(prepare, costs, |spent| spent.cpu),
            peak_memory_bytes: peak_memory(),
            threads,
            version: version.to_owned(),
        }
    }
}

impl Record {
    /// A run that gave a result.
    pub fn done(spec: RunSpec, result: RunResult, measured: Measured) -> Self {
        Record {
            format: FORMAT,
            spec,
            status: Status::Done,
            error: None,
            result: Some(result),
            measured: Some(measured),
        }
    }

    /// A run that did not.
    pub fn failed(spec: RunSpec, error: String) -> Self {
        Record {
            format: FORMAT,
            spec,
            status: Status::Failed,
            error: Some(error),
            result: None,
            measured: None,
        }
    }

    /// Why the record cannot be what a run left, if its parts contradict each other.
    pub fn contradiction(&self) -> Option<&'static str> {
        match (self.status, &self.result, &self.error, &self.measured) {
            (Status::Done, Some(result), None, Some(_)) => {
                match result.open.is_some() == self.spec.protocol.is_open() {
                    true => result.contradiction(),
                    false => Some("it has an AUROC, or none, against its protocol"),
                }
            }
            (Status::Failed, None, Some(_), None) => None,
            _ => Some("its status and its result contradict each other"),
        }
    }

    /// Average accuracy, where there is one.
    pub fn aa(&self) -> Option<f64> {
        self.result.as_ref().and_then(|result| result.aa)
    }
}
