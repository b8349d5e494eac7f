//! A task's nodes in two dimensions, as the frozen backbone sees them without and with the task's prompt.

use treering_data::{Progress, Stream};
use treering_graph::{Graph, NodeId};
use treering_learn::tpp::{Tpp, TppParameters};
use treering_learn::{Groups, LearnError, Learner, Query, Shown};

use super::principal::plane;
use super::{Embeddings, Shares};
use crate::tasks_of;

/// The second task: the first that has a prompt.
const TASK: usize = 1;
/// Points that a figure can show.
const POINTS: usize = 400;

pub(super) fn embeddings(
    graph: &Graph,
    stream: &Stream,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Embeddings, LearnError> {
    let mut learner = Tpp::new(TppParameters {
        seed,
        ..TppParameters::default()
    })?;
    let tasks = tasks_of(graph, stream, Shown::Train)?;
    learner.learn(&tasks[..=TASK], progress)?;
    let cut = stream.task_graph(graph, stream.tasks[TASK].id);
    let labels = cut.labels();
    let class = |node: NodeId| labels.and_then(|labels| labels.class_of(node));
    let known = NodeId::first(cut.nodes()).filter_map(|node| Some((node, class(node)?.index())));
    let all: Vec<(NodeId, usize)> = known.collect();
    let step = all.len().div_ceil(POINTS).max(1);
    let (nodes, classes): (Vec<NodeId>, Vec<usize>) = all.into_iter().step_by(step).unzip();
    let names = labels.map_or_else(Vec::new, |labels| labels.names().to_vec());
    let query = Query::new(cut, nodes, Groups::All);
    let view = |ring: Option<usize>| {
        let (points, share) = plane(&learner.embeddings(&query, ring)?, classes.len());
        let points = points.into_iter().zip(&classes);
        let points: Vec<(f64, f64, usize)> = points.map(|([x, y], &c)| (x, y, c)).collect();
        Ok::<_, LearnError>((points, share))
    };
    let ((before, share_before), (after, share_after)) = (view(None)?, view(Some(TASK))?);
    Ok(Embeddings {
        task: TASK,
        classes: names,
        before,
        after,
        share: Shares {
            before: share_before,
            after: share_after,
        },
    })
}
