//! `treering plan`: a command as a list of jobs, and what other engines make of a list.

use std::path::{Path, PathBuf};

use clap::{Args, Parser};
use treering_data::human_bytes;
use treering_jobs::{Job, List, parallel, slurm};

use super::drafts::{Draft, Drafts};
use super::rates::Work;
use super::simulate::{Assumed, Simulate};
use crate::failure::Failure;
use crate::output::{Output, grouped, table};
use crate::progress::duration;
use crate::{Cli, Command, Global, memory};

/// Flags of `treering plan`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering plan jobs/ learn model/ graph.treering --classes-per-task 2\n  \
    treering plan jobs/ bench --data cora citeseer --learner all --out results\n  \
    treering plan jobs/ profile products.treering -o prototypes.csv --memory 1GB\n  \
    treering plan jobs/ predict model/ products.treering -o answers.parquet --memory 1GB\n\n  \
    treering run jobs/                       run it here\n  \
    python -m treering.ray jobs/             run it on Ray\n  \
    treering plan jobs/ --slurm              write scripts for Slurm\n  \
    treering plan jobs/ --parallel           print the command line of GNU parallel\n  \
    treering plan jobs/ --simulate 8x16      how long would 8 machines of 16 cores take?\n\n\
    Flags of `plan` come before the command, all others after it. The command after LIST is what would be run without `plan`; its result is the same, byte for byte. Files have to be where all machines see them, the list \
    among them. --memory in the command is what each job may take. docs/jobs.md describes the list."
)]
pub(crate) struct Plan {
    /// The folder of the list; it is made if it is not there.
    #[arg(value_name = "LIST")]
    list: PathBuf,
    /// Cut the work into so many jobs of a kind [default: as many as take about 20 seconds each, and as memory needs].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pieces: Option<u16>,
    /// Write an array script for every level, and a script that submits them in order, into LIST/slurm.
    #[arg(long, conflicts_with = "parallel")]
    slurm: bool,
    /// Print the command line that runs the list with GNU parallel.
    #[arg(long)]
    parallel: bool,
    /// What runs treering where jobs run, as a shell reads it.
    #[arg(long, value_name = "COMMAND", default_value = "treering")]
    program: String,
    #[command(flatten)]
    simulate: Simulate,
    /// bench, learn, profile or predict, with all that belongs to it.
    #[arg(
        value_name = "COMMAND",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<String>,
}

pub(crate) fn run(args: &Plan, global: &Global, output: &Output) -> Result<(), Failure> {
    let asked = args.slurm || args.parallel || args.simulate.is_asked();
    let list = match (&args.command[..], &args.simulate.assume) {
        ([], None) if args.pieces.is_some() => {
            return Err(Failure::input(
                "--pieces is about a new list: name a command after LIST",
            ));
        }
        ([], None) => List::read(&args.list)?,
        ([], Some(_)) => {
            return Err(Failure::input(
                "--assume needs to know what would be done: name a command, such as `profile`, after LIST",
            ));
        }
        (words, assumed) => {
            let jobs = drafted(args, words, assumed.as_ref(), global)?;
            check_apart(&args.list, &jobs)?;
            List::write(&args.list, jobs)?
        }
    };
    let threads = global.threads.map_or(1, usize::from);
    if args.slurm {
        let submit = slurm(&list, &args.program, threads)?;
        return output.print(&format!("sh {}\n", submit.display()));
    }
    if args.parallel {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = (cores / threads).max(1);
        return output.print(&parallel(&list, &args.program, jobs, threads)?);
    }
    if args.simulate.is_asked() {
        return args.simulate.print(&list, output);
    }
    let told = match asked || args.command.is_empty() || args.simulate.assume.is_some() {
        true => String::new(),
        false => format!("run it with `treering run {}`\n", args.list.display()),
    };
    output.print(&(describe(&list) + &told))
}

/// The jobs of a command.
fn drafted(
    args: &Plan,
    words: &[String],
    assumed: Option<&Assumed>,
    global: &Global,
) -> Result<Vec<Job>, Failure> {
    let name = words.first().map_or("", String::as_str);
    let pieces = args.pieces.map(usize::from);
    if name == "empty" {
        return empty(words, global);
    }
    if let Some(assumed) = assumed {
        return assumed.jobs(name, pieces, args.simulate.machine(global));
    }
    if !["bench", "learn", "profile", "predict"].contains(&name) {
        return Err(Failure::input(format!(
            "`{name}` is no command that can be a list of jobs; bench, learn, profile and predict can"
        )));
    }
    let call = std::iter::once("treering").chain(words.iter().map(String::as_str));
    // Exits with the command's own words where they are wrong, or where it is asked for help.
    let cli = Cli::parse_from(call);
    let inner = Global {
        threads: cli.global.threads.or(global.threads),
        memory: cli.global.memory.or(global.memory),
        quiet: cli.global.quiet || global.quiet,
    };
    memory::limit(&inner);
    let mut drafts = Drafts::new(&words[1..], pieces, &inner)?;
    match cli.command {
        Command::Bench(args) => crate::bench::apart::plan(*args, &mut drafts, &inner)?,
        Command::Model(command) => crate::model::plan(&command, &mut drafts, &inner)?,
        Command::Profile(args) => crate::profile::apart::plan(&args, &mut drafts, &inner)?,
        _ => return Err(Failure::system(format!("`{name}` was not planned"))),
    }
    Ok(drafts.jobs())
}

/// Refuses a list that lies in what its jobs read or write, or the other way round.
fn check_apart(folder: &Path, jobs: &[Job]) -> Result<(), Failure> {
    let whole = |path: &Path| {
        let there = path.ancestors().find_map(|above| {
            let known = above.canonicalize().ok()?;
            Some(known.join(path.strip_prefix(above).ok()?))
        });
        there.unwrap_or_else(|| path.to_owned())
    };
    let here = std::env::current_dir().map_err(Failure::system)?;
    let list = whole(&here.join(folder));
    let paths = jobs.iter().flat_map(|job| {
        let inputs = job.inputs.iter().map(|input| &input.path);
        inputs.chain([&job.output])
    });
    for path in paths.filter(|path| path.is_absolute()) {
        let path = whole(path);
        if list.starts_with(&path) || path.starts_with(&list) {
            return Err(Failure::input(format!(
                "{}: the list cannot lie there, because {} is read or written by its jobs. Name another folder for it",
                folder.display(),
                path.display()
            )));
        }
    }
    Ok(())
}

/// So many jobs that do nothing: what an engine takes for itself.
fn empty(words: &[String], global: &Global) -> Result<Vec<Job>, Failure> {
    let count: Option<usize> = words.get(1).and_then(|count| count.parse().ok());
    let Some(count) = count.filter(|&count| (1..=1_000_000).contains(&count)) else {
        return Err(Failure::input(
            "empty needs the number of jobs, up to a million",
        ));
    };
    let mut drafts = Drafts::new(&[], None, global)?;
    for _ in 0..count {
        drafts.add(Draft {
            kind: "empty",
            level: 0,
            flags: Vec::new(),
            told: false,
            inputs: Vec::new(),
            output: None,
            memory: 16 << 20,
            effort: Work::start(),
            read: 0,
            written: 8,
        });
    }
    Ok(drafts.jobs())
}

/// The list in a few lines.
fn describe(list: &List) -> String {
    let header = ["level", "jobs", "what", "memory", "about", "written"];
    let mut listing = table(&header, &[0, 1, 3, 4, 5]);
    for jobs in list.levels() {
        let mut kinds: Vec<&str> = jobs.iter().map(|job| job.kind()).collect();
        kinds.dedup();
        let seconds: f64 = jobs.iter().map(|job| job.cost.cpu_seconds).sum();
        let memory = jobs.iter().map(|job| job.memory).max().unwrap_or(0);
        let written = jobs.iter().map(|job| job.cost.written).sum();
        listing.add_row([
            jobs.first().map_or(0, |job| job.level).to_string(),
            grouped(jobs.len()),
            kinds.join(", "),
            human_bytes(memory),
            duration(seconds),
            human_bytes(written),
        ]);
    }
    format!("{}\n", listing.trim_fmt())
}
