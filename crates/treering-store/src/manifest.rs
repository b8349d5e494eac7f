//! `manifest.json`: the one file that says what belongs to the model.
//!
//! The text ends with a checksum over itself, at a fixed place, so that a changed bit anywhere is noticed by hashing the raw bytes: what lies
//! before the checksum is hashed, the checksum is compared, and the few bytes around it must be exactly what they are. A text that
//! passes and yet is not what this program would write for the same manifest (a field given twice, one that is not known) is refused too,
//! because the next commit would silently lose it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Fault, Result};
use crate::files::{open_file, read_all, sha256};
use crate::layout;
use crate::rules::{check_name, check_rings};

/// The version of the format that this program reads and writes.
pub const FORMAT: u32 = 1;
/// The largest manifest that is read or written, in bytes.
const LARGEST: u64 = 256_000_000;
const BEFORE_CHECKSUM: &str = ",\n  \"checksum\": \"";
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const AFTER_CHECKSUM: &str = "\"\n}\n";

/// What a model consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the format, [`FORMAT`].
    pub format: u32,
    /// The version of treering that wrote this manifest.
    pub program: String,
    /// The learner that the model belongs to.
    pub learner: String,
    /// The learner's parameters.
    pub parameters: Value,
    /// How many feature columns a graph must have.
    pub feature_width: usize,
    /// The file of the backbone; none where rings share nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backbone: Option<FileEntry>,
    /// The number that the next ring will have. It only grows, so that no number is used twice.
    pub next_ring: u32,
    /// The rings, in the order in which their tasks were learned.
    pub rings: Vec<RingEntry>,
    /// What else the learner wants to remember about the model.
    pub facts: Value,
}

/// A file of the model, as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// The file's name, relative to the folder of the model, with `/`.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// The SHA-256 of its content, as 64 hexadecimal digits.
    pub sha256: String,
}

/// A ring of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingEntry {
    /// Its number, from 1.
    pub number: u32,
    /// Its name, unique in the model.
    pub name: String,
    /// Its classes; no other ring has them.
    pub classes: Vec<String>,
    /// What else the learner wants to remember about the ring.
    pub facts: Value,
    /// Its file.
    pub file: FileEntry,
}

impl FileEntry {
    pub(crate) fn new(file: String, content: &[u8]) -> FileEntry {
        FileEntry {
            file,
            bytes: content.len() as u64,
            sha256: sha256(&[content]),
        }
    }
}

/// The two fields that every version of the format has.
#[derive(Deserialize)]
struct Version {
    format: u64,
    program: Option<String>,
}

impl Manifest {
    /// The text of `manifest.json`.
    pub(crate) fn to_text(&self, file: &Path) -> Result<String> {
        let mut text = self
            .body()
            .map_err(|why| Fault::CannotHold { why }.at(file))?;
        let checksum = checksum(&text);
        for piece in [BEFORE_CHECKSUM, &checksum, AFTER_CHECKSUM] {
            text.push_str(piece);
        }
        check_length(file, text.len() as u64)?;
        Ok(text)
    }

    /// Everything but the checksum and the closing brace.
    fn body(&self) -> std::result::Result<String, String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        let body = text.strip_suffix("\n}").map(str::to_owned);
        body.ok_or_else(|| "it cannot be written as a list of fields".into())
    }

    /// Reads and checks `manifest.json` in a folder.
    pub(crate) fn read(folder: &Path) -> Result<Manifest> {
        let path = folder.join(layout::MANIFEST);
        let (file, bytes) = open_file(&path)?;
        check_length(&path, bytes)?;
        Manifest::parse(&path, &read_all(&path, file, bytes)?)
    }

    /// Reads the text of a manifest. The version comes first, because another version may do everything else in another way.
    pub(crate) fn parse(file: &Path, text: &[u8]) -> Result<Manifest> {
        let damaged = |why: String| Fault::Damaged { why }.at(file);
        let version: Version =
            serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
        if version.format != u64::from(FORMAT) {
            let (found, program) = (version.format, version.program);
            return Err(Fault::Format { found, program }.at(file));
        }
        let body = open_seal(text).ok_or_else(|| Fault::Checksum.at(file))?;
        let manifest: Manifest = serde_json::from_str(&format!("{body}\n}}"))
            .map_err(|error| damaged(error.to_string()))?;
        if manifest.body().as_deref() != Ok(body) {
            return Err(damaged("it is not as Treering writes it".into()));
        }
        manifest.check().map_err(|fault| fault.at(file))?;
        Ok(manifest)
    }

    /// Whether the parts fit together and no path leads out of the folder.
    pub(crate) fn check(&self) -> std::result::Result<(), Fault> {
        check_name("learner", &self.learner)?;
        if let Some(backbone) = &self.backbone {
            check_entry(backbone, |file| file == layout::BACKBONE)?;
        }
        if self.next_ring == 0 {
            let why = "rings are numbered from 1".into();
            return Err(Fault::Damaged { why });
        }
        let mut numbers: Vec<u32> = self.rings.iter().map(|ring| ring.number).collect();
        numbers.sort_unstable();
        if let Some(pair) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            let why = format!("two rings have the number {}", pair[0]);
            return Err(Fault::Damaged { why });
        }
        for ring in &self.rings {
            if ring.number >= self.next_ring {
                let why = format!("ring {} has a number yet to be given", ring.number);
                return Err(Fault::Damaged { why });
            }
            check_entry(&ring.file, |file| layout::is_file_of(ring.number, file))?;
        }
        check_rings(&self.rings)
    }

    /// Every file that the manifest names.
    pub(crate) fn files(&self) -> impl Iterator<Item = &FileEntry> {
        let rings = self.rings.iter().map(|ring| &ring.file);
        self.backbone.iter().chain(rings)
    }
}

fn check_entry(entry: &FileEntry, fits: impl Fn(&str) -> bool) -> std::result::Result<(), Fault> {
    if !fits(&entry.file) {
        let path = entry.file.clone();
        return Err(Fault::BadPath { path });
    }
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if entry.sha256.len() != ZEROS.len() || !entry.sha256.bytes().all(digit) {
        let why = format!("the checksum of `{}` is no SHA-256", entry.file);
        return Err(Fault::Damaged { why });
    }
    Ok(())
}

fn check_length(file: &Path, bytes: u64) -> Result<()> {
    let limit = LARGEST;
    match bytes <= limit {
        true => Ok(()),
        false => Err(Fault::TooLarge { bytes, limit }.at(file)),
    }
}

fn checksum(body: &str) -> String {
    let pieces = [body, BEFORE_CHECKSUM, ZEROS, AFTER_CHECKSUM];
    sha256(&pieces.map(str::as_bytes))
}

/// The body of a manifest whose checksum is right.
fn open_seal(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.strip_suffix(AFTER_CHECKSUM)?;
    let (text, found) = text.split_at_checked(text.len().checked_sub(ZEROS.len())?)?;
    let body = text.strip_suffix(BEFORE_CHECKSUM)?;
    (checksum(body) == found).then_some(body)
}
