//! What work costs before it was ever measured: seconds of a processor from counts. The rates are of one core of the machine that docs/benchmarks.md speaks of; where
//! jobs of a kind were run, `plan --simulate` takes what they took instead.

use std::iter::Sum;
use std::ops::Add;

/// Seconds of a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(crate) struct Work(f64);

/// A program that starts and opens what it needs.
const START: f64 = 0.02;
/// Going over an arc, and what each column of it adds.
const ARC: f64 = 2.0e-9;
const ARC_COLUMN: f64 = 0.8e-9;
/// A number that is multiplied and added.
const PRODUCT: f64 = 0.3e-9;
/// A byte that is read or written, with its share of a checksum.
const BYTE: f64 = 0.7e-9;
/// A line of a table.
const LINE: f64 = 1.5e-6;

impl Work {
    pub(crate) fn seconds(self) -> f64 {
        self.0
    }

    pub(crate) fn start() -> Self {
        Work(START)
    }

    /// Steps over all arcs with so many columns of four bytes.
    pub(crate) fn steps(arcs: usize, columns: usize, steps: usize) -> Self {
        Work(steps as f64 * arcs as f64 * (ARC + ARC_COLUMN * columns as f64))
    }

    pub(crate) fn products(count: f64) -> Self {
        Work(PRODUCT * count)
    }

    pub(crate) fn bytes(count: u64) -> Self {
        Work(BYTE * count as f64)
    }

    pub(crate) fn lines(count: usize) -> Self {
        Work(LINE * count as f64)
    }
}

impl Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        Work(self.0 + other.0)
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Work>>(all: I) -> Work {
        all.fold(Work::default(), Work::add)
    }
}
