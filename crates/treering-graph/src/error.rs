//! What can be wrong with the parts of a graph. Readers add the file, the member and the row.

use thiserror::Error;

/// Why arrays do not make a graph.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum GraphError {
    /// More nodes than a 32-bit id can name.
    #[error("{nodes} nodes are more than the 4,294,967,294 that node ids can name")]
    TooManyNodes {
        /// The number asked for.
        nodes: u64,
    },
    /// An arc with an end that is not a node.
    #[error("arc {position} has the end {node}, but nodes are numbered 0 to {}", nodes.saturating_sub(1))]
    ArcOutside {
        /// Which arc, from 0, in the order given.
        position: u64,
        /// The end that does not exist.
        node: u64,
        /// How many nodes there are.
        nodes: u64,
    },
    /// An arc weight that no degree can be made of.
    #[error("arc {position} has the weight {weight}; weights must be finite and not negative")]
    BadWeight {
        /// Which arc, from 0, in the order given.
        position: u64,
        /// Its weight.
        weight: f32,
    },
    /// Row offsets that do not start at 0, decrease, or do not end at the number of items.
    #[error("the row offsets of the {what} are wrong at row {row}: {why}")]
    BadOffsets {
        /// Arcs or features.
        what: &'static str,
        /// The first wrong row.
        row: u64,
        /// What is wrong there.
        why: &'static str,
    },
    /// A feature column outside the matrix.
    #[error("node {row} has a feature in column {column}, but columns are numbered 0 to {}", columns.saturating_sub(1))]
    ColumnOutside {
        /// The node.
        row: u64,
        /// The column that does not exist.
        column: u64,
        /// How many columns there are.
        columns: u64,
    },
    /// A feature value that is NaN or infinite.
    #[error("node {row} has the value {value} in feature column {column}")]
    NotFinite {
        /// The node.
        row: u64,
        /// The feature column.
        column: u64,
        /// NaN or an infinity.
        value: f32,
    },
    /// A label without a class name.
    #[error("node {row} has class number {class}, but there are {classes} classes")]
    ClassOutside {
        /// The node.
        row: u64,
        /// Its class.
        class: u64,
        /// How many classes there are.
        classes: u64,
    },
    /// Two parts that belong to different numbers of nodes.
    #[error("{found} {what} for {nodes} nodes")]
    Length {
        /// Which part.
        what: &'static str,
        /// Its length.
        found: u64,
        /// The number of nodes.
        nodes: u64,
    },
}
