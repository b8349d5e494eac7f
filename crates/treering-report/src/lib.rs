//! What a bench found, for people. [`read()`] takes a folder apart, [`summary`] makes a row of the runs that differ in nothing but the seed,
//! and everything that is shown is made from these rows. Nothing is learned here.

#[cfg(test)]
mod fixture;
mod label;
mod read;
mod study;
pub mod summary;

pub use read::{Bench, ReadError, read};
pub use study::{
    Attributes, Degrees, Embeddings, Finding, PairDifference, ProfileDistances, Shares, Study,
};
