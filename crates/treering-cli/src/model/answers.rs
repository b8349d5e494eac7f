//! Answers as rows: which columns there are, and what stands in them.

use std::borrow::Cow;

use treering_graph::{NodeId, NodeNames};
use treering_learn::Answer;
use treering_store::RingEntry;

use super::rows::{Cell, Column, Kind, Row};

/// The class of what is like nothing learned.
const UNKNOWN: &str = "unknown";

/// How many of the likeliest tasks are named.
const NEAREST: usize = 3;

/// What is printed about a node.
#[derive(Clone, Copy)]
pub(super) enum Table {
    /// The most probable class.
    Plain,
    /// So many classes of the task, with their rank.
    Ranked(usize),
    /// The most probable class, or none where the node's group is less familiar than this rate.
    Rejecting(f64),
    /// The probability of every task.
    Tasks,
}

impl Table {
    /// The columns.
    pub(super) fn columns(self) -> Vec<Column> {
        let node = ("node", Kind::Text);
        let answer = [
            ("class", Kind::Text),
            ("probability", Kind::Short),
            ("task", Kind::Text),
            ("margin", Kind::Long),
            ("confidence", Kind::Long),
        ];
        let mut all = vec![node];
        match self {
            Table::Plain => all.extend(answer),
            Table::Ranked(_) => {
                all.push(("rank", Kind::Count));
                all.extend(answer);
            }
            Table::Rejecting(_) => {
                all.extend(answer);
                all.extend([("familiarity", Kind::Long), ("nearest", Kind::Text)]);
            }
            Table::Tasks => all.extend([("task", Kind::Text), ("probability", Kind::Short)]),
        }
        all
    }
}

/// What answers are about.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    pub(super) names: &'a NodeNames,
    pub(super) rings: &'a [RingEntry],
    pub(super) table: Table,
}

impl<'a> About<'a> {
    /// The lines of some answers.
    pub(super) fn rows(
        self,
        nodes: &[NodeId],
        answers: &[Answer],
    ) -> impl Iterator<Item = Row<'a>> {
        let About {
            names,
            rings,
            table,
        } = self;
        let asked = nodes.iter().zip(answers);
        asked.flat_map(move |(&node, answer)| {
            let node = || Cell::Text(Cow::Owned(names.name(node)));
            match table {
                Table::Plain => vec![line([node()], classified(answer, rings, answer.class()))],
                Table::Ranked(top) => (1u32..)
                    .zip(best(answer, top))
                    .map(|(rank, class)| {
                        let before = [node(), Cell::Count(rank)];
                        line(before, classified(answer, rings, class))
                    })
                    .collect(),
                Table::Rejecting(rate) => {
                    let known = answer.familiarity.is_none_or(|share| share >= rate);
                    let class = match known {
                        true => classified(answer, rings, answer.class()),
                        false => unknown(),
                    };
                    let mut row = line([node()], class);
                    row.push(Cell::long(answer.familiarity));
                    row.push(Cell::Text(nearest(answer, rings).into()));
                    vec![row]
                }
                Table::Tasks => rings
                    .iter()
                    .zip(&answer.posterior)
                    .map(|(ring, &share)| vec![node(), Cell::text(&ring.name), Cell::Short(share)])
                    .collect(),
            }
        })
    }
}

fn line<'a, const N: usize>(before: [Cell<'a>; N], after: [Cell<'a>; 5]) -> Row<'a> {
    before.into_iter().chain(after).collect()
}

/// A class of the task, what it is taken for with how much confidence.
fn classified<'a>(answer: &Answer, rings: &'a [RingEntry], class: usize) -> [Cell<'a>; 5] {
    let (ring, probability) = (&rings[answer.task as usize], answer.probabilities[class]);
    let task = answer.posterior.get(answer.task as usize);
    [
        Cell::text(&ring.classes[class]),
        Cell::Short(probability),
        Cell::text(&ring.name),
        Cell::long(Some(answer.margin).filter(|margin| margin.is_finite())),
        Cell::long(task.map(|&task| f64::from(task) * f64::from(probability))),
    ]
}

fn unknown<'a>() -> [Cell<'a>; 5] {
    let [probability, task, margin, confidence] = [(); 4].map(|()| Cell::Nothing);
    [Cell::text(UNKNOWN), probability, task, margin, confidence]
}

/// The likeliest tasks by name, the likeliest first.
fn nearest(answer: &Answer, rings: &[RingEntry]) -> String {
    let first = most_probable(&answer.posterior, NEAREST).into_iter();
    let names: Vec<&str> = first.map(|task| &rings[task].name[..]).collect();
    names.join("; ")
}

/// The most probable classes.
fn best(answer: &Answer, count: usize) -> Vec<usize> {
    most_probable(&answer.probabilities, count)
}

/// The places of the largest numbers, the first of equals first.
fn most_probable(probabilities: &[f32], count: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..probabilities.len()).collect();
    places.sort_by(|&a, &b| {
        probabilities[b]
            .total_cmp(&probabilities[a])
            .then(a.cmp(&b))
    });
    places.truncate(count);
    places
}
