//! `treering data stats`.

use std::collections::BTreeMap;

use clap::Args;
use treering_data::{Stats as Figures, Stream, StreamOptions, human_bytes, shortened};
use treering_graph::Graph;
use treering_learn::saved::{LEARNERS, Parameters};

use crate::Global;
use crate::failure::Failure;
use crate::memory::{self, Estimate};
use crate::output::{Output, grouped, table};
use crate::source::Source;

/// Flags of `treering data stats`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering data stats\n  treering data stats cora.npz\n  \
    treering data stats ogbn_arxiv/ --json | jq .homophily\n  \
    treering data stats --nodes papers.csv --edges citations.csv --label-column topic"
)]
pub(crate) struct Stats {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    source: Source,
}

pub(crate) fn run(args: &Stats, global: &Global, output: &Output) -> Result<(), Failure> {
    let loaded = args.source.load(global)?;
    let figures = Figures::of(&loaded.graph);
    let memory = memory_to_learn(&loaded.graph);
    if args.json {
        let mut json = serde_json::to_value(&figures).map_err(Failure::system)?;
        if let Some(json) = json.as_object_mut() {
            json.insert(
                "memory_to_learn".into(),
                serde_json::to_value(&memory).unwrap_or_default(),
            );
        }
        return output.json(&json);
    }
    output.print(&describe(&figures, loaded.format, &memory))
}

/// What learning the data in tasks of two classes takes, by learner; nothing where it cannot be learned so.
fn memory_to_learn(graph: &Graph) -> BTreeMap<&'static str, u64> {
    let Ok(stream) = Stream::plan(graph, &StreamOptions::default()) else {
        return BTreeMap::new();
    };
    let sizes = stream.sizes(graph);
    let of = |name: &'static str| {
        let more = memory::to_learn(&Parameters::of(name)?, &sizes, true);
        Some((name, Estimate::with_data(graph, more)))
    };
    LEARNERS.into_iter().filter_map(of).collect()
}

fn describe(figures: &Figures, format: &str, memory: &BTreeMap<&str, u64>) -> String {
    let mut rows: Vec<(&str, String)> = vec![
        ("name", shortened(&figures.name)),
        ("layout", format.into()),
    ];
    if let Some(recipe) = &figures.synthetic {
        rows.push(("SYNTHETIC", format!("made up from {recipe}")));
    }
    rows.push(("nodes", grouped(figures.nodes)));
    rows.push(("arcs", arcs(figures)));
    rows.push(("density", format!("{:.3e}", figures.density)));
    let loops = match figures.self_loops {
        0 => "0".into(),
        some => format!(
            "{} (propagation puts one per node in their place)",
            grouped(some)
        ),
    };
    rows.push(("self-loops", loops));
    rows.push(("features", features(figures)));
    rows.push(("isolated nodes", isolated(figures)));
    rows.push((
        "components",
        format!(
            "{}, the largest of {} nodes",
            grouped(figures.components),
            grouped(figures.largest_component)
        ),
    ));
    let homophily = figures
        .homophily
        .map(|share| format!("{share:.3} (arcs inside a class)"));
    rows.push((
        "homophily",
        homophily.unwrap_or_else(|| "unknown without labels".into()),
    ));
    if let Some(split) = figures.split {
        rows.push((
            "own split",
            format!(
                "{} train, {} val, {} test, {} in none",
                grouped(split.train),
                grouped(split.val),
                grouped(split.test),
                grouped(split.none)
            ),
        ));
    }
    rows.push(("unlabelled nodes", grouped(figures.unlabelled)));
    rows.push(("classes", grouped(figures.classes.len())));
    if !memory.is_empty() {
        let one = |(name, bytes): (&&str, &u64)| format!("{} with {name}", human_bytes(*bytes));
        let all: Vec<String> = memory.iter().map(one).collect();
        let told = format!("about {} (tasks of two classes)", all.join(", "));
        rows.push(("memory to learn", told));
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text: String = rows
        .iter()
        .map(|(name, value)| format!("{name:width$}  {value}\n"))
        .collect();
    text.push_str(&classes(figures));
    text
}

fn arcs(figures: &Figures) -> String {
    let kind = match figures.undirected_edges {
        Some(edges) => format!("undirected: {} edges", grouped(edges)),
        None => "directed".into(),
    };
    let weights = if figures.weighted {
        ", with weights"
    } else {
        ""
    };
    format!("{} ({kind}{weights})", grouped(figures.arcs))
}

fn features(figures: &Figures) -> String {
    let kind = if figures.features_sparse {
        "sparse"
    } else {
        "dense"
    };
    format!(
        "{} columns, {kind}, {} non-zero entries ({:.2} %)",
        grouped(figures.features),
        grouped(figures.features_non_zero),
        100.0 * figures.features_non_zero_share
    )
}

fn isolated(figures: &Figures) -> String {
    match figures.directed {
        false => grouped(figures.isolated),
        true => format!(
            "{}; {} more have no arc into them",
            grouped(figures.isolated),
            { grouped(figures.without_in_arcs - figures.isolated) }
        ),
    }
}

fn classes(figures: &Figures) -> String {
    const SHOWN: usize = 100;
    if figures.classes.is_empty() {
        return String::new();
    }
    let mut listing = table(&["class", "nodes", "share"], &[1, 2]);
    for class in figures.classes.iter().take(SHOWN) {
        let share = 100.0 * class.nodes as f64 / figures.nodes as f64;
        listing.add_row([
            shortened(&class.name),
            grouped(class.nodes),
            format!("{share:.1} %"),
        ]);
    }
    let mut text = format!("\n{}\n", listing.trim_fmt());
    if figures.classes.len() > SHOWN {
        text.push_str(&format!(
            "and {} more; --json lists all\n",
            figures.classes.len() - SHOWN
        ));
    }
    text
}
