//! Running one job.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::at;
use crate::job::Source;
use crate::{Digest, Failed, Input, Job, JobsError, List, Seal, Spent, Stamp, State, place};

/// How a job came to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// By this call.
    Now,
    /// Its output was there and whole.
    Before,
}

impl List {
    /// Runs a job, unless it is done.
    ///
    /// # Arguments
    /// * `work`: writes the output under the name that it is given.
    ///
    /// # Errors
    /// An input that is not what it was; what the work says; the system refuses. Nothing stands under the output's name then that was not there before.
    pub fn perform<E>(
        &self,
        id: &str,
        work: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<Done, Failed<E>> {
        self.perform_measured(id, work, Spent::default)
    }

    /// As [`perform`](List::perform).
    ///
    /// # Arguments
    /// * `spent`: says what the process took, once all is done but the seal.
    ///
    /// # Errors
    /// As [`perform`](List::perform).
    pub fn perform_measured<E>(
        &self,
        id: &str,
        work: impl FnOnce(&Path) -> Result<(), E>,
        spent: impl FnOnce() -> Spent,
    ) -> Result<Done, Failed<E>> {
        let job = self.job(id)?;
        if let State::Done(_) = self.state(job)? {
            return Ok(Done::Before);
        }
        self.check_place(job)?;
        let mut read = 0;
        for input in &job.inputs {
            read += self.check(job, input)?;
        }
        let output = self.path(&job.output);
        if let Some(folder) = output.parent() {
            fs::create_dir_all(folder).map_err(at(folder))?;
        }
        let partial = place::beside(&output);
        let put = work(&partial)
            .map_err(Failed::Work)
            .and_then(|()| Ok(self.put(job, &partial, &output)?));
        let digest = match put {
            Ok(Some(digest)) => digest,
            Ok(None) => return Ok(Done::Before),
            Err(failed) => {
                place::remove(&partial);
                // Another copy that was faster sweeps ours away, in the middle of its work.
                return match self.state(job)? {
                    State::Done(_) => Ok(Done::Before),
                    _ => Err(failed),
                };
            }
        };
        let seal = Seal {
            job: self.line(job).to_owned(),
            spent: Spent {
                read,
                written: digest.bytes,
                ..spent()
            },
            output: digest,
            stamp: Stamp::of(&output),
        };
        self.set_seal(job, &seal)?;
        place::sweep(&output);
        Ok(Done::Now)
    }

    /// Gives an output its name; nothing where another copy of the job has done so and swept ours away.
    fn put(&self, job: &Job, partial: &Path, output: &Path) -> Result<Option<Digest>, JobsError> {
        let put = Digest::of(partial).and_then(|digest| {
            let taken = !self.may_replace(job) && output.exists();
            match taken && Digest::of(output)? != digest {
                true => Ok(None),
                // It may be there already, by a copy that was killed before it could say so.
                false => place::settle(partial, output).map(|()| Some(digest)),
            }
        });
        match put {
            Ok(Some(digest)) => Ok(Some(digest)),
            Ok(None) => Err(self.occupied(job)),
            Err(error) if error.kind() == ErrorKind::NotFound => match self.state(job)? {
                State::Done(_) => Ok(None),
                _ => Err(JobsError::Nothing(job.id.clone())),
            },
            Err(error) => Err(at(output)(error)),
        }
    }

    /// Whether what stands under the name of an output is the list's own to replace: parts are, results are not.
    fn may_replace(&self, job: &Job) -> bool {
        job.replaces || self.path(&job.output).starts_with(self.folder())
    }

    fn occupied(&self, job: &Job) -> JobsError {
        JobsError::Occupied {
            id: job.id.clone(),
            path: self.path(&job.output),
        }
    }

    /// Refuses a job whose result stands in the place of something else, as far as that is known before its work: the result was changed since, or nothing of
    /// the list was done yet.
    ///
    /// # Errors
    /// It does; the system refuses.
    pub fn check_place(&self, job: &Job) -> Result<(), JobsError> {
        if self.may_replace(job) || !self.path(&job.output).exists() {
            return Ok(());
        }
        let begun = self.folder().join("done").exists();
        match self.state(job)? {
            State::Done(_) => Ok(()),
            State::Open if begun => Ok(()),
            _ => Err(self.occupied(job)),
        }
    }

    /// Sees whether an input is what it has to be; how many bytes it has.
    fn check(&self, job: &Job, input: &Input) -> Result<u64, JobsError> {
        let path = self.path(&input.path);
        match &input.source {
            Source::Made { job: needed } => match self.state(self.job(needed)?)? {
                State::Done(seal) => Ok(seal.output.bytes),
                other => Err(JobsError::Needs {
                    id: job.id.clone(),
                    needs: needed.clone(),
                    path,
                    damaged: matches!(other, State::Damaged(_)),
                    why: match other {
                        State::Damaged(why) => why,
                        _ => "it is not there yet".to_owned(),
                    },
                }),
            },
            Source::There(expected) => {
                let wrong = |why: &str| JobsError::Input {
                    id: job.id.clone(),
                    path: path.clone(),
                    why: why.to_owned(),
                };
                match self.digest(&path) {
                    Ok(found) if found == *expected => Ok(found.bytes),
                    Ok(_) => Err(wrong(
                        "it has changed since the list was made. Put it back, or make a new list",
                    )),
                    Err(error) if error.kind() == ErrorKind::NotFound => Err(wrong(
                        "it is not there. Every machine has to see it under this name",
                    )),
                    Err(error) => Err(at(&path)(error)),
                }
            }
        }
    }
}
