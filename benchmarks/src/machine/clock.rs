//! Taking times.

use std::time::Instant;

use super::Fallible;
use crate::cpu_seconds;

/// What seconds are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Those that pass.
    #[default]
    Wall,
    /// Those of the processor, added up over threads: for a machine that others use too. Bandwidth and caches are theirs as well, so those stay disturbed.
    Processor,
}

impl Clock {
    /// What flags and files call it.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            Clock::Processor => "processor",
        }
    }

    /// Seconds that some work takes.
    fn of<T>(self, work: impl FnOnce() -> T) -> (f64, T) {
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        let done = work();
        let seconds = match self {
            Clock::Wall => wall.elapsed().as_secs_f64(),
            Clock::Processor => cpu_seconds() - cpu,
        };
        (seconds, done)
    }

    /// The shortest of `runs` timings. The shortest, because other programs can only make it longer.
    pub(super) fn best(self, runs: usize, mut work: impl FnMut()) -> f64 {
        let times = (0..runs).map(|_| self.of(&mut work).0);
        times.fold(f64::INFINITY, f64::min)
    }

    /// As [`Clock::best`], of work that can fail.
    pub(super) fn best_if(
        self,
        runs: usize,
        mut work: impl FnMut() -> Fallible<()>,
    ) -> Fallible<f64> {
        let mut shortest = f64::INFINITY;
        for _ in 0..runs {
            let (seconds, done) = self.of(&mut work);
            done?;
            shortest = shortest.min(seconds);
        }
        Ok(shortest)
    }

    /// Seconds of one epoch: two runs of `work`, which is given a number of epochs, differ in nothing else.
    pub(super) fn epoch(
        self,
        (few, many): (usize, usize),
        runs: usize,
        mut work: impl FnMut(usize) -> Fallible<()>,
    ) -> Fallible<f64> {
        let short = self.best_if(runs, || work(few))?;
        let long = self.best_if(runs, || work(many))?;
        Ok((long - short) / (many - few) as f64)
    }
}
