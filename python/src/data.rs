//! Graphs from files and generators, and the tasks of a stream.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use treering_data::{
    ClassOrder, Context, Grouping, ReadOptions, Recipe, Stream as Plan, StreamOptions, nearest,
    synthesize,
};
use treering_graph::{Graph as Inner, TaskId};

use crate::failure::{Failure, Outcome};
use crate::graph::Graph;
use crate::work::run;

/// Reads whatever lies at a path, as the command line does.
#[pyfunction]
#[pyo3(signature = (path, painter=None))]
pub(crate) fn read(
    py: Python<'_>,
    path: PathBuf,
    painter: Option<&Bound<'_, PyAny>>,
) -> Outcome<Graph> {
    let graph = run(py, painter, move |listener| {
        let context = Context::with_free_memory(listener);
        Ok(treering_data::read(&path, &ReadOptions::default(), &context)?.graph)
    })?;
    Ok(graph.into())
}

/// Makes a synthetic graph.
///
/// # Arguments
/// * `changes`: values of the recipe as a JSON object; `scale` beside them.
#[pyfunction]
#[pyo3(signature = (preset, changes, painter=None))]
pub(crate) fn synth(
    py: Python<'_>,
    preset: &str,
    changes: &str,
    painter: Option<&Bound<'_, PyAny>>,
) -> Outcome<Graph> {
    let recipe = recipe(preset, changes)?;
    let graph = run(py, painter, move |listener| {
        Ok(synthesize(&recipe, &Context::with_free_memory(listener))?)
    })?;
    Ok(graph.into())
}

fn recipe(preset: &str, changes: &str) -> Outcome<Recipe> {
    let mut changes: Map<String, Value> = serde_json::from_str(changes).map_err(Failure::value)?;
    let names = || Recipe::presets().iter().map(|preset| preset.name);
    let Some(mut recipe) = Recipe::preset(preset) else {
        let all: Vec<&str> = names().collect();
        return Err(Failure::value(format!(
            "there is no preset `{preset}`; there are {}",
            all.join(", ")
        )));
    };
    if let Some(scale) = changes.shift_remove("scale") {
        let scale = scale.as_f64();
        let scale = scale.ok_or_else(|| Failure::kind("scale has to be a number, such as 0.1"))?;
        recipe = recipe.scaled(scale)?;
    }
    let mut all = serde_json::to_value(&recipe).map_err(Failure::system)?;
    for (key, value) in changes {
        let Some(place) = all.get_mut(&key) else {
            return Err(no_such_value(&key, &all));
        };
        *place = value;
    }
    let recipe: Recipe = serde_json::from_value(all)
        .map_err(|error| Failure::value(format!("the recipe cannot be read: {error}")))?;
    recipe.check()?;
    Ok(recipe)
}

fn no_such_value(key: &str, all: &Value) -> Failure {
    let known: Vec<&str> = all
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys().map(String::as_str))
        .collect();
    let near = nearest(key, known.iter().copied());
    let hint = match near.is_empty() {
        true => format!("there are scale, {}", known.join(", ")),
        false => format!("did you mean {}?", near.join(" or ")),
    };
    Failure::kind(format!("a recipe has no value `{key}`; {hint}"))
}

/// A number that must not be negative. Python's own error would not name it.
fn whole(name: &str, value: i64) -> Outcome<u64> {
    let wrong = |_| {
        Failure::value(format!(
            "{name} is {value}; it has to be a whole number from 0 on"
        ))
    };
    u64::try_from(value).map_err(wrong)
}

/// The options of a stream, as words.
pub(crate) fn options(
    classes_per_task: i64,
    order: &str,
    seed: i64,
    split_seed: Option<i64>,
) -> Outcome<StreamOptions> {
    let seed = whole("seed", seed)?;
    let split_seed = split_seed
        .map(|seed| whole("split_seed", seed))
        .transpose()?;
    let order = match order {
        "ascending" => ClassOrder::Ascending,
        "descending" => ClassOrder::Descending,
        "random" => ClassOrder::Random,
        other => {
            return Err(Failure::value(format!(
                "order is `{other}`; it has to be ascending, descending or random"
            )));
        }
    };
    Ok(StreamOptions {
        order,
        grouping: Grouping::PerTask(whole("classes_per_task", classes_per_task)? as usize),
        seed,
        split_seed: split_seed.unwrap_or(seed),
        ..StreamOptions::default()
    })
}

/// A graph cut into tasks; a task's graph is made when it is asked for.
#[pyclass(frozen, subclass, module = "treering._native")]
pub(crate) struct Stream {
    graph: Arc<Inner>,
    plan: Arc<Plan>,
}

#[pymethods]
impl Stream {
    #[new]
    #[pyo3(signature = (graph, classes_per_task=2, order="ascending", seed=0, split_seed=None))]
    fn new(
        graph: &Graph,
        classes_per_task: i64,
        order: &str,
        seed: i64,
        split_seed: Option<i64>,
    ) -> Outcome<Self> {
        let options = options(classes_per_task, order, seed, split_seed)?;
        Ok(Stream {
            plan: Arc::new(Plan::plan(&graph.inner, &options)?),
            graph: graph.inner.clone(),
        })
    }

    fn __len__(&self) -> usize {
        self.plan.tasks.len()
    }

    fn __getitem__(&self, py: Python<'_>, at: isize) -> Outcome<Graph> {
        let count = self.plan.tasks.len();
        let place = match at {
            ..0 => count.checked_add_signed(at),
            _ => usize::try_from(at).ok(),
        };
        let Some(place) = place.filter(|&place| place < count) else {
            let message = format!("there is no task {at}; the stream has {count}, counted from 0");
            return Err(PyIndexError::new_err(message).into());
        };
        let (graph, plan) = (self.graph.clone(), self.plan.clone());
        let cut = run(py, None, move |_| {
            Ok(plan.task_graph(&graph, TaskId(place as u32)))
        })?;
        Ok(cut.into())
    }

    /// What is known about the stream, as JSON.
    fn describe(&self) -> String {
        self.plan.to_json(&self.graph).to_string()
    }

    fn __repr__(&self) -> String {
        let name = &self.graph.origin().name;
        format!("Stream({name:?}: {} tasks)", self.plan.tasks.len())
    }
}
