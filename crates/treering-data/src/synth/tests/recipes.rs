use super::*;
use crate::{FeatureKind, RecipeError};

#[test]
fn every_preset_is_listed_and_valid() {
    for preset in Recipe::presets() {
        let recipe = Recipe::preset(preset.name).unwrap();
        assert_eq!(recipe.name, preset.name);
        assert!(preset.about.starts_with("synthetic"));
        recipe.check().unwrap();
    }
    assert_eq!(Recipe::preset("reddit"), None);
}

#[test]
fn class_sizes_add_up_and_do_not_follow_class_numbers() {
    for preset in Recipe::presets() {
        let recipe = Recipe::preset(preset.name).unwrap();
        let sizes = recipe.class_sizes();
        assert_eq!(sizes.len(), recipe.classes);
        assert_eq!(sizes.iter().sum::<usize>(), recipe.nodes);
        if let Some(last) = recipe.last_class {
            assert_eq!(sizes.last(), Some(&last));
        }
        assert!(!sizes.is_sorted() && !sizes.iter().rev().is_sorted());
        let reseeded = Recipe { seed: 99, ..recipe };
        assert_eq!(sizes, reseeded.class_sizes());
    }
    let equal = Recipe {
        class_skew: 0.0,
        ..Recipe::demo()
    };
    assert_eq!(equal.class_sizes(), vec![150; 12]);
}

#[test]
fn preset_sizes_are_as_documented() {
    let extent = |name| {
        let recipe = Recipe::preset(name).unwrap();
        let sizes = recipe.class_sizes();
        let free = &sizes[..recipe.classes - usize::from(recipe.last_class.is_some())];
        let (least, most) = (*free.iter().min().unwrap(), *free.iter().max().unwrap());
        (least, most, sizes[0] + sizes[1])
    };
    assert_eq!(extent("demo"), (116, 238, 329));
    assert_eq!(extent("corafull-like"), (169, 1_110, 641));
    assert_eq!(extent("arxiv-like"), (993, 39_538, 6_834));
    assert_eq!(extent("reddit-like"), (2_350, 31_020, 10_926));
    assert_eq!(extent("products-like"), (9_627, 649_076, 96_020));
}

#[test]
fn scaling_keeps_classes_alive_and_edges_possible() {
    for preset in Recipe::presets() {
        let recipe = Recipe::preset(preset.name).unwrap();
        assert_eq!(recipe.scaled(1.0).unwrap(), recipe);
        for factor in [1e-9, 0.001, 0.01, 0.3, 1.5] {
            let scaled = recipe.scaled(factor).unwrap();
            let sizes = scaled.class_sizes();
            let free = recipe.classes - usize::from(recipe.last_class.is_some());
            assert!(sizes[..free].iter().all(|&size| size >= 5));
            assert!(sizes.iter().all(|&size| size > 0));
            assert!(scaled.edges as f64 <= recipe.edges as f64 * factor + 0.5);
        }
    }
    let half = Recipe::demo().scaled(0.5).unwrap();
    assert_eq!((half.nodes, half.edges), (900, 3_000));
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Recipe::demo().scaled(factor).unwrap_err();
        assert!(matches!(error, RecipeError::Field { field: "scale", .. }));
    }
    assert!(Recipe::demo().scaled(1e12).is_err());
}

#[test]
fn scaling_a_recipe_of_fixed_last_class_stays_valid() {
    let base = Recipe {
        nodes: 60,
        edges: 0,
        classes: 10,
        last_class: Some(51),
        ..Recipe::demo()
    };
    let alone = Recipe {
        classes: 1,
        classes_per_task: 1,
        last_class: Some(60),
        ..base.clone()
    };
    for factor in [0.01, 0.9, 1.7] {
        base.scaled(factor).unwrap();
        alone.scaled(factor).unwrap();
    }
}

/// The field that [`Recipe::check`] names after a change to the demo.
fn refused(change: impl Fn(&mut Recipe)) -> &'static str {
    let mut recipe = Recipe::demo();
    change(&mut recipe);
    assert!(try_made(&recipe).is_err());
    match recipe.check() {
        Err(RecipeError::Field { field, .. }) => field,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_field_outside_its_range_is_named() {
    assert_eq!(refused(|r| r.name = " ".into()), "name");
    assert_eq!(refused(|r| r.nodes = 0), "nodes");
    assert_eq!(refused(|r| r.nodes = u32::MAX as usize), "nodes");
    assert_eq!(refused(|r| r.classes = 0), "classes");
    assert_eq!(refused(|r| r.classes = 1_801), "classes");
    assert_eq!(refused(|r| r.classes_per_task = 0), "classes_per_task");
    assert_eq!(refused(|r| r.classes_per_task = 13), "classes_per_task");
    assert_eq!(refused(|r| r.last_class = Some(0)), "last_class");
    assert_eq!(refused(|r| r.last_class = Some(1_790)), "last_class");
    assert_eq!(refused(|r| r.features = 0), "features");
    for bad in [-0.1, 1.1, f64::NAN] {
        assert_eq!(refused(|r| r.homophily = bad), "homophily");
        assert_eq!(refused(|r| r.task_share = bad), "task_share");
        assert_eq!(refused(|r| r.isolated = bad), "isolated");
    }
    assert_eq!(refused(|r| r.task_share = 0.5), "task_share");
    assert_eq!(refused(|r| r.isolated = 1.0), "isolated");
    for bad in [-0.1, 11.0, f64::NAN] {
        assert_eq!(refused(|r| r.class_skew = bad), "class_skew");
    }
    for bad in [2.0, -3.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(|r| r.degree_exponent = bad), "degree_exponent");
    }
    for bad in [-0.1, 1001.0, f64::NAN] {
        assert_eq!(refused(|r| r.feature_noise = bad), "feature_noise");
    }
    let words = |words_per_node| FeatureKind::BagOfWords { words_per_node };
    for bad in [0.5, 65.0, f64::NAN] {
        assert_eq!(refused(|r| r.feature_kind = words(bad)), "words_per_node");
    }
    let loud = |r: &mut Recipe| (r.feature_kind, r.feature_noise) = (words(9.0), 1.1);
    assert_eq!(refused(loud), "feature_noise");
}

#[test]
fn an_error_says_field_value_and_range() {
    let recipe = Recipe {
        homophily: 0.9,
        ..Recipe::demo()
    };
    assert_eq!(
        try_made(&recipe).unwrap_err().to_string(),
        "the recipe `demo` makes no graph: `task_share` is 0.75, but must be 0.9 (`homophily`) to 1"
    );
}

#[test]
fn a_recipe_survives_json_and_unknown_fields_do_not() {
    let graph = made(&Recipe::demo());
    let text = graph.origin().synthetic.clone().unwrap();
    assert_eq!(
        serde_json::from_str::<Recipe>(&text).unwrap(),
        Recipe::demo()
    );
    let extended = text.replacen('{', "{\"colour\":1,", 1);
    assert!(serde_json::from_str::<Recipe>(&extended).is_err());
}
