//! What the paper reports, to stand beside our figures on its own data sets: Niu, Pang, Chen, Liu, "Replay-and-Forget-Free Graph Class-Incremental Learning: A Task
//! Profiling and Prompting Approach", NeurIPS 2024.

use treering_learn::plus_tp::SUFFIX;

use super::Metric;

/// A figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    pub(super) mean: f64,
    /// None where the paper gives none.
    pub(super) std: Option<f64>,
}

impl Figure {
    pub(super) fn text(self) -> String {
        match self.std {
            Some(std) => format!("{:.1} ± {std:.1}", self.mean),
            None => format!("{:.1}", self.mean),
        }
    }
}

/// AA, its deviation, AF, its deviation; NaN where there is none.
type Four = [f64; 4];

const NONE: f64 = f64::NAN;

/// The paper's data sets, by what their files are called (letters and digits alone).
const SETS: [&[&str]; 4] = [
    &["corafull"],
    &["ogbnarxiv", "arxiv"],
    &["reddit"],
    &["ogbnproducts", "products"],
];

/// Table, row, and a figure for each data set.
#[rustfmt::skip]
static FIGURES: &[(&str, &str, [Four; 4])] = &[
    ("main", "finetune", [[3.5, 0.5, -95.2, 0.5], [4.9, 0.0, -89.7, 0.4], [5.9, 1.2, -97.9, 3.3], [7.6, 0.7, -88.7, 0.8]]),
    ("main", "joint", [[81.2, 0.4, NONE, NONE], [51.3, 0.5, NONE, NONE], [97.1, 0.1, NONE, NONE], [71.5, 0.1, NONE, NONE]]),
    ("main", "ewc", [[52.6, 8.2, -38.5, 12.1], [8.5, 1.0, -69.5, 8.0], [10.3, 11.6, -33.2, 26.1], [23.8, 3.8, -21.7, 7.5]]),
    ("main", "mas", [[6.5, 1.5, -92.3, 1.5], [4.8, 0.4, -72.2, 4.1], [9.2, 14.5, -23.1, 28.2], [16.7, 4.8, -57.0, 31.9]]),
    ("main", "gem", [[8.4, 1.1, -88.4, 1.4], [4.9, 0.0, -89.8, 0.3], [11.5, 5.5, -92.4, 5.9], [4.5, 1.3, -94.7, 0.4]]),
    ("main", "lwf", [[33.4, 1.6, -59.6, 2.2], [9.9, 12.1, -43.6, 11.9], [86.6, 1.1, -9.2, 1.1], [48.2, 1.6, -18.6, 1.6]]),
    ("main", "twp", [[62.6, 2.2, -30.6, 4.3], [6.7, 1.5, -50.6, 13.2], [8.0, 5.2, -18.8, 9.0], [14.1, 4.0, -11.4, 2.0]]),
    ("main", "ergnn", [[34.5, 4.4, -61.6, 4.3], [21.5, 5.4, -70.0, 5.5], [82.7, 0.4, -17.3, 0.4], [48.3, 1.2, -45.7, 1.3]]),
    ("main", "ssm-uniform", [[73.0, 0.3, -14.8, 0.5], [47.1, 0.5, -11.7, 1.5], [94.3, 0.1, -1.4, 0.1], [62.0, 1.6, -9.9, 1.3]]),
    ("main", "ssm-degree", [[75.4, 0.1, -9.7, 0.0], [48.3, 0.5, -10.7, 0.3], [94.4, 0.0, -1.3, 0.0], [63.3, 0.1, -9.6, 0.3]]),
    ("main", "sem", [[77.7, 0.8, -10.0, 1.2], [49.9, 0.6, -8.4, 1.3], [96.3, 0.1, -0.6, 0.1], [65.1, 1.0, -9.5, 0.8]]),
    ("main", "cat", [[80.4, 0.5, -5.3, 0.4], [48.2, 0.4, -12.6, 0.7], [97.3, 0.1, -0.4, 0.0], [70.3, 0.9, -4.5, 0.8]]),
    ("main", "delome", [[81.0, 0.2, -3.3, 0.3], [50.6, 0.3, 5.1, 0.4], [97.4, 0.1, -0.1, 0.1], [67.5, 0.7, -17.3, 0.3]]),
    ("main", "oodcil", [[71.3, 0.5, -1.1, 0.1], [19.3, 1.4, -1.0, 0.4], [79.3, 0.8, -0.1, 0.0], [41.6, 0.9, -1.6, 0.4]]),
    ("main", "tpp", [[93.4, 0.4, 0.0, NONE], [85.4, 0.1, 0.0, NONE], [99.5, 0.0, 0.0, NONE], [94.0, 0.5, 0.0, NONE]]),
    ("main", "Oracle", [[95.5, 0.2, NONE, NONE], [90.3, 0.4, NONE, NONE], [99.5, 0.0, NONE, NONE], [95.3, 0.8, NONE, NONE]]),
    ("plus-tp", "twp+tp", [[94.3, 0.9, -1.6, 0.4], [89.4, 0.4, 0.0, 0.3], [78.0, 18.5, -0.2, 0.4], [81.8, 3.3, -0.3, 0.8]]),
    ("plus-tp", "delome+tp", [[95.4, 0.1, 2.0, 0.6], [90.4, 0.3, -1.1, 0.2], [99.4, 0.0, -0.1, 0.0], [94.8, 0.1, -2.2, 0.2]]),
    ("ablation", "no task ID, prompt, head", [[2.0, NONE, -5.5, NONE], [3.0, NONE, -10.9, NONE], [2.8, NONE, -16.8, NONE], [2.7, NONE, -8.2, NONE]]),
    ("ablation", "task ID, no prompt, no head", [[50.7, NONE, 0.0, NONE], [54.0, NONE, 0.0, NONE], [47.4, NONE, 0.0, NONE], [51.8, NONE, 0.0, NONE]]),
    ("ablation", "task ID, no prompt, head", [[73.8, NONE, 0.0, NONE], [76.3, NONE, 0.0, NONE], [98.6, NONE, 0.0, NONE], [90.0, NONE, 0.0, NONE]]),
    ("ablation", "task ID, prompt, no head", [[92.8, NONE, 0.0, NONE], [82.9, NONE, 0.0, NONE], [99.0, NONE, 0.0, NONE], [90.7, NONE, 0.0, NONE]]),
    ("ablation", "task ID, prompt, head (TPP)", [[93.4, NONE, 0.0, NONE], [85.4, NONE, 0.0, NONE], [99.5, NONE, 0.0, NONE], [94.0, NONE, 0.0, NONE]]),
    ("orders", "TPP, ascending", [[93.4, NONE, NONE, NONE], [85.4, NONE, NONE, NONE], [99.5, NONE, NONE, NONE], [94.0, NONE, NONE, NONE]]),
    ("orders", "Oracle, ascending", [[95.5, NONE, NONE, NONE], [90.3, NONE, NONE, NONE], [99.5, NONE, NONE, NONE], [95.3, NONE, NONE, NONE]]),
    ("orders", "TPP, descending", [[94.5, NONE, NONE, NONE], [85.9, NONE, NONE, NONE], [99.4, NONE, NONE, NONE], [93.9, NONE, NONE, NONE]]),
    ("orders", "Oracle, descending", [[96.1, NONE, NONE, NONE], [91.6, NONE, NONE, NONE], [99.5, NONE, NONE, NONE], [94.7, NONE, NONE, NONE]]),
    ("orders", "TPP, random", [[94.8, NONE, NONE, NONE], [86.9, NONE, NONE, NONE], [99.5, NONE, NONE, NONE], [85.9, NONE, NONE, NONE]]),
    ("orders", "Oracle, random", [[95.3, NONE, NONE, NONE], [91.3, NONE, NONE, NONE], [99.7, NONE, NONE, NONE], [86.8, NONE, NONE, NONE]]),
    ("parameters", "a network for every task", [[94.3, NONE, NONE, NONE], [86.8, NONE, NONE, NONE], [99.5, NONE, NONE, NONE], [96.3, NONE, NONE, NONE]]),
    ("parameters", "prompts (TPP)", [[93.4, NONE, NONE, NONE], [85.4, NONE, NONE, NONE], [99.5, NONE, NONE, NONE], [94.0, NONE, NONE, NONE]]),
];

/// The paper's figure for a row of a table, where the data is one of its four.
pub(super) fn published(table: &str, label: &str, data: &str, metric: Metric) -> Option<Figure> {
    let plain: String = data.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    let set = SETS.iter().position(|names| names.contains(&&plain[..]))?;
    let tasks_by_smoothing = table == "orders" && label.starts_with("TPP");
    let [mean, std] = match metric {
        Metric::Aa => [0, 1].map(|at| figures(table, label).map_or(NONE, |four| four[set][at])),
        Metric::Af => [2, 3].map(|at| figures(table, label).map_or(NONE, |four| four[set][at])),
        // All tasks of all data sets in all orders.
        Metric::TaskId if tasks_by_smoothing => [100.0, NONE],
        _ => return None,
    };
    mean.is_finite().then(|| Figure {
        mean,
        std: Some(std).filter(|std| std.is_finite()),
    })
}

fn figures(table: &str, label: &str) -> Option<&'static [Four; 4]> {
    // A method without task prediction is the same one in the table of all methods.
    let table = match (table, label.ends_with(SUFFIX)) {
        ("plus-tp", false) => "main",
        _ => table,
    };
    let found = FIGURES.iter().find(|(t, l, _)| *t == table && *l == label);
    found.map(|(_, _, figures)| figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::presets::PRESETS;

    #[test]
    fn every_figure_belongs_to_a_row_of_a_preset() {
        for (table, label, _) in FIGURES {
            let preset = PRESETS.iter().find(|preset| preset.name == *table).unwrap();
            let parts = preset.parts();
            assert!(
                parts.iter().any(|part| part.label == *label),
                "{table} {label}"
            );
        }
    }

    #[test]
    fn data_is_known_by_the_names_of_its_files() {
        let aa = |data: &str| published("main", "tpp", data, Metric::Aa).map(Figure::text);
        assert_eq!(aa("cora_full").as_deref(), Some("93.4 ± 0.4"));
        assert_eq!(aa("CoraFull").as_deref(), Some("93.4 ± 0.4"));
        assert_eq!(aa("ogbn-products").as_deref(), Some("94.0 ± 0.5"));
        assert_eq!(aa("cora"), None);
        let af = published("main", "tpp", "arxiv", Metric::Af);
        assert_eq!(af.map(Figure::text).as_deref(), Some("0.0"));
        assert_eq!(published("main", "joint", "arxiv", Metric::Af), None);
        assert_eq!(
            published("time", "tpp", "arxiv", Metric::LearnSeconds),
            None
        );
    }
}
