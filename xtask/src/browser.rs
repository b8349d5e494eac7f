//! The report in a real browser: browser-tests/README.md says what is tried.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Says no to all of this.
const SKIP: &str = "TREERING_NO_BROWSER";
const REMEDY: &str = "or set TREERING_NO_BROWSER=1 to skip the browser tests";

/// Installs what is missing, builds the program and lets a browser open its report.
pub(crate) fn run() -> bool {
    if std::env::var_os(SKIP).is_some_and(|value| value == "1") {
        eprintln!("browser tests skipped, because {SKIP} is 1");
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
            install(&["nodejs", "npm"])?;
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
    install(&["chromium"])?;
    find(&NAMES).ok_or(format!(
        "there is no Chromium; install it, name one with the variable CHROMIUM, {REMEDY}"
    ))
}

/// The first of these programs that is on the path.
fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut all = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.find(|file| file.is_file())
}

/// Installs packages where the system has `apt-get`; without the right to do so it fails with what to do.
fn install(packages: &[&str]) -> Result<(), String> {
    let names = packages.join(" ");
    let remedy = format!(
        "{names} cannot be installed here; install it yourself (Debian: apt-get install {names}), {REMEDY}"
    );
    find(&["apt-get"]).ok_or(remedy.clone())?;
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive");
        done(&mut command, "apt-get").map_err(|_| remedy.clone())
    };
    apt(&["update", "-qq"])?;
    apt(&[
        ["install", "-y", "-qq", "--no-install-recommends"].as_slice(),
        packages,
    ]
    .concat())
}

fn done(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what}: {status}")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
