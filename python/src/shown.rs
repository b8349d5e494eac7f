//! What a learner written in Python is shown: a task to learn from, and a query to answer. Nothing else can be reached from here.
//!
//! Streams have the nodes of a task class by class, and train nodes first. So a place would tell a node's class; nodes are shown in a random order, another one every time, and without
//! their names.

use std::collections::HashMap;
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use rand::seq::SliceRandom;
use treering_data::{Purpose, random};
use treering_graph::{Graph as Inner, NodeId, NodeNames, Parts};
use treering_learn::{Query as Asked, TrainingTask};

use crate::failure::Outcome;
use crate::graph::Graph;

/// A task to learn from: a graph without labels, its train nodes and their classes.
#[pyclass(frozen, module = "treering")]
pub(crate) struct Task {
    graph: Inner,
    train: Vec<i64>,
    train_y: Vec<String>,
    classes: Vec<String>,
}

/// A random order of a graph's nodes.
struct Shuffled {
    graph: Inner,
    /// Of every node the place where it is shown.
    places: Vec<u32>,
}

impl Shuffled {
    /// # Arguments
    /// * `draw`: tells orders apart.
    fn new(graph: &Inner, draw: u64) -> Outcome<Self> {
        let mut order: Vec<NodeId> = NodeId::first(graph.nodes()).collect();
        order.shuffle(&mut random(0, Purpose::Sampling, draw));
        let mut places = vec![0; order.len()];
        for (place, node) in (0..).zip(&order) {
            places[node.index()] = place;
        }
        let shown = graph.induced(&order);
        let graph = Inner::new(Parts {
            arcs: shown.arcs().clone(),
            features: shown.features().clone(),
            labels: None,
            names: NodeNames::Positions(shown.nodes()),
            split: None,
            origin: shown.origin().clone(),
        })?;
        Ok(Shuffled { graph, places })
    }

    /// Where nodes are shown, and the places among `nodes` that this order begins with.
    fn sorted(&self, nodes: &[NodeId]) -> (Vec<i64>, Vec<usize>) {
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        let place = |at: usize| self.places[nodes[at].index()];
        order.sort_by_key(|&at| place(at));
        let shown = order.iter().map(|&at| i64::from(place(at))).collect();
        (shown, order)
    }
}

impl Task {
    pub(crate) fn new(task: &TrainingTask, draw: u64) -> Outcome<Self> {
        let (train, classes) = (task.train(), task.classes());
        let shown = Shuffled::new(task.graph(), draw)?;
        let (nodes, order) = shown.sorted(&train.nodes);
        let name = |&at: &usize| classes[train.classes[at] as usize].clone();
        Ok(Task {
            graph: shown.graph,
            train: nodes,
            train_y: order.iter().map(name).collect(),
            classes: classes.to_vec(),
        })
    }
}

#[pymethods]
impl Task {
    /// The task's graph; it has no classes and no split.
    #[getter]
    fn graph(&self) -> Graph {
        self.graph.clone().into()
    }

    /// The train nodes.
    #[getter]
    fn train<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_slice(py, &self.train)
    }

    /// The class of every train node, by name.
    #[getter]
    fn train_y(&self) -> Vec<String> {
        self.train_y.clone()
    }

    /// The names of the task's classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.classes.clone()
    }
}

/// Nodes to classify.
#[pyclass(frozen, module = "treering")]
pub(crate) struct Query {
    graph: Arc<Inner>,
    nodes: Vec<i64>,
    groups: Vec<i64>,
    tasks: Option<Vec<i64>>,
}

impl Query {
    /// A query, and of each of its nodes the place in what was asked.
    pub(crate) fn new(query: &Asked, draw: u64) -> Outcome<(Self, Vec<usize>)> {
        let shown = Shuffled::new(query.graph(), draw)?;
        let (nodes, order) = shown.sorted(&query.nodes);
        let numbers = query.group_numbers().0;
        // Numbered as they come: single nodes are numbered by their places.
        let mut known = HashMap::new();
        let group = |&at: &usize| {
            let next = known.len() as i64;
            *known.entry(numbers[at]).or_insert(next)
        };
        let asked = Query {
            graph: Arc::new(shown.graph),
            nodes,
            groups: order.iter().map(group).collect(),
            tasks: query
                .tasks
                .as_ref()
                .map(|tasks| order.iter().map(|&at| i64::from(tasks[at])).collect()),
        };
        Ok((asked, order))
    }
}

#[pymethods]
impl Query {
    /// The graph; it has no classes and no split.
    #[getter]
    fn graph(&self) -> Graph {
        (*self.graph).clone().into()
    }

    /// The nodes that are asked about.
    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_slice(py, &self.nodes)
    }

    /// The group of every node: those with the same number are known to come from one task.
    #[getter]
    fn groups<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_slice(py, &self.groups)
    }

    /// The task of every node, by its place in the order of learning. Only the protocol `oracle` says it.
    #[getter]
    fn tasks<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        let tasks = self.tasks.as_deref();
        tasks.map(|tasks| PyArray1::from_slice(py, tasks))
    }
}
