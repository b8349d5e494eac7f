//! Predictions as lines of CSV, lines of JSON or Parquet.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use clap::ValueEnum;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// What a column holds.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    Count,
    Short,
    Long,
}

/// A column of a result.
pub(super) type Column = (&'static str, Kind);

/// One value of a line.
pub(super) enum Cell<'a> {
    Text(Cow<'a, str>),
    Count(u32),
    Short(f32),
    Long(f64),
    /// There is none.
    Nothing,
}

impl<'a> Cell<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Cell::Text(Cow::Borrowed(text))
    }

    pub(super) fn long(value: Option<f64>) -> Self {
        value.map_or(Cell::Nothing, Cell::Long)
    }

    fn written(&self) -> Cow<'_, str> {
        match self {
            Cell::Text(text) => Cow::Borrowed(text),
            Cell::Count(count) => Cow::Owned(count.to_string()),
            Cell::Short(value) => Cow::Owned(value.to_string()),
            Cell::Long(value) => Cow::Owned(value.to_string()),
            Cell::Nothing => Cow::Borrowed(""),
        }
    }

    fn json(&self) -> Value {
        match self {
            Cell::Text(text) => text.as_ref().into(),
            Cell::Count(count) => (*count).into(),
            Cell::Short(value) => (*value).into(),
            Cell::Long(value) => (*value).into(),
            Cell::Nothing => Value::Null,
        }
    }
}

/// One line of a result, a cell for each column.
pub(super) type Row<'a> = Vec<Cell<'a>>;

/// How predictions are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A line of names, then one line each.
    Csv,
    /// One JSON object a line.
    Jsonl,
    /// A table for data frames; needs -o.
    Parquet,
}

impl Format {
    /// As asked for, or as the ending tells; CSV on standard output.
    pub(super) fn choose(asked: Option<Format>, out: Option<&Path>) -> Result<Format, Failure> {
        let ending = out.and_then(|path| path.extension()?.to_str());
        let format = match (asked, ending) {
            (Some(format), _) => format,
            (None, Some("csv")) => Format::Csv,
            (None, Some("jsonl" | "ndjson")) => Format::Jsonl,
            (None, Some("parquet")) => Format::Parquet,
            (None, _) if out.is_none() => Format::Csv,
            (None, _) => {
                return Err(Failure::input(
                    "the ending of the file does not tell its format; end it in .csv, .jsonl or .parquet, or use --format",
                ));
            }
        };
        match (format, out) {
            (Format::Parquet, None) => Err(Failure::input(
                "Parquet goes into a file; name it with -o FILE.parquet",
            )),
            _ => Ok(format),
        }
    }
}

/// Writes lines of text.
pub(super) fn write_text<'a>(
    out: impl Write,
    format: Format,
    columns: &[Column],
    rows: impl Iterator<Item = Row<'a>>,
) -> io::Result<()> {
    match format {
        Format::Jsonl => write_json(BufWriter::new(out), columns, rows),
        Format::Csv | Format::Parquet => write_csv(out, columns, rows),
    }
}

fn write_csv<'a>(
    out: impl Write,
    columns: &[Column],
    rows: impl Iterator<Item = Row<'a>>,
) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(columns.iter().map(|(name, _)| name))
        .map_err(plain)?;
    for row in rows {
        out.write_record(row.iter().map(|cell| cell.written().into_owned()))
            .map_err(plain)?;
    }
    out.flush()
}

/// The system's own error, so that a reader who has gone is known as one.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn write_json<'a>(
    mut out: impl Write,
    columns: &[Column],
    rows: impl Iterator<Item = Row<'a>>,
) -> io::Result<()> {
    for row in rows {
        let cells = columns.iter().zip(&row);
        let line: Map<String, Value> = cells
            .map(|((name, _), cell)| ((*name).to_owned(), cell.json()))
            .collect();
        writeln!(out, "{}", Value::Object(line))?;
    }
    out.flush()
}

/// The rows of a group, the unit that readers can skip.
const GROUP: usize = 1 << 16;

/// Writes a Parquet file.
pub(super) fn write_parquet<'a>(
    path: &Path,
    columns: &[Column],
    mut rows: impl Iterator<Item = Row<'a>>,
) -> io::Result<()> {
    let field = |&(name, kind): &Column| {
        let kind = match kind {
            Kind::Text => DataType::Utf8,
            Kind::Count => DataType::UInt32,
            Kind::Short => DataType::Float32,
            Kind::Long => DataType::Float64,
        };
        Field::new(name, kind, true)
    };
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let file = File::create(path)?;
    let mut out = ArrowWriter::try_new(file, schema.clone(), Some(properties))?;
    loop {
        let piece: Vec<Row<'_>> = rows.by_ref().take(GROUP).collect();
        if piece.is_empty() {
            break;
        }
        let arrays = columns.iter().enumerate();
        let arrays = arrays.map(|(at, (_, kind))| array(&piece, at, *kind));
        let batch = RecordBatch::try_new(schema.clone(), arrays.collect());
        out.write(&batch.map_err(io::Error::other)?)?;
    }
    out.close()?;
    Ok(())
}

/// One column of some rows.
fn array(rows: &[Row<'_>], at: usize, kind: Kind) -> ArrayRef {
    let cells = rows.iter().map(|row| &row[at]);
    match kind {
        Kind::Text => Arc::new(StringArray::from_iter(cells.map(|cell| match cell {
            Cell::Text(text) => Some(text.as_ref()),
            _ => None,
        }))),
        Kind::Count => Arc::new(UInt32Array::from_iter(cells.map(|cell| match cell {
            Cell::Count(count) => Some(*count),
            _ => None,
        }))),
        Kind::Short => Arc::new(Float32Array::from_iter(cells.map(|cell| match cell {
            Cell::Short(value) => Some(*value),
            _ => None,
        }))),
        Kind::Long => Arc::new(Float64Array::from_iter(cells.map(|cell| match cell {
            Cell::Long(value) => Some(*value),
            _ => None,
        }))),
    }
}
