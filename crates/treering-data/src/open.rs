//! Opening files: what is no plain file with something in it is refused at once, with the reason.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::{Fault, Progress, Result};

/// Opens a file for reading. A folder is refused here, because the system would do so only at the first read; a pipe
/// too, because most readers go back to the beginning.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    let told = |error| Fault::from_io(error).at(path);
    let metadata = std::fs::metadata(path).map_err(told)?;
    if metadata.is_dir() {
        return Err(Fault::IsFolder.at(path));
    }
    if !metadata.is_file() {
        let found = "a pipe or a device".into();
        return Err(Fault::UnknownFormat { found }.at(path));
    }
    if metadata.len() == 0 {
        return Err(Fault::Empty.at(path));
    }
    File::open(path).map_err(told)
}

/// A file that tells how much of it has been read.
pub(crate) struct Counted<'a> {
    file: File,
    progress: &'a dyn Progress,
}

impl<'a> Counted<'a> {
    pub(crate) fn new(file: File, progress: &'a dyn Progress) -> Self {
        Counted { file, progress }
    }
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
