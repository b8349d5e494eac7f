//! The Python package in an environment of its own: installed as users install it, then tried by its tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{done, find, install, skipped};

/// Says no to all of this.
const SKIP: &str = "TREERING_NO_PYTHON";
const REMEDY: &str = "or set TREERING_NO_PYTHON=1 to skip the tests of the Python package";

/// Makes the environment, installs the package and what its tests need, and runs them.
pub(crate) fn run() -> bool {
    skipped(SKIP, "tests of the Python package") || {
        let tried = tried();
        if let Err(reason) = &tried {
            eprintln!("error: {reason}");
        }
        tried.is_ok()
    }
}

fn tried() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let place = root.join("target/python-venv");
    environment(&place)?;
    let python = place.join("bin/python");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade"]);
    // As the tests of the crates build them: a release would be built from the ground.
    pip.env("MATURIN_PEP517_ARGS", "--profile dev --locked");
    pip.arg("./python[test]").current_dir(&root);
    done(&mut pip, "installing the Python package")?;
    let mut tests = Command::new(&python);
    // Not from the folder of the sources, where the package would be found without its native part.
    tests.args(["-m", "pytest", "--quiet", "python/tests"]);
    done(tests.current_dir(&root), "the tests of the Python package")
}

/// A virtual environment, made once.
fn environment(place: &Path) -> Result<(), String> {
    if place.join("bin/pip").is_file() {
        return Ok(());
    }
    let python = interpreter()?;
    let made = |python: &Path| {
        let mut command = Command::new(python);
        command.args(["-m", "venv", "--clear"]).arg(place);
        done(&mut command, "making a virtual environment")
    };
    // Debian has the module in a package of its own.
    made(&python).or_else(|_| {
        install(&["python3-venv"], REMEDY)?;
        made(&python)
    })
}

fn interpreter() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("PYTHON") {
        return Ok(named.into());
    }
    if find(&["python3"]).is_none() {
        install(&["python3", "python3-venv"], REMEDY)?;
    }
    find(&["python3"]).ok_or(format!(
        "there is no python3; install Python 3.9 or newer, name one with the variable PYTHON, {REMEDY}"
    ))
}
