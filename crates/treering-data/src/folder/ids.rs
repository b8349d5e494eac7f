//! From what nodes are called in a file to their positions.
//!
//! Ids are kept in the smallest form that holds those seen so far: a count while they are 0, 1, 2, ..., then
//! numbers, then texts. A number keeps its digits when it becomes a text, because only a text that prints back as
//! it was is taken for a number.

use std::borrow::Cow;
use std::collections::HashMap;

use treering_graph::{NodeId, NodeNames};

use super::table::Cell;
use crate::labelling::integer;

/// One id as it stands in a cell.
#[derive(Debug, PartialEq)]
pub(super) enum Id<'a> {
    Integer(i64),
    Text(Cow<'a, str>),
}

impl<'a> Id<'a> {
    /// What a cell says when it is an id; nothing when it is empty or a broken number.
    pub(super) fn from_cell(cell: Cell<'a>) -> Option<Self> {
        // Above this size neighbouring whole numbers are no longer told apart.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match cell {
            Cell::Missing => None,
            Cell::Integer(number) => Some(Id::Integer(number)),
            Cell::Unsigned(number) => Some(Id::Text(number.to_string().into())),
            Cell::Number(number) if number.fract() == 0.0 && number.abs() < EXACT => {
                Some(Id::Integer(number as i64))
            }
            Cell::Number(_) => None,
            Cell::Text(text) => Some(match integer(text) {
                Some(number) => Id::Integer(number),
                None => Id::Text(text.into()),
            }),
        }
    }
}

/// The ids of a table of nodes, row after row.
pub(super) enum Ids {
    Positions(usize),
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl Ids {
    /// Adds the id of the next node and tells how many bytes it takes.
    pub(super) fn push(&mut self, id: Id<'_>) -> usize {
        match (&mut *self, id) {
            (Ids::Positions(count), Id::Integer(number)) if number == *count as i64 => {
                *count += 1;
                0
            }
            (Ids::Integers(numbers), Id::Integer(number)) => {
                numbers.push(number);
                size_of::<i64>()
            }
            (Ids::Texts(texts), id) => {
                let text = match id {
                    Id::Integer(number) => number.to_string(),
                    Id::Text(text) => text.into_owned(),
                };
                let bytes = size_of::<String>() + text.len();
                texts.push(text);
                bytes
            }
            (_, id) => self.widen(&id) + self.push(id),
        }
    }

    /// Goes over to a form that can hold `id`.
    fn widen(&mut self, id: &Id<'_>) -> usize {
        let numbers = match std::mem::replace(self, Ids::Positions(0)) {
            Ids::Positions(count) => (0..count as i64).collect(),
            Ids::Integers(numbers) => numbers,
            Ids::Texts(texts) => {
                *self = Ids::Texts(texts);
                return 0;
            }
        };
        let count = numbers.len();
        if let Id::Integer(_) = id {
            *self = Ids::Integers(numbers);
            return count * size_of::<i64>();
        }
        *self = Ids::Texts(numbers.iter().map(i64::to_string).collect());
        count * 2 * size_of::<String>()
    }

    /// The names that the nodes will carry.
    pub(super) fn into_names(self) -> NodeNames {
        match self {
            Ids::Positions(count) => NodeNames::Positions(count),
            Ids::Integers(numbers) => NodeNames::Integers(numbers.into()),
            Ids::Texts(texts) => NodeNames::Texts(texts),
        }
    }
}

/// Finds a node by its id.
pub(super) enum Index<'a> {
    Positions(usize),
    Integers(HashMap<i64, u32>),
    Texts(HashMap<&'a str, u32>),
}

/// Two nodes with the same id, the earlier one first.
pub(super) struct Twice(pub(super) NodeId, pub(super) NodeId);

impl<'a> Index<'a> {
    /// How many bytes an index of these names takes, roughly.
    pub(super) fn bytes(names: &NodeNames) -> u64 {
        let each = match names {
            NodeNames::Positions(_) => 0,
            NodeNames::Integers(_) => 34,
            NodeNames::Texts(_) => 50,
        };
        names.len() as u64 * each
    }

    pub(super) fn new(names: &'a NodeNames) -> Result<Self, Twice> {
        Ok(match names {
            NodeNames::Positions(count) => Index::Positions(*count),
            NodeNames::Integers(numbers) => Index::Integers(unique(numbers.iter().copied())?),
            NodeNames::Texts(texts) => Index::Texts(unique(texts.iter().map(String::as_str))?),
        })
    }

    /// The position of a node.
    pub(super) fn find(&self, id: &Id<'_>) -> Option<u32> {
        match (self, id) {
            (Index::Positions(count), Id::Integer(number)) => {
                let position = usize::try_from(*number).ok().filter(|at| at < count)?;
                Some(position as u32)
            }
            (Index::Integers(map), Id::Integer(number)) => map.get(number).copied(),
            (Index::Texts(map), Id::Text(text)) => map.get(&**text).copied(),
            (Index::Texts(map), Id::Integer(number)) => {
                map.get(number.to_string().as_str()).copied()
            }
            (Index::Positions(_) | Index::Integers(_), Id::Text(_)) => None,
        }
    }
}

fn unique<K: std::hash::Hash + Eq>(
    ids: impl ExactSizeIterator<Item = K>,
) -> Result<HashMap<K, u32>, Twice> {
    let mut map = HashMap::with_capacity(ids.len());
    for (position, id) in ids.enumerate() {
        let position = position as u32;
        if let Some(first) = map.insert(id, position) {
            return Err(Twice(NodeId(first), NodeId(position)));
        }
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_numbers_are_numbers() {
        for (text, number) in [("0", 0), ("-7", -7), ("12", 12)] {
            assert_eq!(integer(text), Some(number));
        }
        for text in [
            "007",
            "+1",
            "-0",
            "",
            "-",
            "1.0",
            "9223372036854775808",
            "1 ",
        ] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    #[test]
    fn ids_widen_as_needed() {
        let names = |texts: &[&'static str]| {
            let mut ids = Ids::Positions(0);
            for text in texts {
                ids.push(Id::from_cell(Cell::Text(text)).expect("an id"));
            }
            ids.into_names()
        };
        assert_eq!(names(&["0", "1", "2"]), NodeNames::Positions(3));
        assert_eq!(
            names(&["0", "1", "5"]),
            NodeNames::Integers(vec![0, 1, 5].into())
        );
        let texts = |t: &[&str]| NodeNames::Texts(t.iter().map(|t| (*t).to_owned()).collect());
        assert_eq!(names(&["0", "4", "a", "5"]), texts(&["0", "4", "a", "5"]));
        assert_eq!(names(&["0", "007"]), texts(&["0", "007"]));
    }
}
