//! A stream of three tasks by hand, and a learner that writes down what it is shown.
#![allow(dead_code)]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use treering_data::{Progress, SplitSource, Stream, StreamOptions};
use treering_graph::{
    Dense, Direction, Features, Graph, Labels, NodeId, NodeNames, Origin, Parts, Role, build_arcs,
};
use treering_learn::{Answer, Groups, Labelled, LearnError, Learner, Query, Stored, TrainingTask};

/// Six classes of four nodes. Classes take turns: node 6 r + c is of class c.
pub const NODES: usize = 24;

pub fn class(node: usize) -> usize {
    node % 6
}

/// Two classes a task.
pub fn task(node: usize) -> usize {
    class(node) / 2
}

/// Of every class one train node, one validation node, two test nodes.
pub fn role(node: usize) -> Role {
    match node / 6 {
        0 => Role::Train,
        1 => Role::Validation,
        _ => Role::Test,
    }
}

/// A chain through every class, the train nodes of a task's classes joined, and three edges between tasks.
#[rustfmt::skip]
pub const EDGES: [(usize, usize); 24] = [
    (0, 6), (6, 12), (12, 18), (1, 7), (7, 13), (13, 19),
    (2, 8), (8, 14), (14, 20), (3, 9), (9, 15), (15, 21),
    (4, 10), (10, 16), (16, 22), (5, 11), (11, 17), (17, 23),
    (0, 1), (2, 3), (4, 5),
    (1, 2), (3, 4), (13, 14),
];

/// The class that a node looks like.
fn looks(node: usize) -> usize {
    match node {
        12 => 2,
        13 => 0,
        14 => 5,
        _ => class(node),
    }
}

/// How familiar it looks: on average 0.625 in the first task, 0.875 in the second, 0.625 in the third.
fn familiarity(node: usize) -> f32 {
    match (task(node), class(node)) {
        (0, 0) => 0.5,
        (0, _) => 0.75,
        (1, _) => 0.875,
        _ => 0.625,
    }
}

pub fn toy() -> (Graph, Stream) {
    let ends = |of: fn(&(usize, usize)) -> usize| -> Vec<u32> {
        EDGES.iter().map(|edge| of(edge) as u32).collect()
    };
    let (from, to) = (ends(|edge| edge.0), ends(|edge| edge.1));
    let (arcs, _) = build_arcs(NODES, &from, &to, None, Direction::Undirected).unwrap();
    let row = |node: usize| [looks(node) as f32, familiarity(node)];
    let x: Vec<f32> = (0..NODES).flat_map(row).collect();
    let classes: Vec<u32> = (0..NODES).map(|node| class(node) as u32).collect();
    let names = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
    let graph = Graph::new(Parts {
        arcs,
        features: Features::Dense(Dense::new(NODES, 2, x.into()).unwrap()),
        labels: Some(Labels::new(classes.into(), names).unwrap()),
        names: NodeNames::Positions(NODES),
        split: Some((0..NODES).map(role).collect::<Vec<_>>().into()),
        origin: Origin::default(),
    });
    let (graph, options) = (
        graph.unwrap(),
        StreamOptions {
            split: SplitSource::Own,
            ..StreamOptions::default()
        },
    );
    let stream = Stream::plan(&graph, &options).unwrap();
    assert_eq!(stream.tasks.len(), 3);
    (graph, stream)
}

/// What a query showed, with the names that nodes have in the data.
pub struct Seen {
    pub shown: Vec<usize>,
    pub edges: BTreeSet<(usize, usize)>,
    pub labelled: bool,
    pub nodes: Vec<usize>,
    pub groups: Groups,
    pub patch: Option<u64>,
    pub tasks: Option<Vec<u32>>,
    pub learned: Option<usize>,
}

/// What a task to learn from showed.
pub struct Lesson {
    pub shown: Vec<usize>,
    pub edges: BTreeSet<(usize, usize)>,
    pub labelled: bool,
    pub train: Vec<(usize, usize)>,
    /// Validation nodes with their classes, where they are granted.
    pub validation: Option<Vec<(usize, usize)>>,
}

/// Answers with the class that a node looks like, in the task that most of its group look like; writes down what it is shown.
///
/// One that is calibrated asks for validation labels, takes half off familiarity so that rates fall among it, and gives the chosen task 3/4 where there are several.
#[derive(Default)]
pub struct Reader {
    pub calibrated: bool,
    pub lessons: Vec<Lesson>,
    pub queries: RefCell<Vec<Seen>>,
}

fn labelled(graph: &Graph, of: &Labelled) -> Vec<(usize, usize)> {
    let pairs = of.nodes.iter().zip(&of.classes);
    pairs
        .map(|(&node, &class)| (named(graph, node), class as usize))
        .collect()
}

fn named(graph: &Graph, node: NodeId) -> usize {
    graph.names().name(node).parse().unwrap()
}

fn shown(graph: &Graph) -> Vec<usize> {
    NodeId::first(graph.nodes())
        .map(|node| named(graph, node))
        .collect()
}

fn edges(graph: &Graph) -> BTreeSet<(usize, usize)> {
    let names = shown(graph);
    let arcs = graph.arcs().iter();
    let ends = arcs.map(|(target, source, _)| (names[target], names[source]));
    ends.map(|(a, b)| (a.min(b), a.max(b))).collect()
}

fn is_labelled(graph: &Graph) -> bool {
    graph.labels().is_some() || graph.split().is_some()
}

fn row(graph: &Graph, node: NodeId) -> [f32; 2] {
    match graph.features() {
        Features::Dense(dense) => [dense.row(node.index())[0], dense.row(node.index())[1]],
        Features::Sparse(_) => panic!("the toy has dense features"),
    }
}

impl Reader {
    /// The task that most nodes of every group look like, the first of equals; tasks that are not known look like the first.
    fn tasks(query: &Query, looks: &[usize]) -> Vec<usize> {
        let known = query.seen.unwrap();
        let (groups, _) = query.group_numbers();
        let mut votes: BTreeMap<u32, BTreeMap<usize, usize>> = BTreeMap::new();
        for (&group, look) in groups.iter().zip(looks) {
            let task = Some(look / 2).filter(|&task| task < known).unwrap_or(0);
            *votes.entry(group).or_default().entry(task).or_default() += 1;
        }
        let most = |group: &u32| {
            let votes = votes[group].iter().rev();
            votes
                .max_by_key(|(_, count)| **count)
                .map(|(task, _)| *task)
        };
        groups.iter().map(|group| most(group).unwrap()).collect()
    }
}

fn posterior(task: usize, known: usize) -> Vec<f32> {
    let others = 0.25 / known.saturating_sub(1).max(1) as f32;
    let mut all = vec![others; known];
    all[task] = if known > 1 { 0.75 } else { 1.0 };
    all
}

impl Learner for Reader {
    fn name(&self) -> &str {
        "reader"
    }

    fn learn(&mut self, tasks: &[TrainingTask], _: &dyn Progress) -> Result<(), LearnError> {
        for task in tasks {
            let graph = task.graph();
            self.lessons.push(Lesson {
                shown: shown(graph),
                edges: edges(graph),
                labelled: is_labelled(graph) || (task.validation().is_some() && !self.calibrated),
                train: labelled(graph, task.train()),
                validation: task.validation().map(|known| labelled(graph, known)),
            });
        }
        Ok(())
    }

    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        let graph = query.graph();
        let name = |&node: &NodeId| named(graph, node);
        self.queries.borrow_mut().push(Seen {
            shown: shown(graph),
            edges: edges(graph),
            labelled: is_labelled(graph),
            nodes: query.nodes.iter().map(name).collect(),
            groups: query.groups.clone(),
            patch: query.patch,
            tasks: query.tasks.clone(),
            learned: query.seen,
        });
        let rows: Vec<[f32; 2]> = query.nodes.iter().map(|&node| row(graph, node)).collect();
        let looks: Vec<usize> = rows.iter().map(|row| row[0] as usize).collect();
        let tasks = match &query.tasks {
            Some(tasks) => tasks.iter().map(|&task| task as usize).collect(),
            None => Reader::tasks(query, &looks),
        };
        let answer = |((task, look), row): ((usize, usize), [f32; 2])| Answer {
            task: task as u32,
            margin: 0.0,
            familiarity: Some(f64::from(row[1]) - if self.calibrated { 0.5 } else { 0.0 }),
            posterior: match self.calibrated {
                true => posterior(task, query.seen.unwrap()),
                false => Vec::new(),
            },
            probabilities: [[1.0, 0.0], [0.0, 1.0]][look % 2].to_vec(),
        };
        Ok(tasks.into_iter().zip(looks).zip(rows).map(answer).collect())
    }

    fn stored(&self) -> Stored {
        Stored::default()
    }

    fn recognises(&self) -> bool {
        true
    }

    fn familiarity_is_calibrated(&self) -> bool {
        self.calibrated
    }

    fn calibrates(&self) -> bool {
        self.calibrated
    }
}
