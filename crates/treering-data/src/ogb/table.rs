//! Large gzipped tables of numbers, without header: one thread unpacks while the others parse.
//!
//! products has 61.9 million lines of edges and 2.4 million lines of 100 features. Unpacking cannot be shared, parsing
//! can: text is cut into blocks of whole lines, and while one batch of blocks is parsed in parallel the next one
//! is unpacked. Blocks are put together in order, so the result does not depend on the threads.

use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use rayon::prelude::*;

use crate::open::{Counted, open_file};
use crate::{Context, Fault, Result};

/// Text in one block, and blocks in one batch.
const BLOCK: usize = 1 << 20;
const BATCH: usize = 8;
/// A line longer than this is not a line of numbers.
const LONGEST_LINE: usize = 16 << 20;

/// A number in a table.
pub(super) trait Field: Copy + Send {
    /// What has to stand there, for errors.
    const EXPECTED: &'static str;
    fn parse(text: &[u8]) -> Option<Self>;
}

impl Field for u32 {
    const EXPECTED: &'static str = "a whole number from 0 to 4,294,967,295";
    fn parse(text: &[u8]) -> Option<Self> {
        if text.is_empty() || text.len() > 10 {
            return None;
        }
        let mut value = 0u64;
        for &digit in text {
            if !digit.is_ascii_digit() {
                return None;
            }
            value = value * 10 + u64::from(digit - b'0');
        }
        value.try_into().ok()
    }
}

impl Field for f32 {
    const EXPECTED: &'static str = "a finite number";
    fn parse(text: &[u8]) -> Option<Self> {
        let value: f32 = std::str::from_utf8(text).ok()?.parse().ok()?;
        value.is_finite().then_some(value)
    }
}

/// Numbers row by row.
pub(super) struct Table<T> {
    pub(super) values: Vec<T>,
    pub(super) columns: usize,
}

impl<T> Table<T> {
    pub(super) fn rows(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }
}

/// What is wrong with a block: the line within it, the column, the fault.
type BlockFault = (u64, Option<usize>, Fault);

/// Reads a table; `columns` where their number is known, otherwise the first line decides.
pub(super) fn read_table<T: Field>(
    file: &Path,
    columns: Option<usize>,
    context: &Context<'_>,
) -> Result<Table<T>> {
    let size = std::fs::metadata(file)
        .map_err(|error| Fault::from_io(error).at(file))?
        .len();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    context.progress.begin(&format!("reading {name}"), size);
    let counted = Counted::new(open_file(file)?, context.progress);
    let mut lines = Lines {
        text: MultiGzDecoder::new(BufReader::with_capacity(1 << 18, counted)),
        rest: Vec::new(),
        ended: false,
    };
    let mut table = Table {
        values: Vec::new(),
        columns: columns.unwrap_or(0),
    };
    let mut line = 0u64;
    let mut batch = lines.batch(file)?;
    while !batch.is_empty() {
        if table.columns == 0 {
            let first = batch[0]
                .split(|&byte| byte == b'\n')
                .next()
                .unwrap_or_default();
            table.columns = first.split(|&byte| byte == b',').count();
        }
        let columns = table.columns;
        let (next, parsed) = rayon::join(
            || lines.batch(file),
            || {
                batch
                    .par_iter()
                    .map(|block| parse_block::<T>(block, columns))
                    .collect::<Vec<_>>()
            },
        );
        for block in parsed {
            let values = block.map_err(|(offset, column, fault)| {
                let error = fault.at(file).line(line + offset + 1);
                match column {
                    Some(column) => error.column((column + 1).to_string()),
                    None => error,
                }
            })?;
            line += (values.len() / columns) as u64;
            context.take(file, size_of_val(&values[..]) as u64)?;
            table.values.extend(values);
        }
        batch = next?;
    }
    context.progress.end();
    if table.values.is_empty() {
        return Err(Fault::Empty.at(file));
    }
    table.values.shrink_to_fit();
    Ok(table)
}

fn parse_block<T: Field>(block: &[u8], columns: usize) -> std::result::Result<Vec<T>, BlockFault> {
    let mut values = Vec::with_capacity(block.len() / 4);
    let text = block.strip_suffix(b"\n").unwrap_or(block);
    for (line, text) in (0u64..).zip(text.split(|&byte| byte == b'\n')) {
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let before = values.len();
        for (column, field) in text.split(|&byte| byte == b',').enumerate() {
            let field = field.trim_ascii();
            values.push(T::parse(field).ok_or_else(|| {
                let text = String::from_utf8_lossy(field).into_owned();
                let expected = T::EXPECTED;
                (line, Some(column), Fault::BadValue { text, expected })
            })?);
        }
        let found = values.len() - before;
        if found != columns {
            let fault = Fault::Ragged {
                found: found as u64,
                expected: columns as u64,
                delimiter: None,
            };
            return Err((line, None, fault));
        }
    }
    Ok(values)
}

/// Unpacked text, in blocks of whole lines.
struct Lines<'a> {
    text: MultiGzDecoder<BufReader<Counted<'a>>>,
    /// The beginning of a line whose end is not unpacked yet.
    rest: Vec<u8>,
    ended: bool,
}

impl Lines<'_> {
    /// The next few blocks; none at the end.
    fn batch(&mut self, file: &Path) -> Result<Vec<Vec<u8>>> {
        let mut blocks = Vec::new();
        while blocks.len() < BATCH && !self.ended {
            let block = self.block().map_err(|error| match error.kind() {
                io::ErrorKind::FileTooLarge => Fault::LineTooLong {
                    limit: LONGEST_LINE as u64,
                }
                .at(file),
                _ => Fault::from_io(error).at(file),
            })?;
            if !block.is_empty() {
                blocks.push(block);
            }
        }
        Ok(blocks)
    }

    fn block(&mut self) -> io::Result<Vec<u8>> {
        let mut block = std::mem::take(&mut self.rest);
        loop {
            let before = block.len();
            let read = (&mut self.text)
                .take(BLOCK as u64)
                .read_to_end(&mut block)?;
            if read == 0 {
                self.ended = true;
                return Ok(block);
            }
            if let Some(end) = block[before..].iter().rposition(|&byte| byte == b'\n') {
                self.rest = block.split_off(before + end + 1);
                return Ok(block);
            }
            if block.len() > LONGEST_LINE {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
    }
}
