//! The table of sparse features: one row for each entry, with node, column and value.

use treering_graph::{GraphError, Sparse};

use super::choose::{Part, check_header, check_usable};
use super::edges::node;
use super::ids::Index;
use super::memory::Ledger;
use super::table::{Cell, Rows, TableFile};
use crate::{Context, Fault, Result};

// These cannot be named by the caller, so the flag names what can be done instead.
const RENAME: &str = "one of these names in its first row";
const NODE: Part = Part {
    what: "the entry's node",
    words: &["node", "id", "node_id", "nodeid", "nid", "row"],
    flag: RENAME,
};
const COLUMN: Part = Part {
    what: "the entry's feature column, from 0",
    words: &["column", "col", "feature", "index"],
    flag: RENAME,
};
const VALUE: Part = Part {
    what: "the entry's value",
    words: &["value", "weight", "x"],
    flag: RENAME,
};

/// One entry of the matrix.
#[derive(Clone, Copy)]
struct Entry {
    node: u32,
    column: u32,
    value: f32,
}

/// Reads the table.
///
/// # Arguments
/// * `width`: the number of feature columns where it is known; otherwise the largest one that is used decides.
pub(super) fn read<'a>(
    table: TableFile<'a>,
    index: &Index<'_>,
    nodes: usize,
    width: Option<usize>,
    context: &'a Context<'a>,
) -> Result<Sparse> {
    let path = table.path;
    let part = |part: &Part| {
        let column = part
            .guess(&table.columns)
            .ok_or_else(|| part.required(&table))?;
        check_usable(&table, column).map(|()| column)
    };
    check_header(&table, false)?;
    let [at_node, at_column, at_value] = [part(&NODE)?, part(&COLUMN)?, part(&VALUE)?];
    let mut ledger = Ledger::new(context, path);
    let mut rows = table.rows(&[at_node, at_column, at_value], context)?;
    let mut entries = Vec::new();
    while rows.next()? {
        entries.push(Entry {
            node: node(&rows, at_node, index)?,
            column: feature(&rows, at_column, width)?,
            value: rows.number(at_value)?,
        });
        ledger.add(size_of::<Entry>())?;
    }
    drop(rows);
    let needed = entries.len() * 8 + (nodes + 1) * 16;
    context.take(path, needed as u64)?;
    let used = entries.iter().map(|entry| entry.column as usize + 1).max();
    let sparse = compressed(&entries, nodes, width.or(used).unwrap_or(0));
    ledger.give_back();
    sparse.map_err(|error| Fault::Graph(error).at(path))
}

/// The feature column that a cell names.
fn feature(rows: &Rows<'_>, column: usize, width: Option<usize>) -> Result<u32> {
    let cell = rows.cell(column)?;
    let number = match cell {
        Cell::Integer(number) => u32::try_from(number).ok(),
        Cell::Number(number) if number.fract() == 0.0 && number >= 0.0 => {
            u32::try_from(number as u64).ok()
        }
        Cell::Text(text) => text.trim().parse().ok(),
        _ => None,
    };
    let width = width.unwrap_or(u32::MAX as usize);
    number
        .filter(|&number| (number as usize) < width)
        .ok_or_else(|| rows.bad(column, cell, "the number of a feature column, from 0"))
}

/// Sorts the entries by node; [`Sparse`] sorts each row by column.
fn compressed(
    entries: &[Entry],
    nodes: usize,
    columns: usize,
) -> std::result::Result<Sparse, GraphError> {
    let mut offsets = vec![0u64; nodes + 1];
    for entry in entries {
        offsets[entry.node as usize + 1] += 1;
    }
    for row in 0..nodes {
        offsets[row + 1] += offsets[row];
    }
    let mut next = offsets.clone();
    let (mut indices, mut values) = (vec![0; entries.len()], vec![0.0; entries.len()]);
    for entry in entries {
        let at = &mut next[entry.node as usize];
        indices[*at as usize] = entry.column;
        values[*at as usize] = entry.value;
        *at += 1;
    }
    Sparse::from_unsorted(columns, offsets.into(), indices.into(), values.into())
}
