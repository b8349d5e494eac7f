//! What the file system says about a file, so that it is not read again and again to know that it is still the same.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Size, place and times of a file. The system sets the time of the last change itself, whatever a program says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    bytes: u64,
    place: u64,
    /// Seconds and nanoseconds of the last change of the content, and of anything about the file.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Of a file; none of a folder, which is not a file alone, or where the system does not tell.
    #[cfg(unix)]
    pub(crate) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let there = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Stamp {
            bytes: there.len(),
            place: there.ino(),
            modified: (there.mtime(), there.mtime_nsec()),
            changed: (there.ctime(), there.ctime_nsec()),
        })
    }

    #[cfg(not(unix))]
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let _ = fs::metadata(path);
        None
    }
}
