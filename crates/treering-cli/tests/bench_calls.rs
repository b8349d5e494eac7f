//! What `treering bench` is asked for: flags, config files, data and folders, right and wrong.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;

use common::bench::{DATA, computed, results, small};
use common::{command, place, refused, synth, text, treering, works};
use serde_json::Value;

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
    synth(&place, "store/mine.npz");
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
fn a_router_is_a_parameter_with_a_flag_of_its_own() {
    let place = place();
    let call = |more: &[&'static str]| small(&["treering"], &[&["--seeds", "1"], more].concat());
    works(&place, &call(&["--router", "evidence", "--out", "flag"]));
    let set = ["--set", "treering.router=evidence", "--out", "set"];
    works(&place, &call(&set));
    let config = "data = 'demo'\nscale = 0.1\nseeds = 1\nlearner = 'treering'\nrouter = 'evidence'\nout = 'file'";
    fs::write(place.path().join("x.toml"), config).unwrap();
    works(&place, &["bench", "x.toml"]);
    let hash = |out: &str| {
        let line = results(&place.path().join(out)).remove(0);
        assert_eq!(line["parameters"]["router"], "evidence");
        line["hash"].clone()
    };
    assert_eq!(hash("flag"), hash("set"));
    assert_eq!(hash("flag"), hash("file"));
    refused(
        &place,
        &call(&["--router", "magic"]),
        &["ridge", "prototype"],
    );
}
