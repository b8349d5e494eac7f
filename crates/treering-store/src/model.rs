//! The read side: a folder and the manifest that was in it when it was opened.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use treering_data::nearest;

use crate::error::{Fault, Result, StoreError};
use crate::files::{names_in, read_entry};
use crate::layout::{self, Beginning};
use crate::manifest::{FileEntry, Manifest, RingEntry};
use crate::tensors::{Tensors, decode};

/// A model that can be read.
///
/// Any number of readers may be at work, also while a writer commits: files are never rewritten, so a reader sees the model that it
/// opened. Only when a ring was removed or replaced meanwhile does reading it fail, with an error that
/// [`is_changed`](StoreError::is_changed); then the model is to be opened again.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    folder: PathBuf,
    manifest: Manifest,
}

/// What [`Model::verify`] found out about one file.
#[derive(Debug)]
pub struct Finding {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub fault: Option<StoreError>,
    /// Whether it is not part of the model. Such files do no harm: an interrupted writer leaves them, and the next one removes its own.
    pub leftover: bool,
}

impl Model {
    /// Opens a model: reads and checks its manifest, and none of the other files yet.
    ///
    /// # Errors
    /// When there is no model in the folder, or its manifest cannot be relied on.
    pub fn open(folder: &Path) -> Result<Model> {
        check_model(folder)?;
        Ok(Model {
            folder: folder.to_owned(),
            manifest: Manifest::read(folder)?,
        })
    }

    pub(crate) fn from_parts(folder: &Path, manifest: Manifest) -> Model {
        Model {
            folder: folder.to_owned(),
            manifest,
        }
    }

    /// What the model consists of.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The folder of the model.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads the backbone, once its size and checksum are found right; none where rings share nothing.
    ///
    /// # Errors
    /// When the file is not the one that was written.
    pub fn backbone(&self) -> Result<Option<Tensors>> {
        let entry = self.manifest.backbone.as_ref();
        entry.map(|entry| self.tensors(entry)).transpose()
    }

    /// Reads a ring, once its size and checksum are found right.
    ///
    /// # Errors
    /// When the file is not the one that was written.
    pub fn ring(&self, ring: &RingEntry) -> Result<Tensors> {
        self.tensors(&ring.file)
    }

    /// The bytes of the backbone's file, once its size and checksum are found right.
    ///
    /// # Errors
    /// When the file is not the one that was written.
    pub fn backbone_bytes(&self) -> Result<Option<Vec<u8>>> {
        let entry = self.manifest.backbone.as_ref();
        entry.map(|entry| self.bytes(entry)).transpose()
    }

    /// The bytes of a ring's file, once its size and checksum are found right.
    ///
    /// # Errors
    /// When the file is not the one that was written.
    pub fn ring_bytes(&self, ring: &RingEntry) -> Result<Vec<u8>> {
        self.bytes(&ring.file)
    }

    fn tensors(&self, entry: &FileEntry) -> Result<Tensors> {
        decode(&self.folder.join(&entry.file), &self.bytes(entry)?)
    }

    fn bytes(&self, entry: &FileEntry) -> Result<Vec<u8>> {
        read_entry(&self.folder, entry).map_err(|error| match *error.fault {
            Fault::Missing if self.is_outdated() => Fault::Changed.at(&self.folder),
            _ => error,
        })
    }

    /// Whether the folder has another manifest by now.
    fn is_outdated(&self) -> bool {
        Manifest::read(&self.folder).is_ok_and(|manifest| manifest != self.manifest)
    }

    /// Finds a ring by its number (`3` or `0003`) or by its name.
    ///
    /// # Errors
    /// When there is none, or when the text is the number of one ring and the name of another.
    pub fn find(&self, task: &str) -> Result<&RingEntry> {
        let rings = &self.manifest.rings;
        let digits = task.bytes().all(|byte| byte.is_ascii_digit());
        let number: Option<u32> = task.parse().ok().filter(|_| digits);
        let by_number = rings.iter().find(|ring| Some(ring.number) == number);
        let by_name = rings.iter().find(|ring| ring.name == task);
        let fault = match (by_number, by_name) {
            (Some(a), Some(b)) if a.number != b.number => Fault::Ambiguous {
                task: task.to_owned(),
                name: a.name.clone(),
                number: b.number,
            },
            (Some(ring), _) | (None, Some(ring)) => return Ok(ring),
            (None, None) => self.no_ring(task),
        };
        Err(fault.at(&self.folder))
    }

    fn no_ring(&self, task: &str) -> Fault {
        const SHOWN: usize = 3;
        let names = || self.manifest.rings.iter().map(|ring| ring.name.as_str());
        let mut near = nearest(task, names());
        if near.is_empty() {
            near = names().take(SHOWN).map(str::to_owned).collect();
        }
        let task = task.to_owned();
        Fault::NoRing { task, near }
    }

    /// Checks every file of the model, and lists the files in its folder that are not part of it.
    pub fn verify(&self) -> Vec<Finding> {
        let manifest = Finding {
            file: self.folder.join(layout::MANIFEST),
            fault: self.verify_manifest().err(),
            leftover: false,
        };
        let files = self.manifest.files().map(|entry| Finding {
            file: self.folder.join(&entry.file),
            fault: self.tensors(entry).err(),
            leftover: false,
        });
        let mut findings: Vec<Finding> = std::iter::once(manifest).chain(files).collect();
        let mut known: HashSet<PathBuf> = findings.iter().map(|found| found.file.clone()).collect();
        known.extend([layout::LOCK, layout::RINGS].map(|name| self.folder.join(name)));
        for folder in [self.folder.clone(), self.folder.join(layout::RINGS)] {
            findings.extend(leftovers(&folder, &known));
        }
        findings
    }

    /// The manifest may have been damaged after it was read.
    fn verify_manifest(&self) -> Result<()> {
        match Manifest::read(&self.folder)? == self.manifest {
            true => Ok(()),
            false => Err(Fault::Changed.at(&self.folder)),
        }
    }
}

/// What lies in a folder beside the known files.
fn leftovers(folder: &Path, known: &HashSet<PathBuf>) -> Vec<Finding> {
    let finding = |file: PathBuf, fault: Option<StoreError>| Finding {
        file,
        leftover: fault.is_none(),
        fault,
    };
    match names_in(folder) {
        Ok(names) => names
            .iter()
            .map(|name| folder.join(name))
            .filter(|file| !known.contains(file))
            .map(|file| finding(file, None))
            .collect(),
        // A model without rings need not have a folder for them.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            let fault = Fault::Io(error).at(folder);
            vec![finding(folder.to_owned(), Some(fault))]
        }
    }
}

/// Whether there is a manifest in a folder; says what the folder is when there is none.
pub(crate) fn check_model(folder: &Path) -> Result<()> {
    check_folder(folder)?;
    let manifest = folder.join(layout::MANIFEST);
    match fs::symlink_metadata(&manifest) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match layout::beginning(folder)? {
            // A first commit has just been completed.
            Beginning::Foreign(name) if name == layout::MANIFEST => Ok(()),
            Beginning::Unfinished => Err(Fault::Unfinished.at(folder)),
            Beginning::Empty | Beginning::Foreign(_) => Err(Fault::NotAModel.at(folder)),
        },
        Err(error) => Err(Fault::Io(error).at(manifest)),
    }
}

/// Whether a folder is there.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    match fs::metadata(folder) {
        Ok(there) if there.is_dir() => Ok(()),
        Ok(_) => Err(Fault::IsFile.at(folder)),
        Err(error) => Err(match error.kind() {
            io::ErrorKind::NotFound => Fault::NotFound,
            io::ErrorKind::NotADirectory => Fault::IsFile,
            _ => Fault::Io(error),
        }
        .at(folder)),
    }
}
