//! TPP on one data set: accuracy, and processor seconds by phase. The counterpart of `benchmarks/peers/tpp_torch.py`; `benchmarks/run_tpp`
//! runs both side by side.
//!
//! tpp DATA [--seed N] [--threads N] [--json FILE] [--budget NODES] [--pretrain-epochs N] [--epochs N] [--one-by-one]

#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use treering_benchmarks::{cpu_seconds, peak_memory, with_threads};
use treering_data::{Context, ReadOptions, Silent, Stream, StreamOptions, read};
use treering_eval::{Protocol, examine, tasks_of};
use treering_learn::network::dense::{Into, product, view};
use treering_learn::tpp::{Tpp, TppParameters};
use treering_learn::{Learner, Shown};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let number = |name: &str, otherwise: u64| {
        value(name)
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    };
    let Some(data) = arguments.first() else {
        eprintln!(
            "usage: tpp DATA [--seed N] [--threads N] [--json FILE] [--budget NODES] [--pretrain-epochs N] [--epochs N] [--one-by-one]"
        );
        std::process::exit(2);
    };
    let mut parameters = TppParameters {
        seed: number("--seed", 0),
        ..TppParameters::default()
    };
    parameters.contrastive.budget =
        number("--budget", parameters.contrastive.budget as u64) as usize;
    parameters.contrastive.epochs =
        number("--pretrain-epochs", parameters.contrastive.epochs as u64) as usize;
    parameters.epochs = number("--epochs", parameters.epochs as u64) as usize;
    let threads = number("--threads", 1) as usize;
    let alone = arguments.iter().any(|argument| argument == "--one-by-one");
    let report = with_threads(threads, || run(Path::new(data), parameters, threads, alone));
    match report {
        Ok(report) => {
            println!("{}", summary(&report));
            if let Some(file) = value("--json")
                && let Err(error) = std::fs::write(&file, format!("{report:#}\n"))
            {
                eprintln!("{file}: {error}");
                std::process::exit(1);
            }
        }
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    }
}

/// Processor and wall seconds of a phase.
fn timed<R>(
    phases: &mut Vec<(&'static str, f64, f64)>,
    name: &'static str,
    work: impl FnOnce() -> R,
) -> R {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let result = work();
    phases.push((name, cpu_seconds() - cpu, wall.elapsed().as_secs_f64()));
    result
}

fn run(
    data: &Path,
    parameters: TppParameters,
    threads: usize,
    alone: bool,
) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
    let mut phases = Vec::new();
    let context = Context::with_free_memory(&Silent);
    let graph = timed(&mut phases, "load", || {
        read(data, &ReadOptions::default(), &context)
    })?
    .graph;
    let options = StreamOptions {
        seed: parameters.seed,
        split_seed: parameters.seed,
        ..StreamOptions::default()
    };
    let stream = Stream::plan(&graph, &options)?;
    let tasks = tasks_of(&graph, &stream, Shown::Train)?;
    let contrasted = parameters.contrastive.contrasted(tasks[0].graph().nodes());
    let mut learner = Tpp::new(parameters.clone())?;
    let rate = 16e9 / product_seconds();
    let losses = timed(&mut phases, "pretraining", || {
        learner.pretrain(&tasks[0], &Silent)
    })?;
    timed(&mut phases, "profiles", || {
        tasks.iter().for_each(|task| drop(learner.profile(task)))
    });
    timed(&mut phases, "prompts", || match alone {
        false => learner.train(&tasks, true, &Silent).map(drop),
        true => tasks
            .chunks(1)
            .enumerate()
            .try_for_each(|(at, task)| learner.train(task, at == 0, &Silent).map(drop)),
    })?;
    // Once more through the front door, which the evaluation needs; what it learns takes the same time again and is not counted.
    learner.learn(&tasks, &Silent)?;
    let outcomes = timed(&mut phases, "evaluation", || {
        examine(&learner, &graph, &stream, &[Protocol::Paper])
    })?;
    let single = examine(&learner, &graph, &stream, &[Protocol::Single])?;
    let outcome = &outcomes[0];
    let misrouted: Vec<Value> = outcome
        .cells
        .iter()
        .flat_map(|cell| {
            cell.mistaken.iter().map(
                |(taken, _)| json!({"stage": cell.stage, "task": cell.task, "taken_for": taken}),
            )
        })
        .collect();
    let seconds = |pick: fn(&(&str, f64, f64)) -> f64| -> Value {
        phases
            .iter()
            .map(|phase| (phase.0.to_owned(), json!(pick(phase))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    Ok(json!({
        "data": data.file_stem().map(|name| name.to_string_lossy()),
        "program": "treering",
        "seed": parameters.seed,
        "threads": threads,
        "contrasted_nodes": contrasted,
        "AA": outcome.matrix.average_accuracy(),
        "AF": outcome.matrix.average_forgetting(),
        "task_id_accuracy": outcome.task_accuracy(),
        "misrouted": misrouted,
        "single": {
            "AA": single[0].matrix.average_accuracy(),
            "AF": single[0].matrix.average_forgetting(),
            "task_id_accuracy": single[0].task_accuracy(),
        },
        "dense_flops_of_pretraining": dense_flops(contrasted, &parameters),
        "pretraining_over_its_flops": phases[1].1 * rate / dense_flops(contrasted, &parameters),
        "loss": [losses.first(), losses.last()],
        "cpu_seconds": seconds(|phase| phase.1),
        "wall_seconds": seconds(|phase| phase.2),
        "product_2000_cpu_seconds": product_seconds(),
        "peak_bytes": peak_memory(),
    }))
}

/// The flops of the dense products in pre-training: six through the projection head for two views, the weights folded and
/// unfolded, and twelve N^2 for the contrast with symmetric similarities taken once.
fn dense_flops(nodes: usize, parameters: &TppParameters) -> f64 {
    let (m, d) = (nodes as f64, parameters.hidden as f64);
    parameters.contrastive.epochs as f64 * (48.0 * m * d * d + 12.0 * d * d * d + 12.0 * m * m * d)
}

/// Processor seconds of a product of two 2000 x 2000 matrices of f32, the best of three.
fn product_seconds() -> f64 {
    let a = vec![0.5f32; 2000 * 2000];
    let mut out = vec![0f32; 2000 * 2000];
    let once = |out: &mut [f32]| {
        let start = cpu_seconds();
        product(
            out,
            Into::Replace,
            view(&a, 2000, 2000),
            view(&a, 2000, 2000),
        );
        cpu_seconds() - start
    };
    (0..3).map(|_| once(&mut out)).fold(f64::INFINITY, f64::min)
}

fn summary(report: &Value) -> String {
    let number = |value: &Value, digits: usize| {
        value
            .as_f64()
            .map_or("-".into(), |value| format!("{value:.digits$}"))
    };
    let phases = report["cpu_seconds"].as_object().into_iter().flatten();
    let phases: Vec<String> = phases
        .map(|(name, seconds)| format!("{name} {}", number(seconds, 2)))
        .collect();
    format!(
        "{} seed {} threads {}: AA {} AF {} task ID {}; node by node AA {} task ID {}; CPU seconds: {}; pre-training over its flops {}; 2000^3 product {}; peak {} MB",
        report["data"].as_str().unwrap_or("-"),
        report["seed"],
        report["threads"],
        number(&report["AA"], 2),
        number(&report["AF"], 2),
        number(&report["task_id_accuracy"], 1),
        number(&report["single"]["AA"], 2),
        number(&report["single"]["task_id_accuracy"], 1),
        phases.join(", "),
        number(&report["pretraining_over_its_flops"], 2),
        number(&report["product_2000_cpu_seconds"], 3),
        report["peak_bytes"].as_u64().unwrap_or(0) / 1_000_000,
    )
}
