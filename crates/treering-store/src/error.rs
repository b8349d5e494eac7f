//! What can be wrong with a model directory, where, and what to do about it.
//!
//! As in `treering-data`: the code says what is wrong ([`Fault`]) with which file; the sentence and the remedy are made here, once.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use treering_data::{human_bytes, shortened};

use crate::manifest::FORMAT;

/// Something wrong with a model directory or a file in it.
#[derive(Debug)]
pub struct StoreError {
    /// The file or folder.
    pub file: PathBuf,
    /// The tensor in the file.
    pub tensor: Option<String>,
    /// What is wrong. Boxed to keep results small.
    pub fault: Box<Fault>,
}

/// The result of everything that touches a model directory.
pub type Result<T> = std::result::Result<T, StoreError>;

/// What is wrong.
#[derive(Debug)]
pub enum Fault {
    /// There is no such folder.
    NotFound,
    /// A file where the folder should be.
    IsFile,
    /// A folder that holds no model.
    NotAModel,
    /// A folder in which a model was begun and never finished.
    Unfinished,
    /// A folder that holds a model already.
    Exists,
    /// A folder with files that are not ours, so that no model is begun in it.
    NotOurs {
        /// One of these files.
        found: String,
    },
    /// Another process is changing the model.
    Locked,
    /// The system said no: permission, device, disk.
    Io(io::Error),
    /// A file that the manifest names is not there.
    Missing,
    /// A folder, a link, a pipe or a device where a file should be.
    NotAFile,
    /// The model was changed by another process after it was opened.
    Changed,
    /// The file is shorter than the manifest says.
    Truncated {
        /// How many bytes are there.
        found: u64,
        /// How many there should be.
        expected: u64,
    },
    /// The file is longer than the manifest says.
    Longer {
        /// How many bytes are there.
        found: u64,
        /// How many there should be.
        expected: u64,
    },
    /// The bytes are not those that were written.
    Checksum,
    /// The content cannot be decoded, or contradicts itself.
    Damaged {
        /// What the decoder said.
        why: String,
    },
    /// A model of another version of the format.
    Format {
        /// The version found.
        found: u64,
        /// The program that wrote it, where it says so.
        program: Option<String>,
    },
    /// A manifest that names a file which cannot be part of the model.
    BadPath {
        /// The path.
        path: String,
    },
    /// A file or memory that would become too large.
    TooLarge {
        /// How many bytes it takes.
        bytes: u64,
        /// How many it may take.
        limit: u64,
    },
    /// Parameters or facts that a manifest cannot hold.
    CannotHold {
        /// Why not.
        why: String,
    },
    /// More memory than the system gives.
    NoMemory {
        /// How many bytes were asked for.
        bytes: u64,
    },
    /// A tensor that must be there is not.
    MissingTensor {
        /// What is there.
        available: Vec<String>,
    },
    /// An element type that cannot stand here.
    WrongType {
        /// The type found.
        found: String,
        /// The type that can stand here.
        expected: &'static str,
    },
    /// A shape that cannot stand here.
    WrongShape {
        /// The shape found.
        found: Vec<usize>,
        /// The shape that can stand here; `None` is any length.
        expected: Vec<Option<usize>>,
    },
    /// A value that is NaN or infinite.
    NotFinite {
        /// Its position in the tensor, from 0.
        position: usize,
    },
    /// A name that a ring, a class or a learner cannot have.
    BadName {
        /// Of what it is the name.
        what: &'static str,
        /// The name.
        name: String,
        /// Why not.
        why: &'static str,
    },
    /// A name that two rings would have.
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A class that would be in two rings, or twice in one.
    DuplicateClass {
        /// The class.
        class: String,
        /// The ring that has it.
        ring: String,
        /// The ring that would have it too.
        other: String,
    },
    /// No ring has this number or name.
    NoRing {
        /// What was asked for.
        task: String,
        /// Names that look like it, or else some of those that are there.
        near: Vec<String>,
    },
    /// The number of one ring and the name of another.
    Ambiguous {
        /// What was asked for.
        task: String,
        /// The name of the ring that has this number.
        name: String,
        /// The number of the ring that has this name.
        number: u32,
    },
    /// All numbers of rings are used.
    Full,
}

impl Fault {
    /// Puts the fault into a file.
    pub fn at(self, file: impl AsRef<Path>) -> StoreError {
        StoreError {
            file: file.as_ref().to_owned(),
            tensor: None,
            fault: Box::new(self),
        }
    }

    /// What the person can do.
    fn remedy(&self) -> String {
        match self {
            Fault::NotFound => "Check the spelling, or make it first".into(),
            Fault::IsFile => "Name the folder of a model".into(),
            Fault::NotAModel => "Name a folder with a `manifest.json` that Treering wrote".into(),
            Fault::Unfinished => "Wait where another process is at work, and bring a lost manifest.json back; otherwise learn again into the same folder, which removes what is left there".into(),
            Fault::Exists => "Name another folder, or add to this model".into(),
            Fault::NotOurs { .. } => "Name a folder that is empty or not there yet".into(),
            Fault::Locked => "Wait until it has finished, then try again; reading is possible meanwhile".into(),
            Fault::Io(error) => io_remedy(error).into(),
            Fault::Missing | Fault::Truncated { .. } | Fault::Longer { .. } | Fault::Checksum | Fault::Damaged { .. } => {
                "Put the file back from a copy of the model; the task of a damaged ring can also be learned again in its place".into()
            }
            Fault::NotAFile => "Put the file itself there; links are not followed out of a model".into(),
            Fault::Changed => "Open it again".into(),
            Fault::Format { .. } => "Use the version of treering that wrote it, or learn the model again".into(),
            Fault::BadPath { .. } => "Do not use this model: Treering never writes such a path. Get it from its source again".into(),
            Fault::TooLarge { .. } => "Keep fewer or shorter facts, or spread the rings over several models".into(),
            Fault::CannotHold { .. } => "Keep them as plain fields, not nested deeper than a hundred levels".into(),
            Fault::NoMemory { .. } => "Use a machine with more memory, or end other programs".into(),
            Fault::MissingTensor { .. } | Fault::WrongType { .. } | Fault::WrongShape { .. } => {
                "The file belongs to another learner or to other parameters; learn the model again with this one".into()
            }
            Fault::NotFinite { .. } => "Learn the task again, with a smaller learning rate or with scaled features".into(),
            Fault::BadName { .. } => "Choose another name".into(),
            Fault::DuplicateName { .. } => "Choose another name, or replace that ring".into(),
            Fault::DuplicateClass { ring, other, .. } if ring == other => "Give every class once".into(),
            Fault::DuplicateClass { .. } => "Replace that ring, or leave the class out".into(),
            Fault::NoRing { near, .. } if near.is_empty() => "The model has no rings yet".into(),
            Fault::NoRing { near, .. } => format!("There is {}; a number works too", quoted(near)),
            Fault::Ambiguous { name, number, .. } => {
                format!("Write `{}` for the one or `{number:04}` for the other", shortened(name))
            }
            Fault::Full => "Begin a new model".into(),
        }
    }
}

fn io_remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "Give yourself the right to it, or work on a copy in another place"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "The model is as it was; make room on the disk, then try again"
        }
        _ => "The model is as it was; try again once the cause is gone",
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", shortened(name)))
        .collect();
    names.join(", ")
}

impl StoreError {
    /// Names the tensor.
    pub fn tensor(mut self, name: impl Into<String>) -> Self {
        self.tensor = Some(name.into());
        self
    }

    /// Whether the system failed, rather than the call or the files being wrong. A missing right is the caller's to mend.
    pub fn is_system(&self) -> bool {
        match &*self.fault {
            Fault::Io(error) => error.kind() != io::ErrorKind::PermissionDenied,
            Fault::NoMemory { .. } => true,
            _ => false,
        }
    }

    /// Whether another process changed the model after it was opened, so that opening it again helps.
    pub fn is_changed(&self) -> bool {
        matches!(*self.fault, Fault::Changed)
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(tensor) = &self.tensor {
            write!(f, ", tensor `{}`", shortened(tensor))?;
        }
        write!(f, ": {}. {}.", self.fault, self.fault.remedy())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotFound => write!(f, "there is no such folder"),
            Fault::IsFile => write!(f, "this is a file, not the folder of a model"),
            Fault::NotAModel => write!(f, "this folder holds no model"),
            Fault::Unfinished => write!(
                f,
                "there is no manifest.json: this model is being made right now, or its making was interrupted, or the file was lost"
            ),
            Fault::Exists => write!(f, "there is a model here already"),
            Fault::NotOurs { found } => {
                write!(f, "this folder holds other things (`{}`)", shortened(found))
            }
            Fault::Locked => write!(f, "another process is changing this model"),
            Fault::Io(error) => write!(f, "{error}"),
            Fault::Missing => write!(f, "the file is missing"),
            Fault::NotAFile => write!(
                f,
                "this is a folder, a link, a pipe or a device, not a file"
            ),
            Fault::Changed => write!(
                f,
                "the model was changed by another process while it was being read"
            ),
            Fault::Truncated { found, expected } => {
                write!(f, "only {found} of {expected} bytes are there")
            }
            Fault::Longer { found, expected } => {
                write!(f, "{found} bytes are there, {expected} were written")
            }
            Fault::Checksum => write!(
                f,
                "the content has changed since it was written (its checksum is wrong)"
            ),
            Fault::Damaged { why } => write!(f, "the content is damaged: {why}"),
            Fault::Format { found, program } => {
                write!(f, "made by version {found} of the format")?;
                if let Some(program) = program {
                    write!(f, " (treering {})", shortened(program))?;
                }
                write!(f, "; this program reads {FORMAT}")
            }
            Fault::BadPath { path } => {
                write!(
                    f,
                    "`{}` cannot be the name of a file of this model",
                    shortened(path)
                )
            }
            Fault::TooLarge { bytes, limit } => {
                let (bytes, limit) = (human_bytes(*bytes), human_bytes(*limit));
                write!(f, "it takes {bytes}, and {limit} is the most")
            }
            Fault::CannotHold { why } => {
                write!(f, "the parameters or facts cannot be stored: {why}")
            }
            Fault::NoMemory { bytes } => {
                write!(f, "there is no memory for {}", human_bytes(*bytes))
            }
            Fault::MissingTensor { available } => {
                let shown = &available[..available.len().min(12)];
                match shown.is_empty() {
                    true => write!(f, "it is missing, as is every other"),
                    false => write!(f, "it is missing (there: {})", quoted(shown)),
                }
            }
            Fault::WrongType { found, expected } => {
                write!(f, "elements are of type {found}, not {expected}")
            }
            Fault::WrongShape { found, expected } => {
                let length =
                    |length: &Option<usize>| length.map_or("any".into(), |n| n.to_string());
                let expected: Vec<String> = expected.iter().map(length).collect();
                write!(f, "the shape is {found:?}, not [{}]", expected.join(", "))
            }
            Fault::NotFinite { position } => {
                write!(f, "the value at position {position} is not a finite number")
            }
            Fault::BadName { what, name, why } => {
                write!(
                    f,
                    "`{}` cannot be the name of a {what}: {why}",
                    shortened(name)
                )
            }
            Fault::DuplicateName { name } => {
                write!(f, "there is a ring called `{}` already", shortened(name))
            }
            Fault::DuplicateClass { class, ring, other } if ring == other => {
                write!(
                    f,
                    "class `{}` is given twice in ring `{}`",
                    shortened(class),
                    shortened(ring)
                )
            }
            Fault::DuplicateClass { class, ring, other } => write!(
                f,
                "class `{}` of ring `{}` is in ring `{}` already",
                shortened(class),
                shortened(other),
                shortened(ring)
            ),
            Fault::NoRing { task, .. } => write!(f, "there is no ring `{}`", shortened(task)),
            Fault::Ambiguous { task, name, number } => write!(
                f,
                "`{}` is the number of ring `{}` and the name of ring {number:04}",
                shortened(task),
                shortened(name)
            ),
            Fault::Full => write!(f, "all numbers for rings are used"),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.fault {
            Fault::Io(error) => Some(error),
            _ => None,
        }
    }
}
