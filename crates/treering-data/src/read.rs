//! One door for all readers: find out what lies at a path, and read it.

use std::path::PathBuf;

use treering_graph::Graph;

/// Choices that a reader leaves to the caller. Readers ignore what does not concern them.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Whether arcs get mirror images.
    pub edges: Edges,
    /// Leave edge weights out even where they are given.
    pub ignore_weights: bool,
    /// Which of several split schemes to take (a folder below `split/` of an OGB data set).
    pub split_scheme: Option<String>,
    /// Names of columns in tables, where they cannot be guessed.
    pub columns: Columns,
    /// The table of nodes, where it has another name than `nodes.*`.
    pub nodes_file: Option<PathBuf>,
    /// The table of edges, where it has another name than `edges.*`.
    pub edges_file: Option<PathBuf>,
}

/// Whether arcs get mirror images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edges {
    /// As the data set is published: see each reader.
    #[default]
    Auto,
    /// Keep arcs as stored.
    Directed,
    /// Give every arc its mirror image.
    Undirected,
}

/// Names of columns in tables; `None` means: guess.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// The node's id, in the table of nodes.
    pub id: Option<String>,
    /// The node's class.
    pub label: Option<String>,
    /// The node's part of a split.
    pub split: Option<String>,
    /// The feature columns, or the one list column.
    pub features: Option<Vec<String>>,
    /// Where an edge starts.
    pub source: Option<String>,
    /// Where an edge ends.
    pub target: Option<String>,
    /// The edge's weight.
    pub weight: Option<String>,
}

/// A graph, and what a person should know about how it was read.
#[derive(Debug)]
pub struct Loaded {
    /// The graph.
    pub graph: Graph,
    /// The layout it was read from.
    pub format: &'static str,
    /// Things that were done on the way, in plain words: mirror images added, columns not used, ...
    pub notes: Vec<String>,
}
