//! Kernels beside the machine: what each must do at the least, what it achieves, and how far that is from what memory and arithmetic allow.
//!
//! A bound is the larger of two times: the bytes that must move at the bandwidth measured, and the flops at the rate of dense products measured, both
//! in the same run with as many threads. Bytes that are streamed count at the triad's rate. Rows that are picked in an order that nobody can
//! foresee count at the rate of a bare gather of rows of that length out of an array of that size.

mod clock;
mod gathers;
mod papers;
mod peaks;
mod pretraining;
mod products;
mod prompt;
mod ring;
mod router;
mod shapes;
mod smoothing;
mod table;

use std::time::Instant;

use serde_json::{Value, json};

pub use clock::Clock;

use crate::with_threads;
use peaks::Peaks;
use shapes::Shapes;

pub(crate) type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What to run, and how large.
#[derive(Clone, Debug)]
pub struct Options {
    /// The share of every preset's size.
    pub scale: f64,
    /// Numbers of threads to run with.
    pub threads: Vec<usize>,
    /// One kernel alone.
    pub only: Option<Kernel>,
    /// What seconds are.
    pub clock: Clock,
}

/// A part of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// One step S x.
    Smoothing,
    /// One epoch of a task's prompt.
    Prompt,
    /// One epoch of contrastive training.
    Pretraining,
    /// Finding tasks with the learner `treering`.
    Router,
    /// What that learner lays down for a task: profile and head.
    Ring,
}

impl Kernel {
    /// All of them, in the order of the table.
    pub const ALL: [Kernel; 5] = [
        Kernel::Smoothing,
        Kernel::Prompt,
        Kernel::Pretraining,
        Kernel::Router,
        Kernel::Ring,
    ];

    /// What flags and files call it.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Smoothing => "smoothing",
            Kernel::Prompt => "prompt",
            Kernel::Pretraining => "pretraining",
            Kernel::Router => "router",
            Kernel::Ring => "ring",
        }
    }
}

/// What a kernel must do at the least.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Bytes that are read or written one after the other.
    pub streamed: f64,
    /// Bytes of rows that arcs name, and of those names.
    pub gathered: f64,
    /// Flops in f32.
    pub single: f64,
    /// Flops in f64.
    pub double: f64,
}

impl Work {
    /// What is left of this without that.
    fn without(self, other: Work) -> Work {
        Work {
            streamed: self.streamed - other.streamed,
            gathered: self.gathered - other.gathered,
            single: self.single - other.single,
            double: self.double - other.double,
        }
    }

    fn bytes(&self) -> f64 {
        self.streamed + self.gathered
    }

    fn flops(&self) -> f64 {
        self.single + self.double
    }
}

/// One line of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub what: String,
    pub shape: String,
    pub threads: usize,
    pub seconds: f64,
    pub work: Work,
    /// Rows that are gathered arrive at this rate; none where nothing is gathered.
    pub gather: Option<f64>,
    /// Counts that the work was worked out from.
    pub counts: Value,
}

/// The least time, and what decides it.
struct Bound {
    seconds: f64,
    by: &'static str,
    /// With all bytes at the triad's rate.
    all_streamed: f64,
}

impl Row {
    fn bound(&self, peaks: &Peaks) -> Bound {
        let arithmetic = self.work.single / peaks.single + self.work.double / peaks.double;
        let gathered = match self.gather {
            Some(rate) => self.work.gathered / rate,
            None => 0.0,
        };
        let memory = self.work.streamed / peaks.triad + gathered;
        let by = match (arithmetic > memory, 2.0 * gathered > memory) {
            (true, _) => "products",
            (false, true) => "gather",
            (false, false) => "triad",
        };
        Bound {
            seconds: memory.max(arithmetic),
            by,
            all_streamed: arithmetic.max(self.work.bytes() / peaks.triad),
        }
    }
}

/// Runs everything; one table as Markdown, and the same as JSON.
///
/// # Errors
/// A preset that cannot be made at this scale; a learner that refuses.
pub fn measure(options: &Options) -> Fallible<(String, Value)> {
    let wanted = |kernel: Kernel| options.only.is_none_or(|only| only == kernel);
    let kernels: Vec<Kernel> = Kernel::ALL.into_iter().filter(|&k| wanted(k)).collect();
    let shapes = Shapes::new(options.scale, &kernels, options.clock)?;
    let mut all = Vec::new();
    for &threads in &options.threads {
        let peaks = with_threads(threads, || Peaks::measure(&shapes, threads));
        let mut rows = Vec::new();
        for &kernel in &kernels {
            eprintln!("{} with {threads} threads", kernel.name());
            rows.extend(with_threads(threads, || {
                rows_of(kernel, &shapes, &peaks, threads)
            })?);
        }
        all.push((peaks, rows));
    }
    let json = json!({
        "scale": options.scale,
        "clock": options.clock.name(),
        "rows": table::json(&all),
        "papers": papers::told(),
    });
    Ok((table::markdown(&all), json))
}

fn rows_of(kernel: Kernel, shapes: &Shapes, peaks: &Peaks, threads: usize) -> Fallible<Vec<Row>> {
    match kernel {
        Kernel::Smoothing => Ok(smoothing::rows(shapes, peaks)),
        Kernel::Prompt => prompt::rows(shapes, peaks, threads),
        Kernel::Pretraining => pretraining::rows(shapes, threads),
        Kernel::Router => router::rows(shapes, threads),
        Kernel::Ring => ring::rows(shapes, threads),
    }
}

/// Does one kernel's work over and over for so many seconds, for a profiler. One thread, so that its stacks all begin at `sampled`.
///
/// # Errors
/// As [`measure`].
pub fn repeat(kernel: Kernel, scale: f64, seconds: f64) -> Fallible<()> {
    let shapes = Shapes::new(scale, &[kernel], Clock::Wall)?;
    with_threads(1, || {
        let mut once = once(kernel, &shapes)?;
        sampled(&mut once, seconds)
    })
}

type Once<'a> = Box<dyn FnMut() -> Fallible<()> + Send + 'a>;

/// One turn of a kernel, with as little around it as can be.
fn once<'a>(kernel: Kernel, shapes: &'a Shapes) -> Fallible<Once<'a>> {
    match kernel {
        Kernel::Smoothing => Ok(smoothing::once(shapes)),
        Kernel::Prompt => prompt::once(shapes),
        Kernel::Pretraining => pretraining::once(shapes),
        Kernel::Router => router::once(shapes),
        Kernel::Ring => ring::once(shapes),
    }
}

/// A profiler's stacks are cut here: what lies below is preparation. Hence never inlined.
#[inline(never)]
fn sampled(once: &mut Once<'_>, seconds: f64) -> Fallible<()> {
    let start = Instant::now();
    let mut turns = 0;
    while start.elapsed().as_secs_f64() < seconds || turns == 0 {
        once()?;
        turns += 1;
    }
    eprintln!("{turns} turns");
    Ok(())
}
