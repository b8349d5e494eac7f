//! `treering data`: everything about graphs that involves no learning.

mod convert;
mod stats;
mod stream;
mod synth;

use clap::Subcommand;

use crate::Global;
use crate::failure::Failure;
use crate::output::Output;

/// The commands below `treering data`.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Print what a graph looks like: sizes, features, classes, isolated nodes, components, homophily.
    Stats(stats::Stats),
    /// Read data in one layout and write it in another.
    Convert(convert::Convert),
    /// Make up a graph with classes: a degree-corrected block model, labelled as synthetic wherever it goes.
    Synth(synth::Synth),
    /// Cut a graph into a stream of tasks, and print or write it.
    Stream(stream::Stream),
}

pub(crate) fn run(command: Command, global: &Global, output: &Output) -> Result<(), Failure> {
    match command {
        Command::Stats(args) => stats::run(&args, global, output),
        Command::Convert(args) => convert::run(&args, global),
        Command::Synth(args) => synth::run(&args, global, output),
        Command::Stream(args) => stream::run(&args, global, output),
    }
}
