//! Checks that every parameter struct uses.

use std::ops::RangeInclusive;

use crate::LearnError;

pub(crate) fn count(
    name: &'static str,
    value: usize,
    range: RangeInclusive<usize>,
    allowed: &'static str,
) -> Result<(), LearnError> {
    match range.contains(&value) {
        true => Ok(()),
        false => Err(wrong(name, value.to_string(), allowed)),
    }
}

pub(crate) fn share(name: &'static str, value: f64) -> Result<(), LearnError> {
    range(name, value, 0.0, 1.0, "between 0 and 1")
}

pub(crate) fn range(
    name: &'static str,
    value: f64,
    low: f64,
    high: f64,
    allowed: &'static str,
) -> Result<(), LearnError> {
    match value >= low && value <= high {
        true => Ok(()),
        false => Err(wrong(name, short(value), allowed)),
    }
}

/// A number without hundreds of zeros.
fn short(value: f64) -> String {
    match value != 0.0 && value.is_finite() && !(1e-5..1e15).contains(&value.abs()) {
        true => format!("{value:e}"),
        false => value.to_string(),
    }
}

fn wrong(name: &'static str, value: String, allowed: &'static str) -> LearnError {
    LearnError::Parameter {
        name,
        value,
        allowed,
    }
}
