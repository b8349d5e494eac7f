//! What can be wrong with a list or with a job.

use std::io;
use std::path::{Path, PathBuf};

/// Why a list cannot be used, or a job not be run.
#[derive(Debug, thiserror::Error)]
pub enum JobsError {
    /// There is no list.
    #[error("{}: there is no list of jobs here. Make one with `treering plan`", .0.display())]
    NoList(PathBuf),
    /// A folder that holds something else.
    #[error("{}: there is a list of jobs here already, another one. Name a new folder, or remove this one", .0.display())]
    Taken(PathBuf),
    /// A line that is no job.
    #[error("{}, line {line}: {why}. Make the list again with `treering plan`", file.display())]
    Line {
        /// The list.
        file: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A job that is not in the list.
    #[error("{}: there is no job `{id}` in this list", file.display())]
    NoJob {
        /// The list.
        file: PathBuf,
        /// What was asked for.
        id: String,
    },
    /// An input that is missing, or not what it was.
    #[error("job {id}: {}: {why}", path.display())]
    Input {
        /// The job.
        id: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// An output of another job that is missing or damaged.
    #[error("job {id}: {}: {why}. Run job {needs} {}", path.display(), if *damaged { "again" } else { "first" })]
    Needs {
        /// The job.
        id: String,
        /// The one whose output it needs.
        needs: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
        /// Whether it was there once.
        damaged: bool,
    },
    /// Something is in the place of a result that the job did not put there.
    #[error(
        "job {id}: {}: this is not what the job put there, and it is not replaced. Move it away, and call again", path.display()
    )]
    Occupied {
        /// The job.
        id: String,
        /// The place.
        path: PathBuf,
    },
    /// Work that ended well and left no output.
    #[error("job {0} has written nothing")]
    Nothing(String),
    /// The system refused.
    #[error("{}: {error}", path.display())]
    System {
        /// Where.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

impl JobsError {
    /// Whether trying again may help.
    pub fn is_passing(&self) -> bool {
        matches!(self, JobsError::System { .. } | JobsError::Needs { .. })
    }
}

/// Why a job is not done: something about the list, or the work itself.
#[derive(Debug, thiserror::Error)]
pub enum Failed<E> {
    /// About the list, the inputs or the output.
    #[error(transparent)]
    Jobs(#[from] JobsError),
    /// What the work said.
    #[error("{0}")]
    Work(E),
}

pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> JobsError {
    let path = path.to_owned();
    move |error| JobsError::System {
        path: path.clone(),
        error,
    }
}
