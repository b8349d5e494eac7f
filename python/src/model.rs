//! Models for Python. `treering._models` gives them scikit-learn's manners; what is here is calls into the crates.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use treering_graph::{Graph as Inner, Labels, NodeId, Role};
use treering_learn::registry::{self, Settings};
use treering_learn::saved::{LEARNERS, Parameters};
use treering_learn::{Answer, hold_out, one_task};
use treering_store::free_names;

use crate::ask::{Asked, Numbers, starts};
use crate::failure::{Failure, Outcome};
use crate::given::roles as roles_of;
use crate::graph::Graph;
use crate::state::State;
use crate::work::run;

/// A learner that can be kept. Any number of threads may ask; one at a time changes it.
#[pyclass(frozen, module = "treering._native")]
pub(crate) struct Model {
    state: Arc<RwLock<State>>,
}

/// Parameters of a learner from the values that differ from the defaults: a JSON object by the registry's names.
fn parameters(learner: &str, changed: &str) -> Outcome<Parameters> {
    let changed: Settings = serde_json::from_str(changed).map_err(Failure::value)?;
    let changed: Vec<(String, Value)> = changed.into_iter().collect();
    let all = Value::Object(registry::complete(learner, &changed)?);
    let wrong = |error: serde_json::Error| Failure::value(error);
    let found = match Parameters::of(learner) {
        Some(Parameters::Treering(_)) => {
            Parameters::Treering(serde_json::from_value(all).map_err(wrong)?)
        }
        Some(Parameters::Tpp(_)) => Parameters::Tpp(serde_json::from_value(all).map_err(wrong)?),
        None => {
            return Err(Failure::value(format!(
                "`{learner}` cannot be kept; {} can",
                LEARNERS.join(" and ")
            )));
        }
    };
    found.check()?;
    Ok(found)
}

/// A learner's parameters by name, with dots for groups, as JSON.
fn flat(settings: &Settings) -> Value {
    let mut all = Settings::new();
    for key in registry::keys(settings, "") {
        let pointer = format!("/{}", key.replace('.', "/"));
        let settings = Value::Object(settings.clone());
        let value = settings.pointer(&pointer).cloned().unwrap_or_default();
        all.insert(key, value);
    }
    Value::Object(all)
}

/// All parameters of a learner with their defaults, by name, with dots for groups, as JSON.
#[pyfunction]
pub(crate) fn defaults(learner: &str) -> Outcome<String> {
    Ok(flat(&registry::defaults(learner)?).to_string())
}

#[pymethods]
impl Model {
    #[new]
    fn new(learner: &str, changed: &str) -> Outcome<Self> {
        Ok(State::new(parameters(learner, changed)?)?.into())
    }

    /// The model in a folder.
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf) -> Outcome<Self> {
        let state = run(py, None, move |_| State::load(&folder))?;
        Ok(state.into())
    }

    /// The learner's name.
    fn learner(&self, py: Python<'_>) -> &'static str {
        py.detach(|| self.read().learner.parameters().learner())
    }

    /// All parameters by name, as JSON.
    fn parameters(&self, py: Python<'_>) -> String {
        let all = py.detach(|| self.read().learner.parameters().to_json());
        match all {
            Value::Object(settings) => flat(&settings).to_string(),
            other => other.to_string(),
        }
    }

    /// Takes other parameters, as far as that is possible.
    fn change(&self, py: Python<'_>, learner: &str, changed: &str) -> Outcome<()> {
        let parameters = parameters(learner, changed)?;
        self.with(py, move |state| state.change(parameters))
    }

    /// Learns a task.
    ///
    /// # Arguments
    /// * `roles`: the role of every node, where it is not the graph's own.
    /// * `share`: hold out this share of every class's train nodes.
    #[pyo3(signature = (graph, roles, share, classes, name, painter))]
    #[allow(
        clippy::too_many_arguments,
        reason = "the caller is a Python file of ours"
    )]
    fn learn(
        &self,
        py: Python<'_>,
        graph: &Graph,
        roles: Option<PyReadonlyArray1<'_, u8>>,
        share: Option<f64>,
        classes: Vec<String>,
        name: Option<String>,
        painter: Option<&Bound<'_, PyAny>>,
    ) -> Outcome<()> {
        if let Some(share) = share.filter(|share| !(0.0..1.0).contains(share)) {
            return Err(Failure::value(format!(
                "val is {share}; a share has to be at least 0 and less than 1"
            )));
        }
        let (graph, state) = (graph.inner.clone(), self.state.clone());
        let roles = roles.map(|numbers| roles_of(&numbers.as_array().to_vec()));
        run(py, painter, move |listener| {
            let mut graph = (*graph).clone();
            if let Some(roles) = roles {
                graph = only_known(graph.with_split(roles)?)?;
            }
            graph = one_task(graph, &classes)?;
            let mut state = write(&state);
            let next = state.next();
            if let Some(share) = share {
                let seed = state.learner.parameters().seed();
                graph = hold_out(graph, share, seed, u64::from(next))?;
            }
            let name = name.unwrap_or_else(|| {
                let known: Vec<&str> = state.tasks.iter().map(|task| &task.name[..]).collect();
                free_names(next, &known).next().unwrap_or_default()
            });
            state.learn(graph, name, listener)
        })
    }

    /// What is said about nodes: `class` (its place among all classes), `task`, `margin`, `confidence`, `familiarity`; not a number where there is nothing to say.
    #[pyo3(signature = (graph, nodes, together, groups, painter))]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        graph: &Graph,
        nodes: Option<Numbers<'py>>,
        together: bool,
        groups: Option<Numbers<'py>>,
        painter: Option<&Bound<'_, PyAny>>,
    ) -> Outcome<Bound<'py, PyDict>> {
        let asked = Asked::new(graph, nodes, together, groups);
        let state = self.state.clone();
        let (answers, starts) = run(py, painter, move |_| {
            let state = read(&state);
            let answers = state.learner.predict(&asked.query())?;
            Ok((answers, starts(&state)))
        })?;
        let class = |answer: &Answer| (starts[answer.task as usize] + answer.class()) as i64;
        let numbers = |number: fn(&Answer) -> Option<f64>| {
            let said = answers
                .iter()
                .map(|answer| number(answer).unwrap_or(f64::NAN));
            PyArray1::from_iter(py, said)
        };
        let said = PyDict::new(py);
        said.set_item("class", PyArray1::from_iter(py, answers.iter().map(class)))?;
        let task = |answer: &Answer| i64::from(answer.task);
        said.set_item("task", PyArray1::from_iter(py, answers.iter().map(task)))?;
        said.set_item("margin", numbers(|answer| Some(answer.margin)))?;
        said.set_item("confidence", numbers(Answer::confidence))?;
        said.set_item("familiarity", numbers(|answer| answer.familiarity))?;
        Ok(said)
    }

    /// The probability of every class for every node.
    #[pyo3(signature = (graph, nodes, together, groups, painter))]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        graph: &Graph,
        nodes: Option<Numbers<'py>>,
        together: bool,
        groups: Option<Numbers<'py>>,
        painter: Option<&Bound<'_, PyAny>>,
    ) -> Outcome<Bound<'py, PyArray2<f64>>> {
        let asked = Asked::new(graph, nodes, together, groups);
        let state = self.state.clone();
        let (shares, shape) = run(py, painter, move |_| {
            let state = read(&state);
            let query = asked.query();
            let shape = [query.nodes.len(), state.classes().len()];
            Ok((state.learner.shares(&query)?, shape))
        })?;
        Ok(PyArray1::from_vec(py, shares).reshape(shape)?)
    }

    /// Whether familiarity is a share that nodes can be rejected by.
    fn is_calibrated(&self, py: Python<'_>) -> bool {
        py.detach(|| self.read().learner.familiarity_is_calibrated())
    }

    /// The tasks as JSON: name, classes, facts, and how many numbers are kept.
    fn tasks(&self, py: Python<'_>) -> String {
        py.detach(|| {
            let state = self.read();
            let tasks = state.tasks.iter().enumerate().map(|(at, task)| {
                let numbers = state.learner.numbers(at);
                json!({ "name": task.name, "classes": task.classes, "numbers": numbers, "facts": task.facts })
            });
            Value::Array(tasks.collect()).to_string()
        })
    }

    /// The prototype of every task, a row each.
    fn prototypes<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyArray2<f64>>> {
        let (rows, all) = py.detach(|| {
            let state = self.read();
            let rows = 0..state.learner.rings();
            let all = rows
                .clone()
                .flat_map(|at| state.learner.prototype(at).to_vec());
            (rows.len(), all.collect::<Vec<f64>>())
        });
        let columns = all.len().checked_div(rows).unwrap_or(0);
        Ok(PyArray1::from_vec(py, all).reshape([rows, columns])?)
    }

    /// Takes a task out.
    fn forget(&self, py: Python<'_>, task: String) -> Outcome<()> {
        self.with(py, move |state| state.forget(&task))
    }

    /// Writes the model into a folder.
    fn save(&self, py: Python<'_>, folder: PathBuf, force: bool) -> Outcome<()> {
        let state = self.state.clone();
        run(py, None, move |_| match force {
            true => read(&state).replace(&folder),
            false => read(&state).save(&folder),
        })
    }
}

impl From<State> for Model {
    fn from(state: State) -> Self {
        Model {
            state: Arc::new(RwLock::new(state)),
        }
    }
}

impl Model {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        read(&self.state)
    }

    /// Changes the model.
    fn with(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut State) -> Outcome<()> + Send + 'static,
    ) -> Outcome<()> {
        let state = self.state.clone();
        run(py, None, move |_| change(&mut write(&state)))
    }
}

/// A graph whose nodes have a class only where they have a role: those of others may not be used, not even to leave nodes out.
fn only_known(graph: Inner) -> Outcome<Inner> {
    let (Some(labels), Some(split)) = (graph.labels(), graph.split()) else {
        return Ok(graph);
    };
    let class = |(node, role): (NodeId, &Role)| match (role, labels.class_of(node)) {
        (Role::Train | Role::Validation, Some(class)) => class.index() as u32,
        _ => Labels::NONE,
    };
    let classes: Vec<u32> = NodeId::first(graph.nodes()).zip(split).map(class).collect();
    let labels = Labels::new(classes.into(), labels.names().to_vec())?;
    Ok(graph.with_labels(labels)?)
}

/// Whoever stops in the middle of a change leaves the model as it was, so a lock is never poisoned in earnest.
fn read(state: &RwLock<State>) -> RwLockReadGuard<'_, State> {
    state.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(state: &RwLock<State>) -> RwLockWriteGuard<'_, State> {
    state.write().unwrap_or_else(PoisonError::into_inner)
}
