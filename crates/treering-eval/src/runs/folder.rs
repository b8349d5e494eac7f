//! The folder that runs are kept in: `runs/<hash>.json`, `grids/<hash>.json`, and `results.jsonl` made from them.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::Value;
use treering_data::{DataError, Fault, replace};

use super::place::{GRIDS, LOCK, RESULTS, RUNS, STUDIES, TABLES, look};
use super::record::FORMAT;
use super::{FolderError, GridRecord, Line, Record, RunSpec};

/// Run files of one bench. Only one process at a time works in a folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    // Held for as long as the folder is in use; the system lets go of it whatever ends the process.
    _lock: File,
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

impl Folder {
    /// Sees whether a folder can hold runs, and changes nothing.
    ///
    /// # Errors
    /// It is a file, or holds files of something else.
    pub fn check(path: &Path) -> Result<(), FolderError> {
        look(path)
    }

    /// Takes a folder for oneself; makes it if it is not there, and removes what a killed process left half written.
    ///
    /// # Errors
    /// Somebody else has it; it holds files of something else; the system refuses.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        Folder::check(path)?;
        let (runs, grids) = (path.join(RUNS), path.join(GRIDS));
        fs::create_dir_all(&runs).map_err(at(&runs))?;
        let name = path.join(LOCK);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&name)
            .map_err(at(&name))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::Busy(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(at(&name)(error)),
        }
        let others = [TABLES, STUDIES].map(|name| path.join(name));
        for folder in [path, &runs, &grids, &others[0], &others[1]] {
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
        let found = read(&self.file(spec))?;
        Ok(match found {
            Found::Record(record) if record.spec != *spec => Found::Damaged(ANOTHER.into()),
            found => found,
        })
    }

    /// Puts a run's file in place, in one step.
    ///
    /// # Errors
    /// The system refuses.
    pub fn store(&self, record: &Record) -> Result<(), FolderError> {
        let text = serde_json::to_string_pretty(record).unwrap_or_default() + "\n";
        put(&self.file(&record.spec), &text)
    }

    /// Puts a search's file in place, in one step.
    ///
    /// # Errors
    /// The system refuses.
    pub fn store_grid(&self, grid: &GridRecord) -> Result<(), FolderError> {
        let folder = self.path.join(GRIDS);
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        let text = serde_json::to_string_pretty(grid).unwrap_or_default() + "\n";
        put(&folder.join(grid.file_name()), &text)
    }

    /// Every search that is there, in the order of their hashes. Files of no use are left out; the search writes them again.
    ///
    /// # Errors
    /// The system refuses.
    pub fn grids(&self) -> Result<Vec<GridRecord>, FolderError> {
        let folder = self.path.join(GRIDS);
        let mut all = Vec::new();
        for name in names(&folder)? {
            let bytes = fs::read(folder.join(&name)).map_err(at(&folder.join(&name)))?;
            let grid = serde_json::from_slice::<GridRecord>(&bytes).ok();
            all.extend(grid.filter(|grid| grid.file_name() == name));
        }
        all.sort_by_key(GridRecord::hash);
        Ok(all)
    }

    /// Every run that is there, in the order of their hashes; and the files of no use, with the reason.
    ///
    /// # Errors
    /// A file of another format; the system refuses.
    pub fn records(&self) -> Result<(Vec<Record>, Vec<String>), FolderError> {
        let runs = self.path.join(RUNS);
        let (mut all, mut odd) = (Vec::new(), Vec::new());
        for name in names(&runs)?.iter().filter(|name| !is_partial(name)) {
            let file = runs.join(name);
            match read(&file)? {
                Found::Record(record) if record.spec.file_name() == *name => {
                    all.push((record.spec.hash(), *record));
                }
                Found::Record(_) => odd.push(format!("{}: {ANOTHER}", file.display())),
                Found::Damaged(why) => odd.push(format!("{}: {why}", file.display())),
                Found::Missing => {}
            }
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        Ok((all.into_iter().map(|(_, record)| record).collect(), odd))
    }

    /// Writes `results.jsonl` from the run files: a line a run, in the order of their hashes. Names the files of no use, with the reason.
    ///
    /// # Errors
    /// A file of another format; the system refuses.
    pub fn write_results(&self) -> Result<Vec<String>, FolderError> {
        let mut chosen: HashMap<String, Vec<String>> = HashMap::new();
        for grid in self.grids()? {
            for run in &grid.test_runs {
                chosen.entry(run.clone()).or_default().push(grid.hash());
            }
        }
        let (records, odd) = self.records()?;
        let mut text = String::new();
        for record in records {
            let by = chosen.remove(&record.spec.hash());
            let line = Line::new(record, by.unwrap_or_default());
            text.push_str(
                &serde_json::to_string(&line)
                    .map_err(io::Error::from)
                    .map_err(at(&self.path))?,
            );
            text.push('\n');
        }
        self.write(RESULTS, &text)?;
        Ok(odd)
    }

    /// Puts another file into the folder or into one of its folders, in one step.
    ///
    /// # Errors
    /// The system refuses.
    pub fn write(&self, name: &str, text: &str) -> Result<(), FolderError> {
        let file = self.path.join(name);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(at(folder))?;
        }
        put(&file, text)
    }

    /// Whether a file of this name is there.
    pub fn has(&self, name: &str) -> bool {
        self.path.join(name).is_file()
    }
}

const ANOTHER: &str = "it is about another run than its name says";

/// Reads a run file. What is wrong with it is told in words of its user, not of its format.
fn read(file: &Path) -> Result<Found, FolderError> {
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Missing),
        Err(error) => return Err(at(file)(error)),
    };
    let damaged = |why: &str| Ok(Found::Damaged(why.to_owned()));
    let Ok(value) = serde_json::from_slice::<Value>(&bytes) else {
        return damaged("it is cut short, or no JSON");
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
    let Ok(record) = serde_json::from_value::<Record>(value) else {
        return damaged("it does not have what a run file has");
    };
    match record.contradiction() {
        Some(why) => damaged(why),
        None => Ok(Found::Record(Box::new(record))),
    }
}

fn put(file: &Path, text: &str) -> Result<(), FolderError> {
    let mut failed = None;
    let done = replace(file, true, |partial| {
        fs::write(partial, text).map_err(|error| {
            let kind = error.kind();
            failed = Some(error);
            Fault::Io(kind.into()).at(partial)
        })
    });
    done.map_err(|error| at(file)(failed.unwrap_or_else(|| system(error))))
}

/// What the system said, out of an error that speaks of data sets.
fn system(error: DataError) -> io::Error {
    match *error.fault {
        Fault::Io(error) => error,
        Fault::NotFound => ErrorKind::NotFound.into(),
        _ => io::Error::other("it cannot be written"),
    }
}

pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> FolderError {
    let path = path.to_owned();
    move |error| FolderError::System {
        path: path.clone(),
        error,
    }
}

/// The names in a folder; none where there is no such folder.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, FolderError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(at(folder))?,
    };
    let name =
        |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries
        .map(name)
        .collect::<io::Result<_>>()
        .map_err(at(folder))
}

/// Whether a name is one that [`replace`] gives to what is not complete yet.
fn is_partial(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(".partial")
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
