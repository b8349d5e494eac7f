//! From data to tasks: one task of chosen classes, a stream cut out of one graph, or the task graphs of a stream that was written before.
//!
//! A task is a graph whose classes are all its own. Train nodes are those with the role train, or every labelled node where the data
//! has no split.

use std::path::{Path, PathBuf};

use treering_data::{Stream, TaskSize, shortened};
use treering_graph::Graph;
use treering_learn::{hold_out, one_task};

use crate::Global;
use crate::failure::Failure;
use crate::memory::to_cut;
use crate::plan::PlanFlags;
use crate::source::Source;

/// Tasks, each cut out of the data when it is needed: together they would be a second copy of it.
pub(super) struct Tasks {
    data: Data,
    sizes: Vec<TaskSize>,
    held_out: Option<HeldOut>,
}

enum Data {
    /// Graphs that are tasks as they are.
    Graphs(Vec<Graph>),
    /// A graph, and how it is cut.
    Cut(Box<(Graph, Stream)>),
}

/// What is held out of every task's train nodes.
pub(super) struct HeldOut {
    pub(super) share: f64,
    pub(super) seed: u64,
    /// The number of the first task, which seeds its draw.
    pub(super) first: u64,
}

impl Tasks {
    fn new(data: Data) -> Self {
        let sizes = match &data {
            Data::Graphs(graphs) => graphs.iter().map(TaskSize::of).collect(),
            Data::Cut(both) => both.1.sizes(&both.0),
        };
        Tasks {
            data,
            sizes,
            held_out: None,
        }
    }

    /// The tasks of a stream.
    pub(super) fn of_stream(graph: Graph, stream: Stream) -> Self {
        Tasks::new(Data::Cut(Box::new((graph, stream))))
    }

    /// Holds some train nodes out from now on.
    pub(super) fn hold_out(&mut self, held_out: HeldOut) {
        self.held_out = Some(held_out);
    }

    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// How large every task is.
    pub(super) fn sizes(&self) -> &[TaskSize] {
        &self.sizes
    }

    /// What cutting a task takes beside the task.
    pub(super) fn to_cut(&self) -> u64 {
        match &self.data {
            Data::Graphs(_) => 0,
            Data::Cut(both) => to_cut(&both.0),
        }
    }

    /// How large the data is that tasks are cut out of.
    pub(super) fn data_size(&self) -> TaskSize {
        match &self.data {
            Data::Graphs(graphs) => {
                let mut all = graphs.iter().map(TaskSize::of);
                let first = all.next().unwrap_or_default();
                all.fold(first, |sum, one| TaskSize {
                    nodes: sum.nodes + one.nodes,
                    arcs: sum.arcs + one.arcs,
                    entries: sum
                        .entries
                        .map(|entries| entries + one.entries.unwrap_or(0)),
                    ..sum
                })
            }
            Data::Cut(both) => TaskSize::of(&both.0),
        }
    }

    /// The names of a task's classes.
    pub(super) fn classes(&self, task: usize) -> Vec<&str> {
        match &self.data {
            Data::Graphs(graphs) => {
                let labels = graphs[task].labels();
                let names = labels.map_or(&[][..], |labels| labels.names());
                names.iter().map(String::as_str).collect()
            }
            Data::Cut(both) => {
                let (graph, stream) = &**both;
                let classes = stream.tasks[task].classes.iter();
                let name = |&class| graph.labels().map_or("", |labels| labels.name(class));
                classes.map(name).collect()
            }
        }
    }

    /// The whole of the data, for its name and origin.
    pub(super) fn origin(&self) -> Option<&treering_graph::Origin> {
        match &self.data {
            Data::Graphs(graphs) => graphs.first().map(Graph::origin),
            Data::Cut(both) => Some(both.0.origin()),
        }
    }

    /// Whether validation nodes will be there to judge by.
    pub(super) fn has_validation(&self) -> bool {
        match &self.held_out {
            Some(held_out) => held_out.share > 0.0,
            None => self.sizes.iter().any(|size| size.validation > 0),
        }
    }

    /// The graph of a task.
    pub(super) fn graph(&self, task: usize) -> Result<Graph, Failure> {
        let graph = match &self.data {
            Data::Graphs(graphs) => graphs[task].clone(),
            Data::Cut(both) => {
                let (graph, stream) = &**both;
                stream.cut(graph, stream.tasks[task].id)?
            }
        };
        Ok(match &self.held_out {
            None => graph,
            Some(held) => hold_out(graph, held.share, held.seed, held.first + task as u64)?,
        })
    }

    /// Tasks that nobody has cut yet have train nodes of every class: no others are planned.
    pub(super) fn given(&self) -> &[Graph] {
        match &self.data {
            Data::Graphs(graphs) => graphs,
            Data::Cut(_) => &[],
        }
    }
}

/// What the caller wants to learn out of the data.
pub(super) struct Wanted<'a> {
    pub(super) source: &'a Source,
    pub(super) classes: &'a [String],
    pub(super) classes_per_task: Option<usize>,
    pub(super) plan: &'a PlanFlags,
    pub(super) seed: u64,
}

impl Wanted<'_> {
    /// The tasks in their order.
    pub(super) fn load(&self, global: &Global) -> Result<Tasks, Failure> {
        let cuts = self.classes_per_task.is_some() || self.plan.has_groups();
        if !cuts && self.plan.is_given() {
            return Err(Failure::input(
                "flags about streams cut a graph into several tasks; say how with --classes-per-task K or --group",
            ));
        }
        if cuts && !self.classes.is_empty() {
            return Err(Failure::input(
                "--classes makes one task and --classes-per-task or --group makes several; use one of them",
            ));
        }
        if let Some(folder) = self.source.path().filter(|path| is_stream(path)) {
            if cuts || !self.classes.is_empty() {
                return Err(Failure::input(format!(
                    "{}: this is a stream, whose tasks are fixed; leave --classes, --classes-per-task and --group out",
                    folder.display()
                )));
            }
            return Ok(Tasks::new(Data::Graphs(self.load_stream(folder, global)?)));
        }
        let graph = self.source.load(global)?.graph;
        match cuts {
            false => Ok(Tasks::new(Data::Graphs(vec![one_task(
                graph,
                self.classes,
            )?]))),
            true => {
                let per_task = self.classes_per_task.unwrap_or(1);
                let plan = Stream::plan(&graph, &self.plan.options(per_task, self.seed))?;
                for dropped in plan.dropped.iter().filter(|_| !global.quiet) {
                    tell!(
                        "note: class {} is in no task: {}",
                        shortened(&dropped.class),
                        dropped.reason.explain()
                    );
                }
                Ok(Tasks::of_stream(graph, plan))
            }
        }
    }

    fn load_stream(&self, folder: &Path, global: &Global) -> Result<Vec<Graph>, Failure> {
        let tasks = task_files(folder);
        if tasks.is_empty() {
            return Err(Failure::input(format!(
                "{}: this stream was written without its graphs. Write it again with `treering data stream -o FOLDER --graphs native`",
                folder.display()
            )));
        }
        tasks
            .iter()
            .map(|task| {
                let name = task.to_string_lossy();
                let graph = self.source.load_from(Some(&*name), global)?.graph;
                Ok(one_task(graph, &[])?)
            })
            .collect()
    }
}

/// Whether a folder was written by `treering data stream -o`.
fn is_stream(folder: &Path) -> bool {
    let text = std::fs::read_to_string(folder.join("stream.json")).unwrap_or_default();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    json["format"] == "treering stream"
}

/// The graphs of a stream, by number.
fn task_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("tasks"))
        .into_iter()
        .flatten();
    let number = |path: &PathBuf| -> Option<u32> { path.file_stem()?.to_str()?.parse().ok() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| number(path).is_some())
        .collect();
    files.sort_by_key(number);
    files
}
