//! `treering report` from outside.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::{files, place, refused, works};
use tempfile::TempDir;

/// A bench of one learner that takes milliseconds.
fn benched() -> TempDir {
    let folder = place();
    let bench = "bench --data demo --scale 0.1 --learner finetune --set finetune.epochs=3 --set finetune.hidden=8 --seeds 2 --out results";
    works(&folder, &bench.split(' ').collect::<Vec<_>>());
    folder
}

#[test]
fn a_report_is_text_or_a_page_or_figures() {
    let folder = benched();
    let text = works(&folder, &["report", "results"]);
    let summary = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        summary.contains(
            "1 learner compared on 1 data set under 1 protocol: 2 runs on test nodes, none failed."
        ),
        "{text}"
    );
    assert!(
        text.contains("demo is SYNTHETIC data.") && text.contains("\nfinetune "),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "plain where nobody looks");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );

    let nothing = works(
        &folder,
        &[
            "report",
            "results",
            "-o",
            "report.html",
            "--svg",
            "s",
            "--png",
            "p",
        ],
    );
    assert!(nothing.is_empty());
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("demo (SYNTHETIC)"));
    let names = |of: &str| -> Vec<String> {
        let all = files(&folder.path().join(of)).into_keys();
        all.map(|name| name.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("s"), names("p"));
    assert!(
        names("s").contains(&"matrix-demo-synthetic-paper-finetune".to_owned()),
        "{:?}",
        names("s")
    );
}

#[test]
fn the_same_folder_gives_the_same_page_and_nothing_is_replaced_unasked() {
    let folder = benched();
    let make = ["report", "results", "-o", "report.html"];
    works(&folder, &make);
    let first = fs::read(folder.path().join("report.html")).unwrap();
    refused(&folder, &make, &["report.html", "--force"]);
    works(
        &folder,
        &[&make[..], &["--force", "--threads", "3"]].concat(),
    );
    assert_eq!(fs::read(folder.path().join("report.html")).unwrap(), first);
}

#[test]
fn a_folder_that_cannot_be_reported_on_is_named() {
    let folder = place();
    refused(
        &folder,
        &["report", "nowhere"],
        &["nowhere", "no such folder", "treering bench --out"],
    );
    let results = folder.path().join("results");
    fs::create_dir(&results).unwrap();
    refused(&folder, &["report", "results"], &["no run and no study"]);
    fs::write(results.join("results.jsonl"), "").unwrap();
    refused(&folder, &["report", "results"], &["no run and no study"]);
    fs::write(results.join("results.jsonl"), "\n{\"format\":1,\n").unwrap();
    refused(
        &folder,
        &["report", "results", "-o", "r.html"],
        &["results.jsonl, line 2", "treering bench"],
    );
    assert!(!folder.path().join("r.html").exists());
}
