//! The queries of a stage under each protocol. A task's graph is cut once for all exams and stages, and the graph of all tasks seen once a stage.

use std::ops::Range;

use rand::seq::SliceRandom;
use treering_data::{Purpose, Stream, Task, random};
use treering_graph::{ClassId, Graph, NodeId};
use treering_learn::{Groups, Query, Stage};

use super::{Asked, Exam, GroupSize, Protocol};

/// A query, and what only the evaluator knows about it.
pub(crate) struct Question {
    pub(crate) query: Query,
    /// The task of every node, and its class by its place in the task.
    pub(crate) truth: Vec<(usize, usize)>,
    /// The tasks that it is about, with and without a node.
    pub(crate) tasks: Range<usize>,
}

/// Makes the queries of a stream.
pub(crate) struct Questions<'a> {
    graph: &'a Graph,
    stream: &'a Stream,
    /// Of every task its graph; empty where no exam needs them.
    cut: Vec<Graph>,
    /// Of every task the place of each node's class among the task's.
    classes: Vec<Vec<usize>>,
    united: Option<United>,
}

/// The graph of all tasks up to a stage.
struct United {
    stage: usize,
    protocol: Protocol,
    graph: Graph,
    /// Of each node its task, and its place among the task's nodes.
    places: Vec<(usize, usize)>,
}

impl<'a> Questions<'a> {
    /// # Arguments
    /// * `cut`: every task's graph, where they are there already.
    pub(crate) fn new(
        graph: &'a Graph,
        stream: &'a Stream,
        exams: &[Exam],
        cut: Option<Vec<Graph>>,
    ) -> Self {
        let tasks = || stream.tasks.iter();
        let apart = exams.iter().any(|exam| !unites(exam.protocol));
        let anew = || tasks().map(|task| stream.task_graph(graph, task.id));
        Questions {
            graph,
            stream,
            cut: match apart {
                true => cut.unwrap_or_else(|| anew().collect()),
                false => Vec::new(),
            },
            classes: tasks().map(|task| classes(graph, task)).collect(),
            united: None,
        }
    }

    /// What an exam asks after a stage.
    pub(crate) fn at(&mut self, stage: usize, exam: &Exam) -> Vec<Question> {
        let tasks = match exam.protocol {
            Protocol::Mixed | Protocol::Connected => return vec![self.united(stage, exam)],
            Protocol::Open | Protocol::OpenGroups(_) => self.stream.tasks.len(),
            _ => stage + 1,
        };
        let one = |task: usize| {
            let mut question = self.about(task, exam);
            question.query.go_to(Self::stage(stage, task, exam));
            question
        };
        (0..tasks).map(one).collect()
    }

    /// What differs from stage to stage in the question about a task.
    pub(crate) fn stage(stage: usize, task: usize, exam: &Exam) -> Stage {
        // The published method draws neighbours anew for every query.
        let patch = (stage as u64) << 32 | task as u64;
        Stage {
            seen: stage + 1,
            patch: exam.protocol.patches().then_some(patch),
        }
    }

    /// About one task, on its graph, at any stage.
    pub(crate) fn about(&self, task: usize, exam: &Exam) -> Question {
        let places = asked(&self.stream.tasks[task], exam.asked);
        let groups = match exam.protocol {
            Protocol::Paper | Protocol::Open | Protocol::Oracle => Groups::All,
            Protocol::Groups(size) | Protocol::OpenGroups(size) => {
                drawn(places.len(), size, exam.seed, task)
            }
            _ => Groups::Single,
        };
        let truth = places.iter().map(|&at| (task, self.classes[task][at]));
        let truth: Vec<(usize, usize)> = truth.collect();
        let nodes = places.iter().map(|&at| NodeId(at as u32)).collect();
        let mut query = Query::new(self.cut[task].clone(), nodes, groups);
        query.tasks = (exam.protocol == Protocol::Oracle).then(|| vec![task as u32; truth.len()]);
        Question {
            query,
            truth,
            tasks: task..task + 1,
        }
    }

    /// About all tasks seen at once.
    fn united(&mut self, stage: usize, exam: &Exam) -> Question {
        let fits = |known: &United| known.stage == stage && known.protocol == exam.protocol;
        let united = match self.united.take().filter(fits) {
            Some(known) => known,
            None => self.unite(stage, exam.protocol),
        };
        let (mut nodes, mut truth) = (Vec::new(), Vec::new());
        for (node, &(task, at)) in (0u32..).zip(&united.places) {
            if self.stream.tasks[task].roles[at] == exam.asked.role() {
                nodes.push(NodeId(node));
                truth.push((task, self.classes[task][at]));
            }
        }
        let mut query = Query::new(united.graph.clone(), nodes, Groups::Single);
        query.seen = Some(stage + 1);
        self.united = Some(united);
        Question {
            query,
            truth,
            tasks: 0..stage + 1,
        }
    }

    /// Nodes keep the order of the data, so that a node's place says nothing about its task.
    fn unite(&self, stage: usize, protocol: Protocol) -> United {
        let seen = self.stream.tasks[..=stage].iter().enumerate();
        let places = seen.flat_map(|(task, of)| {
            let nodes = of.nodes.iter().enumerate();
            nodes.map(move |(at, &node)| (node, (task, at)))
        });
        let mut places: Vec<(NodeId, (usize, usize))> = places.collect();
        places.sort_unstable();
        let (nodes, places): (Vec<NodeId>, Vec<(usize, usize)>) = places.into_iter().unzip();
        let graph = self.graph.induced(&nodes);
        let graph = match protocol {
            Protocol::Connected => graph,
            _ => graph.filtered(|target, source| places[target].0 == places[source].0),
        };
        United {
            stage,
            protocol,
            graph: graph.unlabelled(),
            places,
        }
    }
}

/// Whether one query is about all tasks seen.
pub(crate) fn unites(protocol: Protocol) -> bool {
    matches!(protocol, Protocol::Mixed | Protocol::Connected)
}

/// The places of the nodes that are asked about. A task's graph has the task's own nodes first, in this order.
fn asked(task: &Task, asked: Asked) -> Vec<usize> {
    let wanted = asked.role();
    let roles = task.roles.iter().enumerate();
    roles
        .filter(|(_, role)| **role == wanted)
        .map(|(at, _)| at)
        .collect()
}

fn classes(graph: &Graph, task: &Task) -> Vec<usize> {
    let place = |class: ClassId| task.classes.iter().position(|&known| known == class);
    let class = |&node: &NodeId| {
        let class = graph.labels().and_then(|labels| labels.class_of(node));
        class.and_then(place).unwrap_or(0)
    };
    task.nodes.iter().map(class).collect()
}

/// Random groups. They depend on neither the stage nor the learner, so that all are asked about the same ones. Nodes that are left over join groups that
/// are there, one each as far as they go: a group of fewer would not say how well groups of this size are recognised.
fn drawn(nodes: usize, size: GroupSize, seed: u64, task: usize) -> Groups {
    if size.get() == 1 {
        return Groups::Single;
    }
    let mut order: Vec<usize> = (0..nodes).collect();
    order.shuffle(&mut random(seed, Purpose::Grouping, task as u64));
    let count = (nodes / size.get()).max(1);
    let mut numbers = vec![0; nodes];
    for (rank, at) in order.into_iter().enumerate() {
        numbers[at] = (rank % count) as u32;
    }
    Groups::Given(numbers)
}
