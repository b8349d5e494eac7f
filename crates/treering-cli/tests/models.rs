//! Journeys through the commands on models, with the real binary.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{TINY, copy, files, learn, place, refused, text, treering, works};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn has_prompt(ring: &Value) -> bool {
    let tensors = ring["tensors"].as_array().unwrap();
    tensors.contains(&"prompt.tokens".into())
}

#[test]
fn learning_more_changes_no_earlier_byte() {
    let place = place();
    let model = place.path().join("m");
    let mut before = std::collections::BTreeMap::new();
    for (at, classes) in ["0,1", "2,3", "4,5,6"].iter().enumerate() {
        let printed = learn(&place, "m", classes, &[]);
        assert!(printed.contains(&format!("task-{}", at + 1)), "{printed}");
        let now = files(&model);
        for (name, bytes) in before {
            assert!(now.get(&name) == Some(&bytes), "{name:?} has changed");
        }
        before = now;
        before.remove(std::path::Path::new("manifest.json"));
    }
    let inspected = json(&works(&place, &["inspect", "m", "--json"]));
    let rings = inspected["rings"].as_array().unwrap();
    assert_eq!(rings.len(), 3);
    assert_eq!(rings[2]["classes"], serde_json::json!(["4", "5", "6"]));
    assert!(!has_prompt(&rings[0]) && has_prompt(&rings[1]));
    assert!(
        rings[0]["facts"]["contrast"]
            .as_str()
            .unwrap()
            .starts_with("exact")
    );
    assert_eq!(rings[0]["facts"]["synthetic"], true);
    assert!(works(&place, &["verify", "m"]).contains("3 rings"));
    let shown = works(&place, &["inspect", "m"]);
    assert!(
        ["hidden 8", "SYNTHETIC", "nearest:", "██"]
            .iter()
            .all(|word| shown.contains(word)),
        "{shown}"
    );
}

#[test]
fn the_number_of_threads_changes_no_byte_of_a_model() {
    let place = place();
    let model_of = |threads: &str| {
        let name = format!("m{threads}");
        let mut arguments = vec![
            "learn",
            &name,
            "demo",
            "--classes-per-task",
            "2",
            "--threads",
            threads,
        ];
        arguments.extend(TINY);
        works(&place, &arguments);
        files(&place.path().join(&name))
    };
    let one = model_of("1");
    assert_eq!(one.len(), 2 + 6, "manifest, backbone, six rings");
    assert!(one == model_of("2") && one == model_of("7"));
}

#[test]
fn tasks_together_and_one_by_one_give_the_same_rings() {
    let place = place();
    let mut arguments = vec![
        "learn",
        "together",
        "demo",
        "--classes-per-task",
        "4",
        "--split",
        "random",
    ];
    arguments.extend(TINY);
    works(&place, &arguments);
    works(
        &place,
        &[
            "data",
            "stream",
            "demo",
            "--scale",
            "0.1",
            "--classes-per-task",
            "4",
            "-o",
            "s",
            "--graphs",
            "native",
        ],
    );
    let mut arguments = vec!["learn", "apart", "s"];
    arguments.extend(&TINY[2..]);
    works(&place, &arguments);
    let (together, apart) = (
        files(&place.path().join("together")),
        files(&place.path().join("apart")),
    );
    assert_eq!(together.len(), 5);
    for (name, bytes) in &together {
        assert!(
            name.ends_with("manifest.json") || apart.get(name) == Some(bytes),
            "{name:?}"
        );
    }
    let mut one = vec!["learn", "one", "s/tasks/0001.treering"];
    one.extend(&TINY[2..]);
    works(&place, &one);
    works(&place, &["learn", "one", "s/tasks/0002.treering"]);
    works(&place, &["learn", "one", "s/tasks/0003.treering"]);
    assert!(files(&place.path().join("one")) == apart);
}

#[test]
fn validation_nodes_are_held_out_and_judged() {
    let place = place();
    learn(&place, "m", "0,1", &[]);
    let learned = json(&learn(&place, "m", "2,3", &["--val", "0.5", "--json"]));
    let facts = &learned[0]["facts"];
    let nodes = facts["nodes"].as_u64().unwrap();
    let train: u64 = facts["train"]
        .as_object()
        .unwrap()
        .values()
        .map(|n| n.as_u64().unwrap())
        .sum();
    assert!(train < nodes * 6 / 10 && train > nodes * 4 / 10, "{facts}");
    let known = learned[0]["validation"]["task-known"].as_f64().unwrap();
    let alone = learned[0]["validation"]["node-by-node"].as_f64().unwrap();
    assert!(
        (0.0..=100.0).contains(&alone) && alone <= known,
        "{learned}"
    );
    assert!(learn(&place, "m", "4,5", &["--val", "0.2"]).contains("node by node"));
}

#[test]
fn a_task_is_replaced_as_a_whole() {
    let place = place();
    learn(&place, "m", "0,1", &["--name", "old"]);
    learn(&place, "m", "2,3", &[]);
    let second = fs::read(place.path().join("m/rings/0002-task-2.safetensors")).unwrap();
    let output = treering(
        place.path(),
        &[
            "learn",
            "m",
            "demo",
            "--scale",
            "0.1",
            "--classes",
            "0,4",
            "--replace",
            "old",
        ],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        text(&output.stderr).contains("The backbone stays"),
        "{}",
        text(&output.stderr)
    );
    let inspected = json(&works(&place, &["inspect", "m", "--json"]));
    let rings = inspected["rings"].as_array().unwrap();
    assert_eq!(
        (&rings[0]["ring"], &rings[0]["name"]),
        (&3.into(), &"old".into())
    );
    assert!(has_prompt(&rings[0]));
    assert!(!place.path().join("m/rings/0001-old.safetensors").exists());
    assert_eq!(
        fs::read(place.path().join("m/rings/0002-task-2.safetensors")).unwrap(),
        second
    );
    let clash = [
        "learn",
        "m",
        "demo",
        "--scale",
        "0.1",
        "--classes",
        "0,2",
        "--replace",
        "old",
    ];
    refused(&place, &clash, &["class `2`", "task-2", "--replace"]);
    // A damaged ring can be learned again in its place.
    fs::write(
        place.path().join("m/rings/0002-task-2.safetensors"),
        b"nothing",
    )
    .unwrap();
    refused(
        &place,
        &["predict", "m", "demo", "--scale", "0.1"],
        &["0002-task-2.safetensors"],
    );
    learn(&place, "m", "2,3", &["--replace", "task-2"]);
    works(&place, &["verify", "m"]);
}

#[test]
fn forgetting_removes_the_ring_and_says_what_stays() {
    let place = place();
    for classes in ["0,1", "2,3", "4,5"] {
        learn(&place, "m", classes, &[]);
    }
    let said = works(&place, &["forget", "m", "task-2"]);
    assert!(
        said.contains("0002-task-2") && said.contains("did not train"),
        "{said}"
    );
    assert!(
        !place
            .path()
            .join("m/rings/0002-task-2.safetensors")
            .exists()
    );
    let predicted = works(&place, &["predict", "m", "demo", "--scale", "0.1"]);
    assert!(!predicted.contains("task-2") && predicted.contains("task-3"));
    refused(&place, &["forget", "m", "task-2"], &["no ring `task-2`"]);
    let said = works(&place, &["forget", "m", "1"]);
    assert!(
        said.contains("traces") && said.contains("new model"),
        "{said}"
    );
    refused(
        &place,
        &["forget", "m", "task-3"],
        &["only task", "Delete the folder"],
    );
    // Its classes are free again, and its number is not.
    assert!(learn(&place, "m", "2,3", &[]).contains("0004"));
    works(&place, &["verify", "m"]);
}

#[test]
fn rings_learned_apart_are_merged() {
    let place = place();
    learn(&place, "a", "0,1", &[]);
    copy(&place.path().join("a"), &place.path().join("b"));
    learn(&place, "a", "2,3", &["--name", "second"]);
    learn(&place, "b", "4,5", &["--name", "third"]);
    let said = works(&place, &["merge", "all", "a", "b"]);
    assert!(said.contains("3 rings of 2 models"), "{said}");
    works(&place, &["verify", "all"]);
    let (a, all) = (
        files(&place.path().join("a")),
        files(&place.path().join("all")),
    );
    let ring = std::path::Path::new("rings/0002-second.safetensors");
    assert!(a[ring] == all[ring]);
    assert!(all.contains_key(std::path::Path::new("rings/0003-third.safetensors")));
    refused(
        &place,
        &["merge", "all", "a", "b"],
        &["all", "a model here already"],
    );

    learn(&place, "b", "6,7", &["--name", "second"]);
    refused(
        &place,
        &["merge", "x", "a", "b"],
        &["task `second`", "--name"],
    );
    works(&place, &["forget", "b", "second"]);
    learn(&place, "b", "3,8", &["--name", "fourth"]);
    refused(
        &place,
        &["merge", "x", "a", "b"],
        &["class `3`", "treering forget"],
    );
    learn(&place, "other", "0,1", &["--seed", "5"]);
    refused(&place, &["merge", "x", "a", "other"], &["other", "seed"]);
    learn(&place, "twin", "0,2", &[]);
    refused(
        &place,
        &["merge", "x", "a", "twin"],
        &["twin", "another backbone"],
    );
    assert!(!place.path().join("x").exists());
}

#[test]
fn an_export_is_one_file_with_everything() {
    let place = place();
    learn(&place, "m", "0,1", &[]);
    learn(&place, "m", "2,3", &[]);
    works(&place, &["export", "m", "-o", "m.safetensors"]);
    let path = place.path().join("m.safetensors");
    let bytes = fs::read(&path).unwrap();
    let tensors = treering_store::decode(&path, &bytes).unwrap();
    let names = tensors.names();
    for name in [
        "backbone.first",
        "backbone.second",
        "rings/0001.prototype",
        "rings/0002.prompt.tokens",
    ] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!names.contains(&"rings/0001.prompt.tokens"));
    let manifest = json(&tensors.metadata()["treering"]);
    assert_eq!(manifest["learner"], "tpp");
    refused(
        &place,
        &["export", "m", "-o", "m.safetensors"],
        &["--force"],
    );
    works(&place, &["export", "m", "-o", "m.safetensors", "--force"]);
    assert!(fs::read(&path).unwrap() == bytes);
}

#[test]
fn refusals_name_the_remedy() {
    let place = place();
    let tiny = |arguments: &[&str], words: &[&str]| {
        let mut all = arguments.to_vec();
        all.extend(TINY);
        refused(&place, &all, words);
    };
    tiny(
        &["learn", "m", "demo", "--val", "1"],
        &["--val", "less than 1"],
    );
    tiny(&["learn", "m", "demo", "--classes", "99"], &["class `99`"]);
    learn(&place, "kept", "0,1", &[]);
    let before = files(&place.path().join("kept"));
    let own = ["export", "kept", "-o", "kept/manifest.json", "--force"];
    refused(
        &place,
        &own,
        &["kept/manifest.json", "inside the folder of the model"],
    );
    let own = [
        "predict",
        "kept",
        "demo",
        "--scale",
        "0.1",
        "-o",
        "kept/lock.csv",
    ];
    refused(
        &place,
        &own,
        &["kept/lock.csv", "inside the folder of the model"],
    );
    assert!(files(&place.path().join("kept")) == before);
    tiny(
        &["learn", "m", "demo", "--decay", "-1"],
        &["decay (adam.decay) is -1"],
    );
    refused(&place, &["learn", "m"], &["DATA is missing"]);
    tiny(
        &["learn", "m", "demo", "--order", "random"],
        &["--classes-per-task"],
    );
    tiny(
        &[
            "learn",
            "m",
            "demo",
            "--classes",
            "1",
            "--classes-per-task",
            "2",
        ],
        &["--classes"],
    );
    tiny(
        &["learn", "m", "demo", "--replace", "1"],
        &["no model yet", "--replace"],
    );
    tiny(
        &["learn", "m", "demo", "--rate", "0"],
        &["rate (adam.rate) is 0", "above 0"],
    );
    tiny(
        &["learn", "m", "demo", "--name", "a\nb"],
        &["control characters"],
    );
    assert!(
        !place.path().join("m").exists(),
        "a refused call leaves nothing"
    );
    refused(
        &place,
        &["predict", "nowhere", "demo"],
        &["nowhere", "no such folder"],
    );
    fs::create_dir(place.path().join("mine")).unwrap();
    fs::write(place.path().join("mine/letter.txt"), "dear").unwrap();
    tiny(&["learn", "mine", "demo"], &["mine", "letter.txt", "empty"]);
    assert_eq!(
        files(&place.path().join("mine")).len(),
        1,
        "nothing was put beside it"
    );

    learn(&place, "m", "0,1", &["--name", "first"]);
    let again = |arguments: &[&str], words: &[&str]| {
        let mut all = vec!["learn", "m", "demo", "--scale", "0.1"];
        all.extend(arguments);
        refused(&place, &all, words);
    };
    again(
        &[],
        &["class `0`", "ring 0001 (`first`)", "--replace", "--classes"],
    );
    again(
        &["--classes", "2", "--name", "first"],
        &["`first`", "already"],
    );
    again(
        &["--classes", "2", "--hidden", "9"],
        &["hidden 8", "9", "new model"],
    );
    again(&["--classes", "2", "--seed", "9"], &["seed 0", "9"]);
    again(&["--classes", "2", "--no-prompt"], &["tokens 3", "0"]);
    again(
        &["--classes", "2", "--replace", "zweite"],
        &["zweite", "first"],
    );
    // The same value is no contradiction.
    learn(&place, "m", "2", &["--hidden", "8", "--seed", "0"]);
    let other = [
        "learn",
        "m",
        "corafull-like",
        "--scale",
        "0.01",
        "--classes",
        "60",
    ];
    refused(&place, &other, &["feature columns", "64"]);
    refused(
        &place,
        &["predict", "m", "corafull-like", "--scale", "0.01"],
        &["64"],
    );
    works(
        &place,
        &["data", "stream", "demo", "--scale", "0.1", "-o", "s"],
    );
    refused(&place, &["learn", "m", "s"], &["--graphs"]);

    let manifest = fs::read_to_string(place.path().join("m/manifest.json")).unwrap();
    let newer = manifest.replacen("\"format\": 1", "\"format\": 2", 1);
    fs::write(place.path().join("m/manifest.json"), newer).unwrap();
    again(&["--classes", "3"], &["version 2", "reads 1"]);
}

#[test]
fn the_demo_leaves_a_graph_and_a_model_behind() {
    let place = place();
    let printed = works(&place, &["demo", "d", "--quiet"]);
    for word in [
        "SYNTHETIC",
        "protocol paper",
        "protocol single",
        "AA ",
        "AF 0.0 %",
        "task-ID accuracy 100.0 %",
    ] {
        assert!(printed.contains(word), "`{word}` is not in: {printed}");
    }
    let commands: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("  treering "))
        .collect();
    assert_eq!(commands.len(), 3);
    for command in commands {
        works(&place, &command.split(' ').collect::<Vec<_>>());
    }
    fs::write(place.path().join("d/notes.txt"), "mine").unwrap();
    refused(&place, &["demo", "d"], &["notes.txt", "another folder"]);
    works(&place, &["verify", "d/model"]);
}

#[test]
fn every_command_explains_itself() {
    let place = place();
    for command in [
        "demo", "learn", "predict", "inspect", "verify", "forget", "merge", "export",
    ] {
        let help = works(&place, &[command, "--help"]);
        assert!(
            help.contains("Usage: treering") && help.len() > 400,
            "{help}"
        );
    }
    let help = works(&place, &["learn", "--help"]);
    for word in [
        "learner treering",
        "backbone",
        "profiles",
        "prompts and heads",
        "ablations and variants",
        "Examples:",
    ] {
        assert!(help.contains(word), "{help}");
    }
}
