//! Rows of a Parquet file, decoded a batch at a time.
//!
//! The types that a program stored beside the file's own are left aside: without them lists are lists and texts are
//! texts, whatever the program called them, and there is one part less that can be damaged.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ListArray, RecordBatch, StringArray};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};

use super::quiet::guarded;
use super::table::{Cell, Column, Kind};
use crate::open::open_file;
use crate::{DataError, Fault, Progress, Result};

/// How many cells are decoded at once; lists count as many.
const CELLS: usize = 1 << 20;

/// A file whose description has been read.
pub(super) struct ParquetFile {
    file: std::fs::File,
    metadata: ArrowReaderMetadata,
}

impl ParquetFile {
    /// Reads what the file says about itself.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = open_file(path)?;
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = guarded(|| ArrowReaderMetadata::load(&file, options))
            .map_err(|why| damaged(path, why))?
            .map_err(|error| damaged(path, error.to_string()))?;
        Ok(ParquetFile { file, metadata })
    }

    /// The columns, with what they hold.
    pub(super) fn columns(&self) -> Vec<Column> {
        let fields = self.metadata.schema().fields().iter();
        let column = |field: &arrow_schema::FieldRef| Column {
            name: field.name().clone(),
            kind: kind_of(field.data_type()),
        };
        fields.map(column).collect()
    }

    /// Starts to read the columns in `used`.
    pub(super) fn rows<'a>(
        self,
        path: &'a Path,
        used: &[usize],
        progress: &'a dyn Progress,
    ) -> Result<ParquetRows<'a>> {
        let told = |error: std::io::Error| Fault::from_io(error).at(path);
        let bytes = self.file.metadata().map_err(told)?.len();
        let described = self.metadata.metadata().clone();
        let columns = self.columns();
        let batch = batch_rows(&columns, used);
        let mut used = used.to_vec();
        used.sort_unstable();
        used.dedup();
        let mask = ProjectionMask::roots(described.file_metadata().schema_descr(), used.clone());
        let reader = guarded(|| {
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file, self.metadata)
                .with_projection(mask)
                .with_batch_size(batch)
                .build()
        })
        .map_err(|why| damaged(path, why))?
        .map_err(|error| damaged(path, error.to_string()))?;
        Ok(ParquetRows {
            path,
            reader,
            decoded: columns.iter().map(|_| None).collect(),
            used,
            at: 0,
            rows: 0,
            before: 0,
            progress,
            bytes,
            total: u64::try_from(described.file_metadata().num_rows()).unwrap_or(0),
            told: 0,
        })
    }
}

/// So many rows that a batch stays small however wide a row is.
fn batch_rows(columns: &[Column], used: &[usize]) -> usize {
    const LIST: usize = 1 << 10;
    let cells = |&column: &usize| match columns[column].kind {
        Kind::List => LIST,
        _ => 1,
    };
    let wide = used.iter().map(cells).sum::<usize>().max(1);
    (CELLS / wide).clamp(1, 1 << 14)
}

/// The rows of one file.
pub(super) struct ParquetRows<'a> {
    path: &'a Path,
    reader: ParquetRecordBatchReader,
    decoded: Vec<Option<Decoded>>,
    used: Vec<usize>,
    /// One past the current row of the batch.
    at: usize,
    rows: usize,
    before: u64,
    progress: &'a dyn Progress,
    bytes: u64,
    total: u64,
    told: u64,
}

impl ParquetRows<'_> {
    /// Moves to the next row; false after the last.
    pub(super) fn next(&mut self) -> Result<bool> {
        while self.at == self.rows {
            self.before += self.rows as u64;
            self.tell();
            // After a panic the error ends the reading, so the reader is not used again.
            let decoded = guarded(|| match self.reader.next() {
                None => Ok(None),
                Some(Err(error)) => Err(error.to_string()),
                Some(Ok(batch)) => decode(&batch).map(|values| Some((batch.num_rows(), values))),
            });
            let batch = decoded
                .and_then(|batch| batch)
                .map_err(|why| damaged(self.path, why));
            let Some((rows, values)) = batch.map_err(|error| error.row(self.before))? else {
                (self.at, self.rows) = (0, 0);
                return Ok(false);
            };
            for (&column, values) in self.used.iter().zip(values) {
                self.decoded[column] = Some(values);
            }
            (self.at, self.rows) = (0, rows);
        }
        self.at += 1;
        Ok(true)
    }

    /// Rows are what is counted here, so the bytes read are worked out from them.
    fn tell(&mut self) {
        let share = self.before.min(self.total) as f64 / self.total.max(1) as f64;
        let bytes = (self.bytes as f64 * share) as u64;
        self.progress.advance(bytes.saturating_sub(self.told));
        self.told = bytes;
    }

    /// The number of the current row.
    pub(super) fn index(&self) -> u64 {
        (self.before + self.at as u64).saturating_sub(1)
    }

    fn current(&self, column: usize) -> Option<(&Decoded, usize)> {
        let decoded = self.decoded.get(column)?.as_ref()?;
        let row = self.at.checked_sub(1)?;
        decoded.array.is_valid(row).then_some((decoded, row))
    }

    /// A cell of the current row.
    pub(super) fn cell(&self, column: usize) -> Cell<'_> {
        let Some((decoded, row)) = self.current(column) else {
            return Cell::Missing;
        };
        match &decoded.values {
            Values::Integer(values) => Cell::Integer(values[row]),
            Values::Unsigned(values) => match i64::try_from(values[row]) {
                Ok(number) => Cell::Integer(number),
                Err(_) => Cell::Unsigned(values[row]),
            },
            Values::Number(values) => Cell::Number(values[row]),
            Values::Text(values) => match values.value(row) {
                "" => Cell::Missing,
                text => Cell::Text(text),
            },
            Values::List(..) => Cell::Missing,
        }
    }

    /// Adds the numbers of a list cell to `into`; false when there is no list, or a hole in it.
    pub(super) fn list(&self, column: usize, into: &mut Vec<f32>) -> bool {
        let Some((decoded, row)) = self.current(column) else {
            return false;
        };
        let Values::List(lists, numbers) = &decoded.values else {
            return false;
        };
        let ends = lists.value_offsets();
        let range = ends[row] as usize..ends[row + 1] as usize;
        if lists.values().null_count() > 0 && range.clone().any(|at| lists.values().is_null(at)) {
            return false;
        }
        into.extend_from_slice(&numbers[range]);
        true
    }
}

/// One column of a batch; the array is kept because it knows which cells are missing.
struct Decoded {
    array: ArrayRef,
    values: Values,
}

enum Values {
    Integer(Vec<i64>),
    Unsigned(Vec<u64>),
    Number(Vec<f64>),
    Text(StringArray),
    List(ListArray, Vec<f32>),
}

fn decode(batch: &RecordBatch) -> std::result::Result<Vec<Decoded>, String> {
    let column = |array: &ArrayRef| {
        let values = match array.data_type() {
            DataType::List(_) => {
                let lists = array.as_list::<i32>().clone();
                let numbers = floats(lists.values())?;
                Values::List(lists, numbers)
            }
            _ => scalars(array)?,
        };
        let array = array.clone();
        Ok(Decoded { array, values })
    };
    batch.columns().iter().map(column).collect()
}

fn scalars(array: &ArrayRef) -> std::result::Result<Values, String> {
    Ok(match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean().values().iter();
            Values::Integer(values.map(i64::from).collect())
        }
        DataType::Int8 => Values::Integer(widened::<Int8Type, _>(array)),
        DataType::Int16 => Values::Integer(widened::<Int16Type, _>(array)),
        DataType::Int32 => Values::Integer(widened::<Int32Type, _>(array)),
        DataType::Int64 => Values::Integer(widened::<Int64Type, _>(array)),
        DataType::UInt8 => Values::Integer(widened::<UInt8Type, _>(array)),
        DataType::UInt16 => Values::Integer(widened::<UInt16Type, _>(array)),
        DataType::UInt32 => Values::Integer(widened::<UInt32Type, _>(array)),
        DataType::UInt64 => Values::Unsigned(widened::<UInt64Type, _>(array)),
        DataType::Float16 => Values::Number(widened::<Float16Type, _>(array)),
        DataType::Float32 => Values::Number(widened::<Float32Type, _>(array)),
        DataType::Float64 => Values::Number(widened::<Float64Type, _>(array)),
        DataType::Utf8 => Values::Text(array.as_string::<i32>().clone()),
        DataType::Binary => Values::Text(
            StringArray::try_from_binary(array.as_binary::<i32>().clone())
                .map_err(|error| error.to_string())?,
        ),
        other => return Err(format!("a column of type {other} cannot be read")),
    })
}

fn widened<T: ArrowPrimitiveType, W: From<T::Native>>(array: &ArrayRef) -> Vec<W> {
    let values = array.as_primitive::<T>().values().iter();
    values.map(|&value| W::from(value)).collect()
}

fn floats(array: &ArrayRef) -> std::result::Result<Vec<f32>, String> {
    Ok(match scalars(array)? {
        Values::Integer(values) => values.into_iter().map(|value| value as f32).collect(),
        Values::Unsigned(values) => values.into_iter().map(|value| value as f32).collect(),
        Values::Number(values) => values.into_iter().map(|value| value as f32).collect(),
        Values::Text(_) | Values::List(..) => return Err("a list without numbers".into()),
    })
}

fn kind_of(found: &DataType) -> Kind {
    match found {
        DataType::Utf8 | DataType::Binary => Kind::Text,
        found if is_number(found) => Kind::Number,
        DataType::List(item) if is_number(item.data_type()) => Kind::List,
        other => Kind::Other(other.to_string()),
    }
}

fn is_number(found: &DataType) -> bool {
    found.is_integer() || found.is_floating() || *found == DataType::Boolean
}

fn damaged(path: &Path, why: String) -> DataError {
    Fault::Damaged { why }.at(path)
}
