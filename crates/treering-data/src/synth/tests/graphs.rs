use treering_graph::{Features, Graph, NodeId};

use super::*;
use crate::{Fault, FeatureKind, RecipeError};

fn counted(recipe: &Recipe) {
    let graph = made(recipe);
    let arcs = recipe.edges * if recipe.directed { 1 } else { 2 };
    assert_eq!(graph.nodes(), recipe.nodes);
    assert_eq!(graph.arcs().len() as u64, arcs);
    assert_eq!(graph.arcs().loops(), 0);
    assert_eq!(graph.arcs().is_symmetric(), !recipe.directed);
    assert_eq!(graph.features().columns(), recipe.features);
    assert_eq!(graph.labels().unwrap().sizes(), recipe.class_sizes());
    assert_eq!(graph.labels().unwrap().names()[1], "1");
    assert_eq!(graph.origin().name, recipe.name);
    let sparse = matches!(recipe.feature_kind, FeatureKind::BagOfWords { .. });
    assert_eq!(matches!(graph.features(), Features::Sparse(_)), sparse);
}

#[test]
fn counts_are_exact() {
    counted(&Recipe::demo());
    for preset in Recipe::presets() {
        let recipe = Recipe::preset(preset.name).unwrap();
        counted(&recipe.scaled(0.01).unwrap());
    }
}

/// The shares of arcs inside a class and inside a task.
fn shares(recipe: &Recipe, graph: &Graph) -> (f64, f64) {
    let class_of = graph.labels().unwrap().raw();
    let task = |node: usize| recipe.task(class_of[node] as usize);
    let count = |same: &dyn Fn(usize, usize) -> bool| {
        let inside = graph.arcs().iter().filter(|&(t, s, _)| same(t, s)).count();
        inside as f64 / graph.arcs().len() as f64
    };
    (
        count(&|t, s| class_of[t] == class_of[s]),
        count(&|t, s| task(t) == task(s)),
    )
}

#[test]
fn shares_come_out_as_asked() {
    for (homophily, task_share) in [(0.7, 0.8), (0.2, 0.35), (0.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
        for directed in [false, true] {
            let recipe = Recipe {
                homophily,
                task_share,
                directed,
                ..middling()
            };
            let (class, task) = shares(&recipe, &made(&recipe));
            assert!((class - homophily).abs() < 0.001, "{class} {homophily}");
            assert!((task - task_share).abs() < 0.001, "{task} {task_share}");
        }
    }
}

#[test]
fn threads_change_nothing() {
    let words = Recipe {
        feature_kind: FeatureKind::BagOfWords {
            words_per_node: 9.0,
        },
        features: 200,
        directed: true,
        ..middling()
    };
    // Dense enough for several blocks, several rounds and a surplus.
    let dense = Recipe {
        edges: 400_000,
        ..middling()
    };
    for recipe in [words, dense] {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| made(&recipe))
        };
        let one = on(1);
        assert!(one == on(2) && one == on(7));
    }
}

#[test]
fn seeds_differ_and_sizes_do_not() {
    let other = Recipe {
        seed: 1,
        ..Recipe::demo()
    };
    let (first, second) = (made(&Recipe::demo()), made(&other));
    assert!(first.arcs() != second.arcs());
    assert!(first.features() != second.features());
    let (first, second) = (first.labels().unwrap(), second.labels().unwrap());
    assert!(first.raw() != second.raw());
    assert_eq!(first.sizes(), second.sizes());
}

#[test]
fn isolated_nodes_are_at_least_as_many_as_asked() {
    for isolated in [0.03, 0.3] {
        let recipe = Recipe {
            isolated,
            ..middling()
        };
        let found = made(&recipe).arcs().isolated().count() as f64;
        assert!(found >= isolated * recipe.nodes as f64);
        assert!(found < (isolated + 0.1) * recipe.nodes as f64);
    }
}

#[test]
fn a_smaller_exponent_makes_a_heavier_tail() {
    // The share of all arcs that the twentieth part of nodes with most arcs has.
    let tail = |degree_exponent| {
        let graph = made(&Recipe {
            degree_exponent,
            ..middling()
        });
        let degree = |node| graph.arcs().sources_of(node).len();
        let mut degrees: Vec<usize> = NodeId::first(graph.nodes()).map(degree).collect();
        degrees.sort_unstable_by(|a, b| b.cmp(a));
        degrees[..graph.nodes() / 20].iter().sum::<usize>() as f64 / graph.arcs().len() as f64
    };
    let (heavy, light, none) = (tail(2.2), tail(3.5), tail(Recipe::EQUAL_DEGREES));
    assert!(
        heavy > 1.3 * light && light > 1.3 * none,
        "{heavy} {light} {none}"
    );
}

#[test]
fn edges_that_do_not_fit_are_refused() {
    let recipe = Recipe {
        edges: 1_000_000,
        ..Recipe::demo()
    };
    let error = recipe.check().unwrap_err();
    assert!(matches!(
        error,
        RecipeError::TooManyEdges {
            place: "inside classes",
            ..
        }
    ));
    // A lone class has nobody to be joined to across tasks.
    let lone = Recipe {
        classes: 1,
        classes_per_task: 1,
        ..Recipe::demo()
    };
    assert!(matches!(
        lone.check(),
        Err(RecipeError::TooManyEdges { pairs: 0, .. })
    ));
}

#[test]
fn room_that_isolated_nodes_take_is_missed() {
    let recipe = Recipe {
        nodes: 40,
        classes: 1,
        classes_per_task: 1,
        edges: 700,
        homophily: 1.0,
        task_share: 1.0,
        isolated: 0.5,
        ..Recipe::demo()
    };
    recipe.check().unwrap();
    assert!(matches!(
        try_made(&recipe),
        Err(SynthError::Recipe {
            error: RecipeError::TooManyEdges { pairs: 190, .. },
            ..
        })
    ));
}

#[test]
fn full_blocks_end() {
    let full = |nodes: usize| Recipe {
        nodes,
        classes: 1,
        classes_per_task: 1,
        edges: (nodes * (nodes - 1) / 2) as u64,
        features: 1,
        homophily: 1.0,
        task_share: 1.0,
        isolated: 0.0,
        ..Recipe::demo()
    };
    // Every pair of a small block is found, the last ones of a large block are not.
    assert_eq!(made(&full(40)).arcs().len(), 40 * 39);
    let error = try_made(&full(1_500)).unwrap_err();
    assert!(error.to_string().contains("saturated"), "{error}");
}

#[test]
fn memory_is_asked_for_first() {
    let recipe = Recipe::preset("products-like").unwrap();
    let context = Context::new(&Silent, 1_000_000);
    let Err(SynthError::Data(error)) = synthesize(&recipe, &context) else {
        panic!("a graph of gigabytes in a megabyte");
    };
    assert!(matches!(*error.fault, Fault::TooLarge { .. }));
    let endless = Recipe {
        features: 4_000_000_000,
        nodes: 4_000_000_000,
        ..Recipe::demo()
    };
    assert!(matches!(try_made(&endless), Err(SynthError::Data(_))));
}

#[test]
fn memory_for_drawing_is_given_back() {
    let context = Context::new(&Silent, 2_000_000);
    for _ in 0..3 {
        synthesize(&Recipe::demo(), &context).unwrap();
    }
}
