//! Completions and manual pages, both made from the flags themselves.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::output::Output;

/// Flags of `treering completions`.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

pub(crate) fn completions<C: CommandFactory>(
    args: &Completions,
    output: &Output,
) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut C::command(), "treering", &mut script);
    output.print(&String::from_utf8_lossy(&script))
}

/// Flags of `treering man`.
#[derive(Args)]
pub(crate) struct Man {
    /// The folder; it is made if it is not there.
    folder: PathBuf,
}

pub(crate) fn manual<C: CommandFactory>(args: &Man) -> Result<(), Failure> {
    let fail = |error| Failure::input(format!("{}: {error}", args.folder.display()));
    std::fs::create_dir_all(&args.folder).map_err(fail)?;
    clap_mangen::generate_to(C::command(), &args.folder).map_err(fail)
}
