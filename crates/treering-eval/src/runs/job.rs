//! What one process works off: runs that differ only in the questions share a training, and trainings with the same foundation share that.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use treering_data::{Progress, Stream, StreamError};
use treering_graph::Graph;
use treering_learn::plus_tp::SUFFIX;
use treering_learn::registry::{self, Settings};
use treering_learn::{Foundation, LearnError, Learner};

use super::record::About;
use super::spec::canonical;
use super::{RunResult, RunSpec};
use crate::{Costs, Exam, Protocol, Spent, evaluate};

/// Runs that one process works off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// They agree in data, stream and seed, and in the learner but for task prediction and for parameters that its foundation does not depend on.
    pub specs: Vec<RunSpec>,
}

/// What came of a run, and what its training and questions took.
pub type Taught = (RunResult, Costs);

/// Why a job gave no results.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The stream does not come together.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The learner refuses.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// Nothing to do.
    #[error("the job has no runs")]
    Empty,
}

/// Puts runs together that share a training or a foundation, in the order of their first run.
pub fn jobs(specs: Vec<RunSpec>) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut by_foundation: HashMap<String, usize> = HashMap::new();
    for lesson in lessons(&specs) {
        let runs = lesson.runs.iter().map(|&run| specs[run].clone());
        let known = foundation(&specs[lesson.runs[0]])
            .map(|key| *by_foundation.entry(key).or_insert(jobs.len()));
        match known.and_then(|place| jobs.get_mut(place)) {
            Some(job) => job.specs.extend(runs),
            None => jobs.push(Job {
                specs: runs.collect(),
            }),
        }
    }
    jobs
}

/// One training, and the places of the runs that it serves.
struct Lesson {
    prediction: Option<String>,
    runs: Vec<usize>,
}

/// Puts runs together that share a training: those that differ only in protocol or asked nodes, and a host with and without task prediction.
fn lessons(specs: &[RunSpec]) -> Vec<Lesson> {
    let mut lessons: Vec<Lesson> = Vec::new();
    let mut by_host: HashMap<String, Vec<usize>> = HashMap::new();
    for (run, spec) in specs.iter().enumerate() {
        let (host, prediction) = training(spec);
        let known = by_host.entry(host).or_default();
        // One training can serve a host without task prediction, and with one kind of it.
        let fits = |place: &&usize| match (&prediction, &lessons[**place].prediction) {
            (Some(wanted), Some(there)) => wanted == there,
            _ => true,
        };
        match known.iter().find(fits).copied() {
            Some(place) => {
                let lesson = &mut lessons[place];
                lesson.prediction = lesson.prediction.take().or(prediction);
                lesson.runs.push(run);
            }
            None => {
                known.push(lessons.len());
                lessons.push(Lesson {
                    prediction,
                    runs: vec![run],
                });
            }
        }
    }
    lessons
}

/// What a run's training depends on: that of the host, and that of task prediction.
fn training(spec: &RunSpec) -> (String, Option<String>) {
    let plugged = spec.learner.strip_suffix(SUFFIX);
    let own = |key: &str| plugged.is_some() && key.starts_with("tp-");
    let part = |wanted: bool| -> Settings {
        let all = spec.parameters.iter();
        all.filter(|(key, _)| own(key) == wanted)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    };
    let host = plugged.unwrap_or(&spec.learner);
    let key = (
        &spec.data,
        &spec.stream,
        host,
        part(false),
        spec.revision,
        spec.seed,
        is_inductive(spec),
    );
    let prediction = plugged.map(|_| canonical(&(part(true), spec.tp_revision)));
    (canonical(&key), prediction)
}

/// What the foundation of a run's learner depends on; none where it has none.
fn foundation(spec: &RunSpec) -> Option<String> {
    let learner = registry::build(&spec.learner, spec.parameters.clone()).ok()?;
    let parameters = learner.foundation_parameters()?;
    let key = (
        &spec.data,
        &spec.stream,
        &spec.learner,
        spec.revision,
        parameters,
        is_inductive(spec),
    );
    Some(canonical(&key))
}

impl Job {
    /// Trains and asks: for every run its result, and what its own training took.
    ///
    /// # Errors
    /// A stream that does not come together, a learner that refuses.
    pub fn run(&self, graph: &Graph, progress: &dyn Progress) -> Result<Vec<Taught>, JobError> {
        let first = self.specs.first().ok_or(JobError::Empty)?;
        let stream = Stream::plan(graph, &first.stream)?;
        let mut done: Vec<Option<Taught>> = vec![None; self.specs.len()];
        let mut laid = None;
        for lesson in lessons(&self.specs) {
            let specs: Vec<&RunSpec> = lesson.runs.iter().map(|&run| &self.specs[run]).collect();
            let taught = teach(&specs, graph, &stream, &mut laid, progress)?;
            for (&run, taught) in lesson.runs.iter().zip(taught) {
                done[run] = Some(taught);
            }
        }
        done.into_iter()
            .collect::<Option<_>>()
            .ok_or(JobError::Empty)
    }
}

/// What a learner laid down, what that depends on, and what it took.
struct Laid {
    key: Option<String>,
    foundation: Foundation,
    spent: Spent,
}

/// One training and all its questions.
fn teach(
    specs: &[&RunSpec],
    graph: &Graph,
    stream: &Stream,
    laid: &mut Option<Laid>,
    progress: &dyn Progress,
) -> Result<Vec<Taught>, JobError> {
    // The one with task prediction can answer for its host too.
    let plugged = specs.iter().find(|spec| is_plugged(spec));
    let leader = plugged.or(specs.first()).ok_or(JobError::Empty)?;
    let mut learner = registry::build(&leader.learner, leader.parameters.clone())?;
    let key = foundation(leader);
    let ready = laid.as_ref().filter(|laid| laid.key == key);
    if let Some(laid) = ready {
        learner.begin_with(laid.foundation.clone());
    }
    let exam = |spec: &&RunSpec| Exam {
        protocol: spec.protocol,
        asked: spec.asked,
        host: is_plugged(leader) && !is_plugged(spec),
        seed: spec.seed,
    };
    let exams: Vec<Exam> = specs.iter().map(exam).collect();
    let mut done = evaluate(&mut *learner, graph, stream, &exams, progress)?;
    match ready {
        // It would have taken as long alone.
        Some(laid) => done.costs.pretrain = laid.spent,
        None => {
            let spent = done.costs.pretrain;
            let of = |foundation| Laid {
                key,
                foundation,
                spent,
            };
            *laid = learner.foundation().map(of);
        }
    }
    let about = About {
        synthetic: graph.origin().synthetic.is_some(),
        classes: stream.tasks.iter().map(|task| task.classes.len()).sum(),
    };
    let results = exams.iter().zip(&done.outcomes).map(|(exam, outcome)| {
        let whole: &dyn Learner = &*learner;
        let asked = whole.host().filter(|_| exam.host).unwrap_or(whole);
        (RunResult::new(outcome, asked, about), done.costs)
    });
    Ok(results.collect())
}

/// Whether training shows less than under all other protocols.
fn is_inductive(spec: &RunSpec) -> bool {
    spec.protocol == Protocol::Inductive
}

fn is_plugged(spec: &RunSpec) -> bool {
    spec.learner.ends_with(SUFFIX)
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
