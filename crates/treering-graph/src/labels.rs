//! What is known about a node beside its features: its class, its name outside, its part of a split.

use crate::{Buffer, ClassId, GraphError, NodeId};

/// The class of every node that has one, and the names of the classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    class_of: Buffer<u32>,
    names: Vec<String>,
}

impl Labels {
    /// Stands in the array for a node without a class.
    pub const NONE: u32 = u32::MAX;

    /// Takes one class number per node, [`Labels::NONE`] where there is none.
    ///
    /// # Errors
    /// A number that has no name.
    pub fn new(class_of: Buffer<u32>, names: Vec<String>) -> Result<Self, GraphError> {
        let outside = |&class: &u32| class != Self::NONE && class as usize >= names.len();
        match class_of.iter().position(outside) {
            None => Ok(Labels { class_of, names }),
            Some(row) => Err(GraphError::ClassOutside {
                row: row as u64,
                class: u64::from(class_of[row]),
                classes: names.len() as u64,
            }),
        }
    }

    /// The class of a node, if it has one.
    pub fn class_of(&self, node: NodeId) -> Option<ClassId> {
        let class = self.class_of[node.index()];
        (class != Self::NONE).then_some(ClassId(class))
    }

    /// The array as given to [`Labels::new`].
    pub fn raw(&self) -> &[u32] {
        &self.class_of
    }

    /// The names of the classes, by class number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of one class.
    pub fn name(&self, class: ClassId) -> &str {
        &self.names[class.index()]
    }

    /// How many nodes each class has.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.names.len()];
        for &class in self.class_of.iter().filter(|&&class| class != Self::NONE) {
            sizes[class as usize] += 1;
        }
        sizes
    }

    pub(crate) fn select(&self, nodes: &[NodeId]) -> Labels {
        let class_of: Vec<u32> = nodes
            .iter()
            .map(|node| self.class_of[node.index()])
            .collect();
        Labels {
            class_of: class_of.into(),
            names: self.names.clone(),
        }
    }
}

/// What nodes are called outside, in the user's files.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeNames {
    /// Nodes are called by their position.
    Positions(usize),
    /// Nodes are called by a whole number.
    Integers(Buffer<i64>),
    /// Nodes are called by a text.
    Texts(Vec<String>),
}

impl NodeNames {
    /// The number of nodes.
    pub fn len(&self) -> usize {
        match self {
            NodeNames::Positions(nodes) => *nodes,
            NodeNames::Integers(names) => names.len(),
            NodeNames::Texts(names) => names.len(),
        }
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What one node is called.
    pub fn name(&self, node: NodeId) -> String {
        match self {
            NodeNames::Positions(_) => node.to_string(),
            NodeNames::Integers(names) => names[node.index()].to_string(),
            NodeNames::Texts(names) => names[node.index()].clone(),
        }
    }

    /// The names of `nodes`. Positions become numbers, so that a node keeps its name in a sub-graph.
    pub(crate) fn select(&self, nodes: &[NodeId]) -> NodeNames {
        match self {
            NodeNames::Positions(_) => {
                let names: Vec<i64> = nodes.iter().map(|node| i64::from(node.0)).collect();
                NodeNames::Integers(names.into())
            }
            NodeNames::Integers(names) => {
                let names: Vec<i64> = nodes.iter().map(|node| names[node.index()]).collect();
                NodeNames::Integers(names.into())
            }
            NodeNames::Texts(names) => NodeNames::Texts(
                nodes
                    .iter()
                    .map(|node| names[node.index()].clone())
                    .collect(),
            ),
        }
    }
}

/// A node's part of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Role {
    /// In no part.
    None = 0,
    /// Labels may be used for training.
    Train = 1,
    /// Labels may be used for choosing.
    Validation = 2,
    /// Labels may be used for the final figure only.
    Test = 3,
}

impl Role {
    /// All roles, in the order of their numbers.
    pub const ALL: [Role; 4] = [Role::None, Role::Train, Role::Validation, Role::Test];

    /// The word for it in files: empty for [`Role::None`].
    pub fn word(self) -> &'static str {
        match self {
            Role::None => "",
            Role::Train => "train",
            Role::Validation => "val",
            Role::Test => "test",
        }
    }

    /// The role that a word in a file stands for.
    ///
    /// # Example
    /// ```
    /// use treering_graph::Role;
    /// assert_eq!(Role::from_word("valid"), Some(Role::Validation));
    /// assert_eq!(Role::from_word("holiday"), None);
    /// ```
    pub fn from_word(word: &str) -> Option<Role> {
        match word.trim().to_ascii_lowercase().as_str() {
            "" | "none" => Some(Role::None),
            "train" | "training" => Some(Role::Train),
            "val" | "valid" | "validation" | "dev" => Some(Role::Validation),
            "test" | "testing" => Some(Role::Test),
            _ => None,
        }
    }
}
