//! The order of rows, and what protocols say about groups.

use serde::Serialize;
use treering_learn::registry::LEARNERS;

use super::Row;

/// How many nodes are known to come from one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum GroupSize {
    /// So many.
    Nodes(usize),
    /// All test nodes of a task.
    All,
}

/// The protocols `open` have no size here: they ask about unknown tasks too, and a figure of sizes would mix them with those that do not.
pub(super) fn group_size(protocol: &str) -> Option<GroupSize> {
    match protocol {
        "single" => Some(GroupSize::Nodes(1)),
        "paper" => Some(GroupSize::All),
        other => {
            let size = other.strip_prefix("groups:")?.parse().ok()?;
            Some(GroupSize::Nodes(size))
        }
    }
}

/// Where a row belongs: learners in the order of the registry, hosts before themselves with task prediction.
pub(super) fn place(row: &Row) -> impl Ord + use<> {
    let stream = (
        row.order.clone(),
        row.classes_per_task,
        row.split.clone(),
        row.split_seed,
    );
    (
        (row.data.clone(), row.checksum.clone()),
        stream,
        protocol_place(&row.protocol),
        (rank(&row.learner), row.learner.clone()),
        numbers_in_order(&row.label),
    )
}

/// The place of a learner in the registry; after all others if it is not there.
pub(crate) fn rank(learner: &str) -> usize {
    let host = learner.strip_suffix("+tp").unwrap_or(learner);
    let known = LEARNERS.iter().position(|entry| entry.name == host);
    known.unwrap_or(usize::MAX)
}

/// From the largest groups to single nodes, then the rest; those of `open` likewise among themselves.
fn protocol_place(protocol: &str) -> impl Ord + use<> {
    let size = match group_size(protocol) {
        Some(GroupSize::All) => 0,
        Some(GroupSize::Nodes(nodes)) => usize::MAX - nodes,
        None => usize::MAX,
    };
    let nodes = protocol.strip_prefix("open:").and_then(|m| m.parse().ok());
    let open: Option<usize> = nodes.map(|nodes: usize| usize::MAX - nodes);
    let name = open.map_or(protocol, |_| "open");
    (size, name.to_owned(), open)
}

/// So that `tokens=10` comes after `tokens=5`: numbers are padded.
fn numbers_in_order(text: &str) -> String {
    let mut padded = String::new();
    let mut digits = String::new();
    for sign in text.chars().chain(Some(' ')) {
        if sign.is_ascii_digit() {
            digits.push(sign);
            continue;
        }
        if !digits.is_empty() {
            padded.push_str(&format!("{digits:0>12}"));
            digits.clear();
        }
        padded.push(sign);
    }
    padded
}
