//! `treering data stream`.

use std::path::PathBuf;

use clap::Args;
use treering_data::{Stream as Plan, check_target, shortened};
use treering_graph::{Graph, Role};

use super::convert::Layout;
use crate::Global;
use crate::failure::Failure;
use crate::output::{Output, grouped, table};
use crate::plan::StreamFlags;
use crate::progress::listener;
use crate::source::{Source, context};

/// Flags of `treering data stream`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering data stream\n  treering data stream cora.npz --order random --seed 3\n  \
    treering data stream ogbn_arxiv/ --split own -o arxiv-stream/\n  \
    treering data stream cora.npz -o cora-stream/ --graphs native\n\n\
    The folder written by -o holds stream.json (options, tasks, dropped classes), nodes.csv (task, node, id, class, label, \
    split; one line a node) and, with --graphs, tasks/0001, tasks/0002, ..."
)]
pub(crate) struct Stream {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Write the stream into a new folder.
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// With -o: also write each task's graph, in this layout.
    #[arg(long, value_name = "LAYOUT", requires = "out")]
    graphs: Option<Layout>,
    /// Replace a stream that is there.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    stream: StreamFlags,
}

pub(crate) fn run(args: &Stream, global: &Global, output: &Output) -> Result<(), Failure> {
    if let Some(folder) = &args.out {
        check_target(folder, args.force)?;
    }
    if args.stream.plan.keeps_edges() && matches!(args.graphs, Some(Layout::Npz)) {
        return Err(Failure::input(
            "with --keep-inter-task-edges a task's graph has nodes without a label, which npz cannot hold; write native, \
             parquet or csv",
        ));
    }
    let graph = args.source.load(global)?.graph;
    let plan = Plan::plan(&graph, &args.stream.options())?;
    if let Some(folder) = &args.out {
        let listener = listener(global.quiet);
        let graphs = args.graphs.map(Layout::format);
        plan.write(
            &graph,
            folder,
            graphs,
            args.force,
            &context(global, &*listener),
        )?;
        if !global.quiet {
            tell!("wrote {} ({} tasks)", folder.display(), plan.tasks.len());
        }
    }
    match args.json {
        true => output.json(&plan.to_json(&graph)),
        false => output.print(&describe(&plan, &graph)),
    }
}

fn describe(plan: &Plan, graph: &Graph) -> String {
    let mut text = String::new();
    if graph.origin().synthetic.is_some() {
        text.push_str(&format!(
            "{} is SYNTHETIC data\n",
            shortened(&graph.origin().name)
        ));
    }
    let undirected = graph.arcs().is_symmetric();
    let links = if undirected { "edges" } else { "arcs" };
    let header = ["task", "classes", "nodes", links, "train", "val", "test"];
    let mut listing = table(&header, &[0, 2, 3, 4, 5, 6]);
    for task in &plan.tasks {
        let nodes = plan.task_nodes(task.id);
        let arcs = graph.arcs().induced(&nodes);
        let links = match undirected {
            true => (arcs.len() - arcs.loops()) / 2,
            false => arcs.len(),
        };
        let classes = task
            .classes
            .iter()
            .map(|&class| graph.labels().map_or("", |labels| labels.name(class)));
        listing.add_row([
            (task.id.0 + 1).to_string(),
            classes.map(shortened).collect::<Vec<_>>().join(", "),
            grouped(nodes.len()),
            grouped(links),
            grouped(task.count(Role::Train)),
            grouped(task.count(Role::Validation)),
            grouped(task.count(Role::Test)),
        ]);
    }
    text.push_str(&format!("{}\n", listing.trim_fmt()));
    for dropped in &plan.dropped {
        let (name, nodes) = (shortened(&dropped.class), grouped(dropped.nodes));
        text.push_str(&format!(
            "dropped: class {name} ({nodes} nodes), {}\n",
            dropped.reason.explain()
        ));
    }
    if plan.unlabelled > 0 {
        text.push_str(&format!(
            "in no task: {} nodes without a label\n",
            grouped(plan.unlabelled)
        ));
    }
    text
}
