//! What a bench compares: flags, and a file with keys of the same names.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use treering_eval::Protocol;

use crate::failure::Failure;
use crate::plan::{Order, Split};

/// What a bench compares. Each is a flag, and a key of the config file.
#[derive(Args, Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Choices {
    /// Files or folders, names of built-in data, or names of files in the folder that the variable TREERING_DATA names (cora for
    /// cora.npz).
    #[arg(long, value_name = "PATH-OR-NAME", num_args = 1..)]
    #[serde(deserialize_with = "one_or_many")]
    pub(super) data: Vec<String>,
    /// How large to make built-in data, as a share of its full size [default: 1].
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(super) scale: Option<f64>,
    /// Learners by name (`treering bench --list`), with +tp for task prediction on top; `all` for all of them.
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',')]
    #[serde(deserialize_with = "one_or_many")]
    pub(super) learner: Vec<String>,
    /// What learners are shown at the test [default: paper].
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',')]
    #[serde(deserialize_with = "one_or_many")]
    pub(super) protocol: Vec<ProtocolName>,
    /// The orders in which classes arrive [default: ascending].
    #[arg(long, value_enum, num_args = 1.., value_delimiter = ',')]
    #[serde(deserialize_with = "one_or_many")]
    pub(super) order: Vec<Order>,
    /// Runs of everything: seeds 0 to N - 1, for learner, order and split alike [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(super) seeds: Option<u64>,
    /// Seed of the split in all runs, as the benchmark has it [default: the run's seed].
    #[arg(long, value_name = "SEED")]
    pub(super) split_seed: Option<u64>,
    /// Draw train, validation and test per class, or take the data set's own [default: random].
    #[arg(long, value_enum)]
    pub(super) split: Option<Split>,
    /// How many classes make a task [default: 2].
    #[arg(long, value_name = "K")]
    pub(super) classes_per_task: Option<usize>,
    /// A learner's parameter, for it and for it with +tp; as often as needed.
    #[arg(long, value_name = "LEARNER.KEY=VALUE")]
    #[serde(deserialize_with = "assignments")]
    pub(super) set: Vec<String>,
    /// Choose parameters on validation nodes first: from the built-in grids, or from the values given; as often as needed.
    #[arg(long, value_name = "LEARNER.KEY=V1,V2,...", num_args = 0..=1, default_missing_value = "")]
    #[serde(deserialize_with = "assignments")]
    pub(super) grid: Vec<String>,
    /// Processes at once [default: every core, or --threads]. Each gets its share of the threads.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    /// The folder of results [default: treering-bench].
    #[arg(long, short, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Do runs again that failed.
    #[arg(long)]
    pub(super) retry_failed: bool,
    /// Print the table as JSON, a line a row.
    #[arg(long)]
    pub(super) json: bool,
    /// As the flag that all commands have.
    #[arg(skip)]
    pub(super) threads: Option<u16>,
    /// As the flag that all commands have.
    #[arg(skip)]
    pub(super) memory: Option<String>,
}

/// What learners are shown at the test.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ProtocolName {
    /// A task's test nodes come together, and nobody says which task it is.
    Paper,
    /// Every test node comes alone.
    Single,
    /// The task of every test node is given.
    Oracle,
}

impl From<ProtocolName> for Protocol {
    fn from(name: ProtocolName) -> Self {
        match name {
            ProtocolName::Paper => Protocol::Paper,
            ProtocolName::Single => Protocol::Single,
            ProtocolName::Oracle => Protocol::Oracle,
        }
    }
}

impl Choices {
    /// Reads a config file.
    pub(super) fn read(file: &Path) -> Result<Self, Failure> {
        let fail = |error: &dyn std::fmt::Display| {
            Failure::input(format!("{}: {error}", file.display()).trim_end())
        };
        let text = std::fs::read_to_string(file).map_err(|error| fail(&error))?;
        toml::from_str(&text).map_err(|error| fail(&error))
    }

    /// Refuses numbers that a flag would not have taken.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let none = [
            ("seeds", self.seeds == Some(0)),
            ("jobs", self.jobs == Some(0)),
            ("threads", self.threads == Some(0)),
        ];
        match none.iter().find(|(_, zero)| *zero) {
            Some((name, _)) => Err(Failure::input(format!("{name} is 0; ask for 1 or more"))),
            None => Ok(()),
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
            seeds: self.seeds.or(file.seeds),
            split_seed: self.split_seed.or(file.split_seed),
            split: self.split.or(file.split),
            classes_per_task: self.classes_per_task.or(file.classes_per_task),
            set: file.set.into_iter().chain(self.set).collect(),
            grid: list(self.grid, file.grid),
            jobs: self.jobs.or(file.jobs),
            out: self.out.or(file.out),
            retry_failed: self.retry_failed || file.retry_failed,
            json: self.json || file.json,
            threads: file.threads,
            memory: file.memory,
        }
    }
}

/// A list, or one item without brackets.
fn one_or_many<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let value = Value::deserialize(from)?;
    let items = match value {
        Value::Array(items) => items,
        one => vec![one],
    };
    items
        .into_iter()
        .map(|item| serde_json::from_value(item).map_err(serde::de::Error::custom))
        .collect()
}

/// `true`, texts as the flag takes them, or a table: `ewc.lambda = 1` and `ewc = { lambda = 1 }` say the same.
fn assignments<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let mut found = Vec::new();
    match Value::deserialize(from)? {
        Value::Bool(true) => found.push(String::new()),
        Value::Bool(false) => {}
        Value::String(text) => found.push(text),
        Value::Array(items) => {
            for item in items {
                match item {
                    Value::String(text) => found.push(text),
                    other => {
                        return Err(serde::de::Error::custom(format!(
                            "{other} is not a text such as \"ewc.lambda=1\""
                        )));
                    }
                }
            }
        }
        table => flatten("", &table, &mut found),
    }
    Ok(found)
}

fn flatten(before: &str, value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let dot = if before.is_empty() { "" } else { "." };
            map.iter()
                .for_each(|(key, value)| flatten(&format!("{before}{dot}{key}"), value, into));
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            into.push(format!("{before}={}", items.join(",")));
        }
        other => into.push(format!("{before}={other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::Choices;

    #[test]
    fn tables_and_texts_say_the_same() {
        let text = "data = 'cora'\nset = ['ewc.lambda=1', 'ewc.balanced=true']\ngrid = true";
        let texts: Choices = toml::from_str(text).unwrap();
        let text = "data = ['cora']\n[set.ewc]\nlambda = 1\nbalanced = true\n[grid]\newc.lambda = [1, 0.5]";
        let tables: Choices = toml::from_str(text).unwrap();
        assert_eq!(texts.data, tables.data);
        assert_eq!(texts.set.len(), 2);
        let sorted = |mut list: Vec<String>| {
            list.sort();
            list
        };
        assert_eq!(sorted(texts.set), sorted(tables.set));
        assert_eq!(texts.grid, [""]);
        assert_eq!(tables.grid, ["ewc.lambda=1,0.5"]);
    }

    #[test]
    fn flags_go_before_the_file_and_parameters_add_up() {
        let file: Choices =
            toml::from_str("learner = 'ewc'\nseeds = 3\njobs = 1\nset = 'ewc.rate=1'").unwrap();
        let flags = Choices {
            seeds: Some(2),
            set: vec!["ewc.rate=2".into()],
            ..Choices::default()
        };
        let both = flags.or(file);
        assert_eq!((both.seeds, both.jobs), (Some(2), Some(1)));
        assert_eq!(both.learner, ["ewc"]);
        assert_eq!(both.set, ["ewc.rate=1", "ewc.rate=2"]);
    }

    #[test]
    fn a_key_that_does_not_exist_is_refused() {
        let error = toml::from_str::<Choices>("learners = 'ewc'").err().unwrap();
        assert!(error.to_string().contains("learners"), "{error}");
    }
}
