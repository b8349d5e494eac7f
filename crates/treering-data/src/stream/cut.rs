//! Cutting a graph out of a larger one, whichever of the two fits into memory.

use treering_graph::{Dense, Features, Graph, NodeId};

use crate::{Fault, Large, Result};

/// Rows that are copied before the memory of the whole graph's is given back.
const PICKED: usize = 512;

/// As [`Graph::induced`]; dense features that are too large for memory lie in a file.
///
/// # Errors
/// No room for that file.
///
/// # Panics
/// As [`Graph::induced`].
pub fn induced(graph: &Graph, nodes: &[NodeId]) -> Result<Graph> {
    let Features::Dense(dense) = graph.features() else {
        return Ok(graph.induced(nodes));
    };
    let columns = dense.columns();
    if !Large::<f32>::is_filed(nodes.len() * columns) {
        return Ok(graph.induced(nodes));
    }
    let mut values = Large::zeros(nodes.len() * columns)?;
    values.fill(columns, |some, out| {
        let pieces = nodes[some].chunks(PICKED);
        for (nodes, out) in pieces.zip(out.chunks_mut(PICKED * columns)) {
            for (node, out) in nodes.iter().zip(out.chunks_mut(columns)) {
                out.copy_from_slice(dense.row(node.index()));
            }
            graph.features().release(0..dense.rows());
        }
    });
    let features = Dense::new(nodes.len(), columns, values.into())
        .map_err(|error| Fault::Graph(error).at(std::path::Path::new(&graph.origin().name)))?;
    Ok(graph.induced_with(nodes, Features::Dense(features)))
}
