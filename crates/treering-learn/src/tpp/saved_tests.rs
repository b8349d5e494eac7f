//! A learner comes back from its files to the same bits, and files that do not fit are refused by name.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use serde_json::json;
use treering_store::{Change, NewModel, NewRing, Writer, decode};

use super::*;

const FEATURES: usize = 5;

fn parameters() -> TppParameters {
    TppParameters {
        hidden: 4,
        tokens: 2,
        ..TppParameters::default()
    }
}

/// Numbers that a text form would not keep.
fn numbers(count: usize) -> Vec<f32> {
    (1..=count).map(|i| 1.0 / i as f32 - 0.3).collect()
}

fn backbone() -> Backbone {
    Backbone {
        features: FEATURES,
        hidden: 4,
        hops: 2,
        first: numbers(FEATURES * 4),
        second: numbers(16),
    }
}

fn ring(classes: usize, prompted: bool) -> Ring {
    Ring {
        prototype: (1..=FEATURES).map(|i| 1.0 / i as f64).collect(),
        prompt: prompted.then(|| Prompt {
            count: 2,
            tokens: numbers(2 * FEATURES),
            scorer: numbers(2 * FEATURES),
            bias: numbers(2),
        }),
        head: Head {
            weights: numbers(classes * 4),
            bias: numbers(classes),
        },
    }
}

fn new_ring(name: &str, classes: &[&str], bytes: Vec<u8>) -> NewRing {
    NewRing {
        name: name.into(),
        classes: classes.iter().map(|&class| class.to_owned()).collect(),
        facts: json!({}),
        bytes,
    }
}

fn head(learner: &str, parameters: serde_json::Value) -> NewModel {
    NewModel {
        learner: learner.into(),
        parameters,
        feature_width: FEATURES,
        facts: json!({}),
        backbone: backbone_bytes(&backbone()),
    }
}

fn tpp_head() -> NewModel {
    head(LEARNER, serde_json::to_value(parameters()).unwrap())
}

fn saved(folder: &Path, head: NewModel, rings: Vec<NewRing>) -> Model {
    let mut writer = Writer::create(folder, head).unwrap();
    writer
        .commit(rings.into_iter().map(Change::Add).collect())
        .unwrap();
    Model::open(folder).unwrap()
}

#[test]
fn a_learner_comes_back_to_the_same_bits() {
    let place = tempfile::tempdir().unwrap();
    let rings = [ring(2, false), ring(3, true)];
    let model = saved(
        &place.path().join("model"),
        tpp_head(),
        vec![
            new_ring("one", &["a", "b"], ring_bytes(&rings[0])),
            new_ring("two", &["c", "d", "e"], ring_bytes(&rings[1])),
        ],
    );
    let learner = load(&model).unwrap();
    assert_eq!(learner.rings(), rings);
    assert_eq!(learner.backbone(), Some(&backbone()));
    assert_eq!(*learner.parameters(), parameters());
    assert_eq!(
        ring_bytes(&learner.rings()[1]),
        model.ring_bytes(&model.manifest().rings[1]).unwrap()
    );
}

#[test]
fn every_wrong_shape_is_refused_with_file_and_tensor() {
    let file = Path::new("some.safetensors");
    let good = ring_bytes(&ring(2, true));
    let all = decode(file, &good).unwrap();
    for name in all.names() {
        let mut tensors = decode(file, &good).unwrap().into_vec();
        let tensor = tensors.iter_mut().find(|t| t.name == name).unwrap();
        // One row more than there should be.
        let rows = tensor.shape[0];
        tensor.shape[0] += 1;
        match &mut tensor.values {
            treering_store::Values::F32(v) => v.resize(v.len() / rows * (rows + 1), 0.5),
            treering_store::Values::F64(v) => v.resize(v.len() / rows * (rows + 1), 0.5),
        }
        let bytes = encode(&tensors, &BTreeMap::new());
        let tensors = decode(file, &bytes).unwrap();
        let error = read_ring(tensors, &parameters(), FEATURES, 2).unwrap_err();
        let told = error.to_string();
        assert!(
            told.contains("some.safetensors") && told.contains(name),
            "{told}"
        );
        assert!(
            matches!(*error.fault, Fault::WrongShape { .. }),
            "{name}: {told}"
        );
    }
    for (features, hidden) in [(FEATURES + 1, 4), (FEATURES, 3)] {
        let parameters = TppParameters {
            hidden,
            ..parameters()
        };
        let tensors = decode(file, &backbone_bytes(&backbone())).unwrap();
        let error = read_backbone(tensors, &parameters, features).unwrap_err();
        assert!(error.to_string().contains("`first`"), "{error}");
    }
}

#[test]
fn tensors_too_few_or_too_many_are_refused() {
    let file = Path::new("some.safetensors");
    let tensors = decode(file, &ring_bytes(&ring(2, true)))
        .unwrap()
        .into_vec();
    for left_out in 0..tensors.len() {
        let mut fewer = tensors.clone();
        let gone = fewer.remove(left_out);
        let tensors = decode(file, &encode(&fewer, &BTreeMap::new())).unwrap();
        let error = read_ring(tensors, &parameters(), FEATURES, 2).unwrap_err();
        assert!(error.to_string().contains(&gone.name), "{error}");
    }
    let mut more = tensors;
    more.push(Tensor::f32("spare", &[1], vec![1.0]));
    let tensors = decode(file, &encode(&more, &BTreeMap::new())).unwrap();
    let error = read_ring(tensors, &parameters(), FEATURES, 2).unwrap_err();
    assert!(error.to_string().contains("spare"), "{error}");
}

#[test]
fn hops_learner_and_parameters_have_to_fit() {
    let file = Path::new("b");
    let other = Backbone {
        hops: 3,
        ..backbone()
    };
    let tensors = decode(file, &backbone_bytes(&other)).unwrap();
    assert!(read_backbone(tensors, &parameters(), FEATURES).is_err());

    let place = tempfile::tempdir().unwrap();
    let refused = |name: &str, head: NewModel, words: &[&str]| {
        let told = load(&saved(&place.path().join(name), head, Vec::new()))
            .unwrap_err()
            .to_string();
        for word in words {
            assert!(told.contains(word), "{told}");
        }
    };
    let parameters = serde_json::to_value(parameters()).unwrap();
    refused("a", head("ewc", parameters.clone()), &["ewc", "tpp"]);
    let mut out_of_range = parameters.clone();
    out_of_range["hidden"] = json!(0);
    refused(
        "b",
        head(LEARNER, out_of_range),
        &["manifest.json", "hidden"],
    );
    let mut unknown = parameters;
    unknown["colour"] = json!("red");
    refused("c", head(LEARNER, unknown), &["manifest.json", "colour"]);
}
