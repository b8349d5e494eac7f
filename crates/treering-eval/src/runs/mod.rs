//! Runs as records: one run, one file. A [`RunSpec`] says everything that a result depends on, and its hash is the file's name, so a result
//! that is there is never computed again. [`Folder`] keeps the files, [`Job`] is what one training answers for, [`grid`] has what
//! parameters are chosen from.

mod checksum;
mod folder;
pub mod grid;
mod job;
mod lines;
mod record;
mod spec;

pub use checksum::checksum;
pub use folder::{Folder, FolderError, Found};
pub use job::{Job, JobError, Taught, jobs};
pub use lines::line;
pub use record::{Chosen, FORMAT, Measured, Phases, Record, RunResult, Status, Tried};
pub use spec::{DataId, RunSpec};
