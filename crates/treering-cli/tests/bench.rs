//! `treering bench` from outside: only what is missing is computed, and nothing but time differs between calls.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use common::bench::{computed, records, results, run_files, small, unmeasured};
use common::{command, files, place, refused, text, treering, works};
use serde_json::Value;

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

#[test]
fn finished_runs_make_tables_and_nothing_is_computed() {
    let place = place();
    let quick = |seeds: &'static str, more: &[&'static str]| -> Vec<&'static str> {
        let mut all = small(&["finetune"], &["--seeds", seeds, "--out", "out"]);
        all.extend(more);
        all
    };
    works(&place, &quick("2", &[]));
    let runs = files(&place.path().join("out/runs"));
    let table = works(&place, &quick("3", &["--finished"]));
    assert!(table.contains("2/3"), "{table}");
    assert_eq!(files(&place.path().join("out/runs")), runs);
    let caption = fs::read_to_string(place.path().join("out/tables/results.md")).unwrap();
    assert!(
        caption.contains("Fewer runs: demo finetune 2."),
        "{caption}"
    );
    let nothing = small(&["finetune"], &["--finished", "--out", "nowhere"]);
    refused(&place, &nothing, &["nowhere", "no runs"]);
    assert!(!place.path().join("nowhere").exists());
    refused(
        &place,
        &[
            "bench",
            "--preset",
            "grids",
            "--data",
            "demo",
            "--finished",
            "--out",
            "out",
        ],
        &["the preset grids asks for runs"],
    );
    refused(
        &place,
        &quick("3", &["--finished", "--retry-failed"]),
        &["retry-failed asks for runs"],
    );
    fs::write(
        place.path().join("c.toml"),
        "finished = true\ngrid = ['ewc.lambda=1,2']\n",
    )
    .unwrap();
    refused(
        &place,
        &[
            "bench",
            "c.toml",
            "--data",
            "demo",
            "--learner",
            "ewc",
            "--out",
            "out",
        ],
        &["grid asks for runs"],
    );
}
