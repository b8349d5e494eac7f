//! Measuring: best time of several runs, peak memory, and the two limits that propagation is compared with.

mod limits;

pub use limits::{gather, triad};

use std::time::Instant;

/// The shortest of `runs` timings, in seconds. The shortest, because other programs can only make it longer.
pub fn best_of(runs: usize, mut work: impl FnMut()) -> f64 {
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

/// Runs `work` on a pool of `threads` threads.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        Err(error) => {
            eprintln!("no pool of {threads} threads: {error}");
            std::process::exit(1);
        }
    }
}

/// The most memory this process has held so far, in bytes, as Linux counts it; 0 elsewhere.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map_or(0, |kibibytes| kibibytes * 1024)
}

/// Processor seconds that all threads of this process have used so far.
pub fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
