//! Parameters chosen on validation nodes: every combination of a grid is a series of ordinary runs.

use treering_eval::Asked;
use treering_eval::runs::grid::{best, combinations, described};
use treering_eval::runs::{GridRecord, Record, RunSpec, Tried};

use super::contenders::Changes;
use super::pool::Pool;
use super::series::{Comparison, Series};
use crate::failure::Failure;

/// What became of a row's grid.
pub(super) enum Choice {
    /// It has none.
    Fixed,
    /// These won.
    Chosen(Changes, Box<GridRecord>),
    /// No combination gave a result for every seed; the first error.
    None(String, Box<GridRecord>),
}

impl Choice {
    /// What is kept of the search.
    pub(super) fn grid_mut(&mut self) -> Option<&mut GridRecord> {
        match self {
            Choice::Fixed => None,
            Choice::Chosen(_, grid) | Choice::None(_, grid) => Some(grid),
        }
    }
}

/// Parameters in a few words.
pub(super) fn words<'a>(
    parameters: impl IntoIterator<Item = (&'a String, &'a serde_json::Value)>,
) -> String {
    let one = |(name, value)| format!("{name}={value}");
    let all: Vec<String> = parameters.into_iter().map(one).collect();
    all.join(" ")
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
    for (series, tried) in comparison.series.iter().zip(&specs) {
        let axes = series.grid.as_deref().unwrap_or(&[]);
        for (changes, specs) in combinations(axes).iter().zip(tried) {
            let told = words(changes.iter().map(|(name, value)| (name, value)));
            pool.meter.explain(specs, &told);
        }
    }
    let all: Vec<RunSpec> = specs.iter().flatten().flatten().cloned().collect();
    let mut records = pool.run(&all)?.into_iter();
    let mut choices = Vec::new();
    for (series, specs) in comparison.series.iter().zip(&specs) {
        let records: Vec<Vec<Record>> = specs
            .iter()
            .map(|seeds| records.by_ref().take(seeds.len()).flatten().collect())
            .collect();
        choices.push(choice(series, specs, &records));
    }
    Ok(choices)
}

/// What the runs of a row's grid say.
fn choice(series: &Series, specs: &[Vec<RunSpec>], records: &[Vec<Record>]) -> Choice {
    let (Some(axes), Some(first)) = (&series.grid, specs.iter().flatten().next()) else {
        return Choice::Fixed;
    };
    let mean = |records: &Vec<Record>| {
        let found: Option<Vec<f64>> = records.iter().map(Record::aa).collect();
        found.map(|found| found.iter().sum::<f64>() / found.len() as f64)
    };
    let accuracies: Vec<Option<f64>> = records.iter().map(mean).collect();
    let combinations = combinations(axes);
    let mut grid = Box::new(GridRecord::new(first, described(axes)));
    let tried = combinations.iter().zip(&accuracies).zip(specs);
    grid.tried = tried
        .map(|((changes, &validation_aa), specs)| Tried {
            parameters: changes.iter().cloned().collect(),
            validation_aa,
            runs: specs.iter().map(RunSpec::hash).collect(),
        })
        .collect();
    match best(&accuracies) {
        Some(place) => {
            let changes = combinations[place].clone();
            grid.chosen = Some(changes.iter().cloned().collect());
            Choice::Chosen(changes, grid)
        }
        None => {
            let mut errors = records.iter().flatten().filter_map(|one| one.error.clone());
            Choice::None(errors.next().unwrap_or_default(), grid)
        }
    }
}
