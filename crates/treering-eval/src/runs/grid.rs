//! What parameters are chosen from, on validation nodes only.

use serde_json::{Map, Value};
use treering_learn::plus_tp::SUFFIX;

/// The values of every searched parameter of one learner.
pub type Axes = Vec<(String, Vec<Value>)>;

/// The grid of a learner that has one.
struct Grid {
    learner: &'static str,
    axes: &'static [(&'static str, &'static [f64])],
}

/// The grids of the benchmark, with the values that its users report beside them.
static GRIDS: &[Grid] = &[
    Grid {
        learner: "ewc",
        axes: &[("lambda", &[1.0, 1e2, 1e4, 1e6])],
    },
    Grid {
        learner: "mas",
        axes: &[("lambda", &[1.0, 1e2, 1e4, 1e6])],
    },
    Grid {
        learner: "gem",
        axes: &[
            ("margin", &[0.05, 0.5, 5.0]),
            ("memory-rows", &[10.0, 100.0, 1000.0]),
        ],
    },
    Grid {
        learner: "lwf",
        axes: &[
            ("lambda", &[0.1, 1.0, 10.0]),
            ("temperature", &[0.2, 2.0, 20.0]),
        ],
    },
    Grid {
        learner: "twp",
        axes: &[
            ("lambda-loss", &[1e2, 1e4]),
            ("lambda-topology", &[1e2, 1e4]),
        ],
    },
    Grid {
        learner: "ergnn",
        axes: &[("budget", &[100.0, 1000.0])],
    },
];

/// The grid of a learner, by its name with or without `+tp`: task prediction has nothing to choose.
///
/// # Example
/// ```
/// use treering_eval::runs::grid;
/// assert_eq!(grid::combinations(&grid::of("gem").unwrap()).len(), 9);
/// assert_eq!(grid::of("gem+tp"), grid::of("gem"));
/// assert_eq!(grid::of("finetune"), None);
/// ```
pub fn of(learner: &str) -> Option<Axes> {
    let host = learner.strip_suffix(SUFFIX).unwrap_or(learner);
    let grid = GRIDS.iter().find(|grid| grid.learner == host)?;
    let axis = |(name, values): &(&str, &[f64])| {
        let values = values.iter().map(|&value| number(value)).collect();
        ((*name).to_owned(), values)
    };
    Some(grid.axes.iter().map(axis).collect())
}

/// Whole numbers without a point, because counts are written so.
fn number(value: f64) -> Value {
    match value.fract() == 0.0 {
        true => Value::from(value as u64),
        false => Value::from(value),
    }
}

/// Every choice of one value for each parameter; the last parameter changes fastest.
pub fn combinations(axes: &[(String, Vec<Value>)]) -> Vec<Vec<(String, Value)>> {
    let mut all: Vec<Vec<(String, Value)>> = vec![Vec::new()];
    for (name, values) in axes {
        let longer = |begun: &Vec<(String, Value)>| -> Vec<Vec<(String, Value)>> {
            let with = |value: &Value| {
                let mut combination = begun.clone();
                combination.push((name.clone(), value.clone()));
                combination
            };
            values.iter().map(with).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// A grid as records have it.
pub fn described(axes: &[(String, Vec<Value>)]) -> Map<String, Value> {
    axes.iter()
        .map(|(name, values)| (name.clone(), Value::from(values.clone())))
        .collect()
}

/// The place of the highest accuracy; the first of equals. None where no combination has one.
///
/// # Example
/// ```
/// use treering_eval::runs::grid::best;
/// assert_eq!(best(&[Some(1.0), None, Some(3.0), Some(3.0)]), Some(2));
/// assert_eq!(best(&[None]), None);
/// ```
pub fn best(accuracies: &[Option<f64>]) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (place, accuracy) in accuracies.iter().enumerate() {
        if let Some(accuracy) = *accuracy
            && best.is_none_or(|(_, highest)| accuracy > highest)
        {
            best = Some((place, accuracy));
        }
    }
    best.map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use treering_learn::registry::{self, LEARNERS};

    use super::*;

    #[test]
    fn every_grid_fits_its_learner() {
        for entry in LEARNERS {
            let Some(axes) = of(entry.name) else { continue };
            for combination in combinations(&axes) {
                let built = registry::complete(entry.name, &combination)
                    .and_then(|settings| registry::build(entry.name, settings));
                if let Err(error) = built {
                    panic!("{} {combination:?}: {error}", entry.name);
                }
            }
        }
    }

    #[test]
    fn combinations_come_in_the_order_of_the_grid() {
        let axes = [
            ("a".to_owned(), vec![Value::from(1), Value::from(2)]),
            ("b".to_owned(), vec![Value::from(0.5), Value::from(5)]),
        ];
        let text: Vec<String> = combinations(&axes)
            .iter()
            .map(|combination| {
                let parts: Vec<String> = combination
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                parts.join(" ")
            })
            .collect();
        assert_eq!(text, ["a=1 b=0.5", "a=1 b=5", "a=2 b=0.5", "a=2 b=5"]);
        let sizes: Vec<usize> = GRIDS
            .iter()
            .filter_map(|grid| Some(combinations(&of(grid.learner)?).len()))
            .collect();
        assert_eq!(sizes, [4, 4, 9, 9, 4, 2]);
    }
}
