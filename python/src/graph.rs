//! Graphs, and the way back to arrays.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use treering_data::{Context, WriteFormat};
use treering_graph::{Features, Graph as Inner, NodeId};

use crate::failure::{Failure, Outcome};
use crate::given::{Given, item, optional};
use crate::work::run;

/// The module that knows what arrays look like in other packages.
const CONVERT: &str = "treering._convert";

/// Arcs, features, and what is known about the nodes.
#[pyclass(frozen, module = "treering")]
pub(crate) struct Graph {
    pub(crate) inner: Arc<Inner>,
    /// Dense features that were not copied, as they were given.
    x: Option<Py<PyAny>>,
}

impl From<Inner> for Graph {
    fn from(inner: Inner) -> Self {
        Graph {
            inner: Arc::new(inner),
            x: None,
        }
    }
}

#[pymethods]
impl Graph {
    #[new]
    #[pyo3(signature = (edge_index, x=None, y=None, *, edge_weight=None, directed=false, split=None, node_ids=None, name="python"))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        edge_index: &Bound<'_, PyAny>,
        x: Option<&Bound<'_, PyAny>>,
        y: Option<&Bound<'_, PyAny>>,
        edge_weight: Option<&Bound<'_, PyAny>>,
        directed: bool,
        split: Option<&Bound<'_, PyAny>>,
        node_ids: Option<&Bound<'_, PyAny>>,
        name: &str,
    ) -> Outcome<Self> {
        let convert = py.import(CONVERT)?;
        let given = (edge_index, x, y, edge_weight, split, node_ids);
        let parts = convert.call_method1("parts", given)?.cast_into::<PyDict>();
        let parts = parts.map_err(|_| Failure::system("parts of a graph come as a dict"))?;
        let given = Given::read(&parts, directed, name);
        let inner = given.and_then(|given| run(py, None, move |_| given.build()));
        let back = if inner.is_ok() { "lent" } else { "all" };
        convert.call_method1("thaw", (item(&parts, back)?,))?;
        Ok(Graph {
            inner: Arc::new(inner?),
            x: optional(&parts, "dense")?.map(Bound::unbind),
        })
    }

    /// How many nodes there are.
    #[getter]
    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    /// How many arcs there are; an undirected edge is two.
    #[getter]
    fn arcs(&self) -> usize {
        self.inner.arcs().len()
    }

    /// How many feature columns there are.
    #[getter]
    fn features(&self) -> usize {
        self.inner.features().columns()
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        let labels = self.inner.labels();
        labels.map_or_else(Vec::new, |labels| labels.names().to_vec())
    }

    /// What the graph is called.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.origin().name
    }

    /// Whether a generator made it up.
    #[getter]
    fn synthetic(&self) -> bool {
        self.inner.origin().synthetic.is_some()
    }

    /// The features: the array as it was given where it was not copied, else a copy; a scipy matrix where they are sparse.
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyAny>> {
        if let Some(x) = &self.x {
            return Ok(x.bind(py).clone());
        }
        match self.inner.features() {
            Features::Dense(dense) => {
                let flat = PyArray1::from_slice(py, dense.values());
                let x = flat.reshape([dense.rows(), dense.columns()])?;
                Ok(x.into_any())
            }
            Features::Sparse(sparse) => {
                let parts = (
                    PyArray1::from_slice(py, sparse.offsets()),
                    PyArray1::from_slice(py, sparse.indices()),
                    PyArray1::from_slice(py, sparse.values()),
                    (sparse.rows(), sparse.columns()),
                );
                Ok(py.import(CONVERT)?.call_method1("sparse", parts)?)
            }
        }
    }

    /// The class of every node by name, `None` where it has none; `None` where no class is known.
    #[getter]
    fn y<'py>(&self, py: Python<'py>) -> Outcome<Option<Bound<'py, PyAny>>> {
        let Some(labels) = self.inner.labels() else {
            return Ok(None);
        };
        let names = NodeId::first(self.inner.nodes())
            .map(|node| labels.class_of(node).map(|class| labels.name(class)));
        Ok(Some(objects(
            py,
            PyList::new(py, names.collect::<Vec<_>>())?,
        )?))
    }

    /// Source and target of every arc.
    #[getter]
    fn edge_index<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyArray2<i64>>> {
        let arcs = self.inner.arcs();
        let sources = arcs.iter().map(|(_, source, _)| source as i64);
        let targets = arcs.iter().map(|(target, _, _)| target as i64);
        let both: Vec<i64> = sources.chain(targets).collect();
        Ok(PyArray1::from_vec(py, both).reshape([2, arcs.len()])?)
    }

    /// The weight of every arc; `None` where all are 1.
    #[getter]
    fn edge_weight<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        let weights = self.inner.arcs().weights();
        weights.map(|weights| PyArray1::from_slice(py, weights))
    }

    /// `train`, `val`, `test` or nothing for every node; `None` where there is no split.
    #[getter]
    fn split<'py>(&self, py: Python<'py>) -> Outcome<Option<Bound<'py, PyAny>>> {
        let Some(split) = self.inner.split() else {
            return Ok(None);
        };
        let words: Vec<&str> = split.iter().map(|role| role.word()).collect();
        Ok(Some(objects(py, PyList::new(py, words)?)?))
    }

    /// What every node is called outside.
    #[getter]
    fn node_ids<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyAny>> {
        let names = self.inner.names();
        let names = NodeId::first(self.inner.nodes()).map(|node| names.name(node));
        objects(py, PyList::new(py, names.collect::<Vec<_>>())?)
    }

    /// Writes the graph: `.treering`, `.npz`, or a folder of tables.
    #[pyo3(signature = (path, *, force=false))]
    fn write(&self, py: Python<'_>, path: PathBuf, force: bool) -> Outcome<()> {
        let inner = self.inner.clone();
        run(py, None, move |listener| {
            let (format, context) = (
                WriteFormat::from_path(&path),
                Context::with_free_memory(listener),
            );
            Ok(treering_data::write(
                &inner, &path, format, force, &context,
            )?)
        })
    }

    fn __repr__(&self) -> String {
        let made_up = if self.synthetic() { ", SYNTHETIC" } else { "" };
        format!(
            "Graph({:?}: {} nodes, {} arcs, {} features, {} classes{made_up})",
            self.name(),
            self.nodes(),
            self.arcs(),
            self.features(),
            self.classes().len()
        )
    }
}

/// A list as an array of objects, so that texts keep their length and `None` is itself.
fn objects<'py>(py: Python<'py>, list: Bound<'py, PyList>) -> Outcome<Bound<'py, PyAny>> {
    Ok(py.import(CONVERT)?.call_method1("objects", (list,))?)
}
