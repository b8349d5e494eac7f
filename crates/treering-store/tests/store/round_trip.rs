//! What was committed comes back, and what was there before stays as it was.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use treering_store::{Change, Model, NewModel, Writer, encode};

use crate::common::{Scenario, add, assert_clean, head, place, replace, ring, state, two_rings};

/// Every file below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for name in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let key = name.file_name().into_string().unwrap();
        match name.path().is_dir() {
            true => all.extend(
                files(&name.path())
                    .into_iter()
                    .map(|(k, v)| (format!("{key}/{k}"), v)),
            ),
            false => drop(all.insert(key, fs::read(name.path()).unwrap())),
        }
    }
    all
}

#[test]
fn rings_that_share_nothing_need_no_backbone() {
    let (_place, folder) = place();
    let head = NewModel {
        backbone: None,
        ..head()
    };
    let mut writer = Writer::create(&folder, head).unwrap();
    writer.commit(vec![add("alpha", &["a1"])]).unwrap();
    assert_clean(&folder);
    let names = ["lock", "manifest.json", "rings/0001-alpha.safetensors"];
    assert!(files(&folder).keys().eq(names));
    let model = Model::open(&folder).unwrap();
    assert_eq!(model.backbone().unwrap(), None);
    assert_eq!(model.backbone_bytes().unwrap(), None);
    let text = fs::read_to_string(folder.join("manifest.json")).unwrap();
    assert!(!text.contains("backbone"), "{text}");
}

#[test]
fn a_model_comes_back_as_it_was_written() {
    let (_place, folder) = place();
    let mut writer = Writer::create(&folder, head()).unwrap();
    assert!(writer.model().is_none() && writer.manifest().is_none());
    assert!(Model::open(&folder).is_err());
    let new = writer.commit(vec![add("alpha", &["a1", "a2"])]).unwrap();
    let model = Model::open(&folder).unwrap();
    assert_eq!(Some(&model), writer.model());
    assert_eq!(model.manifest().rings, new);
    assert_eq!(model.manifest().program, env!("CARGO_PKG_VERSION"));
    assert_eq!(model.manifest().parameters, head().parameters);
    assert_eq!(model.manifest().facts, head().facts);
    assert_eq!(model.backbone_bytes().unwrap(), head().backbone);
    let alpha = ring("alpha", &["a1", "a2"]);
    assert_eq!(new[0].facts, alpha.facts);
    assert_eq!(model.ring_bytes(&new[0]).unwrap(), alpha.bytes);
    let names = files(&folder);
    let names: Vec<&str> = names.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "backbone.safetensors",
            "lock",
            "manifest.json",
            "rings/0001-alpha.safetensors"
        ]
    );
    assert_clean(&folder);
}

#[test]
fn the_same_commits_give_the_same_bytes() {
    for scenario in Scenario::ALL {
        let [first, second] = [(), ()].map(|()| {
            let (_place, folder) = place();
            scenario.writer(&folder).commit(scenario.changes()).unwrap();
            files(&folder)
        });
        assert_eq!(first, second);
    }
}

#[test]
fn the_manifest_is_for_people_too() {
    let (_place, folder) = place();
    two_rings(&folder);
    let text = fs::read_to_string(folder.join("manifest.json")).unwrap();
    assert!(
        text.starts_with("{\n  \"format\": 1,\n  \"program\": \""),
        "{text}"
    );
    assert!(text.contains("\n      \"name\": \"alpha\",\n"), "{text}");
    assert!(text.ends_with("\"\n}\n"), "{text}");
    let last = text.lines().nth_back(1).unwrap();
    assert!(last.starts_with("  \"checksum\": \""), "{text}");
    // Numbers come back to the last bit, and are written in the shortest way.
    assert!(text.contains("\"rate\": 0.1,"), "{text}");
}

#[test]
fn earlier_files_are_never_rewritten() {
    let (_place, folder) = place();
    let mut writer = Writer::create(&folder, head()).unwrap();
    writer.commit(vec![]).unwrap();
    assert_clean(&folder);
    let mut before = files(&folder);
    let mut times = BTreeMap::new();
    for number in 0..12u32 {
        let change = match number {
            5 => replace(3, "better", &["z"]),
            8 => Change::Remove { number: 2 },
            _ => add(&format!("task {number}"), &[&number.to_string()]),
        };
        writer.commit(vec![change]).unwrap();
        let now = files(&folder);
        for (name, bytes) in now.iter().filter(|(name, _)| *name != "manifest.json") {
            let time = fs::metadata(folder.join(name)).unwrap().modified().unwrap();
            if let Some(old) = before.get(name) {
                assert_eq!(bytes, old, "{name}");
            }
            assert_eq!(*times.entry(name.clone()).or_insert(time), time, "{name}");
        }
        before = now;
    }
    assert_clean(&folder);
}

#[test]
fn a_replacing_ring_has_a_new_number_in_the_old_place() {
    let (_place, folder) = place();
    let mut writer = two_rings(&folder);
    let new = writer
        .commit(vec![replace(1, "alpha", &["a1", "a3"])])
        .unwrap();
    assert_eq!((new.len(), new[0].number), (1, 3));
    let numbers = |writer: &Writer| -> Vec<u32> {
        writer
            .manifest()
            .unwrap()
            .rings
            .iter()
            .map(|ring| ring.number)
            .collect()
    };
    assert_eq!(numbers(&writer), [3, 2]);
    writer.commit(vec![Change::Remove { number: 3 }]).unwrap();
    writer.commit(vec![add("gamma", &["c"])]).unwrap();
    assert_eq!(numbers(&writer), [2, 4]);
    assert_clean(&folder);
}

#[test]
fn several_changes_are_judged_together() {
    let (_place, folder) = place();
    let mut writer = two_rings(&folder);
    // The class and the name are free again in the same commit.
    writer
        .commit(vec![Change::Remove { number: 1 }, add("alpha", &["a1"])])
        .unwrap();
    // A ring that comes and goes in one commit was never there.
    let new = writer
        .commit(vec![
            add("brief", &["x"]),
            Change::Remove { number: 4 },
            add("long", &["x"]),
        ])
        .unwrap();
    assert_eq!(new.len(), 1);
    assert_eq!(new[0].name, "long");
    assert_clean(&folder);
}

#[test]
fn a_commit_without_changes_changes_nothing() {
    let (_place, folder) = place();
    let mut writer = two_rings(&folder);
    let before = files(&folder);
    assert!(writer.commit(vec![]).unwrap().is_empty());
    assert_eq!(files(&folder), before);
}

#[test]
fn a_writer_removes_what_writers_leave_and_nothing_else() {
    let (_place, folder) = place();
    let before = two_rings(&folder).manifest().cloned();
    let ours = [
        "manifest.json.partial",
        "backbone.safetensors.partial",
        "rings/0003-x.safetensors",
        "rings/0003-x.safetensors.partial",
    ];
    let theirs = [
        "README.md",
        "rings/notes.txt",
        "x.partial",
        "rings/0003.safetensors",
    ];
    for name in ours.iter().chain(&theirs) {
        fs::write(folder.join(name), "x").unwrap();
    }
    let leftover = |model: &Model| model.verify().iter().filter(|f| f.leftover).count();
    let model = Model::open(&folder).unwrap();
    assert_eq!(leftover(&model), 8);
    assert!(model.verify().iter().all(|finding| finding.fault.is_none()));
    let writer = Writer::open(&folder).unwrap();
    assert_eq!(writer.manifest().cloned(), before);
    assert!(ours.iter().all(|name| !folder.join(name).exists()));
    assert!(theirs.iter().all(|name| folder.join(name).exists()));
    assert_eq!(leftover(&model), 4);
}

#[test]
fn a_copied_model_is_a_model() {
    let (place, folder) = place();
    two_rings(&folder);
    let copy = place.path().join("copy");
    for (name, bytes) in files(&folder).iter().filter(|(name, _)| *name != "lock") {
        fs::create_dir_all(copy.join(name).parent().unwrap()).unwrap();
        fs::write(copy.join(name), bytes).unwrap();
    }
    assert_eq!(state(&copy), state(&folder));
    Writer::open(&copy)
        .unwrap()
        .commit(vec![add("gamma", &["c"])])
        .unwrap();
    assert_clean(&copy);
}

#[test]
fn a_reader_keeps_the_model_that_it_opened() {
    let (_place, folder) = place();
    let mut writer = two_rings(&folder);
    let model = Model::open(&folder).unwrap();
    writer.commit(vec![replace(2, "beta", &["b1"])]).unwrap();
    model.ring(model.find("alpha").unwrap()).unwrap();
    let error = model.ring(model.find("beta").unwrap()).unwrap_err();
    assert!(error.is_changed(), "{error}");
    assert!(error.to_string().ends_with("Open it again."), "{error}");
    let model = Model::open(&folder).unwrap();
    let beta = model.ring(model.find("beta").unwrap()).unwrap();
    assert_eq!(
        encode(&beta.into_vec(), &BTreeMap::new()),
        ring("beta", &[]).bytes
    );
}

#[test]
fn a_creation_that_was_interrupted_leaves_nothing_in_the_next_one() {
    let (_place, folder) = place();
    drop(Writer::create(&folder, head()).unwrap());
    fs::create_dir(folder.join("rings")).unwrap();
    let left = [
        "backbone.safetensors",
        "rings/0001-other.safetensors",
        "manifest.json.partial",
    ];
    for name in left {
        fs::write(folder.join(name), "half of it").unwrap();
    }
    let mut writer = Writer::create(&folder, head()).unwrap();
    assert!(left.iter().all(|name| !folder.join(name).exists()));
    writer.commit(vec![add("alpha", &["a1"])]).unwrap();
    assert_clean(&folder);
}
