//! Bare gathers of random rows, for every size of array that a kernel gathers from.

use super::shapes::Shapes;
use super::{Clock, papers};
use crate::gather;

/// A prompt's tokens: the columns that an epoch smooths.
pub(crate) const TOKENS: usize = 3;

/// Columns of ogbn-papers100M in a strip, and in a strip that fills a line of memory: what docs/past-one-machine.md starts from.
const STRIPS: [usize; 2] = [4, 16];

/// Rows drawn for one timing: enough for tenths of a second, whatever the graph.
const MOST: usize = 1 << 24;

/// What a gather reached.
pub(crate) struct Gather {
    pub rows: usize,
    pub width: usize,
    pub bytes: f64,
    pub seconds: f64,
}

impl Gather {
    pub(crate) fn rate(&self) -> f64 {
        self.bytes / self.seconds
    }
}

/// All that the shapes need.
pub(crate) fn measure(shapes: &Shapes) -> Vec<Gather> {
    let mut sizes = Vec::new();
    for graph in [&shapes.products, &shapes.arxiv].into_iter().flatten() {
        sizes.push((
            graph.nodes(),
            graph.features().columns(),
            graph.arcs().len(),
        ));
        sizes.push((graph.nodes(), TOKENS, graph.arcs().len()));
    }
    if shapes.products.is_some() {
        let nodes = (papers::NODES as f64 * shapes.scale.min(1.0)).round() as usize;
        sizes.extend(STRIPS.map(|width| (nodes, width, MOST)));
    }
    if let Some(task) = &shapes.products_task {
        sizes.push((task.graph().nodes(), TOKENS, task.graph().arcs().len()));
    }
    let each = sizes.into_iter();
    each.map(|(nodes, width, arcs)| one(shapes.clock, nodes, width, arcs))
        .collect()
}

/// The better of two ways, asking ahead for rows or not: a limit must not be a straw man.
fn one(clock: Clock, nodes: usize, width: usize, arcs: usize) -> Gather {
    let x = vec![1f32; nodes * width];
    let rows = drawn(nodes, arcs.min(MOST));
    let (mut seconds, mut bytes, mut seen) = (f64::INFINITY, 0.0, 0f32);
    // Caches are warm for small arrays, as they are for a kernel that runs again and again.
    let runs = (4_000_000_000 / (rows.len() * (width + 1) * 4)).clamp(3, 200);
    for ahead in [true, false] {
        let shortest = clock.best(runs, || {
            let (read, sum) = gather(&x, width, &rows, ahead);
            bytes = read;
            seen += sum;
        });
        seconds = seconds.min(shortest);
    }
    assert!(!seen.is_nan(), "ones add up to a number");
    Gather {
        rows: nodes,
        width,
        bytes,
        seconds,
    }
}

fn drawn(below: usize, count: usize) -> Vec<u32> {
    let mut state = 88_172_645_463_325_252u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((u128::from(state) * below as u128) >> 64) as u32
    };
    (0..count).map(|_| draw()).collect()
}
