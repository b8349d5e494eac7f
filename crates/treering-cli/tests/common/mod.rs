//! Running the real binary.
#![allow(dead_code, clippy::unwrap_used)]

pub mod bench;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Flags that make learning with TPP a matter of milliseconds.
pub const TINY: [&str; 10] = [
    "--scale",
    "0.1",
    "--learner",
    "tpp",
    "--hidden",
    "8",
    "--epochs",
    "3",
    "--pretrain-epochs",
    "2",
];

pub fn binary() -> PathBuf {
    assert_cmd::cargo::cargo_bin("treering")
}

pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.current_dir(folder).args(arguments);
    // What the caller of the tests has there must not change them.
    command.env_remove("TREERING_DATA");
    command
}

pub fn treering(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command that must succeed; returns what it printed.
pub fn works(folder: &TempDir, arguments: &[&str]) -> String {
    let output = treering(folder.path(), arguments);
    let errors = text(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    text(&output.stdout)
}

/// Runs a command that must be refused with exit code 2 and all of `words`.
pub fn refused(folder: &TempDir, arguments: &[&str], words: &[&str]) {
    let output = treering(folder.path(), arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(
        text(&output.stdout).is_empty(),
        "nothing half done on standard output"
    );
    assert!(!errors.contains("panicked"), "{errors}");
    for word in words {
        assert!(
            errors.contains(word),
            "{arguments:?}: `{word}` is not in: {errors}"
        );
    }
}

pub fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Learns some classes of the tiny demo into a model; the first call begins it.
pub fn learn(folder: &TempDir, model: &str, classes: &str, more: &[&str]) -> String {
    let mut arguments = vec!["learn", model, "demo", "--classes", classes];
    let begins = !folder.path().join(model).join("manifest.json").exists();
    arguments.extend(&TINY[..if begins { TINY.len() } else { 2 }]);
    arguments.extend(more);
    works(folder, &arguments)
}

/// Every file of a folder with its bytes, the lock left out.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.ends_with("lock") => {}
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_owned();
                    all.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    all
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("rings")).unwrap();
    for (name, bytes) in files(from) {
        fs::write(to.join(name), bytes).unwrap();
    }
}

/// Small made-up data in a file.
pub fn synth(folder: &TempDir, file: &str) {
    works(
        folder,
        &["data", "synth", "demo", "--scale", "0.1", "-o", file],
    );
}
