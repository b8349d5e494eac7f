//! Parameters chosen on validation nodes: every combination of a grid is a series of ordinary runs.

use treering_eval::Asked;
use treering_eval::runs::grid::{best, combinations, described};
use treering_eval::runs::{Chosen, Record, RunSpec, Tried};

use super::pool::Pool;
use super::series::{Changes, Comparison, Series};
use crate::failure::Failure;

/// What became of a row's grid.
pub(super) enum Choice {
    /// It has none.
    Fixed,
    /// These won.
    Chosen(Changes, Chosen),
    /// No combination gave a result for every seed.
    None,
}

/// The runs that choosing for one row takes, combination by combination.
fn validation(comparison: &Comparison, series: &Series) -> Result<Vec<Vec<RunSpec>>, Failure> {
    let Some(axes) = &series.grid else {
        return Ok(Vec::new());
    };
    let each = combinations(axes).into_iter();
    each.map(|changes| Ok(comparison.specs(series, &changes, Asked::Validation)?))
        .collect()
}

/// How many runs choosing takes.
pub(super) fn size(comparison: &Comparison) -> usize {
    let axes = comparison.series.iter().flat_map(|series| &series.grid);
    let combinations: usize = axes.map(|axes| combinations(axes).len()).sum();
    combinations * comparison.seeds as usize
}

/// Searches the grids of all rows that have one.
pub(super) fn choose(comparison: &Comparison, pool: &Pool<'_>) -> Result<Vec<Choice>, Failure> {
    let rows = comparison.series.iter();
    let specs: Vec<Vec<Vec<RunSpec>>> = rows
        .map(|series| validation(comparison, series))
        .collect::<Result<_, _>>()?;
    let all: Vec<RunSpec> = specs.iter().flatten().flatten().cloned().collect();
    let mut records = pool.run(&all)?.into_iter();
    let mut choices = Vec::new();
    for (series, tried) in comparison.series.iter().zip(specs) {
        let Some(axes) = &series.grid else {
            choices.push(Choice::Fixed);
            continue;
        };
        let accuracies: Vec<Option<f64>> = tried
            .iter()
            .map(|seeds| {
                let of_seeds: Vec<Record> = records.by_ref().take(seeds.len()).collect();
                let found: Option<Vec<f64>> = of_seeds.iter().map(Record::aa).collect();
                found.map(|found| found.iter().sum::<f64>() / found.len() as f64)
            })
            .collect();
        let combinations = combinations(axes);
        choices.push(match best(&accuracies) {
            None => Choice::None,
            Some(place) => Choice::Chosen(
                combinations[place].clone(),
                Chosen {
                    grid: described(axes),
                    chosen: combinations[place].iter().cloned().collect(),
                    tried: combinations
                        .into_iter()
                        .zip(accuracies)
                        .map(|(changes, validation_aa)| Tried {
                            parameters: changes.into_iter().collect(),
                            validation_aa,
                        })
                        .collect(),
                },
            ),
        });
    }
    Ok(choices)
}
