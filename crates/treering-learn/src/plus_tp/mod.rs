//! `+tp`: task-ID prediction plugged into any learner. Its training stays untouched; a query's task is found by the nearest prototype, and the
//! host then chooses among that task's classes.
//!
//! What it gains is mostly what knowing the task gains: compare it with the same host under the protocol `oracle`, not with learners that
//! are not told which nodes belong together.

use serde::{Deserialize, Serialize};
use treering_data::Progress;

use crate::parameters::count;
use crate::tpp::{Profile, Recogniser, Route};
use crate::{Answer, LearnError, Learner, Query, Stages, Stored, TrainingTask};

/// Counts up whenever task prediction or its defaults change.
pub const REVISION: u32 = 1;

/// The ending of its name.
pub const SUFFIX: &str = "+tp";

/// The parameters that come on top of the host's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Parameters {
    /// What tasks are recognised by.
    pub tp_profile: Profile,
    /// Steps of smoothing in a prototype.
    pub tp_smoothing: usize,
    /// Give isolated nodes of a task a random neighbour before its prototype is taken.
    pub tp_patch: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            tp_profile: Profile::Smoothed,
            tp_smoothing: 3,
            tp_patch: true,
        }
    }
}

/// A learner with task prediction.
pub struct PlusTp {
    name: String,
    host: Box<dyn Learner>,
    recogniser: Recogniser,
    prototypes: Vec<Vec<f64>>,
}

impl PlusTp {
    /// Plugs task prediction into a learner.
    ///
    /// # Errors
    /// A parameter outside its range; a learner that recognises tasks already.
    pub fn new(
        host: Box<dyn Learner>,
        seed: u64,
        parameters: &Parameters,
    ) -> Result<Self, LearnError> {
        count(
            "tp-smoothing",
            parameters.tp_smoothing,
            0..=1000,
            "between 0 and 1000",
        )?;
        if host.recognises() {
            return Err(LearnError::RecognisesAlready(host.name().to_owned()));
        }
        Ok(PlusTp {
            name: format!("{}{SUFFIX}", host.name()),
            host,
            recogniser: Recogniser {
                seed,
                profile: parameters.tp_profile,
                smoothing: parameters.tp_smoothing,
                patch: parameters.tp_patch,
            },
            prototypes: Vec::new(),
        })
    }
}

/// Answers to the same query with the task of every node as its group's route has it, and with what the routes say about themselves.
pub(crate) fn routed(
    query: &Query,
    routes: &[Route],
    predict: impl FnOnce(&Query) -> Result<Vec<Answer>, LearnError>,
) -> Result<Vec<Answer>, LearnError> {
    let (groups, _) = query.group_numbers();
    let of_nodes = || groups.iter().map(|&group| routes[group as usize]);
    let mut query = query.clone();
    query.tasks = Some(of_nodes().map(|route| route.task).collect());
    let answers = predict(&query)?.into_iter().zip(of_nodes());
    Ok(answers
        .map(|(answer, route)| Answer {
            margin: route.margin,
            familiarity: route.familiarity,
            // The nearest prototype has no probability, whatever the host would say about tasks.
            posterior: Vec::new(),
            ..answer
        })
        .collect())
}

impl Learner for PlusTp {
    fn name(&self) -> &str {
        &self.name
    }

    fn learn(&mut self, tasks: &[TrainingTask], progress: &dyn Progress) -> Result<(), LearnError> {
        self.host.learn(tasks, progress)?;
        self.prototypes
            .extend(self.recogniser.prototypes(tasks, progress));
        Ok(())
    }

    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        let Some(first) = self.prototypes.first() else {
            return Err(LearnError::Nothing);
        };
        if query.tasks.is_some() {
            return self.host.predict(query);
        }
        let seen = query.stage(self.prototypes.len())?;
        query.check(first.len(), seen)?;
        let prototypes: Vec<&[f64]> = self.prototypes[..seen].iter().map(|p| &p[..]).collect();
        let routes = self.recogniser.routes(query, &prototypes);
        routed(query, &routes, |query| self.host.predict(query))
    }

    fn stages(&self) -> Stages {
        self.host.stages()
    }

    fn stored(&self) -> Stored {
        let prototypes: usize = self.prototypes.iter().map(Vec::len).sum();
        let host = self.host.stored();
        Stored {
            model: host.model + prototypes as u64,
            memory: host.memory,
        }
    }

    fn recognises(&self) -> bool {
        true
    }

    fn host(&self) -> Option<&dyn Learner> {
        Some(&*self.host)
    }

    // Its familiarity is that of the prototypes, so the host's calibration does not hold for it; but the host learns as it does alone.
    fn calibrates(&self) -> bool {
        self.host.calibrates()
    }
}
