//! A `.npz` archive: arrays by name, read in blocks, never larger than what was asked for beforehand.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use super::npy::{Element, Header, Number, decode, decode_text};
use crate::open::open_file;
use crate::{Context, DataError, Fault, Result};

/// How much is decoded at a time.
const BLOCK: usize = 1 << 20;

/// An open archive.
pub(crate) struct Npz<'a> {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    context: &'a Context<'a>,
}

/// The numbers of an array and its shape.
pub(crate) struct Array<T> {
    pub(crate) values: Vec<T>,
    pub(crate) shape: Vec<u64>,
}

impl<'a> Npz<'a> {
    pub(crate) fn open(path: &Path, context: &'a Context<'a>) -> Result<Npz<'a>> {
        let file = open_file(path)?;
        let archive = ZipArchive::new(BufReader::with_capacity(BLOCK, file))
            .map_err(|error| zip_fault(error).at(path))?;
        Ok(Npz {
            path: path.to_owned(),
            archive,
            context,
        })
    }

    /// The names of the arrays, without `.npy`.
    pub(crate) fn names(&self) -> Vec<String> {
        self.archive
            .file_names_raw()
            .map(|name| {
                String::from_utf8_lossy(name)
                    .trim_end_matches(".npy")
                    .to_owned()
            })
            .collect()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.archive
            .index_for_name(&format!("{name}.npy"))
            .is_some()
    }

    /// The error for an array of this archive.
    pub(crate) fn error(&self, name: &str, fault: Fault) -> DataError {
        fault.at(&self.path).member(name)
    }

    /// Wants a member to have so many elements, by its header alone: a member that does not fit is never unpacked.
    pub(crate) fn expect(&mut self, name: &str, elements: usize, because: &str) -> Result<()> {
        let (header, _) = self.open_member(name)?;
        if header.count == elements as u64 {
            return Ok(());
        }
        Err(self.error(
            name,
            Fault::LengthMismatch {
                what: "elements".into(),
                found: header.count,
                expected: elements as u64,
                because: because.into(),
            },
        ))
    }

    /// An array of numbers.
    pub(crate) fn numbers<T: Number>(&mut self, name: &str) -> Result<Array<T>> {
        let mut values = Vec::new();
        let header = self.read(name, |header, bytes| {
            let fits = match header.element {
                Element::Bytes(_) | Element::Unicode(_) => false,
                Element::Float(_) => T::FLOATS,
                _ => true,
            };
            if !fits {
                let fault = Fault::WrongType {
                    found: header.spelling.clone(),
                    expected: T::EXPECTED,
                };
                return Err((fault, None));
            }
            if values.capacity() == 0 {
                values.reserve_exact(header.count as usize);
            }
            decode(header.element, bytes, &mut values).map_err(|text| {
                let expected = T::EXPECTED;
                (
                    Fault::BadValue { text, expected },
                    Some(values.len() as u64),
                )
            })
        })?;
        Ok(Array {
            values,
            shape: header.shape,
        })
    }

    /// An array of numbers that must have one dimension.
    pub(crate) fn vector<T: Number>(&mut self, name: &str) -> Result<Vec<T>> {
        let array = self.numbers(name)?;
        match array.shape.len() {
            1 => Ok(array.values),
            // A column is as good as a vector: labels are often stored so.
            2 if array.shape[1] == 1 => Ok(array.values),
            _ => Err(self.error(
                name,
                Fault::WrongShape {
                    found: array.shape,
                    expected: "a vector".into(),
                },
            )),
        }
    }

    /// An array of texts; a single text counts as one.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        self.read(name, |header, bytes| {
            if !matches!(header.element, Element::Bytes(_) | Element::Unicode(_)) {
                let fault = Fault::WrongType {
                    found: header.spelling.clone(),
                    expected: "texts",
                };
                return Err((fault, None));
            }
            let size = header.element.size();
            // Texts of no characters take no bytes; there are as many as the header says.
            let pieces = bytes
                .len()
                .checked_div(size)
                .unwrap_or(header.count as usize);
            for piece in 0..pieces {
                let text = decode_text(header.element, &bytes[piece * size..(piece + 1) * size]);
                let row = texts.len() as u64;
                texts.push(text.ok_or_else(|| {
                    let why = "a text in it is not valid Unicode".to_owned();
                    (Fault::Damaged { why }, Some(row))
                })?);
            }
            Ok(())
        })?;
        Ok(texts)
    }

    /// Opens a member, reads its header, and checks the size that it claims against the archive's own record.
    fn open_member(&mut self, name: &str) -> Result<(Header, ZipFile<'_, BufReader<File>>)> {
        let fail = |path: &Path, fault: Fault| fault.at(path).member(name);
        let available = self.names();
        let mut member = match self.archive.by_name(&format!("{name}.npy")) {
            Ok(member) => member,
            Err(ZipError::FileNotFound) => {
                let name = name.to_owned();
                return Err(Fault::MissingMember { name, available }.at(&self.path));
            }
            Err(error) => return Err(fail(&self.path, zip_fault(error))),
        };
        let unpacked = member.size();
        let header = Header::read(&mut member).map_err(|fault| fail(&self.path, fault))?;
        let found = unpacked.saturating_sub(header.length);
        let expected = header.count * header.element.size() as u64;
        if found != expected {
            let unit = "bytes";
            return Err(fail(
                &self.path,
                Fault::Truncated {
                    found,
                    expected,
                    unit,
                },
            ));
        }
        Ok((header, member))
    }

    /// Hands the elements of an array to `block`, some at a time, after their size has been checked against the memory limit.
    fn read(
        &mut self,
        name: &str,
        mut block: impl FnMut(&Header, &[u8]) -> std::result::Result<(), (Fault, Option<u64>)>,
    ) -> Result<Header> {
        let path = self.path.clone();
        let context = self.context;
        let fail = |path: &Path, fault: Fault| fault.at(path).member(name);
        let (header, mut member) = self.open_member(name)?;
        let bytes = header.count * header.element.size() as u64;
        let in_memory = match header.element {
            Element::Bytes(_) | Element::Unicode(_) => {
                bytes + header.count * size_of::<String>() as u64
            }
            _ => bytes,
        };
        context
            .take(&path, in_memory)
            .map_err(|error| error.member(name))?;
        let progress = context.progress;
        progress.begin(&format!("reading {name}"), bytes);
        // Whole elements at a time; an element is never cut by a block's end.
        let size = header.element.size().max(1);
        let mut buffer = vec![0u8; (BLOCK / size).max(1) * size];
        let mut left = bytes;
        loop {
            let part = buffer.len().min(left as usize);
            member
                .read_exact(&mut buffer[..part])
                .map_err(|error| fail(&path, Fault::from_io(error)))?;
            block(&header, &buffer[..part]).map_err(|(fault, row)| match row {
                Some(row) => fail(&path, fault).row(row),
                None => fail(&path, fault),
            })?;
            left -= part as u64;
            progress.advance(part as u64);
            if left == 0 {
                break;
            }
        }
        // Reading to the very end makes the archive compare its checksum.
        let rest = member
            .read(&mut buffer[..1])
            .map_err(|error| fail(&path, Fault::from_io(error)))?;
        if rest != 0 {
            let why = "it goes on after its last element".to_owned();
            return Err(fail(&path, Fault::Damaged { why }));
        }
        progress.end();
        Ok(header)
    }
}

fn zip_fault(error: ZipError) -> Fault {
    match error {
        ZipError::Io(error) => Fault::from_io(error),
        other => Fault::Damaged {
            why: other.to_string(),
        },
    }
}
