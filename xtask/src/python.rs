//! The Python package in an environment of its own: installed as users install it, then tried by its tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools::{done, find, install, skipped};

/// Says no to all of this.
const SKIP: &str = "TREERING_NO_PYTHON";
const REMEDY: &str = "or set TREERING_NO_PYTHON=1 to skip the tests of the Python package";

const REQUIREMENTS: &str = "python/tests/requirements.txt";

/// What lists of jobs run on, and what their tests need.
const ENGINES: [&str; 4] = ["ray==2.60.0", "numpy", "pytest", "pytest-timeout"];
const SKIP_ENGINES: &str = "TREERING_NO_ENGINES";

/// What `packages` tries, pinned to what works with Debian's torch, which needs no GPU libraries. Their dependencies beside torch are named, because pip would bring another torch.
const PACKAGES: [&str; 2] = ["torch_geometric==2.4.0", "dgl==1.1.1"];
const NEEDED: [&str; 8] = [
    // Torch of that time knows no other.
    "numpy<2",
    "jinja2",
    "networkx",
    "psutil",
    "pyparsing",
    "requests",
    "scikit-learn",
    "tqdm",
];

/// Makes the environment, installs the package and what its tests need, and runs them.
pub(crate) fn run() -> bool {
    skipped(SKIP, "tests of the Python package") || told(tried())
}

/// The tests on Ray that are short enough for every change, in an environment of their own: Ray is large, and the other tests do without.
pub(crate) fn engines() -> bool {
    skipped(SKIP, "tests on Ray") || skipped(SKIP_ENGINES, "tests on Ray") || told(tried_engines())
}

/// The tests with PyG's and DGL's own graphs, in an environment of their own.
pub(crate) fn packages() -> bool {
    told(tried_packages())
}

fn told(tried: Result<(), String>) -> bool {
    if let Err(reason) = &tried {
        eprintln!("error: {reason}");
    }
    tried.is_ok()
}

fn tried() -> Result<(), String> {
    let place = root().join("target/python-venv");
    environment(&place, &interpreter()?, &[])?;
    pip(&place, &["--requirement", REQUIREMENTS])?;
    put_in_place(&place)?;
    pytest(&place, "python/tests", &[])
}

/// Puts the package where pip would put it. pip would have it built anew from the ground, because packages that are built alone have dependencies with other features: minutes more
/// on every new machine. The step `packages` installs it with pip.
fn put_in_place(place: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = [
        "build",
        "--workspace",
        "--lib",
        "--tests",
        "--locked",
        "--quiet",
    ];
    done(Command::new(cargo).args(build), "building the package")?;
    let mut asked = Command::new(place.join("bin/python"));
    let asked = asked.args([
        "-c",
        "import sysconfig; print(sysconfig.get_path('platlib'))",
    ]);
    let told = asked.output().map_err(|error| format!("python: {error}"))?;
    let target = Path::new(String::from_utf8_lossy(&told.stdout).trim()).join("treering");
    // This program is beside what was built.
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let library = format!(
        "{}_native{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let native = own.with_file_name(library);
    copied(&root().join("python/treering"), &native, &target)
        .map_err(|error| format!("{}: {error}", target.display()))
}

fn copied(sources: &Path, native: &Path, target: &Path) -> std::io::Result<()> {
    if target.exists() {
        std::fs::remove_dir_all(target)?;
    }
    std::fs::create_dir_all(target)?;
    for entry in std::fs::read_dir(sources)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), target.join(entry.file_name()))?;
        }
    }
    std::fs::copy(native, target.join("_native.abi3.so")).map(drop)
}

fn tried_engines() -> Result<(), String> {
    let place = root().join("target/engines-venv");
    environment(&place, &interpreter()?, &[])?;
    pip(&place, &ENGINES)?;
    put_in_place(&place)?;
    pytest(&place, "python/tests/engines", &["-m", "not slow"])
}

fn tried_packages() -> Result<(), String> {
    let place = root().join("target/python-packages");
    // The system's own: its torch is for no other.
    let python = PathBuf::from("/usr/bin/python3");
    let mut torch = Command::new(&python);
    if done(torch.args(["-c", "import torch"]), "looking for torch").is_err() {
        install(
            &["python3-torch", "python3-venv"],
            "or go without this step",
        )?;
    }
    environment(&place, &python, &["--system-site-packages"])?;
    let package = ["./python", "--requirement", REQUIREMENTS];
    pip(&place, &[&package[..], &NEEDED].concat())?;
    pip(&place, &[&["--no-deps"], &PACKAGES[..]].concat())?;
    let mut there = Command::new(place.join("bin/python"));
    there.args(["-c", "import torch_geometric, dgl"]);
    done(there.env("DGLBACKEND", "pytorch"), "using PyG and DGL")?;
    pytest(&place, "python/tests/test_real_packages.py", &[])
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn pip(place: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut pip = Command::new(place.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade"]);
    let what = format!("installing {}", arguments.join(" "));
    done(pip.args(arguments).current_dir(root()), &what)
}

fn pytest(place: &Path, tests: &str, words: &[&str]) -> Result<(), String> {
    let mut pytest = Command::new(place.join("bin/python"));
    // Not from the folder of the sources, where the package would be found without its native part.
    pytest.args(["-m", "pytest", "--quiet", tests]).args(words);
    pytest.env("DGLBACKEND", "pytorch").current_dir(root());
    done(&mut pytest, "the tests of the Python package")
}

/// A virtual environment, made once.
fn environment(place: &Path, python: &Path, options: &[&str]) -> Result<(), String> {
    if place.join("bin/pip").is_file() {
        return Ok(());
    }
    let made = || {
        let mut command = Command::new(python);
        command.args(["-m", "venv", "--clear"]).args(options);
        done(command.arg(place), "making a virtual environment")
    };
    // Debian has the module in a package of its own.
    made().or_else(|_| {
        install(&["python3-venv"], REMEDY)?;
        made()
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
