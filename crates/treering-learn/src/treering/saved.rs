//! `treering` in a model directory: which tensors a ring is made of, and the way back. Rings share nothing, so there is no backbone.
//!
//! | tensor | shape | numbers |
//! |---|---|---|
//! | `prototype` | features | f64 |
//! | `counts` | classes | f64 |
//! | `means` | classes, width | f32 |
//! | `scatter.directions` | rank or fewer, width | f32 |
//! | `scatter.rest` | 1 | f64 |
//! | `usual.moments` | 2 | f64 |
//! | `usual.nodes` | 1 | f64 |
//! | `usual.points` | 6 or 0, 64 | f32 |
//! | `head.weights` | outputs, (hops + 1) features | f32 |
//! | `head.bias` | outputs | f32 |
//!
//! Width is the parameter's, or the number of feature columns where there are fewer. A head of two classes has one output, one of a single class
//! none.

use std::collections::BTreeMap;

use treering_store::{Fault, Model, RingEntry, StoreError, Tensor, Tensors, encode};

use super::familiar::{POINTS, SIZES};
use super::head::outputs;
use super::{Head, LEARNER, Parameters, Profile, Ring, Scatter, Treering, Usual};
use crate::saved::{self, Keep, SavedError, chosen, nothing_left, others, wrong};
use crate::{LearnError, Query};

/// The bytes of a ring's file.
fn ring_bytes(ring: &Ring) -> Vec<u8> {
    let Ring {
        prototype,
        profile,
        usual,
        head,
    } = ring;
    let (features, classes) = (prototype.len(), ring.classes());
    let width = profile.means.len() / classes.max(1);
    let rank = profile.scatter.directions.len() / width.max(1);
    let each = head.weights.len() / head.bias.len().max(1);
    let tensors = [
        Tensor::f64("prototype", &[features], prototype.clone()),
        Tensor::f64(
            "counts",
            &[classes],
            profile.counts.iter().map(|&n| n.into()).collect(),
        ),
        Tensor::f32("means", &[classes, width], profile.means.clone()),
        Tensor::f32(
            "scatter.directions",
            &[rank, width],
            profile.scatter.directions.clone(),
        ),
        Tensor::f64("scatter.rest", &[1], vec![profile.scatter.rest]),
        Tensor::f64("usual.moments", &[2], vec![usual.mean, usual.deviation]),
        Tensor::f64("usual.nodes", &[1], vec![usual.nodes.into()]),
        Tensor::f32(
            "usual.points",
            &[usual.points.len() / POINTS, POINTS],
            usual.points.clone(),
        ),
        Tensor::f32(
            "head.weights",
            &[head.bias.len(), each],
            head.weights.clone(),
        ),
        Tensor::f32("head.bias", &[head.bias.len()], head.bias.clone()),
    ];
    encode(&tensors, &BTreeMap::new())
}

/// The learner that a model holds, with these rings.
pub(crate) fn load(
    model: &Model,
    parameters: Parameters,
    rings: &[&RingEntry],
) -> Result<Treering, SavedError> {
    if model.manifest().backbone.is_some() {
        let why = format!("it names a backbone, and `{LEARNER}` has none");
        return Err(wrong(model, why));
    }
    let features = model.manifest().feature_width;
    let rings = rings
        .iter()
        .map(|ring| {
            let tensors = model.ring(ring)?;
            read_ring(tensors, &parameters, features, ring.classes.len())
        })
        .collect::<Result<Vec<Ring>, StoreError>>()?;
    Treering::restore(parameters, rings).map_err(|error| wrong(model, error.to_string()))
}

fn read_ring(
    mut tensors: Tensors,
    parameters: &Parameters,
    features: usize,
    classes: usize,
) -> Result<Ring, StoreError> {
    let width = Some(parameters.width.min(features));
    let (_, prototype) = tensors.f64("prototype", &[Some(features)])?;
    let (_, counts) = tensors.f64("counts", &[Some(classes)])?;
    let counts = whole(&tensors, "counts", &counts, 1)?;
    let (_, means) = tensors.f32("means", &[Some(classes), width])?;
    let (shape, directions) = tensors.f32("scatter.directions", &[None, width])?;
    if shape[0] > parameters.rank {
        let why = format!(
            "it has {} directions, rank is {}",
            shape[0], parameters.rank
        );
        return Err(damaged(&tensors, "scatter.directions", why));
    }
    let (_, rest) = tensors.f64("scatter.rest", &[Some(1)])?;
    if rest[0] < 0.0 {
        let why = "a variance is negative".into();
        return Err(damaged(&tensors, "scatter.rest", why));
    }
    let usual = read_usual(&mut tensors)?;
    let outputs = Some(outputs(classes));
    let each = features.checked_mul(parameters.hops + 1);
    let each = if outputs == Some(0) { Some(0) } else { each };
    let (_, weights) = tensors.f32("head.weights", &[outputs, each])?;
    let (_, bias) = tensors.f32("head.bias", &[outputs])?;
    nothing_left(&tensors, LEARNER)?;
    Ok(Ring {
        prototype,
        profile: Profile {
            counts,
            means,
            scatter: Scatter {
                directions,
                rest: rest[0],
            },
        },
        usual,
        head: Head { weights, bias },
    })
}

fn read_usual(tensors: &mut Tensors) -> Result<Usual, StoreError> {
    let (_, moments) = tensors.f64("usual.moments", &[Some(2)])?;
    if moments[1] <= 0.0 {
        let why = "a deviation is not positive".into();
        return Err(damaged(tensors, "usual.moments", why));
    }
    let (_, nodes) = tensors.f64("usual.nodes", &[Some(1)])?;
    let nodes = whole(tensors, "usual.nodes", &nodes, 0)?[0];
    let sizes = if nodes > 0 { SIZES.len() } else { 0 };
    let (_, points) = tensors.f32("usual.points", &[Some(sizes), Some(POINTS)])?;
    if points.chunks(POINTS).any(|table| !table.is_sorted()) {
        let why = "its numbers do not rise".into();
        return Err(damaged(tensors, "usual.points", why));
    }
    Ok(Usual {
        mean: moments[0],
        deviation: moments[1],
        nodes,
        points,
    })
}

/// Numbers of things.
fn whole(
    tensors: &Tensors,
    name: &str,
    values: &[f64],
    smallest: u32,
) -> Result<Vec<u32>, StoreError> {
    let fits = |value: &f64| {
        let range = f64::from(smallest)..=f64::from(u32::MAX);
        value.fract() == 0.0 && range.contains(value)
    };
    match values.iter().find(|value| !fits(value)) {
        None => Ok(values.iter().map(|&value| value as u32).collect()),
        Some(value) => Err(damaged(
            tensors,
            name,
            format!("{value} is no number of nodes"),
        )),
    }
}

fn damaged(tensors: &Tensors, name: &str, why: String) -> StoreError {
    Fault::Damaged { why }.at(tensors.file()).tensor(name)
}

impl Keep for Treering {
    fn parameters(&self) -> saved::Parameters {
        saved::Parameters::Treering(Treering::parameters(self).clone())
    }

    fn backbone(&self) -> Option<Vec<u8>> {
        None
    }

    fn rings(&self) -> usize {
        Treering::rings(self).len()
    }

    fn ring(&self, at: usize) -> Vec<u8> {
        ring_bytes(&Treering::rings(self)[at])
    }

    fn numbers(&self, at: usize) -> usize {
        Treering::rings(self)[at].numbers()
    }

    fn prototype(&self, at: usize) -> &[f64] {
        &Treering::rings(self)[at].prototype
    }

    fn classes(&self, at: usize) -> usize {
        Treering::rings(self)[at].classes()
    }

    fn with(
        &self,
        parameters: saved::Parameters,
        places: &[usize],
    ) -> Result<Box<dyn Keep>, LearnError> {
        let saved::Parameters::Treering(parameters) = parameters else {
            return Err(others(&parameters));
        };
        let rings = chosen(Treering::rings(self), places)?;
        Ok(Box::new(Treering::restore(parameters, rings)?))
    }

    fn shares(&self, query: &Query) -> Result<Vec<f64>, LearnError> {
        self.all_shares(query)
    }
}

#[cfg(test)]
#[path = "saved_tests.rs"]
mod tests;
