//! How much memory a command may take and is going to take; what cannot fit is refused before the work begins.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use treering_data::{
    Context, Silent, TaskSize, give_freed_memory_back, human_bytes, memory_limit, memory_window,
    set_memory_limit,
};
use treering_eval::{peak_memory, resident_memory};
use treering_graph::Graph;
use treering_learn::memory;
use treering_learn::saved::Parameters;

use crate::Global;
use crate::failure::Failure;

/// Tasks that are learned together take at most this much: they share passes over the backbone, which pays as long as they are small.
const TOGETHER: u64 = 128 << 20;

/// Tells all that is done from now on how much memory there is.
pub(crate) fn limit(global: &Global) {
    let free = || Context::with_free_memory(&Silent).limit();
    if global.memory.is_some() {
        give_freed_memory_back();
        GIVEN_BACK.store(true, Ordering::Relaxed);
    }
    set_memory_limit(global.memory.unwrap_or_else(free));
}

/// A program that holds nothing.
const PROGRAM: u64 = 12 << 20;

/// Set once freed memory goes back to the system at once.
static GIVEN_BACK: AtomicBool = AtomicBool::new(false);

/// What was freed is not always given back at once.
fn with_leftovers(bytes: u64) -> u64 {
    match GIVEN_BACK.load(Ordering::Relaxed) {
        true => bytes,
        false => bytes + bytes / 20,
    }
}

/// The most memory that the process will have held when some work is done.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Estimate {
    /// Held now, the data among it.
    pub(crate) now: u64,
    /// The most at any moment.
    pub(crate) peak: u64,
    /// What is allowed.
    pub(crate) limit: u64,
}

impl Estimate {
    /// Of work that takes so much beyond what is held now.
    pub(crate) fn of(more: u64) -> Self {
        let now = resident_memory();
        Estimate {
            now,
            peak: peak_memory().max(now + with_leftovers(more)),
            limit: memory_limit(),
        }
    }

    /// The peak of work on a graph that takes so much beyond it, in a process that does nothing else.
    pub(crate) fn with_data(graph: &Graph, more: u64) -> u64 {
        PROGRAM + TaskSize::of(graph).graph_bytes() + with_leftovers(more)
    }

    /// In words.
    pub(crate) fn words(&self) -> String {
        format!(
            "{} at most, of which the data in memory and the program take {} already; {} are allowed",
            human_bytes(self.peak),
            human_bytes(self.now),
            human_bytes(self.limit)
        )
    }

    /// Refuses what does not fit.
    pub(crate) fn check(&self, what: &str) -> Result<(), Failure> {
        match self.peak <= self.limit {
            true => Ok(()),
            false => Err(Failure::input(format!(
                "{what} would take {} of memory, and {} are allowed. Allow more with --memory, or use a larger machine; features stay on disk already where that helps",
                human_bytes(self.peak),
                human_bytes(self.limit)
            ))),
        }
    }
}

/// Of a mapped graph whose pages are given back as they are read, what is there again while tasks are cut out of it: rows here and there, each with its neighbours.
pub(crate) fn to_cut(graph: &Graph) -> u64 {
    // Neighbours of several rows are often the same.
    const ROWS: u64 = 2 * 512 * (64 << 10);
    match graph.features().window() {
        None => 0,
        Some(_) => TaskSize::of(graph).graph_bytes().min(ROWS) / 8,
    }
}

/// The same while all of its arcs are gone over again and again.
pub(crate) fn to_smooth(graph: &Graph) -> u64 {
    let window = graph.features().window();
    window.map_or(0, |window| {
        arcs(&TaskSize::of(graph)).graph_bytes() + window as u64
    })
}

/// Which tasks are learned together, in order: the first of a model alone, because all others stand on it; then as many as fit.
pub(crate) fn batches(
    parameters: &Parameters,
    sizes: &[TaskSize],
    is_new: bool,
) -> Vec<Range<usize>> {
    let most = TOGETHER.min(memory_limit() / 16);
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut taken = 0;
    for (at, size) in sizes.iter().enumerate() {
        let need = memory::to_learn(parameters, size, is_new && at == 0);
        let alone = at == 0 || (is_new && at == 1) || taken + need > most;
        match batches.last_mut().filter(|_| !alone) {
            Some(last) => last.end = at + 1,
            None => {
                batches.push(at..at + 1);
                taken = 0;
            }
        }
        taken += need;
    }
    batches
}

/// What learning tasks in these batches takes beyond what is held now.
pub(crate) fn to_learn(parameters: &Parameters, sizes: &[TaskSize], is_new: bool) -> u64 {
    let of_task = |at: usize| memory::to_learn(parameters, &sizes[at], is_new && at == 0);
    let batches = batches(parameters, sizes, is_new).into_iter();
    let largest: u64 = batches
        .map(|batch| batch.map(of_task).sum())
        .max()
        .unwrap_or(0);
    // Rings stay; where validation nodes are asked about, the model is read from the disk beside them.
    let rings: u64 = sizes
        .iter()
        .map(|size| memory::ring(parameters, size))
        .sum();
    let judged = sizes.iter().any(|size| size.validation > 0);
    largest + if judged { 2 * rings } else { rings }
}

/// A graph without its features.
pub(crate) fn arcs(size: &TaskSize) -> TaskSize {
    TaskSize {
        columns: 0,
        entries: None,
        ..*size
    }
}

/// What a part of some work on a graph takes: the graph, of its dense features only a window where memory is limited, and so much beside it. Refuses what does not fit.
pub(crate) fn part(size: &TaskSize, more: u64, limit: u64) -> Result<u64, Failure> {
    let whole = size.graph_bytes();
    // As the mapping does it: what is larger than a share of the limit is given back as it is read.
    let graph = match whole > limit / 4 && size.entries.is_none() {
        true => arcs(size).graph_bytes() + memory_window() as u64,
        false => whole,
    };
    // Degrees, and what they are divided by.
    let operator = 2 * 8 * size.nodes as u64;
    holding(graph + operator, more, limit)
}

/// What a program takes that holds some data and so much beside it. Refuses what does not fit.
pub(crate) fn holding(data: u64, more: u64, limit: u64) -> Result<u64, Failure> {
    let peak = PROGRAM + data + with_leftovers(more);
    match peak <= limit {
        true => Ok(peak),
        false => Err(Failure::input(format!(
            "this would take {} of memory, and {} are allowed. Allow more with --memory; features stay on disk already where that helps",
            human_bytes(peak),
            human_bytes(limit)
        ))),
    }
}
