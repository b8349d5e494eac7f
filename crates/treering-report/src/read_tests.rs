use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::fixture::done;

fn folder(results: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("results.jsonl"), results).unwrap();
    folder
}

fn refusal(folder: &TempDir) -> String {
    read(folder.path()).unwrap_err().to_string()
}

fn study(folder: &TempDir, study: &Value) {
    let studies = folder.path().join("studies");
    fs::create_dir_all(&studies).unwrap();
    fs::write(studies.join("a.json"), study.to_string()).unwrap();
}

fn run() -> Value {
    done("cora", "ewc", "paper", 0, [90.0; 3])
}

fn distances() -> Value {
    json!({"format": 1, "kind": "profile-distances", "data": "cora", "checksum": "00", "synthetic": false, "seed": 0,
        "order": "ascending", "classes_per_task": 2, "tasks": ["a", "b"], "steps": 3, "distances": [[0.1, 2.0], [2.0, 0.1]]})
}

#[test]
fn lines_studies_and_the_command_are_read() {
    let folder = folder(&format!(
        "{}\n\n{}\n",
        run(),
        done("cora", "ewc", "paper", 1, [90.0; 3])
    ));
    study(&folder, &distances());
    fs::write(folder.path().join("command.txt"), "treering bench\n").unwrap();
    fs::write(folder.path().join("studies/readme.txt"), "not a study").unwrap();
    let bench = read(folder.path()).unwrap();
    assert_eq!((bench.lines.len(), bench.studies.len()), (2, 1));
    assert_eq!(bench.command.as_deref(), Some("treering bench"));
    assert_eq!(bench.studies[0].data, "cora");
}

#[test]
fn lines_of_an_older_program_are_read() {
    let mut old = run();
    old["chosen_by"] = Value::Null;
    old.as_object_mut().unwrap().remove("tasks");
    let bench = read(folder(&old.to_string()).path()).unwrap();
    assert!(bench.lines[0].chosen_by.is_empty());
}

#[test]
fn what_is_not_there_is_named() {
    let empty = TempDir::new().unwrap();
    assert!(refusal(&empty).contains("no run and no study"));
    let missing = read(&empty.path().join("x")).unwrap_err().to_string();
    assert!(missing.contains("no such folder") && missing.contains("treering bench --out"));
    let blank = folder("\n \n");
    assert!(refusal(&blank).contains("no run and no study"));
    let inner = blank.path().join("time");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("results.jsonl"), run().to_string()).unwrap();
    assert!(refusal(&blank).contains(&format!("here {}", inner.display())));
}

#[test]
fn studies_without_runs_are_enough() {
    let place = TempDir::new().unwrap();
    study(&place, &distances());
    let bench = read(place.path()).unwrap();
    assert_eq!((bench.lines.len(), bench.studies.len()), (0, 1));
    let page = crate::page(&bench, &[]).unwrap();
    assert!(page.contains("1 study of the tasks of 1 data set. There is no run in this folder."));
    assert!(page.contains("<dt>cora</dt>") && page.contains("aria-labelledby=\"table-h\" hidden"));
    let text = crate::terminal(&bench, &[], false);
    assert!(text.contains("1 study"), "{text}");
}

#[test]
fn a_broken_line_is_named_with_its_number() {
    let cases = [
        "{\"format\":1,".to_owned(),
        "[]".to_owned(),
        json!({"format": 2}).to_string(),
        json!({"format": 1}).to_string(),
    ];
    for case in cases {
        let error = refusal(&folder(&format!("{}\n{case}\n", run())));
        assert!(error.contains("results.jsonl, line 2: "), "{error}");
        assert!(error.contains("treering bench"), "{error}");
        assert!(!error.contains("column"), "{error}");
    }
}

#[test]
fn a_matrix_of_another_shape_is_refused() {
    let mut odd = run();
    odd["matrix"] = json!([[1.0], [2.0, 3.0, 4.0]]);
    assert!(refusal(&folder(&odd.to_string())).contains("matrix"));
}

#[test]
fn figures_that_are_not_those_of_the_matrix_are_refused() {
    for (field, value, why) in [
        ("aa", json!(12.5), "not those of its own matrix"),
        ("aa", json!(1e308), "not those of its own matrix"),
        ("micro_accuracy", json!(-500.0), "outside 0 to 100"),
        ("tasks", json!(300_000_000), "a row for every task"),
        ("stored_floats_per_task", json!(-5.0), "fewer numbers"),
        ("matrix", Value::Null, "no matrix"),
    ] {
        let mut odd = run();
        odd[field] = value;
        let error = refusal(&folder(&odd.to_string()));
        assert!(error.contains(why), "{field}: {error}");
    }
    let twice = refusal(&folder(&format!("{}\n{}\n", run(), run())));
    assert!(
        twice.contains("line 2: this run has a line already"),
        "{twice}"
    );
}

#[test]
fn a_study_that_contradicts_itself_is_refused() {
    let place = folder(&run().to_string());
    for (field, value) in [
        ("tasks", json!(["a"])),
        ("format", json!(2)),
        ("kind", json!("dreams")),
        ("distances", json!([[1.0], [1.0, 2.0]])),
    ] {
        let mut odd = distances();
        odd[field] = value;
        study(&place, &odd);
        let error = refusal(&place);
        assert!(
            error.contains("a.json") && error.contains("remove the file"),
            "{error}"
        );
    }
    let embeddings = json!({"format": 1, "kind": "embeddings", "data": "cora", "checksum": "00", "synthetic": false, "seed": 0,
        "order": "ascending", "classes_per_task": 2, "task": 1, "classes": ["a"], "before": [[0.0, 1.0, 1]],
        "after": [[0.0, 1.0, 0]], "share": {"before": [0.4, 0.1], "after": [0.5, 0.2]}});
    study(&place, &embeddings);
    assert!(refusal(&place).contains("every point has to have a class"));
}
