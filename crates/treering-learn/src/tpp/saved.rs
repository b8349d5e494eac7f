//! TPP in a model directory: which tensors a backbone and a ring are made of, and the way back.
//!
//! | file | tensor | shape | numbers |
//! |---|---|---|---|
//! | backbone | `first` | features, hidden | f32 |
//! | | `second` | hidden, hidden | f32 |
//! | ring | `prototype` | features | f64 |
//! | | `prompt.tokens`, `prompt.scorer` | tokens, features | f32 |
//! | | `prompt.bias` | tokens | f32 |
//! | | `head.weights` | classes, hidden | f32 |
//! | | `head.bias` | classes | f32 |
//!
//! The ring that trained the backbone has no prompt. The backbone's metadata has `hops`. Every shape follows from the manifest, so a file
//! that was made for other parameters is noticed before a number of it is used.

use std::collections::BTreeMap;
use std::path::PathBuf;

use treering_store::{Fault, Model, RingEntry, StoreError, Tensor, Tensors, encode};

use super::{Head, Prompt, Ring, Tpp, TppParameters};
use crate::LearnError;
use crate::network::backbone::Backbone;

/// The learner's name in a manifest.
pub const LEARNER: &str = "tpp";
const HOPS: &str = "hops";

/// Why a model is not one of TPP's.
#[derive(Debug, thiserror::Error)]
pub enum SavedError {
    /// A file is wrong.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another learner's model.
    #[error(
        "{}: the learner `{learner}` wrote this model, and this program knows `{LEARNER}`. Use a version of treering that has that \
         learner", folder.display()
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

/// The bytes of a backbone's file.
pub fn backbone_bytes(backbone: &Backbone) -> Vec<u8> {
    let (features, hidden) = (backbone.features, backbone.hidden);
    let metadata = BTreeMap::from([(HOPS.to_owned(), backbone.hops.to_string())]);
    let tensors = [
        Tensor::f32("first", &[features, hidden], backbone.first.clone()),
        Tensor::f32("second", &[hidden, hidden], backbone.second.clone()),
    ];
    encode(&tensors, &metadata)
}

/// The bytes of a ring's file.
pub fn ring_bytes(ring: &Ring) -> Vec<u8> {
    let (features, classes) = (ring.prototype.len(), ring.classes());
    let hidden = ring.head.weights.len() / classes.max(1);
    let mut tensors = vec![Tensor::f64(
        "prototype",
        &[features],
        ring.prototype.clone(),
    )];
    if let Some(prompt) = &ring.prompt {
        let shape = [prompt.count, features];
        tensors.push(Tensor::f32("prompt.tokens", &shape, prompt.tokens.clone()));
        tensors.push(Tensor::f32("prompt.scorer", &shape, prompt.scorer.clone()));
        tensors.push(Tensor::f32(
            "prompt.bias",
            &[prompt.count],
            prompt.bias.clone(),
        ));
    }
    tensors.push(Tensor::f32(
        "head.weights",
        &[classes, hidden],
        ring.head.weights.clone(),
    ));
    tensors.push(Tensor::f32("head.bias", &[classes], ring.head.bias.clone()));
    encode(&tensors, &BTreeMap::new())
}

/// The parameters in a model's manifest.
///
/// # Errors
/// Another learner's model; a parameter that is unknown, missing or out of range.
pub fn parameters(model: &Model) -> Result<TppParameters, SavedError> {
    let manifest = model.manifest();
    if manifest.learner != LEARNER {
        return Err(SavedError::OtherLearner {
            folder: model.folder().to_owned(),
            learner: manifest.learner.clone(),
        });
    }
    let wrong = |why: String| SavedError::Parameters {
        file: model.folder().join("manifest.json"),
        why,
    };
    let parameters: TppParameters = serde_json::from_value(manifest.parameters.clone())
        .map_err(|error| wrong(format!("the parameters are not TPP's: {error}")))?;
    parameters
        .check()
        .map_err(|error: LearnError| wrong(error.to_string()))?;
    Ok(parameters)
}

/// The learner that a model holds, with its rings in the manifest's order.
///
/// # Errors
/// As [`parameters`]; a file that is not the one that was written, or that was made for other parameters.
pub fn load(model: &Model) -> Result<Tpp, SavedError> {
    load_some(model, |_| true)
}

/// As [`load`], with some of the rings: the others are not even read.
///
/// # Errors
/// As [`load`].
pub fn load_some(model: &Model, wanted: impl Fn(&RingEntry) -> bool) -> Result<Tpp, SavedError> {
    let parameters = parameters(model)?;
    let backbone = read_backbone(
        model.backbone()?,
        &parameters,
        model.manifest().feature_width,
    )?;
    let rings = model
        .manifest()
        .rings
        .iter()
        .filter(|ring| wanted(ring))
        .map(|ring| load_ring(model, ring, &parameters))
        .collect::<Result<Vec<Ring>, SavedError>>()?;
    Tpp::restore(parameters, backbone, rings).map_err(|error| SavedError::Parameters {
        file: model.folder().join("manifest.json"),
        why: error.to_string(),
    })
}

fn load_ring(
    model: &Model,
    ring: &RingEntry,
    parameters: &TppParameters,
) -> Result<Ring, SavedError> {
    let width = model.manifest().feature_width;
    Ok(read_ring(
        model.ring(ring)?,
        parameters,
        width,
        ring.classes.len(),
    )?)
}

fn read_backbone(
    mut tensors: Tensors,
    parameters: &TppParameters,
    features: usize,
) -> Result<Backbone, StoreError> {
    let (hidden, hops) = (parameters.hidden, parameters.hops);
    let found = tensors.metadata().get(HOPS).cloned().unwrap_or_default();
    if found != hops.to_string() {
        let why = format!("its metadata has hops `{found}`, the manifest {hops}");
        return Err(Fault::Damaged { why }.at(tensors.file()));
    }
    let (_, first) = tensors.f32("first", &[Some(features), Some(hidden)])?;
    let (_, second) = tensors.f32("second", &[Some(hidden), Some(hidden)])?;
    nothing_left(&tensors)?;
    Ok(Backbone {
        features,
        hidden,
        hops,
        first,
        second,
    })
}

fn read_ring(
    mut tensors: Tensors,
    parameters: &TppParameters,
    features: usize,
    classes: usize,
) -> Result<Ring, StoreError> {
    let (_, prototype) = tensors.f64("prototype", &[Some(features)])?;
    let prompted = tensors
        .names()
        .iter()
        .any(|name| name.starts_with("prompt."));
    let prompt = match prompted {
        true => Some(read_prompt(&mut tensors, parameters.tokens, features)?),
        false => None,
    };
    let (_, weights) = tensors.f32("head.weights", &[Some(classes), Some(parameters.hidden)])?;
    let (_, bias) = tensors.f32("head.bias", &[Some(classes)])?;
    nothing_left(&tensors)?;
    Ok(Ring {
        prototype,
        prompt,
        head: Head { weights, bias },
    })
}

fn read_prompt(tensors: &mut Tensors, count: usize, features: usize) -> Result<Prompt, StoreError> {
    let shape = [Some(count), Some(features)];
    let (_, tokens) = tensors.f32("prompt.tokens", &shape)?;
    let (_, scorer) = tensors.f32("prompt.scorer", &shape)?;
    let (_, bias) = tensors.f32("prompt.bias", &[Some(count)])?;
    Ok(Prompt {
        count,
        tokens,
        scorer,
        bias,
    })
}

/// A tensor that nobody asks for means that the file is not what we take it for.
fn nothing_left(tensors: &Tensors) -> Result<(), StoreError> {
    match tensors.names().first() {
        None => Ok(()),
        Some(name) => {
            let why = "TPP has no such tensor".into();
            Err(Fault::Damaged { why }.at(tensors.file()).tensor(*name))
        }
    }
}

#[cfg(test)]
#[path = "saved_tests.rs"]
mod tests;
