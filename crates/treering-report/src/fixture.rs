//! Lines for tests, made by hand.

use serde_json::{Value, json};
use treering_eval::runs::Line;
use treering_learn::registry;

/// A run of two tasks that is done; `learner` has its defaults.
pub(crate) fn done(
    data: &str,
    learner: &str,
    protocol: &str,
    seed: u64,
    matrix: [f64; 3],
) -> Value {
    let [first, old, new] = matrix;
    let mut parameters = registry::defaults(learner).unwrap();
    parameters.insert("seed".into(), seed.into());
    let phases = json!({"prepare": 0.5, "learn": seed + 1, "predict": 0.25, "total": 9.0});
    json!({
        "format": 1, "hash": format!("{data}-{learner}-{protocol}-{seed}"), "data": data, "checksum": format!("sum-of-{data}"),
        "synthetic": data.starts_with("demo"), "learner": learner, "revision": 1, "tp_revision": null, "protocol": protocol,
        "asked": "test", "order": "ascending", "classes_per_task": 2, "seed": seed, "split_seed": seed,
        "stream": {"order": "ascending", "grouping": {"per-task": 2}, "split": "random", "inter_task": "dropped",
                   "seed": seed, "split_seed": seed},
        "parameters": parameters, "chosen_by": [], "tasks": 2, "classes": 4, "status": "done", "error": null,
        "aa": (old + new) / 2.0, "af": old - first, "task_id_accuracy": null, "micro_accuracy": 80.0, "macro_f1": 70.0,
        "matrix": [[first], [old, new]], "learning_curve": [first, (old + new) / 2.0],
        "stored": {"model": 100, "memory": 20}, "stored_floats_per_task": 60.0,
        "measured": {"seconds": phases, "cpu_seconds": phases, "peak_memory_bytes": 1_000_000 * (seed + 1), "threads": 1,
                     "version": "0.1.0"},
    })
}

/// The same run, failed.
pub(crate) fn failed(mut run: Value, error: &str) -> Value {
    for field in [
        "tasks",
        "classes",
        "synthetic",
        "aa",
        "af",
        "micro_accuracy",
        "macro_f1",
        "matrix",
        "learning_curve",
        "stored",
        "stored_floats_per_task",
        "measured",
    ] {
        run[field] = Value::Null;
    }
    run["status"] = "failed".into();
    run["error"] = error.into();
    run
}

pub(crate) fn line(run: Value) -> Line {
    serde_json::from_value(run).unwrap()
}

pub(crate) fn lines(runs: impl IntoIterator<Item = Value>) -> Vec<Line> {
    runs.into_iter().map(line).collect()
}
