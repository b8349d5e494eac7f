//! Prototypes in parts: what nodes weigh, a few tasks a job, which goes over arcs; then sums, a slice of columns a job, which goes over features; then one table.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use treering_data::TaskSize;
use treering_graph::{Propagation, weighted_sum};
use treering_jobs::Input;

use super::{Profile, Task, put};
use crate::Global;
use crate::failure::Failure;
use crate::jobs::{Draft, Drafts, Effort, Target, at, pieces, told_of};
use crate::memory::{arcs, part};
use crate::parts::{Numbers, cut, span};

/// Flags of a job that says what nodes weigh.
#[derive(Args)]
pub(crate) struct SpreadPart {
    #[command(flatten)]
    into: Target,
    /// From which task to which.
    #[arg(long = "job-tasks", value_name = "A..B", value_parser = span)]
    tasks: Range<usize>,
    #[command(flatten)]
    profile: Profile,
}

/// Flags of a job that sums columns.
#[derive(Args)]
pub(crate) struct SlicePart {
    #[command(flatten)]
    into: Target,
    /// From which column to which.
    #[arg(long = "job-columns", value_name = "A..B", value_parser = span)]
    columns: Range<usize>,
    /// What nodes weigh, in order.
    #[arg(long = "job-part", value_name = "FILE")]
    parts: Vec<PathBuf>,
    #[command(flatten)]
    profile: Profile,
}

/// Flags of the job that writes the table.
#[derive(Args)]
pub(crate) struct TablePart {
    #[command(flatten)]
    into: Target,
    /// Columns of all prototypes, in order.
    #[arg(long = "job-part", value_name = "FILE")]
    parts: Vec<PathBuf>,
    /// What the tasks are called and how many train nodes they have, as JSON.
    #[arg(long = "job-tasks", value_name = "JSON")]
    tasks: String,
}

/// What a list is made for.
struct Sizes {
    graph: TaskSize,
    tasks: usize,
    steps: usize,
    /// As the table has them.
    names: Vec<(String, usize)>,
}

pub(crate) fn plan(args: &Profile, drafts: &mut Drafts, global: &Global) -> Result<(), Failure> {
    let Some(out) = args.out() else {
        return Err(Failure::input(
            "a list of jobs writes into a file; name it with -o FILE.csv",
        ));
    };
    treering_data::check_target(out, args.force)?;
    drafts.replaces = args.force;
    let graph = args.source.load(global)?.graph;
    let tasks = args.tasks(&graph, global.quiet)?;
    let sizes = Sizes {
        graph: TaskSize::of(&graph),
        tasks: tasks.len(),
        steps: args.steps(),
        names: tasks.iter().map(Task::named).collect(),
    };
    drop(graph);
    let files = args.source.files().into_iter();
    let inputs = files.map(|file| drafts.input(&file));
    let inputs = inputs.collect::<Result<Vec<_>, Failure>>()?;
    draft(&sizes, inputs, Some(out), drafts)
}

/// For a graph that is not there.
pub(crate) fn assumed(assumed: crate::jobs::Assumed, drafts: &mut Drafts) -> Result<(), Failure> {
    let sizes = Sizes {
        graph: assumed.size,
        tasks: assumed.tasks,
        steps: 3,
        names: Vec::new(),
    };
    let graph = Drafts::assumed(sizes.graph.graph_bytes());
    draft(&sizes, vec![graph], None, drafts)
}

fn draft(
    sizes: &Sizes,
    inputs: Vec<Input>,
    out: Option<&Path>,
    drafts: &mut Drafts,
) -> Result<(), Failure> {
    let graph = &sizes.graph;
    let nodes = graph.nodes as u64;
    // A job reads what it needs of a file, and no more.
    let (only_arcs, only_features) = (arcs(graph), TaskSize { arcs: 0, ..*graph });
    let arcs = only_arcs.graph_bytes();
    let opening = Effort::start();
    // One vector a task.
    let one = Effort::steps(graph.arcs, 2, sizes.steps) + Effort::bytes(8 * nodes);
    let all = (0..sizes.tasks).map(|_| one).sum();
    let mut spreads = Vec::new();
    for tasks in cut(sizes.tasks, pieces(all, drafts.pieces, sizes.tasks)) {
        let effort = opening + tasks.clone().map(|_| one).sum();
        spreads.push(drafts.add(Draft {
            kind: "spread",
            level: 0,
            flags: vec![
                "--job-tasks".into(),
                format!("{}..{}", tasks.start, tasks.end),
            ],
            told: true,
            inputs: inputs.clone(),
            output: None,
            memory: part(&only_arcs, 5 * 8 * nodes, drafts.limit())?,
            effort,
            read: arcs,
            written: 8 * nodes * tasks.len() as u64,
        }));
    }
    let parts: Vec<String> = spreads.iter().flat_map(told_of).collect();
    let read = Effort::bytes(8 * nodes * sizes.tasks as u64);
    let sums =
        |columns: usize| Effort::products(graph.nodes as f64 * columns as f64 * sizes.tasks as f64);
    let mut slices = Vec::new();
    let count = pieces(
        sums(graph.columns),
        drafts.pieces,
        graph.columns.div_ceil(8),
    );
    for columns in cut(graph.columns, count) {
        let mut flags = vec![
            "--job-columns".to_owned(),
            format!("{}..{}", columns.start, columns.end),
        ];
        flags.extend(parts.iter().cloned());
        slices.push(drafts.add(Draft {
            kind: "slice",
            level: 1,
            flags,
            told: true,
            inputs: inputs.iter().chain(&spreads).cloned().collect(),
            output: None,
            memory: part(&only_features, 2 * 8 * nodes, drafts.limit())?,
            effort: opening + read + sums(columns.len()),
            read: graph.graph_bytes() - arcs + 8 * nodes * sizes.tasks as u64,
            written: 8 * (columns.len() * sizes.tasks) as u64,
        }));
    }
    let bytes = 8 * (graph.columns * sizes.tasks) as u64;
    let output = out.map(|out| drafts.absolute(out));
    let mut flags: Vec<String> = slices.iter().flat_map(told_of).collect();
    flags.push("--job-tasks".to_owned());
    flags.push(serde_json::to_string(&sizes.names).map_err(Failure::system)?);
    drafts.add(Draft {
        kind: "prototypes",
        level: 2,
        flags,
        told: false,
        inputs: slices,
        output,
        memory: (16 << 20) + 4 * bytes,
        effort: Effort::start() + Effort::bytes(4 * bytes),
        read: bytes,
        written: 2 * bytes,
    });
    Ok(())
}

pub(crate) fn spread(args: &SpreadPart, global: &Global) -> Result<(), Failure> {
    let graph = args.profile.source.load(global)?.graph;
    let tasks = args.profile.tasks(&graph, true)?;
    let tasks = tasks.get(args.tasks.clone());
    let tasks = tasks.ok_or_else(|| Failure::input("the graph does not have so many tasks"))?;
    let path = &args.into.path;
    let told = |error| at(path, error);
    let mut out = BufWriter::new(File::create(path).map_err(told)?);
    let propagation = Propagation::new(graph.arcs());
    for task in tasks {
        let spread = propagation.spread(&task.train, args.profile.steps());
        out.write_all(bytemuck::cast_slice(&spread)).map_err(told)?;
    }
    out.flush().map_err(told)
}

pub(crate) fn slice(args: &SlicePart, global: &Global) -> Result<(), Failure> {
    let graph = args.profile.source.load(global)?.graph;
    let features = graph.features();
    if args.columns.end > features.columns() {
        return Err(Failure::input("the graph does not have so many columns"));
    }
    let mut sums: Vec<f64> = Vec::new();
    for part in &args.parts {
        let weights = Numbers::<f64>::open(part)?;
        for task in 0..weights.len() / graph.nodes().max(1) {
            let weights = weights.read(task * graph.nodes()..(task + 1) * graph.nodes())?;
            sums.extend(weighted_sum(features, args.columns.clone(), &weights));
        }
    }
    let path = &args.into.path;
    std::fs::write(path, bytemuck::cast_slice(&sums)).map_err(|error| at(path, error))
}

pub(crate) fn table(args: &TablePart) -> Result<(), Failure> {
    let tasks: Vec<(String, usize)> = serde_json::from_str(&args.tasks).map_err(Failure::input)?;
    let mut prototypes: Vec<Vec<f64>> = vec![Vec::new(); tasks.len()];
    for part in &args.parts {
        let sums = Numbers::<f64>::open(part)?;
        let sums = sums.read(0..sums.len())?;
        let columns = sums.len() / tasks.len().max(1);
        let rows = prototypes.iter_mut().zip(sums.chunks(columns.max(1)));
        rows.for_each(|(prototype, sums)| prototype.extend(sums));
    }
    let path = &args.into.path;
    let file = File::create(path).map_err(|error| at(path, error))?;
    put(&tasks, &prototypes, file).map_err(|error| at(path, error))
}
