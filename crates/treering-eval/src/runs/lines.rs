//! A run as one line of `results.jsonl`.

use serde_json::{Value, json};
use treering_data::Grouping;

use super::{Record, RunResult};

/// The run as one flat object.
///
/// # Arguments
/// * `chosen_by`: the hashes of the grids that chose its parameters.
pub fn line(record: &Record, chosen_by: &[String]) -> Value {
    let spec = &record.spec;
    let classes_per_task = match spec.stream.grouping {
        Grouping::PerTask(classes) => Some(classes),
        Grouping::Groups(_) => None,
    };
    let result = record.result.as_ref();
    let number = |of: fn(&RunResult) -> Option<f64>| result.and_then(of);
    json!({
        "format": record.format,
        "hash": spec.hash(),
        "data": spec.data.name,
        "checksum": spec.data.checksum,
        "synthetic": result.map(|result| result.synthetic),
        "learner": spec.learner,
        "revision": spec.revision,
        "tp_revision": spec.tp_revision,
        "protocol": spec.protocol,
        "asked": spec.asked,
        "order": spec.stream.order,
        "classes_per_task": classes_per_task,
        "seed": spec.seed,
        "split_seed": spec.stream.split_seed,
        "stream": spec.stream,
        "parameters": spec.parameters,
        "chosen_by": chosen_by,
        "tasks": result.map(|result| result.matrix.len()),
        "classes": result.map(|result| result.classes),
        "status": record.status,
        "error": record.error,
        "aa": number(|result| result.aa),
        "af": number(|result| result.af),
        "task_id_accuracy": number(|result| result.task_id_accuracy),
        "micro_accuracy": number(|result| result.micro_accuracy),
        "macro_f1": number(|result| result.macro_f1),
        "matrix": result.map(|result| &result.matrix),
        "learning_curve": result.map(|result| &result.learning_curve),
        "stored": result.map(|result| result.stored),
        "stored_floats_per_task": number(|result| Some(result.stored_floats_per_task)),
        "measured": record.measured,
    })
}
