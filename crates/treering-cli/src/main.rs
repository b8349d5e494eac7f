//! The program `treering`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let again = std::env::current_exe().map(|program| vec![program.into()]);
    treering_cli::main(std::env::args_os(), again.unwrap_or_default())
}
