//! From data to tasks: one task of chosen classes, a stream cut out of one graph, or the task graphs of a stream that was written before.
//!
//! A task is a graph whose classes are all its own. Train nodes are those with the role train, or every labelled node where the data
//! has no split.

use std::path::{Path, PathBuf};

use treering_data::{Stream, shortened};
use treering_graph::Graph;
use treering_learn::one_task;

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
