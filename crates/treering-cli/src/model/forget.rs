//! `treering forget`.

use std::path::PathBuf;

use clap::Args;
use treering_data::shortened;
use treering_store::{Change, Writer};

use super::training::TRAINED_BACKBONE;
use crate::failure::Failure;
use crate::output::Output;

/// Flags of `treering forget`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering forget model/ autumn\n  treering forget model/ 3\n\n\
    The ring's file is deleted: profile, prompt and head of the task are gone exactly, and every other ring keeps its bytes. The backbone stays. \
    When TASK is the one that trained it, the backbone still carries traces of that task's graph; only a new model is free of them."
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
    writer.commit(vec![Change::Remove {
        number: ring.number,
    }])?;
    let classes: Vec<String> = ring.classes.iter().map(|class| shortened(class)).collect();
    let mut text = format!(
        "forgotten: {} ({})\n  gone: its profile, prompt and head; the file {} is deleted and the manifest no longer names it\n",
        shortened(&ring.name),
        classes.join(", "),
        ring.file.file
    );
    text.push_str(match ring.facts[TRAINED_BACKBONE] == true {
        true => {
            "  stays: the backbone, which was trained on this task's graph and carries traces of it. Only a new model is free of them\n"
        }
        false => "  stays: the backbone, which this ring did not train (the first task did, and its traces stay whatever becomes of its ring), and every other ring, byte for byte\n",
    });
    output.print(&text)
}
