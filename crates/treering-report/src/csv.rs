//! Numbers of a figure as CSV.

/// A table that grows line by line.
pub(crate) struct Csv(String);

impl Csv {
    pub(crate) fn new(header: &[&str]) -> Self {
        Csv(header.join(",") + "\n")
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        self.0.push_str(&(cells.join(",") + "\n"));
    }

    pub(crate) fn text(self) -> String {
        self.0
    }
}

fn quoted(cell: &str) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// A number with at most three decimals, empty for none.
pub(crate) fn cell(value: impl Into<Option<f64>>) -> String {
    let rounded = |value: f64| ((value * 1e3).round() / 1e3 + 0.0).to_string();
    value.into().map(rounded).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_needed() {
        let mut csv = Csv::new(&["a", "b"]);
        csv.row(["x, \"y\"".into(), cell(1.0 / 3.0)]);
        csv.row([cell(None), cell(-0.0001)]);
        assert_eq!(csv.text(), "a,b\n\"x, \"\"y\"\"\",0.333\n,0\n");
    }
}
