//! What a bench compares: flags, and what a config file says where they say nothing.

use std::convert::Infallible;
use std::path::PathBuf;

use clap::builder::RangedI64ValueParser;
use clap::{Args, ValueEnum};
use treering_eval::Protocol;
use treering_learn::treering;

use super::assign::Place;
use super::presets;
use super::protocols::ProtocolParser;
use crate::failure::Failure;
use crate::model::RouterKind;
use crate::plan::{Order, Split};

/// The most that a flag or a key of the config file takes.
pub(super) const MOST_SEEDS: u64 = 1_000_000;
pub(super) const MOST_CLASSES: u64 = 1_000_000;
pub(super) const MOST_AT_ONCE: u64 = 1024;

/// What a bench compares. Each is a flag, and a key of the config file.
#[derive(Args, Default)]
pub(crate) struct Choices {
    /// Files or folders, names of built-in data, or names of files in the folder that the variable TREERING_DATA names (cora for
    /// cora.npz).
    #[arg(long, value_name = "PATH-OR-NAME", num_args = 1..)]
    pub(super) data: Vec<String>,
    /// How large to make built-in data, as a share of its full size [default: 1].
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(super) scale: Option<f64>,
    /// Learners by name (`treering bench --list`), with +tp for task prediction on top; `all` for all of them.
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    pub(super) learner: Vec<String>,
    /// What learners are shown [default: paper].
    #[arg(long, value_name = "NAME", value_parser = ProtocolParser, num_args = 1.., value_delimiter = ',')]
    pub(super) protocol: Vec<Protocol>,
    /// The orders in which classes arrive [default: ascending].
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',')]
    pub(super) order: Vec<Order>,
    /// Tables and figures of the paper by name; they decide on learners, protocols and orders. Data is by default what TREERING_DATA has of the paper's.
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(presets::names()))]
    pub(super) preset: Vec<String>,
    /// Runs of everything: seeds 0 to N - 1, for learner, order and split alike [default: 5].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = RangedI64ValueParser::<u64>::new().range(1..=MOST_SEEDS as i64))]
    pub(super) seeds: Option<u64>,
    /// Seed of the split in all runs, as the benchmark has it [default: the run's seed].
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    pub(super) split_seed: Option<u64>,
    /// Draw train, validation and test per class, or take the data set's own [default: random].
    #[arg(long, value_enum)]
    pub(super) split: Option<Split>,
    /// How many classes make a task [default: 2].
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = RangedI64ValueParser::<usize>::new().range(1..=MOST_CLASSES as i64))]
    pub(super) classes_per_task: Option<usize>,
    /// A learner's parameter, for it and for it with +tp; as often as needed.
    #[arg(long, value_name = "LEARNER.KEY=VALUE", value_parser = flagged)]
    pub(super) set: Vec<(Place, String)>,
    /// How the learner treering recognises tasks [default: ridge]; the same as --set treering.router=NAME.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(super) router: Option<RouterKind>,
    /// Choose parameters on validation nodes first: from the built-in grids, or from the values given; as often as needed.
    #[arg(long, value_name = "LEARNER.KEY=V1,V2,...", num_args = 0..=1, default_missing_value = "", value_parser = flagged)]
    pub(super) grid: Vec<(Place, String)>,
    /// Processes at once [default: every core, or --threads]. Each gets its share of the threads.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=MOST_AT_ONCE as i64))]
    pub(super) jobs: Option<u16>,
    /// The folder of results [default: treering-bench].
    #[arg(long, short, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Do runs again that failed.
    #[arg(long)]
    pub(super) retry_failed: bool,
    /// Compute nothing: tables and results of the runs that are there, with fewer seeds where some are missing.
    #[arg(long)]
    pub(super) finished: bool,
    /// Print the table as JSON, a line a row.
    #[arg(long)]
    pub(super) json: bool,
    /// As the flag that all commands have.
    #[arg(skip)]
    pub(super) threads: Option<u16>,
    /// As the flag that all commands have.
    #[arg(skip)]
    pub(super) memory: Option<u64>,
}

impl Choices {
    /// Refuses choices that contradict each other.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match unfinished(self) {
            None => Ok(()),
            Some(other) => Err(Failure::input(format!(
                "finished computes nothing, and {other} asks for runs. Leave one of them out"
            ))),
        }
    }

    /// Writes the router down as the parameter that it is.
    pub(super) fn spell_out(&mut self) {
        if let Some(name) = self.router.take().and_then(|kind| kind.to_possible_value()) {
            let text = format!("{}.router={}", treering::LEARNER, name.get_name());
            self.set.push((Place::Flag, text));
        }
    }

    /// What flags say, and what the file says where they say nothing. Parameters of both count; a flag's goes last.
    pub(super) fn or(self, file: Choices) -> Choices {
        fn list<T>(flags: Vec<T>, file: Vec<T>) -> Vec<T> {
            if flags.is_empty() { file } else { flags }
        }
        Choices {
            data: list(self.data, file.data),
            scale: self.scale.or(file.scale),
            learner: list(self.learner, file.learner),
            protocol: list(self.protocol, file.protocol),
            order: list(self.order, file.order),
            preset: list(self.preset, file.preset),
            seeds: self.seeds.or(file.seeds),
            split_seed: self.split_seed.or(file.split_seed),
            split: self.split.or(file.split),
            classes_per_task: self.classes_per_task.or(file.classes_per_task),
            set: file.set.into_iter().chain(self.set).collect(),
            router: self.router.or(file.router),
            grid: list(self.grid, file.grid),
            jobs: self.jobs.or(file.jobs),
            out: self.out.or(file.out),
            retry_failed: self.retry_failed || file.retry_failed,
            finished: self.finished || file.finished,
            json: self.json || file.json,
            threads: file.threads,
            memory: file.memory,
        }
    }
}

/// Refuses to compute nothing and something at once, whether flags or the file say so.
fn unfinished(choices: &Choices) -> Option<&'static str> {
    let searches = presets::chosen(&choices.preset).iter().any(|one| one.grid);
    match () {
        _ if !choices.finished => None,
        _ if choices.retry_failed => Some("retry-failed"),
        _ if !choices.grid.is_empty() => Some("grid"),
        _ if searches => Some("the preset grids"),
        _ => None,
    }
}

fn flagged(text: &str) -> Result<(Place, String), Infallible> {
    Ok((Place::Flag, text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_go_before_the_file_and_parameters_add_up() {
        let told = |place: Place, text: &str| (place, text.to_owned());
        let file = Choices {
            learner: vec!["ewc".into()],
            seeds: Some(3),
            jobs: Some(1),
            set: vec![told(Place::File("x.toml".into()), "ewc.rate=1")],
            ..Choices::default()
        };
        let flags = Choices {
            seeds: Some(2),
            set: vec![told(Place::Flag, "ewc.rate=2")],
            ..Choices::default()
        };
        let both = flags.or(file);
        assert_eq!((both.seeds, both.jobs), (Some(2), Some(1)));
        assert_eq!(both.learner, ["ewc"]);
        let texts: Vec<&str> = both.set.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["ewc.rate=1", "ewc.rate=2"]);
    }
}
