//! Writes a synthetic graph as an OGB text folder, so that the OGB reader can be timed at full scale:
//! `cargo run --release -p treering-benchmarks --bin ogb_files PRESET SCALE FOLDER`.
#![allow(clippy::print_stdout)]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use treering_data::{Context, Recipe, Silent, synthesize};
use treering_graph::{Graph, NodeId};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [preset, scale, folder] = &args[..] else {
        eprintln!("usage: ogb_files PRESET SCALE FOLDER");
        std::process::exit(2);
    };
    let done = make(preset, scale).and_then(|graph| {
        write(&graph, Path::new(folder)).map_err(|error| format!("{folder}: {error}"))
    });
    if let Err(error) = done {
        eprintln!("{error}");
        std::process::exit(2);
    }
    println!("wrote {folder}");
}

fn make(preset: &str, scale: &str) -> Result<Graph, String> {
    let scale: f64 = scale.parse().map_err(|_| "SCALE is a number".to_owned())?;
    let recipe = Recipe::preset(preset).ok_or_else(|| format!("no preset {preset}"))?;
    let recipe = recipe.scaled(scale).map_err(|error| error.to_string())?;
    synthesize(&recipe, &Context::with_free_memory(&Silent)).map_err(|error| error.to_string())
}

fn table(path: &Path, rows: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(
        1 << 20,
        GzEncoder::new(File::create(path)?, Compression::fast()),
    );
    rows(&mut out)?;
    out.into_inner()?.finish()?.sync_all()
}

fn write(graph: &Graph, folder: &Path) -> io::Result<()> {
    let raw = folder.join("raw");
    std::fs::create_dir_all(&raw)?;
    let undirected = graph.arcs().is_symmetric();
    let kept = |target: usize, source: usize| !undirected || source <= target;
    let edges = || {
        graph
            .arcs()
            .iter()
            .filter(|&(target, source, _)| kept(target, source))
    };
    let count = edges().count();
    table(&raw.join("num-node-list.csv.gz"), |out| {
        writeln!(out, "{}", graph.nodes())
    })?;
    table(&raw.join("num-edge-list.csv.gz"), |out| {
        writeln!(out, "{count}")
    })?;
    table(&raw.join("edge.csv.gz"), |out| {
        edges().try_for_each(|(target, source, _)| writeln!(out, "{source},{target}"))
    })?;
    let features = graph.features().to_dense();
    table(&raw.join("node-feat.csv.gz"), |out| {
        (0..graph.nodes()).try_for_each(|node| {
            for (column, value) in features.row(node).iter().enumerate() {
                write!(out, "{}{value:.6}", if column > 0 { "," } else { "" })?;
            }
            writeln!(out)
        })
    })?;
    table(&raw.join("node-label.csv.gz"), |out| {
        NodeId::first(graph.nodes()).try_for_each(|node| {
            let class = graph.labels().and_then(|labels| labels.class_of(node));
            writeln!(
                out,
                "{}",
                class.map_or_else(|| "nan".into(), |class| class.to_string())
            )
        })
    })
}
