//! What a model is asked, and what comes of it.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use treering_graph::{Graph as Inner, NodeId};
use treering_learn::{Groups, Query};

use crate::graph::Graph;
use crate::state::State;

/// Numbers of nodes or groups.
pub(crate) type Numbers<'py> = PyReadonlyArray1<'py, u32>;

/// What is asked, out of Python's hands.
pub(crate) struct Asked {
    graph: Arc<Inner>,
    nodes: Option<Vec<u32>>,
    groups: Groups,
}

impl Asked {
    /// # Arguments
    /// * `together`: all nodes come from one task.
    /// * `groups`: the number of every node's group.
    pub(crate) fn new(
        graph: &Graph,
        nodes: Option<Numbers<'_>>,
        together: bool,
        groups: Option<Numbers<'_>>,
    ) -> Self {
        let list = |numbers: Numbers<'_>| numbers.as_array().to_vec();
        Asked {
            graph: graph.inner.clone(),
            nodes: nodes.map(list),
            groups: match (together, groups) {
                (true, _) => Groups::All,
                (false, None) => Groups::Single,
                (false, Some(numbers)) => Groups::Given(list(numbers)),
            },
        }
    }

    pub(crate) fn query(self) -> Query {
        let nodes = match self.nodes {
            Some(nodes) => nodes.into_iter().map(NodeId).collect(),
            None => NodeId::first(self.graph.nodes()).collect(),
        };
        Query::new((*self.graph).clone(), nodes, self.groups)
    }
}

/// Where each task's classes begin among all.
pub(crate) fn starts(state: &State) -> Vec<usize> {
    let mut end = 0;
    let start = |classes: usize| {
        let start = end;
        end += classes;
        start
    };
    state
        .tasks
        .iter()
        .map(|task| task.classes.len())
        .map(start)
        .collect()
}
