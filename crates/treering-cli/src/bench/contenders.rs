//! The learners of a bench with their parameters, every value and every combination of a grid checked.

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
    let plain = |name: &String| (name.clone(), Changes::new());
    let built_in = choices.grid.iter().any(|(_, text)| text.is_empty());
    with_changes(
        choices,
        &names.iter().map(plain).collect::<Vec<_>>(),
        built_in,
    )
}

/// Learners that some parameters are decided for, and what else the user sets.
///
/// # Arguments
/// * `built_in`: search the built-in grids.
pub(super) fn with_changes(
    choices: &Choices,
    wanted: &[(String, Changes)],
    built_in: bool,
) -> Result<(Vec<Contender>, Vec<String>), Failure> {
    let names: Vec<String> = wanted.iter().map(|(name, _)| name.clone()).collect();
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
    for (name, decided) in wanted {
        let contender = Contender {
            name: name.clone(),
            changed: joined(decided, changed(name, &set)),
            grid: axes(name, &own, built_in),
        };
        contender.check(&set, &own)?;
        all.push(contender);
    }
    notes.extend(unsearched(&all).filter(|_| built_in));
    Ok((all, notes))
}

/// What is decided, unless the user says otherwise.
fn joined(decided: &[(String, Value)], said: Changes) -> Changes {
    let mut all: Changes = decided
        .iter()
        .filter(|(key, _)| said.iter().all(|(other, _)| other != key))
        .cloned()
        .collect();
    all.extend(said);
    all
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
