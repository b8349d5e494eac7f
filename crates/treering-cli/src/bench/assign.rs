//! `learner.key=value`, and what of it concerns a learner.

use serde_json::Value;
use treering_eval::runs::grid::{self, Axes};
use treering_learn::plus_tp::SUFFIX;
use treering_learn::registry;

use crate::failure::Failure;

/// One `learner.key=...` with the text after the sign.
pub(super) struct Assignment {
    learner: String,
    key: String,
    text: String,
}

impl Assignment {
    /// Takes a flag's text apart, and refuses what no learner of the bench can use.
    pub(super) fn parse(flag: &str, text: &str, learners: &[String]) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::input(format!("{flag} {text}: {why}"));
        let parts = text
            .split_once('=')
            .and_then(|(left, value)| Some((left.split_once('.')?, value)));
        let Some(((learner, key), value)) = parts else {
            return Err(wrong(
                "it has to be LEARNER.KEY=VALUE, such as finetune.epochs=100; a config file goes before the flags".into(),
            ));
        };
        registry::entry(learner).map_err(|error| wrong(error.to_string()))?;
        if !learners.iter().any(|name| concerns(learner, name)) {
            return Err(wrong(format!(
                "{learner} is not part of this bench, which has {}. Add --learner {learner}, or leave this out",
                learners.join(", ")
            )));
        }
        if key == "seed" {
            return Err(wrong(
                "the seed of a run comes from --seeds. Leave this out".into(),
            ));
        }
        Ok(Assignment {
            learner: learner.to_owned(),
            key: key.to_owned(),
            text: value.to_owned(),
        })
    }
}

/// Whether what is said about `named` holds for `learner`: for itself, and for itself with task prediction.
fn concerns(named: &str, learner: &str) -> bool {
    named == learner || learner.strip_suffix(SUFFIX) == Some(named)
}

/// The parameters that are changed for a learner. What is said about it with +tp goes after what is said about the host.
pub(super) fn changed(learner: &str, all: &[Assignment]) -> Vec<(String, Value)> {
    let of = |exact: bool| {
        all.iter()
            .filter(move |one| concerns(&one.learner, learner) && (one.learner == learner) == exact)
            .map(|one| (one.key.clone(), value(&one.text)))
    };
    of(false).chain(of(true)).collect()
}

/// The grid of a learner: its own if there is one, else the built-in one where those are asked for.
pub(super) fn axes(learner: &str, all: &[Assignment], built_in: bool) -> Option<Axes> {
    let mut own: Axes = Vec::new();
    for one in all.iter().filter(|one| concerns(&one.learner, learner)) {
        let values = one.text.split(',').map(value).collect();
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

/// A number, true, false or a word.
fn value(text: &str) -> Value {
    let text = text.trim();
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(texts: &[&str]) -> Vec<Assignment> {
        let learners = ["finetune".to_owned(), "finetune+tp".to_owned()];
        let parse = |text: &&str| Assignment::parse("--set", text, &learners).ok();
        texts.iter().filter_map(parse).collect()
    }

    #[test]
    fn what_is_said_about_a_host_holds_with_task_prediction_too() {
        let all = parsed(&[
            "finetune+tp.epochs=3",
            "finetune.epochs=2",
            "finetune.balanced=false",
        ]);
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
        let all = parsed(&["finetune.rate=0.1,1", "finetune.balanced=true,false"]);
        let axes = axes("finetune+tp", &all, true).unwrap();
        assert_eq!(axes[0].1, [Value::from(0.1), Value::from(1)]);
        assert_eq!(axes[1].1, [Value::from(true), Value::from(false)]);
        assert_eq!(super::axes("finetune", &[], true), None);
        assert_eq!(super::axes("gem", &[], false), None);
        assert_eq!(super::axes("gem", &[], true), grid::of("gem"));
    }
}
