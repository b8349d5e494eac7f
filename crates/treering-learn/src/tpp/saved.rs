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
//! The ring that trained the backbone has no prompt. The backbone's metadata has `hops`.

use std::collections::BTreeMap;

use treering_store::{Fault, Model, RingEntry, StoreError, Tensor, Tensors, encode};

use super::{Head, LEARNER, Prompt, Ring, Tpp, TppParameters};
use crate::LearnError;
use crate::network::backbone::Backbone;
use crate::saved::{Keep, Parameters, SavedError, chosen, nothing_left, others, wrong};

const HOPS: &str = "hops";

/// The bytes of a backbone's file.
fn backbone_bytes(backbone: &Backbone) -> Vec<u8> {
    let (features, hidden) = (backbone.features, backbone.hidden);
    let metadata = BTreeMap::from([(HOPS.to_owned(), backbone.hops.to_string())]);
    let tensors = [
        Tensor::f32("first", &[features, hidden], backbone.first.clone()),
        Tensor::f32("second", &[hidden, hidden], backbone.second.clone()),
    ];
    encode(&tensors, &metadata)
}

/// The bytes of a ring's file.
fn ring_bytes(ring: &Ring) -> Vec<u8> {
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

/// The learner that a model holds, with these rings.
pub(crate) fn load(
    model: &Model,
    parameters: TppParameters,
    rings: &[&RingEntry],
) -> Result<Tpp, SavedError> {
    let width = model.manifest().feature_width;
    let Some(backbone) = model.backbone()? else {
        return Err(wrong(model, "it names no backbone".into()));
    };
    let backbone = read_backbone(backbone, &parameters, width)?;
    let rings = rings
        .iter()
        .map(|ring| {
            let tensors = model.ring(ring)?;
            read_ring(tensors, &parameters, width, ring.classes.len())
        })
        .collect::<Result<Vec<Ring>, StoreError>>()?;
    Tpp::restore(parameters, backbone, rings).map_err(|error| wrong(model, error.to_string()))
}

impl Keep for Tpp {
    fn parameters(&self) -> Parameters {
        Parameters::Tpp(Tpp::parameters(self).clone())
    }

    fn backbone(&self) -> Option<Vec<u8>> {
        Tpp::backbone(self).map(backbone_bytes)
    }

    fn rings(&self) -> usize {
        Tpp::rings(self).len()
    }

    fn ring(&self, at: usize) -> Vec<u8> {
        ring_bytes(&Tpp::rings(self)[at])
    }

    fn numbers(&self, at: usize) -> usize {
        Tpp::rings(self)[at].numbers()
    }

    fn prototype(&self, at: usize) -> &[f64] {
        &Tpp::rings(self)[at].prototype
    }

    fn classes(&self, at: usize) -> usize {
        Tpp::rings(self)[at].head.bias.len()
    }

    fn with(&self, parameters: Parameters, places: &[usize]) -> Result<Box<dyn Keep>, LearnError> {
        let Parameters::Tpp(parameters) = parameters else {
            return Err(others(&parameters));
        };
        let backbone = Tpp::backbone(self).ok_or(LearnError::Nothing)?.clone();
        let rings = chosen(Tpp::rings(self), places)?;
        Ok(Box::new(Tpp::restore(parameters, backbone, rings)?))
    }
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
    nothing_left(&tensors, LEARNER)?;
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
    nothing_left(&tensors, LEARNER)?;
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

#[cfg(test)]
#[path = "saved_tests.rs"]
mod tests;
