//! Whether a folder can hold runs, found out before any work.

use std::path::Path;

use super::FolderError;
use super::folder::names;

pub(super) const RUNS: &str = "runs";
pub(super) const GRIDS: &str = "grids";
pub(super) const LOCK: &str = "lock";
pub(super) const RESULTS: &str = "results.jsonl";
const TABLE: &str = "table.md";
pub(super) const TABLES: &str = "tables";
pub(super) const STUDIES: &str = "studies";

/// Refuses what is no folder, what holds files of something else, and files and folders in the place of ours.
pub(super) fn look(path: &Path) -> Result<(), FolderError> {
    let be = |path: &Path, wanted: &'static str| {
        let fits = match wanted {
            "folder" => path.is_dir(),
            _ => path.is_file(),
        };
        match fits || path.symlink_metadata().is_err() {
            true => Ok(()),
            false => Err(FolderError::Kind {
                path: path.to_owned(),
                wanted,
            }),
        }
    };
    // The nearest part of the path that is there has to be a folder.
    let there = path
        .ancestors()
        .find(|part| part.symlink_metadata().is_ok());
    be(there.unwrap_or(path), "folder")?;
    for (name, wanted) in [
        (RUNS, "folder"),
        (GRIDS, "folder"),
        (TABLES, "folder"),
        (STUDIES, "folder"),
        (LOCK, "file"),
        (RESULTS, "file"),
        (TABLE, "file"),
    ] {
        be(&path.join(name), wanted)?;
    }
    match is_ours(path)? {
        true => Ok(()),
        false => Err(FolderError::Foreign(path.to_owned())),
    }
}

/// Whether a folder is empty or was made by a bench. Others keep runs in folders of that name too, so there has to be a lock, or a run.
fn is_ours(path: &Path) -> Result<bool, FolderError> {
    let visible = |name: &String| !name.starts_with('.');
    let all: Vec<String> = names(path)?.into_iter().filter(visible).collect();
    let runs = names(&path.join(RUNS))?;
    let begun = all.iter().all(|name| name == RUNS) && runs.is_empty();
    let has_runs = all.iter().any(|name| name == RUNS);
    let locked = has_runs && all.iter().any(|name| name == LOCK);
    Ok(all.is_empty() || begun || locked || runs.iter().any(|name| is_run(name)))
}

/// Whether a name is one that a run file has.
fn is_run(name: &str) -> bool {
    let hash = name.strip_suffix(".json").unwrap_or_default();
    hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_of_something_else_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path();
        assert!(look(path).is_ok(), "it is empty");
        assert!(look(&path.join("new/er")).is_ok());
        fs::write(path.join(TABLE), "my own").unwrap();
        assert!(matches!(look(path), Err(FolderError::Foreign(_))));
        fs::create_dir(path.join(RUNS)).unwrap();
        assert!(matches!(look(path), Err(FolderError::Foreign(_))));
        fs::write(path.join(RUNS).join("0123456789abcdef.json"), "").unwrap();
        assert!(look(path).is_ok(), "there is a run");
        let below = path.join(TABLE).join("out");
        let told = look(&below).unwrap_err().to_string();
        assert!(told.contains("has to be a folder"), "{told}");
    }

    #[test]
    fn a_folder_in_the_place_of_a_file_is_refused() {
        for (name, other) in [
            (RUNS, "folder"),
            (GRIDS, "folder"),
            (TABLES, "folder"),
            (STUDIES, "folder"),
            (LOCK, "file"),
            (RESULTS, "file"),
            (TABLE, "file"),
        ] {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join(name);
            match other {
                "folder" => fs::write(&path, "").unwrap(),
                _ => fs::create_dir(&path).unwrap(),
            }
            let told = look(place.path()).unwrap_err().to_string();
            assert!(told.contains(&format!("has to be a {other}")), "{told}");
            assert!(!told.contains("--force"), "{told}");
        }
    }
}
