//! Jobs as they are being planned.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use treering_data::memory_limit;
use treering_jobs::{Cost, Digest, Input, Job, OUTPUT, Source};

use super::at;
use super::rates::Work;
use crate::Global;
use crate::failure::Failure;

/// What stands for the folder of the list.
pub(crate) const FOLDER: &str = "{folder}";

/// Seconds that a job should take, where memory allows: long enough for starting it not to count, short enough for a lost one not to hurt.
const LONG_ENOUGH: f64 = 20.0;

/// How many jobs some work is cut into: as many as take long enough, and no more than there are pieces.
pub(crate) fn pieces(effort: Work, asked: Option<usize>, most: usize) -> usize {
    let enough = (effort.seconds() / LONG_ENOUGH).ceil() as usize;
    asked.unwrap_or(enough).clamp(1, most.max(1))
}

/// How a job is told of another's output.
pub(crate) fn told_of(input: &Input) -> [String; 2] {
    let path = input.path.display();
    ["--job-part".to_owned(), format!("{FOLDER}/{path}")]
}

/// The jobs of a list.
pub(crate) struct Drafts {
    directory: PathBuf,
    /// What the planned command is called with, its name left out.
    words: Vec<String>,
    /// The number of jobs of a kind that was asked for.
    pub(crate) pieces: Option<usize>,
    /// Whether the result may replace what is there.
    pub(crate) replaces: bool,
    /// What a job may take, if anybody said so.
    limit: Option<u64>,
    digests: HashMap<PathBuf, Digest>,
    jobs: Vec<Job>,
}

/// A job without what all jobs of a list share.
pub(crate) struct Draft {
    /// What it does; its number makes it an id.
    pub(crate) kind: &'static str,
    pub(crate) level: u32,
    /// What it is called with, beside the words of the planned command.
    pub(crate) flags: Vec<String>,
    /// Whether it is told what the planned command is called with.
    pub(crate) told: bool,
    pub(crate) inputs: Vec<Input>,
    /// Beside the list, unless it is given.
    pub(crate) output: Option<PathBuf>,
    pub(crate) memory: u64,
    pub(crate) effort: Work,
    /// Bytes of its inputs that it reads, and bytes that it writes.
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl Drafts {
    pub(crate) fn new(
        words: &[String],
        pieces: Option<usize>,
        global: &Global,
    ) -> Result<Self, Failure> {
        let here = Path::new(".");
        Ok(Drafts {
            directory: here.canonicalize().map_err(|error| at(here, error))?,
            words: words.to_vec(),
            pieces,
            replaces: false,
            limit: global.memory,
            digests: HashMap::new(),
            jobs: Vec::new(),
        })
    }

    /// A file or folder that is there; what it holds is part of the list.
    pub(crate) fn input(&mut self, path: &Path) -> Result<Input, Failure> {
        let path = path.canonicalize().map_err(|error| at(path, error))?;
        let digest = match self.digests.get(&path) {
            Some(known) => known.clone(),
            None => Digest::of(&path).map_err(|error| at(&path, error))?,
        };
        self.digests.insert(path.clone(), digest.clone());
        Ok(Input {
            path,
            source: Source::There(digest),
        })
    }

    /// A graph that is not there: jobs that read it can be planned, and not be run.
    pub(crate) fn assumed(bytes: u64) -> Input {
        Input {
            path: "assumed.treering".into(),
            source: Source::There(Digest {
                bytes,
                sha256: String::new(),
            }),
        }
    }

    /// A path that the list names wherever it is read.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.directory.join(path)
    }

    /// Whether memory is limited, and how much a job may take.
    pub(crate) fn limit(&self) -> u64 {
        self.limit.unwrap_or_else(memory_limit)
    }

    /// Adds a job; returns its output as an input of others.
    pub(crate) fn add(&mut self, draft: Draft) -> Input {
        let number = 1 + self.of_kind(draft.kind);
        let id = format!("{}-{number:04}", draft.kind);
        let replaces = self.replaces && draft.output.is_some();
        let output = draft.output;
        let output = output.unwrap_or_else(|| Path::new("parts").join(&id));
        let mut command: Vec<String> = ["work", draft.kind, "--job-output", OUTPUT]
            .map(str::to_owned)
            .to_vec();
        command.extend(draft.flags);
        if draft.told {
            command.extend(self.words.iter().cloned());
        } else if let Some(limit) = self.limit {
            command.push(format!("--memory={limit}"));
        }
        let job = Job {
            id,
            level: draft.level,
            directory: self.directory.clone(),
            command,
            output,
            memory: self
                .limit
                .map_or(draft.memory, |limit| draft.memory.min(limit)),
            cost: Cost {
                cpu_seconds: draft.effort.seconds(),
                read: draft.read,
                written: draft.written,
            },
            inputs: draft.inputs,
            replaces,
            of: 0,
        };
        let made = Input::made_by(&job);
        self.jobs.push(job);
        made
    }

    /// The call that the list stands for.
    pub(crate) fn called(&self, name: &str) -> String {
        let name = std::iter::once(name.to_owned());
        crate::bench::command(name.chain(self.words.iter().cloned()))
    }

    fn of_kind(&self, kind: &str) -> usize {
        self.jobs.iter().filter(|job| job.kind() == kind).count()
    }

    pub(crate) fn jobs(self) -> Vec<Job> {
        self.jobs
    }
}
