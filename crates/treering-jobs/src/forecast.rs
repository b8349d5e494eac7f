//! What a cluster would make of a list: a forecast from what jobs cost, level by level.
//!
//! Jobs are given out longest first, each to the core that is free first; a level begins when the one below has ended. What is read and written goes through
//! one file system that all machines share, so a level takes at least as long as its bytes do.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::Serialize;

use crate::{Cost, Job, JobsError, List};

/// Machines that run jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cluster {
    /// How many.
    pub machines: usize,
    /// Cores of each; a job has one.
    pub cores: usize,
    /// Bytes of memory of each.
    pub memory: u64,
    /// Bytes a second that the file system gives to all of them together.
    pub bandwidth: f64,
    /// Seconds that starting a job takes, whatever it does.
    pub overhead: f64,
}

/// How a kind of job compares with what was planned for it.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// By kind: processor seconds measured, and planned for the same jobs.
    kinds: HashMap<String, (f64, f64)>,
}

impl Rates {
    /// From the jobs of a list that are done.
    ///
    /// # Errors
    /// The system refuses to read a seal.
    pub fn measured(list: &List) -> Result<Self, JobsError> {
        let mut kinds: HashMap<String, (f64, f64)> = HashMap::new();
        for job in list.jobs() {
            if let Some(seal) = list.seal(job)? {
                let sums = kinds.entry(job.kind().to_owned()).or_default();
                sums.0 += seal.spent.cpu_seconds;
                sums.1 += job.cost.cpu_seconds;
            }
        }
        Ok(Rates { kinds })
    }

    /// What was planned is multiplied with this; none where no such job was measured.
    pub fn of(&self, kind: &str) -> Option<f64> {
        let (measured, planned) = self.kinds.get(kind)?;
        (*planned > 0.0).then(|| measured / planned)
    }

    /// The kinds that were measured.
    pub fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = self.kinds.keys().map(String::as_str).collect();
        kinds.sort_unstable();
        kinds
    }
}

/// What a level comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelForecast {
    /// Which one.
    pub level: u32,
    /// Its jobs.
    pub jobs: usize,
    /// Their seconds on one core.
    pub cpu_seconds: f64,
    /// The longest of them.
    pub longest: f64,
    /// The most memory that one takes.
    pub memory: u64,
    /// Bytes that are read.
    pub read: u64,
    /// Bytes that are written.
    pub written: u64,
    /// Seconds from its beginning to its end.
    pub seconds: f64,
    /// What decides how long it takes.
    pub bound: &'static str,
}

/// What a list comes to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    /// For whom.
    pub cluster: Cluster,
    /// Level by level.
    pub levels: Vec<LevelForecast>,
    /// Seconds from the beginning to the end.
    pub makespan: f64,
    /// The share of all cores' time in which they work.
    pub busy: f64,
    /// Bytes that are read.
    pub read: u64,
    /// Bytes that are written.
    pub written: u64,
    /// Jobs that no machine has the memory for.
    pub too_large: Vec<String>,
}

/// What jobs cost: as measured where they are done, otherwise as planned, corrected by others of their kind.
pub(crate) fn costs(list: &List, rates: &Rates) -> Result<Vec<Cost>, JobsError> {
    let own = Rates::measured(list)?;
    let cost = |job: &Job| {
        let rate = own.of(job.kind()).or_else(|| rates.of(job.kind()));
        Ok(match list.seal(job)? {
            Some(seal) => Cost {
                cpu_seconds: seal.spent.cpu_seconds,
                read: job.cost.read,
                written: seal.spent.written,
            },
            None => Cost {
                cpu_seconds: job.cost.cpu_seconds * rate.unwrap_or(1.0),
                ..job.cost
            },
        })
    };
    list.jobs().iter().map(cost).collect()
}

impl List {
    /// How long a cluster would take, and how much of it would be busy.
    ///
    /// # Arguments
    /// * `rates`: of jobs that were measured elsewhere, for kinds of which this list has none done.
    ///
    /// # Errors
    /// The system refuses to read a seal.
    pub fn forecast(
        &self,
        clusters: &[Cluster],
        rates: &Rates,
    ) -> Result<Vec<Forecast>, JobsError> {
        let costs = costs(self, rates)?;
        let jobs: Vec<(&Job, Cost)> = self.jobs().iter().zip(costs).collect();
        let one = |&cluster: &Cluster| forecast(&jobs, cluster);
        Ok(clusters.iter().map(one).collect())
    }
}

fn forecast(jobs: &[(&Job, Cost)], cluster: Cluster) -> Forecast {
    let mut numbers: Vec<u32> = jobs.iter().map(|(job, _)| job.level).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let level = |&number: &u32| {
        let own: Vec<&(&Job, Cost)> = jobs.iter().filter(|(job, _)| job.level == number).collect();
        of_level(number, &own, cluster)
    };
    let levels: Vec<LevelForecast> = numbers.iter().map(level).collect();
    let makespan: f64 = levels.iter().map(|level| level.seconds).sum();
    let work: f64 = levels.iter().map(|level| level.cpu_seconds).sum();
    let cores = (cluster.machines * cluster.cores) as f64;
    let too_large = jobs.iter().filter(|(job, _)| job.memory > cluster.memory);
    Forecast {
        cluster,
        makespan,
        busy: if makespan > 0.0 {
            work / (makespan * cores)
        } else {
            0.0
        },
        read: levels.iter().map(|level| level.read).sum(),
        written: levels.iter().map(|level| level.written).sum(),
        too_large: too_large.map(|(job, _)| job.id.clone()).collect(),
        levels,
    }
}

fn of_level(number: u32, jobs: &[&(&Job, Cost)], cluster: Cluster) -> LevelForecast {
    let memory = jobs.iter().map(|(job, _)| job.memory).max().unwrap_or(0);
    // As if all took as much as the largest: jobs of a level are of a size.
    let fit = cluster
        .memory
        .checked_div(memory)
        .unwrap_or(u64::MAX)
        .max(1);
    let slots = cluster
        .cores
        .min(usize::try_from(fit).unwrap_or(usize::MAX))
        * cluster.machines;
    let mut seconds: Vec<f64> = jobs
        .iter()
        .map(|(_, cost)| cost.cpu_seconds + cluster.overhead)
        .collect();
    seconds.sort_by(|a, b| b.total_cmp(a));
    let longest = seconds.first().copied().unwrap_or(0.0);
    let scheduled = scheduled(&seconds, slots);
    let (read, written) = jobs.iter().fold((0, 0), |(read, written), (_, cost)| {
        (read + cost.read, written + cost.written)
    });
    let moved = (read + written) as f64 / cluster.bandwidth;
    let all: f64 = seconds.iter().sum();
    let bound = if moved > scheduled {
        "file system"
    } else if jobs.len() <= slots || longest > 0.9 * scheduled {
        "longest job"
    } else if slots < cluster.cores * cluster.machines {
        "memory"
    } else {
        "cores"
    };
    LevelForecast {
        level: number,
        jobs: jobs.len(),
        cpu_seconds: all,
        longest,
        memory,
        read,
        written,
        seconds: scheduled.max(moved),
        bound,
    }
}

/// When the last of some jobs ends, given out in this order, each to who is free first.
fn scheduled(seconds: &[f64], slots: usize) -> f64 {
    if seconds.len() <= slots {
        return seconds.iter().copied().fold(0.0, f64::max);
    }
    // Nanoseconds, because they can be compared.
    let mut free: BinaryHeap<Reverse<u64>> = (0..slots).map(|_| Reverse(0)).collect();
    let mut last = 0;
    for &job in seconds {
        let Some(Reverse(begin)) = free.pop() else {
            continue;
        };
        let end = begin + (job * 1e9) as u64;
        last = last.max(end);
        free.push(Reverse(end));
    }
    last as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: &str, level: u32, memory: u64, cost: Cost) -> Job {
        Job {
            id: id.into(),
            level,
            directory: "/".into(),
            command: vec!["x".into()],
            inputs: Vec::new(),
            output: id.into(),
            memory,
            cost,
            replaces: false,
            of: 0,
        }
    }

    fn seconds(cpu_seconds: f64) -> Cost {
        Cost {
            cpu_seconds,
            ..Cost::default()
        }
    }

    const TWO: Cluster = Cluster {
        machines: 1,
        cores: 2,
        memory: 100,
        bandwidth: 1e9,
        overhead: 0.0,
    };

    #[test]
    fn jobs_are_given_out_longest_first() {
        // By hand: 5 | 4, then 3 after 4 is 7, 3 after 5 is 8, 2 after 7 is 9.
        assert_eq!(scheduled(&[5.0, 4.0, 3.0, 3.0, 2.0], 2), 9.0);
        assert_eq!(scheduled(&[5.0, 4.0], 7), 5.0);
    }

    #[test]
    fn levels_wait_for_each_other() {
        let all = [
            job("a-1", 0, 1, seconds(3.0)),
            job("a-2", 0, 1, seconds(1.0)),
            job("b-1", 1, 1, seconds(2.0)),
        ];
        let jobs: Vec<(&Job, Cost)> = all.iter().map(|job| (job, job.cost)).collect();
        let found = forecast(&jobs, TWO);
        assert_eq!(found.makespan, 5.0);
        assert_eq!(found.busy, 6.0 / 10.0);
        assert_eq!(found.levels[0].bound, "longest job");
    }

    #[test]
    fn memory_and_the_file_system_bound_a_level() {
        let all: Vec<Job> = (0..4)
            .map(|at| job(&format!("a-{at}"), 0, 60, seconds(1.0)))
            .collect();
        let jobs: Vec<(&Job, Cost)> = all.iter().map(|job| (job, job.cost)).collect();
        // Only one of 60 fits into 100 at a time.
        let found = forecast(&jobs, TWO);
        assert_eq!((found.makespan, found.levels[0].bound), (4.0, "memory"));
        let heavy = Cost {
            cpu_seconds: 1.0,
            read: 3_000_000_000,
            written: 1_000_000_000,
        };
        let all = [job("a-1", 0, 200, heavy)];
        let jobs: Vec<(&Job, Cost)> = all.iter().map(|job| (job, job.cost)).collect();
        let found = forecast(&jobs, TWO);
        assert_eq!(
            (found.makespan, found.levels[0].bound),
            (4.0, "file system")
        );
        assert_eq!(found.too_large, ["a-1"]);
    }
}
