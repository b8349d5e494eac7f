//! Runs as records: one run, one file. A [`RunSpec`] says everything that a result depends on, and its hash is the file's name, so a result
//! that is there is never computed again. [`Folder`] keeps the files, [`Job`] is what one training answers for, [`grid`] has what
//! parameters are chosen from, and a [`GridRecord`] says what was.

mod checksum;
mod folder;
mod folder_error;
pub mod grid;
mod grids;
mod job;
mod lines;
mod place;
mod record;
pub(crate) mod spec;

pub use checksum::checksum;
pub use folder::{Folder, Found};
pub use folder_error::FolderError;
pub use grids::{GridRecord, Tried};
pub use job::{Job, JobError, Taught, jobs};
pub use lines::Line;
pub use record::{About, FORMAT, Measured, Phases, Record, RunResult, Status};
pub use spec::{DataId, RunSpec};
