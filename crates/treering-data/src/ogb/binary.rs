//! The binary variant of an OGB folder (papers100M): `data.npz` and `node-label.npz` instead of text.

use std::path::Path;

use treering_graph::Dense;

use super::Raw;
use crate::npz::{LooseLabel, Npz};
use crate::{Context, Fault, Result};

pub(super) fn read_binary(raw: &Path, context: &Context<'_>) -> Result<Raw> {
    let edge_file = raw.join("data.npz");
    let mut data = Npz::open(&edge_file, context)?;
    let mut edges = data.numbers::<u32>("edge_index")?;
    let arcs = match edges.shape[..] {
        [2, arcs] => arcs as usize,
        _ => {
            let expected = "[2, arcs]".to_owned();
            return Err(data.error(
                "edge_index",
                Fault::WrongShape {
                    found: edges.shape,
                    expected,
                },
            ));
        }
    };
    let targets = edges.values.split_off(arcs);
    let features = data.numbers::<f32>("node_feat")?;
    let (nodes, columns) = match features.shape[..] {
        [nodes, columns] => (nodes as usize, columns as usize),
        _ => {
            let expected = "[nodes, columns]".to_owned();
            return Err(data.error(
                "node_feat",
                Fault::WrongShape {
                    found: features.shape,
                    expected,
                },
            ));
        }
    };
    let features = Dense::new(nodes, columns, features.values.into())
        .map_err(|error| data.error("node_feat", Fault::Graph(error)))?;
    let label_file = raw.join("node-label.npz");
    let mut labels = Npz::open(&label_file, context)?;
    labels.expect("node_label", nodes, "one for each row of node_feat")?;
    let numbers = labels.vector::<LooseLabel>("node_label")?;
    Ok(Raw {
        nodes,
        sources: edges.values,
        targets,
        features,
        labels: numbers.into_iter().map(|label| label.0).collect(),
        edge_file,
        label_file,
    })
}
