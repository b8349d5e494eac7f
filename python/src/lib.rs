//! The native half of the Python package `treering`: calls into the crates, and nothing of its own.
//!
//! `treering/*.py` is the other half: what numbers look like in other packages, scikit-learn's manners, pages for notebooks.

mod ask;
mod data;
mod evaluate;
mod failure;
mod given;
mod graph;
mod held;
mod model;
mod shown;
mod state;
mod work;

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the command line to its end and gives its exit code.
///
/// # Arguments
/// * `again`: what starts the same program once more.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>, again: Vec<OsString>) -> u8 {
    let code = py.detach(|| treering_cli::main(arguments, again));
    // An exit code does not tell its number; it can be compared.
    let same = |number: &u8| ExitCode::from(*number) == code;
    (0..=u8::MAX).find(same).unwrap_or(1)
}

/// The mean over classes of the share of right answers, as a share; not a number where there is no node.
#[pyfunction]
fn balanced_accuracy(classes: usize, truth: Vec<usize>, right: Vec<bool>) -> Option<f64> {
    let known = truth
        .into_iter()
        .zip(right)
        .filter(|(class, _)| *class < classes);
    treering_eval::balanced_accuracy(classes, known).map(|percent| percent / 100.0)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add(
        "TreeringError",
        module.py().get_type::<failure::TreeringError>(),
    )?;
    module.add_class::<graph::Graph>()?;
    module.add_class::<data::Stream>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<shown::Task>()?;
    module.add_class::<shown::Query>()?;
    module.add_function(wrap_pyfunction!(data::read, module)?)?;
    module.add_function(wrap_pyfunction!(data::synth, module)?)?;
    module.add_function(wrap_pyfunction!(model::defaults, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(balanced_accuracy, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)
}
