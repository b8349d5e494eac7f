//! Reddit as DGL publishes it: `reddit_data.npz` (feature, label, node_types, node_ids) beside `reddit_graph.npz`, a
//! scipy sparse matrix that stores both directions of every edge.

use std::path::Path;

use treering_graph::{Direction, Graph, Origin, Parts, Role};

use super::archive::Npz;
use super::gnn_benchmark::read_dense;
use crate::labelling::{check_unique, integer_names, number_labels};
use crate::read::{ArcList, Edges, Loaded, ReadOptions};
use crate::{Context, Fault, Result};

const DATA: &str = "reddit_data.npz";
const GRAPH: &str = "reddit_graph.npz";

/// Whether a folder holds this data set.
pub(crate) fn is_reddit(folder: &Path) -> bool {
    folder.join(DATA).exists()
}

pub(crate) fn read_reddit(
    folder: &Path,
    options: &ReadOptions,
    context: &Context<'_>,
) -> Result<Loaded> {
    let mut notes = Vec::new();
    let data_path = folder.join(DATA);
    let mut data = Npz::open(&data_path, context)?;
    let labels = data.vector::<i64>("label")?;
    let nodes = labels.len();
    let features = read_dense(&mut data, "feature", nodes)?;
    let labels: Vec<Option<i64>> = labels.into_iter().map(Some).collect();
    let labels = number_labels(&labels, None, &data_path).map_err(|error| error.member("label"))?;
    let split = read_types(&mut data, nodes)?;
    let names = match data.has("node_ids") {
        true => {
            data.expect("node_ids", nodes, "one for each label")?;
            integer_names(data.vector::<i64>("node_ids")?)
        }
        false => treering_graph::NodeNames::Positions(nodes),
    };

    check_unique(&names, &data_path).map_err(|error| error.member("node_ids"))?;
    let graph_path = folder.join(GRAPH);
    let mut matrix = Npz::open(&graph_path, context)?;
    let (sources, targets, weights) = read_scipy(&mut matrix, nodes, options.ignore_weights)?;
    let direction = match options.edges {
        Edges::Undirected => Direction::Undirected,
        Edges::Auto | Edges::Directed => Direction::Directed,
    };
    let list = ArcList {
        file: &graph_path,
        nodes,
        sources: &sources,
        targets: &targets,
        weights: weights.as_deref(),
        direction,
    };
    let arcs = list.build(context, &mut notes)?;
    let graph = Graph::new(Parts {
        arcs,
        features,
        labels: Some(labels),
        names,
        split: Some(split.into()),
        origin: Origin {
            name: "reddit".into(),
            synthetic: None,
        },
    })
    .map_err(|error| Fault::Graph(error).at(&data_path))?;
    Ok(Loaded {
        graph,
        format: "DGL Reddit",
        notes,
    })
}

/// `node_types`: 1 train, 2 validation, 3 test.
fn read_types(data: &mut Npz<'_>, nodes: usize) -> Result<Vec<Role>> {
    data.expect("node_types", nodes, "one for each label")?;
    let types = data.vector::<u8>("node_types")?;
    if let Some(row) = types.iter().position(|kind| !(1..=3).contains(kind)) {
        let text = types[row].to_string();
        let expected = "1 (train), 2 (validation) or 3 (test)";
        let error = data.error("node_types", Fault::BadValue { text, expected });
        return Err(error.row(row as u64));
    }
    Ok(types
        .iter()
        .map(|&kind| Role::ALL[usize::from(kind)])
        .collect())
}

/// Sources, targets and weights of a matrix that scipy saved as csr, csc or coo; entry (i, j) is the arc i -> j.
#[allow(clippy::type_complexity)]
fn read_scipy(
    matrix: &mut Npz<'_>,
    nodes: usize,
    ignore_weights: bool,
) -> Result<(Vec<u32>, Vec<u32>, Option<Vec<f32>>)> {
    let shape = matrix.vector::<u64>("shape")?;
    if shape[..] != [nodes as u64, nodes as u64] {
        return Err(matrix.error(
            "shape",
            Fault::WrongShape {
                found: shape,
                expected: format!("[{nodes}, {nodes}], one for each label"),
            },
        ));
    }
    let format = matrix.texts("format")?.concat();
    let (sources, targets) = match format.as_str() {
        "coo" => {
            let rows = matrix.vector::<u32>("row")?;
            matrix.expect("col", rows.len(), "one for each entry of `row`")?;
            (rows, matrix.vector::<u32>("col")?)
        }
        "csr" | "csc" => {
            matrix.expect("indptr", nodes + 1, "one for each node, and the end")?;
            let minor = matrix.vector::<u32>("indices")?;
            let offsets = matrix.vector::<u64>("indptr")?;
            let major = expand(matrix, &offsets, minor.len())?;
            if format == "csr" {
                (major, minor)
            } else {
                (minor, major)
            }
        }
        _ => {
            let expected = "coo, csr or csc";
            return Err(matrix.error(
                "format",
                Fault::BadValue {
                    text: format,
                    expected,
                },
            ));
        }
    };
    let weights = match ignore_weights {
        true => None,
        false => {
            matrix.expect("data", sources.len(), "one for each arc")?;
            Some(matrix.vector::<f32>("data")?)
        }
    };
    Ok((sources, targets, weights))
}

/// The row of every entry, from row offsets.
fn expand(matrix: &Npz<'_>, offsets: &[u64], items: usize) -> Result<Vec<u32>> {
    let sound = offsets.first() == Some(&0)
        && offsets.last() == Some(&(items as u64))
        && offsets.is_sorted()
        && u32::try_from(offsets.len()).is_ok();
    if !sound {
        let why = "its row offsets do not fit the number of entries".to_owned();
        return Err(matrix.error("indptr", Fault::Damaged { why }));
    }
    let mut rows = Vec::with_capacity(items);
    for (row, pair) in (0u32..).zip(offsets.windows(2)) {
        rows.resize(pair[1] as usize, row);
    }
    Ok(rows)
}
