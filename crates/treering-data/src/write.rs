//! One door for all writers. Nothing appears under its final name before it is complete.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use treering_graph::Graph;

use crate::folder::{Table, write_folder};
use crate::native::write_native;
use crate::npz::write_npz;
use crate::{Context, Fault, Result};

/// The layouts that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFormat {
    /// One file, mapped into memory when read.
    Native,
    /// The gnn-benchmark archive.
    Npz,
    /// A folder of tables.
    Folder(Table),
}

impl WriteFormat {
    /// The layout that a path's ending asks for: `.treering`, `.npz`, otherwise a folder of Parquet tables.
    pub fn from_path(path: &Path) -> WriteFormat {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("treering") => WriteFormat::Native,
            Some("npz") => WriteFormat::Npz,
            _ => WriteFormat::Folder(Table::Parquet),
        }
    }

    /// A name with the ending that this layout has.
    pub(crate) fn file_name(self, stem: &str) -> String {
        match self {
            WriteFormat::Native => format!("{stem}.treering"),
            WriteFormat::Npz => format!("{stem}.npz"),
            WriteFormat::Folder(_) => stem.to_owned(),
        }
    }
}

/// Writes `graph` to `path` under a temporary name beside it, then renames.
///
/// # Errors
/// When something is there already and `force` is off, or when writing fails; then nothing is left behind.
pub fn write(
    graph: &Graph,
    path: &Path,
    format: WriteFormat,
    force: bool,
    context: &Context<'_>,
) -> Result<()> {
    replace(path, force, |partial| match format {
        WriteFormat::Native => write_native(graph, partial, context),
        WriteFormat::Npz => write_npz(graph, partial, context),
        WriteFormat::Folder(table) => {
            fs::create_dir(partial).map_err(|error| Fault::from_io(error).at(partial))?;
            write_folder(graph, partial, table, context)
        }
    })
}

/// Whether something can be written at `path`: asked before long work, and again by [`replace`].
///
/// # Errors
/// When `path` is there and `force` is off, when it is a device or a pipe, when it is a folder that holds anything but what this
/// program writes, or when the folder that it should lie in is not there.
pub fn check_target(path: &Path, force: bool) -> Result<()> {
    if let Ok(there) = fs::symlink_metadata(path) {
        // What a link points to is what counts; a broken one has nothing to say.
        let there = if there.is_symlink() {
            fs::metadata(path).unwrap_or(there)
        } else {
            there
        };
        if !there.is_file() && !there.is_dir() {
            return Err(Fault::NotAFile.at(path));
        }
        if !force {
            return Err(Fault::Exists.at(path));
        }
        if there.is_dir() && !is_ours(path) {
            return Err(Fault::NotOurs.at(path));
        }
    }
    let parent = parent_of(path);
    match parent.is_dir() {
        true => Ok(()),
        false => Err(Fault::NotFound.at(parent)),
    }
}

fn parent_of(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Lets `fill` make a file or folder under a temporary name, then puts it in place of `path` in one step.
///
/// # Errors
/// As [`check_target`], or when writing fails. The temporary file is removed then.
pub fn replace(path: &Path, force: bool, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    check_target(path, force)?;
    // A link stays a link: what it points to is replaced.
    let target = fs::canonicalize(path).ok();
    let path = target.as_deref().unwrap_or(path);
    let Some(name) = path.file_name() else {
        return Err(Fault::IsFolder.at(path));
    };
    let hidden = format!(".{}.{}.partial", name.to_string_lossy(), std::process::id());
    let partial = Partial::new(path.with_file_name(hidden));
    fill(&partial.path).map_err(|mut error| {
        // The temporary name is ours, not the caller's.
        if let Ok(inside) = error.file.strip_prefix(&partial.path) {
            error.file = if inside.as_os_str().is_empty() {
                path.to_owned()
            } else {
                path.join(inside)
            };
        }
        error
    })?;
    sync_tree(&partial.path).map_err(|error| Fault::from_io(error).at(path))?;
    let fail = |error: std::io::Error| Fault::from_io(error).at(path);
    match path.is_dir() {
        // A folder cannot be renamed over another one, but the two can change places; the old one then goes with `partial`.
        true => exchange(&partial.path, path).map_err(fail)?,
        false => fs::rename(&partial.path, path).map_err(fail)?,
    }
    // The folder's own entry; its other files are none of our business.
    File::open(parent_of(path))
        .and_then(|folder| folder.sync_all())
        .map_err(fail)
}

#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    fs::remove_dir_all(b)?;
    fs::rename(a, b)
}

/// Waits until a file, or a folder that we just wrote with all that is in it, is on the disk.
fn sync_tree(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            sync_tree(&entry?.path())?;
        }
    }
    File::open(path)?.sync_all()
}

/// Whether a folder is empty or was written by this program and holds nothing else, so that `--force` never removes anything that is
/// not ours.
fn is_ours(folder: &Path) -> bool {
    let Ok(names) = names_in(folder) else {
        return false;
    };
    let marked = |file: &str, format: &str| {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        json["format"] == format
    };
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    if marked("graph.json", "treering folder") {
        const STEMS: [&str; 4] = ["graph", "nodes", "edges", "features"];
        return names
            .iter()
            .all(|name| STEMS.contains(&&*stem(name)) && folder.join(name).is_file());
    }
    if marked("stream.json", "treering stream") {
        return names.iter().all(|name| match name.as_str() {
            "stream.json" | "nodes.csv" => folder.join(name).is_file(),
            "tasks" => are_tasks(&folder.join(name)),
            _ => false,
        });
    }
    names.is_empty()
}

/// Whether a folder holds nothing but graphs called by the numbers of tasks.
fn are_tasks(folder: &Path) -> bool {
    names_in(folder).is_ok_and(|names| {
        names.iter().all(|name| {
            let path = folder.join(name);
            let number = name.trim_end_matches(".treering").trim_end_matches(".npz");
            number.bytes().all(|byte| byte.is_ascii_digit()) && (path.is_file() || is_ours(&path))
        })
    })
}

fn names_in(folder: &Path) -> std::io::Result<Vec<String>> {
    fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

/// Temporary files of this process, for [`discard_partial`].
static PARTIAL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file or folder that is removed when it is dropped before it was renamed.
struct Partial {
    path: PathBuf,
}

impl Partial {
    fn new(path: PathBuf) -> Self {
        remove(&path);
        if let Ok(mut all) = PARTIAL.lock() {
            all.push(path.clone());
        }
        Partial { path }
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        remove(&self.path);
        if let Ok(mut all) = PARTIAL.lock() {
            all.retain(|path| *path != self.path);
        }
    }
}

fn remove(path: &Path) {
    let _ = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
}

/// Removes what unfinished writers of this process have left so far; for a program that is being interrupted. Writers may still be
/// at work, so it looks again until nothing is left.
pub fn discard_partial() {
    const TRIES: usize = 50;
    let Ok(all) = PARTIAL.lock().map(|all| all.clone()) else {
        return;
    };
    for _ in 0..TRIES {
        all.iter().for_each(|path| remove(path));
        if all.iter().all(|path| fs::symlink_metadata(path).is_err()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
