//! A stream as files that any program can read: `stream.json` says what the tasks are, `nodes.csv` lists their nodes, and, where
//! asked for, `tasks/` holds each task's graph.

use std::fs;
use std::io::{self, BufWriter};
use std::path::Path;

use serde::Serialize;
use treering_graph::{Graph, Role};

use super::{Dropped, Stream, StreamOptions};
use crate::write::{WriteFormat, replace, write};
use crate::{Context, Fault, Result};

/// `stream.json`.
#[derive(Serialize)]
struct Description<'a> {
    format: &'static str,
    version: u32,
    data: &'a str,
    synthetic: Option<&'a str>,
    options: &'a StreamOptions,
    tasks: Vec<TaskDescription<'a>>,
    dropped: &'a [Dropped],
    unlabelled: usize,
}

#[derive(Serialize)]
struct TaskDescription<'a> {
    task: u32,
    classes: Vec<&'a str>,
    nodes: usize,
    train: usize,
    val: usize,
    test: usize,
}

impl Stream {
    /// The description as JSON: data, options, tasks with their classes and counts, dropped classes.
    pub fn to_json(&self, graph: &Graph) -> serde_json::Value {
        let name = |class| graph.labels().map_or("", |labels| labels.name(class));
        let description = Description {
            format: "treering stream",
            version: 1,
            data: &graph.origin().name,
            synthetic: graph.origin().synthetic.as_deref(),
            options: &self.options,
            tasks: self
                .tasks
                .iter()
                .map(|task| TaskDescription {
                    task: task.id.0 + 1,
                    classes: task.classes.iter().map(|&class| name(class)).collect(),
                    nodes: task.nodes.len(),
                    train: task.count(Role::Train),
                    val: task.count(Role::Validation),
                    test: task.count(Role::Test),
                })
                .collect(),
            dropped: &self.dropped,
            unlabelled: self.unlabelled,
        };
        serde_json::to_value(description).unwrap_or_default()
    }

    /// Writes the stream into a new folder.
    ///
    /// # Errors
    /// As [`write`](crate::write).
    pub fn write(
        &self,
        graph: &Graph,
        folder: &Path,
        graphs: Option<WriteFormat>,
        force: bool,
        context: &Context<'_>,
    ) -> Result<()> {
        replace(folder, force, |partial| {
            let fail = |error: io::Error| Fault::from_io(error).at(partial);
            fs::create_dir(partial).map_err(fail)?;
            let text = serde_json::to_string_pretty(&self.to_json(graph)).unwrap_or_default();
            fs::write(partial.join("stream.json"), text + "\n").map_err(fail)?;
            self.write_nodes(graph, &partial.join("nodes.csv"))
                .map_err(fail)?;
            if let Some(format) = graphs {
                let tasks = partial.join("tasks");
                fs::create_dir(&tasks).map_err(fail)?;
                context
                    .progress
                    .begin("writing task graphs", self.tasks.len() as u64);
                for task in &self.tasks {
                    let path = tasks.join(format.file_name(&format!("{:04}", task.id.0 + 1)));
                    let cut = self.task_graph(graph, task.id);
                    write(&cut, &path, format, false, &context.quiet())?;
                    context.progress.advance(1);
                }
                context.progress.end();
            }
            Ok(())
        })
    }

    /// One line a node: task from 1, position in the whole graph, id outside, class by position in the stream, class name, role.
    fn write_nodes(&self, graph: &Graph, file: &Path) -> io::Result<()> {
        let mut out = csv::Writer::from_writer(BufWriter::new(fs::File::create(file)?));
        out.write_record(["task", "node", "id", "class", "label", "split"])?;
        let mut seen = 0;
        for task in &self.tasks {
            for (&node, role) in task.nodes.iter().zip(&task.roles) {
                let class = graph.labels().and_then(|labels| labels.class_of(node));
                let place = task
                    .classes
                    .iter()
                    .position(|&c| Some(c) == class)
                    .unwrap_or(0);
                let label = graph
                    .labels()
                    .zip(class)
                    .map_or("", |(labels, class)| labels.name(class));
                out.write_record([
                    &(task.id.0 + 1).to_string(),
                    &node.to_string(),
                    &graph.names().name(node),
                    &(seen + place).to_string(),
                    label,
                    role.word(),
                ])?;
            }
            seen += task.classes.len();
        }
        out.flush()
    }
}
