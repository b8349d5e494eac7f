//! A list of jobs in a folder of its own: `list.jsonl`, `parts/` for what jobs hand to each other, `done/` for seals.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::digest;
use crate::error::at;
use crate::{Job, JobsError, State};

/// The name of the list in its folder.
pub const LIST: &str = "list.jsonl";

/// Jobs, and where they are kept.
#[derive(Clone, Debug)]
pub struct List {
    folder: PathBuf,
    jobs: Vec<Job>,
    /// Of every job, the SHA-256 of its line.
    lines: Vec<String>,
    places: HashMap<String, usize>,
}

impl List {
    /// Writes a list into a folder, which is made. Where the very same list is there already, it stays.
    ///
    /// # Errors
    /// Another list is there; a job that is none; the system refuses.
    pub fn write(folder: &Path, jobs: Vec<Job>) -> Result<Self, JobsError> {
        let file = folder.join(LIST);
        let count = jobs.len();
        let jobs: Vec<Job> = jobs
            .into_iter()
            .map(|job| Job { of: count, ..job })
            .collect();
        let lines: Vec<String> = jobs.iter().map(line).collect();
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let list = List::new(folder.to_owned(), jobs, lines)?;
        match fs::read_to_string(&file) {
            Ok(there) if there == text => return list.absolute(),
            Ok(_) => return Err(JobsError::Taken(folder.to_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(at(&file)(error)),
        }
        let parts = folder.join("parts");
        fs::create_dir_all(&parts).map_err(at(&parts))?;
        crate::place::put(&file, text.as_bytes())?;
        list.absolute()
    }

    /// Reads a list.
    ///
    /// # Arguments
    /// * `path`: the list, or its folder.
    ///
    /// # Errors
    /// There is none; a line that is no job; two jobs of one id; an input of a job that comes later.
    pub fn read(path: &Path) -> Result<Self, JobsError> {
        let file = match path.is_dir() {
            true => path.join(LIST),
            false => path.to_owned(),
        };
        let text = fs::read_to_string(&file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => JobsError::NoList(path.to_owned()),
            ErrorKind::InvalidData => JobsError::Line {
                file: file.clone(),
                line: 1,
                why: "it is no text".to_owned(),
            },
            _ => at(&file)(error),
        })?;
        let (mut jobs, mut lines) = (Vec::new(), Vec::new());
        for (number, text) in (1..).zip(text.lines()) {
            let job = serde_json::from_str(text).map_err(|error| JobsError::Line {
                file: file.clone(),
                line: number,
                why: error.to_string(),
            })?;
            jobs.push(job);
            lines.push(text.to_owned());
        }
        let folder = file.parent().unwrap_or(Path::new("."));
        List::new(folder.to_owned(), jobs, lines)?.absolute()
    }

    fn new(folder: PathBuf, jobs: Vec<Job>, lines: Vec<String>) -> Result<Self, JobsError> {
        let mut places = HashMap::new();
        for (place, job) in jobs.iter().enumerate() {
            let wrong = |why: String| JobsError::Line {
                file: folder.join(LIST),
                line: place + 1,
                why,
            };
            if let Some(why) = job.fault() {
                return Err(wrong(why));
            }
            if places.insert(job.id.clone(), place).is_some() {
                return Err(wrong(format!("there are two jobs `{}`", job.id)));
            }
        }
        let expected = jobs.first().map_or(1, |job| job.of);
        if jobs.len() != expected {
            return Err(JobsError::Line {
                file: folder.join(LIST),
                line: jobs.len().max(1),
                why: format!(
                    "the list has {} jobs and should have {expected}",
                    jobs.len()
                ),
            });
        }
        for (place, job) in jobs.iter().enumerate() {
            let below = |id: &String| {
                let place: Option<&usize> = places.get(id);
                place.is_some_and(|&place| jobs[place].level < job.level)
            };
            let odd = job.needs().find(|id| !below(id));
            if let Some(id) = odd {
                return Err(JobsError::Line {
                    file: folder.join(LIST),
                    line: place + 1,
                    why: format!("it needs job `{id}`, which is not of a level below"),
                });
            }
        }
        let lines = lines.iter().map(|line| digest::text(line.as_bytes()));
        Ok(List {
            lines: lines.collect(),
            folder,
            jobs,
            places,
        })
    }

    /// Commands are run elsewhere than where the list was named.
    fn absolute(mut self) -> Result<Self, JobsError> {
        let folder = match self.folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => &self.folder,
        };
        self.folder = folder.canonicalize().map_err(at(folder))?;
        Ok(self)
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The list itself.
    pub fn file(&self) -> PathBuf {
        self.folder.join(LIST)
    }

    /// All jobs, in their order.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// The jobs of every level, from the lowest.
    pub fn levels(&self) -> Vec<Vec<&Job>> {
        let mut numbers: Vec<u32> = self.jobs.iter().map(|job| job.level).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let of = |level: u32| self.jobs.iter().filter(move |job| job.level == level);
        numbers
            .into_iter()
            .map(|level| of(level).collect())
            .collect()
    }

    /// A job by its id.
    ///
    /// # Errors
    /// There is none.
    pub fn job(&self, id: &str) -> Result<&Job, JobsError> {
        let place = self.places.get(id);
        let job = place.map(|&place| &self.jobs[place]);
        job.ok_or_else(|| JobsError::NoJob {
            file: self.file(),
            id: id.to_owned(),
        })
    }

    /// The SHA-256 of a job's line.
    pub(crate) fn line(&self, job: &Job) -> &str {
        self.places
            .get(&job.id)
            .map_or("", |&place| &self.lines[place])
    }

    /// A path of a job.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    /// What is there of a job.
    ///
    /// # Errors
    /// The system refuses to read it.
    pub fn state(&self, job: &Job) -> Result<State, JobsError> {
        crate::seal::state(self, job)
    }
}

impl Job {
    /// The jobs whose outputs it reads.
    pub fn needs(&self) -> impl Iterator<Item = &String> {
        self.inputs.iter().filter_map(|input| match &input.source {
            crate::job::Source::Made { job } => Some(job),
            crate::job::Source::There(_) => None,
        })
    }
}

fn line(job: &Job) -> String {
    // Words, numbers and lists of them can always be written.
    serde_json::to_string(job).unwrap_or_default()
}
