//! How well a model does on the validation nodes of what it just learned. They were not trained on.

use treering_eval::balanced_accuracy;
use treering_graph::{Graph, NodeId, Role};
use treering_learn::saved::Keep;
use treering_learn::{Groups, LearnError, Query};

/// Class-balanced accuracy in percent.
#[derive(Clone, Copy)]
pub(super) struct Accuracy {
    /// Where the task is known.
    pub(super) within: f64,
    /// Node by node over all tasks, where nothing is known.
    pub(super) over_all: f64,
}

/// The accuracy on a task's validation nodes; none where it has none.
///
/// # Arguments
/// * `place`: where the task's ring is among the learner's.
pub(super) fn accuracy(
    learner: &dyn Keep,
    graph: &Graph,
    place: usize,
) -> Result<Option<Accuracy>, LearnError> {
    let (Some(labels), Some(split)) = (graph.labels(), graph.split()) else {
        return Ok(None);
    };
    let (nodes, classes): (Vec<NodeId>, Vec<usize>) = NodeId::first(graph.nodes())
        .filter(|node| split[node.index()] == Role::Validation)
        .filter_map(|node| Some((node, labels.class_of(node)?.index())))
        .unzip();
    let mut query = Query::new(graph.clone(), nodes, Groups::Single);
    let mut judge = |tasks: Option<Vec<u32>>| -> Result<Option<f64>, LearnError> {
        query.tasks = tasks;
        let answers = learner.predict(&query)?;
        let right = answers.iter().zip(&classes).map(|(answer, &class)| {
            let is_right = answer.task as usize == place && answer.class() == class;
            (class, is_right)
        });
        Ok(balanced_accuracy(labels.names().len(), right))
    };
    let known = vec![place as u32; classes.len()];
    let found = judge(Some(known))?.zip(judge(None)?);
    Ok(found.map(|(within, over_all)| Accuracy { within, over_all }))
}
