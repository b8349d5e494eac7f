use treering_graph::Features;

use super::*;
use crate::FeatureKind;

#[test]
fn words_are_ones_and_follow_the_class() {
    let recipe = Recipe {
        feature_kind: FeatureKind::BagOfWords {
            words_per_node: 20.0,
        },
        features: 1_000,
        feature_noise: 0.4,
        ..middling()
    };
    let graph = made(&recipe);
    let Features::Sparse(sparse) = graph.features() else {
        panic!("words are sparse");
    };
    assert!(sparse.values().iter().all(|&value| value == 1.0));
    assert!(sparse.offsets().windows(2).all(|pair| pair[0] < pair[1]));
    let mean = sparse.indices().len() as f64 / recipe.nodes as f64;
    assert!((mean - 20.0).abs() < 0.5, "{mean}");
    let common = |a: usize, b: usize| {
        let (a, b) = (sparse.row(a).0, sparse.row(b).0);
        a.iter().filter(|word| b.contains(word)).count() as f64
    };
    let class_of = graph.labels().unwrap().raw();
    let (mut same, mut other) = ((0.0, 0.0), (0.0, 0.0));
    for (a, b) in (0..300).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let sum = if class_of[a] == class_of[b] {
            &mut same
        } else {
            &mut other
        };
        *sum = (sum.0 + common(a, b), sum.1 + 1.0);
    }
    assert!(same.0 / same.1 > 2.0 * other.0 / other.1);
}

#[test]
fn gaussian_columns_have_variance_one() {
    let Features::Dense(dense) = made(&middling()).features().clone() else {
        panic!("Gaussian features are dense");
    };
    let squares: f32 = dense.values().iter().map(|value| value * value).sum();
    let variance = squares / dense.values().len() as f32;
    assert!((variance - 1.0).abs() < 0.2, "{variance}");
}
