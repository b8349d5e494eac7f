//! How large the graphs of tasks will be, from one pass over the arcs.

use rayon::prelude::*;
use treering_graph::{Features, Graph, Role};

use super::{InterTask, Stream};

/// The size of a task's graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskSize {
    /// Its nodes.
    pub nodes: usize,
    /// The arcs between them.
    pub arcs: usize,
    /// Whether arcs have weights.
    pub weights: bool,
    /// Feature columns.
    pub columns: usize,
    /// Stored feature entries of sparse features; none where they are dense.
    pub entries: Option<usize>,
    /// Train nodes.
    pub train: usize,
    /// Validation nodes.
    pub validation: usize,
    /// Classes.
    pub classes: usize,
}

impl TaskSize {
    /// Of a whole graph, as if it were one task.
    pub fn of(graph: &Graph) -> Self {
        let with = |role: Role| {
            let roles = graph.split().unwrap_or_default().iter();
            roles.filter(|&&found| found == role).count()
        };
        let labels = graph.labels();
        let labelled = || labels.map_or(0, |labels| labels.sizes().iter().sum());
        TaskSize {
            nodes: graph.nodes(),
            arcs: graph.arcs().len(),
            weights: graph.arcs().weights().is_some(),
            columns: graph.features().columns(),
            entries: match graph.features() {
                Features::Dense(_) => None,
                Features::Sparse(sparse) => Some(sparse.values().len()),
            },
            train: graph.split().map_or_else(labelled, |_| with(Role::Train)),
            validation: with(Role::Validation),
            classes: labels.map_or(0, |labels| labels.names().len()),
        }
    }

    /// Bytes of the graph itself: arcs and features.
    pub fn graph_bytes(&self) -> u64 {
        let arc = if self.weights { 8 } else { 4 };
        let features = match self.entries {
            None => 4 * self.nodes * self.columns,
            Some(entries) => 8 * entries + 8 * self.nodes,
        };
        (arc * self.arcs + 8 * self.nodes + features) as u64
    }
}

const NONE: u32 = u32::MAX;

pub(super) fn sizes(stream: &Stream, graph: &Graph) -> Vec<TaskSize> {
    let mut task_of = vec![NONE; graph.nodes()];
    for (task, number) in stream.tasks.iter().zip(0u32..) {
        let nodes = task.nodes.iter();
        nodes.for_each(|node| task_of[node.index()] = number);
    }
    let kept = stream.options.inter_task == InterTask::Kept;
    let count = stream.tasks.len();
    let none = || vec![(0usize, 0usize); count];
    // Of every task the arcs, and the stored features, that it is the first to have.
    let first = (0..graph.nodes())
        .into_par_iter()
        .with_min_len(4096)
        .fold(none, |mut sums, node| {
            let task = task_of[node];
            if task != NONE {
                let sources = &graph.arcs().sources()[graph.arcs().row(node)];
                for &source in sources {
                    match task_of[source as usize] {
                        other if other == task => sums[task as usize].0 += 1,
                        NONE => {}
                        other if kept => sums[task.max(other) as usize].0 += 1,
                        _ => {}
                    }
                }
                if let Features::Sparse(sparse) = graph.features() {
                    sums[task as usize].1 += sparse.row(node).0.len();
                }
            }
            sums
        })
        .reduce(none, |mut a, b| {
            let both = a.iter_mut().zip(b);
            both.for_each(|(a, b)| *a = (a.0 + b.0, a.1 + b.1));
            a
        });
    graph.release();
    let whole = TaskSize::of(graph);
    let mut sizes: Vec<TaskSize> = Vec::with_capacity(count);
    for (task, (arcs, entries)) in stream.tasks.iter().zip(first) {
        let before = sizes.last().filter(|_| kept).copied().unwrap_or_default();
        sizes.push(TaskSize {
            nodes: before.nodes + task.nodes.len(),
            arcs: before.arcs + arcs,
            entries: whole.entries.map(|_| before.entries.unwrap_or(0) + entries),
            train: task.count(Role::Train),
            validation: task.count(Role::Validation),
            classes: task.classes.len(),
            ..whole
        });
    }
    sizes
}
