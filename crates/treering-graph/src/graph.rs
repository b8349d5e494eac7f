//! A graph: arcs, features, and what is known about the nodes.

use crate::{Arcs, Buffer, Features, GraphError, Labels, NodeId, NodeNames, Role};

/// Where a graph comes from. Travels with the graph into every file and every report, so that synthetic data can
/// never be taken for real data.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// A short name, such as the file's or the preset's.
    pub name: String,
    /// The recipe, when the graph was made up by a generator.
    pub synthetic: Option<String>,
}

/// The parts of a graph, by name. [`Graph::new`] checks that they fit together.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The arcs.
    pub arcs: Arcs,
    /// One row a node.
    pub features: Features,
    /// Classes, where known.
    pub labels: Option<Labels>,
    /// What the nodes are called outside.
    pub names: NodeNames,
    /// The data set's own split, if it has one.
    pub split: Option<Buffer<Role>>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Arcs in compressed rows, node features, and optional labels, names and split, all for the same nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    arcs: Arcs,
    features: Features,
    labels: Option<Labels>,
    names: NodeNames,
    split: Option<Buffer<Role>>,
    origin: Origin,
}

impl Graph {
    /// Puts the parts together.
    ///
    /// # Errors
    /// Parts for different numbers of nodes; features that are not finite.
    pub fn new(parts: Parts) -> Result<Self, GraphError> {
        let graph = Self::of_known(parts)?;
        graph.features.check_finite()?;
        Ok(graph)
    }

    /// As [`new`](Graph::new), of features that were checked before.
    ///
    /// # Errors
    /// Parts for different numbers of nodes.
    pub fn of_known(parts: Parts) -> Result<Self, GraphError> {
        let nodes = parts.arcs.nodes();
        let check = |what, found: usize| {
            if found == nodes {
                return Ok(());
            }
            Err(GraphError::Length {
                what,
                found: found as u64,
                nodes: nodes as u64,
            })
        };
        check("feature rows", parts.features.rows())?;
        check("node names", parts.names.len())?;
        if let Some(labels) = &parts.labels {
            check("labels", labels.raw().len())?;
        }
        if let Some(split) = &parts.split {
            check("split entries", split.len())?;
        }
        Ok(Self::trusted(parts))
    }

    fn trusted(parts: Parts) -> Self {
        Graph {
            arcs: parts.arcs,
            features: parts.features,
            labels: parts.labels,
            names: parts.names,
            split: parts.split,
            origin: parts.origin,
        }
    }

    /// As [`Buffer::release`], for arcs and features.
    pub fn release(&self) {
        self.arcs.release();
        self.features.release(0..self.nodes());
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.arcs.nodes()
    }

    /// The arcs.
    pub fn arcs(&self) -> &Arcs {
        &self.arcs
    }

    /// The features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The classes, where known.
    pub fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }

    /// What the nodes are called outside.
    pub fn names(&self) -> &NodeNames {
        &self.names
    }

    /// The data set's own split, if it has one.
    pub fn split(&self) -> Option<&[Role]> {
        self.split.as_deref()
    }

    /// Where the graph comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The same graph under another origin.
    pub fn with_origin(self, origin: Origin) -> Graph {
        Graph { origin, ..self }
    }

    /// The same graph with other labels.
    ///
    /// # Errors
    /// Labels for another number of nodes.
    pub fn with_labels(self, labels: Labels) -> Result<Graph, GraphError> {
        if labels.raw().len() != self.nodes() {
            return Err(GraphError::Length {
                what: "labels",
                found: labels.raw().len() as u64,
                nodes: self.nodes() as u64,
            });
        }
        Ok(Graph {
            labels: Some(labels),
            ..self
        })
    }

    /// The same graph with another split.
    ///
    /// # Errors
    /// A split of another length.
    pub fn with_split(self, split: Vec<Role>) -> Result<Graph, GraphError> {
        if split.len() != self.nodes() {
            return Err(GraphError::Length {
                what: "split entries",
                found: split.len() as u64,
                nodes: self.nodes() as u64,
            });
        }
        Ok(Graph {
            split: Some(split.into()),
            ..self
        })
    }

    /// The same nodes with only those arcs for which `keep(target, source)` holds.
    pub fn filtered(self, keep: impl FnMut(usize, usize) -> bool) -> Graph {
        Graph {
            arcs: self.arcs.filtered(keep),
            ..self
        }
    }

    /// The same graph without labels and split.
    pub fn unlabelled(self) -> Graph {
        Graph {
            labels: None,
            split: None,
            ..self
        }
    }

    /// The sub-graph on `nodes`, in that order, with every arc between two of them. The position of a node in `nodes` is
    /// its id in the sub-graph, so `nodes` is the map back.
    ///
    /// # Panics
    /// When `nodes` names a node twice or one that does not exist.
    ///
    /// # Complexity
    /// O(nodes of the whole graph + arcs into the chosen nodes).
    pub fn induced(&self, nodes: &[NodeId]) -> Graph {
        self.induced_with(nodes, self.features.select(nodes))
    }

    /// As [`Graph::induced`], with the features of `nodes` given.
    ///
    /// # Panics
    /// As [`Graph::induced`]; when there are features of another number of nodes.
    pub fn induced_with(&self, nodes: &[NodeId], features: Features) -> Graph {
        assert_eq!(features.rows(), nodes.len(), "one row per node");
        Self::trusted(Parts {
            arcs: self.arcs.induced(nodes),
            features,
            labels: self.labels.as_ref().map(|labels| labels.select(nodes)),
            names: self.names.select(nodes),
            split: self.split().map(|split| {
                let chosen: Vec<Role> = nodes.iter().map(|node| split[node.index()]).collect();
                chosen.into()
            }),
            origin: self.origin.clone(),
        })
    }
}
