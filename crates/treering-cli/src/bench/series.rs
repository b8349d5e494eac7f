//! The rows of a bench: one data set, order, learner and protocol each, with a run for every seed.

use serde_json::Value;
use treering_data::{ClassOrder, Grouping, StreamOptions};
use treering_eval::runs::grid::Axes;
use treering_eval::runs::{DataId, RunSpec};
use treering_eval::{Asked, Protocol};
use treering_learn::{LearnError, plus_tp, registry};

use super::choices::Choices;
use super::contenders::{Changes, Contender, contenders};
use super::sets::{DataSet, Origin, Wanted, tell_apart};
use crate::Global;
use crate::failure::Failure;
use crate::plan::{Order, Split};

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
    changed: Changes,
}

/// Everything that is to be compared, checked.
pub(super) struct Comparison {
    pub(super) sets: Vec<DataSet>,
    pub(super) series: Vec<Series>,
    pub(super) seeds: u64,
    /// What its user should know before the work begins.
    pub(super) notes: Vec<String>,
    stream: StreamOptions,
    split_seed: Option<u64>,
}

impl Comparison {
    /// Checks all choices before any work is done.
    pub(super) fn new(choices: &Choices, global: &Global) -> Result<Self, Failure> {
        let (contenders, notes) = contenders(choices)?;
        if choices.data.is_empty() {
            return Err(Failure::input(
                "no data to compare on. Name some with --data, or with the key data of a config file",
            ));
        }
        let orders = or_default(&choices.order, Order::Ascending);
        let mut comparison = Comparison {
            sets: Vec::new(),
            series: Vec::new(),
            seeds: choices.seeds.unwrap_or(5),
            notes,
            stream: StreamOptions {
                grouping: Grouping::PerTask(choices.classes_per_task.unwrap_or(2)),
                split: choices.split.unwrap_or(Split::Random).into(),
                ..StreamOptions::default()
            },
            split_seed: choices.split_seed,
        };
        let searched = contenders.iter().any(|one| one.grid.is_some());
        let streams: Vec<StreamOptions> = orders
            .iter()
            .map(|&order| comparison.options(order.into(), 0))
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
        comparison.series = comparison.rows(&orders, &contenders, choices);
        Ok(comparison)
    }

    /// Every choice with every other, protocols of one learner side by side.
    fn rows(&self, orders: &[Order], contenders: &[Contender], choices: &Choices) -> Vec<Series> {
        let protocols = or_default(&choices.protocol, Protocol::Paper);
        let mut rows = Vec::new();
        for (set, &order) in pairs(&self.sets, orders) {
            let size = set.size(order.into());
            for (contender, &protocol) in pairs(contenders, &protocols) {
                rows.push(Series {
                    data: set.id.clone(),
                    label: set.label.clone(),
                    tasks: size.tasks,
                    classes: size.classes,
                    order: order.into(),
                    learner: contender.name.clone(),
                    protocol,
                    changed: contender.changed.clone(),
                    grid: contender.grid.clone(),
                });
            }
        }
        rows
    }

    fn options(&self, order: ClassOrder, seed: u64) -> StreamOptions {
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
                asked,
                seed,
            })
        };
        (0..self.seeds).map(spec).collect()
    }
}

/// Each of the first with each of the second.
fn pairs<'a, A, B>(first: &'a [A], second: &'a [B]) -> impl Iterator<Item = (&'a A, &'a B)> {
    first
        .iter()
        .flat_map(|a| second.iter().map(move |b| (a, b)))
}

/// Without repeats; the default where nothing was chosen.
fn or_default<T: Copy + PartialEq>(chosen: &[T], default: T) -> Vec<T> {
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
