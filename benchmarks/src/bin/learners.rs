//! Learners on one data set, one after the other: accuracy under the protocols `paper` and `oracle`, processor seconds for learning and for
//! answering, stored numbers, and processor microseconds per train row read.
//!
//! learners DATA NAME... [--seed N] [--threads N] [--set KEY=VALUE]...

#![allow(clippy::print_stdout)]

use std::path::Path;

use treering_benchmarks::{peak_memory, with_threads};
use treering_data::{Context, ReadOptions, Silent, Stream, StreamOptions, read};
use treering_eval::{Protocol, evaluate, tasks_of};
use treering_learn::{Shown, registry};

fn main() {
    let mut names = Vec::new();
    let (mut seed, mut threads, mut changed) = (0u64, 1usize, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--seed" => seed = value().parse().unwrap_or(0),
            "--threads" => threads = value().parse().unwrap_or(1),
            "--set" => {
                let text = value();
                let (key, value) = text.split_once('=').unwrap_or((&text, ""));
                let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
                changed.push((key.to_owned(), value));
            }
            _ => names.push(argument),
        }
    }
    if names.len() < 2 {
        eprintln!("usage: learners DATA NAME... [--seed N] [--threads N] [--set KEY=VALUE]...");
        std::process::exit(2);
    }
    changed.push(("seed".to_owned(), seed.into()));
    let done = with_threads(threads, || {
        run(Path::new(&names[0]), &names[1..], seed, &changed)
    });
    if let Err(error) = done {
        eprintln!("error: {error}");
        std::process::exit(2);
    }
}

fn run(
    data: &Path,
    names: &[String],
    seed: u64,
    changed: &[(String, serde_json::Value)],
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let context = Context::with_free_memory(&Silent);
    let graph = read(data, &ReadOptions::default(), &context)?.graph;
    let options = StreamOptions {
        seed,
        split_seed: seed,
        ..StreamOptions::default()
    };
    let stream = Stream::plan(&graph, &options)?;
    let rows: usize = tasks_of(&graph, &stream, Shown::Train)?
        .iter()
        .map(|task| task.train().nodes.len())
        .sum();
    for name in names {
        let mut learner = registry::build(name, registry::complete(name, changed)?)?;
        let exams = [Protocol::Paper, Protocol::Oracle];
        let done = evaluate(&mut *learner, &graph, &stream, &exams, &Silent)?;
        let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
        let outcome = |at: usize| {
            let matrix = &done.outcomes[at].matrix;
            format!(
                "AA {} AF {}",
                number(matrix.average_accuracy()),
                number(matrix.average_forgetting())
            )
        };
        let stored = learner.stored();
        println!(
            "{name} seed {seed}: {}; oracle {}; CPU s learn {:.2} predict {:.2}; {:.2} us a row and epoch of 200; stored {} + {}; peak {} MB",
            outcome(0),
            outcome(1),
            done.costs.learning().cpu,
            done.costs.predict.cpu,
            1e6 * done.costs.learning().cpu / (200 * rows) as f64,
            stored.model,
            stored.memory,
            peak_memory() / 1_000_000,
        );
    }
    Ok(())
}
