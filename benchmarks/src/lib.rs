//! Measuring: best time of several runs, peak memory, and the limits that kernels are compared with.

mod limits;
pub mod machine;

pub use limits::{fused, gather, triad};
pub use treering_eval::{cpu_seconds, peak_memory};

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
