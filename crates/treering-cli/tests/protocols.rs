//! Protocols of `treering bench` from outside.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::{place, refused, works};
use serde_json::Value;
use tempfile::TempDir;

const SMALL: [&str; 13] = [
    "bench",
    "--data",
    "demo",
    "--scale",
    "0.1",
    "--seeds",
    "1",
    "--set",
    "finetune.epochs=3",
    "--learner",
    "finetune",
    "finetune+tp",
    "--protocol",
];

fn bench(place: &TempDir, protocols: &[&str], more: &[&str]) -> String {
    works(place, &[&SMALL, protocols, more].concat())
}

fn lines(place: &TempDir, out: &str) -> Vec<Value> {
    let text = fs::read_to_string(place.path().join(out).join("results.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_protocol_gives_a_result_and_only_open_an_auroc() {
    let place = place();
    let all = [
        "paper",
        "single",
        "groups:3",
        "mixed",
        "connected",
        "inductive",
        "open",
        "open:3",
        "oracle",
        "patched",
    ];
    let table = bench(&place, &all, &["--out", "out"]);
    assert!(table.contains("AUROC"), "{table}");
    let lines = lines(&place, "out");
    assert_eq!(lines.len(), 2 * all.len());
    for line in &lines {
        let protocol = line["protocol"].as_str().unwrap();
        assert!(all.contains(&protocol) && line["aa"].is_number(), "{line}");
        let open = line.get("open").map(|open| &open["auroc"]);
        assert_eq!(open.is_some(), protocol.starts_with("open"), "{line}");
        // Prototypes do not say how familiar a part of a task is.
        let silent = protocol == "open:3" && line["learner"] == "finetune+tp";
        assert!(
            open.is_none_or(|auroc| auroc.is_number() != silent),
            "{line}"
        );
        // No learner of these is calibrated.
        let said = |field: &str| line.get(field).is_some();
        assert!(!said("calibration_error") && line["open"]["rejections"].is_null());
        let last = line["matrix"].as_array().unwrap().last().unwrap();
        assert_eq!(last.as_array().unwrap().len(), 6, "{line}");
    }
    // Two trainings: one for inductive, one for all others.
    let mut measured: Vec<String> = lines.iter().map(|l| l["measured"].to_string()).collect();
    measured.sort();
    measured.dedup();
    assert_eq!(measured.len(), 2);
    // Where nothing is open, the table is as it was.
    assert!(!bench(&place, &["paper"], &["--out", "out"]).contains("AUROC"));
}

#[test]
fn groups_of_one_are_single_in_flags_and_config() {
    let place = place();
    bench(&place, &["single,groups:1"], &["--out", "out"]);
    assert_eq!(lines(&place, "out").len(), 2);
    let config = "data = 'demo'\nscale = 0.1\nlearner = 'finetune'\nseeds = 1\nprotocol = ['groups:1', 'groups:4']\nout = 'file'\n\
        set = ['finetune.epochs=3']\n";
    fs::write(place.path().join("compare.toml"), config).unwrap();
    works(&place, &["bench", "compare.toml"]);
    let mut protocols: Vec<Value> = lines(&place, "file")
        .iter()
        .map(|line| line["protocol"].clone())
        .collect();
    protocols.sort_by_key(Value::to_string);
    assert_eq!(protocols, ["groups:4", "single"]);
}

#[test]
fn what_is_no_protocol_is_refused_with_the_names() {
    let place = place();
    for wrong in ["papers", "groups:0", "groups", "open:0", "open:x", "open:"] {
        let told = ["--protocol", wrong, "groups:M", "open:M", "oracle"];
        refused(&place, &[&SMALL[..], &[wrong]].concat(), &told);
    }
    fs::write(place.path().join("x.toml"), "protocol = 'papers'").unwrap();
    let told = ["x.toml", "protocol is \"papers\"", "inductive"];
    refused(&place, &["bench", "x.toml"], &told);
}

#[test]
fn help_says_what_each_protocol_shows() {
    let help = works(&place(), &["bench", "--help"]);
    for told in [
        "groups:5:  a task's test nodes come in random groups",
        "open:5:    as groups:5, or of any number from 1 on",
        "connected: as mixed, with the edges between the tasks seen",
        "inductive: training shows train nodes only",
    ] {
        assert!(help.contains(told), "`{told}` is not in: {help}");
    }
}
