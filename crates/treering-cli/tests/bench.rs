//! `treering bench` from outside: only what is missing is computed, and nothing but time differs between calls.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{command, files, place, refused, text, treering, works};
use serde_json::Value;
use tempfile::TempDir;

const DATA: [&str; 5] = ["bench", "--data", "demo", "--scale", "0.1"];
const SMALL: [&str; 8] = [
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
fn small<'a>(learners: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
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

fn run_files(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let all = files(&out.join("runs")).into_iter();
    all.map(|(name, bytes)| (name.to_str().unwrap().to_owned(), bytes))
        .collect()
}

/// Every run file as JSON.
fn records(out: &Path) -> Vec<Value> {
    let all = run_files(out);
    all.values()
        .map(|bytes| serde_json::from_slice(bytes).unwrap())
        .collect()
}

fn results(out: &Path) -> Vec<Value> {
    let all = fs::read_to_string(out.join("results.jsonl")).unwrap();
    all.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Run files and results.jsonl without what may differ from call to call, as text.
fn unmeasured(out: &Path) -> Vec<String> {
    let strip = |mut value: Value| {
        let measured = value.as_object_mut().unwrap().remove("measured");
        assert!(measured.is_some());
        value.to_string()
    };
    let all = records(out).into_iter().chain(results(out));
    all.map(strip).collect()
}

/// Runs a bench that must succeed; how many runs it computed.
fn computed(folder: &TempDir, arguments: &[&str]) -> usize {
    let output = treering(folder.path(), arguments);
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    errors.lines().filter(|line| line.starts_with('[')).count()
}

#[test]
fn a_second_call_does_only_what_is_missing() {
    let place = place();
    let out = place.path().join("out");
    let first = small(&["finetune"], &["--seeds", "2", "--out", "out"]);
    assert_eq!(computed(&place, &first), 2);
    let before = run_files(&out);
    assert_eq!(before.len(), 2);
    let more = small(&["finetune", "joint"], &["--seeds", "3", "--out", "out"]);
    assert_eq!(computed(&place, &more), 4);
    let after = run_files(&out);
    assert_eq!(after.len(), 6);
    for (name, bytes) in &before {
        assert_eq!(after.get(name), Some(bytes), "{name} was touched");
    }
    let everything = files(&out);
    assert_eq!(computed(&place, &more), 0);
    assert_eq!(files(&out), everything);
}

#[test]
fn results_have_a_line_a_run_in_the_order_of_their_hashes() {
    let place = place();
    let out = place.path().join("out");
    let arguments = [
        "--protocol",
        "paper",
        "oracle",
        "--seeds",
        "2",
        "--out",
        "out",
    ];
    works(&place, &small(&["finetune", "finetune+tp"], &arguments));
    let lines = results(&out);
    let hashes: Vec<&str> = lines
        .iter()
        .map(|line| line["hash"].as_str().unwrap())
        .collect();
    assert_eq!(hashes.len(), 8);
    assert!(hashes.is_sorted());
    let names: Vec<String> = run_files(&out).into_keys().collect();
    let expected: Vec<String> = hashes
        .iter()
        .map(|hash| format!("{}.json", &hash[..16]))
        .collect();
    assert_eq!(names, expected);
    for line in &lines {
        for field in [
            "aa",
            "af",
            "micro_accuracy",
            "macro_f1",
            "stored_floats_per_task",
        ] {
            assert!(line[field].is_number(), "{field}: {line}");
        }
        let matrix = line["matrix"].as_array().unwrap();
        let last = matrix.last().unwrap().as_array().unwrap();
        let mean = last.iter().map(|v| v.as_f64().unwrap()).sum::<f64>() / last.len() as f64;
        assert_eq!(line["aa"].as_f64().unwrap(), mean);
        assert_eq!(line["parameters"]["seed"], line["seed"]);
        assert_eq!(line["classes_per_task"], 2);
        assert_eq!(line["synthetic"], true);
        let routed = line["learner"] == "finetune+tp" && line["protocol"] == "paper";
        assert_eq!(line["task_id_accuracy"].is_number(), routed, "{line}");
        assert!(line["measured"]["peak_memory_bytes"].as_u64().unwrap() > 0);
    }
}

#[test]
fn one_training_serves_all_protocols_with_and_without_task_prediction() {
    let place = place();
    let arguments = [
        "--protocol",
        "paper",
        "single",
        "--seeds",
        "1",
        "--out",
        "out",
    ];
    works(&place, &small(&["finetune", "finetune+tp"], &arguments));
    let all = records(&place.path().join("out"));
    assert_eq!(all.len(), 4);
    for record in &all {
        assert_eq!(record["measured"], all[0]["measured"]);
    }
    // Alone, a run gives the same.
    let alone = small(
        &["finetune"],
        &["--protocol", "single", "--seeds", "1", "--out", "alone"],
    );
    works(&place, &alone);
    let alone = records(&place.path().join("alone"));
    let same = |record: &&Value| record["spec"] == alone[0]["spec"];
    let together = all.iter().find(same).unwrap();
    assert_eq!(together["result"], alone[0]["result"]);
}

#[test]
fn jobs_and_threads_change_no_result() {
    let place = place();
    let mut seen = Vec::new();
    for (out, how) in [
        ("a", ["--jobs", "1", "--threads", "1"]),
        ("b", ["--jobs", "2", "--threads", "2"]),
        ("c", ["--jobs", "1", "--threads", "3"]),
    ] {
        let mut arguments = small(
            &["finetune+tp", "joint", "tpp"],
            &["--out", out, "--seeds", "2"],
        );
        arguments.extend(["--set", "tpp.epochs=3", "--set", "tpp.contrastive.epochs=2"]);
        arguments.extend(how);
        assert_eq!(computed(&place, &arguments), 6);
        let threads = &records(&place.path().join(out))[0]["measured"]["threads"];
        assert_eq!(*threads, if out == "c" { 3 } else { 1 });
        seen.push(unmeasured(&place.path().join(out)));
    }
    assert_eq!(seen[0].len(), 12);
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], seen[2]);
}

/// The processes that another one has started.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // After the name, which may hold anything: state and parent.
        let rest = stat.rsplit(')').next().unwrap_or_default();
        let fields: Vec<&str> = rest.split_whitespace().collect();
        if fields.len() > 1 && fields[1] == parent.to_string() && fields[0] != "Z" {
            found.extend(entry.file_name().to_str().unwrap().parse::<u32>());
        }
    }
    found
}

#[cfg(target_os = "linux")]
fn lives(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z")
}

#[cfg(target_os = "linux")]
fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_bench_takes_its_children_along_and_resumes_to_the_same_results() {
    let place = place();
    let arguments = |out: &'static str| {
        let mut arguments = small(
            &["finetune", "tpp"],
            &["--out", out, "--seeds", "5", "--jobs", "2"],
        );
        arguments.extend(["--set", "tpp.epochs=100"]);
        arguments
    };
    works(&place, &arguments("whole"));
    let out = place.path().join("broken");
    for (wanted, signal) in [(0, "-KILL"), (3, "-KILL"), (5, "-INT"), (7, "-KILL")] {
        let mut parent = command(place.path(), &arguments("broken"))
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let mut started = Vec::new();
        wait_until("a run is under way", || {
            started = children(parent.id());
            let there = fs::read_dir(out.join("runs")).map_or(0, Iterator::count);
            !started.is_empty() && there >= wanted
        });
        let pid = parent.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &pid])
                .status()
                .unwrap()
                .success()
        );
        let status = parent.wait().unwrap();
        assert!(!status.success());
        wait_until("the children end", || {
            !started.iter().any(|&child| lives(child))
        });
    }
    assert!(run_files(&out).len() < 10, "it was killed before the end");
    works(&place, &arguments("broken"));
    let (broken, whole) = (unmeasured(&out), unmeasured(&place.path().join("whole")));
    assert_eq!(whole.len(), 20);
    assert_eq!(broken, whole);
    let names = fs::read_dir(out.join("runs")).unwrap();
    for entry in names {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.ends_with(".partial"), "{name} was left");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_the_system_kills_is_recorded_and_the_others_go_on() {
    let place = place();
    let arguments = ["--out", "out", "--seeds", "2", "--jobs", "1"];
    let mut parent = command(place.path(), &small(&["tpp"], &arguments))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut started = Vec::new();
    wait_until("a run is under way", || {
        started = children(parent.id());
        !started.is_empty()
    });
    let child = started[0].to_string();
    let killed = Command::new("kill").args(["-KILL", &child]).status();
    assert!(killed.unwrap().success());
    assert_eq!(parent.wait().unwrap().code(), Some(1));
    let mut all = records(&place.path().join("out"));
    all.sort_by_key(|record| record["spec"]["seed"].as_u64());
    assert_eq!(all[0]["status"], "failed");
    let error = all[0]["error"].as_str().unwrap();
    assert!(
        error.contains("signal 9") && error.contains("memory"),
        "{error}"
    );
    assert_eq!(all[1]["status"], "done");
}

#[test]
fn a_crash_is_recorded_and_only_retried_when_asked() {
    let place = place();
    let out = place.path().join("out");
    let arguments = small(&["finetune"], &["--seeds", "2", "--out", "out"]);
    let crashed = command(place.path(), &arguments)
        .env("TREERING_FAULT", "bench-job:kill")
        .output()
        .unwrap();
    assert_eq!(crashed.status.code(), Some(1));
    let table = text(&crashed.stdout);
    assert!(
        table.contains("failed: demo finetune paper seed 1"),
        "{table}"
    );
    assert!(text(&crashed.stderr).contains("--retry-failed"));
    for record in records(&out) {
        assert_eq!(record["status"], "failed");
        assert!(
            record["error"].as_str().unwrap().contains("signal"),
            "{record}"
        );
        assert!(record["result"].is_null());
    }
    assert_eq!(results(&out).len(), 2);
    let before = run_files(&out);
    let again = treering(place.path(), &arguments);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(run_files(&out), before);
    let retry: Vec<&str> = arguments
        .iter()
        .copied()
        .chain(["--retry-failed"])
        .collect();
    assert_eq!(computed(&place, &retry), 2);
    assert_eq!(computed(&place, &retry), 0);
    let fresh = small(&["finetune"], &["--seeds", "2", "--out", "fresh"]);
    works(&place, &fresh);
    assert_eq!(unmeasured(&out), unmeasured(&place.path().join("fresh")));
}

#[test]
fn a_learner_that_refuses_the_data_does_not_stop_the_rest() {
    let place = place();
    let bad = place.path().join("huge");
    fs::create_dir(&bad).unwrap();
    let mut nodes = String::from("id,label,x0,x1\n");
    let mut edges = String::from("source,target\n");
    for node in 0..40 {
        nodes.push_str(&format!("{node},{},3e38,{}e38\n", node % 4, 1 + node % 3));
        edges.push_str(&format!("{node},{}\n", (node + 4) % 40));
    }
    fs::write(bad.join("nodes.csv"), nodes).unwrap();
    fs::write(bad.join("edges.csv"), edges).unwrap();
    let mut arguments = small(&["finetune"], &["--seeds", "1", "--out", "out"]);
    arguments.insert(2, "huge");
    let output = treering(place.path(), &arguments);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert!(
        table.contains("failed: huge finetune paper seed 0:"),
        "{table}"
    );
    let all = results(&place.path().join("out"));
    let status = |data: &str| &all.iter().find(|line| line["data"] == data).unwrap()["status"];
    assert_eq!(*status("demo"), "done");
    assert_eq!(*status("huge"), "failed");
}

#[test]
fn a_run_file_that_is_cut_short_is_done_again() {
    let place = place();
    let out = place.path().join("out");
    let arguments = small(&["finetune"], &["--seeds", "3", "--out", "out"]);
    works(&place, &arguments);
    let before = unmeasured(&out);
    let (name, bytes) = run_files(&out).pop_first().unwrap();
    let file = out.join("runs").join(&name);
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let output = treering(place.path(), &arguments);
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(
        errors.contains("note:") && errors.contains(&name),
        "{errors}"
    );
    assert_eq!(
        errors.lines().filter(|line| line.starts_with('[')).count(),
        1
    );
    assert_eq!(unmeasured(&out), before);
}

#[test]
fn wrong_calls_are_refused_before_any_work() {
    let place = place();
    let with = |more: &[&'static str]| -> Vec<&'static str> { [&DATA[..], more].concat() };
    let learner = ["--learner", "finetune"];
    let wrong: [(&[&str], &[&str]); 24] = [
        (&["--learner", "fintune"], &["fintune", "finetune?"]),
        (
            &["--set", "finetune.epoch=3"],
            &["epoch", "did you mean epochs"],
        ),
        (
            &["--set", "finetune.rate=-1"],
            &["finetune", "rate is -1", "at most 1000"],
        ),
        (
            &["--set", "finetune.epochs=some"],
            &["finetune.epochs", "whole number"],
        ),
        (
            &["--set", "joint.epochs=3"],
            &["joint is not part of this bench", "--learner joint"],
        ),
        (&["--set", "finetune.seed=3"], &["--seeds"]),
        (&["--set", "epochs=3"], &["LEARNER.KEY=VALUE"]),
        (
            &["--grid", "finetune.rates=1,2"],
            &["rates", "did you mean rate"],
        ),
        (&["--grid", "finetune.rate=1,0"], &["rate is 0", "above 0"]),
        (&["--classes-per-task", "50"], &["classes"]),
        (&["--learner", "tpp+tp"], &["leave out +tp"]),
        (&["--grid", "finetune.rate"], &["LEARNER.KEY=V1,V2,..."]),
        (&["--grid", "finetune.rate="], &["LEARNER.KEY=V1,V2,..."]),
        (
            &["--grid", "finetune.rate=1", "--grid", "finetune.rate=2"],
            &["finetune.rate twice", "one list"],
        ),
        (
            &["--set", "finetune.rate=1", "--grid", "finetune.rate=1,2"],
            &["finetune.rate is set to 1", "searched by the grid too"],
        ),
        (
            &["--learner", "ewc", "--set", "ewc.lambda=5", "--grid"],
            &["ewc.lambda is set to 5", "searched by the grid too"],
        ),
        (
            &["--set", "finetune.rate=1e300"],
            &["rate is 1e300; it has to be"],
        ),
        (&["--seeds", "-1"], &["-1 is not in 1..=1000000"]),
        (&["--jobs", "-1"], &["-1 is not in 1..=1024"]),
        (&["--scale", "inf"], &["scale is inf", "above 0"]),
        (&["--scale", "nan"], &["scale is NaN", "above 0"]),
        (&["--out", ""], &["a value is required for '--out"]),
        (
            &["--learner", "x.toml"],
            &["--learner x.toml", "right after `bench`"],
        ),
        (&["--grid", "x.toml"], &["right after `bench`"]),
    ];
    for (more, words) in wrong {
        let before = if more[0] == "--learner" {
            &[][..]
        } else {
            &learner[..]
        };
        let mut all = with(&[before, more].concat());
        if more[0] == "--scale" {
            all.drain(3..5);
        }
        refused(&place, &all, words);
    }
    refused(&place, &["bench", "--learner", "finetune"], &["--data"]);
    refused(&place, &DATA, &["--learner"]);
    for (data, words) in [
        ("", &["empty name"][..]),
        ("/nope/x.npz", &["/nope/x.npz: there is no such file"]),
        ("nope.npz", &["a folder that holds nope.npz;"]),
        ("x.toml", &["--data x.toml", "right after `bench`"]),
    ] {
        let arguments = ["bench", "--learner", "finetune", "--data", data];
        refused(&place, &arguments, words);
        let output = treering(place.path(), &arguments);
        assert!(!text(&output.stderr).contains(".npz.npz"));
    }
    refused(&place, &["bench", "none.toml"], &["none.toml", "--data"]);
    for (config, words) in [
        ("jobs = 0", &["jobs is 0"][..]),
        ("learners = 'tpp'", &["odd.toml", "learners"]),
        ("seeds = 'x'", &["odd.toml: seeds is \"x\"", "whole number"]),
        ("out = ''\nlearner = 'tpp'", &["out is empty"]),
        (
            "data = 'demo'\nlearner = 'finetune'\n[set]\nfinetune.seed = 3",
            &["odd.toml, set finetune.seed=3"],
        ),
        (
            "data = 'demo'\nlearner = 'finetune'\n[set]\nfinetune.rate = -1",
            &["odd.toml: finetune: rate is -1"],
        ),
    ] {
        fs::write(place.path().join("odd.toml"), config).unwrap();
        refused(&place, &["bench", "odd.toml"], words);
    }
    assert!(!place.path().join("treering-bench").exists());
}

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
fn a_config_file_says_the_same_as_flags() {
    let place = place();
    let flags = small(
        &["finetune", "joint"],
        &["--seeds", "2", "--protocol", "single", "--out", "out"],
    );
    let table = works(&place, &flags);
    let config = "data = 'demo'\nscale = 0.1\nlearner = ['finetune', 'joint']\nseeds = 5\nprotocol = ['single']\nout = 'out'\n\
        threads = 1\n[set]\nfinetune = { epochs = 3, hidden = 8 }\njoint.epochs = 3\njoint.hidden = 8\n";
    fs::write(place.path().join("bench.toml"), config).unwrap();
    assert_eq!(
        computed(&place, &["bench", "bench.toml", "--seeds", "2"]),
        0
    );
    assert_eq!(
        works(&place, &["bench", "bench.toml", "--seeds", "2"]),
        table
    );
}

#[test]
fn a_name_finds_its_file_in_the_folder_of_data() {
    let place = place();
    let store = place.path().join("store");
    fs::create_dir(&store).unwrap();
    works(
        &place,
        &[
            "data",
            "synth",
            "demo",
            "--scale",
            "0.1",
            "-o",
            "store/mine.npz",
        ],
    );
    let mut arguments = small(&["finetune"], &["--seeds", "1", "--out", "out", "--json"]);
    arguments[2] = "mine";
    arguments.drain(3..5);
    let output = command(place.path(), &arguments)
        .env("TREERING_DATA", &store)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&row["learner"], &row["runs"]),
        (&"finetune".into(), &1.into())
    );
    let line = &results(&place.path().join("out"))[0];
    assert_eq!(row["aa"]["mean"], line["aa"]);
    assert_eq!(
        row["synthetic"], true,
        "made-up data is named so wherever it goes"
    );
    arguments[2] = "mien";
    let output = command(place.path(), &arguments)
        .env("TREERING_DATA", &store)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean mine?"));
}

#[test]
fn learners_and_their_parameters_are_listed() {
    let place = place();
    let all = works(&place, &["bench", "--list"]);
    for word in ["finetune", "joint", "tpp", "replay"] {
        assert!(all.contains(word), "{all}");
    }
    let one = works(&place, &["bench", "--list", "finetune+tp"]);
    for word in ["epochs", "200", "tp-smoothing"] {
        assert!(one.contains(word), "{one}");
    }
    refused(&place, &["bench", "--list", "fintune"], &["finetune?"]);
    let each = works(&place, &["bench", "--list", "all"]);
    for word in ["finetune: ", "tpp: ", "contrastive.epochs", "lambda"] {
        assert!(each.contains(word), "{each}");
    }
    let lines = works(&place, &["bench", "--list", "--json"]);
    assert_eq!(lines, works(&place, &["bench", "--list", "all", "--json"]));
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ewc = lines.iter().find(|line| line["name"] == "ewc").unwrap();
    assert!(ewc["summary"].is_string() && ewc["replay"] == false);
    assert!(ewc["revision"].is_u64() && ewc["parameters"]["lambda"].is_number());
    assert_eq!(ewc["grid"]["lambda"].as_array().unwrap().len(), 4);
    let one = works(&place, &["bench", "--list", "ewc+tp", "--json"]);
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["tp_revision"], 1);
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

#[cfg(target_os = "linux")]
#[test]
fn nobody_has_to_read_standard_error() {
    let place = place();
    let full = || {
        fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    let arguments = small(&["finetune"], &["--seeds", "2", "--out", "out"]);
    let status = command(place.path(), &arguments)
        .stdout(std::process::Stdio::null())
        .stderr(full())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(results(&place.path().join("out")).len(), 2);
    let wrong = command(place.path(), &["bench", "--learner", "fintune"])
        .stderr(full())
        .status()
        .unwrap();
    assert_eq!(wrong.code(), Some(2));
    // A reader that has gone.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let crashed = command(
        place.path(),
        &small(&["joint"], &["--seeds", "1", "--out", "out"]),
    )
    .env("TREERING_FAULT", "bench-job:kill")
    .stdout(writer.try_clone().unwrap())
    .stderr(writer)
    .status()
    .unwrap();
    assert_eq!(crashed.code(), Some(1));
}

/// A small folder of tables; the classes by their names.
fn tables(folder: &Path, classes: &[(&str, usize)], offset: usize) {
    fs::create_dir_all(folder).unwrap();
    let mut nodes = String::from("id,label,x0,x1\n");
    let mut edges = String::from("source,target\n");
    let mut node = 0;
    for (place, (class, count)) in classes.iter().enumerate() {
        for _ in 0..*count {
            nodes.push_str(&format!("{node},{class},{},{}\n", place + offset, node % 3));
            edges.push_str(&format!("{node},{}\n", (node + 1) % 20));
            node += 1;
        }
    }
    fs::write(folder.join("nodes.csv"), nodes).unwrap();
    fs::write(folder.join("edges.csv"), edges).unwrap();
}

#[test]
fn classes_that_are_left_out_are_named_and_the_others_counted() {
    let place = place();
    let classes = [
        ("a", 9),
        ("b", 9),
        ("c", 9),
        ("d", 9),
        ("e", 9),
        ("tiny", 2),
    ];
    tables(&place.path().join("odd"), &classes, 0);
    let mut arguments = small(&["finetune"], &["--seeds", "1", "--out", "out"]);
    arguments[2] = "odd";
    arguments.drain(3..5);
    let output = treering(place.path(), &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = fs::read_to_string(place.path().join("out/table.md")).unwrap();
    for told in [text(&output.stdout), text(&output.stderr), page] {
        assert!(told.contains("class e (9 nodes), left over"), "{told}");
        assert!(told.contains("class tiny (2 nodes), too small"), "{told}");
    }
    let line = &results(&place.path().join("out"))[0];
    assert_eq!((&line["tasks"], &line["classes"]), (&2.into(), &4.into()));
    arguments.push("--json");
    let row: Value = serde_json::from_str(&works(&place, &arguments)).unwrap();
    assert_eq!((&row["tasks"], &row["classes"]), (&2.into(), &4.into()));
}

#[test]
fn data_of_one_name_is_told_apart_and_its_runs_stay_the_same() {
    let place = place();
    let classes = [("a", 9), ("b", 9), ("c", 9), ("d", 9)];
    for (offset, folder) in ["one/x|y", "two/x|y"].iter().enumerate() {
        tables(&place.path().join(folder), &classes, offset);
    }
    let mut arguments = small(&["finetune"], &["--seeds", "1", "--out", "out"]);
    arguments[2] = "one/x|y";
    arguments.drain(3..5);
    assert_eq!(computed(&place, &arguments), 1);
    arguments.insert(3, "two/x|y");
    let output = treering(place.path(), &arguments);
    let errors = text(&output.stderr);
    assert_eq!(
        errors.matches("finetune paper seed 0").count(),
        1,
        "{errors}"
    );
    assert!(errors.contains("two/x|y finetune"), "{errors}");
    for name in ["one/x|y ", "two/x|y "] {
        assert!(
            text(&output.stdout).contains(name),
            "{}",
            text(&output.stdout)
        );
    }
    let page = fs::read_to_string(place.path().join("out/table.md")).unwrap();
    assert!(page.contains("| one/x\\|y |"), "{page}");
}

#[test]
fn a_row_says_how_many_of_its_runs_are_done() {
    let place = place();
    works(
        &place,
        &small(&["finetune"], &["--seeds", "1", "--out", "out"]),
    );
    let more = small(&["finetune"], &["--seeds", "3", "--out", "out"]);
    let output = command(place.path(), &more)
        .env("TREERING_FAULT", "bench-job:kill")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stdout).contains(" 1/3 "),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn a_config_file_may_speak_of_learners_that_this_call_leaves_out() {
    let place = place();
    let config = "data = 'demo'\nscale = 0.1\nlearner = ['finetune', 'joint']\nseeds = 1\nout = 'out'\n\
        [set]\nfinetune = { epochs = 3, hidden = 8 }\njoint.epochs = 3\n";
    fs::write(place.path().join("bench.toml"), config).unwrap();
    let arguments = ["bench", "bench.toml", "--learner", "finetune"];
    let output = treering(place.path(), &arguments);
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(
        errors.contains("note: joint is not part of this bench"),
        "{errors}"
    );
}

#[test]
fn a_folder_that_cannot_hold_runs_is_refused_before_any_work() {
    let place = place();
    let path = place.path();
    fs::write(path.join("file"), "").unwrap();
    fs::create_dir_all(path.join("mine")).unwrap();
    fs::write(path.join("mine/table.md"), "my own").unwrap();
    fs::create_dir_all(path.join("blocked/table.md")).unwrap();
    for (out, words) in [
        ("file", &["has to be a folder", "--out"][..]),
        ("file/below", &["has to be a folder", "--out"]),
        ("mine", &["none of a bench", "--out"]),
        ("blocked", &["table.md", "has to be a file", "--out"]),
    ] {
        let arguments = small(&["finetune"], &["--seeds", "1", "--out", out]);
        refused(&place, &arguments, words);
        let told = text(&treering(path, &arguments).stderr);
        assert!(
            !told.contains("--force") && !told.contains("data set"),
            "{told}"
        );
    }
    let kept = fs::read_to_string(path.join("mine/table.md")).unwrap();
    assert_eq!(kept, "my own");
    assert!(!path.join("mine/runs").exists());
}

#[test]
fn an_edited_run_file_is_not_believed() {
    let place = place();
    let out = place.path().join("out");
    let arguments = small(&["finetune"], &["--seeds", "1", "--out", "out"]);
    works(&place, &arguments);
    let before = unmeasured(&out);
    let (name, bytes) = run_files(&out).pop_first().unwrap();
    let mut record: Value = serde_json::from_slice(&bytes).unwrap();
    record["result"]["aa"] = 99.9.into();
    for edited in [record.to_string(), "[1,2]".to_owned()] {
        fs::write(out.join("runs").join(&name), edited).unwrap();
        let output = treering(place.path(), &arguments);
        let errors = text(&output.stderr);
        assert!(errors.contains("the run is done again"), "{errors}");
        assert!(!errors.contains("struct"), "{errors}");
        assert_eq!(unmeasured(&out), before);
    }
    // Of another call it is only named.
    fs::write(out.join("runs").join(&name), "[1,2]").unwrap();
    let others = small(&["joint"], &["--seeds", "1", "--out", "out"]);
    let errors = text(&treering(place.path(), &others).stderr);
    assert!(errors.contains("it is not in results.jsonl"), "{errors}");
}
