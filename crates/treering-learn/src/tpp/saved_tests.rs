//! A learner comes back from its files to the same bits, and files that do not fit are refused by name.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use serde_json::json;
use treering_store::{Change, NewModel, NewRing, Writer, decode};

use super::*;
use crate::saved::checks;

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
        backbone: Some(backbone_bytes(&backbone())),
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
    let entries = &model.manifest().rings;
    let found = Tpp::restore(parameters(), backbone(), rings.to_vec()).unwrap();
    let learner = load(&model, parameters(), &[&entries[0], &entries[1]]).unwrap();
    assert_eq!(Tpp::rings(&learner), Tpp::rings(&found));
    assert_eq!(Tpp::backbone(&learner), Some(&backbone()));
    let learner = crate::saved::load(&model).unwrap();
    assert_eq!(learner.parameters(), Parameters::Tpp(parameters()));
    assert_eq!(learner.rings(), 2);
    assert_eq!(learner.ring(1), model.ring_bytes(&entries[1]).unwrap());
    assert_eq!(learner.backbone(), model.backbone_bytes().unwrap());
    let alone = learner.with(learner.parameters(), &[1]).unwrap();
    assert_eq!((alone.rings(), alone.ring(0)), (1, learner.ring(1)));
    assert!(learner.with(learner.parameters(), &[2]).is_err());
    let other = Parameters::of("treering").unwrap();
    assert!(learner.with(other, &[0]).is_err());
    checks::shares_are_products(&*learner, FEATURES);
}

#[test]
fn every_wrong_tensor_is_refused_with_file_and_name() {
    let good = ring_bytes(&ring(2, true));
    checks::tensors_are_checked(&good, |tensors| {
        read_ring(tensors, &parameters(), FEATURES, 2)
    });
    let file = Path::new("some.safetensors");
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
        let model = saved(&place.path().join(name), head, Vec::new());
        let Err(error) = crate::saved::load(&model) else {
            panic!("{name} was read");
        };
        let told = error.to_string();
        for word in words {
            assert!(told.contains(word), "{told}");
        }
    };
    let parameters = serde_json::to_value(parameters()).unwrap();
    refused("a", head("ewc", parameters.clone()), &["ewc", "tpp"]);
    let bare = NewModel {
        backbone: None,
        ..head(LEARNER, parameters.clone())
    };
    refused("d", bare, &["manifest.json", "no backbone"]);
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
