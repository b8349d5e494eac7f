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
    let alone = learner.alone(place)?;
    let query = Query::new(graph.clone(), nodes, Groups::Single);
    let judge = |learner: &dyn Keep, task: usize| -> Result<Option<f64>, LearnError> {
        let answers = learner.predict(&query)?;
        let right = answers.iter().zip(&classes).map(|(answer, &class)| {
            (
                class,
                answer.task as usize == task && answer.class() == class,
            )
        });
        Ok(balanced_accuracy(labels.names().len(), right))
    };
    let found = judge(&*alone, 0)?.zip(judge(learner, place)?);
    Ok(found.map(|(within, over_all)| Accuracy { within, over_all }))
}
