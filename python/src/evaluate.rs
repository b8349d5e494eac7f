//! Learners under protocols: those of the registry by name, and those written in Python.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use serde_json::{Value, json};
use treering_data::{Progress, Stream, StreamOptions};
use treering_eval::runs::{About, RunResult};
use treering_eval::{Asked, Exam, Protocol};
use treering_graph::Graph as Inner;
use treering_learn::registry::{self, Settings};
use treering_learn::{Answer, LearnError, Learner, Query, Stored, TrainingTask};

use crate::data::options;
use crate::failure::{Failure, Outcome};
use crate::graph::Graph;
use crate::shown;
use crate::work::{Listener, run};

/// A learner written in Python. It says the names of classes; tasks follow from them.
struct Theirs {
    learner: Py<PyAny>,
    /// The task and place of every class that was shown.
    places: HashMap<String, (u32, usize)>,
    /// How many classes each task has.
    sizes: Vec<usize>,
    /// How often it was shown something.
    draws: AtomicU64,
    /// What it raised, to be told in place of the error that the evaluator gets.
    raised: std::sync::Mutex<Option<PyErr>>,
}

impl Theirs {
    fn new(learner: Py<PyAny>) -> Self {
        Theirs {
            learner,
            places: HashMap::new(),
            sizes: Vec::new(),
            draws: AtomicU64::new(0),
            raised: std::sync::Mutex::default(),
        }
    }

    /// Any error stops the evaluation; which one is remembered here.
    fn remember(&self, error: PyErr) -> LearnError {
        if let Ok(mut raised) = self.raised.lock() {
            *raised = Some(error);
        }
        LearnError::Nothing
    }

    fn draw(&self) -> u64 {
        self.draws.fetch_add(1, Ordering::SeqCst)
    }

    fn names(&self, py: Python<'_>, query: &Query) -> PyResult<Vec<String>> {
        let (asked, order) = shown::Query::new(query, self.draw())?;
        let asked = Bound::new(py, asked)?;
        let said = self.learner.bind(py).call_method1("predict", (asked,))?;
        let Ok(listed) = said.try_iter() else {
            let kind = said.get_type().name()?;
            return Err(PyErr::from(Failure::kind(format!(
                "predict gave a {kind}; give a list with the name of a class for every node of query.nodes"
            ))));
        };
        let said: Vec<String> = listed
            .map(|name| Ok(name?.str()?.to_string()))
            .collect::<PyResult<_>>()?;
        let (found, wanted) = (said.len(), query.nodes.len());
        if found != wanted {
            return Err(PyErr::from(Failure::value(format!(
                "predict gave {found} classes for {wanted} nodes; give one for every node of query.nodes, in that order"
            ))));
        }
        let mut names = vec![String::new(); wanted];
        for (at, name) in order.into_iter().zip(said) {
            names[at] = name;
        }
        Ok(names)
    }

    fn answer(&self, name: &str) -> PyResult<Answer> {
        let Some(&(task, place)) = self.places.get(name) else {
            return Err(PyErr::from(Failure::value(format!(
                "predict gave `{name}`, which is no class of a task that was learned; give names out of task.classes"
            ))));
        };
        let mut probabilities = vec![0.0; self.sizes[task as usize]];
        probabilities[place] = 1.0;
        Ok(Answer {
            task,
            margin: f64::INFINITY,
            familiarity: None,
            posterior: Vec::new(),
            probabilities,
        })
    }
}

impl Learner for Theirs {
    fn name(&self) -> &str {
        "python"
    }

    fn learn(&mut self, tasks: &[TrainingTask], progress: &dyn Progress) -> Result<(), LearnError> {
        for task in tasks {
            let number = self.sizes.len() as u32;
            for (place, class) in task.classes().iter().enumerate() {
                self.places.insert(class.clone(), (number, place));
            }
            self.sizes.push(task.classes().len());
            progress.begin("learning", 0);
            let done = Python::attach(|py| {
                let shown = Bound::new(py, shown::Task::new(task, self.draw())?)?;
                let learner = self.learner.bind(py);
                learner.call_method1("learn", (shown,)).map(drop)
            });
            done.map_err(|error| self.remember(error))?;
            progress.end();
        }
        Ok(())
    }

    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        let names = Python::attach(|py| self.names(py, query));
        let answers = names.and_then(|names| names.iter().map(|name| self.answer(name)).collect());
        answers.map_err(|error| self.remember(error))
    }

    fn stored(&self) -> Stored {
        Stored::default()
    }
}

/// Where learners come from.
enum Source {
    Registry(String, Settings),
    Python(Py<PyAny>),
}

/// What is to be found out.
struct Wanted {
    source: Source,
    protocols: Vec<Protocol>,
    streams: Vec<StreamOptions>,
}

impl Wanted {
    fn work(&self, graph: &Inner, listener: &Listener) -> Outcome<Vec<Value>> {
        let mut found = Vec::new();
        for options in &self.streams {
            let stream = Stream::plan(graph, options)?;
            // Inductive training shows something else, so it serves no other protocol.
            let (inductive, others): (Vec<Protocol>, Vec<Protocol>) = self
                .protocols
                .iter()
                .partition(|&&protocol| protocol == Protocol::Inductive);
            for protocols in [others, inductive] {
                if !protocols.is_empty() {
                    found.extend(self.train(graph, &stream, &protocols, listener)?);
                }
            }
        }
        // In the order in which they were asked for.
        let asked: Vec<String> = self.protocols.iter().map(Protocol::to_string).collect();
        let place = |result: &Value| {
            let of = asked.iter().position(|name| result["protocol"] == **name);
            let seed = result["seed"].as_u64();
            let streams = self.streams.iter();
            (streams.map(|s| Some(s.seed)).position(|s| s == seed), of)
        };
        found.sort_by_key(place);
        Ok(found)
    }

    /// One training, and all that is asked of it.
    fn train(
        &self,
        graph: &Inner,
        stream: &Stream,
        protocols: &[Protocol],
        listener: &Listener,
    ) -> Outcome<Vec<Value>> {
        let seed = stream.options.seed;
        let exam = |&protocol: &Protocol| Exam {
            protocol,
            asked: Asked::Test,
            host: false,
            seed,
        };
        let exams: Vec<Exam> = protocols.iter().map(exam).collect();
        let examined = |learner: &mut dyn Learner| -> Result<Vec<Value>, LearnError> {
            let done = treering_eval::evaluate(learner, graph, stream, &exams, listener)?;
            let about = About {
                synthetic: graph.origin().synthetic.is_some(),
                classes: stream.tasks.iter().map(|task| task.classes.len()).sum(),
            };
            let outcomes = done.outcomes.iter();
            Ok(outcomes
                .map(|outcome| told(outcome, &*learner, about, seed))
                .collect())
        };
        match &self.source {
            Source::Registry(name, settings) => {
                let mut settings = settings.clone();
                settings.insert("seed".to_owned(), seed.into());
                Ok(examined(&mut *registry::build(name, settings)?)?)
            }
            Source::Python(factory) => {
                let mut theirs = Theirs::new(Python::attach(|py| factory.call0(py))?);
                let done = examined(&mut theirs);
                let raised = theirs.raised.into_inner().ok().flatten();
                match raised {
                    Some(error) => Err(error.into()),
                    None => Ok(done?),
                }
            }
        }
    }
}

/// A result as a bench has it, with what it is about.
fn told(outcome: &treering_eval::Outcome, learner: &dyn Learner, about: About, seed: u64) -> Value {
    let mut all = json!({ "learner": learner.name(), "protocol": outcome.protocol, "seed": seed });
    let result = serde_json::to_value(RunResult::new(outcome, learner, about));
    if let (Some(all), Ok(Value::Object(result))) = (all.as_object_mut(), result) {
        all.extend(result);
    }
    all
}

/// Lets a learner learn a graph's tasks and asks it, under several protocols. Gives a list of results as JSON.
///
/// # Arguments
/// * `learner`: a learner's name, or what gives an object with `learn` and `predict` when it is called.
/// * `changed`: parameters of a learner that has a name, as JSON.
#[pyfunction]
#[allow(
    clippy::too_many_arguments,
    reason = "the caller is a Python file of ours"
)]
pub(crate) fn evaluate(
    py: Python<'_>,
    graph: &Graph,
    learner: &Bound<'_, PyAny>,
    changed: &str,
    protocols: Vec<String>,
    seeds: Vec<i64>,
    classes_per_task: i64,
    order: &str,
    split_seed: Option<i64>,
    painter: Option<&Bound<'_, PyAny>>,
) -> Outcome<String> {
    let protocol = |text: &String| {
        let found = text.parse::<Protocol>();
        found.map_err(|error| Failure::value(format!("protocol is `{text}`; {error}")))
    };
    let name: Option<String> = learner.extract().ok();
    let source = match name {
        None => Source::Python(learner.clone().unbind()),
        Some(name) => {
            let changed: Settings = serde_json::from_str(changed).map_err(Failure::value)?;
            let changed: Vec<(String, Value)> = changed.into_iter().collect();
            let settings = registry::complete(&name, &changed)?;
            Source::Registry(name, settings)
        }
    };
    let wanted = Wanted {
        source,
        protocols: protocols.iter().map(protocol).collect::<Outcome<_>>()?,
        streams: seeds
            .into_iter()
            .map(|seed| options(classes_per_task, order, seed, split_seed))
            .collect::<Outcome<_>>()?,
    };
    let graph = graph.inner.clone();
    let found = run(py, painter, move |listener| wanted.work(&graph, listener))?;
    Ok(Value::Array(found).to_string())
}
