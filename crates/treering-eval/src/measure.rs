//! What a run costs: time by phase, and memory.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use treering_data::Progress;
use treering_learn::{PRETRAINING, PROFILING};

/// Seconds by the clock and by the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// By the clock.
    pub wall: f64,
    /// By all processor cores together.
    pub cpu: f64,
}

impl Spent {
    /// Adds what some work takes.
    pub fn on<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let begun = Begun::now();
        let result = work();
        self.add(begun.so_far(), 1.0);
        result
    }

    /// Adds another so many times.
    fn add(&mut self, other: Spent, times: f64) {
        self.wall += times * other.wall;
        self.cpu += times * other.cpu;
    }
}

/// When some work began.
#[derive(Clone, Copy)]
struct Begun {
    wall: Instant,
    cpu: f64,
}

impl Begun {
    fn now() -> Self {
        Begun {
            wall: Instant::now(),
            cpu: cpu_seconds(),
        }
    }

    fn so_far(self) -> Spent {
        Spent {
            wall: self.wall.elapsed().as_secs_f64(),
            cpu: cpu_seconds() - self.cpu,
        }
    }
}

/// What learning and answering took; no second is in two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Training the backbone.
    pub pretrain: Spent,
    /// All other learning.
    pub learn: Spent,
    /// Taking prototypes of tasks.
    pub profile: Spent,
    /// Answering.
    pub predict: Spent,
}

impl Costs {
    /// Everything that a learner does before it can be asked.
    pub fn learning(&self) -> Spent {
        let mut all = self.learn;
        all.add(self.pretrain, 1.0);
        all.add(self.profile, 1.0);
        all
    }
}

/// Listens to a learner's progress and takes the time of the phases that have a place of their own in [`Costs`].
pub(crate) struct Watch<'a> {
    inner: &'a dyn Progress,
    state: Mutex<Watched>,
}

#[derive(Default)]
struct Watched {
    now: Option<(bool, Begun)>,
    pretrain: Spent,
    profile: Spent,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(inner: &'a dyn Progress) -> Self {
        Watch {
            inner,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, Watched> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what was measured where it belongs; `costs.learn` has to hold all learning.
    pub(crate) fn divide(&self, costs: &mut Costs) {
        let state = self.state();
        for (part, place) in [
            (state.pretrain, &mut costs.pretrain),
            (state.profile, &mut costs.profile),
        ] {
            place.add(part, 1.0);
            costs.learn.add(part, -1.0);
        }
    }
}

impl Progress for Watch<'_> {
    fn begin(&self, what: &str, total: u64) {
        let pretrains = match what {
            PRETRAINING => Some(true),
            PROFILING => Some(false),
            _ => None,
        };
        self.state().now = pretrains.map(|pretrains| (pretrains, Begun::now()));
        self.inner.begin(what, total);
    }

    fn advance(&self, by: u64) {
        self.inner.advance(by);
    }

    fn resume(&self, at: u64) {
        self.inner.resume(at);
    }

    fn end(&self) {
        let mut state = self.state();
        match state.now.take() {
            Some((true, begun)) => state.pretrain.add(begun.so_far(), 1.0),
            Some((false, begun)) => state.profile.add(begun.so_far(), 1.0),
            None => {}
        }
        drop(state);
        self.inner.end();
    }
}

/// The most memory this process has held so far, in bytes, as Linux counts it; 0 elsewhere.
pub fn peak_memory() -> u64 {
    of_status("VmHWM:")
}

/// The memory that this process holds now, in bytes, as Linux counts it; 0 elsewhere.
pub fn resident_memory() -> u64 {
    of_status("VmRSS:")
}

fn of_status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(name));
    value
        .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map_or(0, |kibibytes| kibibytes * 1024)
}

/// Processor seconds that all threads of this process have used so far.
pub fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
