//! The write side: whoever holds the lock may change the model.
//!
//! The lock is the kernel's, on an empty file: it ends with the process, however that ends, so there is nothing to clean up and no stale lock
//! to guess about. The file stays where it is, because removing it would let two writers hold locks on two files of one name.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Fault, Result};
use crate::files::{names_in, sync_folder};
use crate::layout::{self, Beginning};
use crate::manifest::Manifest;
use crate::model::{Model, check_folder, check_model};
use crate::rules::check_name;
use crate::step::Hook;
use crate::tensors::decode;

/// What a new model begins with.
#[derive(Clone, Debug, PartialEq)]
pub struct NewModel {
    /// The learner that the model belongs to.
    pub learner: String,
    /// The learner's parameters.
    pub parameters: Value,
    /// How many feature columns a graph must have.
    pub feature_width: usize,
    /// What else the learner wants to remember about the model.
    pub facts: Value,
    /// The backbone, as [`encode`](crate::encode) made it; none where rings share nothing.
    pub backbone: Option<Vec<u8>>,
}

/// A ring on its way into a model.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRing {
    /// Its name, unique in the model.
    pub name: String,
    /// Its classes; no other ring may have them.
    pub classes: Vec<String>,
    /// What else the learner wants to remember about the ring.
    pub facts: Value,
    /// Its tensors, as [`encode`](crate::encode) made them.
    pub bytes: Vec<u8>,
}

/// A change to a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Adds a ring after all others.
    Add(NewRing),
    /// Puts a ring in the place of another. It gets a number of its own.
    Replace {
        /// The number of the ring that goes.
        number: u32,
        /// The ring that comes.
        ring: NewRing,
    },
    /// Removes a ring.
    Remove {
        /// Its number.
        number: u32,
    },
}

/// The one process that may change a model.
pub struct Writer {
    pub(crate) folder: PathBuf,
    /// What the first commit has yet to write.
    pub(crate) head: Option<NewModel>,
    pub(crate) model: Option<Model>,
    /// Files that the manifest no longer names and that are still there.
    pub(crate) stale: Vec<PathBuf>,
    pub(crate) hook: Option<Hook>,
    _lock: Lock,
}

impl Writer {
    /// Begins a model in a folder that is not there yet, empty, or left behind by a creation that was interrupted. There is no model in it
    /// before the first [`commit`](Writer::commit).
    ///
    /// # Errors
    /// When there is anything else in the folder, when another process is creating a model there, or when the learner's name or the
    /// backbone cannot be used.
    pub fn create(folder: &Path, head: NewModel) -> Result<Writer> {
        check_head(folder, &head)?;
        Writer::reserve(folder)?.with_head(head)
    }

    /// Takes the folder of a new model before there is anything to put into it, so that nobody else begins a model there while the backbone is
    /// being trained. [`with_head`](Writer::with_head) has to come before the first commit.
    ///
    /// # Errors
    /// As [`create`](Writer::create).
    pub fn reserve(folder: &Path) -> Result<Writer> {
        make_folder(folder)?;
        // Asked twice: no lock is put into a folder that is not ours, and another process may have created a model before we had the lock.
        check_beginning(folder)?;
        let lock = lock(folder)?;
        check_beginning(folder)?;
        sweep(folder, None);
        Ok(Writer::new(folder, lock, None, None))
    }

    /// What the first commit to a [reserved](Writer::reserve) folder begins the model with. A model that is there already stays as it is.
    ///
    /// # Errors
    /// When the learner's name or the backbone cannot be used.
    pub fn with_head(mut self, head: NewModel) -> Result<Writer> {
        check_head(&self.folder, &head)?;
        self.head = Some(head);
        Ok(self)
    }

    /// Opens a model for changes, and removes what a killed writer may have left in its folder.
    ///
    /// # Errors
    /// When there is no model, when its manifest cannot be relied on, or when another process is changing it.
    pub fn open(folder: &Path) -> Result<Writer> {
        check_model(folder)?;
        let lock = lock(folder)?;
        let model = Model::open(folder)?;
        // Files go only after the manifest that no longer names them is sure to stay.
        if sync_folder(folder).is_ok() {
            sweep(folder, Some(model.manifest()));
        }
        Ok(Writer::new(folder, lock, None, Some(model)))
    }

    fn new(folder: &Path, lock: Lock, head: Option<NewModel>, model: Option<Model>) -> Writer {
        Writer {
            folder: folder.to_owned(),
            head,
            model,
            stale: Vec::new(),
            hook: None,
            _lock: lock,
        }
    }

    /// The folder of the model.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The model as it is now; `None` before the first commit.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_ref()
    }

    /// The manifest as it is now; `None` before the first commit.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.model.as_ref().map(Model::manifest)
    }

    /// Has `hook` called after every step of a commit; an error from it counts as a failure of that step. For tests.
    pub fn with_hook(mut self, hook: Hook) -> Writer {
        self.hook = Some(hook);
        self
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

fn check_head(folder: &Path, head: &NewModel) -> Result<()> {
    check_name("learner", &head.learner).map_err(|fault| fault.at(folder))?;
    if let Some(backbone) = &head.backbone {
        decode(&folder.join(layout::BACKBONE), backbone)?;
    }
    Ok(())
}

fn make_folder(folder: &Path) -> Result<()> {
    match fs::create_dir(folder) {
        Ok(()) => sync_parent(folder),
        Err(error) => match error.kind() {
            io::ErrorKind::AlreadyExists => check_folder(folder),
            io::ErrorKind::NotFound => Err(Fault::NotFound.at(parent_of(folder))),
            io::ErrorKind::NotADirectory => Err(Fault::IsFile.at(parent_of(folder))),
            _ => Err(Fault::Io(error).at(folder)),
        },
    }
}

/// The new folder's own name must stay on the disk too. A parent that may not be read cannot be synced, and is not ours to mend.
fn sync_parent(folder: &Path) -> Result<()> {
    match sync_folder(parent_of(folder)) {
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => {
            Err(Fault::Io(error).at(parent_of(folder)))
        }
        _ => Ok(()),
    }
}

fn parent_of(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

fn check_beginning(folder: &Path) -> Result<()> {
    if fs::symlink_metadata(folder.join(layout::MANIFEST)).is_ok() {
        return Err(Fault::Exists.at(folder));
    }
    match layout::beginning(folder)? {
        Beginning::Empty | Beginning::Unfinished => Ok(()),
        Beginning::Foreign(found) => Err(Fault::NotOurs { found }.at(folder)),
    }
}

/// Held, not used.
struct Lock(File);

impl Drop for Lock {
    /// Closing the file would not do: a child that another thread is just starting has it open too, for a moment.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

fn lock(folder: &Path) -> Result<Lock> {
    let path = folder.join(layout::LOCK);
    if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
        return Err(Fault::NotAFile.at(path));
    }
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|error| Fault::Io(error).at(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(Fault::Locked.at(folder)),
        Err(TryLockError::Error(error)) => Err(Fault::Io(error).at(path)),
    }
}

/// Removes what a killed writer left: files with names that we give and that the manifest does not have. Anything else in the folder is
/// somebody's and stays. What cannot be removed does no harm.
fn sweep(folder: &Path, manifest: Option<&Manifest>) {
    let rings = folder.join(layout::RINGS);
    for name in names_in(folder).unwrap_or_default() {
        if layout::is_partial_name(&name) || (manifest.is_none() && name == layout::BACKBONE) {
            let _ = fs::remove_file(folder.join(name));
        }
    }
    // Through a link we would sweep somebody else's folder.
    if !fs::symlink_metadata(&rings).is_ok_and(|there| there.is_dir()) {
        return;
    }
    let named: HashSet<PathBuf> = manifest.map_or_else(HashSet::new, |manifest| {
        manifest.files().map(|e| folder.join(&e.file)).collect()
    });
    for name in names_in(&rings).unwrap_or_default() {
        let path = rings.join(&name);
        if layout::is_ring_name(&name) && !named.contains(&path) {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_writer_even_when_a_child_has_a_copy_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = lock(folder.path()).unwrap();
        let copy = first.0.try_clone().unwrap();
        assert!(lock(folder.path()).is_err());
        drop(first);
        assert!(lock(folder.path()).is_ok());
        drop(copy);
    }
}
