//! Learners in a model directory: which of them can be kept there, what they write, and the way back.
//!
//! A learner whose rings never change after they were learned can be kept; the tensors of each are described in its own folder. Every shape follows from the
//! manifest, so a file that was made for other parameters is noticed before a number of it is used.

#[cfg(test)]
pub(crate) mod checks;
mod facts;

pub use facts::{TRAINED_BACKBONE, contrast, facts, head};

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::Value;
use treering_store::{Fault, Model, RingEntry, StoreError, Tensors};

use crate::tpp::{self, Tpp, TppParameters};
use crate::treering::{self, Treering};
use crate::{LearnError, Learner, Query};

/// The learners that can be kept, the default one first.
pub const LEARNERS: [&str; 2] = [treering::LEARNER, tpp::LEARNER];

/// A learner that can be kept.
pub trait Keep: Learner + Send + Sync {
    /// What it was made with.
    fn parameters(&self) -> Parameters;

    /// The bytes of what all rings share; none before the first task, or where they share nothing.
    fn backbone(&self) -> Option<Vec<u8>>;

    /// How many rings it has.
    fn rings(&self) -> usize;

    /// The bytes of a ring's file.
    ///
    /// # Panics
    /// A place from [`rings`](Keep::rings) on.
    fn ring(&self, at: usize) -> Vec<u8>;

    /// How many numbers a ring keeps.
    ///
    /// # Panics
    /// As [`ring`](Keep::ring).
    fn numbers(&self, at: usize) -> usize;

    /// The smoothed mean of a ring's task.
    ///
    /// # Panics
    /// As [`ring`](Keep::ring).
    fn prototype(&self, at: usize) -> &[f64];

    /// How many classes a ring has.
    ///
    /// # Panics
    /// As [`ring`](Keep::ring).
    fn classes(&self, at: usize) -> usize;

    /// A learner with some of the rings, in this order.
    ///
    /// # Arguments
    /// * `parameters`: may differ from this learner's where rings do not depend on them.
    ///
    /// # Errors
    /// A ring that is not there; parameters of another learner.
    fn with(&self, parameters: Parameters, places: &[usize]) -> Result<Box<dyn Keep>, LearnError>;

    /// The probability of every class in the order of learning, by node: that of its task given the group, times that of the class given the task. Where nobody
    /// knows the former, the recognised task has all.
    ///
    /// # Errors
    /// As [`predict`](Learner::predict).
    fn shares(&self, query: &Query) -> Result<Vec<f64>, LearnError> {
        let starts: Vec<usize> = (0..self.rings())
            .scan(0, |next, at| {
                *next += self.classes(at);
                Some(*next - self.classes(at))
            })
            .collect();
        let classes: usize = (0..self.rings()).map(|at| self.classes(at)).sum();
        let answers = self.predict(query)?;
        let mut shares = vec![0.0; answers.len() * classes];
        for (row, answer) in shares.chunks_mut(classes.max(1)).zip(&answers) {
            let room = row[starts[answer.task as usize]..].iter_mut();
            room.zip(&answer.probabilities)
                .for_each(|(share, &of_class)| *share = f64::from(of_class));
        }
        Ok(shares)
    }
}

/// Says that parameters belong to another learner.
pub(crate) fn others(parameters: &Parameters) -> LearnError {
    LearnError::Parameter {
        name: "learner",
        value: parameters.learner().into(),
        allowed: "the one that learned the rings",
    }
}

/// Some of the rings of a learner.
pub(crate) fn chosen<R: Clone>(rings: &[R], places: &[usize]) -> Result<Vec<R>, LearnError> {
    let ring = |&at: &usize| rings.get(at).cloned().ok_or(LearnError::Nothing);
    places.iter().map(ring).collect()
}

/// The parameters of a learner that can be kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameters {
    /// Of `treering`.
    Treering(treering::Parameters),
    /// Of `tpp`.
    Tpp(TppParameters),
}

impl Parameters {
    /// A learner's defaults; none where it cannot be kept.
    pub fn of(learner: &str) -> Option<Self> {
        match learner {
            treering::LEARNER => Some(Parameters::Treering(treering::Parameters::default())),
            tpp::LEARNER => Some(Parameters::Tpp(TppParameters::default())),
            _ => None,
        }
    }

    /// The learner's name.
    pub fn learner(&self) -> &'static str {
        match self {
            Parameters::Treering(_) => treering::LEARNER,
            Parameters::Tpp(_) => tpp::LEARNER,
        }
    }

    /// Seeds everything random.
    pub fn seed(&self) -> u64 {
        match self {
            Parameters::Treering(parameters) => parameters.seed,
            Parameters::Tpp(parameters) => parameters.seed,
        }
    }

    /// As [`seed`](Parameters::seed), to be changed.
    pub fn seed_mut(&mut self) -> &mut u64 {
        match self {
            Parameters::Treering(parameters) => &mut parameters.seed,
            Parameters::Tpp(parameters) => &mut parameters.seed,
        }
    }

    /// Refuses what lies outside its range.
    ///
    /// # Errors
    /// The first parameter that does.
    pub fn check(&self) -> Result<(), LearnError> {
        match self {
            Parameters::Treering(parameters) => parameters.check(),
            Parameters::Tpp(parameters) => parameters.check(),
        }
    }

    /// As a manifest has them.
    pub fn to_json(&self) -> Value {
        let json = match self {
            Parameters::Treering(parameters) => serde_json::to_value(parameters),
            Parameters::Tpp(parameters) => serde_json::to_value(parameters),
        };
        // Numbers, words and maps of them can always be written.
        json.unwrap_or_default()
    }

    /// A learner that has learned nothing.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn build(self) -> Result<Box<dyn Keep>, LearnError> {
        Ok(match self {
            Parameters::Treering(parameters) => Box::new(Treering::new(parameters)?),
            Parameters::Tpp(parameters) => Box::new(Tpp::new(parameters)?),
        })
    }
}

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// A file is wrong.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another learner's model.
    #[error(
        "{}: the learner `{learner}` wrote this model, and this program keeps {}. Use a version of treering that has that learner",
        folder.display(), LEARNERS.map(|name| format!("`{name}`")).join(" and ")
    )]
    OtherLearner {
        /// The model.
        folder: PathBuf,
        /// Whose it is.
        learner: String,
    },
    /// Parameters that are unknown or out of range.
    #[error("{}: {why}. Put the file back from a copy of the model", file.display())]
    Parameters {
        /// The manifest.
        file: PathBuf,
        /// What is wrong with them.
        why: String,
    },
}

/// The parameters in a model's manifest.
///
/// # Errors
/// A learner that cannot be kept; a parameter that is unknown, missing or out of range.
pub fn parameters(model: &Model) -> Result<Parameters, SavedError> {
    let found = match &model.manifest().learner[..] {
        treering::LEARNER => Parameters::Treering(read(model)?),
        tpp::LEARNER => Parameters::Tpp(read(model)?),
        other => {
            return Err(SavedError::OtherLearner {
                folder: model.folder().to_owned(),
                learner: other.to_owned(),
            });
        }
    };
    found
        .check()
        .map_err(|error| wrong(model, error.to_string()))?;
    Ok(found)
}

fn read<P: DeserializeOwned>(model: &Model) -> Result<P, SavedError> {
    let manifest = model.manifest();
    serde_json::from_value(manifest.parameters.clone()).map_err(|error| {
        let learner = &manifest.learner;
        wrong(
            model,
            format!("the parameters are not those of `{learner}`: {error}"),
        )
    })
}

/// Says that a manifest cannot be used.
pub(crate) fn wrong(model: &Model, why: String) -> SavedError {
    SavedError::Parameters {
        file: model.folder().join("manifest.json"),
        why,
    }
}

/// The learner that a model holds, with its rings in the manifest's order.
///
/// # Errors
/// As [`parameters`]; a file that is not the one that was written, or that was made for other parameters.
pub fn load(model: &Model) -> Result<Box<dyn Keep>, SavedError> {
    load_some(model, |_| true)
}

/// As [`load`], with some of the rings: the others are not even read.
///
/// # Errors
/// As [`load`].
pub fn load_some(
    model: &Model,
    wanted: impl Fn(&RingEntry) -> bool,
) -> Result<Box<dyn Keep>, SavedError> {
    load_with(model, parameters(model)?, wanted)
}

/// As [`load_some`], with other parameters than the model's where rings do not depend on them.
///
/// # Errors
/// As [`load`]; parameters of another learner.
pub fn load_with(
    model: &Model,
    parameters: Parameters,
    wanted: impl Fn(&RingEntry) -> bool,
) -> Result<Box<dyn Keep>, SavedError> {
    let rings = model.manifest().rings.iter();
    let rings: Vec<&RingEntry> = rings.filter(|ring| wanted(ring)).collect();
    Ok(match parameters {
        Parameters::Treering(parameters) => {
            Box::new(treering::saved::load(model, parameters, &rings)?)
        }
        Parameters::Tpp(parameters) => Box::new(tpp::saved::load(model, parameters, &rings)?),
    })
}

/// The learner `treering` that a model holds, as itself.
///
/// # Errors
/// As [`load`].
pub fn load_treering(
    model: &Model,
    parameters: treering::Parameters,
) -> Result<Treering, SavedError> {
    let rings: Vec<&RingEntry> = model.manifest().rings.iter().collect();
    treering::saved::load(model, parameters, &rings)
}

/// A tensor that nobody asks for means that the file is not what we take it for.
pub(crate) fn nothing_left(tensors: &Tensors, learner: &str) -> Result<(), StoreError> {
    match tensors.names().first() {
        None => Ok(()),
        Some(name) => {
            let why = format!("`{learner}` has no such tensor");
            Err(Fault::Damaged { why }.at(tensors.file()).tensor(*name))
        }
    }
}
