//! What a person gets wrong, and what they are told.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use treering_store::{Change, Fault, Model, NewModel, StoreError, Tensor, Writer, encode};

use crate::common::{add, assert_clean, head, place, replace, ring, state, two_rings};

/// Asserts that an error names the file, what is wrong and the remedy.
#[track_caller]
fn assert_says<T>(result: Result<T, StoreError>, file: &Path, parts: &[&str]) {
    let Err(error) = result else {
        panic!("no error");
    };
    let text = error.to_string();
    assert!(text.starts_with(&file.display().to_string()), "{text}");
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    assert!(!error.is_system(), "{text}");
}

#[test]
fn a_place_without_a_model_is_described() {
    let (place, folder) = place();
    let missing = ["there is no such folder", "Check the spelling"];
    assert_says(Model::open(&folder), &folder, &missing);
    assert_says(Writer::open(&folder), &folder, &missing);
    let file = place.path().join("file");
    fs::write(&file, "x").unwrap();
    assert_says(Model::open(&file), &file, &["this is a file"]);
    assert_says(Model::open(&file.join("in")), &file, &["this is a file"]);
    assert_says(Writer::create(&file, head()), &file, &["this is a file"]);
    let empty = place.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert_says(
        Model::open(&empty),
        &empty,
        &["holds no model", "manifest.json"],
    );
    assert_says(Writer::open(&empty), &empty, &["holds no model"]);
    assert_eq!(fs::read_dir(&empty).unwrap().count(), 0);
    let orphan = place.path().join("no/such/parent");
    let parent = place.path().join("no/such");
    assert_says(
        Writer::create(&orphan, head()),
        &parent,
        &["no such folder"],
    );
}

#[test]
fn a_model_is_begun_only_where_nothing_else_is() {
    let (place, folder) = place();
    two_rings(&folder);
    let before = state(&folder);
    assert_says(
        Writer::create(&folder, head()),
        &folder,
        &["a model here already", "another folder"],
    );
    assert_eq!(state(&folder), before);
    let theirs = place.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    // Even under a name that could be ours, a file is somebody's as long as no lock says otherwise.
    for name in ["backbone.safetensors", "notes.txt", "lock"] {
        fs::write(theirs.join(name), "mine").unwrap();
        assert_says(
            Writer::create(&theirs, head()),
            &theirs,
            &["holds other things", name],
        );
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 1);
        fs::remove_file(theirs.join(name)).unwrap();
    }
    drop(Writer::create(&theirs, head()).unwrap());
    assert_says(
        Model::open(&theirs),
        &theirs,
        &["interrupted", "learn again into the same folder"],
    );
    assert_says(Writer::open(&theirs), &theirs, &["interrupted"]);
    fs::write(theirs.join("notes.txt"), "mine").unwrap();
    assert_says(Writer::create(&theirs, head()), &theirs, &["notes.txt"]);
    assert_says(Model::open(&theirs), &theirs, &["holds no model"]);
}

#[test]
fn rings_that_do_not_fit_are_refused_and_nothing_changes() {
    let (_place, folder) = place();
    let mut writer = two_rings(&folder);
    let before = state(&folder);
    let cases: Vec<(Vec<Change>, &[&str])> = vec![
        (
            vec![add("alpha", &["x"])],
            &["a ring called `alpha` already", "Choose another name"],
        ),
        (
            vec![add("new", &["x", "a2"])],
            &[
                "class `a2` of ring `new` is in ring `alpha` already",
                "Replace that ring, or leave the class out",
            ],
        ),
        (
            vec![add("new", &["x", "x"])],
            &["class `x` is given twice in ring `new`"],
        ),
        (
            vec![add("one", &["x"]), add("two", &["x"])],
            &["class `x`", "`one`", "`two`"],
        ),
        (vec![replace(1, "beta", &["x"])], &["`beta` already"]),
        (
            vec![replace(7, "new", &["x"])],
            &["there is no ring `7`", "`alpha`"],
        ),
        (
            vec![Change::Remove { number: 0 }],
            &["there is no ring `0`"],
        ),
        (
            vec![Change::Remove { number: 1 }, Change::Remove { number: 1 }],
            &["no ring `1`"],
        ),
        (
            vec![add("", &["x"])],
            &["`` cannot be the name of a ring: it is empty"],
        ),
        (vec![add("a\tb", &["x"])], &["control characters"]),
        (
            vec![add("new", &[&"y".repeat(201)])],
            &["name of a class", "longer than 200 bytes"],
        ),
    ];
    for (changes, parts) in cases {
        assert_says(writer.commit(changes), &folder, parts);
        assert_eq!(state(&folder), before);
    }
    assert_clean(&folder);
}

#[test]
fn a_ring_that_could_not_be_read_again_is_not_written() {
    let (_place, folder) = place();
    let mut writer = two_rings(&folder);
    let before = state(&folder);
    let nothing = Default::default();
    let nan = encode(&[Tensor::f32("w", &[1], vec![f32::NAN])], &nothing);
    let file = folder.join("rings/0003-new.safetensors");
    for (bytes, said) in [
        (nan, "tensor `w`: the value at position 0"),
        (b"text".to_vec(), "damaged"),
    ] {
        let new = treering_store::NewRing {
            bytes,
            ..ring("new", &["x"])
        };
        assert_says(writer.commit(vec![Change::Add(new)]), &file, &[said]);
    }
    let deep = (0..300).fold(json!(1), |inner, _| json!([inner]));
    let new = treering_store::NewRing {
        facts: deep,
        ..ring("new", &["x"])
    };
    assert_says(
        writer.commit(vec![Change::Add(new)]),
        &folder,
        &["cannot be stored", "nested"],
    );
    assert_eq!(state(&folder), before);
    assert_clean(&folder);
}

#[test]
fn a_head_that_cannot_be_used_leaves_no_folder() {
    let (_place, folder) = place();
    let unnamed = NewModel {
        learner: String::new(),
        ..head()
    };
    assert_says(
        Writer::create(&folder, unnamed),
        &folder,
        &["name of a learner"],
    );
    let broken = NewModel {
        backbone: Some(b"x".to_vec()),
        ..head()
    };
    let file = folder.join("backbone.safetensors");
    assert_says(Writer::create(&folder, broken), &file, &["damaged"]);
    assert!(!folder.exists());
}

#[test]
fn any_facts_come_back_or_are_refused() {
    let (_place, folder) = place();
    let odd = json!({ "": null, "n": [-0.0, 1e308, 5e-324, u64::MAX, i64::MIN, 0.1 + 0.2], "é\u{0}\u{2028}": { "a": {}, "b": [] } });
    let head = NewModel {
        parameters: odd.clone(),
        facts: Value::Null,
        ..head()
    };
    Writer::create(&folder, head)
        .unwrap()
        .commit(vec![])
        .unwrap();
    assert_eq!(Model::open(&folder).unwrap().manifest().parameters, odd);
}

#[test]
fn rings_are_found_by_number_and_by_name() {
    let (_place, folder) = place();
    let mut writer = two_rings(&folder);
    // 3, 4, 5
    writer
        .commit(vec![
            add("4", &["x"]),
            add("topics of 2024", &["y"]),
            add("5", &["z"]),
        ])
        .unwrap();
    let model = writer.model().unwrap();
    for (task, number) in [
        ("1", 1),
        ("0001", 1),
        ("alpha", 1),
        ("2", 2),
        ("beta", 2),
        ("5", 5),
        ("0004", 4),
        ("3", 3),
    ] {
        assert_eq!(model.find(task).unwrap().number, number, "{task}");
    }
    let both = [
        "`4` is the number of ring `topics of 2024` and the name of ring 0003",
        "`topics of 2024` for the one or `0003`",
    ];
    assert_says(model.find("4"), &folder, &both);
    assert_says(
        model.find("alhpa"),
        &folder,
        &["there is no ring `alhpa`", "There is `alpha`"],
    );
    assert_says(model.find("+1"), &folder, &["there is no ring"]);
    assert_says(model.find(""), &folder, &["there is no ring"]);
    assert_says(
        model.find("99999999999999999999"),
        &folder,
        &["there is no ring"],
    );
    let (_place, folder) = place();
    let mut writer = Writer::create(&folder, head()).unwrap();
    writer.commit(vec![]).unwrap();
    assert_says(
        writer.model().unwrap().find("1"),
        &folder,
        &["The model has no rings yet"],
    );
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    let (_place, folder) = place();
    two_rings(&folder);
    let file = folder.join("backbone.safetensors");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&file).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    let model = Model::open(&folder).unwrap();
    assert_says(model.backbone(), &file, &["Give yourself the right to it"]);
}

#[test]
fn the_system_is_told_apart_from_the_caller() {
    let error = |kind: std::io::ErrorKind| Fault::Io(kind.into()).at("x");
    assert!(error(std::io::ErrorKind::StorageFull).is_system());
    assert!(!error(std::io::ErrorKind::PermissionDenied).is_system());
    assert!(!Fault::Checksum.at("x").is_system());
    assert!(std::error::Error::source(&error(std::io::ErrorKind::Other)).is_some());
}
