//! Which column of a table is what: by the name that the caller gives, or by the usual names.

use super::table::{Column, Kind, TableFile};
use crate::{DataError, Fault, Result};

/// What a column can be for.
pub(super) struct Part {
    /// What it is, for an error.
    pub(super) what: &'static str,
    /// The usual names, the likeliest first.
    pub(super) words: &'static [&'static str],
    /// The flag that names it.
    pub(super) flag: &'static str,
}

pub(super) const ID: Part = Part {
    what: "the node's id",
    words: &["id", "node", "node_id", "nodeid", "nid", "name"],
    flag: "--id-column",
};
pub(super) const LABEL: Part = Part {
    what: "the node's label",
    words: &["label", "class", "y", "category", "topic", "target"],
    flag: "--label-column",
};
pub(super) const SPLIT: Part = Part {
    what: "the node's split",
    words: &["split", "set", "role", "partition"],
    flag: "--split-column",
};
pub(super) const FEATURES: Part = Part {
    what: "the features",
    words: &["features", "feature", "x", "embedding"],
    flag: "--feature-columns",
};
pub(super) const SOURCE: Part = Part {
    what: "the edge's source",
    words: &["src", "source", "from", "u", "head", "node1"],
    flag: "--source-column",
};
pub(super) const TARGET: Part = Part {
    what: "the edge's target",
    words: &["dst", "target", "to", "v", "tail", "node2"],
    flag: "--target-column",
};
pub(super) const WEIGHT: Part = Part {
    what: "the edge's weight",
    words: &["weight", "w", "value"],
    flag: "--weight-column",
};

impl Part {
    /// The column that the caller names, or else the one with the likeliest name.
    pub(super) fn choose(
        &self,
        table: &TableFile<'_>,
        given: Option<&str>,
    ) -> Result<Option<usize>> {
        match given {
            Some(name) => self.named(table, name).map(Some),
            None => Ok(self.guess(&table.columns)),
        }
    }

    /// The column that the caller names.
    pub(super) fn named(&self, table: &TableFile<'_>, name: &str) -> Result<usize> {
        let column = table.columns.iter().position(|column| column.name == name);
        column
            .or_else(|| called(&table.columns, name))
            .ok_or_else(|| self.missing(table, &format!("`{name}`, {}", self.what)))
    }

    /// The column with the likeliest name.
    pub(super) fn guess(&self, columns: &[Column]) -> Option<usize> {
        self.words.iter().find_map(|word| called(columns, word))
    }

    /// The usual names, for people.
    pub(super) fn words(&self) -> String {
        self.words.join(", ")
    }

    /// Whether a column has one of the usual names.
    pub(super) fn fits(&self, column: &Column) -> bool {
        self.words
            .iter()
            .any(|word| column.name.eq_ignore_ascii_case(word))
    }

    /// The error that there is no such column.
    pub(super) fn required(&self, table: &TableFile<'_>) -> DataError {
        self.missing(table, &format!("{} ({})", self.what, self.words.join(", ")))
    }

    fn missing(&self, table: &TableFile<'_>, wanted: &str) -> DataError {
        let fault = Fault::MissingColumn {
            wanted: wanted.to_owned(),
            available: table.names(),
            flag: self.flag,
        };
        fault.at(table.path)
    }
}

fn called(columns: &[Column], word: &str) -> Option<usize> {
    columns
        .iter()
        .position(|column| column.name.eq_ignore_ascii_case(word))
}

/// Refuses a column whose cells can be no id, label or number.
pub(super) fn check_usable(table: &TableFile<'_>, column: usize) -> Result<()> {
    let Column { name, kind } = &table.columns[column];
    let found = match kind {
        Kind::Other(found) => found.clone(),
        Kind::List if !table.is_text() => "list".to_owned(),
        _ => return Ok(()),
    };
    let expected = "numbers or texts";
    Err(Fault::WrongType { found, expected }
        .at(table.path)
        .column(name))
}

/// Refuses a first line that holds data. `allowed` says whether numbers may be names here.
pub(super) fn check_header(table: &TableFile<'_>, allowed: bool) -> Result<()> {
    let is_number = |column: &Column| column.name.parse::<f64>().is_ok();
    if allowed || !table.is_text() || !table.columns.iter().all(is_number) {
        return Ok(());
    }
    let fault = Fault::BadValue {
        text: table.names().join(","),
        expected: "a first line that names the columns",
    };
    Err(fault.at(table.path).line(1))
}

/// Some names for a note; a table may have thousands.
pub(super) fn some_names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).map(|name| format!("`{name}`")).collect();
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
