//! Manifests that lie, with a checksum that is right: somebody made them so.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use sha2::{Digest, Sha256};
use treering_store::{Fault, Model, StoreError, Writer};

use crate::common::{Scenario, place, two_rings};

/// Puts the right checksum into a text that ends like a manifest, by the rule in docs/model-directory.md.
fn sealed(text: &str) -> Vec<u8> {
    let mut raw = text.as_bytes().to_vec();
    let (from, to) = (raw.len() - 68, raw.len() - 4);
    raw[from..to].fill(b'0');
    let digits: String = Sha256::digest(&raw)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    raw[from..to].copy_from_slice(digits.as_bytes());
    raw
}

/// Opens a model whose manifest was changed by somebody who can count checksums.
fn opened(from: &str, to: &str) -> Result<Model, StoreError> {
    let (_place, folder) = place();
    two_rings(&folder);
    let file = folder.join("manifest.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{from} is not in\n{text}");
    fs::write(&file, sealed(&text.replacen(from, to, 1))).unwrap();
    let model = Model::open(&folder);
    let written = Writer::open(&folder);
    assert_eq!(model.is_ok(), written.is_ok());
    model
}

fn fault(from: &str, to: &str) -> Fault {
    let error = opened(from, to).expect_err(to);
    assert!(error.file.ends_with("manifest.json"), "{error}");
    *error.fault
}

#[test]
fn the_rule_for_the_checksum_is_the_documented_one() {
    assert!(opened("alpha", "alpha").is_ok());
    assert!(opened("\"a1\"", "\"a9\"").is_ok());
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    let ring = "rings/0001-alpha.safetensors";
    for path in [
        "../0001-alpha.safetensors",
        "rings/../../0001-alpha.safetensors",
        "/etc/passwd",
        "rings/0002-beta.safetensors",
        "rings/0001-alpha.safetensors/",
        "rings/./0001-alpha.safetensors",
        "rings/0001-Alpha.safetensors",
        "",
    ] {
        assert!(matches!(fault(ring, path), Fault::BadPath { .. }), "{path}");
    }
    for path in ["../backbone.safetensors", "/dev/zero", "lock"] {
        let fault = fault("backbone.safetensors", path);
        assert!(matches!(fault, Fault::BadPath { .. }), "{path}");
    }
}

#[test]
fn manifests_that_contradict_themselves_are_refused() {
    let damaged = [
        ("\"number\": 2", "\"number\": 1"),
        ("\"number\": 2", "\"number\": 3"),
        ("\"number\": 2", "\"number\": -2"),
        ("\"number\": 2", "\"number\": \"2\""),
        ("\"number\": 2", "\"number\": 2.0"),
        ("\"number\": 2", "\"number\": 4294967298"),
        ("\"next_ring\": 3", "\"next_ring\": 0"),
        ("\"next_ring\": 3", "\"next_ring\": 03"),
        ("\"next_ring\": 3", "\"next_ring\":  3"),
        ("\"next_ring\": 3", "\"next_ring\": 3,\n  \"next_ring\": 3"),
        ("\"next_ring\": 3", "\"next_ring\": 3,\n  \"more\": 3"),
        ("\"feature_width\": 5", "\"feature_width\": null"),
        ("\"a1\"", "1"),
        ("\"a1\"", "\"\\u0061\""),
        ("\"note\"", "\"note\": 1, \"note\""),
        ("\"sha256\": \"", "\"sha256\": \"f"),
        ("\"learner\": \"tpp\",\n", ""),
        ("\"rate\": 0.1", "\"rate\": 0.10"),
        ("\"rate\": 0.1", "\"rate\": 1e999"),
    ];
    for (from, to) in damaged {
        let fault = fault(from, to);
        assert!(matches!(fault, Fault::Damaged { .. }), "{to}: {fault}");
    }
    assert!(matches!(
        fault("\"beta\"", "\"alpha\""),
        Fault::DuplicateName { .. }
    ));
    assert!(matches!(
        fault("\"b1\"", "\"a1\""),
        Fault::DuplicateClass { .. }
    ));
    assert!(matches!(fault("\"b1\"", "\"\""), Fault::BadName { .. }));
    assert!(matches!(
        fault("\"tpp\"", "\"t\\npp\""),
        Fault::BadName { .. }
    ));
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!(
        "\"rate\": {}0.1{}",
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    assert!(matches!(
        fault("\"rate\": 0.1", &deep),
        Fault::Damaged { .. }
    ));
}

#[test]
fn huge_sizes_are_compared_and_not_believed() {
    let (_place, folder) = place();
    let writer = two_rings(&folder);
    let bytes = writer.manifest().unwrap().backbone.clone().unwrap().bytes;
    let from = format!("\"bytes\": {bytes}");
    for huge in [u64::MAX, 1 << 40, bytes + 1] {
        let error = {
            let (_place, folder) = place();
            two_rings(&folder);
            let file = folder.join("manifest.json");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(
                &file,
                sealed(&text.replacen(&from, &format!("\"bytes\": {huge}"), 1)),
            )
            .unwrap();
            Model::open(&folder).unwrap().backbone().unwrap_err()
        };
        assert!(matches!(*error.fault, Fault::Truncated { .. }), "{error}");
    }
}

#[test]
fn a_manifest_that_is_too_large_is_not_read() {
    let (_place, folder) = place();
    two_rings(&folder);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(folder.join("manifest.json"))
        .unwrap();
    file.set_len(300_000_000_000).unwrap();
    let error = Model::open(&folder).unwrap_err();
    assert!(matches!(*error.fault, Fault::TooLarge { .. }), "{error}");
}

#[test]
fn another_format_is_named_before_anything_else_is_judged() {
    let (_place, folder) = place();
    two_rings(&folder);
    let text = r#"{ "format": 7, "program": "9.1.0", "everything": "else" }"#;
    fs::write(folder.join("manifest.json"), text).unwrap();
    let error = Model::open(&folder).unwrap_err().to_string();
    assert!(
        error.contains("version 7 of the format (treering 9.1.0); this program reads 1"),
        "{error}"
    );
    assert!(
        error.contains("Use the version of treering that wrote it"),
        "{error}"
    );
}

#[test]
fn texts_that_are_no_manifest_give_errors() {
    let (_place, folder) = place();
    two_rings(&folder);
    for text in [
        "",
        "{}",
        "null",
        "[1]",
        "{\"format\": 1}",
        "{\"format\": \"1\"}",
        "\u{feff}{}",
        "format",
    ] {
        fs::write(folder.join("manifest.json"), text).unwrap();
        assert!(Model::open(&folder).is_err(), "{text}");
    }
}

fn link(folder: &Path, name: &str) {
    let outside = folder.parent().unwrap().join("outside");
    fs::rename(folder.join(name), &outside).unwrap();
    symlink(outside, folder.join(name)).unwrap();
}

#[test]
fn links_are_not_followed() {
    for name in [
        "manifest.json",
        "backbone.safetensors",
        "rings",
        "rings/0001-alpha.safetensors",
    ] {
        let (_place, folder) = place();
        two_rings(&folder);
        link(&folder, name);
        let read = Model::open(&folder).and_then(|model| {
            model.backbone()?;
            model.ring(model.find("1")?)
        });
        let error = read.unwrap_err();
        assert!(matches!(*error.fault, Fault::NotAFile), "{error}");
        assert_eq!(error.file, folder.join(name));
    }
}

#[test]
fn nothing_is_written_or_removed_through_a_link() {
    let (_place, folder) = place();
    two_rings(&folder);
    link(&folder, "rings");
    let outside = folder.parent().unwrap().join("outside");
    fs::write(outside.join("0009-mine.safetensors"), "mine").unwrap();
    let mut writer = Writer::open(&folder).unwrap();
    assert!(writer.commit(Scenario::Add.changes()).is_err());
    assert_eq!(fs::read_dir(outside).unwrap().count(), 3);
    drop(writer);
    fs::remove_file(folder.join("lock")).unwrap();
    symlink("elsewhere", folder.join("lock")).unwrap();
    assert!(matches!(
        *Writer::open(&folder).unwrap_err().fault,
        Fault::NotAFile
    ));
    assert!(!folder.join("elsewhere").exists());
}
