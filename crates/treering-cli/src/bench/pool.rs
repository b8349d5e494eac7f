//! Runs that are there are taken, runs that are missing are computed, several at once.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

use treering_eval::runs::{Folder, Found, Job, Record, RunSpec, Status, jobs};

use super::budget::Budget;
use super::child::{Order, Reply, have_done};
use super::meter::Meter;
use super::sets::DataSet;
use crate::failure::Failure;

/// Who computes runs.
pub(super) struct Pool<'a> {
    pub(super) folder: &'a Folder,
    pub(super) sets: &'a [DataSet],
    pub(super) meter: &'a Meter,
    /// Processes at once.
    pub(super) jobs: usize,
    /// Threads of each.
    pub(super) threads: usize,
    /// Memory that data may take in each.
    pub(super) memory: Option<u64>,
    /// Memory that all of them may take.
    pub(super) budget: Budget,
    pub(super) retry_failed: bool,
    /// Take what is there and compute nothing.
    pub(super) finished: bool,
}

/// What the workers share.
struct Shared {
    waiting: std::vec::IntoIter<Job>,
    done: HashMap<String, Record>,
    failure: Option<Failure>,
}

impl Pool<'_> {
    /// The records of all runs, in their order; none for a run that is missing and is not to be computed.
    pub(super) fn run(&self, specs: &[RunSpec]) -> Result<Vec<Option<Record>>, Failure> {
        let mut done = HashMap::new();
        let mut missing = Vec::new();
        // The same run may be part of several tables.
        let mut seen = HashSet::new();
        for spec in specs.iter().filter(|spec| seen.insert(spec.hash())) {
            match self.folder.find(spec)? {
                Found::Record(record) if !self.retry_failed || record.status == Status::Done => {
                    self.meter.found(&record);
                    self.budget.learn(&record);
                    done.insert(spec.hash(), *record);
                }
                found => {
                    if let Found::Damaged(why) = found {
                        let file = self.folder.file(spec);
                        self.meter
                            .note(&format!("{}: {why}; {}", file.display(), self.remedy()));
                    }
                    missing.push(spec.clone());
                }
            }
        }
        if self.finished {
            if !missing.is_empty() {
                let missing = missing.len();
                self.meter.note(&format!(
                    "{missing} runs are missing; without --finished they are computed"
                ));
            }
            missing.clear();
        }
        let shared = Mutex::new(Shared {
            waiting: jobs(missing).into_iter(),
            done,
            failure: None,
        });
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| self.work(&shared));
            }
        });
        let shared = shared
            .into_inner()
            .map_err(|_| Failure::system("a worker has panicked"))?;
        if let Some(failure) = shared.failure {
            return Err(failure);
        }
        let record = |spec: &RunSpec| shared.done.get(&spec.hash()).cloned();
        let records: Vec<Option<Record>> = specs.iter().map(record).collect();
        match self.finished || records.iter().all(Option::is_some) {
            true => Ok(records),
            false => Err(Failure::system("a run was lost")),
        }
    }

    /// What becomes of a run that cannot be read.
    fn remedy(&self) -> &'static str {
        match self.finished {
            true => "it is left out, and done again without --finished",
            false => "the run is done again",
        }
    }

    /// Takes one job after the other until none is left.
    fn work(&self, shared: &Mutex<Shared>) {
        loop {
            let job = match shared.lock() {
                Ok(mut shared) if shared.failure.is_none() => shared.waiting.next(),
                _ => None,
            };
            let Some(job) = job else { return };
            let done = self.records(job);
            let Ok(mut shared) = shared.lock() else {
                return;
            };
            match done {
                Ok(records) => {
                    let named = records
                        .into_iter()
                        .map(|record| (record.spec.hash(), record));
                    shared.done.extend(named);
                }
                Err(failure) => shared.failure = shared.failure.take().or(Some(failure)),
            }
        }
    }

    fn records(&self, job: Job) -> Result<Vec<Record>, Failure> {
        let set = self.set(&job)?;
        let order = Order {
            origin: set.origin.clone(),
            job,
        };
        let permit = self.budget.begin(&set.id, set.guess);
        let first = order.job.specs.first().cloned();
        let hear = |words: &str| first.iter().for_each(|spec| self.meter.hear(spec, words));
        let reply = have_done(&order, self.threads, self.memory, &hear)?;
        drop(permit);
        let specs = order.job.specs.into_iter();
        let records: Vec<Record> = match reply {
            Reply::Done(results) => specs
                .zip(results)
                .map(|(spec, (result, measured))| Record::done(spec, result, measured))
                .collect(),
            Reply::Failed(why) => specs
                .map(|spec| Record::failed(spec, why.clone()))
                .collect(),
        };
        for record in &records {
            self.folder.store(record)?;
            self.budget.learn(record);
            self.meter.finished(record);
        }
        Ok(records)
    }

    fn set(&self, job: &Job) -> Result<&DataSet, Failure> {
        let wanted = job.specs.first().map(|spec| &spec.data);
        let set = self.sets.iter().find(|set| Some(&set.id) == wanted);
        set.ok_or_else(|| Failure::system("a run's data was lost"))
    }
}
