//! Work as a list of jobs: made by `plan`, run one by one by `exec`, run on this machine by `run`. What jobs do is in the commands that they are parts of.

mod drafts;
mod exec;
mod plan;
mod rates;
mod run;
mod simulate;

pub(crate) use drafts::{Draft, Drafts, FOLDER, pieces, told_of};
pub(crate) use exec::{Exec, run as exec};
pub(crate) use plan::{Plan, run as plan};
pub(crate) use rates::Work as Effort;
pub(crate) use run::{Run, run, tell_interrupted};
pub(crate) use simulate::Assumed;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use treering_jobs::JobsError;

use crate::Global;
use crate::bench::apart as bench;
use crate::failure::Failure;
use crate::model::{learning_apart as learn, predicting_apart as predict};
use crate::profile::apart as profile;

/// Parts of commands, as jobs name them.
#[derive(Subcommand)]
pub(crate) enum Work {
    /// Nothing but a few bytes.
    Empty(Target),
    /// A training of a bench.
    Run(bench::RunPart),
    /// The results of a bench.
    Gather(Box<bench::GatherPart>),
    /// One ring.
    Ring(Box<learn::RingPart>),
    /// A model of all rings.
    Commit(learn::CommitPart),
    /// What nodes weigh in some prototypes.
    Spread(Box<profile::SpreadPart>),
    /// Some columns of all prototypes.
    Slice(Box<profile::SlicePart>),
    /// The table of prototypes.
    Prototypes(Box<profile::TablePart>),
    /// Some columns of all nodes, smoothed.
    Columns(Box<predict::SlicePart>),
    /// What some heads say about all nodes.
    Heads(Box<predict::SlicePart>),
    /// Answers about some nodes.
    Rows(Box<predict::RowsPart>),
    /// All answers.
    Table(Box<predict::TablePart>),
}

/// Where a part is written.
#[derive(Args)]
pub(crate) struct Target {
    /// The temporary name of the job's output.
    #[arg(long = "job-output", value_name = "FILE")]
    pub(crate) path: PathBuf,
}

pub(crate) fn work(work: Work, global: &Global) -> Result<(), Failure> {
    match work {
        Work::Empty(into) => {
            std::fs::write(&into.path, "nothing\n").map_err(|error| at(&into.path, error))
        }
        Work::Run(part) => bench::run_part(&part, global),
        Work::Gather(part) => bench::gather(*part, global),
        Work::Ring(part) => learn::ring(&part, global),
        Work::Commit(part) => learn::commit(&part),
        Work::Spread(part) => profile::spread(&part, global),
        Work::Slice(part) => profile::slice(&part, global),
        Work::Prototypes(part) => profile::table(&part),
        Work::Columns(part) => predict::columns(&part, global),
        Work::Heads(part) => predict::heads(&part, global),
        Work::Rows(part) => predict::rows(&part, global),
        Work::Table(part) => predict::table(&part),
    }
}

/// What the system said about a file.
pub(crate) fn at(path: &std::path::Path, error: std::io::Error) -> Failure {
    Failure::system(format!("{}: {error}", path.display()))
}

impl From<JobsError> for Failure {
    fn from(error: JobsError) -> Self {
        match error.is_passing() {
            true => Failure::system(error),
            false => Failure::input(error),
        }
    }
}
