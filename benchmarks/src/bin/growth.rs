//! How the cost of an epoch grows: with nodes, with edges, with feature columns, three sizes each, everything else held. A ratio of 1
//! from one row to the next means linear; the exact contrast is the one part that is not, so the backbone is trained on a sample.

#![allow(clippy::print_stdout)]

use treering_benchmarks::cpu_seconds;
use treering_data::{Context, Recipe, Silent, Stream, StreamOptions, synthesize};
use treering_eval::tasks_of;
use treering_learn::Shown;
use treering_learn::tpp::{Tpp, TppParameters};

fn main() {
    println!(
        "| grown | nodes | edges | columns | backbone ms/epoch | per unit | prompts ms/epoch | per unit |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let base = (20_000, 100_000, 128);
    for (what, sizes) in [
        (
            "nodes",
            [base, (40_000, 100_000, 128), (80_000, 100_000, 128)],
        ),
        (
            "edges",
            [base, (20_000, 200_000, 128), (20_000, 400_000, 128)],
        ),
        (
            "columns",
            [base, (20_000, 100_000, 256), (20_000, 100_000, 512)],
        ),
    ] {
        let mut first = None;
        for (step, (nodes, edges, columns)) in sizes.into_iter().enumerate() {
            match measure(nodes, edges, columns) {
                Ok((backbone, prompts)) => {
                    let grown = (1 << step) as f64;
                    let (b, p) = *first.get_or_insert((backbone, prompts));
                    println!(
                        "| {what} | {nodes} | {edges} | {columns} | {:.1} | {:.2} | {:.1} | {:.2} |",
                        backbone * 1e3,
                        backbone / b / grown,
                        prompts * 1e3,
                        prompts / p / grown
                    );
                }
                Err(error) => {
                    eprintln!("error: {error}");
                    std::process::exit(1);
                }
            }
        }
    }
}

/// Processor seconds of an epoch of the backbone and of prompts, on a two-class graph.
fn measure(
    nodes: usize,
    edges: u64,
    columns: usize,
) -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let recipe = Recipe::preset("arxiv-like").ok_or("no preset")?;
    let recipe = Recipe {
        nodes,
        edges,
        classes: 2,
        features: columns,
        last_class: None,
        homophily: 0.7,
        task_share: 1.0,
        ..recipe
    };
    let graph = synthesize(&recipe, &Context::with_free_memory(&Silent))?;
    let stream = Stream::plan(&graph, &StreamOptions::default())?;
    let tasks = tasks_of(&graph, &stream, Shown::Train)?;
    let epochs = 8;
    let mut parameters = TppParameters {
        epochs,
        prompt_first_task: true,
        ..TppParameters::default()
    };
    parameters.contrastive.epochs = epochs;
    parameters.contrastive.budget = 256;
    // The difference of two runs leaves out what is done once.
    let run = |epochs: usize| -> Result<(f64, f64), Box<dyn std::error::Error>> {
        let mut parameters = parameters.clone();
        parameters.epochs = epochs;
        parameters.contrastive.epochs = epochs;
        let mut learner = Tpp::new(parameters)?;
        let start = cpu_seconds();
        learner.pretrain(&tasks[0], &Silent)?;
        let middle = cpu_seconds();
        learner.train(&tasks[..1], true, &Silent)?;
        Ok((middle - start, cpu_seconds() - middle))
    };
    let (few, many) = (run(2)?, run(2 + epochs)?);
    Ok((
        (many.0 - few.0) / epochs as f64,
        (many.1 - few.1) / epochs as f64,
    ))
}
