//! Kernels beside the machine: `cargo run --release -p treering-benchmarks --bin machine`.
//!
//! machine [--scale SHARE] [--threads 1,2] [--only smoothing|prompt|pretraining|router|ring] [--json FILE] [--clock wall|processor]
//! machine --only NAME --seconds N [--scale SHARE]
//!
//! Prints one table. With `--seconds` there is none: one kernel runs that long on one thread, for a profiler.

#![allow(clippy::print_stdout)]

use treering_benchmarks::machine::{Clock, Kernel, Options, measure, repeat};

const USAGE: &str = "usage: machine [--scale SHARE] [--threads 1,2] [--only smoothing|prompt|pretraining|router|ring] [--json FILE] [--clock wall|processor] [--seconds N]";

struct Asked {
    options: Options,
    json: Option<String>,
    seconds: Option<f64>,
}

fn main() {
    let Some(asked) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        std::process::exit(2);
    };
    let done = match (asked.seconds, asked.options.only) {
        (Some(seconds), Some(kernel)) => repeat(kernel, asked.options.scale, seconds),
        _ => print(&asked),
    };
    if let Err(error) = done {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn print(asked: &Asked) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (table, json) = measure(&asked.options)?;
    print!("{table}");
    if let Some(file) = &asked.json {
        std::fs::write(file, format!("{json:#}\n")).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(())
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Asked> {
    let mut asked = Asked {
        options: Options {
            scale: 1.0,
            threads: vec![1, 2],
            only: None,
            clock: Clock::Wall,
        },
        json: None,
        seconds: None,
    };
    while let Some(flag) = arguments.next() {
        let value = arguments.next()?;
        match flag.as_str() {
            "--scale" => asked.options.scale = value.parse().ok()?,
            "--threads" => asked.options.threads = counts(&value)?,
            "--only" => asked.options.only = Some(kernel(&value)?),
            "--clock" => asked.options.clock = clock(&value)?,
            "--json" => asked.json = Some(value),
            "--seconds" => asked.seconds = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    // Seconds are for one kernel.
    let fits = asked.seconds.is_none() || asked.options.only.is_some();
    fits.then_some(asked)
}

fn counts(text: &str) -> Option<Vec<usize>> {
    let counts = text.split(',').map(|count| count.parse().ok());
    let counts: Option<Vec<usize>> = counts.collect();
    counts.filter(|counts| !counts.is_empty() && counts.iter().all(|&count| count > 0))
}

fn kernel(name: &str) -> Option<Kernel> {
    Kernel::ALL.into_iter().find(|kernel| kernel.name() == name)
}

fn clock(name: &str) -> Option<Clock> {
    match name {
        "wall" => Some(Clock::Wall),
        "processor" => Some(Clock::Processor),
        _ => None,
    }
}
