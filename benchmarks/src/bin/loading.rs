//! Loading and making data: `cargo run --release -p treering-benchmarks --bin loading PATH...` times the reader on each
//! path; `... --bin loading synth PRESET SCALE` times the generator. One process a measurement, so that peak memory is its own.

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use treering_benchmarks::peak_memory;
use treering_data::{Context, ReadOptions, Recipe, Silent, human_bytes, read, synthesize};
use treering_graph::Graph;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let context = Context::with_free_memory(&Silent);
    let start = Instant::now();
    let graph = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["synth", preset, scale] => make(preset, scale, &context),
        [path] => read(Path::new(path), &ReadOptions::default(), &context)
            .map(|loaded| loaded.graph)
            .map_err(|error| error.to_string()),
        _ => Err("usage: loading PATH | loading synth PRESET SCALE".into()),
    };
    match graph {
        Ok(graph) => println!(
            "{:50} {:>8.2} s  peak {:>9}  {} nodes, {} arcs",
            args.join(" "),
            start.elapsed().as_secs_f64(),
            human_bytes(peak_memory()),
            graph.nodes(),
            graph.arcs().len()
        ),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}

fn make(preset: &str, scale: &str, context: &Context<'_>) -> Result<Graph, String> {
    let scale: f64 = scale.parse().map_err(|_| "SCALE is a number".to_owned())?;
    let recipe = Recipe::preset(preset).ok_or_else(|| format!("no preset {preset}"))?;
    let recipe = if scale == 1.0 {
        recipe
    } else {
        recipe.scaled(scale).map_err(|error| error.to_string())?
    };
    synthesize(&recipe, context).map_err(|error| error.to_string())
}
