//! `treering profile`: the prototype of every task of a graph as a whole.

pub(crate) mod apart;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use treering_data::{
    Fault, Stream, TaskSize, check_mapped, check_target, memory_limit, replace, shortened,
};
use treering_graph::{Graph, NodeId, Propagation, Role};

use crate::Global;
use crate::failure::Failure;
use crate::memory::part;
use crate::output::Output;
use crate::plan::StreamFlags;
use crate::progress::listener;
use crate::source::Source;

/// Flags of `treering profile`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering profile graph.treering -o prototypes.csv\n  \
    treering profile graph.treering --group physics,law --group biology --steps 2\n  \
    treering plan jobs/ profile products.treering -o prototypes.csv --memory 1GB\n\n\
    A prototype is the mean of the train nodes' features after smoothing over the graph, each divided by the square root of its degree: what the paper recognises \
    tasks by. The graph stays whole: edges between tasks count. Columns: task, classes (separated by ;), train (how many nodes), then a number for \
    every feature."
)]
pub(crate) struct Profile {
    #[command(flatten)]
    source: Source,
    /// How many times features are smoothed.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(0..=100))]
    steps: u16,
    /// Write into a file instead of standard output.
    #[arg(short, long, value_name = "FILE.csv")]
    out: Option<PathBuf>,
    /// Replace what is there.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    stream: StreamFlags,
}

pub(crate) fn run(args: &Profile, global: &Global, output: &Output) -> Result<(), Failure> {
    if let Some(out) = &args.out {
        check_target(out, args.force)?;
    }
    let graph = args.source.load(global)?.graph;
    let size = TaskSize::of(&graph);
    part(&size, 5 * 8 * size.nodes as u64, memory_limit())?;
    let tasks = args.tasks(&graph, global.quiet)?;
    let listener = listener(global.quiet);
    listener.begin("taking prototypes", tasks.len() as u64);
    let propagation = Propagation::new(graph.arcs());
    let one = |task: &Task| {
        let prototype = propagation.prototype(graph.features(), &task.train, args.steps.into());
        listener.advance(1);
        prototype
    };
    let prototypes: Vec<Vec<f64>> = tasks.iter().map(one).collect();
    listener.end();
    check_mapped()?;
    let named: Vec<(String, usize)> = tasks.iter().map(Task::named).collect();
    let Some(path) = &args.out else {
        return output.lines(|out| put(&named, &prototypes, out).map_err(Output::failed));
    };
    replace(path, args.force, |partial| {
        let file = File::create(partial);
        let written = file.and_then(|file| put(&named, &prototypes, file));
        written.map_err(|error| Fault::from_io(error).at(partial))
    })?;
    if !global.quiet {
        tell!("wrote {} ({} tasks)", path.display(), tasks.len());
    }
    Ok(())
}

/// A task of the graph.
struct Task {
    classes: Vec<String>,
    train: Vec<NodeId>,
}

impl Task {
    /// Its classes and how many train nodes it has, as the table has them.
    fn named(&self) -> (String, usize) {
        (self.classes.join(";"), self.train.len())
    }
}

impl Profile {
    /// The tasks, in order.
    fn tasks(&self, graph: &Graph, quiet: bool) -> Result<Vec<Task>, Failure> {
        if graph.features().columns() == 0 {
            return Err(Failure::input(
                "the graph has no features to take prototypes of",
            ));
        }
        let stream = Stream::plan(graph, &self.stream.options())?;
        for dropped in stream.dropped.iter().filter(|_| !quiet) {
            tell!(
                "note: class {} is in no task: {}",
                shortened(&dropped.class),
                dropped.reason.explain()
            );
        }
        let name = |class| {
            graph
                .labels()
                .map_or("", |labels| labels.name(class))
                .to_owned()
        };
        let task = |task: &treering_data::Task| {
            let nodes = task.nodes.iter().zip(&task.roles);
            let train = nodes.filter(|(_, role)| **role == Role::Train);
            Task {
                classes: task.classes.iter().map(|&class| name(class)).collect(),
                train: train.map(|(&node, _)| node).collect(),
            }
        };
        Ok(stream.tasks.iter().map(task).collect())
    }

    fn steps(&self) -> usize {
        self.steps.into()
    }

    fn out(&self) -> Option<&Path> {
        self.out.as_deref()
    }
}

/// Writes the table.
fn put(tasks: &[(String, usize)], prototypes: &[Vec<f64>], out: impl Write) -> std::io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    let columns = prototypes.first().map_or(0, Vec::len);
    let mut header = ["task", "classes", "train"].map(str::to_owned).to_vec();
    header.extend((1..=columns).map(|column| format!("p{column}")));
    let told = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    };
    out.write_record(&header).map_err(told)?;
    for ((number, (classes, train)), prototype) in (1..).zip(tasks).zip(prototypes) {
        let mut row = vec![i32::to_string(&number), classes.clone(), train.to_string()];
        row.extend(prototype.iter().map(f64::to_string));
        out.write_record(&row).map_err(told)?;
    }
    out.flush()
}
