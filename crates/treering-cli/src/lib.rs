//! The `treering` command. Thin: flags in, calls to the crates below, words and files out. A library, so that the program and the Python package run the same.

// First, because the others use its macro.
#[macro_use]
mod output;

mod bench;
mod data;
mod extras;
mod failure;
mod jobs;
mod memory;
mod model;
mod parts;
mod plan;
mod profile;
mod progress;
mod report;
mod source;

use std::ffi::OsString;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Parser, Subcommand};
use treering_data::{DataError, check_mapped};

use crate::failure::Failure;
use crate::output::Output;

/// Graph class-incremental learning: new classes arrive task by task, nothing learned before changes.
#[derive(Parser)]
#[command(
    name = "treering",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(
    after_help = "Start with:\n  treering demo                  learn built-in data and see what comes out\n  \
    treering learn --help          learn your own\n  treering data convert --help   which data can be read\n\n\
    Exit codes: 0 done, 1 the system failed, 2 the input or the call is wrong, 130 interrupted."
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Flags that every command takes.
#[derive(clap::Args, Clone)]
pub(crate) struct Global {
    /// Threads to work with; the result is the same for any number [default: every core].
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory that the program may take, such as 8GB or 500MB; features that exceed it stay on disk [default: three quarters of what is free].
    #[arg(long, global = true, value_name = "SIZE", value_parser = source::parse_bytes)]
    memory: Option<u64>,
    /// Say nothing but results and errors.
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Model(model::Command),
    /// Compare learners: every choice of data, learner, protocol and seed is a run, and only what is missing is computed.
    Bench(Box<bench::Bench>),
    /// One training of a bench, in a process of its own.
    #[command(hide = true)]
    BenchJob,
    /// Take the prototype of every task of a graph as a whole.
    Profile(Box<profile::Profile>),
    /// Turn a command into a list of jobs for many cores or machines.
    Plan(Box<jobs::Plan>),
    /// Run one job of a list, or some.
    Exec(jobs::Exec),
    /// Run a list of jobs on this machine.
    Run(jobs::Run),
    /// A part of a command, as jobs name it.
    #[command(subcommand, hide = true)]
    Work(Box<jobs::Work>),
    /// Show what a bench found: as text, as one page, as figures.
    Report(report::Report),
    /// Look at graphs, convert them, make them up, cut them into tasks.
    #[command(subcommand)]
    Data(Box<data::Command>),
    /// Print a completion script for a shell, to be sourced by it.
    Completions(extras::Completions),
    /// Write manual pages into a folder.
    Man(extras::Man),
}

/// Set once the user has asked the program to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How this program is started once more, for work in processes of their own.
static AGAIN: OnceLock<Vec<OsString>> = OnceLock::new();

/// Runs a command line to its end.
///
/// # Arguments
/// * `arguments`: as the process got them, the program's name first.
/// * `again`: what starts the same program, to be followed by its arguments.
pub fn main(arguments: impl IntoIterator<Item = OsString>, again: Vec<OsString>) -> ExitCode {
    AGAIN.get_or_init(|| again);
    let cli = Cli::parse_from(arguments);
    let interrupted = ctrlc::set_handler(|| {
        INTERRUPTED.store(true, Ordering::SeqCst);
        jobs::tell_interrupted();
        treering_data::discard_partial();
        std::process::exit(130);
    });
    let done = interrupted
        .map_err(Failure::system)
        .and_then(|()| start_threads(&cli.global))
        .and_then(|()| guarded(cli));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The work failed because its files are being taken away; whoever does that also ends the program.
        Err(_) if INTERRUPTED.load(Ordering::SeqCst) => loop {
            std::thread::park();
        },
        Err(failure) => failure.report(),
    }
}

fn start_threads(global: &Global) -> Result<(), Failure> {
    let threads = usize::from(global.threads.unwrap_or(0));
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(Failure::system)
}

/// Runs a command. Where a file was changed in use, that is why it failed, or why its result means nothing: numbers that were checked once may be wrong now, and
/// may even have ended the work.
fn guarded(cli: Cli) -> Result<(), Failure> {
    memory::limit(&cli.global);
    let told = std::panic::take_hook();
    static CHANGED: OnceLock<DataError> = OnceLock::new();
    let changed = || {
        check_mapped()
            .err()
            .map(|error| CHANGED.get_or_init(|| error))
    };
    std::panic::set_hook(Box::new(move |panic| {
        if CHANGED.get().is_none() && changed().is_none() {
            told(panic);
        }
    }));
    let done = std::panic::catch_unwind(AssertUnwindSafe(|| run(cli)));
    let changed = CHANGED.get().or_else(changed);
    match (done, changed) {
        (_, Some(changed)) => Err(Failure::input(changed)),
        (Ok(done), None) => done,
        (Err(panic), None) => std::panic::resume_unwind(panic),
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    let output = Output::new();
    match cli.command {
        Command::Model(command) => model::run(command, &cli.global, &output),
        Command::Bench(args) => bench::run(*args, &cli.global, &output),
        Command::BenchJob => bench::run_job(&cli.global, &output),
        Command::Profile(args) => profile::run(&args, &cli.global, &output),
        Command::Plan(args) => jobs::plan(&args, &cli.global, &output),
        Command::Exec(args) => jobs::exec(&args, &cli.global, &output),
        Command::Run(args) => jobs::run(&args, &cli.global, &output),
        Command::Work(_) => Err(Failure::input(
            "work is for `treering exec`, which runs jobs of a list",
        )),
        Command::Report(args) => report::run(&args, &cli.global, &output),
        Command::Data(command) => data::run(*command, &cli.global, &output),
        Command::Completions(args) => extras::completions::<Cli>(&args, &output),
        Command::Man(args) => extras::manual::<Cli>(&args),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn flags_of_all_commands_go_together() {
        super::Cli::command().debug_assert();
    }
}
