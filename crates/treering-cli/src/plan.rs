//! Flags that say how a graph becomes a stream of tasks, for every command that makes one.

use clap::{Args, ValueEnum};
use treering_data::{ClassOrder, Grouping, InterTask, SplitSource, StreamOptions};

/// Flags that say how a graph becomes a stream. How many classes make a task and the seed are the command's own.
#[derive(Args, Default)]
#[command(next_help_heading = "Stream")]
pub(crate) struct PlanFlags {
    /// The order in which classes arrive [default: ascending].
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// The classes of one task, by name; once for each task. --order applies to the groups then.
    #[arg(long, value_name = "CLASS,CLASS,...")]
    group: Vec<String>,
    /// Draw train, validation and test per class (0.6, 0.2, 0.2), or take the data set's own [default: random].
    #[arg(long, value_enum)]
    split: Option<Split>,
    /// Keep edges between tasks: a task's graph then holds all nodes that arrived so far.
    #[arg(long)]
    keep_inter_task_edges: bool,
    /// Seed of the split alone, so that repeats can share a split [default: the seed].
    #[arg(long, value_name = "SEED")]
    split_seed: Option<u64>,
}

/// All flags that say how a graph becomes a stream, for commands that always make one.
#[derive(Args)]
#[command(next_help_heading = "Stream")]
pub(crate) struct StreamFlags {
    /// How many classes make a task.
    #[arg(long, value_name = "K", default_value_t = 2, conflicts_with = "group")]
    classes_per_task: usize,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    #[command(flatten)]
    pub(crate) plan: PlanFlags,
}

impl StreamFlags {
    pub(crate) fn options(&self) -> StreamOptions {
        self.plan.options(self.classes_per_task, self.seed)
    }
}

/// The order in which classes arrive.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// By class number.
    Ascending,
    /// By class number, from the last.
    Descending,
    /// Shuffled by the seed.
    Random,
}

/// Where train, validation and test come from.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Split {
    /// Drawn per class.
    Random,
    /// The data set's own, or its split column.
    Own,
}

impl From<Order> for ClassOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Ascending => ClassOrder::Ascending,
            Order::Descending => ClassOrder::Descending,
            Order::Random => ClassOrder::Random,
        }
    }
}

impl From<Split> for SplitSource {
    fn from(split: Split) -> Self {
        match split {
            Split::Random => SplitSource::Random,
            Split::Own => SplitSource::Own,
        }
    }
}

impl PlanFlags {
    pub(crate) fn options(&self, classes_per_task: usize, seed: u64) -> StreamOptions {
        StreamOptions {
            order: self.order.unwrap_or(Order::Ascending).into(),
            grouping: match self.has_groups() {
                false => Grouping::PerTask(classes_per_task),
                true => Grouping::Groups(self.group.iter().map(|names| names_of(names)).collect()),
            },
            split: self.split.unwrap_or(Split::Random).into(),
            inter_task: match self.keep_inter_task_edges {
                true => InterTask::Kept,
                false => InterTask::Dropped,
            },
            seed,
            split_seed: self.split_seed.unwrap_or(seed),
        }
    }

    pub(crate) fn keeps_edges(&self) -> bool {
        self.keep_inter_task_edges
    }

    pub(crate) fn has_groups(&self) -> bool {
        !self.group.is_empty()
    }

    /// Whether any of the flags was given.
    pub(crate) fn is_given(&self) -> bool {
        self.order.is_some()
            || self.has_groups()
            || self.split.is_some()
            || self.keep_inter_task_edges
            || self.split_seed.is_some()
    }
}

fn names_of(list: &str) -> Vec<String> {
    list.split(',').map(|name| name.trim().to_owned()).collect()
}
