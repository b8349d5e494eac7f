//! Files that changed after they were written are noticed and named, whichever byte it was.

use std::fs;
use std::path::{Path, PathBuf};

use treering_store::{Fault, Model, Result, StoreError};

use crate::common::{place, two_rings};

const FILES: [&str; 3] = [
    "manifest.json",
    "backbone.safetensors",
    "rings/0002-beta.safetensors",
];

/// Reads all of a model, as a learner does.
fn load(folder: &Path) -> Result<()> {
    let model = Model::open(folder)?;
    model.backbone()?;
    for ring in &model.manifest().rings {
        model.ring(ring)?;
    }
    Ok(())
}

/// The files that a model opened in good times finds fault with.
fn named(model: &Model) -> Vec<PathBuf> {
    let findings = model.verify().into_iter();
    let wrong = findings.filter(|finding| finding.fault.is_some());
    wrong.map(|finding| finding.file).collect()
}

/// Asserts that the damaged file, and no other, is found.
fn assert_named(model: &Model, file: &Path, context: &str) -> StoreError {
    assert_eq!(named(model), [file], "{context}");
    let error = load(model.folder()).expect_err(context);
    assert_eq!(error.file, file, "{context}: {error}");
    error
}

#[test]
fn every_changed_byte_is_noticed() {
    let (_place, folder) = place();
    two_rings(&folder);
    let model = Model::open(&folder).unwrap();
    for file in FILES.map(|file| folder.join(file)) {
        let good = fs::read(&file).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            // Some bit, another one for every byte.
            bad[at] ^= 1 << (at * 7 % 8);
            fs::write(&file, &bad).unwrap();
            assert_named(&model, &file, &format!("byte {at}"));
        }
        fs::write(&file, good).unwrap();
    }
    assert!(named(&model).is_empty());
}

#[test]
fn every_changed_bit_of_a_manifest_is_noticed() {
    let (_place, folder) = place();
    two_rings(&folder);
    let file = folder.join("manifest.json");
    let good = fs::read(&file).unwrap();
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, &bad).unwrap();
        assert!(Model::open(&folder).is_err(), "bit {bit}");
    }
}

#[test]
fn every_truncation_is_noticed() {
    let (_place, folder) = place();
    two_rings(&folder);
    let model = Model::open(&folder).unwrap();
    for name in FILES {
        let file = folder.join(name);
        let good = fs::read(&file).unwrap();
        for length in 0..good.len() {
            fs::write(&file, &good[..length]).unwrap();
            let error = assert_named(&model, &file, &format!("{length} bytes"));
            let truncated = matches!(*error.fault, Fault::Truncated { .. });
            assert!(truncated || name == "manifest.json", "{error}");
        }
        fs::write(&file, [&good[..], b"\n"].concat()).unwrap();
        let error = assert_named(&model, &file, "longer");
        let longer = matches!(*error.fault, Fault::Longer { .. });
        assert!(longer || name == "manifest.json", "{error}");
        fs::write(&file, good).unwrap();
    }
    load(&folder).unwrap();
}

#[test]
fn a_missing_file_is_named() {
    let (_place, folder) = place();
    two_rings(&folder);
    let model = Model::open(&folder).unwrap();
    for file in FILES[1..].iter().map(|file| folder.join(file)) {
        let good = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let error = assert_named(&model, &file, "missing");
        assert!(matches!(*error.fault, Fault::Missing), "{error}");
        fs::create_dir(&file).unwrap();
        let error = assert_named(&model, &file, "a folder");
        assert!(matches!(*error.fault, Fault::NotAFile), "{error}");
        fs::remove_dir(&file).unwrap();
        fs::write(&file, good).unwrap();
    }
}

#[test]
fn one_damaged_ring_does_not_keep_the_others_from_being_read_or_itself_from_being_replaced() {
    let (_place, folder) = place();
    let mut writer = two_rings(&folder);
    fs::write(folder.join(FILES[2]), "nonsense").unwrap();
    let model = Model::open(&folder).unwrap();
    model.ring(model.find("alpha").unwrap()).unwrap();
    assert!(model.ring(model.find("beta").unwrap()).is_err());
    let change = crate::common::replace(2, "beta", &["b1"]);
    writer.commit(vec![change]).unwrap();
    load(&folder).unwrap();
}
