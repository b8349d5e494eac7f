//! Rows over seeds: the runs that differ in nothing but the seed become one row, with mean and deviation.

mod order;
mod spread;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use treering_eval::Asked;
use treering_eval::runs::{Line, Measured, Status};
use treering_learn::registry::Settings;

use crate::label;

pub use order::GroupSize;
pub(crate) use order::rank;
pub use spread::Spread;

/// What the runs of a row have in common.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What to call the data: its name, and the start of its checksum where several have one name.
    pub data: String,
    /// The data's content.
    pub checksum: String,
    /// Whether a generator made it up. Only runs with a result know.
    pub synthetic: bool,
    /// The order of classes.
    pub order: String,
    /// Classes per task, where all have the same number.
    pub classes_per_task: Option<usize>,
    /// Where train, validation and test come from.
    pub split: String,
    /// The split that all runs share; none where each has its own.
    pub split_seed: Option<u64>,
    /// The learner's name.
    pub learner: String,
    /// What to call it beside the other rows: the name, and the parameters that tell variants apart.
    pub label: String,
    /// The parameters that are not the registry's defaults, in words.
    pub changed: String,
    /// All parameters but the seed.
    pub parameters: Settings,
    /// The learner's revision.
    pub revision: u32,
    /// The revision of task prediction, where it is plugged in.
    pub tp_revision: Option<u32>,
    /// The protocol.
    pub protocol: String,
    /// Tasks of the stream; none where every run failed.
    pub tasks: Option<usize>,
    /// Classes of the stream.
    pub classes: Option<usize>,
    /// The seeds of all runs, in order.
    pub seeds: Vec<u64>,
    /// How many runs have a result.
    pub done: usize,
    /// Those that have none.
    pub failed: Vec<Failed>,
    /// Average accuracy in percent.
    pub aa: Option<Spread>,
    /// Average forgetting in points.
    pub af: Option<Spread>,
    /// Groups whose task was recognised, in percent.
    pub task_id_accuracy: Option<Spread>,
    /// The mean over tasks of the share of their groups that were recognised.
    pub task_id_by_task: Option<Spread>,
    /// Nodes answered rightly, in percent.
    pub micro_accuracy: Option<Spread>,
    /// Mean of F1 over classes, in percent.
    pub macro_f1: Option<Spread>,
    /// How far confidence and the share of right answers are apart, in percent.
    pub calibration_error: Option<Spread>,
    /// How well known tasks were told from unknown ones, in percent; only under the protocols `open`.
    pub auroc: Option<Spread>,
    /// Numbers kept in the end, by the number of tasks.
    pub stored_floats_per_task: Option<Spread>,
    /// Processor seconds of learning.
    pub learn_seconds: Option<Spread>,
    /// Processor seconds of answering.
    pub predict_seconds: Option<Spread>,
    /// Most bytes that the process held.
    pub peak_memory_bytes: Option<Spread>,
    /// Means of accuracies: after each task (row), on each so far (column). A row is empty where the stage was not asked about.
    pub matrix: Vec<Vec<f64>>,
    /// The mean of every row of the matrix, over seeds.
    pub learning_curve: Vec<Option<Spread>>,
}

/// A run without a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failed {
    /// Its seed.
    pub seed: u64,
    /// Its hash.
    pub hash: String,
    /// Why.
    pub error: String,
}

impl Row {
    /// How many runs there are, done and failed.
    pub fn runs(&self) -> usize {
        self.done + self.failed.len()
    }

    fn revisions(&self) -> String {
        match self.tp_revision {
            Some(tp) => format!("{}, tp {tp}", self.revision),
            None => self.revision.to_string(),
        }
    }

    /// How many nodes come together under the row's protocol; none where that is not what the protocol is about.
    pub fn group_size(&self) -> Option<GroupSize> {
        order::group_size(&self.protocol)
    }
}

/// Puts runs on test nodes together that differ in nothing but the seed, sorted by data, stream, protocol and learner. Runs on validation nodes
/// served to choose parameters and are left out.
pub fn summarise(lines: &[Line]) -> Vec<Row> {
    let mut series: BTreeMap<String, Vec<&Line>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.asked == Asked::Test) {
        series.entry(key(line)).or_default().push(line);
    }
    let mut rows: Vec<Row> = series.values().flat_map(|lines| by_split(lines)).collect();
    name(&mut rows, lines);
    rows.sort_by_cached_key(order::place);
    rows
}

/// A value of few words as it is written in files.
pub(crate) fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Everything that a run depends on but for its seeds.
fn key(line: &Line) -> String {
    let mut stream = line.stream.clone();
    (stream.seed, stream.split_seed) = (0, 0);
    // Two programs may write the same parameters in another order.
    let mut parameters = Value::Object(without_seed(&line.parameters));
    parameters.sort_all_objects();
    let learner = (&line.learner, line.revision, line.tp_revision, &parameters);
    let protocol = (&line.protocol, line.protocol_revision);
    word(&(&line.data, &line.checksum, &stream, learner, protocol))
}

fn without_seed(parameters: &Settings) -> Settings {
    let mut parameters = parameters.clone();
    parameters.shift_remove("seed");
    parameters
}

/// Runs may share one split or have one each. A run whose split has its own seed belongs to both kinds of row, but a row of
/// such runs alone is left out where all of them are part of another.
fn by_split(lines: &[&Line]) -> Vec<Row> {
    let shared: BTreeSet<u64> = lines
        .iter()
        .filter(|line| line.split_seed != line.seed)
        .map(|line| line.split_seed)
        .collect();
    let own = |line: &&&Line| line.split_seed == line.seed;
    let mut rows = Vec::new();
    let apart: Vec<&Line> = lines.iter().filter(own).copied().collect();
    if apart.iter().any(|line| !shared.contains(&line.seed)) {
        rows.push(row(&apart, None));
    }
    for &seed in &shared {
        let together = lines.iter().filter(|line| line.split_seed == seed);
        rows.push(row(&together.copied().collect::<Vec<_>>(), Some(seed)));
    }
    rows
}

/// One row of runs that are alike; there is at least one.
fn row(lines: &[&Line], split_seed: Option<u64>) -> Row {
    let mut lines = lines.to_vec();
    lines.sort_by_key(|line| line.seed);
    let first = lines[0];
    let done: Vec<&Line> = lines
        .iter()
        .filter(|line| line.status == Status::Done)
        .copied()
        .collect();
    let over = |of: fn(&Line) -> Option<f64>| {
        let values: Vec<f64> = done.iter().filter_map(|line| of(line)).collect();
        Spread::of(&values)
    };
    let failed = lines.iter().filter(|line| line.status == Status::Failed);
    Row {
        data: first.data.clone(),
        checksum: first.checksum.clone(),
        synthetic: false,
        order: word(&first.order),
        classes_per_task: first.classes_per_task,
        split: word(&first.stream.split),
        split_seed,
        learner: first.learner.clone(),
        label: first.learner.clone(),
        changed: label::changed(&first.learner, &first.parameters),
        parameters: without_seed(&first.parameters),
        revision: first.revision,
        tp_revision: first.tp_revision,
        protocol: word(&first.protocol),
        // Older programs wrote no number of tasks.
        tasks: done
            .iter()
            .find_map(|line| line.tasks.or(line.matrix.as_ref().map(Vec::len))),
        classes: done.iter().find_map(|line| line.classes),
        seeds: lines.iter().map(|line| line.seed).collect(),
        done: done.len(),
        failed: failed.map(|line| failure(line)).collect(),
        aa: over(|line| line.aa),
        af: over(|line| line.af),
        task_id_accuracy: over(|line| line.task_id_accuracy),
        task_id_by_task: over(|line| line.task_id_by_task),
        micro_accuracy: over(|line| line.micro_accuracy),
        macro_f1: over(|line| line.macro_f1),
        calibration_error: over(|line| line.calibration_error),
        auroc: over(|line| line.open.as_ref()?.auroc),
        stored_floats_per_task: over(|line| line.stored_floats_per_task),
        learn_seconds: over(|line| measured(line, |m| m.cpu_seconds.learning())),
        predict_seconds: over(|line| measured(line, |m| m.cpu_seconds.predict)),
        peak_memory_bytes: over(|line| measured(line, |m| m.peak_memory_bytes as f64)),
        matrix: mean_matrix(&done),
        learning_curve: mean_curve(&done),
    }
}

fn measured(line: &Line, of: fn(&Measured) -> f64) -> Option<f64> {
    line.measured.as_ref().map(of)
}

fn failure(line: &Line) -> Failed {
    let error = line.error.clone();
    Failed {
        seed: line.seed,
        hash: line.hash.clone(),
        error: error.unwrap_or_else(|| "no reason is recorded".to_owned()),
    }
}

/// Entry by entry over the runs that have it: streams of random order may differ in their number of tasks.
fn mean_matrix(lines: &[&Line]) -> Vec<Vec<f64>> {
    let matrices: Vec<&Vec<Vec<f64>>> = lines
        .iter()
        .filter_map(|line| line.matrix.as_ref())
        .collect();
    let stages = matrices.iter().map(|rows| rows.len()).max().unwrap_or(0);
    let mean = |stage: usize, task: usize| {
        let values = matrices
            .iter()
            .filter_map(|rows| rows.get(stage)?.get(task).copied());
        Spread::of(&values.collect::<Vec<_>>()).map(|spread| spread.mean)
    };
    (0..stages)
        .map(|stage| (0..=stage).map_while(|task| mean(stage, task)).collect())
        .collect()
}

fn mean_curve(lines: &[&Line]) -> Vec<Option<Spread>> {
    let curves: Vec<&Vec<Option<f64>>> = lines
        .iter()
        .filter_map(|line| line.learning_curve.as_ref())
        .collect();
    let stages = curves.iter().map(|curve| curve.len()).max().unwrap_or(0);
    let spread = |stage: usize| {
        let values = curves.iter().filter_map(|curve| *curve.get(stage)?);
        Spread::of(&values.collect::<Vec<_>>())
    };
    (0..stages).map(spread).collect()
}

/// What can only be said in sight of all rows: labels, and whether the data of failed runs is synthetic.
fn name(rows: &mut [Row], lines: &[Line]) {
    let data = label::data(
        lines
            .iter()
            .map(|line| (line.data.as_str(), line.checksum.as_str())),
    );
    let synthetic: BTreeMap<&str, bool> = lines
        .iter()
        .filter_map(|line| Some((line.checksum.as_str(), line.synthetic?)))
        .collect();
    let mut sides: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter_mut().enumerate() {
        row.synthetic = synthetic
            .get(row.checksum.as_str())
            .copied()
            .unwrap_or(false);
        if let Some(label) = data.get(&(row.data.clone(), row.checksum.clone())) {
            row.data.clone_from(label);
        }
        sides.entry(side(row)).or_default().push(at);
    }
    for side in sides.values().filter(|side| side.len() > 1) {
        let variants: Vec<(&Settings, String)> = side
            .iter()
            .map(|&at| (&rows[at].parameters, rows[at].revisions()))
            .collect();
        let labels = label::variants(&rows[side[0]].learner, &variants);
        for (&at, label) in side.iter().zip(labels) {
            rows[at].label = label;
        }
    }
}

/// Rows that would be called the same by their learner's name alone.
fn side(row: &Row) -> String {
    let stream = (&row.order, row.classes_per_task, &row.split, row.split_seed);
    word(&(
        &row.data,
        &row.checksum,
        stream,
        &row.protocol,
        &row.learner,
    ))
}

#[cfg(test)]
mod tests;
