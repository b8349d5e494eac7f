//! Programs that steps call, and how those that are missing are installed.

use std::path::PathBuf;
use std::process::Command;

/// Whether a variable asks to leave a step out.
pub(crate) fn skipped(variable: &str, what: &str) -> bool {
    let skipped = std::env::var_os(variable).is_some_and(|value| value == "1");
    if skipped {
        eprintln!("{what} skipped, because {variable} is 1");
    }
    skipped
}

/// The first of these programs that is on the path.
pub(crate) fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut all = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.find(|file| file.is_file())
}

/// Installs packages where the system has `apt-get`; without the right to do so it fails with what to do.
pub(crate) fn install(packages: &[&str], otherwise: &str) -> Result<(), String> {
    let names = packages.join(" ");
    let remedy = format!(
        "{names} cannot be installed here; install it yourself (Debian: apt-get install {names}), {otherwise}"
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

pub(crate) fn done(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what}: {status}")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}
