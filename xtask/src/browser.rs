//! The report in a real browser: browser-tests/README.md says what is tried.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{done, find, install, skipped};

/// Says no to all of this.
const SKIP: &str = "TREERING_NO_BROWSER";
const REMEDY: &str = "or set TREERING_NO_BROWSER=1 to skip the browser tests";

/// Installs what is missing, builds the program and lets a browser open its report.
pub(crate) fn run() -> bool {
    if skipped(SKIP, "browser tests") {
        return true;
    }
    match tried() {
        Ok(()) => true,
        Err(reason) => {
            eprintln!("error: {reason}");
            false
        }
    }
}

fn tried() -> Result<(), String> {
    let chromium = browser()?;
    for tool in ["node", "npm"] {
        if find(&[tool]).is_none() {
            install(&["nodejs", "npm"], REMEDY)?;
        }
        find(&[tool]).ok_or(format!(
            "there is no {tool}; install Node.js 20 or newer, {REMEDY}"
        ))?;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tests = root.join("browser-tests");
    let quiet = ["--ignore-scripts", "--no-audit", "--no-fund"];
    done(
        Command::new("npm")
            .arg("ci")
            .args(quiet)
            .current_dir(&tests),
        "npm ci",
    )?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // As the tests build it: another choice of packages would have other features and be built from the ground.
    let build = ["test", "--workspace", "--locked", "--no-run", "--quiet"];
    done(Command::new(cargo).args(build), "building the program")?;
    // This program is beside the one to be tried.
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = own.parent().unwrap_or(Path::new("."));
    let mut node = Command::new("node");
    node.arg("run.mjs").current_dir(&tests);
    node.env("TREERING", folder.join("treering"))
        .env("CHROMIUM", chromium);
    node.env("SCREENSHOTS", folder.join("../browser"));
    done(&mut node, "the browser tests")
}

fn browser() -> Result<PathBuf, String> {
    const NAMES: [&str; 4] = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    if let Some(found) = named.or_else(|| find(&NAMES)) {
        return Ok(found);
    }
    install(&["chromium"], REMEDY)?;
    find(&NAMES).ok_or(format!(
        "there is no Chromium; install it, name one with the variable CHROMIUM, {REMEDY}"
    ))
}
