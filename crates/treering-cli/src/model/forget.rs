//! `treering forget`.

use std::path::PathBuf;

use clap::Args;
use treering_data::shortened;
use treering_learn::saved::TRAINED_BACKBONE;
use treering_store::{Change, Writer};

use crate::failure::Failure;
use crate::output::Output;

/// Flags of `treering forget`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering forget model/ autumn\n  treering forget model/ 3\n\n\
    The ring's file is deleted: all that was learned from the task is gone exactly, every other ring keeps its bytes, and the model answers as if \
    it had never seen the task. With the learner tpp the backbone stays; when TASK is the one that trained it, the backbone still carries traces \
    of that task's graph, and only a new model is free of them."
)]
pub(crate) struct Forget {
    /// The folder of the model.
    model: PathBuf,
    /// The task, by number or name.
    task: String,
    /// Accepted and not needed: the command never asks back.
    #[arg(long, hide = true)]
    yes: bool,
}

pub(crate) fn run(args: &Forget, output: &Output) -> Result<(), Failure> {
    let mut writer = super::prepared(Writer::open(&args.model)?)?;
    let Some(model) = writer.model() else {
        return Err(Failure::system("the writer has no model"));
    };
    let ring = model.find(&args.task)?.clone();
    if model.manifest().rings.len() == 1 {
        return Err(Failure::input(format!(
            "{}: `{}` is the only task of this model, and a model without tasks answers nothing. Delete the folder instead",
            args.model.display(),
            shortened(&ring.name)
        )));
    }
    let shared = model.manifest().backbone.is_some();
    writer.commit(vec![Change::Remove {
        number: ring.number,
    }])?;
    let classes: Vec<String> = ring.classes.iter().map(|class| shortened(class)).collect();
    let text = format!(
        "forgotten: {} ({})\n  gone: all that was learned from it; the file {} is deleted and the manifest no longer names it\n  stays: {}\n",
        shortened(&ring.name),
        classes.join(", "),
        ring.file.file,
        stays(shared, ring.facts[TRAINED_BACKBONE] == true)
    );
    output.print(&text)
}

/// What is left of a model, and of the task.
///
/// # Arguments
/// * `shared`: there is a backbone that all rings share.
/// * `trained_it`: the task trained it.
fn stays(shared: bool, trained_it: bool) -> &'static str {
    match (shared, trained_it) {
        (false, _) => {
            "every other ring, byte for byte. Rings share nothing, so the model answers as if it had never seen the task"
        }
        (true, true) => {
            "the backbone, which was trained on this task's graph and carries traces of it. Only a new model is free of them"
        }
        (true, false) => {
            "the backbone, which this ring did not train (the first task did, and its traces stay whatever becomes of its ring), and every other ring, byte for byte"
        }
    }
}
