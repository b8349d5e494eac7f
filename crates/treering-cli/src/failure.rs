//! What ends a command, and the exit code that tells which kind it was.

use std::fmt::Display;
use std::process::ExitCode;

use treering_data::{DataError, Fault, RecipeError, StreamError, SynthError};
use treering_eval::runs::FolderError;
use treering_learn::LearnError;
use treering_learn::saved::SavedError;
use treering_store::StoreError;

/// Why a command stopped.
pub(crate) enum Failure {
    /// The input or the call is wrong: exit code 2.
    Input(String),
    /// The system failed: exit code 1.
    System(String),
    /// Whoever read the output has stopped reading, as `head` does: no failure at all.
    Closed,
}

impl Failure {
    pub(crate) fn input(error: impl Display) -> Self {
        Failure::Input(error.to_string())
    }

    pub(crate) fn system(error: impl Display) -> Self {
        Failure::System(error.to_string())
    }

    /// With a word about where it happened.
    pub(crate) fn about(self, what: &str) -> Self {
        match self {
            Failure::Input(why) => Failure::Input(format!("{what}: {why}")),
            Failure::System(why) => Failure::System(format!("{what}: {why}")),
            Failure::Closed => Failure::Closed,
        }
    }

    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Input(message) => {
                tell!("error: {message}");
                ExitCode::from(2)
            }
            Failure::System(message) => {
                tell!("error: {message}");
                ExitCode::FAILURE
            }
            Failure::Closed => ExitCode::SUCCESS,
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match *error.fault {
            // A missing right is the caller's to mend; a broken disk is not.
            Fault::Io(ref io) if io.kind() != std::io::ErrorKind::PermissionDenied => {
                Failure::system(error)
            }
            _ => Failure::input(error),
        }
    }
}

/// With its full stop, unless it is a question.
pub(crate) fn sentence(error: impl Display) -> String {
    let message = error.to_string();
    let end = if message.ends_with('?') { "" } else { "." };
    format!("{message}{end}")
}

impl From<StreamError> for Failure {
    fn from(error: StreamError) -> Self {
        Failure::input(sentence(error))
    }
}

impl From<RecipeError> for Failure {
    fn from(error: RecipeError) -> Self {
        Failure::input(error)
    }
}

impl From<SynthError> for Failure {
    fn from(error: SynthError) -> Self {
        Failure::input(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error.is_system() {
            true => Failure::system(error),
            false => Failure::input(error),
        }
    }
}

impl From<SavedError> for Failure {
    fn from(error: SavedError) -> Self {
        match error {
            SavedError::Store(error) => error.into(),
            other => Failure::input(format!("{other}.")),
        }
    }
}

impl From<LearnError> for Failure {
    fn from(error: LearnError) -> Self {
        Failure::input(sentence(error))
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        match error {
            // As above: a missing right is the caller's to mend.
            FolderError::System { error: ref io, .. }
                if io.kind() != std::io::ErrorKind::PermissionDenied =>
            {
                Failure::system(error)
            }
            _ => Failure::input(error),
        }
    }
}
