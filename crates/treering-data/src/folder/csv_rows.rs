//! Rows of a table of text: commas, a first line with the names, quotes where needed, packed by gzip or not.
//!
//! Text does not say what its columns hold, so the first rows decide. That is found out in a short pass of its own
//! ([`columns`]).

use std::io::{self, BufReader, Read};
use std::path::Path;

use csv::ByteRecord;
use flate2::bufread::MultiGzDecoder;

use super::table::{Cell, Column, Kind, ends_in, is_list};
use crate::open::{Counted, open_file};
use crate::{Fault, Progress, Result, Silent};

/// The longest row that is read. Without a limit an unclosed quote or a file of zeros would be read to its end.
const LONGEST: u64 = 64 << 20;

/// How much is read from a file at once.
const BUFFER: usize = 1 << 18;

/// The rows of one file.
pub(super) struct CsvRows<'a> {
    path: &'a Path,
    reader: csv::Reader<Guard<Box<dyn Read + 'a>>>,
    record: ByteRecord,
    names: Vec<String>,
    /// Lines end in `\r\n`. The decoder ends a row at `\r` and counts the line with the next row.
    carriage_returns: bool,
    exact: bool,
}

impl<'a> CsvRows<'a> {
    /// Opens a file and reads the names of its columns.
    pub(super) fn open(path: &'a Path, exact: bool, progress: &'a dyn Progress) -> Result<Self> {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER)
            .from_reader(Guard {
                inner: unpacked(path, progress)?,
                since_row: 0,
            });
        let mut rows = CsvRows {
            path,
            reader,
            record: ByteRecord::new(),
            names: Vec::new(),
            carriage_returns: false,
            exact,
        };
        if !rows.advance()? {
            return Err(Fault::Empty.at(path));
        }
        let line_ends = rows
            .record
            .iter()
            .flatten()
            .filter(|&&b| b == b'\n')
            .count() as u64;
        rows.carriage_returns = rows.reader.position().line() == 1 + line_ends;
        rows.names = header(&rows.record).map_err(|fault| fault.at(path).line(rows.line()))?;
        Ok(rows)
    }

    /// Moves to the next row; false after the last.
    pub(super) fn next(&mut self) -> Result<bool> {
        if !self.advance()? {
            return Ok(false);
        }
        if self.record.len() == self.names.len() {
            return Ok(true);
        }
        let fault = Fault::Ragged {
            found: self.record.len() as u64,
            expected: self.names.len() as u64,
            delimiter: None,
        };
        Err(fault.at(self.path).line(self.line()))
    }

    fn advance(&mut self) -> Result<bool> {
        self.reader.get_mut().since_row = 0;
        let path = self.path;
        match self.reader.read_byte_record(&mut self.record) {
            Ok(more) => Ok(more),
            Err(error) => {
                let line = self.record.position().map_or(1, csv::Position::line);
                Err(fault_of(error).at(path).line(line))
            }
        }
    }

    /// A cell of the current row.
    pub(super) fn cell(&self, column: usize) -> std::result::Result<Cell<'_>, Fault> {
        let text = utf8(self.record.get(column).unwrap_or_default())?;
        let text = if self.exact { text } else { text.trim() };
        Ok(match text {
            "" => Cell::Missing,
            text => Cell::Text(text),
        })
    }

    /// The line on which the current row starts. Empty lines belong to no row, and the decoder counts those before
    /// a row into it; so the line is counted back from the row's end.
    pub(super) fn line(&self) -> u64 {
        let ends = self
            .record
            .iter()
            .flatten()
            .filter(|&&b| b == b'\n')
            .count() as u64;
        let after = self.reader.position().line().saturating_sub(ends);
        let before = self.record.position().map_or(1, csv::Position::line);
        match self.carriage_returns {
            true => after,
            // The last row may have no line end to count back from.
            false => before.max(after.saturating_sub(1)),
        }
    }
}

/// How many rows decide what a column holds. One is not enough: a column of numbers may begin with `n/a`.
const DECIDING: usize = 100;

/// The columns of a file, each with what most of its first cells hold that are not empty.
pub(super) fn columns(path: &Path, exact: bool) -> Result<Vec<Column>> {
    let mut rows = CsvRows::open(path, exact, &Silent)?;
    let mut seen = vec![[0usize; 3]; rows.names.len()];
    let empty = |seen: &[[usize; 3]]| seen.contains(&[0; 3]);
    let mut row = 0;
    while (row < DECIDING || empty(&seen)) && rows.next()? {
        row += 1;
        for (column, counts) in seen.iter_mut().enumerate() {
            match rows.cell(column) {
                Ok(Cell::Text(text)) => match kind_of(text) {
                    Kind::Number => counts[0] += 1,
                    Kind::List => counts[1] += 1,
                    _ => counts[2] += 1,
                },
                Ok(_) => {}
                // Whoever uses the column gets the error with its line.
                Err(_) => counts[2] += 1,
            }
        }
    }
    let kind = |[numbers, lists, texts]: [usize; 3]| match numbers + lists + texts {
        0 => Kind::Empty,
        all if 2 * numbers >= all => Kind::Number,
        all if 2 * lists >= all => Kind::List,
        _ => Kind::Text,
    };
    let named = rows.names.into_iter().zip(seen);
    Ok(named
        .map(|(name, counts)| Column {
            name,
            kind: kind(counts),
        })
        .collect())
}

fn kind_of(text: &str) -> Kind {
    if text.trim().parse::<f64>().is_ok() {
        Kind::Number
    } else if is_list(text) {
        Kind::List
    } else {
        Kind::Text
    }
}

/// The names in the first line. A single name with another delimiter in it is a table without commas.
fn header(record: &ByteRecord) -> std::result::Result<Vec<String>, Fault> {
    let names = record
        .iter()
        .map(|name| utf8(name).map(|name| name.trim().to_owned()))
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let other = |c: &char| names.len() == 1 && names[0].contains(*c);
    match [';', '\t', '|'].into_iter().find(other) {
        Some(delimiter) => Err(Fault::Ragged {
            found: 1,
            expected: names[0].split(delimiter).count() as u64,
            delimiter: Some(delimiter),
        }),
        None => Ok(names),
    }
}

fn utf8(bytes: &[u8]) -> std::result::Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|_| Fault::BadValue {
        text: String::from_utf8_lossy(bytes).into_owned(),
        expected: "text in UTF-8",
    })
}

fn fault_of(error: csv::Error) -> Fault {
    match error.into_kind() {
        csv::ErrorKind::Io(error) if error.get_ref().is_some_and(|e| e.is::<TooLong>()) => {
            Fault::LineTooLong { limit: LONGEST }
        }
        csv::ErrorKind::Io(error) => Fault::from_io(error),
        other => Fault::Damaged {
            why: format!("{other:?}"),
        },
    }
}

/// The text of a file, unpacked where its name ends in `.gz`.
fn unpacked<'a>(path: &Path, progress: &'a dyn Progress) -> Result<Box<dyn Read + 'a>> {
    let file = Counted::new(open_file(path)?, progress);
    Ok(match ends_in(path, "gz") {
        true => Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file))),
        false => Box::new(file),
    })
}

/// Stops when one row takes more bytes than any row should.
struct Guard<R> {
    inner: R,
    since_row: u64,
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since_row > LONGEST {
            return Err(io::Error::other(TooLong));
        }
        let read = self.inner.read(buffer)?;
        self.since_row += read as u64;
        Ok(read)
    }
}

/// What [`Guard`] says.
#[derive(Debug)]
struct TooLong;

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a row is too long")
    }
}

impl std::error::Error for TooLong {}
