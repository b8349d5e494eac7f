//! `treering data convert`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use treering_data::{FORMATS, Table, WriteFormat, check_target, write};

use crate::Global;
use crate::failure::Failure;
use crate::progress::listener;
use crate::source::{Source, context};

/// Flags of `treering data convert`.
#[derive(Args)]
#[command(after_help = layouts())]
pub(crate) struct Convert {
    /// Where to write: FILE.treering (native), FILE.npz, or a new folder of tables.
    #[arg(short, long, value_name = "PATH")]
    out: PathBuf,
    /// The layout to write, where the ending of PATH does not tell.
    #[arg(long, value_name = "LAYOUT")]
    to: Option<Layout>,
    /// Replace what is there.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    source: Source,
}

/// The layouts that can be written.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Layout {
    /// One file, mapped into memory when read.
    Native,
    /// The gnn-benchmark archive.
    Npz,
    /// A folder of Parquet tables.
    Parquet,
    /// A folder of CSV tables.
    Csv,
    /// A folder of gzipped CSV tables.
    CsvGz,
}

impl Layout {
    pub(crate) fn format(self) -> WriteFormat {
        match self {
            Layout::Native => WriteFormat::Native,
            Layout::Npz => WriteFormat::Npz,
            Layout::Parquet => WriteFormat::Folder(Table::Parquet),
            Layout::Csv => WriteFormat::Folder(Table::Csv),
            Layout::CsvGz => WriteFormat::Folder(Table::CsvGz),
        }
    }
}

/// The layout to write: as asked for, or as the ending tells.
pub(crate) fn format_for(path: &Path, asked: Option<Layout>) -> Result<WriteFormat, Failure> {
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    match asked {
        Some(layout) => Ok(layout.format()),
        None if ["csv", "parquet", "gz", "json"].contains(&ending) => Err(Failure::input(format!(
            "{}: tables come as a folder of several files. Name a folder, with --to csv, csv-gz or parquet",
            path.display()
        ))),
        None => Ok(WriteFormat::from_path(path)),
    }
}

fn layouts() -> String {
    let mut text = String::from("Layouts that can be read, found out by looking:\n");
    for (name, about) in FORMATS {
        text.push_str(&format!("  {name:8} {about}\n"));
    }
    text.push_str(
        "\nExamples:\n  treering data convert cora_full.npz -o cora.treering\n  \
         treering data convert ogbn_products/ -o products.treering\n  \
         treering data convert --nodes users.csv --edges follows.csv -o users.treering\n  \
         treering data convert cora.treering -o cora/ --to csv",
    );
    text
}

pub(crate) fn run(args: &Convert, global: &Global) -> Result<(), Failure> {
    let format = format_for(&args.out, args.to)?;
    // Asked before the work, not after it.
    check_target(&args.out, args.force)?;
    let loaded = args.source.load(global)?;
    let listener = listener(global.quiet);
    write(
        &loaded.graph,
        &args.out,
        format,
        args.force,
        &context(global, &*listener),
    )?;
    if !global.quiet {
        let graph = &loaded.graph;
        tell!(
            "wrote {} ({} nodes, {} arcs)",
            args.out.display(),
            graph.nodes(),
            graph.arcs().len()
        );
    }
    Ok(())
}
