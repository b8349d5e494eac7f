//! The rows of a bench: one data set, order, learner and protocol each, with a run for every seed.

use serde_json::Value;
use treering_data::{ClassOrder, Grouping, StreamOptions};
use treering_eval::runs::grid::Axes;
use treering_eval::runs::{DataId, RunSpec};
use treering_eval::{Asked, Protocol};
use treering_learn::{LearnError, plus_tp, registry};

use super::choices::Choices;
use super::contenders::{Changes, Contender};
use super::sets::{DataSet, Origin, Wanted, tell_apart};
use crate::Global;
use crate::failure::Failure;
use crate::plan::Split;

/// One row of the table.
pub(super) struct Series {
    pub(super) data: DataId,
    /// What the data is called in the table.
    pub(super) label: String,
    /// How many tasks and classes its streams have.
    pub(super) tasks: usize,
    pub(super) classes: usize,
    pub(super) order: ClassOrder,
    pub(super) learner: String,
    pub(super) protocol: Protocol,
    pub(super) grid: Option<Axes>,
    pub(super) changed: Changes,
}

/// A learner with its parameters, under one protocol and order: a row for every data set.
#[derive(PartialEq)]
pub(super) struct Entrant {
    pub(super) contender: Contender,
    pub(super) protocol: Protocol,
    pub(super) order: ClassOrder,
}

/// Everything that is to be compared, checked.
pub(super) struct Comparison {
    pub(super) sets: Vec<DataSet>,
    pub(super) series: Vec<Series>,
    pub(super) seeds: u64,
    stream: StreamOptions,
    split_seed: Option<u64>,
}

impl Comparison {
    /// What is not usual about its tasks, for captions.
    pub(super) fn unusual(&self) -> String {
        let mut told = String::new();
        if let Grouping::PerTask(classes) = &self.stream.grouping
            && *classes != 2
        {
            told.push_str(&format!("; {classes} classes a task"));
        }
        if let Some(seed) = self.split_seed {
            told.push_str(&format!("; one split for all runs, of seed {seed}"));
        }
        told
    }

    /// Checks all choices before any work is done.
    pub(super) fn new(
        choices: &Choices,
        seeds: u64,
        entrants: &[Entrant],
        global: &Global,
    ) -> Result<Self, Failure> {
        if choices.data.is_empty() {
            return Err(Failure::input(
                "no data to compare on. Name some with --data, or with the key data of a config file",
            ));
        }
        let mut comparison = Comparison {
            sets: Vec::new(),
            series: Vec::new(),
            seeds,
            stream: StreamOptions {
                grouping: Grouping::PerTask(choices.classes_per_task.unwrap_or(2)),
                split: choices.split.unwrap_or(Split::Random).into(),
                ..StreamOptions::default()
            },
            split_seed: choices.split_seed,
        };
        let searched = entrants.iter().any(|one| one.contender.grid.is_some());
        let orders: Vec<ClassOrder> = entrants.iter().map(|one| one.order).collect();
        let streams: Vec<StreamOptions> = or_default(&orders, ClassOrder::Ascending)
            .iter()
            .map(|&order| comparison.options(order, 0))
            .collect();
        let scale = choices.scale.unwrap_or(1.0);
        if !(scale.is_finite() && scale > 0.0) {
            return Err(Failure::input(format!(
                "scale is {scale}; it has to be a number above 0, such as 0.1"
            )));
        }
        let found: Result<Vec<Origin>, Failure> = choices
            .data
            .iter()
            .map(|named| Origin::find(named, scale))
            .collect();
        let wanted = Wanted {
            streams: &streams,
            validation: searched,
            seeds: comparison.seeds,
        };
        for origin in found? {
            let set = DataSet::new(origin, &wanted, global)?;
            if comparison.sets.iter().all(|known| known.id != set.id) {
                comparison.sets.push(set);
            }
        }
        tell_apart(&mut comparison.sets);
        comparison.series = comparison.rows(entrants);
        Ok(comparison)
    }

    /// Every data set with every entrant.
    fn rows(&self, entrants: &[Entrant]) -> Vec<Series> {
        let row = |(set, entrant): (&DataSet, &Entrant)| {
            let size = set.size(entrant.order);
            Series {
                data: set.id.clone(),
                label: set.label.clone(),
                tasks: size.tasks,
                classes: size.classes,
                order: entrant.order,
                learner: entrant.contender.name.clone(),
                protocol: entrant.protocol,
                changed: entrant.contender.changed.clone(),
                grid: entrant.contender.grid.clone(),
            }
        };
        pairs(&self.sets, entrants).map(row).collect()
    }

    pub(super) fn options(&self, order: ClassOrder, seed: u64) -> StreamOptions {
        StreamOptions {
            order,
            seed,
            split_seed: self.split_seed.unwrap_or(seed),
            ..self.stream.clone()
        }
    }

    /// The runs of a row, one for every seed, with some parameters changed further.
    pub(super) fn specs(
        &self,
        series: &Series,
        more: &[(String, Value)],
        asked: Asked,
    ) -> Result<Vec<RunSpec>, LearnError> {
        let plugged = series.learner.ends_with(plus_tp::SUFFIX);
        let spec = |seed: u64| {
            let mut changed = series.changed.clone();
            changed.extend(more.iter().cloned());
            changed.push(("seed".to_owned(), seed.into()));
            Ok(RunSpec {
                data: series.data.clone(),
                stream: self.options(series.order, seed),
                learner: series.learner.clone(),
                parameters: registry::complete(&series.learner, &changed)?,
                revision: registry::entry(&series.learner)?.revision,
                tp_revision: plugged.then_some(plus_tp::REVISION),
                protocol: series.protocol,
                protocol_revision: series.protocol.revision(),
                asked,
                seed,
            })
        };
        (0..self.seeds).map(spec).collect()
    }
}

/// Each of the first with each of the second.
pub(super) fn pairs<'a, A, B>(
    first: &'a [A],
    second: &'a [B],
) -> impl Iterator<Item = (&'a A, &'a B)> {
    first
        .iter()
        .flat_map(|a| second.iter().map(move |b| (a, b)))
}

/// Without repeats; the default where nothing was chosen.
pub(super) fn or_default<T: Copy + PartialEq>(chosen: &[T], default: T) -> Vec<T> {
    let mut all = Vec::new();
    for &one in chosen {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.is_empty() {
        all.push(default);
    }
    all
}
