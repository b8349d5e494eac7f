//! What one training answers for: runs that differ only in the questions.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use treering_data::{Progress, Stream, StreamError};
use treering_graph::Graph;
use treering_learn::plus_tp::SUFFIX;
use treering_learn::registry::{self, Settings};
use treering_learn::{LearnError, Learner};

use super::record::About;
use super::spec::canonical;
use super::{RunResult, RunSpec};
use crate::{Exam, Spent, evaluate};

/// Runs that one training serves: they differ in protocol, in the nodes asked about, and in whether task prediction is asked or the host without
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The runs; at least one.
    pub specs: Vec<RunSpec>,
}

/// What came of a job.
#[derive(Clone, Debug)]
pub struct Taught {
    /// One for every run.
    pub results: Vec<RunResult>,
    /// What learning took.
    pub learn: Spent,
    /// What answering took, all runs together.
    pub predict: Spent,
}

/// Why a job gives nothing.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The data makes no stream.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The learner refuses.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// No runs.
    #[error("the job has no runs")]
    Empty,
}

/// Puts runs together that one training serves, in the order of their first runs.
pub fn jobs(specs: Vec<RunSpec>) -> Vec<Job> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut by_host: HashMap<String, Vec<usize>> = HashMap::new();
    for spec in specs {
        let (host, prediction) = training(&spec);
        let known = by_host.entry(host).or_default();
        let fits = |slot: &&usize| match (&prediction, &slots[**slot].prediction) {
            (Some(wanted), Some(there)) => wanted == there,
            _ => true,
        };
        match known.iter().find(fits).copied() {
            Some(place) => {
                let slot = &mut slots[place];
                slot.prediction = slot.prediction.take().or(prediction);
                slot.job.specs.push(spec);
            }
            None => {
                known.push(slots.len());
                slots.push(Slot {
                    prediction,
                    job: Job { specs: vec![spec] },
                });
            }
        }
    }
    slots.into_iter().map(|slot| slot.job).collect()
}

/// A job that is being put together, with the parameters of its task prediction.
struct Slot {
    prediction: Option<String>,
    job: Job,
}

/// What the host's training depends on, and the parameters of task prediction where it is plugged in.
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
    );
    let prediction = plugged.map(|_| canonical(&(part(true), spec.tp_revision)));
    (canonical(&key), prediction)
}

impl Job {
    /// The run whose learner also answers for the others: one with task prediction, if there is one.
    fn leader(&self) -> Option<&RunSpec> {
        let plugged = self.specs.iter().find(|spec| is_plugged(spec));
        plugged.or(self.specs.first())
    }

    /// Learns the stream once and answers for every run.
    ///
    /// # Errors
    /// The data makes no stream; the learner refuses.
    pub fn run(&self, graph: &Graph, progress: &dyn Progress) -> Result<Taught, JobError> {
        let leader = self.leader().ok_or(JobError::Empty)?;
        let stream = Stream::plan(graph, &leader.stream)?;
        let mut learner = registry::build(&leader.learner, leader.parameters.clone())?;
        let exam = |spec: &RunSpec| Exam {
            protocol: spec.protocol,
            asked: spec.asked,
            host: is_plugged(leader) && !is_plugged(spec),
        };
        let exams: Vec<Exam> = self.specs.iter().map(exam).collect();
        let done = evaluate(&mut *learner, graph, &stream, &exams, progress)?;
        let about = About {
            synthetic: graph.origin().synthetic.is_some(),
            classes: stream.tasks.iter().map(|task| task.classes.len()).sum(),
        };
        let results = exams.iter().zip(&done.outcomes).map(|(exam, outcome)| {
            let whole: &dyn Learner = &*learner;
            let asked = whole.host().filter(|_| exam.host).unwrap_or(whole);
            RunResult::new(outcome, asked, about)
        });
        Ok(Taught {
            results: results.collect(),
            learn: done.learn,
            predict: done.predict,
        })
    }
}

fn is_plugged(spec: &RunSpec) -> bool {
    spec.learner.ends_with(SUFFIX)
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
