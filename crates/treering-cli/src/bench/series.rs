//! The rows of a bench: one data set, order, learner and protocol each, with a run for every seed.

use serde_json::Value;
use treering_data::{ClassOrder, Grouping, StreamOptions};
use treering_eval::runs::grid::{Axes, combinations};
use treering_eval::runs::{DataId, RunSpec};
use treering_eval::{Asked, Protocol};
use treering_learn::{LearnError, registry};

use super::assign::{Assignment, axes, changed};
use super::choices::{Choices, ProtocolName};
use super::sets::{DataSet, Origin};
use crate::Global;
use crate::failure::Failure;
use crate::plan::{Order, Split};

/// Parameters by name.
pub(super) type Changes = Vec<(String, Value)>;

/// A learner of the bench with the parameters it was given.
struct Contender {
    name: String,
    changed: Changes,
    grid: Option<Axes>,
}

/// One row of the table.
pub(super) struct Series {
    pub(super) data: DataId,
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
    stream: StreamOptions,
    split_seed: Option<u64>,
}

impl Comparison {
    /// Checks all choices before any work is done.
    pub(super) fn new(choices: &Choices, global: &Global) -> Result<Self, Failure> {
        let contenders = contenders(choices)?;
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
        let found: Result<Vec<Origin>, Failure> = choices
            .data
            .iter()
            .map(|named| Origin::find(named, scale))
            .collect();
        for origin in found? {
            let set = DataSet::new(origin, &streams, searched, global)?;
            if comparison.sets.iter().all(|known| known.id != set.id) {
                comparison.sets.push(set);
            }
        }
        comparison.series = comparison.rows(&orders, &contenders, choices);
        Ok(comparison)
    }

    /// Every choice with every other, protocols of one learner side by side.
    fn rows(&self, orders: &[Order], contenders: &[Contender], choices: &Choices) -> Vec<Series> {
        let protocols = or_default(&choices.protocol, ProtocolName::Paper);
        let mut rows = Vec::new();
        for (set, &order) in pairs(&self.sets, orders) {
            for (contender, &protocol) in pairs(contenders, &protocols) {
                rows.push(Series {
                    data: set.id.clone(),
                    order: order.into(),
                    learner: contender.name.clone(),
                    protocol: protocol.into(),
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

/// The learners with their parameters, every value and every combination of a grid checked.
fn contenders(choices: &Choices) -> Result<Vec<Contender>, Failure> {
    let names = names(&choices.learner)?;
    let parse = |flag: &'static str| {
        let names = &names;
        move |text: &String| Assignment::parse(flag, text, names)
    };
    let set = choices.set.iter().map(parse("--set"));
    let set: Vec<Assignment> = set.collect::<Result<_, _>>()?;
    let own = choices.grid.iter().filter(|text| !text.is_empty());
    let own: Vec<Assignment> = own.map(parse("--grid")).collect::<Result<_, _>>()?;
    let built_in = choices.grid.iter().any(String::is_empty);
    let mut all = Vec::new();
    for name in &names {
        let contender = Contender {
            name: name.clone(),
            changed: changed(name, &set),
            grid: axes(name, &own, built_in),
        };
        let grid = contender.grid.as_deref().unwrap_or(&[]);
        for combination in combinations(grid) {
            let mut changed = contender.changed.clone();
            changed.extend(combination);
            check(name, &changed)?;
        }
        all.push(contender);
    }
    Ok(all)
}

fn check(name: &str, changed: &[(String, Value)]) -> Result<(), Failure> {
    let built = registry::complete(name, changed).and_then(|all| registry::build(name, all));
    match built {
        Ok(_) => Ok(()),
        Err(error @ LearnError::Parameter { .. }) => {
            Err(Failure::input(format!("{name}: {error}.")))
        }
        Err(error) => Err(error.into()),
    }
}

fn names(wanted: &[String]) -> Result<Vec<String>, Failure> {
    if wanted.is_empty() {
        return Err(Failure::input(
            "no learner to compare. Name some with --learner (`treering bench --list` has them, `all` takes all), or with the key \
             learner of a config file",
        ));
    }
    let mut names: Vec<String> = Vec::new();
    for name in wanted {
        let these: Vec<String> = match name.as_str() {
            "all" => {
                let all = registry::LEARNERS.iter();
                all.map(|entry| entry.name.to_owned()).collect()
            }
            _ => {
                registry::entry(name)?;
                vec![name.clone()]
            }
        };
        for name in these {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}
