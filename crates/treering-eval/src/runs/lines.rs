//! A run as one line of `results.jsonl`: what reports read.

use serde::{Deserialize, Serialize};
use treering_data::{ClassOrder, Grouping, StreamOptions};
use treering_learn::Stored;
use treering_learn::registry::Settings;

use super::record::unlike_matrix;
use super::{Measured, Record, RunResult, Status};
use crate::{Asked, Open, Protocol};

/// The fields of a line, in its order. docs/bench.md says what each is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "docs/bench.md has the table of fields")]
pub struct Line {
    pub format: u32,
    pub hash: String,
    pub data: String,
    pub checksum: String,
    pub synthetic: Option<bool>,
    pub learner: String,
    pub revision: u32,
    pub tp_revision: Option<u32>,
    pub protocol: Protocol,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_revision: Option<u32>,
    pub asked: Asked,
    pub order: ClassOrder,
    pub classes_per_task: Option<usize>,
    pub seed: u64,
    pub split_seed: u64,
    pub stream: StreamOptions,
    pub parameters: Settings,
    pub chosen_by: Vec<String>,
    pub tasks: Option<usize>,
    pub classes: Option<usize>,
    pub status: Status,
    pub error: Option<String>,
    pub aa: Option<f64>,
    pub af: Option<f64>,
    pub task_id_accuracy: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id_by_task: Option<f64>,
    pub micro_accuracy: Option<f64>,
    pub macro_f1: Option<f64>,
    pub matrix: Option<Vec<Vec<f64>>>,
    pub learning_curve: Option<Vec<Option<f64>>>,
    pub stored: Option<Stored>,
    pub stored_floats_per_task: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<Open>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration_error: Option<f64>,
    pub measured: Option<Measured>,
}

impl Line {
    /// Why the line cannot be what a run left, if its parts contradict each other.
    pub fn contradiction(&self) -> Option<&'static str> {
        let (Some(matrix), Some(curve)) = (&self.matrix, &self.learning_curve) else {
            let whole = self.status == Status::Failed && self.aa.is_none();
            return (!whole).then_some("it has no matrix");
        };
        if self.tasks.is_some_and(|tasks| tasks != matrix.len()) {
            return Some("its matrix has not a row for every task");
        }
        let percents = [
            self.task_id_accuracy,
            self.task_id_by_task,
            self.micro_accuracy,
            self.macro_f1,
            self.calibration_error,
        ];
        if !percents
            .iter()
            .flatten()
            .all(|percent| (0.0..=100.0).contains(percent))
        {
            return Some("a share of it lies outside 0 to 100");
        }
        if self.stored_floats_per_task.is_some_and(|count| count < 0.0) {
            return Some("it keeps fewer numbers than none");
        }
        unlike_matrix(matrix, (self.aa, self.af), curve)
    }

    /// The line of a run.
    ///
    /// # Arguments
    /// * `chosen_by`: the searches that chose its parameters.
    pub fn new(record: Record, chosen_by: Vec<String>) -> Self {
        let hash = record.spec.hash();
        let spec = record.spec;
        let classes_per_task = match spec.stream.grouping {
            Grouping::PerTask(classes) => Some(classes),
            Grouping::Groups(_) => None,
        };
        let result = record.result.as_ref();
        let number = |of: fn(&RunResult) -> Option<f64>| result.and_then(of);
        Line {
            format: record.format,
            hash,
            data: spec.data.name,
            checksum: spec.data.checksum,
            synthetic: result.map(|result| result.synthetic),
            learner: spec.learner,
            revision: spec.revision,
            tp_revision: spec.tp_revision,
            protocol: spec.protocol,
            protocol_revision: spec.protocol_revision,
            asked: spec.asked,
            order: spec.stream.order,
            classes_per_task,
            seed: spec.seed,
            split_seed: spec.stream.split_seed,
            stream: spec.stream,
            parameters: spec.parameters,
            chosen_by,
            tasks: result.map(|result| result.matrix.len()),
            classes: result.and_then(|result| result.classes),
            status: record.status,
            error: record.error,
            aa: number(|result| result.aa),
            af: number(|result| result.af),
            task_id_accuracy: number(|result| result.task_id_accuracy),
            task_id_by_task: number(|result| result.task_id_by_task),
            micro_accuracy: number(|result| result.micro_accuracy),
            macro_f1: number(|result| result.macro_f1),
            stored: result.map(|result| result.stored),
            stored_floats_per_task: number(|result| Some(result.stored_floats_per_task)),
            matrix: result.map(|result| result.matrix.clone()),
            learning_curve: result.map(|result| result.learning_curve.clone()),
            open: result.and_then(|result| result.open.clone()),
            calibration_error: number(|result| result.calibration_error),
            measured: record.measured,
        }
    }
}
