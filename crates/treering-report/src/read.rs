//! From a bench folder to its lines and studies. A report that leaves out what it cannot read would be wrong without saying so, hence any
//! bad line is an error.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::Value;
use treering_eval::runs::{FORMAT, Line};

use treering_eval::studies::{self as study, Study};

const RESULTS: &str = "results.jsonl";

/// What is in a bench folder.
#[derive(Clone, Debug)]
pub struct Bench {
    /// All runs, in the order of the file.
    pub lines: Vec<Line>,
    /// All studies, in the order of their file names.
    pub studies: Vec<Study>,
    /// The command that filled the folder, if the folder says so.
    pub command: Option<String>,
}

/// Why a folder cannot be reported on.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no such folder.
    #[error("{0}: there is no such folder; name the one that `treering bench --out` filled")]
    NoFolder(PathBuf),
    /// It holds neither runs nor studies.
    #[error(
        "{folder}: there is no run and no study in this folder; name the one that `treering bench --out` filled{inner}. Where a bench was stopped, the same call with --finished makes the results of its runs"
    )]
    Nothing {
        /// The folder.
        folder: PathBuf,
        /// Folders in it that do hold runs, in words.
        inner: String,
    },
    /// A line that is no run.
    #[error(
        "{file}, line {line}: {reason}; call `treering bench` with this folder again: it makes the file anew from its runs"
    )]
    Line {
        /// The file.
        file: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that is no study.
    #[error("{file}: {reason}; remove the file, or have the bench make it anew")]
    Study {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system said no.
    #[error("{path}: {error}")]
    System {
        /// About what.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

/// Reads `results.jsonl`, `studies/*.json` and `command.txt` of a bench folder.
///
/// # Errors
/// No such folder, neither runs nor studies in it, a line or a study that cannot be read.
pub fn read(folder: &Path) -> Result<Bench, ReadError> {
    if !folder.is_dir() {
        return Err(ReadError::NoFolder(folder.to_owned()));
    }
    let (lines, studies) = (read_lines(folder)?, read_studies(&folder.join("studies"))?);
    if lines.is_empty() && studies.is_empty() {
        return Err(ReadError::Nothing {
            folder: folder.to_owned(),
            inner: inner(folder),
        });
    }
    Ok(Bench {
        lines,
        studies,
        command: optional(&folder.join("command.txt"))?
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty()),
    })
}

/// Folders inside that do hold runs, in words: some presets keep theirs apart.
fn inner(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut there: Vec<String> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join(RESULTS).is_file())
        .map(|path| path.display().to_string())
        .collect();
    there.sort();
    match there.is_empty() {
        true => String::new(),
        false => format!(", here {}", there.join(" or ")),
    }
}

fn read_lines(folder: &Path) -> Result<Vec<Line>, ReadError> {
    let file = folder.join(RESULTS);
    let text = optional(&file)?.unwrap_or_default();
    let (mut lines, mut seen) = (Vec::new(), HashSet::new());
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |reason: String| ReadError::Line {
            file: file.clone(),
            line: at + 1,
            reason,
        };
        let line = parse_line(line).map_err(wrong)?;
        // Counted twice, a run would pass for two.
        match seen.insert(line.hash.clone()) {
            true => lines.push(line),
            false => return Err(wrong("this run has a line already".to_owned())),
        }
    }
    Ok(lines)
}

fn parse_line(text: &str) -> Result<Line, String> {
    let mut value: Value = serde_json::from_str(text).map_err(|error| unplaced(&error))?;
    let found = &value["format"];
    if *found != FORMAT {
        return Err(format!(
            "its format is {found}, and this program reads format {FORMAT}"
        ));
    }
    // Programs of before the list wrote null where there was no search.
    if let Some(chosen) = value.get_mut("chosen_by").filter(|value| value.is_null()) {
        *chosen = Value::Array(Vec::new());
    }
    let line: Line = serde_json::from_value(value).map_err(|error| unplaced(&error))?;
    match line.contradiction() {
        None => Ok(line),
        Some(reason) => Err(reason.to_owned()),
    }
}

/// Without the place that serde_json adds: a line of a file is one line to it.
fn unplaced(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line ").unwrap_or(text.len());
    format!("this is no run ({})", &text[..end])
}

fn read_studies(folder: &Path) -> Result<Vec<Study>, ReadError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(system(folder)(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry.map_err(system(folder))?.path());
    }
    files.retain(|file| file.extension().is_some_and(|name| name == "json"));
    files.sort();
    files.iter().map(|file| read_study(file)).collect()
}

fn read_study(file: &Path) -> Result<Study, ReadError> {
    let wrong = |reason: String| ReadError::Study {
        file: file.to_owned(),
        reason,
    };
    let text = fs::read_to_string(file).map_err(system(file))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let found = &value["format"];
    if *found != study::FORMAT {
        let reads = study::FORMAT;
        return Err(wrong(format!(
            "its format is {found}, and this program reads format {reads}"
        )));
    }
    let study: Study = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
    match study.contradiction() {
        Some(reason) => Err(wrong(reason.to_owned())),
        None => Ok(study),
    }
}

/// The text of a file that may be absent.
fn optional(file: &Path) -> Result<Option<String>, ReadError> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(system(file)(error)),
    }
}

fn system(path: &Path) -> impl FnOnce(io::Error) -> ReadError + Copy + '_ {
    move |error| ReadError::System {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
