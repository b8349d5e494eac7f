//! From data to tasks: one task of chosen classes, a stream cut out of one graph, or the task graphs of a stream that was written before.
//!
//! A task is a graph whose classes are all its own. Train nodes are those with the role train, or every labelled node where the data
//! has no split.

use std::path::{Path, PathBuf};

use rand::seq::SliceRandom;
use treering_data::{Purpose, Stream, nearest, random, shortened};
use treering_graph::{Graph, Labels, NodeId, Role};

use crate::Global;
use crate::failure::Failure;
use crate::plan::PlanFlags;
use crate::source::Source;

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
    pub(super) fn load(&self, global: &Global) -> Result<Vec<Graph>, Failure> {
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
            return self.load_stream(folder, global);
        }
        let graph = self.source.load(global)?.graph;
        match cuts {
            false => Ok(vec![one_task(graph, self.classes)?]),
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
                let tasks = plan.tasks.iter();
                Ok(tasks.map(|task| plan.task_graph(&graph, task.id)).collect())
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
                one_task(self.source.load_from(Some(&*name), global)?.graph, &[])
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

/// One task: the nodes of the chosen classes and those without a label, which may belong to them. Without a choice, all classes that have
/// a train node.
fn one_task(graph: Graph, chosen: &[String]) -> Result<Graph, Failure> {
    let Some(labels) = graph.labels() else {
        return Err(treering_learn::LearnError::NoClasses.into());
    };
    check_names(labels, chosen)?;
    let trained = trained(&graph, labels);
    let kept: Vec<usize> = (0..labels.names().len())
        .filter(|&class| match chosen.is_empty() {
            true => trained[class],
            false => chosen.contains(&labels.names()[class]),
        })
        .collect();
    if kept.is_empty() {
        return Err(treering_learn::LearnError::NoClasses.into());
    }
    if kept.len() == labels.names().len() {
        return Ok(graph);
    }
    let place = |class: usize| kept.iter().position(|&k| k == class);
    let mut nodes = Vec::new();
    let mut class_of = Vec::new();
    for node in NodeId::first(graph.nodes()) {
        let label = labels.class_of(node).map(|class| place(class.index()));
        if label != Some(None) {
            nodes.push(node);
            class_of.push(label.flatten().map_or(Labels::NONE, |place| place as u32));
        }
    }
    let names = kept.iter().map(|&c| labels.names()[c].clone()).collect();
    Labels::new(class_of.into(), names)
        .and_then(|labels| graph.induced(&nodes).with_labels(labels))
        .map_err(Failure::system)
}

/// Which classes have a train node.
fn trained(graph: &Graph, labels: &Labels) -> Vec<bool> {
    let mut trained = vec![false; labels.names().len()];
    for node in train_nodes(graph) {
        if let Some(class) = labels.class_of(node) {
            trained[class.index()] = true;
        }
    }
    trained
}

fn train_nodes(graph: &Graph) -> impl Iterator<Item = NodeId> {
    let is_train = |node: &NodeId| {
        graph
            .split()
            .is_none_or(|split| split[node.index()] == Role::Train)
    };
    NodeId::first(graph.nodes()).filter(is_train)
}

fn check_names(labels: &Labels, chosen: &[String]) -> Result<(), Failure> {
    for name in chosen {
        if !labels.names().contains(name) {
            let near = nearest(name, labels.names().iter().map(String::as_str));
            let hint = match near.is_empty() {
                true => "`treering data stats` lists the classes".to_owned(),
                false => format!("did you mean {}?", near.join(" or ")),
            };
            let name = shortened(name);
            return Err(Failure::input(format!(
                "there is no class `{name}`; {hint}"
            )));
        }
    }
    Ok(())
}

/// Holds out a share of every class's train nodes for validation; a class keeps at least one. What the data itself holds out for
/// validation is then left alone.
pub(super) fn hold_out(graph: Graph, share: f64, seed: u64, number: u64) -> Result<Graph, Failure> {
    let Some(labels) = graph.labels() else {
        return Ok(graph);
    };
    let mut of_class = vec![Vec::new(); labels.names().len()];
    for node in train_nodes(&graph) {
        if let Some(class) = labels.class_of(node) {
            of_class[class.index()].push(node);
        }
    }
    let mut roles = vec![Role::None; graph.nodes()];
    for (class, mut nodes) in (0u64..).zip(of_class) {
        nodes.shuffle(&mut random(seed, Purpose::Split, number << 32 | class));
        let held = (share * nodes.len() as f64).round() as usize;
        let held = held.min(nodes.len().saturating_sub(1));
        for (at, node) in nodes.into_iter().enumerate() {
            roles[node.index()] = if at < held {
                Role::Validation
            } else {
                Role::Train
            };
        }
    }
    graph.with_split(roles).map_err(Failure::system)
}
