//! Task streams: which classes come when, which nodes they bring, and which of those are for training.
//!
//! A stream is a plan over a graph, not a copy of it: [`Stream::plan`] decides, [`Stream::task_graph`] cuts out one task
//! when it is needed.

mod cut;
mod files;
mod plan;
mod sizes;

use serde::{Deserialize, Serialize};
use treering_graph::{ClassId, Graph, Labels, NodeId, Role, TaskId};

use crate::Result;

pub use cut::induced;
pub use plan::StreamError;
pub use sizes::TaskSize;

/// How a graph becomes a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamOptions {
    /// The order in which classes, or the given groups, arrive.
    pub order: ClassOrder,
    /// Which classes make a task.
    pub grouping: Grouping,
    /// Where train, validation and test come from.
    pub split: SplitSource,
    /// Whether arcs between tasks are dropped or kept.
    pub inter_task: InterTask,
    /// Seeds the order.
    pub seed: u64,
    /// Seeds the split. Apart from `seed`, so that repeats of an experiment can share one split, as the benchmark's do.
    pub split_seed: u64,
}

impl Default for StreamOptions {
    fn default() -> Self {
        StreamOptions {
            order: ClassOrder::Ascending,
            grouping: Grouping::PerTask(2),
            split: SplitSource::Random,
            inter_task: InterTask::Dropped,
            seed: 0,
            split_seed: 0,
        }
    }
}

/// The order in which classes arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassOrder {
    /// By class number.
    Ascending,
    /// By class number, from the last.
    Descending,
    /// Shuffled by the seed.
    Random,
}

/// Which classes make a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// This many neighbours in the order.
    PerTask(usize),
    /// Exactly these, by name.
    Groups(Vec<Vec<String>>),
}

/// Where train, validation and test come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitSource {
    /// Drawn per class, 0.6 / 0.2 / 0.2 with the benchmark's rounding; see [`split_counts`].
    Random,
    /// The data set's own split, or its split column.
    Own,
}

/// Whether arcs between tasks are dropped or kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterTask {
    /// A task's graph holds its own nodes only. This is the paper's protocol.
    Dropped,
    /// A task's graph holds the nodes of all tasks up to it, and every arc between them. Earlier nodes come without
    /// label and role.
    Kept,
}

/// The plan.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The tasks in order.
    pub tasks: Vec<Task>,
    /// Classes that are in no task, with the reason.
    pub dropped: Vec<Dropped>,
    /// Nodes without a label, which are in no task either.
    pub unlabelled: usize,
    /// How the plan was made.
    pub options: StreamOptions,
}

/// One task: its classes and its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its place in the stream.
    pub id: TaskId,
    /// Its classes, as numbered in the whole graph, in the stream's order.
    pub classes: Vec<ClassId>,
    /// Its nodes, as numbered in the whole graph: class by class, and within a class train, validation, test, each ascending.
    pub nodes: Vec<NodeId>,
    /// The role of each of `nodes`.
    pub roles: Vec<Role>,
}

impl Task {
    /// How many nodes have a role.
    pub fn count(&self, role: Role) -> usize {
        self.roles.iter().filter(|&&r| r == role).count()
    }
}

/// A class that is in no task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Its name.
    pub class: String,
    /// How many nodes it has.
    pub nodes: usize,
    /// Why.
    pub reason: DropReason,
}

/// Why a class is in no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// Fewer than three nodes: one each for train, validation and test.
    TooSmall,
    /// The data set's own split gives it no train or no test node.
    NotInSplit,
    /// Left over when classes were put together.
    Unpaired,
    /// Not named in the groups.
    NotChosen,
}

impl DropReason {
    /// For people.
    pub fn explain(self) -> &'static str {
        match self {
            DropReason::TooSmall => "too small to split: at least 3 nodes are needed",
            DropReason::NotInSplit => "without a train or a test node in the data set's own split",
            DropReason::Unpaired => "left over after grouping",
            DropReason::NotChosen => "in none of the groups",
        }
    }
}

/// How many of a class's `nodes` are for training, validation and testing, with the benchmark's rounding: two fifths,
/// rounded up, are held out; half of those, rounded up, are for testing.
///
/// # Example
/// ```
/// assert_eq!(treering_data::split_counts(15), (9, 3, 3));
/// assert_eq!(treering_data::split_counts(17), (10, 3, 4));
/// ```
pub fn split_counts(nodes: usize) -> (usize, usize, usize) {
    let held_out = (2 * nodes).div_ceil(5);
    let test = held_out.div_ceil(2);
    (nodes - held_out, held_out - test, test)
}

impl Stream {
    /// The nodes of one task's graph: its own, and those of earlier tasks where arcs between tasks are kept.
    pub fn task_nodes(&self, task: TaskId) -> Vec<NodeId> {
        let mut nodes = self.tasks[task.index()].nodes.clone();
        if self.options.inter_task == InterTask::Kept {
            let earlier = &self.tasks[..task.index()];
            nodes.extend(earlier.iter().flat_map(|task| &task.nodes));
        }
        nodes
    }

    /// The graph of one task. Classes are renumbered by their place in the task, and the split is the task's.
    ///
    /// # Panics
    /// When `graph` is not the graph that the plan was made for.
    pub fn task_graph(&self, graph: &Graph, task: TaskId) -> Graph {
        let nodes = self.task_nodes(task);
        self.labelled(graph, task, &nodes, graph.induced(&nodes))
    }

    /// As [`Stream::task_graph`]; features that are too large for memory lie in a file.
    ///
    /// # Errors
    /// No room for that file.
    ///
    /// # Panics
    /// As [`Stream::task_graph`].
    pub fn cut(&self, graph: &Graph, task: TaskId) -> Result<Graph> {
        let nodes = self.task_nodes(task);
        Ok(self.labelled(graph, task, &nodes, induced(graph, &nodes)?))
    }

    /// How large every task's graph will be, without making it.
    pub fn sizes(&self, graph: &Graph) -> Vec<TaskSize> {
        sizes::sizes(self, graph)
    }

    /// Puts a task's labels and split to its cut.
    fn labelled(&self, graph: &Graph, task: TaskId, nodes: &[NodeId], cut: Graph) -> Graph {
        let current = &self.tasks[task.index()];
        let mut roles = current.roles.clone();
        roles.resize(nodes.len(), Role::None);
        cut.with_labels(self.task_labels(graph, current, nodes))
            .and_then(|cut| cut.with_split(roles))
            .unwrap_or_else(|error| {
                unreachable!("one label and one role were made per node: {error}")
            })
    }

    fn task_labels(&self, graph: &Graph, task: &Task, nodes: &[NodeId]) -> Labels {
        let place = |class: ClassId| task.classes.iter().position(|&c| c == class);
        let labels = graph.labels();
        let class_of: Vec<u32> = nodes
            .iter()
            .map(|&node| {
                let class = labels.and_then(|labels| labels.class_of(node));
                class
                    .and_then(place)
                    .map_or(Labels::NONE, |place| place as u32)
            })
            .collect();
        let names = task
            .classes
            .iter()
            .map(|&class| labels.map_or_else(String::new, |labels| labels.name(class).to_owned()))
            .collect();
        Labels::new(class_of.into(), names)
            .unwrap_or_else(|error| unreachable!("places are below the number of names: {error}"))
    }
}
