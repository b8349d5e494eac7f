//! `treering report`: what a bench found, as a page, as figures, or as text.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use treering_data::{Fault, check_target, human_bytes, replace};
use treering_report::{ReadError, figures, page, png, read, summary, terminal};

use crate::Global;
use crate::failure::{Failure, sentence};
use crate::output::Output;

/// Flags of `treering report`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering report results                         a table and small plots, here\n  \
    treering report results -o report.html          one page, to be opened in a browser\n  \
    treering report results --svg figures           every figure as a file\n\n\
    docs/report.md says what each figure shows."
)]
pub(crate) struct Report {
    /// The folder that `treering bench --out` filled.
    folder: PathBuf,
    /// Write one page that holds everything.
    #[arg(short, long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Write every figure as an SVG file into a folder; it is made if it is not there.
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    /// Write every figure as a PNG file into a folder; it is made if it is not there.
    #[arg(long, value_name = "FOLDER")]
    png: Option<PathBuf>,
    /// Replace files that are there.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Report, global: &Global, output: &Output) -> Result<(), Failure> {
    let bench = read(&args.folder)?;
    let rows = summary::summarise(&bench.lines);
    if let Some(out) = &args.out {
        check_target(out, args.force)?;
        let text = page(&bench, &rows).map_err(Failure::system)?;
        write(out, args.force, text.as_bytes())?;
        if !global.quiet {
            tell!(
                "wrote {} ({})",
                out.display(),
                human_bytes(text.len() as u64)
            );
        }
    }
    if args.svg.is_some() || args.png.is_some() {
        draw(args, &figures::figures(&bench, &rows), global)?;
    } else if args.out.is_none() {
        let bold = std::io::stdout().is_terminal();
        output.print(&terminal(&bench, &rows, bold))?;
    }
    Ok(())
}

/// Every figure as files.
fn draw(args: &Report, all: &[figures::Figure], global: &Global) -> Result<(), Failure> {
    for folder in [&args.svg, &args.png].into_iter().flatten() {
        std::fs::create_dir_all(folder).map_err(|error| Fault::from_io(error).at(folder))?;
        if !global.quiet {
            tell!("writing {} figures to {}", all.len(), folder.display());
        }
    }
    for figure in all {
        if let Some(folder) = &args.svg {
            let file = folder.join(format!("{}.svg", figure.id));
            write(&file, args.force, figure.svg.as_bytes())?;
        }
        if let Some(folder) = &args.png {
            let file = folder.join(format!("{}.png", figure.id));
            let image =
                png(&figure.id, &figure.svg).map_err(|error| Failure::system(sentence(error)))?;
            write(&file, args.force, &image)?;
        }
    }
    Ok(())
}

fn write(file: &Path, force: bool, bytes: &[u8]) -> Result<(), Failure> {
    replace(file, force, |partial| {
        std::fs::write(partial, bytes).map_err(|error| Fault::from_io(error).at(partial))
    })?;
    Ok(())
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            // A missing right is the caller's to mend; a broken disk is not.
            ReadError::System { error: ref io, .. }
                if io.kind() != std::io::ErrorKind::PermissionDenied =>
            {
                Failure::system(sentence(error))
            }
            _ => Failure::input(sentence(error)),
        }
    }
}
