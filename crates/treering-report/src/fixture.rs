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

/// Studies of every kind, by hand.
pub(crate) fn studies() -> Vec<crate::Study> {
    let common = json!({"format": 1, "data": "demo <1>", "checksum": "00", "synthetic": true, "seed": 0, "order": "ascending",
        "classes_per_task": 2});
    let distances = json!({"kind": "profile-distances", "tasks": ["a", "b"], "steps": 3, "distances": [[0.25, 2.0], [2.0, 0.5]]});
    let embeddings = json!({"kind": "embeddings", "task": 1, "classes": ["<x>", "y"], "before": [[0.0, 1.0, 0], [1.0, 1.0, 1]],
        "after": [[0.5, 0.5, 0], [0.5, 0.5, 1]], "share": {"before": [0.4, 0.1], "after": [0.5, 0.2]}});
    let pair = json!({"kind": "pair-difference", "tasks": ["a & b", "c"], "degrees": {"first": [1.0, 2.0, 3.0], "second": [0.0, 1.0, 5.0]},
        "attributes": {"columns": [7, 9], "first": [0.5, 0.0], "second": [0.25, 0.125]}, "structure": 1.5, "attribute": 0.25});
    let merge = |own: Value| {
        let mut all = common.clone();
        let fields = own.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(fields);
        serde_json::from_value(all).unwrap()
    };
    [distances, embeddings, pair].map(merge).into()
}

/// A folder's content.
pub(crate) fn bench(runs: impl IntoIterator<Item = Value>) -> crate::Bench {
    crate::Bench {
        lines: lines(runs),
        studies: studies(),
        command: Some("treering bench --data 'a<b'".to_owned()),
    }
}
