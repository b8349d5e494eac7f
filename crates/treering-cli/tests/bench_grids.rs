//! `treering bench --grid` from outside: parameters are chosen on validation nodes.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::bench::{computed, records, results, run_files, small};
use common::{command, files, place, text, treering, works};
use serde_json::Value;

/// The files of searches as JSON, with their names.
fn grids(out: &Path) -> Vec<(String, Value)> {
    let all = files(&out.join("grids")).into_iter();
    let value = |bytes: &Vec<u8>| serde_json::from_slice(bytes).unwrap();
    all.map(|(name, bytes)| (name.to_str().unwrap().to_owned(), value(&bytes)))
        .collect()
}

/// The mean over seeds of what validation runs with these parameters gave.
fn validation_aa(all: &[Value], parameters: &Value) -> f64 {
    let fits = |record: &&Value| {
        let wanted = parameters.as_object().unwrap();
        record["spec"]["asked"] == "validation"
            && wanted
                .iter()
                .all(|(key, value)| record["spec"]["parameters"][key].as_f64() == value.as_f64())
    };
    let found: Vec<f64> = all
        .iter()
        .filter(fits)
        .map(|record| record["result"]["aa"].as_f64().unwrap())
        .collect();
    assert_eq!(found.len(), 2);
    found.iter().sum::<f64>() / 2.0
}

#[test]
fn a_grid_is_searched_on_validation_nodes_only() {
    let place = place();
    let out = place.path().join("out");
    let mut arguments = small(&["finetune"], &["--seeds", "2", "--out", "out"]);
    arguments.retain(|text| *text != "finetune.hidden=8");
    let lone = arguments.iter().rposition(|text| *text == "--set").unwrap();
    arguments.remove(lone);
    arguments.extend(["--grid", "finetune.rate=1e-9,0.05,0.002"]);
    arguments.extend(["--grid", "finetune.hidden=4,8"]);
    assert_eq!(computed(&place, &arguments), 6 * 2 + 2);
    let all = records(&out);
    let tests: Vec<&Value> = all
        .iter()
        .filter(|record| record["spec"]["asked"] == "test")
        .collect();
    assert_eq!((all.len(), tests.len()), (14, 2));
    let grids = grids(&out);
    assert_eq!(grids.len(), 1);
    let lines = results(&out);
    let chosen = |line: &&Value| line["chosen_by"] != Value::Array(Vec::new());
    assert_eq!(lines.iter().filter(chosen).count(), 2);
    for test in tests {
        assert!(test.get("chosen_by").is_none(), "a run knows of no grid");
        let line = lines.iter().find(|line| line["aa"] == test["result"]["aa"]);
        let hash = line.unwrap()["chosen_by"][0].as_str().unwrap();
        assert!(grids[0].0.starts_with(&hash[..16]));
        let choice = &grids[0].1;
        let tried = choice["tried"].as_array().unwrap();
        assert_eq!(tried.len(), 6);
        let mut best: Option<(&Value, f64)> = None;
        for one in tried {
            let aa = validation_aa(&all, &one["parameters"]);
            assert_eq!(one["validation_aa"].as_f64(), Some(aa));
            if best.is_none_or(|(_, highest)| aa > highest) {
                best = Some((&one["parameters"], aa));
            }
        }
        let (chosen, _) = best.unwrap();
        assert_eq!(choice["chosen"], *chosen);
        assert_ne!(
            chosen["rate"], 1e-9,
            "a network that never moved is not the best"
        );
        for (key, value) in chosen.as_object().unwrap() {
            assert_eq!(test["spec"]["parameters"][key].as_f64(), value.as_f64());
        }
    }
    let before = files(&out);
    assert_eq!(computed(&place, &arguments), 0);
    assert_eq!(files(&out), before);
}

#[test]
fn a_grid_leaves_plain_runs_and_other_grids_alone() {
    let place = place();
    let out = place.path().join("out");
    let plain = small(
        &["finetune"],
        &[
            "--seeds",
            "1",
            "--out",
            "out",
            "--set",
            "finetune.rate=0.05",
        ],
    );
    let grid = |values: &'static str| {
        let more = ["--seeds", "1", "--out", "out", "--grid", values];
        small(&["finetune"], &more)
    };
    works(&place, &plain);
    let before = run_files(&out);
    let first = works(&place, &grid("finetune.rate=1e-9,0.05"));
    assert!(first.contains("rate=0.05"), "{first}");
    let one = grids(&out);
    works(&place, &grid("finetune.rate=1e-8,0.05"));
    let both = grids(&out);
    assert_eq!((one.len(), both.len()), (1, 2));
    assert!(both.contains(&one[0]), "the first stays as it was");
    for (name, bytes) in &before {
        assert_eq!(run_files(&out).get(name), Some(bytes), "{name} was touched");
    }
    let table = works(&place, &plain);
    assert!(!table.contains("chosen"), "{table}");
    let lines = results(&out);
    let tests: Vec<&Value> = lines
        .iter()
        .filter(|line| line["asked"] == "test")
        .collect();
    assert_eq!(tests.len(), 1);
    assert_eq!(tests[0]["chosen_by"].as_array().unwrap().len(), 2);
}

#[test]
fn a_grid_says_what_it_tries_and_why_it_fails() {
    let place = place();
    let more = [
        "--seeds",
        "1",
        "--out",
        "out",
        "--order",
        "ascending",
        "random",
    ];
    let mut arguments = small(&["finetune"], &more);
    arguments.extend(["--grid", "finetune.rate=0.05,0.05,0.01", "--grid"]);
    let output = treering(place.path(), &arguments);
    let (table, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert_eq!(errors.matches("seed 0 rate=0.05:").count(), 2, "{errors}");
    for order in ["ascending", "random"] {
        let line = format!("chosen on validation nodes for demo {order} finetune");
        assert!(table.contains(&line), "{table}");
    }
    let plain = small(&["finetune"], &["--seeds", "1", "--out", "out", "--grid"]);
    let note = text(&treering(place.path(), &plain).stderr);
    assert!(note.contains("no built-in grid for finetune"), "{note}");
    let mut failing = small(&["finetune"], &["--seeds", "1", "--out", "bad"]);
    failing.extend(["--grid", "finetune.rate=0.05,0.01"]);
    let failed = command(place.path(), &failing)
        .env("TREERING_FAULT", "bench-job:memory")
        .output()
        .unwrap();
    assert_eq!(failed.status.code(), Some(1));
    let table = text(&failed.stdout);
    assert!(
        table.contains("the first error: the process was ended by signal"),
        "{table}"
    );
    assert!(
        table.contains("memory allocation of 4096 bytes failed"),
        "{table}"
    );
}
