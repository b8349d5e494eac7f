//! `treering verify`.

use std::path::PathBuf;

use clap::Args;
use treering_learn::saved;
use treering_store::{Finding, Model};

use crate::failure::Failure;
use crate::output::Output;

/// Flags of `treering verify`.
#[derive(Args)]
#[command(
    after_help = "Example:\n  treering verify model/ && cp -r model/ backup/\n\n\
    Sizes, checksums and shapes of every file are compared with the manifest. Files that are not part of the model are listed and do no harm: \
    the next writer removes what an interrupted one left. Exit code 2 when anything is wrong."
)]
pub(crate) struct Verify {
    /// The folder of the model.
    model: PathBuf,
}

pub(crate) fn run(args: &Verify, output: &Output) -> Result<(), Failure> {
    let model = Model::open(&args.model)?;
    let findings = model.verify();
    let wrong = findings
        .iter()
        .filter(|found| found.fault.is_some())
        .count();
    let text: String = findings.iter().map(|found| line(&model, found)).collect();
    output.print(&text)?;
    if wrong > 0 {
        let files = if wrong == 1 { "file is" } else { "files are" };
        return Err(Failure::input(format!(
            "{}: {wrong} {files} wrong",
            args.model.display()
        )));
    }
    let learner = saved::load(&model)?;
    output.print(&format!(
        "ok     the learner {} with {} rings\n",
        model.manifest().learner,
        learner.rings()
    ))
}

fn line(model: &Model, found: &Finding) -> String {
    let inside = found.file.strip_prefix(model.folder());
    let file = inside.unwrap_or(&found.file).display();
    match (&found.fault, found.leftover) {
        (Some(fault), _) => format!("WRONG  {fault}\n"),
        (None, true) => format!("spare  {file} is not part of the model and does no harm\n"),
        (None, false) => format!("ok     {file}\n"),
    }
}
