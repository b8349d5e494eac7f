//! OGB node-property folders, as the `ogb` package unpacks them.
//!
//! `raw/` holds the graph, as gzipped text (arxiv, products) or as NumPy archives (papers100M); `split/<scheme>/` holds
//! the official split. Whether arcs get mirror images is not in the folder but in the `ogb` package's own list,
//! so it is decided by the folder's name.

mod binary;
mod split;
mod table;

use std::path::Path;

use treering_graph::{Dense, Direction, Features, Graph, GraphError, NodeNames, Origin, Parts};

use crate::labelling::number_labels;
use crate::npz::LooseLabel;
use crate::read::{ArcList, Edges, Loaded, ReadOptions, file_stem};
use crate::{Context, Fault, Result};
use table::{Field, read_table};

/// The parts of a data set that text and binary folders have in common.
struct Raw {
    nodes: usize,
    sources: Vec<u32>,
    targets: Vec<u32>,
    features: Dense,
    labels: Vec<Option<i64>>,
    /// The file that edges came from, for errors.
    edge_file: std::path::PathBuf,
    label_file: std::path::PathBuf,
}

/// Data sets for which the `ogb` package adds mirror images.
const UNDIRECTED: [&str; 2] = ["products", "proteins"];

/// Data sets that it leaves as they are.
const DIRECTED: [&str; 3] = ["arxiv", "papers100M", "mag"];

/// Whether a folder holds an OGB data set.
pub(crate) fn is_ogb(folder: &Path) -> bool {
    let raw = folder.join("raw");
    raw.join("edge.csv.gz").exists() || raw.join("data.npz").exists()
}

pub(crate) fn read_ogb(
    folder: &Path,
    options: &ReadOptions,
    context: &Context<'_>,
) -> Result<Loaded> {
    // `.` and `..` have no name of their own.
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = file_stem(&whole);
    let mut notes = Vec::new();
    let raw = match folder.join("raw/data.npz").exists() {
        true => binary::read_binary(&folder.join("raw"), context)?,
        false => read_text(&folder.join("raw"), context)?,
    };
    let direction = match options.edges {
        Edges::Directed => Direction::Directed,
        Edges::Undirected => Direction::Undirected,
        Edges::Auto if UNDIRECTED.iter().any(|known| name.contains(known)) => Direction::Undirected,
        Edges::Auto => {
            if !DIRECTED.iter().any(|known| name.contains(known)) {
                notes.push(format!(
                    "`{name}` is no data set of the `ogb` package, so arcs stay as stored; --undirected adds mirror images"
                ));
            }
            Direction::Directed
        }
    };
    let list = ArcList {
        file: &raw.edge_file,
        nodes: raw.nodes,
        sources: &raw.sources,
        targets: &raw.targets,
        weights: None,
        direction,
    };
    let arcs = list
        .build(context, &mut notes)
        .map_err(|error| match *error.fault {
            // An arc is a line of the table.
            Fault::Graph(GraphError::ArcOutside { position, .. }) => error.line(position + 1),
            _ => error,
        })?;
    let labels = number_labels(&raw.labels, None, &raw.label_file)?;
    let split = split::read_split(folder, options.split_scheme.as_deref(), raw.nodes, context)?;
    let graph = Graph::new(Parts {
        arcs,
        features: Features::Dense(raw.features),
        labels: Some(labels),
        names: NodeNames::Positions(raw.nodes),
        split: split.map(Into::into),
        origin: Origin {
            name,
            synthetic: None,
        },
    })
    .map_err(|error| Fault::Graph(error).at(folder.join("raw")))?;
    Ok(Loaded {
        graph,
        format: "OGB folder",
        notes,
    })
}

fn read_text(raw: &Path, context: &Context<'_>) -> Result<Raw> {
    let nodes = read_count(&raw.join("num-node-list.csv.gz"), context)?;
    let edges = read_count(&raw.join("num-edge-list.csv.gz"), context)?;
    let edge_file = raw.join("edge.csv.gz");
    let table = read_table::<u32>(&edge_file, Some(2), context)?;
    expect_rows(&edge_file, table.rows(), edges, "num-edge-list.csv.gz")?;
    let sources = table.values.iter().step_by(2).copied().collect();
    let targets = table.values.iter().skip(1).step_by(2).copied().collect();
    drop(table);

    let feature_file = raw.join("node-feat.csv.gz");
    let table = read_table::<f32>(&feature_file, None, context)?;
    expect_rows(&feature_file, table.rows(), nodes, "num-node-list.csv.gz")?;
    let features = Dense::new(nodes, table.columns, table.values.into())
        .map_err(|error| Fault::Graph(error).at(&feature_file))?;

    let label_file = raw.join("node-label.csv.gz");
    let table = read_table::<LooseLabel>(&label_file, Some(1), context)?;
    expect_rows(&label_file, table.rows(), nodes, "num-node-list.csv.gz")?;
    Ok(Raw {
        nodes,
        sources,
        targets,
        features,
        labels: table.values.into_iter().map(|label| label.0).collect(),
        edge_file,
        label_file,
    })
}

/// A file with one number in it.
fn read_count(file: &Path, context: &Context<'_>) -> Result<usize> {
    let table = read_table::<u32>(file, Some(1), context)?;
    match table.values[..] {
        [count] => Ok(count as usize),
        _ => Err(Fault::LengthMismatch {
            what: "numbers".into(),
            found: table.values.len() as u64,
            expected: 1,
            because: "a node-property data set is one graph".into(),
        }
        .at(file)),
    }
}

fn expect_rows(file: &Path, found: usize, expected: usize, because: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Fault::LengthMismatch {
        what: "rows".into(),
        found: found as u64,
        expected: expected as u64,
        because: format!("{because} says so"),
    }
    .at(file))
}

impl Field for LooseLabel {
    const EXPECTED: &'static str = "a class number";
    fn parse(text: &[u8]) -> Option<Self> {
        // pandas writes a missing number as nothing, in quotes when it is alone on its line.
        if text.is_empty() || text == b"\"\"" {
            return Some(LooseLabel(None));
        }
        std::str::from_utf8(text)
            .ok()?
            .parse()
            .ok()
            .and_then(LooseLabel::from_number)
    }
}
