//! The learners of a bench with their parameters, every value and every combination of a grid checked.

use std::collections::HashSet;

use serde_json::Value;
use treering_eval::runs::grid::{Axes, combinations};
use treering_learn::{LearnError, registry};

use super::assign::{About, Assignment, Parsed, Place, axes, changed, check_once};
use super::choices::Choices;
use crate::failure::Failure;

/// Parameters by name.
pub(super) type Changes = Vec<(String, Value)>;

/// A learner of the bench with the parameters it was given.
#[derive(Clone, PartialEq)]
pub(super) struct Contender {
    pub(super) name: String,
    pub(super) changed: Changes,
    pub(super) grid: Option<Axes>,
}

/// The learners, and what their user should know.
pub(super) fn contenders(choices: &Choices) -> Result<(Vec<Contender>, Vec<String>), Failure> {
    let names = names(&choices.learner)?;
    let built_in_grid = choices.grid.iter().any(|(_, text)| text.is_empty());
    let plain = names.into_iter().map(|name| Wanted {
        name,
        unless_said: Changes::new(),
        decided: Changes::new(),
        built_in_grid,
    });
    let (all, mut notes) = with_changes(choices, &plain.collect::<Vec<_>>())?;
    notes.extend(unsearched(&all).filter(|_| built_in_grid));
    Ok((all, notes))
}

/// A learner that something is decided for.
pub(super) struct Wanted {
    pub(super) name: String,
    /// Parameters, unless the user says otherwise.
    pub(super) unless_said: Changes,
    /// Parameters, whatever the user says.
    pub(super) decided: Changes,
    pub(super) built_in_grid: bool,
}

impl Wanted {
    fn joined(&self, said: Changes) -> Changes {
        let mut all: Changes = Vec::new();
        let each = self.unless_said.iter().cloned();
        for (key, value) in each.chain(said).chain(self.decided.clone()) {
            all.retain(|(known, _)| *known != key);
            all.push((key, value));
        }
        // What a row is made of may be the default, and then it is the same row as the learner itself.
        all.retain(|(key, value)| !self.decides(key) || !self.is_default(key, value));
        all
    }

    fn decides(&self, key: &str) -> bool {
        self.decided.iter().any(|(known, _)| known == key)
    }

    fn is_default(&self, key: &str, value: &Value) -> bool {
        let with = registry::complete(&self.name, &[(key.to_owned(), value.clone())]);
        let without = registry::defaults(&self.name);
        matches!((with, without), (Ok(with), Ok(without)) if with == without)
    }
}

/// Learners with what is decided for them and what the user says; and what the user should know.
pub(super) fn with_changes(
    choices: &Choices,
    wanted: &[Wanted],
) -> Result<(Vec<Contender>, Vec<String>), Failure> {
    let mut names: Vec<String> = wanted.iter().map(|one| one.name.clone()).collect();
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    let mut notes = Vec::new();
    let mut parse = |about: About, texts: &[(Place, String)]| {
        let mut taken = Vec::new();
        for (place, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
            match Assignment::parse(about, place, text, &names)? {
                Parsed::Taken(one) => taken.push(one),
                Parsed::Idle(learner) => {
                    let note = format!(
                        "{learner} is not part of this bench; what the config file says about it is left out"
                    );
                    if !notes.contains(&note) {
                        notes.push(note);
                    }
                }
            }
        }
        Ok::<_, Failure>(taken)
    };
    let set = parse(About::Set, &choices.set)?;
    let own = parse(About::Grid, &choices.grid)?;
    check_once(&own)?;
    let mut all = Vec::new();
    for one in wanted {
        let contender = Contender {
            name: one.name.clone(),
            changed: one.joined(changed(&one.name, &set)),
            grid: axes(&one.name, &own, one.built_in_grid),
        };
        contender.check(&set, &own)?;
        all.push(contender);
    }
    Ok((all, notes))
}

/// Names the learners that a grid was asked for and that have none.
fn unsearched(all: &[Contender]) -> Option<String> {
    let without = all.iter().filter(|one| one.grid.is_none());
    let names: Vec<&str> = without.map(|one| one.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "there is no built-in grid for {}; nothing is searched there",
            names.join(", ")
        )
    })
}

impl Contender {
    fn check(&self, set: &[Assignment], own: &[Assignment]) -> Result<(), Failure> {
        let grid = self.grid.as_deref().unwrap_or(&[]);
        let both = |(key, _): &&(String, Value)| grid.iter().any(|(searched, _)| searched == key);
        if let Some((key, value)) = self.changed.iter().find(both) {
            return Err(Failure::input(format!(
                "{name}.{key} is set to {value} and searched by the grid too. Leave out one of the two",
                name = self.name
            )));
        }
        for combination in combinations(grid) {
            let mut changed = self.changed.clone();
            changed.extend(combination);
            let built = registry::complete(&self.name, &changed)
                .and_then(|all| registry::build(&self.name, all));
            if let Err(error) = built {
                return Err(self.failure(error, &[set, own]));
            }
        }
        Ok(())
    }

    /// Tells which learner has the wrong parameter, and which file says so.
    fn failure(&self, error: LearnError, said: &[&[Assignment]]) -> Failure {
        let (key, told) = match &error {
            LearnError::Parameter {
                name,
                value,
                allowed,
            } => {
                let value = short(value);
                let told = format!("{}: {name} is {value}; it has to be {allowed}.", self.name);
                ((*name).to_owned(), told)
            }
            LearnError::Value { name, .. } | LearnError::NoSuchParameter { name, .. } => {
                (name.clone(), crate::failure::sentence(&error))
            }
            _ => return error.into(),
        };
        let find = |all: &&[Assignment]| {
            Assignment::file_of(all, &self.name, &key).map(|file| format!("{file}: {told}"))
        };
        Failure::input(said.iter().find_map(find).unwrap_or(told))
    }
}

/// A number that takes hundreds of digits, with an exponent instead.
fn short(number: &str) -> String {
    const LONG: usize = 20;
    match number.parse::<f64>() {
        Ok(value) if number.len() > LONG => format!("{value:e}"),
        _ => number.to_owned(),
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
            file if file.ends_with(".toml") => return Err(misplaced("--learner", file)),
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

/// A config file that a flag with many values has taken for one of them.
pub(super) fn misplaced(flag: &str, file: &str) -> Failure {
    Failure::input(format!(
        "{flag} {file}: a config file comes right after `bench`, before all flags: treering bench {file} ..."
    ))
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn long_numbers_get_an_exponent() {
        assert_eq!(short(&1e300.to_string()), "1e300");
        assert_eq!(short(&1e-300.to_string()), "1e-300");
        assert_eq!(short("-1"), "-1");
        assert_eq!(short("0.005"), "0.005");
    }
}
