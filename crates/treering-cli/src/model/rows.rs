//! Predictions as lines of CSV, lines of JSON or Parquet.

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
use serde_json::json;

use crate::failure::Failure;

/// One line of a result.
pub(super) struct Prediction<'a> {
    pub(super) node: String,
    /// From 1.
    pub(super) rank: u32,
    pub(super) class: &'a str,
    pub(super) probability: f32,
    pub(super) task: &'a str,
    /// None where only one task is known.
    pub(super) margin: Option<f64>,
}

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
    ranked: bool,
    rows: impl Iterator<Item = Prediction<'a>>,
) -> io::Result<()> {
    match format {
        Format::Jsonl => write_json(BufWriter::new(out), ranked, rows),
        Format::Csv | Format::Parquet => write_csv(out, ranked, rows),
    }
}

fn write_csv<'a>(
    out: impl Write,
    ranked: bool,
    rows: impl Iterator<Item = Prediction<'a>>,
) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    let rank = ranked.then_some("rank");
    let names = ["class", "probability", "task", "margin"];
    out.write_record(["node"].into_iter().chain(rank).chain(names))
        .map_err(plain)?;
    for row in rows {
        let rank = ranked.then(|| row.rank.to_string());
        let margin = row
            .margin
            .map_or(String::new(), |margin| margin.to_string());
        let probability = row.probability.to_string();
        let rest = [row.class, &probability, row.task, &margin];
        out.write_record([&*row.node].into_iter().chain(rank.as_deref()).chain(rest))
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
    ranked: bool,
    rows: impl Iterator<Item = Prediction<'a>>,
) -> io::Result<()> {
    for row in rows {
        let mut line = json!({ "node": row.node });
        if ranked {
            line["rank"] = row.rank.into();
        }
        line["class"] = row.class.into();
        line["probability"] = row.probability.into();
        line["task"] = row.task.into();
        line["margin"] = row.margin.into();
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// The rows of a group, the unit that readers can skip.
const GROUP: usize = 1 << 16;

/// Writes a Parquet file.
pub(super) fn write_parquet<'a>(
    path: &Path,
    ranked: bool,
    mut rows: impl Iterator<Item = Prediction<'a>>,
) -> io::Result<()> {
    let mut fields = vec![Field::new("node", DataType::Utf8, false)];
    if ranked {
        fields.push(Field::new("rank", DataType::UInt32, false));
    }
    fields.extend([
        Field::new("class", DataType::Utf8, false),
        Field::new("probability", DataType::Float32, false),
        Field::new("task", DataType::Utf8, false),
        Field::new("margin", DataType::Float64, true),
    ]);
    let schema = Arc::new(Schema::new(fields));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let file = File::create(path)?;
    let mut out = ArrowWriter::try_new(file, schema.clone(), Some(properties))?;
    loop {
        let piece: Vec<Prediction<'_>> = rows.by_ref().take(GROUP).collect();
        if piece.is_empty() {
            break;
        }
        let batch = RecordBatch::try_new(schema.clone(), columns(&piece, ranked));
        out.write(&batch.map_err(io::Error::other)?)?;
    }
    out.close()?;
    Ok(())
}

fn columns(rows: &[Prediction<'_>], ranked: bool) -> Vec<ArrayRef> {
    let texts = |text: fn(&Prediction<'_>) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(text)))
    };
    let mut columns = vec![texts(|row| row.node.clone())];
    if ranked {
        let ranks = rows.iter().map(|row| row.rank);
        columns.push(Arc::new(UInt32Array::from_iter_values(ranks)));
    }
    let probabilities = rows.iter().map(|row| row.probability);
    columns.push(texts(|row| row.class.to_owned()));
    columns.push(Arc::new(Float32Array::from_iter_values(probabilities)));
    columns.push(texts(|row| row.task.to_owned()));
    let margins = rows.iter().map(|row| row.margin);
    columns.push(Arc::new(margins.collect::<Float64Array>()));
    columns
}
