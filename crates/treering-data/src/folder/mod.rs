//! A folder of tables: `nodes`, `edges` and sometimes `features`, as `.parquet`, `.csv` or `.csv.gz`.
//!
//! This is what a person makes by hand or exports from a data frame or a data base, so columns may have many names
//! and everything that was guessed is told in a note. What this program writes is the same form with a `graph.json`
//! beside it, which says what tables cannot: direction, order of classes, width, origin.
//!
//! A table is read row by row and never held as a whole; both kinds of file look the same from [`table::TableFile`] on.

mod choose;
mod classes;
mod csv_rows;
mod describe;
mod edges;
mod find;
mod ids;
mod memory;
mod nodes;
mod parquet_rows;
mod quiet;
mod sparse;
mod table;
mod write;
mod write_csv;
mod write_parquet;

use std::path::Path;

use treering_graph::{Direction, Features, Graph, NodeId, Origin, Parts};

use crate::{Context, DataError, Edges, Fault, Loaded, ReadOptions, Result};
use describe::Description;
use find::Files;
use ids::{Index, Twice};
use nodes::Nodes;
use table::TableFile;

pub use find::is_folder;
pub use write::{Table, write_folder};

const FORMAT: &str = "folder";

/// Reads a graph from a folder of tables, or from two tables named in `options`.
///
/// Edges get mirror images unless the caller or `graph.json` says that the graph is directed.
///
/// # Errors
/// Files that are missing, damaged or too large; cells that do not hold what their column should hold, with the line
/// (text) or the row (Parquet) and the column.
pub fn read_folder(
    dir: Option<&Path>,
    options: &ReadOptions,
    context: &Context<'_>,
) -> Result<Loaded> {
    let files = Files::find(dir, options)?;
    let described = match &files.description {
        Some(path) => Some(Description::read(path, context)?),
        None => None,
    };
    let mut notes = Vec::new();
    let features_file = features_file(&files, options, described.as_ref(), &mut notes)?;
    let exact = described.is_some();
    let nodes = nodes::read(
        TableFile::open(&files.nodes, exact)?,
        &options.columns,
        described.as_ref(),
        features_file.is_some(),
        context,
        &mut notes,
    )?;
    let checked = features_file.is_none() && options.columns.features.is_none();
    check_description(&files.nodes, described.as_ref(), &nodes, checked)?;
    let count = nodes.names.len();
    let index_bytes = Index::bytes(&nodes.names);
    context.take(&files.nodes, index_bytes)?;
    let index =
        Index::new(&nodes.names).map_err(|twice| duplicate(&files.nodes, &nodes, &twice))?;
    let direction = direction(options.edges, described.as_ref(), &mut notes);
    let table = TableFile::open(&files.edges, exact)?;
    let arcs = edges::read(
        table, options, &index, count, direction, context, &mut notes,
    )?;
    let features = match features_file {
        None => Features::Dense(nodes.features),
        Some(path) => {
            let width = described
                .as_ref()
                .map(|described| described.features.columns);
            let table = TableFile::open(path, exact)?;
            Features::Sparse(sparse::read(table, &index, count, width, context)?)
        }
    };
    drop(index);
    context.give_back(index_bytes);
    if features.columns() == 0 {
        notes.push("the nodes have no features".into());
    }
    let graph = Graph::new(Parts {
        arcs,
        features,
        labels: nodes.labels,
        names: nodes.names,
        split: nodes.split.map(Into::into),
        origin: origin(dir, &files, described.as_ref()),
    })
    .map_err(|error| Fault::Graph(error).at(&files.nodes))?;
    Ok(Loaded {
        graph,
        format: FORMAT,
        notes,
    })
}

/// The table of sparse features, where the features are to come from one.
fn features_file<'a>(
    files: &'a Files,
    options: &ReadOptions,
    described: Option<&Description>,
    notes: &mut Vec<String>,
) -> Result<Option<&'a Path>> {
    let named = options.columns.features.is_some();
    let wanted = !named && described.is_none_or(Description::is_sparse);
    match &files.features {
        Some(path) if wanted => Ok(Some(path)),
        Some(path) => {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            notes.push(format!(
                "{file} is not used: the features are in the table of nodes"
            ));
            Ok(None)
        }
        None if wanted && described.is_some() => {
            let fault = Fault::MissingMember {
                name: "features.parquet or features.csv or features.csv.gz".into(),
                available: files.available.clone(),
            };
            Err(fault.at(files.description.as_deref().unwrap_or(&files.nodes)))
        }
        None => Ok(None),
    }
}

/// A folder whose tables do not fit its own description was changed or cut.
fn check_description(
    path: &Path,
    described: Option<&Description>,
    nodes: &Nodes,
    dense: bool,
) -> Result<()> {
    const BECAUSE: &str = "graph.json says so";
    let Some(described) = described else {
        return Ok(());
    };
    let (found, expected) = (nodes.names.len(), described.nodes);
    if found != expected {
        let fault = Fault::LengthMismatch {
            what: "nodes".into(),
            found: found as u64,
            expected: expected as u64,
            because: BECAUSE.into(),
        };
        return Err(fault.at(path));
    }
    let (found, expected) = (nodes.features.columns(), described.features.columns);
    if dense && found != expected {
        return Err(nodes::width_fault(found, expected, BECAUSE).at(path));
    }
    Ok(())
}

fn direction(wanted: Edges, described: Option<&Description>, notes: &mut Vec<String>) -> Direction {
    let stored_once = described.is_some_and(|described| !described.directed);
    match wanted {
        Edges::Undirected => Direction::Undirected,
        Edges::Auto if described.is_none() || stored_once => Direction::Undirected,
        Edges::Auto => Direction::Directed,
        Edges::Directed => {
            if stored_once {
                notes.push(
                    "the folder holds every undirected edge once; read as directed, it has only one of the two arcs"
                        .into(),
                );
            }
            Direction::Directed
        }
    }
}

/// The error for an id that stands twice; only now do the lines matter.
fn duplicate(path: &Path, nodes: &Nodes, &Twice(first, second): &Twice) -> DataError {
    let place = |node: NodeId| table::place_of(path, node.index());
    match (place(first), place(second)) {
        (Ok(first), Ok(row)) => {
            let id = nodes.names.name(second);
            let mut error = Fault::DuplicateId { id, first }.at(path);
            error.row = Some(row);
            error.column = nodes.id_column.clone();
            error
        }
        (Err(error), _) | (_, Err(error)) => error,
    }
}

fn origin(dir: Option<&Path>, files: &Files, described: Option<&Description>) -> Origin {
    if let Some(described) = described {
        return described.origin();
    }
    // `.` and `..` have no name of their own.
    let whole = dir.map(|dir| dir.canonicalize().unwrap_or_else(|_| dir.to_owned()));
    let name = match &whole {
        Some(dir) => dir.file_name(),
        None => files.nodes.file_stem(),
    };
    Origin {
        name: name.unwrap_or_default().to_string_lossy().into_owned(),
        synthetic: None,
    }
}
