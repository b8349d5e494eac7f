//! What a learner written in Python is shown: a task to learn from, and a query to answer. Nothing else can be reached from here.

use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use treering_graph::Graph as Inner;
use treering_learn::{Query as Asked, TrainingTask};

use crate::graph::Graph;

/// A task to learn from: a graph without labels, its train nodes and their classes.
#[pyclass(frozen, module = "treering")]
pub(crate) struct Task {
    graph: Inner,
    train: Vec<i64>,
    train_y: Vec<String>,
    classes: Vec<String>,
}

impl From<&TrainingTask> for Task {
    fn from(task: &TrainingTask) -> Self {
        let (train, classes) = (task.train(), task.classes());
        let name = |&class: &u32| classes[class as usize].clone();
        Task {
            graph: task.graph().clone(),
            train: train.nodes.iter().map(|node| i64::from(node.0)).collect(),
            train_y: train.classes.iter().map(name).collect(),
            classes: classes.to_vec(),
        }
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

impl From<&Asked> for Query {
    fn from(query: &Asked) -> Self {
        let wide = |numbers: &[u32]| numbers.iter().map(|&number| i64::from(number)).collect();
        Query {
            graph: Arc::new(query.graph().clone()),
            nodes: query.nodes.iter().map(|node| i64::from(node.0)).collect(),
            groups: wide(&query.group_numbers().0),
            tasks: query.tasks.as_deref().map(wide),
        }
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
