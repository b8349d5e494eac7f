//! A kill, a full disk, a second writer or a flipped bit, at any place: the old model or the new one, complete, and an error that names the file.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{TINY, command, copy, files, learn, place, refused, text, works};
use tempfile::TempDir;
use treering_store::{Model, Step, Writer};

const SECOND: [&str; 7] = ["learn", "m", "demo", "--scale", "0.1", "--classes", "2,3"];

fn first() -> Vec<&'static str> {
    let mut arguments = vec!["learn", "m", "demo", "--classes", "0,1"];
    arguments.extend(TINY);
    arguments
}

/// The number of rings of a model that is complete in every file.
fn rings(model: &Path) -> Option<usize> {
    let model = match Model::open(model) {
        Ok(model) => model,
        // Not begun yet, or begun and never finished.
        Err(error) => {
            let told = error.to_string();
            let none = told.contains("no such folder")
                || told.contains("interrupted")
                || told.contains("holds no model");
            assert!(none, "{told}");
            return None;
        }
    };
    for found in model.verify() {
        assert!(found.fault.is_none(), "{:?}", found.fault);
    }
    Some(model.manifest().rings.len())
}

fn with_fault(place: &TempDir, arguments: &[&str], step: Step, kind: &str) -> std::process::Output {
    let fault = format!("{}:{kind}", step.name());
    let mut command = command(place.path(), arguments);
    command.env("TREERING_FAULT", fault).output().unwrap()
}

#[test]
fn every_step_may_fail_or_be_the_last() {
    let base = place();
    learn(&base, "m", "0,1", &[]);
    let removing = [
        "learn",
        "m",
        "demo",
        "--scale",
        "0.1",
        "--classes",
        "0,1,4",
        "--replace",
        "1",
    ];
    for &step in Step::ALL {
        for kind in ["kill", "full"] {
            let begins = step.name().starts_with("backbone");
            let arguments: Vec<&str> = match step {
                Step::OldRemoved => removing.to_vec(),
                _ if begins => first(),
                _ => SECOND.to_vec(),
            };
            let place = place();
            let model = place.path().join("m");
            if !begins {
                copy(&base.path().join("m"), &model);
            }
            let before = rings(&model);
            let output = with_fault(&place, &arguments, step, kind);
            let errors = text(&output.stderr);
            assert!(!errors.contains("panicked"), "{step} {kind}: {errors}");
            let after = rings(&model);
            let done = output.status.success();
            if kind == "kill" {
                assert_eq!(output.status.code(), None, "{step}: ended by a signal");
            } else if !done {
                assert_eq!(output.status.code(), Some(1), "{step}: {errors}");
                assert!(errors.contains("make room"), "{step}: {errors}");
            }
            let new = match (begins, step) {
                (true, _) => Some(1),
                (_, Step::OldRemoved) => Some(1),
                _ => Some(2),
            };
            assert!(after == before || after == new, "{step} {kind}: {after:?}");
            assert!(
                !done || after == new,
                "{step} {kind}: success means that it is there"
            );
            if after.is_some() {
                works(&place, &["verify", "m"]);
                works(
                    &place,
                    &["predict", "m", "demo", "--scale", "0.1", "--only", "1"],
                );
            }
            if after == before && step != Step::OldRemoved {
                works(&place, &arguments);
                assert_eq!(rings(&model), new, "{step} {kind}: the second run finishes");
            }
        }
    }
}

#[test]
fn killed_at_random_times() {
    const KILLS: u32 = 200;
    let base = place();
    learn(&base, "m", "0,1", &[]);
    let start = Instant::now();
    let trial = place();
    copy(&base.path().join("m"), &trial.path().join("m"));
    works(&trial, &SECOND);
    let usual = start.elapsed() + Duration::from_millis(5);
    let (mut old, mut new) = (0, 0);
    for kill in 0..KILLS {
        let place = place();
        let model = place.path().join("m");
        let begins = kill % 4 == 0;
        if !begins {
            copy(&base.path().join("m"), &model);
        }
        let arguments = if begins { first() } else { SECOND.to_vec() };
        let before = rings(&model);
        let mut child = command(place.path(), &arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Spread evenly, in an order that mixes early and late.
        let share = f64::from(kill * 83 % KILLS) / f64::from(KILLS);
        std::thread::sleep(usual.mul_f64(1.3 * share));
        let _ = child.kill();
        child.wait().unwrap();
        let after = rings(&model);
        match after == before {
            true => old += 1,
            false => {
                assert_eq!(after, Some(before.unwrap_or(0) + 1));
                new += 1;
            }
        }
        if after == before && kill % 10 == 0 {
            works(&place, &arguments);
        }
    }
    assert!(
        old > 0 && new > 0,
        "{old} kills came before the commit, {new} after"
    );
}

#[test]
fn a_second_writer_is_refused_at_once() {
    let place = place();
    learn(&place, "m", "0,1", &[]);
    learn(&place, "m", "4,5", &[]);
    let before = files(&place.path().join("m"));
    let held = Writer::open(&place.path().join("m")).unwrap();
    for arguments in [&SECOND[..], &["forget", "m", "2"]] {
        refused(
            &place,
            arguments,
            &["another process is changing this model", "try again"],
        );
    }
    works(
        &place,
        &["predict", "m", "demo", "--scale", "0.1", "--only", "1"],
    );
    drop(held);
    assert!(files(&place.path().join("m")) == before);
    works(&place, &SECOND);

    // A model that is still being made is taken too.
    let reserved = Writer::reserve(&place.path().join("new")).unwrap();
    let mut arguments = first();
    arguments[1] = "new";
    refused(&place, &arguments, &["another process"]);
    drop(reserved);
    works(&place, &arguments);
}

#[test]
fn one_flipped_bit_is_found_and_named() {
    let base = place();
    learn(&base, "m", "0,1", &[]);
    learn(&base, "m", "2,3", &[]);
    for (name, bytes) in files(&base.path().join("m")) {
        for at in 0..8u64 {
            let place = place();
            copy(&base.path().join("m"), &place.path().join("m"));
            let mut bytes = bytes.clone();
            // Places spread over the file, another bit each time.
            let byte = (bytes.len() as u64 * (2 * at + 1) / 16) as usize;
            bytes[byte] ^= 1 << at;
            fs::write(place.path().join("m").join(&name), bytes).unwrap();
            let output = common::treering(place.path(), &["verify", "m"]);
            assert_eq!(output.status.code(), Some(2), "{name:?} at {byte}");
            let told = text(&output.stdout) + &text(&output.stderr);
            assert!(told.contains(name.to_str().unwrap()), "{told}");
            refused(
                &place,
                &["predict", "m", "demo", "--scale", "0.1", "--only", "1"],
                &[name.to_str().unwrap()],
            );
        }
    }
}
