//! The project's chores, so that people and CI run the very same steps: `cargo xtask test`, `cargo xtask check`, `cargo xtask ci`.

use std::process::{Command, ExitCode};

/// A step: its name, and the commands it runs.
type Step = (&'static str, &'static [&'static [&'static str]]);

/// All steps in the order of `ci`: what fails most often comes early.
const STEPS: [Step; 4] = [
    // Unit, integration and documentation tests of every crate.
    ("test", &[&["test", "--workspace", "--locked"]]),
    ("fmt", &[&["fmt", "--all", "--check"]]),
    (
        "lint",
        &[&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ]],
    ),
    ("doc", &[&["doc", "--workspace", "--no-deps", "--locked"]]),
];

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let steps: Vec<&Step> = match wanted.as_str() {
        "ci" => STEPS.iter().collect(),
        "check" => STEPS.iter().filter(|(name, _)| *name != "test").collect(),
        name => STEPS.iter().filter(|(step, _)| *step == name).collect(),
    };
    if steps.is_empty() {
        eprintln!(
            "usage: cargo xtask ci | check | {}",
            STEPS.map(|(name, _)| name).join(" | ")
        );
        eprintln!("  ci runs every step; check runs all but the tests");
        return ExitCode::from(2);
    }
    for (name, commands) in steps {
        eprintln!("== {name}");
        if !commands.iter().all(|arguments| run(arguments)) {
            eprintln!("== {name} failed");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Runs cargo with `arguments`; warnings of rustdoc are errors.
fn run(arguments: &[&str]) -> bool {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(arguments)
        .env("RUSTDOCFLAGS", "-D warnings")
        .status();
    status.is_ok_and(|status| status.success())
}
