//! `learner.key=value`, and what of it concerns a learner.

use serde_json::Value;
use treering_eval::runs::grid::{self, Axes};
use treering_learn::plus_tp::SUFFIX;
use treering_learn::registry;

use crate::failure::Failure;

/// Where something was said, for messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// As a flag.
    Flag,
    /// In the config file of this name.
    File(String),
}

/// What can be said about a learner's parameter.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum About {
    /// Its value.
    Set,
    /// The values to choose from.
    Grid,
}

impl About {
    fn key(self) -> &'static str {
        match self {
            About::Set => "set",
            About::Grid => "grid",
        }
    }

    fn form(self) -> &'static str {
        match self {
            About::Set => "LEARNER.KEY=VALUE, such as finetune.epochs=100",
            About::Grid => "LEARNER.KEY=V1,V2,..., such as ewc.lambda=1,100",
        }
    }
}

/// One `learner.key=...` with the text after the sign.
#[derive(Debug)]
pub(super) struct Assignment {
    learner: String,
    key: String,
    text: String,
    place: Place,
}

/// What became of a text.
#[derive(Debug)]
pub(super) enum Parsed {
    /// It counts.
    Taken(Assignment),
    /// It is about a learner that the bench does not have.
    Idle(String),
}

impl Assignment {
    /// Takes a text apart, and refuses what no learner of the bench can use. A config file may serve several benches, so what it says about
    /// learners of others is no mistake.
    pub(super) fn parse(
        about: About,
        place: &Place,
        text: &str,
        learners: &[String],
    ) -> Result<Parsed, Failure> {
        let wrong = |why: String| {
            Failure::input(match place {
                Place::Flag => format!("--{} {text}: {why}", about.key()),
                Place::File(file) => format!("{file}, {} {text}: {why}", about.key()),
            })
        };
        let parts = text
            .split_once('=')
            .and_then(|(left, value)| Some((left.split_once('.')?, value)));
        let Some(((learner, key), value)) = parts.filter(|(_, value)| !value.is_empty()) else {
            let hint = match text.ends_with(".toml") {
                true => "; a config file comes right after `bench`",
                false => "",
            };
            return Err(wrong(format!("it has to be {}{hint}", about.form())));
        };
        registry::entry(learner).map_err(|error| wrong(error.to_string()))?;
        if !learners.iter().any(|name| concerns(learner, name)) {
            return match place {
                Place::File(_) => Ok(Parsed::Idle(learner.to_owned())),
                Place::Flag => Err(wrong(format!(
                    "{learner} is not part of this bench, which has {}. Add --learner {learner}, or leave this out",
                    learners.join(", ")
                ))),
            };
        }
        if key == "seed" {
            return Err(wrong(
                "the seed of a run comes from --seeds. Leave this out".into(),
            ));
        }
        Ok(Parsed::Taken(Assignment {
            learner: learner.to_owned(),
            key: key.to_owned(),
            text: value.to_owned(),
            place: place.clone(),
        }))
    }

    /// The config file that says it about a learner's key, if one does.
    pub(super) fn file_of<'a>(all: &'a [Assignment], learner: &str, key: &str) -> Option<&'a str> {
        let said = |one: &&Assignment| concerns(&one.learner, learner) && one.key == key;
        match &all.iter().rfind(said)?.place {
            Place::Flag => None,
            Place::File(file) => Some(file),
        }
    }
}

/// Whether what is said about `named` holds for `learner`: for itself, and for itself with task prediction.
fn concerns(named: &str, learner: &str) -> bool {
    named == learner || learner.strip_suffix(SUFFIX) == Some(named)
}

/// What is said about a learner. What is said about it with +tp goes after what is said about the host.
fn said<'a>(learner: &'a str, all: &'a [Assignment]) -> impl Iterator<Item = &'a Assignment> {
    let of = move |exact: bool| {
        all.iter()
            .filter(move |one| concerns(&one.learner, learner) && (one.learner == learner) == exact)
    };
    of(false).chain(of(true))
}

/// The parameters that are changed for a learner.
pub(super) fn changed(learner: &str, all: &[Assignment]) -> Vec<(String, Value)> {
    let change = |one: &Assignment| (one.key.clone(), value(&one.text));
    said(learner, all).map(change).collect()
}

/// Refuses a parameter with two lists of values.
pub(super) fn check_once(grids: &[Assignment]) -> Result<(), Failure> {
    for (place, one) in grids.iter().enumerate() {
        let same = |other: &Assignment| (&other.learner, &other.key) == (&one.learner, &one.key);
        if grids[..place].iter().any(same) {
            let (learner, key) = (&one.learner, &one.key);
            return Err(Failure::input(format!(
                "the grid has {learner}.{key} twice; give all its values in one list: {learner}.{key}=V1,V2,..."
            )));
        }
    }
    Ok(())
}

/// The grid of a learner: its own if there is one, else the built-in one where those are asked for.
pub(super) fn axes(learner: &str, all: &[Assignment], built_in: bool) -> Option<Axes> {
    let mut own: Axes = Vec::new();
    for one in said(learner, all) {
        let values = distinct(one.text.split(',').map(value));
        match own.iter_mut().find(|(key, _)| *key == one.key) {
            Some(axis) => axis.1 = values,
            None => own.push((one.key.clone(), values)),
        }
    }
    match own.is_empty() {
        true => grid::of(learner).filter(|_| built_in),
        false => Some(own),
    }
}

/// Every value once: a repeat would only be computed, and win, as its first.
fn distinct(values: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for value in values {
        let same = |known: &Value| match (known.as_f64(), value.as_f64()) {
            (Some(known), Some(value)) => known == value,
            _ => *known == value,
        };
        if !all.iter().any(same) {
            all.push(value);
        }
    }
    all
}

/// A number, true, false or a word.
fn value(text: &str) -> Value {
    let text = text.trim();
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(about: About, texts: &[&str]) -> Vec<Assignment> {
        let learners = ["finetune".to_owned(), "finetune+tp".to_owned()];
        let parse = |text: &&str| match Assignment::parse(about, &Place::Flag, text, &learners) {
            Ok(Parsed::Taken(one)) => Some(one),
            _ => None,
        };
        texts.iter().filter_map(parse).collect()
    }

    #[test]
    fn what_is_said_about_a_host_holds_with_task_prediction_too() {
        let texts = [
            "finetune+tp.epochs=3",
            "finetune.epochs=2",
            "finetune.balanced=false",
        ];
        let all = parsed(About::Set, &texts);
        assert_eq!(all.len(), 3);
        let host = [("epochs", Value::from(2)), ("balanced", false.into())];
        let host = host.map(|(key, value)| (key.to_owned(), value));
        assert_eq!(changed("finetune", &all), host);
        let both = changed("finetune+tp", &all);
        assert_eq!(both[..2], host);
        assert_eq!(both[2], ("epochs".to_owned(), 3.into()));
    }

    #[test]
    fn ones_own_grid_goes_before_the_built_in_one() {
        let texts = [
            "finetune.rate=0.1,1,1.0,0.1",
            "finetune.balanced=true,false",
        ];
        let all = parsed(About::Grid, &texts);
        let axes = axes("finetune+tp", &all, true).unwrap();
        assert_eq!(axes[0].1, [Value::from(0.1), Value::from(1)]);
        assert_eq!(axes[1].1, [Value::from(true), Value::from(false)]);
        assert_eq!(super::axes("finetune", &[], true), None);
        assert_eq!(super::axes("gem", &[], false), None);
        assert_eq!(super::axes("gem", &[], true), grid::of("gem"));
    }

    #[test]
    fn a_grid_has_a_parameter_once_for_a_learner() {
        let twice = parsed(About::Grid, &["finetune.rate=1", "finetune.rate=2"]);
        assert!(check_once(&twice).is_err());
        let apart = parsed(About::Grid, &["finetune+tp.rate=1", "finetune.rate=2"]);
        assert!(check_once(&apart).is_ok());
        let values = |learner| axes(learner, &apart, false).unwrap()[0].1.clone();
        assert_eq!(values("finetune"), [Value::from(2)]);
        assert_eq!(values("finetune+tp"), [Value::from(1)]);
    }

    #[test]
    fn a_file_may_speak_of_learners_that_are_not_there_and_a_flag_may_not() {
        let learners = ["finetune".to_owned()];
        let parse = |place| Assignment::parse(About::Set, &place, "ewc.rate=1", &learners);
        let file = parse(Place::File("x.toml".into()));
        assert!(matches!(file, Ok(Parsed::Idle(name)) if name == "ewc"));
        assert!(parse(Place::Flag).is_err());
    }
}
