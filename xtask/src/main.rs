//! The project's chores, so that people and CI run the very same steps: `cargo xtask test`, `cargo xtask check`, `cargo xtask ci`.

mod browser;
mod python;
mod tools;

use std::process::{Command, ExitCode};

/// A step: its name, and what it does.
type Step = (&'static str, &'static [Work]);

/// Part of a step.
enum Work {
    /// Runs cargo.
    Cargo(&'static [&'static str]),
    /// Opens a report in a browser.
    Browser,
    /// Tries the Python package.
    Python,
    /// Kills parts of a Ray cluster that runs a list of jobs.
    Engines,
    /// Tries it with the packages that others keep graphs in.
    Packages,
}

/// All steps in the order of `ci`: what fails most often comes early.
const STEPS: [Step; 4] = [
    // Unit, integration and documentation tests of every crate, then the report in a browser, the Python package, and lists of jobs on Ray.
    (
        "test",
        &[
            Work::Cargo(&["test", "--workspace", "--locked"]),
            Work::Browser,
            Work::Python,
            Work::Engines,
        ],
    ),
    ("fmt", &[Work::Cargo(&["fmt", "--all", "--check"])]),
    (
        "lint",
        &[Work::Cargo(&[
            "clippy",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ])],
    ),
    (
        "doc",
        &[Work::Cargo(&[
            "doc",
            "--workspace",
            "--no-deps",
            "--locked",
        ])],
    ),
];

/// Parts of `test` that can be asked for alone.
const BROWSER: Step = ("browser", &[Work::Browser]);
const PYTHON: Step = ("python", &[Work::Python]);
const ENGINES: Step = ("engines", &[Work::Engines]);
/// Too large for every change: PyTorch alone is hundreds of megabytes.
const PACKAGES: Step = ("packages", &[Work::Packages]);

fn main() -> ExitCode {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let steps: Vec<&Step> = match wanted.as_str() {
        "ci" => STEPS.iter().collect(),
        "check" => STEPS.iter().filter(|(name, _)| *name != "test").collect(),
        "browser" => vec![&BROWSER],
        "python" => vec![&PYTHON],
        "engines" => vec![&ENGINES],
        "packages" => vec![&PACKAGES],
        name => STEPS.iter().filter(|(step, _)| *step == name).collect(),
    };
    if steps.is_empty() {
        eprintln!(
            "usage: cargo xtask ci | check | browser | python | engines | packages | {}",
            STEPS.map(|(name, _)| name).join(" | ")
        );
        eprintln!(
            "  ci runs every step; check runs all but the tests; browser, python and engines are the parts of test that open a report in a browser, try the Python package, and run lists of jobs on Ray; packages tries it with PyG's and DGL's own graphs"
        );
        return ExitCode::from(2);
    }
    for (name, parts) in steps {
        eprintln!("== {name}");
        if !parts.iter().all(run) {
            eprintln!("== {name} failed");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run(part: &Work) -> bool {
    match part {
        Work::Cargo(arguments) => cargo(arguments),
        Work::Browser => browser::run(),
        Work::Python => python::run(),
        Work::Engines => python::engines(),
        Work::Packages => python::packages(),
    }
}

/// Runs cargo with `arguments`; warnings of rustdoc are errors.
fn cargo(arguments: &[&str]) -> bool {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(arguments)
        .env("RUSTDOCFLAGS", "-D warnings")
        .status();
    status.is_ok_and(|status| status.success())
}
