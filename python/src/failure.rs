//! What goes wrong, as Python exceptions of fitting kinds with the Rust message.

use std::fmt::Display;
use std::io;

use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyNotADirectoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyTypeError, PyValueError,
};
use treering_data::{DataError, Fault as DataFault, RecipeError, StreamError, SynthError};
use treering_graph::GraphError;
use treering_learn::LearnError;
use treering_learn::saved::SavedError;
use treering_store::{Fault as StoreFault, StoreError};

pyo3::create_exception!(
    treering,
    TreeringError,
    PyValueError,
    "A model that cannot be used as asked, or whose files are wrong."
);

/// An exception on its way to Python. A type of our own, because errors of other crates cannot be made into `PyErr` directly.
#[derive(Debug)]
pub(crate) struct Failure(PyErr);

/// What a call gives.
pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// Input that cannot be right.
    pub(crate) fn value(message: impl Display) -> Self {
        Failure(PyValueError::new_err(message.to_string()))
    }

    /// Input of another kind than can be used.
    pub(crate) fn kind(message: impl Display) -> Self {
        Failure(PyTypeError::new_err(message.to_string()))
    }

    /// A model that cannot do what is asked.
    pub(crate) fn model(message: impl Display) -> Self {
        Failure(TreeringError::new_err(message.to_string()))
    }

    /// A fault of this program or of the system.
    pub(crate) fn system(message: impl Display) -> Self {
        Failure(PyRuntimeError::new_err(message.to_string()))
    }

    fn io(error: &io::Error, message: String) -> Self {
        Failure(match error.kind() {
            io::ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
            io::ErrorKind::PermissionDenied => PyPermissionError::new_err(message),
            _ => PyOSError::new_err(message),
        })
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        failure.0
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure(error)
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let message = error.to_string();
        Failure(match &*error.fault {
            DataFault::NotFound => PyFileNotFoundError::new_err(message),
            DataFault::Exists => {
                PyFileExistsError::new_err(message.replace("--force", "force=True"))
            }
            DataFault::IsFolder => PyIsADirectoryError::new_err(message),
            DataFault::IsFile => PyNotADirectoryError::new_err(message),
            DataFault::Io(error) => return Failure::io(error, message),
            _ => PyValueError::new_err(message),
        })
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        Failure(match &*error.fault {
            StoreFault::NotFound => PyFileNotFoundError::new_err(message),
            StoreFault::Exists => {
                PyFileExistsError::new_err(format!("{message} force=True writes in its place."))
            }
            StoreFault::IsFile => PyNotADirectoryError::new_err(message),
            StoreFault::Locked => PyOSError::new_err(message),
            StoreFault::Io(error) => return Failure::io(error, message),
            _ => TreeringError::new_err(message),
        })
    }
}

impl From<SavedError> for Failure {
    fn from(error: SavedError) -> Self {
        match error {
            SavedError::Store(error) => error.into(),
            other => Failure::model(other),
        }
    }
}

impl From<LearnError> for Failure {
    fn from(error: LearnError) -> Self {
        match error {
            LearnError::Graph(error) => error.into(),
            LearnError::Nothing | LearnError::Width { .. } | LearnError::Diverged { .. } => {
                Failure::model(error)
            }
            other => Failure::value(other),
        }
    }
}

impl From<GraphError> for Failure {
    fn from(error: GraphError) -> Self {
        Failure::value(format!(
            "{error}. Correct the arrays that the graph is made of"
        ))
    }
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        Failure::value(error)
    }
}

impl From<RecipeError> for Failure {
    fn from(error: RecipeError) -> Self {
        Failure::value(error)
    }
}

impl From<SynthError> for Failure {
    fn from(error: SynthError) -> Self {
        match error {
            SynthError::Data(error) => error.into(),
            other => Failure::value(other),
        }
    }
}
