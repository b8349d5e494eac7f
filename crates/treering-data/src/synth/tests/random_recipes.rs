use proptest::prelude::*;

use super::*;
use crate::FeatureKind;

fn recipes() -> impl Strategy<Value = Recipe> {
    let counts = (1usize..300, 0u64..2_000, 1usize..12, 1usize..5, 1usize..30);
    let shares = (0.0..1.0f64, 0.0..1.0f64, 0.0..0.9f64, 0.0..3.0f64);
    let others = (
        any::<bool>(),
        any::<bool>(),
        2.01..6.0f64,
        0.0..1.0f64,
        any::<u64>(),
    );
    let last = proptest::option::of(1usize..40);
    (counts, shares, others, last).prop_map(|(counts, shares, others, last_class)| {
        let (nodes, edges, classes, classes_per_task, features) = counts;
        let (directed, words, degree_exponent, feature_noise, seed) = others;
        let words_per_node = 1.0 + feature_noise * 12.0;
        Recipe {
            name: "any".into(),
            nodes,
            edges,
            directed,
            features,
            feature_kind: match words {
                true => FeatureKind::BagOfWords { words_per_node },
                false => FeatureKind::Gaussian,
            },
            classes,
            classes_per_task,
            class_skew: shares.3,
            last_class,
            homophily: shares.0.min(shares.1),
            task_share: shares.0.max(shares.1),
            degree_exponent,
            feature_noise,
            isolated: (shares.2 - 0.5).max(0.0),
            seed,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_recipe_makes_its_graph_or_an_error(recipe in recipes()) {
        match try_made(&recipe) {
            Ok(graph) => {
                prop_assert_eq!(graph.nodes(), recipe.nodes);
                let arcs = recipe.edges * if recipe.directed { 1 } else { 2 };
                prop_assert_eq!(graph.arcs().len() as u64, arcs);
                prop_assert_eq!(graph.labels().unwrap().sizes(), recipe.class_sizes());
            }
            Err(SynthError::Recipe { error, .. }) => prop_assert!(error.to_string().contains('`')),
            Err(SynthError::Data(error)) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn a_scaled_recipe_is_valid(recipe in recipes(), factor in 0.001..3.0f64) {
        if recipe.check().is_ok() && let Ok(scaled) = recipe.scaled(factor) {
            prop_assert_eq!(scaled.check(), Ok(()));
        }
    }
}
