//! Small benches, and what they leave behind.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::{files, text, treering};

pub const DATA: [&str; 5] = ["bench", "--data", "demo", "--scale", "0.1"];
pub const SMALL: [&str; 8] = [
    "--set",
    "finetune.epochs=3",
    "--set",
    "finetune.hidden=8",
    "--set",
    "joint.epochs=3",
    "--set",
    "joint.hidden=8",
];

/// Arguments for learners that take milliseconds.
pub fn small<'a>(learners: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = DATA.to_vec();
    arguments.push("--learner");
    arguments.extend(learners);
    for pair in SMALL.chunks(2) {
        let learner = pair[1].split('.').next().unwrap();
        if learners
            .iter()
            .any(|name| name.trim_end_matches("+tp") == learner)
        {
            arguments.extend(pair);
        }
    }
    arguments.extend(more);
    arguments
}

pub fn run_files(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let all = files(&out.join("runs")).into_iter();
    all.map(|(name, bytes)| (name.to_str().unwrap().to_owned(), bytes))
        .collect()
}

/// Every run file as JSON.
pub fn records(out: &Path) -> Vec<Value> {
    let all = run_files(out);
    all.values()
        .map(|bytes| serde_json::from_slice(bytes).unwrap())
        .collect()
}

pub fn results(out: &Path) -> Vec<Value> {
    let all = fs::read_to_string(out.join("results.jsonl")).unwrap();
    all.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Run files and results.jsonl without what may differ from call to call, as text.
pub fn unmeasured(out: &Path) -> Vec<String> {
    let strip = |mut value: Value| {
        let measured = value.as_object_mut().unwrap().remove("measured");
        assert!(measured.is_some());
        value.to_string()
    };
    let all = records(out).into_iter().chain(results(out));
    all.map(strip).collect()
}

/// Runs a bench that must succeed; how many runs it computed.
pub fn computed(folder: &TempDir, arguments: &[&str]) -> usize {
    let output = treering(folder.path(), arguments);
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    errors.lines().filter(|line| line.starts_with('[')).count()
}
