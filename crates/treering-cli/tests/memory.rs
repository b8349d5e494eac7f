//! Memory: what is allowed is kept, changes no byte of a result, and is told before; a file that is cut short in use is an error.
//!
//! The limit is not left to trust: the system refuses the process more data than allowed (RLIMIT_DATA, which all memory of its own counts towards), and what it
//! had resident at the most, mapped pages included, is read from /proc.
#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

mod common;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use common::{binary, files, place, text, works};
use serde_json::Value;
use tempfile::TempDir;

/// What the limited commands may take.
const LIMIT: u64 = 110_000_000;

/// What a job of a list may take.
const JOB_LIMIT: u64 = 60_000_000;

/// 98,000 nodes, 5 million arcs, 100 dense columns: 60 MB.
fn data(place: &TempDir) {
    works(
        place,
        &[
            "data",
            "synth",
            "products-like",
            "--scale",
            "0.04",
            "-o",
            "d.treering",
        ],
    );
}

fn start(place: &TempDir, limit: Option<u64>, args: &[&str]) -> Child {
    let program = binary();
    let mut command = match limit {
        None => Command::new(&program),
        Some(bytes) => {
            let mut shell = Command::new("sh");
            let script = format!("ulimit -d {} && exec \"$0\" \"$@\"", bytes / 1024);
            shell.args(["-c", &script]).arg(&program);
            shell.args(["--memory", &bytes.to_string()]);
            shell
        }
    };
    command
        .args(["--threads", "2"])
        .args(args)
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The most that a process had resident, which only rises; and its end.
fn watched(mut child: Child) -> (u64, Output) {
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse().ok());
        most = most.max(kilobytes.unwrap_or(0u64) * 1024);
        std::thread::sleep(Duration::from_millis(2));
    }
    (most, child.wait_with_output().unwrap())
}

fn done(place: &TempDir, limit: Option<u64>, args: &[&str]) -> (u64, String) {
    let (most, output) = watched(start(place, limit, args));
    assert!(
        output.status.success(),
        "{args:?}: {}",
        text(&output.stderr)
    );
    (most, text(&output.stdout))
}

fn learn<'a>(model: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let learn = [
        "-q",
        "learn",
        model,
        "d.treering",
        "--classes-per-task",
        "2",
    ];
    [&learn, more].concat()
}

#[test]
fn a_limit_that_the_system_enforces_changes_no_byte() {
    let place = place();
    data(&place);
    let few = [
        "--learner",
        "tpp",
        "--epochs",
        "3",
        "--pretrain-epochs",
        "3",
        "--contrast-budget",
        "256",
    ];
    for (name, more) in [("ours", &[][..]), ("tpp", &few)] {
        let [whole, limited] = [format!("{name}-whole"), format!("{name}-limited")];
        let (free, _) = done(&place, None, &learn(&whole, more));
        let (held, _) = done(&place, Some(LIMIT), &learn(&limited, more));
        assert!(held <= LIMIT, "{name}: {held} bytes were held");
        assert!(free > LIMIT, "{name}: {free} bytes are no test of a limit");
        let [a, b] = [&whole, &limited].map(|model| files(&place.path().join(model)));
        assert!(a == b, "{name}: the models differ");
        let ask = |out: &'static str| ["-q", "predict", "ours-whole", "d.treering", "-o", out];
        if name == "ours" {
            done(&place, None, &ask("whole.csv"));
            let (held, _) = done(&place, Some(LIMIT), &ask("limited.csv"));
            assert!(held <= LIMIT, "answering: {held} bytes were held");
            let [a, b] = ["whole.csv", "limited.csv"].map(|name| fs::read(place.path().join(name)));
            assert!(a.unwrap() == b.unwrap(), "the answers differ");
        }
    }
}

#[test]
fn no_job_of_a_list_takes_more_than_it_may() {
    let place = place();
    data(&place);
    done(&place, None, &learn("m", &[]));
    for (name, command) in [
        ("prototypes.csv", &["profile", "d.treering"][..]),
        ("answers.csv", &["predict", "m", "d.treering"]),
    ] {
        let whole = [&["-q"], command, &["-o", "whole.csv", "--force"]].concat();
        let (free, _) = done(&place, None, &whole);
        let jobs = format!("jobs-{name}");
        let limit = format!("--memory={JOB_LIMIT}");
        let plan = [&["-q", "plan", &jobs], command, &["-o", name, &limit]].concat();
        done(&place, None, &plan);
        let open = done(&place, None, &["exec", &jobs, "--open"]).1;
        let ids = open.lines().map(|line| serde_json::from_str(line).unwrap());
        for job in ids.collect::<Vec<Value>>() {
            let id = job["id"].as_str().unwrap();
            let exec = ["-q", "exec", &jobs, "--job", id];
            let (held, _) = done(&place, Some(JOB_LIMIT), &exec);
            assert!(held <= JOB_LIMIT, "{id}: {held} bytes were held");
        }
        assert!(free > JOB_LIMIT, "{free} bytes are no test of a limit");
        let [a, b] = ["whole.csv", name].map(|name| fs::read(place.path().join(name)));
        assert!(a.unwrap() == b.unwrap(), "{name} differs");
    }
}

#[test]
fn what_learning_will_take_is_told_before_within_a_fifth() {
    let place = place();
    data(&place);
    for limit in [None, Some(LIMIT)] {
        let (_, told) = done(&place, limit, &learn("m", &["--dry-run", "--json"]));
        let told: Value = serde_json::from_str(&told).unwrap();
        let told = told["memory"]["peak"].as_u64().unwrap() as f64;
        assert!(!place.path().join("m").exists(), "a dry run learns nothing");
        let (held, _) = done(&place, limit, &learn("m", &[]));
        let ratio = told / held as f64;
        assert!((0.8..=1.2).contains(&ratio), "{told} told, {held} held");
        fs::remove_dir_all(place.path().join("m")).unwrap();
    }
    let stats = works(&place, &["data", "stats", "d.treering"]);
    assert!(stats.contains("memory to learn"), "{stats}");
}

#[test]
fn what_cannot_fit_is_refused_before_it_begins() {
    let place = place();
    data(&place);
    let (_, output) = watched(start(&place, None, &learn("m", &["--memory", "40MB"])));
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("--memory") && told.contains("40.0 MB"),
        "{told}"
    );
    assert!(!place.path().join("m").exists(), "nothing was begun");
}

fn is_mapped(child: &Child, file: &Path) -> bool {
    let maps = fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap_or_default();
    maps.contains(&*file.to_string_lossy())
}

#[test]
fn a_file_that_is_cut_short_in_use_is_an_error_and_no_crash() {
    let place = place();
    data(&place);
    // Long enough to be met while it works.
    let long = [
        "--learner",
        "tpp",
        "--pretrain-epochs",
        "60",
        "--contrast-budget",
        "64",
    ];
    let mut child = start(&place, None, &learn("m", &long));
    let file = place.path().join("d.treering").canonicalize().unwrap();
    while !is_mapped(&child, &file) {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(2));
    }
    File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_len(1 << 20)
        .unwrap();
    let (_, output) = watched(child);
    let told = text(&output.stderr);
    assert!(output.status.code().is_some(), "a signal ended it: {told}");
    assert!(!output.status.success());
    assert!(
        told.contains("d.treering") && told.contains("in use"),
        "{told}"
    );
    assert!(!told.contains("panicked"), "{told}");
}
