//! From labels in a column to classes.
//!
//! Labels are numbered as they come and put in order at the end: by number where every label is a whole number, by
//! text otherwise. Where `graph.json` lists the classes, that list is the order, and nothing else is a class.

use std::collections::{BTreeSet, HashMap};

use treering_graph::{GraphError, Labels};

use super::table::{Cell, Kind};
use crate::labelling::integer;

/// The labels of a table of nodes, row after row.
pub(super) struct Classes {
    class_of: Vec<u32>,
    known: HashMap<String, u32>,
    /// The names by number, in the order in which they came or were listed.
    names: Vec<String>,
    listed: bool,
    numeric: bool,
}

impl Classes {
    /// # Arguments
    /// * `kind`: what the column holds; in a column of numbers NaN stands for a missing label.
    /// * `listed`: the classes, where they are known before.
    pub(super) fn new(kind: &Kind, listed: Option<&[String]>) -> Self {
        let names = listed.map(<[String]>::to_vec).unwrap_or_default();
        let numbered = names.iter().cloned().zip(0..);
        Classes {
            class_of: Vec::new(),
            known: numbered.collect(),
            listed: listed.is_some(),
            numeric: *kind == Kind::Number,
            names,
        }
    }

    /// Adds the label of the next node and tells how many bytes it takes; the reason when it is no label.
    pub(super) fn push(&mut self, cell: Cell<'_>) -> Result<usize, &'static str> {
        let before = self.names.len();
        let class = match cell {
            Cell::Missing => Labels::NONE,
            Cell::Number(number) if number.is_nan() => Labels::NONE,
            Cell::Number(number) if number.is_infinite() => return Err("a class"),
            // Unless a class is really called so, as graph.json would know.
            Cell::Text(text) if self.numeric && is_nan(text) && !self.known.contains_key(text) => {
                Labels::NONE
            }
            Cell::Text(text) => self.class(text)?,
            number => self.class(&number.to_string())?,
        };
        self.class_of.push(class);
        let new = self.names[before..].iter().map(|name| 100 + 2 * name.len());
        Ok(size_of::<u32>() + new.sum::<usize>())
    }

    fn class(&mut self, text: &str) -> Result<u32, &'static str> {
        if let Some(&class) = self.known.get(text) {
            return Ok(class);
        }
        if self.listed {
            let whole = whole(text).and_then(|number| self.known.get(&number.to_string()));
            return whole
                .copied()
                .ok_or("one of the classes that graph.json lists");
        }
        let class = self.names.len() as u32;
        self.known.insert(text.to_owned(), class);
        self.names.push(text.to_owned());
        Ok(class)
    }

    /// Puts the classes in order.
    pub(super) fn finish(self) -> Result<Labels, GraphError> {
        if self.listed {
            return Labels::new(self.class_of.into(), self.names);
        }
        let numbers: Option<Vec<i64>> = self.names.iter().map(|name| whole(name)).collect();
        let (names, position) = match numbers {
            Some(numbers) => {
                let (sorted, position) = ordered(&numbers);
                (sorted.iter().map(i64::to_string).collect(), position)
            }
            None => ordered(&self.names),
        };
        let renumbered = |class: u32| match class {
            Labels::NONE => Labels::NONE,
            class => position[class as usize],
        };
        let class_of: Vec<u32> = self.class_of.into_iter().map(renumbered).collect();
        Labels::new(class_of.into(), names)
    }
}

/// The different items in order, and the place of each item among them.
fn ordered<T: Ord + Clone>(items: &[T]) -> (Vec<T>, Vec<u32>) {
    let sorted: Vec<T> = items
        .iter()
        .cloned()
        .collect::<BTreeSet<T>>()
        .into_iter()
        .collect();
    let place = |item: &T| sorted.partition_point(|other| other < item) as u32;
    let places = items.iter().map(place).collect();
    (sorted, places)
}

/// The whole number that a text such as `2` or `2.0` stands for. Columns of numbers with gaps come out of many
/// programs with a point.
fn whole(text: &str) -> Option<i64> {
    let (digits, rest) = text.split_once('.').unwrap_or((text, ""));
    let zeros = rest.bytes().all(|digit| digit == b'0');
    if zeros { integer(digits) } else { None }
}

fn is_nan(text: &str) -> bool {
    text.trim().parse::<f64>().is_ok_and(f64::is_nan)
}
