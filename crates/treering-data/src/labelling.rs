//! From raw labels, as files have them, to classes with names.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::path::Path;

use treering_graph::{Buffer, Labels, NodeId, NodeNames};

use crate::{Fault, Result, Row};

/// Classes from whole numbers: they are ordered by number and named by it, and gaps close up.
///
/// `names`, where a data set has them, belong to the numbers 0, 1, ...; then every number must have a name.
pub(crate) fn number_labels(
    numbers: &[Option<i64>],
    names: Option<Vec<String>>,
    file: &Path,
) -> Result<Labels> {
    if let Some((row, label)) = (0u64..)
        .zip(numbers)
        .find_map(|(row, n)| n.filter(|&n| n < 0).map(|n| (row, n)))
    {
        return Err(Fault::NegativeLabel { label }.at(file).row(row));
    }
    let (ids, names) = match names {
        Some(names) => {
            let known = 0..names.len() as i64;
            let ids: BTreeMap<i64, u32> = known.map(|number| (number, number as u32)).collect();
            (ids, names)
        }
        None => {
            let mut ids: BTreeMap<i64, u32> = numbers.iter().flatten().map(|&n| (n, 0)).collect();
            for (id, (_, slot)) in (0u32..).zip(ids.iter_mut()) {
                *slot = id;
            }
            let names = ids.keys().map(i64::to_string).collect();
            (ids, names)
        }
    };
    let mut class_of = Vec::with_capacity(numbers.len());
    for (row, number) in (0u64..).zip(numbers) {
        class_of.push(match number {
            None => Labels::NONE,
            Some(number) => *ids.get(number).ok_or_else(|| {
                Fault::BadValue {
                    text: number.to_string(),
                    expected: "the number of a class that has a name",
                }
                .at(file)
                .row(row)
            })?,
        });
    }
    Labels::new(class_of.into(), names).map_err(|error| Fault::Graph(error).at(file))
}

/// Wants every class to have a name of its own.
pub(crate) fn check_class_names(names: &[String], file: &Path) -> Result<()> {
    match repeated(names) {
        None => Ok(()),
        Some((_, second)) => {
            let text = names[second].clone();
            let expected = "the name of only one class";
            Err(Fault::BadValue { text, expected }
                .at(file)
                .row(second as u64))
        }
    }
}

/// Names that are just 0, 1, 2, ... are positions.
pub(crate) fn integer_names(names: Vec<i64>) -> NodeNames {
    if (0i64..)
        .zip(&names)
        .all(|(position, &name)| position == name)
    {
        NodeNames::Positions(names.len())
    } else {
        NodeNames::Integers(Buffer::from(names))
    }
}

/// Texts that are all whole numbers are numbers, whatever file they come from: a graph is the same in every layout.
pub(crate) fn text_names(texts: Vec<String>) -> NodeNames {
    match texts
        .iter()
        .map(|text| integer(text))
        .collect::<Option<Vec<i64>>>()
    {
        Some(numbers) => integer_names(numbers),
        None => NodeNames::Texts(texts),
    }
}

/// The number that a text is, when printing the number gives the text again.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = match digits.as_bytes() {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', ..] => true,
        _ => false,
    };
    if plain { text.parse().ok() } else { None }
}

/// Wants every node to have a name of its own.
pub(crate) fn check_unique(names: &NodeNames, file: &Path) -> Result<()> {
    let twice = match names {
        NodeNames::Positions(_) => None,
        NodeNames::Integers(names) => repeated(names),
        NodeNames::Texts(names) => repeated(names),
    };
    match twice {
        None => Ok(()),
        Some((first, second)) => Err(Fault::DuplicateId {
            id: names.name(NodeId(second as u32)),
            first: Row::Index(first as u64),
        }
        .at(file)
        .row(second as u64)),
    }
}

/// The first item that stands twice, and where it stood before.
fn repeated<T: Eq + Hash>(items: &[T]) -> Option<(usize, usize)> {
    let mut seen: HashMap<&T, usize> = HashMap::with_capacity(items.len());
    items
        .iter()
        .enumerate()
        .find_map(|(at, item)| seen.insert(item, at).map(|first| (first, at)))
}
