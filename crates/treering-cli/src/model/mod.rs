//! The commands that work on a model: one file each, and beside them what they share.

mod answers;
mod demo;
mod export;
#[cfg(debug_assertions)]
mod fault;
mod forget;
mod ground;
mod heat;
mod held_out;
mod inspect;
mod learn;
mod merge;
mod parameters;
mod predict;
mod rows;
mod selection;
mod tasks;
mod training;
mod verify;

pub(crate) use learn::apart as learning_apart;
pub(crate) use parameters::RouterKind;
pub(crate) use predict::apart as predicting_apart;

use std::path::Path;

use clap::Subcommand;
use treering_store::Writer;

use crate::Global;
use crate::failure::Failure;
use crate::jobs::Drafts;
use crate::output::Output;

/// The commands on models.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Learn the built-in data task by task, predict without task ids, and print what came out.
    Demo(demo::Demo),
    /// Learn a task: begin a model, or add a ring to one that is there.
    Learn(Box<learn::Learn>),
    /// Classify nodes; nobody says which task they belong to.
    Predict(Box<predict::Predict>),
    /// Print what a model holds: parameters, rings, distances between tasks.
    Inspect(inspect::Inspect),
    /// Check every file of a model.
    Verify(verify::Verify),
    /// Remove a task from a model.
    Forget(forget::Forget),
    /// Put rings that were learned apart into one new model.
    Merge(merge::Merge),
    /// Write a model into one safetensors file.
    Export(export::Export),
}

pub(crate) fn run(command: Command, global: &Global, output: &Output) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(&args, global, output),
        Command::Learn(args) => learn::run(&args, global, output),
        Command::Predict(args) => predict::run(&args, global, output),
        Command::Inspect(args) => inspect::run(&args, output),
        Command::Verify(args) => verify::run(&args, output),
        Command::Forget(args) => forget::run(&args, output),
        Command::Merge(args) => merge::run(&args, output),
        Command::Export(args) => export::run(&args, global),
    }
}

/// Plans a command as a list of jobs.
pub(crate) fn plan(command: &Command, drafts: &mut Drafts, global: &Global) -> Result<(), Failure> {
    match command {
        Command::Learn(args) => learning_apart::plan(args, drafts, global),
        Command::Predict(args) => predicting_apart::plan(args, drafts, global),
        _ => Err(Failure::input("this command cannot be a list of jobs")),
    }
}

/// Refuses to write a result into the folder of the model that it comes from: every file there belongs to the model.
fn check_outside(model: &Path, target: &Path) -> Result<(), Failure> {
    let folder = target
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (model.canonicalize(), folder) {
        (Ok(model), Ok(folder)) if folder.starts_with(&model) => Err(Failure::input(format!(
            "{}: this is inside the folder of the model, where only the model's own files belong. Write it elsewhere",
            target.display()
        ))),
        _ => Ok(()),
    }
}

/// A writer as commands use it: with faults injected where a test asks for them, and never in a release.
fn prepared(writer: Writer) -> Result<Writer, Failure> {
    #[cfg(debug_assertions)]
    return fault::inject(writer);
    #[cfg(not(debug_assertions))]
    Ok(writer)
}
