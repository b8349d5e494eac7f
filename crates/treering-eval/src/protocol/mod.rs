//! What a learner is shown. This file has the names of the protocols; `questions.rs` makes the queries of each.

mod questions;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use treering_data::Stream;
use treering_graph::{Graph, NodeId, Role};
use treering_learn::{LearnError, Shown, TrainingTask};

pub(crate) use questions::{Question, Questions, unites};

/// What a learner is shown. Only `inductive` differs in training; all others differ in the test alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// The paper's: all test nodes of one task are one group, on that task's graph, and isolated nodes are given a random neighbour.
    Paper,
    /// The same graph, but every node is a group of its own, and nothing is patched.
    Single,
    /// The same graph, and random groups of some test nodes; nothing is patched. Made by [`Protocol::groups`].
    Groups(GroupSize),
    /// One query about the test nodes of all tasks seen, on their graphs side by side; every node is a group of its own.
    Mixed,
    /// As `mixed`, on one graph: the arcs between tasks are there too.
    Connected,
    /// As `single`, after a training that shows nothing but train nodes and the arcs between them.
    Inductive,
    /// As `paper`, but groups of tasks come too that are not learned yet.
    Open,
    /// The same with random groups of some test nodes, of which nothing is patched. Made by [`Protocol::open_groups`].
    OpenGroups(GroupSize),
    /// As `paper` without patching, and the true task of every node is given.
    Oracle,
    /// As `single`, but isolated nodes are given a random neighbour in the task's graph, as in `paper`. That neighbour tells the task: the protocol is there
    /// to show how much.
    Patched,
}

/// How many nodes a group has: 1 or more. [`Protocol::Groups`] has 2 or more, for groups of one are the protocol `single`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupSize(u32);

impl GroupSize {
    /// As a number.
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// A protocol as it is listed for people.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// The protocol; one with groups stands there with one of their sizes.
    pub protocol: Protocol,
    /// Its text form.
    pub name: &'static str,
    /// What it shows, in a few words.
    pub summary: &'static str,
}

/// Every protocol.
#[rustfmt::skip]
static ALL: [Listed; 10] = [
    Listed { protocol: Protocol::Paper, name: "paper", summary: "a task's test nodes come together, and nobody says which task it is" },
    Listed { protocol: Protocol::Single, name: "single", summary: "every test node comes alone" },
    Listed { protocol: Protocol::Groups(GroupSize(5)), name: "groups:5", summary: "a task's test nodes come in random groups of 5, or of any number from 1 on" },
    Listed { protocol: Protocol::Mixed, name: "mixed", summary: "test nodes of all tasks seen come at once, on the tasks' graphs side by side" },
    Listed { protocol: Protocol::Connected, name: "connected", summary: "as mixed, with the edges between the tasks seen" },
    Listed { protocol: Protocol::Inductive, name: "inductive", summary: "training shows train nodes only; then every test node comes alone" },
    Listed { protocol: Protocol::Open, name: "open", summary: "as paper, and groups of tasks come too that are not learned yet" },
    Listed { protocol: Protocol::OpenGroups(GroupSize(5)), name: "open:5", summary: "as groups:5, or of any number from 1 on, and groups of tasks come too that are not learned yet" },
    Listed { protocol: Protocol::Oracle, name: "oracle", summary: "the task of every test node is given" },
    Listed { protocol: Protocol::Patched, name: "patched", summary: "as single, with the paper's random neighbours for isolated nodes, which tell the task" },
];

/// The start of the text form of [`Protocol::Groups`].
const GROUPS: &str = "groups:";

/// The start of the text form of [`Protocol::OpenGroups`].
const OPEN_GROUPS: &str = "open:";

impl Protocol {
    /// Random groups of so many nodes; none for 0, and `single` for 1.
    ///
    /// # Example
    /// ```
    /// use treering_eval::Protocol;
    /// assert_eq!(Protocol::groups(1), Some(Protocol::Single));
    /// assert_eq!(Protocol::groups(5).map(|five| five.to_string()).as_deref(), Some("groups:5"));
    /// ```
    pub fn groups(size: u32) -> Option<Protocol> {
        match size {
            0 => None,
            1 => Some(Protocol::Single),
            _ => Some(Protocol::Groups(GroupSize(size))),
        }
    }

    /// Random groups of so many nodes, of tasks that are not learned yet too; none for 0.
    ///
    /// # Example
    /// ```
    /// use treering_eval::Protocol;
    /// assert_eq!(Protocol::open_groups(1).map(|one| one.to_string()).as_deref(), Some("open:1"));
    /// ```
    pub fn open_groups(size: u32) -> Option<Protocol> {
        (size > 0).then_some(Protocol::OpenGroups(GroupSize(size)))
    }

    /// Every protocol once.
    pub fn all() -> &'static [Listed] {
        &ALL
    }

    /// How it is listed, whatever the size of its groups.
    pub fn listed(self) -> &'static Listed {
        match self {
            Protocol::Paper => &ALL[0],
            Protocol::Single => &ALL[1],
            Protocol::Groups(_) => &ALL[2],
            Protocol::Mixed => &ALL[3],
            Protocol::Connected => &ALL[4],
            Protocol::Inductive => &ALL[5],
            Protocol::Open => &ALL[6],
            Protocol::OpenGroups(_) => &ALL[7],
            Protocol::Oracle => &ALL[8],
            Protocol::Patched => &ALL[9],
        }
    }

    /// Whether it asks about tasks that are not learned yet.
    pub fn is_open(self) -> bool {
        matches!(self, Protocol::Open | Protocol::OpenGroups(_))
    }

    /// Whether isolated query nodes are given a random neighbour.
    fn patches(self) -> bool {
        matches!(self, Protocol::Paper | Protocol::Open | Protocol::Patched)
    }

    /// Counts up whenever what a protocol asks changes; none for the first time.
    pub fn revision(self) -> Option<u32> {
        match self {
            // Nodes that are left over used to form a group of their own.
            Protocol::Groups(_) | Protocol::OpenGroups(_) => Some(2),
            _ => None,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Protocol::Groups(size) => f.pad(&format!("{GROUPS}{}", size.0)),
            Protocol::OpenGroups(size) => f.pad(&format!("{OPEN_GROUPS}{}", size.0)),
            other => f.pad(other.listed().name),
        }
    }
}

/// A text that names no protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it has to be one of paper, single, groups:M, mixed, connected, inductive, open, open:M, oracle, patched; M is a whole number from 1 on"
)]
pub struct NoSuchProtocol;

impl FromStr for Protocol {
    type Err = NoSuchProtocol;

    fn from_str(text: &str) -> Result<Self, NoSuchProtocol> {
        let by_name = || {
            let known = ALL.iter().find(|known| known.name == text);
            known.map(|known| known.protocol)
        };
        let found = match (text.strip_prefix(GROUPS), text.strip_prefix(OPEN_GROUPS)) {
            (Some(size), _) => number(size).and_then(Protocol::groups),
            (_, Some(size)) => number(size).and_then(Protocol::open_groups),
            (None, None) => by_name(),
        };
        found.ok_or(NoSuchProtocol)
    }
}

/// Only digits: one protocol shall not have two spellings beyond leading zeros.
fn number(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

impl Serialize for Protocol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Protocol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = |error| de::Error::custom(format!("protocol is {text:?}; {error}"));
        text.parse().map_err(wrong)
    }
}

/// Which nodes are asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// The test nodes: what results are made of.
    Test,
    /// The validation nodes: what parameters are chosen by.
    Validation,
}

impl Asked {
    fn role(self) -> Role {
        match self {
            Asked::Test => Role::Test,
            Asked::Validation => Role::Validation,
        }
    }
}

/// One series of questions: what is shown, and about which nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Exam {
    /// What is shown.
    pub protocol: Protocol,
    /// About which nodes.
    pub asked: Asked,
    /// Ask the learner that task prediction was plugged into, without it.
    pub host: bool,
    /// The run's seed; random groups are drawn from it.
    pub seed: u64,
}

impl From<Protocol> for Exam {
    fn from(protocol: Protocol) -> Self {
        Exam {
            protocol,
            asked: Asked::Test,
            host: false,
            seed: 0,
        }
    }
}

/// The tasks of a stream as a learner sees them.
///
/// # Errors
/// A class without a train node.
pub fn tasks_of(
    graph: &Graph,
    stream: &Stream,
    shown: Shown,
) -> Result<Vec<TrainingTask>, LearnError> {
    tasks_from(stream, shown, |task| Ok(stream.cut(graph, task.id)?))
}

/// The tasks of a stream as the protocol `inductive` shows them: train nodes and the arcs between them, nothing else.
///
/// # Errors
/// A class without a train node.
pub fn inductive_tasks_of(graph: &Graph, stream: &Stream) -> Result<Vec<TrainingTask>, LearnError> {
    tasks_from(stream, Shown::Train, |task| {
        let whole = stream.task_graph(graph, task.id);
        let is_train = |node: &NodeId| task.roles.get(node.index()) == Some(&Role::Train);
        let train: Vec<NodeId> = NodeId::first(whole.nodes()).filter(is_train).collect();
        Ok(whole.induced(&train))
    })
}

fn tasks_from(
    stream: &Stream,
    shown: Shown,
    cut: impl Fn(&treering_data::Task) -> Result<Graph, LearnError>,
) -> Result<Vec<TrainingTask>, LearnError> {
    let tasks = stream.tasks.iter();
    tasks
        .map(|task| TrainingTask::new(cut(task)?, u64::from(task.id.0) + 1, shown))
        .collect()
}
