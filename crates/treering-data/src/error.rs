//! What can be wrong with data, where, and what to do about it.
//!
//! Every error reads: file, place in the file, what is wrong, what to do. A reader says only what is wrong
//! ([`Fault`]) and where; the sentence and the remedy are made here, once.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use treering_graph::GraphError;

/// Something wrong with a file, with its place.
#[derive(Debug)]
pub struct DataError {
    /// The file or folder.
    pub file: PathBuf,
    /// The array or file inside an archive.
    pub member: Option<String>,
    /// The row, counted as a person would see it: line numbers from 1 in text, positions from 0 in arrays.
    pub row: Option<Row>,
    /// The column's name or number.
    pub column: Option<String>,
    /// What is wrong. Boxed to keep results small.
    pub fault: Box<Fault>,
}

/// A place along a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// A line of text, from 1.
    Line(u64),
    /// A row of a table or an array, from 0.
    Index(u64),
}

/// What is wrong.
#[derive(Debug)]
pub enum Fault {
    /// There is nothing under that name.
    NotFound,
    /// A folder where a file should be.
    IsFolder,
    /// A file where a folder should be.
    IsFile,
    /// The system said no: permission, device, disk.
    Io(io::Error),
    /// Nothing that any reader knows.
    UnknownFormat {
        /// What was found instead.
        found: String,
    },
    /// The archive, stream or header cannot be decoded.
    Damaged {
        /// What the decoder said.
        why: String,
    },
    /// The file ends before its content does.
    Truncated {
        /// How much is there.
        found: u64,
        /// How much there should be.
        expected: u64,
        /// Bytes, rows, ...
        unit: &'static str,
    },
    /// A file of 0 bytes, or a table without rows.
    Empty,
    /// A member or file that must be there is not.
    MissingMember {
        /// Its name.
        name: String,
        /// What is there.
        available: Vec<String>,
    },
    /// A column that must be there is not.
    MissingColumn {
        /// What it is for and how it may be called.
        wanted: String,
        /// What is there.
        available: Vec<String>,
        /// The flag that names it.
        flag: &'static str,
    },
    /// A pickled array.
    ObjectArray,
    /// An element type that cannot stand here.
    WrongType {
        /// The type found.
        found: String,
        /// The types that can stand here.
        expected: &'static str,
    },
    /// Numbers stored most significant byte first.
    BigEndian {
        /// The type found.
        found: String,
    },
    /// A matrix stored column by column.
    FortranOrder,
    /// A shape that cannot stand here.
    WrongShape {
        /// The shape found.
        found: Vec<u64>,
        /// The shape that can stand here.
        expected: String,
    },
    /// Two lengths that must agree and do not.
    LengthMismatch {
        /// What was counted.
        what: String,
        /// How many there are.
        found: u64,
        /// How many there should be.
        expected: u64,
        /// What says so.
        because: String,
    },
    /// More memory than this call may use.
    TooLarge {
        /// How many bytes it would take in all.
        bytes: u64,
        /// How many it may take.
        limit: u64,
    },
    /// A file that was mapped is no longer what it was when it was opened.
    ChangedInUse,
    /// A text that is not what the column holds.
    BadValue {
        /// The text.
        text: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A row with another number of fields than the others.
    Ragged {
        /// How many fields it has.
        found: u64,
        /// How many the others have.
        expected: u64,
        /// Whether another delimiter seems to be in use.
        delimiter: Option<char>,
    },
    /// A line that never ends.
    LineTooLong {
        /// The longest line that is read.
        limit: u64,
    },
    /// An id given to two nodes.
    DuplicateId {
        /// The id.
        id: String,
        /// Where it stood before.
        first: Row,
    },
    /// An edge that names a node that is not there.
    UnknownNode {
        /// The id.
        id: String,
    },
    /// A negative class number.
    NegativeLabel {
        /// The number.
        label: i64,
    },
    /// Parts that do not make a graph.
    Graph(GraphError),
    /// A choice that has to be made by the caller.
    Ambiguous {
        /// What there is to choose from.
        choices: Vec<String>,
        /// The flag that chooses.
        flag: &'static str,
    },
    /// A native file of another version.
    Version {
        /// The version found.
        found: String,
        /// The version that this program reads.
        expected: &'static str,
    },
    /// Something that is already there and would be overwritten.
    Exists,
    /// A folder with files that are not ours to remove.
    NotOurs,
    /// A device, a pipe or a broken link.
    NotAFile,
    /// The graph has something that this format cannot hold.
    CannotHold {
        /// What.
        what: String,
        /// The format that can.
        instead: &'static str,
    },
}

impl Fault {
    /// Puts the fault into a file.
    pub fn at(self, file: impl AsRef<Path>) -> DataError {
        DataError {
            file: file.as_ref().to_owned(),
            member: None,
            row: None,
            column: None,
            fault: Box::new(self),
        }
    }

    /// Sorts out what the system said about opening, reading or writing a file.
    pub fn from_io(error: io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::NotFound => Fault::NotFound,
            io::ErrorKind::IsADirectory => Fault::IsFolder,
            io::ErrorKind::NotADirectory => Fault::IsFile,
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::Unsupported => Fault::Damaged {
                why: error.to_string(),
            },
            io::ErrorKind::UnexpectedEof => Fault::Damaged {
                why: "it ends in the middle".into(),
            },
            _ => Fault::Io(error),
        }
    }

    /// What the person can do.
    fn remedy(&self) -> String {
        match self {
            Fault::NotFound => "Check the spelling, or make it first".into(),
            Fault::IsFolder => "Name a file, or a folder that holds a data set".into(),
            Fault::IsFile => "Name a folder".into(),
            Fault::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                "Give yourself the right to it, or name another place".into()
            }
            Fault::Io(_) => "Nothing was changed; try again once the cause is gone".into(),
            Fault::UnknownFormat { .. } => {
                "`treering data convert --help` lists the layouts that can be read".into()
            }
            Fault::Damaged { .. } | Fault::Truncated { .. } => {
                "Fetch or make the file again; a copy was probably cut short".into()
            }
            Fault::Empty => "At least one row is needed".into(),
            Fault::MissingMember { .. } => "Make the file again with it".into(),
            Fault::MissingColumn { flag, .. } => format!("Name the column with {flag}"),
            Fault::ObjectArray => "Pickled data is never opened, because opening it can run any program. In \
                 Python: np.savez(out, name=array.astype(str)) for texts, .astype(np.float32) for numbers"
                .into(),
            Fault::WrongType { .. } => "In Python: array.astype(...) to one of these".into(),
            Fault::BigEndian { .. } => {
                "In Python: array.astype(array.dtype.newbyteorder('<'))".into()
            }
            Fault::FortranOrder => "In Python: np.ascontiguousarray(array)".into(),
            Fault::WrongShape { .. } | Fault::LengthMismatch { .. } => {
                "The parts come from different data, or one was cut; make them again together".into()
            }
            Fault::TooLarge { .. } => "Allow more with --memory, or use a larger machine".into(),
            Fault::ChangedInUse => "Leave the file alone while a command works on it, and run the command again; nothing of its result was kept".into(),
            Fault::BadValue { .. } => "Correct it in the file".into(),
            Fault::Ragged { delimiter: Some(_), .. } => "Write the table with commas".into(),
            Fault::Ragged { .. } => "Give every row the same number of fields, texts with commas in quotes".into(),
            Fault::LineTooLong { .. } => "This is probably not a table of text".into(),
            Fault::DuplicateId { .. } => "Give every node one row and an id of its own".into(),
            Fault::UnknownNode { .. } => "Add it to the table of nodes, or drop this row".into(),
            Fault::NegativeLabel { .. } => {
                "Number classes from 0; a table of nodes may leave a label empty, an npz file may not".into()
            }
            Fault::Graph(GraphError::NotFinite { .. }) => "Replace NaN and infinite features before".into(),
            Fault::Graph(GraphError::ArcOutside { .. }) => {
                "Every edge must join two of the nodes; number nodes from 0".into()
            }
            Fault::Graph(_) => "Make the file again".into(),
            Fault::Ambiguous { flag, .. } => format!("Choose one with {flag}"),
            Fault::Version { .. } => "Convert the original data again with this program".into(),
            Fault::Exists => "Name another place, or allow it with --force".into(),
            Fault::NotAFile => "Name a file or a folder".into(),
            Fault::NotOurs => "Name another place; --force only replaces what this program wrote".into(),
            Fault::CannotHold { instead, .. } => format!("Write it as {instead}"),
        }
    }
}

impl DataError {
    /// Names the member of an archive.
    pub fn member(mut self, name: impl Into<String>) -> Self {
        self.member = Some(name.into());
        self
    }

    /// Names a line of text, counted from 1.
    pub fn line(mut self, line: u64) -> Self {
        self.row = Some(Row::Line(line));
        self
    }

    /// Names a row of a table or an array, counted from 0.
    pub fn row(mut self, row: u64) -> Self {
        self.row = Some(Row::Index(row));
        self
    }

    /// Names a column.
    pub fn column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Row::Line(line) => write!(f, "line {line}"),
            Row::Index(row) => write!(f, "row {row}"),
        }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(member) = &self.member {
            write!(f, ", member `{member}`")?;
        }
        if let Some(row) = &self.row {
            write!(f, ", {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column `{column}`")?;
        }
        write!(f, ": {}. {}.", self.fault, self.fault.remedy())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotFound => write!(f, "there is no such file or folder"),
            Fault::IsFolder => write!(f, "this is a folder, not a file"),
            Fault::IsFile => write!(f, "this is a file, not a folder"),
            Fault::Io(error) => write!(f, "{error}"),
            Fault::UnknownFormat { found } => write!(f, "not a layout that can be read ({found})"),
            Fault::Damaged { why } => write!(f, "the content is damaged: {why}"),
            Fault::Truncated {
                found,
                expected,
                unit,
            } => {
                write!(f, "only {found} of {expected} {unit} are there")
            }
            Fault::Empty => write!(f, "there is nothing in it"),
            Fault::MissingMember { name, available } => {
                write!(f, "`{name}` is missing (there: {})", listed(available))
            }
            Fault::MissingColumn {
                wanted, available, ..
            } => {
                write!(f, "no column for {wanted} (there: {})", listed(available))
            }
            Fault::ObjectArray => write!(f, "this is an array of pickled Python objects"),
            Fault::WrongType { found, expected } => {
                write!(f, "elements are of type {found}, not {expected}")
            }
            Fault::BigEndian { found } => {
                write!(
                    f,
                    "numbers are stored most significant byte first ({found})"
                )
            }
            Fault::FortranOrder => {
                write!(f, "the matrix is stored column by column (Fortran order)")
            }
            Fault::WrongShape { found, expected } => {
                write!(f, "the shape is {found:?}, not {expected}")
            }
            Fault::LengthMismatch {
                what,
                found,
                expected,
                because,
            } => {
                write!(f, "{found} {what}, but {expected} are expected ({because})")
            }
            Fault::TooLarge { bytes, limit } => write!(
                f,
                "it takes at least {} of memory, and {} are allowed",
                human_bytes(*bytes),
                human_bytes(*limit)
            ),
            Fault::ChangedInUse => {
                f.write_str("the file was cut short or changed while it was in use")
            }
            Fault::BadValue { text, expected } => {
                write!(f, "`{}` is not {expected}", shortened(text))
            }
            Fault::Ragged {
                found,
                expected,
                delimiter,
            } => {
                write!(f, "{found} fields where {expected} are expected")?;
                match delimiter {
                    Some('\t') => write!(f, "; fields seem to be separated by tabs"),
                    Some(c) => write!(f, "; fields seem to be separated by `{c}`"),
                    None => Ok(()),
                }
            }
            Fault::LineTooLong { limit } => {
                write!(f, "a line is longer than {}", human_bytes(*limit))
            }
            Fault::DuplicateId { id, first } => {
                write!(
                    f,
                    "the node id `{}` was used before ({first})",
                    shortened(id)
                )
            }
            Fault::UnknownNode { id } => write!(f, "there is no node `{}`", shortened(id)),
            Fault::NegativeLabel { label } => write!(f, "the label {label} is negative"),
            Fault::Graph(error) => write!(f, "{error}"),
            Fault::Ambiguous { choices, .. } => {
                write!(f, "there is more than one choice ({})", listed(choices))
            }
            Fault::Version { found, expected } => {
                write!(
                    f,
                    "made by version {found} of the format; this program reads {expected}"
                )
            }
            Fault::Exists => write!(f, "this is already there"),
            Fault::NotAFile => write!(f, "this is a device, a pipe or a broken link"),
            Fault::NotOurs => write!(f, "this folder holds files that this program did not write"),
            Fault::CannotHold { what, .. } => write!(f, "this format cannot hold {what}"),
        }
    }
}

impl std::error::Error for DataError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.fault {
            Fault::Io(error) => Some(error),
            Fault::Graph(error) => Some(error),
            _ => None,
        }
    }
}

/// The result of everything that touches data.
pub type Result<T> = std::result::Result<T, DataError>;

/// At most a dozen names, so that an error stays readable.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(|n| shortened(n))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(", and {} more", names.len() - SHOWN));
    }
    if names.is_empty() {
        "nothing".into()
    } else {
        text
    }
}

/// The beginning of a text that may be anything, with control characters made visible: for tables and errors.
pub fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut short: String = text
        .chars()
        .take(SHOWN)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push_str("...");
    }
    short
}

/// A number of bytes for people.
///
/// # Example
/// ```
/// assert_eq!(treering_data::human_bytes(1_500_000), "1.5 MB");
/// ```
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1e3;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1e3;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}
