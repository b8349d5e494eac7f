//! Seals: what says that a job is done, and that its output is whole.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::at;
use crate::{Digest, Job, JobsError, List, Stamp, digest, place};

/// What is kept of a job that is done, in `done/ID.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seal {
    /// The SHA-256 of the job's line.
    pub job: String,
    /// What its output held.
    #[serde(flatten)]
    pub output: Digest,
    /// What the file system said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
    /// What it took.
    #[serde(flatten)]
    pub spent: Spent,
}

/// What a job took, as far as it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Seconds of all processors, checks of inputs and outputs included.
    pub cpu_seconds: f64,
    /// Seconds by the clock.
    pub wall_seconds: f64,
    /// The most memory that its process held.
    pub peak_memory: u64,
    /// Bytes of the inputs.
    pub read: u64,
    /// Bytes of the output.
    pub written: u64,
}

/// What is there of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It is done, and its output is whole.
    Done(Box<Seal>),
    /// It is not done.
    Open,
    /// It was done, and something happened to its output since; why it is of no use.
    Damaged(String),
}

impl List {
    /// Where a job's seal is.
    pub fn seal_file(&self, job: &Job) -> PathBuf {
        self.folder().join("done").join(format!("{}.json", job.id))
    }

    /// The seal of a job, whatever became of its output; none where it is of another list's job, or cut short.
    ///
    /// # Errors
    /// The system refuses.
    pub fn seal(&self, job: &Job) -> Result<Option<Seal>, JobsError> {
        let file = self.seal_file(job);
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(at(&file)(error)),
        };
        let seal: Option<Seal> = serde_json::from_slice(&bytes).ok();
        Ok(seal.filter(|seal| seal.job == self.line(job)))
    }

    pub(crate) fn set_seal(&self, job: &Job, seal: &Seal) -> Result<(), JobsError> {
        let file = self.seal_file(job);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(at(folder))?;
        }
        let text = serde_json::to_string(seal).unwrap_or_default() + "\n";
        place::put(&file, text.as_bytes())
    }
}

pub(crate) fn state(list: &List, job: &Job) -> Result<State, JobsError> {
    let Some(seal) = list.seal(job)? else {
        return Ok(State::Open);
    };
    let output = list.path(&job.output);
    if seal.stamp.is_some() && seal.stamp == Stamp::of(&output) {
        return Ok(State::Done(Box::new(seal)));
    }
    // Its size first: that is known at once.
    let found = match Digest::size(&output) {
        Ok(bytes) if bytes == seal.output.bytes => Digest::of(&output),
        Ok(bytes) => {
            let expected = seal.output.bytes;
            return Ok(State::Damaged(format!(
                "it has {bytes} bytes and had {expected}"
            )));
        }
        Err(error) => Err(error),
    };
    Ok(match found {
        Ok(found) if found == seal.output => State::Done(Box::new(seal)),
        Ok(_) => State::Damaged("its bytes are not those that were written".to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            State::Damaged("it is not there any more".to_owned())
        }
        Err(error) => return Err(at(&output)(error)),
    })
}

/// An input that was read once and held what it should.
#[derive(Serialize, Deserialize)]
struct Checked {
    #[serde(flatten)]
    digest: Digest,
    stamp: Option<Stamp>,
}

impl List {
    /// What an input holds. It is read once for all jobs; after that, for as long as the file system says that nobody has touched it, it is not read again.
    pub(crate) fn digest(&self, path: &Path) -> io::Result<Digest> {
        let folder = self.folder().join("checked");
        let name = digest::text(path.to_string_lossy().as_bytes());
        let file = folder.join(format!("{}.json", &name[..16]));
        let stamp = Stamp::of(path);
        let known = fs::read(&file).ok();
        let known = known.and_then(|bytes| serde_json::from_slice::<Checked>(&bytes).ok());
        if let Some(known) = known.filter(|known| stamp.is_some() && known.stamp == stamp) {
            return Ok(known.digest);
        }
        let digest = Digest::of(path)?;
        if stamp.is_some() && stamp == Stamp::of(path) {
            let checked = Checked {
                digest: digest.clone(),
                stamp,
            };
            let text = serde_json::to_string(&checked).unwrap_or_default();
            // Where it cannot be written, the next job reads the input again.
            let _ = fs::create_dir_all(&folder);
            let _ = place::put(&file, text.as_bytes());
        }
        Ok(digest)
    }
}
