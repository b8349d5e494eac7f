//! `treering exec`: one job, or some.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Parser};
use serde_json::json;
use treering_data::{check_mapped, vouch_for};
use treering_eval::{cpu_seconds, peak_memory};
use treering_jobs::{Done, Failed, Job, JobsError, List, OUTPUT, Source, Spent, State};

use super::at;
use super::drafts::FOLDER;
use crate::failure::Failure;
use crate::output::Output;
use crate::{Cli, Command, Global, memory};

/// Flags of `treering exec`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering exec jobs/ --job ring-0003\n  treering exec jobs/ --open | head\n\n\
    A job checks its inputs, works under a temporary name, and gives its output its name when it is complete. One that is done already is not done \
    again; running a job twice, or two copies at once, does no harm. Engines call this and nothing else. Exit codes: 0 it is done, 1 trying again may \
    help, 2 it does not."
)]
pub(crate) struct Exec {
    /// The list, or its folder, as `treering plan` made it.
    #[arg(value_name = "LIST")]
    list: PathBuf,
    /// The job to run, by its id; as often as needed.
    #[arg(long, value_name = "ID", required_unless_present = "open")]
    job: Vec<String>,
    /// Print the jobs that are not done, one JSON object a line, and run none.
    #[arg(long, conflicts_with = "job")]
    open: bool,
    /// End when standard input ends, as it does when whoever started this is gone.
    #[arg(long, hide = true)]
    end_with_input: bool,
}

pub(crate) fn run(args: &Exec, global: &Global, output: &Output) -> Result<(), Failure> {
    let list = List::read(&args.list)?;
    if args.open {
        return print_open(&list, output);
    }
    if args.end_with_input {
        crate::bench::end_with_parent();
    }
    // Before any work: a name that is wrong is not found out after an hour.
    let jobs: Result<Vec<&Job>, JobsError> = args.job.iter().map(|id| list.job(id)).collect();
    for job in jobs? {
        let done = perform(&list, job, global)?;
        if !global.quiet {
            let words = match done {
                Done::Now => "done",
                Done::Before => "was done before",
            };
            tell!("{}: {words}", job.id);
        }
    }
    Ok(())
}

fn print_open(list: &List, output: &Output) -> Result<(), Failure> {
    output.lines(|out| {
        for job in list.jobs() {
            let why = match list.state(job)? {
                State::Done(_) => continue,
                State::Open => None,
                State::Damaged(why) => Some(why),
            };
            let line = json!({
                "id": job.id,
                "level": job.level,
                "memory": job.memory,
                "cpu_seconds": job.cost.cpu_seconds,
                "damaged": why,
            });
            writeln!(out, "{line}").map_err(Output::failed)?;
        }
        Ok(())
    })
}

/// Runs a job. Where an output that it needs was damaged since, that is made again first.
fn perform(list: &List, job: &Job, global: &Global) -> Result<Done, Failure> {
    let (started, cpu) = (Instant::now(), cpu_seconds());
    let spent = || Spent {
        cpu_seconds: cpu_seconds() - cpu,
        wall_seconds: started.elapsed().as_secs_f64(),
        peak_memory: peak_memory(),
        ..Spent::default()
    };
    let mut mended = Vec::new();
    loop {
        match list.perform_measured(&job.id, |output| work(list, job, output, global), spent) {
            Ok(done) => return Ok(done),
            Err(Failed::Work(failure)) => return Err(failure.about(&job.id)),
            Err(Failed::Jobs(JobsError::Needs {
                needs,
                damaged: true,
                path,
                why,
                ..
            })) if !mended.contains(&needs) => {
                if !global.quiet {
                    tell!(
                        "note: {}: {why}; job {needs} makes it again",
                        path.display()
                    );
                }
                perform(list, list.job(&needs)?, global)?;
                mended.push(needs);
            }
            Err(Failed::Jobs(error)) => return Err(error.into()),
        }
    }
}

/// What a job does, in this process.
fn work(list: &List, job: &Job, output: &Path, global: &Global) -> Result<(), Failure> {
    let directory = &job.directory;
    std::env::set_current_dir(directory).map_err(|error| at(directory, error))?;
    let folder = list.folder().to_string_lossy();
    let put = |word: &String| {
        let word = word.replace(FOLDER, &folder);
        word.replace(OUTPUT, &output.to_string_lossy())
    };
    let words = std::iter::once("treering".to_owned()).chain(job.command.iter().map(put));
    let cli = Cli::try_parse_from(words).map_err(|error| {
        let told = error.to_string();
        let first = told.lines().next().unwrap_or_default();
        let first = first.trim_start_matches("error: ");
        Failure::input(format!(
            "{first}. The list may be of another version of treering; make it again with `treering plan`"
        ))
    })?;
    let Command::Work(part) = cli.command else {
        return Err(Failure::input(format!(
            "the command `{}` is not one of a list; make the list again with `treering plan`",
            job.command.join(" ")
        )));
    };
    let global = Global {
        threads: global.threads,
        memory: cli.global.memory.or(global.memory),
        quiet: true,
    };
    memory::limit(&global);
    // They are what they were when the list was made, and their numbers were checked then.
    for input in &job.inputs {
        if let Source::There(_) = input.source {
            vouch_for(&list.path(&input.path));
        }
    }
    super::work(*part, &global)?;
    // Before the output has its name: numbers of a file that was changed in use mean nothing.
    Ok(check_mapped()?)
}
