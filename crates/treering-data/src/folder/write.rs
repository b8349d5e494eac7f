//! Writes a graph as a folder of tables that [`read_folder`](crate::read_folder) reads back to the bit.

use std::fs::File;
use std::path::Path;

use treering_graph::{Graph, NodeNames};

use super::describe::{self, Description, repeated};
use super::ids::{Index, Twice};
use super::{write_csv, write_parquet};
use crate::{Context, Fault, Result};

/// The kind of file that a table is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Typed columns, compressed.
    Parquet,
    /// Text with commas.
    Csv,
    /// Text with commas, packed by gzip.
    CsvGz,
}

/// Writes the graph into a folder that is there and empty. An undirected graph has each edge written once.
///
/// # Errors
/// A file that cannot be written; names that would not come back from a table, such as an empty one.
pub fn write_folder(graph: &Graph, dir: &Path, table: Table, context: &Context<'_>) -> Result<()> {
    check(graph).map_err(|what| {
        let instead = "a native file";
        Fault::CannotHold { what, instead }.at(dir)
    })?;
    match table {
        Table::Parquet => write_parquet::write(graph, dir, context.progress)?,
        Table::Csv => write_csv::write(graph, dir, "csv", context.progress)?,
        Table::CsvGz => write_csv::write(graph, dir, "csv.gz", context.progress)?,
    }
    let path = dir.join(describe::FILE);
    let file = File::create_new(&path).map_err(|error| Fault::from_io(error).at(&path))?;
    serde_json::to_writer_pretty(file, &Description::of(graph))
        .map_err(|error| Fault::from_io(error.into()).at(&path))
}

/// Finds names that a table cannot hold: there an empty cell means that there is nothing.
fn check(graph: &Graph) -> std::result::Result<(), String> {
    if let Err(Twice(node, _)) = Index::new(graph.names()) {
        return Err(format!("two nodes called `{}`", graph.names().name(node)));
    }
    if let NodeNames::Texts(names) = graph.names()
        && names.iter().any(String::is_empty)
    {
        return Err("a node with an empty name".into());
    }
    let classes = graph.labels().map_or(&[][..], |labels| labels.names());
    if classes.iter().any(String::is_empty) {
        return Err("a class with an empty name".into());
    }
    match repeated(classes) {
        Some(name) => Err(format!("two classes called `{name}`")),
        None => Ok(()),
    }
}

/// Source, target and position of every arc to write: of two mirror images only the one that does not descend.
pub(super) fn written_arcs(graph: &Graph) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
    let once = graph.arcs().is_symmetric();
    graph
        .arcs()
        .iter()
        .filter(move |(target, source, _)| !once || source <= target)
        .map(|(target, source, at)| (source, target, at))
}
