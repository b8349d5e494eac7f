//! A table, whatever file it lies in: named columns, and rows read one after the other.
//!
//! Readers of nodes, edges and features see cells and never ask whether they come from text or from Parquet. What
//! the two have in common is little: the name and kind of each column, the cell, and the place for an error.

use std::fmt;
use std::path::Path;

use super::csv_rows::{self, CsvRows};
use super::parquet_rows::{ParquetFile, ParquetRows};
use crate::{Context, DataError, Fault, Progress, Result, Row};

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No cell has anything in it.
    Empty,
    /// Numbers.
    Number,
    /// A list of numbers in each cell.
    List,
    /// Texts.
    Text,
    /// Something of this type that cannot be used.
    Other(String),
}

/// One column of a table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// One cell. Text files know only texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Missing,
    Integer(i64),
    /// A whole number above those that [`Cell::Integer`] can hold.
    Unsigned(u64),
    Number(f64),
    Text(&'a str),
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Missing => write!(f, "(empty)"),
            Cell::Integer(number) => number.fmt(f),
            Cell::Unsigned(number) => number.fmt(f),
            Cell::Number(number) => number.fmt(f),
            Cell::Text(text) => text.fmt(f),
        }
    }
}

/// A file with its columns, before any row is read.
pub(super) struct TableFile<'a> {
    pub(super) path: &'a Path,
    pub(super) columns: Vec<Column>,
    exact: bool,
    parquet: Option<ParquetFile>,
}

impl<'a> TableFile<'a> {
    /// Finds out what columns there are.
    ///
    /// # Arguments
    /// * `exact`: the file was written by a program, so blanks around texts belong to them.
    pub(super) fn open(path: &'a Path, exact: bool) -> Result<Self> {
        let parquet = match is_parquet(path) {
            true => Some(ParquetFile::open(path)?),
            false => None,
        };
        let columns = match &parquet {
            Some(file) => file.columns(),
            None => csv_rows::columns(path, exact)?,
        };
        Ok(TableFile {
            path,
            columns,
            exact,
            parquet,
        })
    }

    /// The names of the columns, for an error.
    pub(super) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|c| c.name.clone()).collect()
    }

    /// Whether the names of the columns come from a first line that may have been forgotten.
    pub(super) fn is_text(&self) -> bool {
        self.parquet.is_none()
    }

    /// Starts to read the rows; only cells of the columns in `used` may be asked for.
    pub(super) fn rows(self, used: &[usize], context: &'a Context<'a>) -> Result<Rows<'a>> {
        let bytes = self.path.metadata().map(|found| found.len());
        let bytes = bytes.map_err(|error| Fault::from_io(error).at(self.path))?;
        let phase = Phase::begin("reading", self.path, bytes, context.progress);
        let form = match self.parquet {
            Some(file) => Form::Parquet(file.rows(self.path, used, context.progress)?),
            None => Form::Csv(CsvRows::open(self.path, self.exact, context.progress)?),
        };
        Ok(Rows {
            path: self.path,
            columns: self.columns,
            form,
            _phase: phase,
        })
    }
}

/// The rows of a table, one at a time.
pub(super) struct Rows<'a> {
    path: &'a Path,
    columns: Vec<Column>,
    form: Form<'a>,
    _phase: Phase<'a>,
}

enum Form<'a> {
    Csv(CsvRows<'a>),
    Parquet(ParquetRows<'a>),
}

impl Rows<'_> {
    /// Moves to the next row; false after the last.
    pub(super) fn next(&mut self) -> Result<bool> {
        match &mut self.form {
            Form::Csv(rows) => rows.next(),
            Form::Parquet(rows) => rows.next(),
        }
    }

    /// A cell of the current row.
    pub(super) fn cell(&self, column: usize) -> Result<Cell<'_>> {
        match &self.form {
            Form::Parquet(rows) => Ok(rows.cell(column)),
            Form::Csv(rows) => rows.cell(column).map_err(|fault| self.wrong(column, fault)),
        }
    }

    /// A cell of the current row that must hold a finite number.
    pub(super) fn number(&self, column: usize) -> Result<f32> {
        let cell = self.cell(column)?;
        let number = match cell {
            Cell::Missing => None,
            Cell::Integer(number) => Some(number as f32),
            Cell::Unsigned(number) => Some(number as f32),
            Cell::Number(number) => Some(number as f32),
            Cell::Text(text) => text.trim().parse().ok(),
        };
        match number {
            Some(number) if number.is_finite() => Ok(number),
            _ => Err(self.bad(column, cell, "a finite number")),
        }
    }

    /// Adds the numbers of a list cell of the current row to `into`.
    pub(super) fn list(&self, column: usize, into: &mut Vec<f32>) -> Result<()> {
        let start = into.len();
        let cell = match &self.form {
            Form::Parquet(rows) => match rows.list(column, into) {
                true => None,
                false => Some(Cell::Missing),
            },
            Form::Csv(_) => match self.cell(column)? {
                Cell::Text(text) if parse_list(text, into) => None,
                cell => Some(cell),
            },
        };
        if let Some(cell) = cell {
            return Err(self.bad(column, cell, "a list of finite numbers"));
        }
        match into[start..].iter().find(|number| !number.is_finite()) {
            Some(&number) => {
                Err(self.bad(column, Cell::Number(f64::from(number)), "a finite number"))
            }
            None => Ok(()),
        }
    }

    /// Where the current row stands.
    pub(super) fn place(&self) -> Row {
        match &self.form {
            Form::Csv(rows) => Row::Line(rows.line()),
            Form::Parquet(rows) => Row::Index(rows.index()),
        }
    }

    /// Puts a fault into a cell of the current row.
    pub(super) fn wrong(&self, column: usize, fault: Fault) -> DataError {
        let mut error = fault.at(self.path).column(&self.columns[column].name);
        error.row = Some(self.place());
        error
    }

    /// A cell of the current row that is not what it should be.
    pub(super) fn bad(&self, column: usize, cell: Cell<'_>, expected: &'static str) -> DataError {
        let text = cell.to_string();
        self.wrong(column, Fault::BadValue { text, expected })
    }
}

/// Reads `[0.1, 0.2]`, `0.1 0.2` or `0.1;0.2`; false when it is none of these.
fn parse_list(text: &str, into: &mut Vec<f32>) -> bool {
    list_items(text).all(|item| item.parse().map(|number| into.push(number)).is_ok())
}

/// Whether a text is a list of numbers rather than one number or no number.
pub(super) fn is_list(text: &str) -> bool {
    let bracketed = text.starts_with('[') && text.ends_with(']');
    let numbers = list_items(text).all(|item| item.parse::<f32>().is_ok());
    numbers && (bracketed || list_items(text).nth(1).is_some())
}

fn list_items(text: &str) -> impl Iterator<Item = &str> {
    let inner = text.trim();
    let inner = inner.strip_prefix('[').unwrap_or(inner);
    let inner = inner.strip_suffix(']').unwrap_or(inner);
    inner
        .split(|c: char| c == ',' || c == ';' || c.is_whitespace())
        .filter(|item| !item.is_empty())
}

/// The place of a row that was read earlier; a table of text has to be read again up to there.
pub(super) fn place_of(path: &Path, row: usize) -> Result<Row> {
    if is_parquet(path) {
        return Ok(Row::Index(row as u64));
    }
    let mut rows = CsvRows::open(path, true, &crate::Silent)?;
    for _ in 0..=row {
        rows.next()?;
    }
    Ok(Row::Line(rows.line()))
}

/// Whether a file's name says that it is Parquet.
fn is_parquet(path: &Path) -> bool {
    ends_in(path, "parquet") || ends_in(path, "pq")
}

/// Whether a file has this extension, in any case.
pub(super) fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// A phase of the progress that ends however the work on its file ends.
pub(super) struct Phase<'a>(&'a dyn Progress);

impl<'a> Phase<'a> {
    pub(super) fn begin(what: &str, path: &Path, total: u64, progress: &'a dyn Progress) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        progress.begin(&format!("{what} {name}"), total);
        Phase(progress)
    }
}

impl Drop for Phase<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
