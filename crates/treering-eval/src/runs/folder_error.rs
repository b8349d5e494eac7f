//! What cannot be done with a folder of runs.

use std::io;
use std::path::PathBuf;

use serde_json::Value;

use super::FORMAT;

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
    /// A file where a folder has to be, or a folder where a file has to be.
    #[error("{path}: this has to be a {wanted}; move it away, or name another folder with --out")]
    Kind {
        /// Which.
        path: PathBuf,
        /// What it has to be.
        wanted: &'static str,
    },
    /// Files of something else.
    #[error(
        "{0}: there are files in this folder and none of a bench, which writes results.jsonl and table.md; name an empty folder or a new one with --out"
    )]
    Foreign(PathBuf),
    /// The system said no.
    #[error("{path}: {error}")]
    System {
        /// About what.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}
