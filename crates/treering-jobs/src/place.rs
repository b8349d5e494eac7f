//! Putting files and folders in place, in one step.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::JobsError;
use crate::error::at;

/// The ending of what is not complete.
const PARTIAL: &str = ".partial";

/// A name beside `path` that nobody else has, on any machine that sees the folder.
pub(crate) fn beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos());
    let host = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let host: String = host.chars().take(8).collect();
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    path.with_file_name(format!(
        "{}{host}-{process}-{now:x}-{number}{PARTIAL}",
        prefix(path)
    ))
}

fn prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}.")
}

/// Removes what was left half written by those who were killed. Whoever is still at it finds its work done by another.
pub(crate) fn sweep(path: &Path) {
    let folder = path.parent().unwrap_or(Path::new("."));
    let prefix = prefix(path);
    let names = fs::read_dir(folder).into_iter().flatten();
    for entry in names.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&prefix) && name.ends_with(PARTIAL) {
            // Its name goes first, at once: a folder that is removed file by file could be put in place half empty by whoever fills it.
            let gone = beside(path);
            if fs::rename(entry.path(), &gone).is_ok() {
                remove(&gone);
            }
        }
    }
}

/// Removes a file or folder, if it is there.
pub(crate) fn remove(path: &Path) {
    let _ = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
}

/// Writes a small file.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), JobsError> {
    let partial = beside(path);
    let written = fs::write(&partial, bytes).and_then(|()| settle(&partial, path));
    if written.is_err() {
        remove(&partial);
    }
    written.map_err(at(path))
}

/// Gives what is complete its name, once it is on the disk.
pub(crate) fn settle(partial: &Path, path: &Path) -> io::Result<()> {
    sync(partial)?;
    match fs::rename(partial, path) {
        // A folder cannot be renamed over another one, but the two can change places.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
            exchange(partial, path)?;
            remove(partial);
        }
        // Something that cannot be a part is in its place.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::IsADirectory | ErrorKind::NotADirectory
            ) =>
        {
            remove(path);
            fs::rename(partial, path)?;
        }
        done => done?,
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        // Some network file systems cannot.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => instead(a, b),
        done => Ok(done?),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    instead(a, b)
}

/// In two steps; a seal says whether both were made.
fn instead(a: &Path, b: &Path) -> io::Result<()> {
    fs::remove_dir_all(b)?;
    fs::rename(a, b)
}

fn sync(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            sync(&entry?.path())?;
        }
    }
    File::open(path)?.sync_all()
}
