//! What a bench found, for people. [`read()`] takes a folder apart, [`summary`] makes a row of the runs that differ in nothing but the seed,
//! and everything that is shown is made from these rows. Nothing is learned here.

mod about;
mod colour;
mod csv;
pub mod figures;
#[cfg(test)]
mod fixture;
mod label;
mod page;
mod png;
mod read;
mod scale;
mod scene;
pub mod summary;
mod svg;
mod terminal;

pub use page::page;
pub use png::{PngError, png};
pub use read::{Bench, ReadError, read};
pub use terminal::terminal;
pub use treering_eval::studies::{
    Attributes, Degrees, Embeddings, Finding, PairDifference, ProfileDistances, Shares, Study,
};
