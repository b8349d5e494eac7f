//! What a model is asked, and what comes of it.

use std::sync::Arc;

use numpy::PyReadonlyArray1;
use treering_graph::{Graph as Inner, NodeId};
use treering_learn::{Answer, Groups, LearnError, Query};

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

/// H(task given the group) times H(class given the task), for every class; where the router has no probabilities, the recognised task has all.
pub(crate) fn shares(state: &State, mut query: Query) -> Result<Vec<f64>, LearnError> {
    let (starts, classes) = (starts(state), state.classes().len());
    let answers = state.learner.predict(&query)?;
    let mut shares = vec![0.0; answers.len() * classes];
    let mut fill = |node: usize, task: usize, of_task: f64, answer: &Answer| {
        for (place, &share) in answer.probabilities.iter().enumerate() {
            shares[node * classes + starts[task] + place] = of_task * f64::from(share);
        }
    };
    if answers.iter().any(|answer| answer.posterior.is_empty()) {
        for (node, answer) in answers.iter().enumerate() {
            fill(node, answer.task as usize, 1.0, answer);
        }
        return Ok(shares);
    }
    for task in 0..state.tasks.len() {
        query.tasks = Some(vec![task as u32; answers.len()]);
        for (node, within) in state.learner.predict(&query)?.iter().enumerate() {
            fill(node, task, f64::from(answers[node].posterior[task]), within);
        }
    }
    Ok(shares)
}
