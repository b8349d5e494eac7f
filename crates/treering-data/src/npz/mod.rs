//! Data sets in NumPy archives: the gnn-benchmark family (CoraFull, Coauthor, Amazon, Cora, Citeseer as published) and
//! DGL's Reddit.

mod archive;
mod gnn_benchmark;
mod npy;
mod reddit;
mod write;

pub(crate) use archive::Npz;
pub(crate) use gnn_benchmark::read_npz;
pub(crate) use npy::LooseLabel;
pub(crate) use reddit::{is_reddit, read_reddit};
pub(crate) use write::write_npz;
