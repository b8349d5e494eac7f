//! Standard output: whole texts at a time, and no complaint when the reader has gone.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use crate::failure::Failure;

/// Where results go.
pub(crate) struct Output {
    silent: bool,
}

impl Output {
    pub(crate) fn new() -> Self {
        Output { silent: false }
    }

    /// For a part of some work, whose result is a file.
    pub(crate) fn nowhere() -> Self {
        Output { silent: true }
    }

    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        self.lines(|out| out.write_all(text.as_bytes()).map_err(Self::failed))
    }

    /// Lets `write` print as it goes, for results too long to hold as one text.
    pub(crate) fn lines(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.silent {
            return write(&mut io::sink());
        }
        let mut out = io::stdout().lock();
        write(&mut out)?;
        out.flush().map_err(Self::failed)
    }

    /// What an error of writing a result means.
    pub(crate) fn failed(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::system(format!("writing the result: {error}")),
        }
    }

    pub(crate) fn json(&self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).map_err(Failure::system)?;
        self.print(&(text + "\n"))
    }
}

/// Says a line on standard error, as `eprintln!` does; but where nobody listens, the work goes on.
macro_rules! tell {
    ($($part:tt)*) => {
        crate::output::tell_line(format!($($part)*))
    };
}

pub(crate) fn tell_line(mut line: String) {
    line.push('\n');
    // A reader that has gone or a full disk is no reason to stop: results are written elsewhere.
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// A table without lines, so that it pipes well.
pub(crate) fn table(header: &[&str], right: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().copied());
    for &column in right {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A number with commas between its thousands.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(
            [0, 999, 1000, 61_859_140].map(grouped),
            ["0", "999", "1,000", "61,859,140"]
        );
    }
}
