//! `treering bench --preset` from outside: tables and studies by name, and results that no kill can change.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::bench::{computed, results, unmeasured};
use common::{command, files, place, refused, synth, text, works};

/// A preset on a toy with a learner that takes milliseconds.
fn preset<'a>(names: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["bench", "--preset"];
    arguments.extend(names);
    arguments.extend([
        "--data", "demo", "--scale", "0.1", "--seeds", "1", "--out", "out",
    ]);
    arguments.extend(["--set", "tpp.hidden=8"]);
    if names
        .iter()
        .any(|name| !["task-id", "pair-difference"].contains(name))
    {
        arguments.extend(["--set", "tpp.epochs=3", "--set", "tpp.contrastive.epochs=2"]);
    }
    arguments.extend(more);
    arguments
}

fn read(out: &Path, name: &str) -> String {
    fs::read_to_string(out.join(name)).unwrap()
}

#[test]
fn a_table_has_a_row_for_every_part_and_the_runs_that_it_shows() {
    let place = place();
    let out = place.path().join("out");
    // k = 3 is the learner itself, which both tables have.
    assert_eq!(
        computed(&place, &preset(&["prompt-size", "ablation"], &[])),
        10
    );
    let table = read(&out, "tables/prompt-size.md");
    for tokens in 1..=6 {
        let run = results(&out).into_iter().find(|run| {
            run["parameters"]["tokens"] == tokens
                && run["parameters"]["shared-head"] == false
                && run["parameters"]["routing"] == "prototype"
        });
        let aa = run.unwrap()["aa"].as_f64().unwrap();
        let row = table
            .lines()
            .find(|row| row.starts_with(&format!("| k = {tokens} |")));
        assert!(row.unwrap().contains(&format!("{aa:.1}")), "{row:?} {aa}");
    }
    assert!(table.contains("SYNTHETIC") && table.contains("nobody says which task it is"));
    assert_eq!(
        read(&out, "tables/ablation.md").matches("task ID").count(),
        5
    );
    assert!(read(&out, "tables/ablation.tex").contains("\\bottomrule"));
    assert!(read(&out, "command.txt").starts_with("treering bench --preset prompt-size ablation"));
    assert_eq!(computed(&place, &preset(&["ablation"], &[])), 0);
    // What a row is made of stays, whatever a user sets.
    computed(
        &place,
        &preset(&["prompt-size"], &["--set", "tpp.tokens=4"]),
    );
    assert_eq!(read(&out, "tables/prompt-size.md"), table);
}

#[test]
fn tasks_are_recognised_without_training_and_studied() {
    let place = place();
    let out = place.path().join("out");
    let arguments = preset(&["task-id", "pair-difference"], &[]);
    assert_eq!(computed(&place, &arguments), 24);
    assert_eq!(results(&out.join("task-id")).len(), 24);
    assert!(!out.join("runs").exists() || files(&out.join("runs")).is_empty());
    let table = read(&out, "tables/task-id.csv");
    assert_eq!(table.lines().count(), 1 + 24);
    let kinds = |files: Vec<String>| {
        let mut kinds: Vec<String> = files
            .iter()
            .map(|name| name.rsplit_once('-').unwrap().0.to_owned())
            .collect();
        kinds.sort();
        kinds
    };
    let studies = files(&out.join("studies"));
    let names = studies.keys().map(|name| name.to_str().unwrap().to_owned());
    let expected = ["embeddings", "pair-difference", "profile-distances"];
    assert_eq!(kinds(names.collect()), expected);
    assert_eq!(computed(&place, &arguments), 0);
    assert_eq!(files(&out.join("studies")), studies);
    let told = works(&place, &["report", "out"]);
    assert!(told.contains("There is no run in this folder"), "{told}");
}

#[test]
fn times_are_taken_in_a_folder_of_their_own() {
    let place = place();
    let out = place.path().join("out");
    let quick = ["twp", "ssm-uniform", "ssm-degree", "delome"];
    let quick: Vec<String> = quick
        .iter()
        .map(|name| format!("{name}.epochs=2"))
        .collect();
    let mut more = vec!["--set", "delome.networks=1"];
    quick.iter().for_each(|set| more.extend(["--set", set]));
    assert_eq!(computed(&place, &preset(&["time"], &more)), 5);
    assert_eq!(results(&out.join("time")).len(), 5);
    assert!(!out.join("results.jsonl").exists() || results(&out).is_empty());
    assert!(read(&out, "tables/time.md").contains("| tpp | no |"));
}

#[test]
fn what_a_preset_decides_cannot_be_chosen_and_missing_data_is_named() {
    let place = place();
    let both = ["bench", "--preset", "main", "--learner", "ewc"];
    refused(&place, &both, &["Leave out --learner"]);
    let wrong = ["bench", "--preset", "papers", "--data", "demo"];
    refused(&place, &wrong, &["pair-difference", "papers"]);
    let missing = [
        "CoraFull",
        "Arxiv",
        "Reddit",
        "Products",
        "TREERING_DATA",
        "--data",
    ];
    refused(&place, &["bench", "--preset", "main"], &missing);
    assert!(!place.path().join("treering-bench").exists());
}

#[test]
fn data_of_the_paper_is_found_by_its_name_and_the_rest_is_named() {
    let place = place();
    synth(&place, "cora_full.treering");
    let mut arguments = vec!["bench", "--preset", "parameters", "--seeds", "1"];
    for set in [
        "task-specific.epochs=2",
        "tpp.epochs=2",
        "tpp.contrastive.epochs=2",
    ] {
        arguments.extend(["--set", set]);
    }
    let output = command(place.path(), &arguments)
        .env("TREERING_DATA", place.path())
        .output()
        .unwrap();
    let told = text(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("Reddit is not in the folder") && !told.contains("CoraFull is not"));
    let table = read(&place.path().join("treering-bench"), "tables/parameters.md");
    assert!(table.contains("SYNTHETIC"), "{table}");
}

/// Five kills at times that differ, then to the end; beside an undisturbed bench with other numbers of jobs and threads.
#[test]
fn five_kills_jobs_and_threads_change_no_result() {
    let place = place();
    let names = ["ablation", "orders", "parameters"];
    let more = [
        "--set",
        "task-specific.epochs=20",
        "--set",
        "joint.epochs=20",
    ];
    let mut arguments = preset(&names, &more);
    for wait in [90, 260, 410, 170, 330] {
        let mut bench = command(place.path(), &arguments).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let _ = bench.kill();
        bench.wait().unwrap();
    }
    computed(&place, &arguments);
    let disturbed = place.path().join("out");
    let at = arguments.iter().position(|word| *word == "out").unwrap();
    arguments[at] = "other";
    arguments.extend(["--jobs", "3", "--threads", "6"]);
    computed(&place, &arguments);
    let other = place.path().join("other");
    assert_eq!(unmeasured(&disturbed), unmeasured(&other));
    let tables = |out: &Path| {
        let mut all = files(&out.join("tables"));
        // What is stored and how good it is, but no time.
        all.retain(|name, _| !name.to_str().unwrap().starts_with("time"));
        all
    };
    assert_eq!(tables(&disturbed), tables(&other));
}
