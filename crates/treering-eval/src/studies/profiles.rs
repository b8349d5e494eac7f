//! How far the profiles of tasks are from each other.

use treering_data::Stream;
use treering_graph::{Graph, NodeId, Role};
use treering_learn::tpp::{Recogniser, TppParameters};
use treering_learn::{Groups, LearnError, Query, Shown};

use super::{ProfileDistances, name};
use crate::tasks_of;

/// The distance from every task's test nodes to every task's train nodes, as the published method takes prototypes.
pub(super) fn distances(
    graph: &Graph,
    stream: &Stream,
    seed: u64,
) -> Result<ProfileDistances, LearnError> {
    let defaults = TppParameters::default();
    let recogniser = Recogniser {
        seed,
        profile: defaults.profile,
        smoothing: defaults.smoothing,
        patch: defaults.patch,
    };
    let tasks = tasks_of(graph, stream, Shown::Train)?;
    let prototypes: Vec<Vec<f64>> = tasks.iter().map(|t| recogniser.prototype(t)).collect();
    let mut names = Vec::new();
    let mut distances = Vec::new();
    for (number, task) in stream.tasks.iter().enumerate() {
        let cut = stream.task_graph(graph, task.id);
        names.push(name(&cut));
        let roles = cut.split().unwrap_or(&[]);
        let tested = |node: &NodeId| roles.get(node.index()) == Some(&Role::Test);
        let nodes = NodeId::first(cut.nodes()).filter(tested).collect();
        let mut query = Query::new(cut, nodes, Groups::All);
        query.patch = Some(number as u64);
        let asked = recogniser.query_prototype(&query);
        let row = prototypes.iter().map(|known| distance(&asked, known));
        distances.push(row.collect());
    }
    Ok(ProfileDistances {
        tasks: names,
        steps: recogniser.smoothing,
        distances,
    })
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}
