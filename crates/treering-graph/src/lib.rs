//! Graphs for Treering: arcs, features, labels, and normalised propagation over them.
//!
//! Everything above this crate sees a [`Graph`] and never asks where its memory comes from. Everything that
//! smooths goes through one [`Propagation`], which is the only place that knows about loops and degrees. No
//! files are read here and nothing is learned.
//!
//! ```
//! use treering_graph::{Direction, NodeId, Propagation, Side, build_arcs};
//! // a path 0 - 1 - 2, one number per node
//! let (arcs, _) = build_arcs(3, &[0, 1], &[1, 2], None, Direction::Undirected)?;
//! let operator = Propagation::new(&arcs);
//! assert_eq!(operator.degrees(), [2.0, 3.0, 2.0]);
//! let smooth = operator.smooth(Side::Forward, &[2.0f64, 0.0, 0.0], 1, 1);
//! assert!((smooth[0] - 1.0).abs() < 1e-12 && smooth[2] == 0.0);
//! # Ok::<(), treering_graph::GraphError>(())
//! ```

mod arcs;
mod buffer;
mod build;
mod error;
mod features;
mod graph;
mod ids;
mod kernels;
mod labels;
mod parallel;
mod propagate;
mod prototype;
mod sparse_smooth;
mod subgraph;

pub use arcs::Arcs;
pub use buffer::{Buffer, Lender};
pub use build::{Direction, Removed, build_arcs};
pub use error::GraphError;
pub use features::{Dense, Features, Sparse};
pub use graph::{Graph, Origin, Parts};
pub use ids::{ClassId, NodeId, TaskId};
pub use kernels::{Real, prefetch};
pub use labels::{Labels, NodeNames, Role};
pub use propagate::{Propagation, Room, Side};
pub use prototype::weighted_sum;
