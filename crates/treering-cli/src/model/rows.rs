//! Predictions as lines of CSV, lines of JSON or Parquet.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat_batches;
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

/// Takes lines as they come, and puts them where they belong.
pub(super) enum Sink<'a, W: Write> {
    /// With the names of the columns, as long as they are not written: nothing is, before there is something to say.
    Csv(Box<csv::Writer<W>>, Option<&'a [Column]>),
    Json(BufWriter<W>, &'a [Column]),
    Parquet(Box<Groups<'a>>),
}

impl<'a, W: Write> Sink<'a, W> {
    /// Lines of text.
    pub(super) fn text(out: W, format: Format, columns: &'a [Column]) -> Self {
        match format {
            Format::Jsonl => Sink::Json(BufWriter::new(out), columns),
            _ => Sink::Csv(Box::new(csv::Writer::from_writer(out)), Some(columns)),
        }
    }

    /// As a part of a table, which has the names of the columns once.
    pub(super) fn without_names(self) -> Self {
        match self {
            Sink::Csv(out, _) => Sink::Csv(out, None),
            other => other,
        }
    }

    /// Writes what comes before the first line.
    fn begin(&mut self) -> io::Result<()> {
        if let Sink::Csv(out, names) = self
            && let Some(names) = names.take()
        {
            out.write_record(names.iter().map(|(name, _)| name))
                .map_err(plain)?;
        }
        Ok(())
    }

    /// Takes some more lines.
    pub(super) fn take(&mut self, rows: impl Iterator<Item = Row<'a>>) -> io::Result<()> {
        self.begin()?;
        match self {
            Sink::Csv(out, _) => {
                for row in rows {
                    out.write_record(row.iter().map(|cell| cell.written().into_owned()))
                        .map_err(plain)?;
                }
            }
            Sink::Json(out, columns) => {
                for row in rows {
                    let cells = columns.iter().zip(&row);
                    let line: Map<String, Value> = cells
                        .map(|((name, _), cell)| ((*name).to_owned(), cell.json()))
                        .collect();
                    writeln!(out, "{}", Value::Object(line))?;
                }
            }
            Sink::Parquet(groups) => {
                for row in rows {
                    groups.take(row)?;
                }
            }
        }
        Ok(())
    }

    /// There are no more.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.begin()?;
        match self {
            Sink::Csv(mut out, _) => out.flush(),
            Sink::Json(mut out, _) => out.flush(),
            Sink::Parquet(groups) => groups.finish(),
        }
    }
}

/// The system's own error, so that a reader who has gone is known as one.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// The rows of a group, the unit that readers can skip.
pub(super) const GROUP: usize = 1 << 16;

/// A Parquet file that is being written.
pub(super) struct Groups<'a> {
    columns: &'a [Column],
    schema: Arc<Schema>,
    out: ArrowWriter<File>,
    /// The rows of a group that is not full yet.
    waiting: Vec<Row<'a>>,
    /// The same of rows that are copied.
    copied: Option<RecordBatch>,
}

impl<'a> Groups<'a> {
    pub(super) fn new(path: &Path, columns: &'a [Column]) -> io::Result<Self> {
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
        Ok(Groups {
            columns,
            out: ArrowWriter::try_new(file, schema.clone(), Some(properties))?,
            schema,
            waiting: Vec::new(),
            copied: None,
        })
    }

    fn take(&mut self, row: Row<'a>) -> io::Result<()> {
        self.waiting.push(row);
        match self.waiting.len() == GROUP {
            true => self.write(),
            false => Ok(()),
        }
    }

    /// Takes rows of another such file. They are written as many at a time as if they had come one by one, so that the bytes are the same.
    pub(super) fn copy(&mut self, batch: RecordBatch) -> io::Result<()> {
        let all = match self.copied.take() {
            None => batch,
            Some(before) => {
                concat_batches(&self.schema, [&before, &batch]).map_err(io::Error::other)?
            }
        };
        let whole = all.num_rows() / GROUP * GROUP;
        for start in (0..whole).step_by(GROUP) {
            self.out.write(&all.slice(start, GROUP))?;
        }
        self.copied = Some(all.slice(whole, all.num_rows() - whole));
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        let arrays = self.columns.iter().enumerate();
        let arrays = arrays.map(|(at, (_, kind))| array(&rows, at, *kind));
        let batch = RecordBatch::try_new(self.schema.clone(), arrays.collect());
        Ok(self.out.write(&batch.map_err(io::Error::other)?)?)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        if !self.waiting.is_empty() {
            self.write()?;
        }
        if let Some(rest) = self.copied.take().filter(|rest| rest.num_rows() > 0) {
            self.out.write(&rest)?;
        }
        self.out.close()?;
        Ok(())
    }
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
