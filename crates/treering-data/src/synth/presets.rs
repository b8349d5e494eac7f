//! Ready-made recipes: one small graph for trying things out, and four with the counts of well-known data sets.
//!
//! Only the counts are those of the real data. Everything else is drawn, and says so.

use super::recipe::{FeatureKind, Recipe};

/// A ready-made recipe's name and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// What [`Recipe::preset`] knows it by.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
}

const PRESETS: [Preset; 5] = [
    Preset {
        name: "demo",
        about: "synthetic: 1,800 nodes, 6,000 edges, 12 classes; learnable in a moment",
    },
    Preset {
        name: "corafull-like",
        about: "synthetic, with the counts of CoraFull: 19,793 nodes, 63,421 edges, 70 classes, words",
    },
    Preset {
        name: "arxiv-like",
        about: "synthetic, with the counts of ogbn-arxiv: 169,343 nodes, 1,166,243 arcs, 40 classes",
    },
    Preset {
        name: "reddit-like",
        about: "synthetic, with the counts of Reddit: 232,965 nodes, 57,307,946 edges, 41 classes",
    },
    Preset {
        name: "products-like",
        about: "synthetic, with the counts of ogbn-products: 2,449,029 nodes, 61,859,140 edges, 47 classes",
    },
];

impl Recipe {
    /// All ready-made recipes.
    pub fn presets() -> &'static [Preset] {
        &PRESETS
    }

    /// The ready-made recipe of that name.
    ///
    /// # Example
    /// ```
    /// use treering_data::Recipe;
    /// assert_eq!(Recipe::preset("reddit-like").map(|r| r.nodes), Some(232_965));
    /// assert_eq!(Recipe::preset("reddit"), None);
    /// ```
    pub fn preset(name: &str) -> Option<Recipe> {
        match name {
            "demo" => Some(Recipe::demo()),
            "corafull-like" => Some(corafull_like()),
            "arxiv-like" => Some(arxiv_like()),
            "reddit-like" => Some(reddit_like()),
            "products-like" => Some(products_like()),
            _ => None,
        }
    }

    /// The graph that commands use when none is named: 12 classes in 6 tasks.
    ///
    /// Classes of 116 to 238 nodes, task 1 (the first two classes) 329; 75 % of edges inside a task. Noisy enough
    /// that the nearest class mean of twice smoothed features is right for about 9 of 10 nodes of a task, and that a
    /// single node tells its task less well than a group.
    pub fn demo() -> Recipe {
        Recipe {
            name: "demo".into(),
            nodes: 1_800,
            edges: 6_000,
            directed: false,
            features: 64,
            feature_kind: FeatureKind::Gaussian,
            classes: 12,
            classes_per_task: 2,
            class_skew: 0.3,
            last_class: None,
            homophily: 0.65,
            task_share: 0.75,
            degree_exponent: 3.0,
            feature_noise: 0.9,
            isolated: 0.03,
            seed: 0,
        }
    }
}

/// Classes of 169 to 1,110 nodes, task 1 (the first two classes) 641; 60 % of edges inside a task. Four of five words
/// are common ones.
fn corafull_like() -> Recipe {
    Recipe {
        name: "corafull-like".into(),
        nodes: 19_793,
        edges: 63_421,
        features: 8_710,
        feature_kind: FeatureKind::BagOfWords {
            words_per_node: 60.0,
        },
        classes: 70,
        class_skew: 0.45,
        homophily: 0.57,
        task_share: 0.6,
        degree_exponent: 2.8,
        feature_noise: 0.8,
        isolated: 0.0,
        ..Recipe::demo()
    }
}

/// Classes of 993 to 39,538 nodes, task 1 (the first two classes) 6,834; 68 % of arcs inside a task.
fn arxiv_like() -> Recipe {
    Recipe {
        name: "arxiv-like".into(),
        nodes: 169_343,
        edges: 1_166_243,
        directed: true,
        features: 128,
        classes: 40,
        class_skew: 1.0,
        homophily: 0.65,
        task_share: 0.68,
        degree_exponent: 2.5,
        feature_noise: 0.6,
        isolated: 0.0,
        ..Recipe::demo()
    }
}

/// Classes of 2,350 to 31,020 nodes, the last one 5,112, task 1 (the first two classes) 10,926; 78 % of edges inside a
/// task. Classes are so dense that hubs are cut off early: the largest degree is about 13 times the mean.
fn reddit_like() -> Recipe {
    Recipe {
        name: "reddit-like".into(),
        nodes: 232_965,
        edges: 57_307_946,
        features: 602,
        classes: 41,
        class_skew: 0.7,
        last_class: Some(5_112),
        homophily: 0.76,
        task_share: 0.78,
        degree_exponent: 2.6,
        feature_noise: 0.8,
        isolated: 0.0,
        ..Recipe::demo()
    }
}

/// Classes of 9,627 to 649,076 nodes, the last one a single node, task 1 (the first two classes) 96,020; 82 % of edges
/// inside a task.
fn products_like() -> Recipe {
    Recipe {
        name: "products-like".into(),
        nodes: 2_449_029,
        edges: 61_859_140,
        features: 100,
        classes: 47,
        class_skew: 1.1,
        last_class: Some(1),
        homophily: 0.8,
        task_share: 0.82,
        degree_exponent: 2.6,
        feature_noise: 0.6,
        isolated: 0.0,
        ..Recipe::demo()
    }
}
