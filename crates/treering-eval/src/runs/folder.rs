//! The folder that runs are kept in: `runs/<hash>.json`, and `results.jsonl` made from them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::Value;
use treering_data::{DataError, Fault, replace};

use super::record::FORMAT;
use super::{Record, RunSpec, line};

/// Run files of one bench. Only one process at a time works in a folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    // Held for as long as the folder is in use; the system lets go of it whatever ends the process.
    _lock: File,
}

/// What cannot be done with a folder of runs.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Somebody is at work there.
    #[error(
        "{0}: another bench is at work in this folder; wait for it, or name another with --out"
    )]
    Busy(PathBuf),
    /// Files of a version to come, or gone.
    #[error(
        "{file}: this run file has format {found}, and this program writes format {FORMAT}; name another folder with --out, or use the \
         program that wrote it"
    )]
    Version {
        /// Which.
        file: PathBuf,
        /// Its format.
        found: Value,
    },
    /// The system said no.
    #[error(transparent)]
    Data(#[from] DataError),
}

/// What is there of a run.
#[derive(Debug)]
pub enum Found {
    /// Its record.
    Record(Box<Record>),
    /// Nothing.
    Missing,
    /// A file that is of no use, and why. Counts as missing.
    Damaged(String),
}

const RUNS: &str = "runs";

impl Folder {
    /// Takes a folder for oneself; makes it if it is not there, and removes what a killed process left half written.
    ///
    /// # Errors
    /// Somebody else has it; the system refuses.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let runs = path.join(RUNS);
        fs::create_dir_all(&runs).map_err(at(&runs))?;
        let name = path.join("lock");
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&name)
            .map_err(at(&name))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::Busy(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(at(&name)(error).into()),
        }
        for folder in [path, &runs] {
            for name in names(folder)?.iter().filter(|name| is_partial(name)) {
                let _ = fs::remove_file(folder.join(name));
            }
        }
        Ok(Folder {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of a run.
    pub fn file(&self, spec: &RunSpec) -> PathBuf {
        self.path.join(RUNS).join(spec.file_name())
    }

    /// Looks for a run.
    ///
    /// # Errors
    /// A file of another format; the system refuses.
    pub fn find(&self, spec: &RunSpec) -> Result<Found, FolderError> {
        let found = self.read(&self.file(spec))?;
        Ok(match found {
            Found::Record(record) if record.spec != *spec => {
                Found::Damaged("it is about another run than its name says".into())
            }
            found => found,
        })
    }

    fn read(&self, file: &Path) -> Result<Found, FolderError> {
        let bytes = match fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Missing),
            Err(error) => return Err(at(file)(error).into()),
        };
        let damaged = |error: serde_json::Error| Ok(Found::Damaged(error.to_string()));
        let value: Value = match serde_json::from_slice(&bytes) {
            Ok(value) => value,
            Err(error) => return damaged(error),
        };
        match value.get("format") {
            Some(format) if *format != FORMAT => {
                return Err(FolderError::Version {
                    file: file.to_owned(),
                    found: format.clone(),
                });
            }
            _ => {}
        }
        match serde_json::from_value::<Record>(value) {
            Ok(record) => Ok(Found::Record(Box::new(record))),
            Err(error) => damaged(error),
        }
    }

    /// Puts a run's file in place, in one step.
    ///
    /// # Errors
    /// The system refuses.
    pub fn store(&self, record: &Record) -> Result<(), FolderError> {
        let text = serde_json::to_string_pretty(record).unwrap_or_default() + "\n";
        put(&self.file(&record.spec), &text)
    }

    /// Every run that is there, in the order of their hashes. Files of no use are left out.
    ///
    /// # Errors
    /// A file of another format; the system refuses.
    pub fn records(&self) -> Result<Vec<Record>, FolderError> {
        let runs = self.path.join(RUNS);
        let mut all = Vec::new();
        for name in names(&runs)?.iter().filter(|name| !is_partial(name)) {
            if let Found::Record(record) = self.read(&runs.join(name))?
                && record.spec.file_name() == *name
            {
                all.push((record.spec.hash(), *record));
            }
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(all.into_iter().map(|(_, record)| record).collect())
    }

    /// Writes `results.jsonl` from the run files: a line a run, in the order of their hashes.
    ///
    /// # Errors
    /// A file of another format; the system refuses.
    pub fn write_results(&self) -> Result<(), FolderError> {
        let lines = self.records()?;
        let text: String = lines
            .iter()
            .map(|record| format!("{}\n", line(record)))
            .collect();
        self.write("results.jsonl", &text)
    }

    /// Puts another file into the folder, in one step.
    ///
    /// # Errors
    /// The system refuses.
    pub fn write(&self, name: &str, text: &str) -> Result<(), FolderError> {
        put(&self.path.join(name), text)
    }
}

fn put(file: &Path, text: &str) -> Result<(), FolderError> {
    Ok(replace(file, true, |partial| {
        fs::write(partial, text).map_err(at(partial))
    })?)
}

fn at(file: &Path) -> impl Fn(io::Error) -> DataError {
    move |error| Fault::from_io(error).at(file)
}

fn names(folder: &Path) -> Result<Vec<String>, FolderError> {
    let entries = fs::read_dir(folder).map_err(at(folder))?;
    let name =
        |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    Ok(entries
        .map(name)
        .collect::<io::Result<_>>()
        .map_err(at(folder))?)
}

/// Whether a name is one that [`replace`] gives to what is not complete yet.
fn is_partial(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".partial")
}

#[cfg(test)]
mod tests {
    use super::super::spec::tests::example;
    use super::*;

    #[test]
    fn a_run_comes_back_as_it_was_stored() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(&place.path().join("new/bench")).unwrap();
        let spec = example();
        assert!(matches!(folder.find(&spec).unwrap(), Found::Missing));
        let record = Record::failed(spec.clone(), "no luck".into());
        folder.store(&record).unwrap();
        let Found::Record(back) = folder.find(&spec).unwrap() else {
            panic!("it was stored")
        };
        assert_eq!(*back, record);
        assert_eq!(folder.records().unwrap(), [record]);
    }

    #[test]
    fn a_file_that_is_cut_short_counts_as_missing() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let spec = example();
        folder
            .store(&Record::failed(spec.clone(), "no luck".into()))
            .unwrap();
        let whole = fs::read(folder.file(&spec)).unwrap();
        for length in 0..whole.len() - 2 {
            fs::write(folder.file(&spec), &whole[..length]).unwrap();
            assert!(
                matches!(folder.find(&spec).unwrap(), Found::Damaged(_)),
                "{length}"
            );
            assert!(folder.records().unwrap().is_empty());
        }
    }

    #[test]
    fn a_file_of_another_run_or_another_format_is_not_taken() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let (spec, mut other) = (example(), example());
        other.seed += 1;
        folder
            .store(&Record::failed(other.clone(), "no luck".into()))
            .unwrap();
        fs::copy(folder.file(&other), folder.file(&spec)).unwrap();
        assert!(matches!(folder.find(&spec).unwrap(), Found::Damaged(_)));
        assert_eq!(folder.records().unwrap().len(), 1);
        fs::write(folder.file(&spec), r#"{"format": 99}"#).unwrap();
        let told = folder.find(&spec).unwrap_err().to_string();
        assert!(
            told.contains("format 99") && told.contains("--out"),
            "{told}"
        );
    }

    #[test]
    fn one_process_at_a_time_and_leftovers_go() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        assert!(matches!(
            Folder::open(place.path()),
            Err(FolderError::Busy(_))
        ));
        drop(folder);
        let leftover = place.path().join("runs/.0123.json.77.partial");
        fs::write(&leftover, "{").unwrap();
        Folder::open(place.path()).unwrap();
        assert!(!leftover.exists());
    }
}
