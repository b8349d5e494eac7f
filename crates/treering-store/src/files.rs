//! Reading files that may lie, and making sure that what was written stays written.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{Fault, Result};
use crate::layout;
use crate::manifest::FileEntry;

/// The SHA-256 of some pieces in a row, as 64 hexadecimal digits.
pub(crate) fn sha256(pieces: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    pieces.iter().for_each(|piece| hash.update(piece));
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Opens a file that is a file: links are not followed, and nobody waits for a pipe. Its size is that of what was opened, also when
/// another file takes its name meanwhile.
pub(crate) fn open_file(path: &Path) -> Result<(File, u64)> {
    let fail = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Fault::Missing.at(path),
        io::ErrorKind::NotADirectory => Fault::NotAFile.at(path),
        _ => Fault::Io(error).at(path),
    };
    if !fs::symlink_metadata(path).map_err(fail)?.is_file() {
        return Err(Fault::NotAFile.at(path));
    }
    let file = File::open(path).map_err(fail)?;
    let bytes = file.metadata().map_err(fail)?.len();
    Ok((file, bytes))
}

/// Reads an open file of the size that [`open_file`] found.
pub(crate) fn read_all(path: &Path, file: File, bytes: u64) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    usize::try_from(bytes)
        .ok()
        .and_then(|bytes| content.try_reserve_exact(bytes).ok())
        .ok_or_else(|| Fault::NoMemory { bytes }.at(path))?;
    file.take(bytes.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(|error| Fault::Io(error).at(path))?;
    check_size(path, content.len() as u64, bytes)?;
    Ok(content)
}

/// Reads a file that the manifest names, once it is known to have the size that the manifest says; and refuses it when its bytes are
/// not those that were written.
pub(crate) fn read_entry(folder: &Path, entry: &FileEntry) -> Result<Vec<u8>> {
    let path = folder.join(&entry.file);
    if entry.file.starts_with(layout::RINGS) {
        check_rings_folder(folder)?;
    }
    let (file, bytes) = open_file(&path)?;
    check_size(&path, bytes, entry.bytes)?;
    let content = read_all(&path, file, bytes)?;
    match sha256(&[&content]) == entry.sha256 {
        true => Ok(content),
        false => Err(Fault::Checksum.at(path)),
    }
}

/// A link in place of the folder of rings could lead anywhere.
fn check_rings_folder(folder: &Path) -> Result<()> {
    let path = folder.join(layout::RINGS);
    match fs::symlink_metadata(&path) {
        Ok(there) if there.is_symlink() => Err(Fault::NotAFile.at(path)),
        _ => Ok(()),
    }
}

fn check_size(path: &Path, found: u64, expected: u64) -> Result<()> {
    match found.cmp(&expected) {
        std::cmp::Ordering::Less => Err(Fault::Truncated { found, expected }.at(path)),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(Fault::Longer { found, expected }.at(path)),
    }
}

/// What is in a folder, sorted by name.
pub(crate) fn names_in(folder: &Path) -> io::Result<Vec<OsString>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
    let mut names: Vec<OsString> = names.collect::<io::Result<_>>()?;
    names.sort();
    Ok(names)
}

/// Waits until the names in a folder are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one_however_the_text_is_cut() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&[b"abc"]), abc);
        assert_eq!(sha256(&[b"a", b"", b"bc"]), abc);
    }
}
