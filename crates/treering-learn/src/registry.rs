//! All learners by name, with their parameters as JSON: what flags, config files and run records speak.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use treering_data::nearest;

use crate::baselines::{
    cat, delome, ergnn, ewc, finetune, gem, joint, lwf, mas, oodcil, sem, ssm, task_specific, twp,
};
use crate::plus_tp::{self, PlusTp, SUFFIX};
use crate::tpp::{self, Tpp, TppParameters};
use crate::treering::{self, Treering};
use crate::{LearnError, Learner};

/// Parameters by name; a group of them is a map in the map.
pub type Settings = Map<String, Value>;

/// A learner that can be asked for by name.
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Whether it keeps rows of old tasks, or rows made from them, to train on.
    pub replays: bool,
    /// Counts up whenever the method or its defaults change, so that results of different revisions are told apart.
    pub revision: u32,
    defaults: fn() -> Settings,
    read: fn(Settings) -> Result<(), String>,
    build: fn(Settings) -> Result<Box<dyn Learner>, LearnError>,
}

/// A learner from the parts that every method's folder has.
macro_rules! entry {
    ($name:expr, $replays:expr, $revision:expr, $parameters:ty, $make:expr, $summary:expr) => {
        Entry {
            name: $name,
            summary: $summary,
            replays: $replays,
            revision: $revision,
            defaults: || settings(&<$parameters>::default()),
            read: |settings| parsed::<$parameters>(settings).map(drop),
            build: |settings| {
                let learner =
                    $make(parsed::<$parameters>(settings).map_err(|e| unreadable($name, e))?)?;
                Ok(Box::new(learner))
            },
        }
    };
    ($name:expr, $replays:expr, $method:ident, $summary:expr) => {
        entry!(
            $name,
            $replays,
            $method::REVISION,
            $method::Parameters,
            $method::learner,
            $summary
        )
    };
}

/// Every learner, in the order of the paper's table.
#[rustfmt::skip]
pub static LEARNERS: &[Entry] = &[
    entry!("finetune", false, finetune, "goes on training one network; the lower bound"),
    entry!("joint", true, joint, "trains on all tasks together; a reference, not a competitor"),
    entry!("task-specific", false, task_specific, "a network of its own for every task, chosen by prototypes"),
    entry!("ewc", false, ewc, "pulls weights back to where old tasks left them, by the steepness of their losses"),
    entry!("mas", false, mas, "pulls weights back to where they were, by how much they move the outputs"),
    entry!("gem", true, gem, "turns every step so that it does not harm stored rows of old tasks"),
    entry!("lwf", false, lwf, "keeps the outputs for old classes as they were on the new task's rows"),
    entry!("twp", false, twp, "as ewc, and by how much weights move the attention between neighbours"),
    entry!("ergnn", true, ergnn, "replays single nodes without their edges"),
    entry!("ssm-uniform", true, ssm::REVISION, ssm::Parameters, ssm::uniform, "replays nodes in a thinned neighbourhood, drawn uniformly"),
    entry!("ssm-degree", true, ssm::REVISION, ssm::DegreeParameters, ssm::degree, "replays nodes in a thinned neighbourhood, drawn by degree"),
    entry!("sem", true, sem, "replays nodes in a thinned neighbourhood, chosen by curvature"),
    entry!("cat", true, cat, "trains on condensed tasks alone, matched in the means of random embeddings"),
    entry!("delome", true, delome, "replays condensed tasks, matched in gradients, with a debiased loss"),
    entry!("oodcil", true, oodcil, "one network a task that also knows what is not its own"),
    entry!(tpp::LEARNER, false, 1, TppParameters, Tpp::new, "task profiling and prompting, the paper's method"),
    entry!(treering::LEARNER, false, treering::REVISION, treering::Parameters, Treering::new, "our own: sums and heads in closed form, for single nodes too"),
];

fn settings<P: Serialize>(parameters: &P) -> Settings {
    match serde_json::to_value(parameters) {
        Ok(Value::Object(settings)) => settings,
        _ => unreachable!("parameters are structs"),
    }
}

fn parsed<P: DeserializeOwned>(settings: Settings) -> Result<P, String> {
    serde_json::from_value(Value::Object(settings)).map_err(|error| error.to_string())
}

/// Parameters that did not come from [`complete`], which finds out which of them is wrong.
fn unreadable(learner: &str, reason: String) -> LearnError {
    LearnError::Value {
        learner: learner.to_owned(),
        name: "parameters".to_owned(),
        value: "unreadable".to_owned(),
        reason,
    }
}

/// Whether a learner can read its defaults with one parameter changed.
fn readable(name: &str, key: &str, value: &Value) -> Result<(), String> {
    let mut plus = settings(&plus_tp::Parameters::default());
    let Ok(entry) = entry(name) else {
        return Ok(());
    };
    let mut own = (entry.defaults)();
    if let Some(place) = find(&mut own, key) {
        *place = value.clone();
        return (entry.read)(own);
    }
    if let Some(place) = find(&mut plus, key) {
        *place = value.clone();
    }
    parsed::<plus_tp::Parameters>(plus).map(drop)
}

/// Finds a learner by its name, with or without `+tp`.
///
/// # Errors
/// A name that no learner has.
pub fn entry(name: &str) -> Result<&'static Entry, LearnError> {
    let host = name.strip_suffix(SUFFIX).unwrap_or(name);
    LEARNERS
        .iter()
        .find(|entry| entry.name == host)
        .ok_or_else(|| LearnError::NoSuchLearner {
            name: name.to_owned(),
            hint: hint(host, LEARNERS.iter().map(|entry| entry.name)),
        })
}

fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let near = nearest(name, known.clone());
    match near.is_empty() {
        true => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
        false => format!("did you mean {}?", near.join(" or ")),
    }
}

/// All parameters of a learner with their defaults.
///
/// # Errors
/// A name that no learner has.
pub fn defaults(name: &str) -> Result<Settings, LearnError> {
    let mut all = (entry(name)?.defaults)();
    if name.ends_with(SUFFIX) {
        all.extend(settings(&plus_tp::Parameters::default()));
    }
    Ok(all)
}

/// A learner's parameters with some of them changed. Keys of groups are written with dots: `adam.rate`.
///
/// # Errors
/// A learner or parameter that does not exist, a value of another kind.
pub fn complete(name: &str, changed: &[(String, Value)]) -> Result<Settings, LearnError> {
    let mut all = defaults(name)?;
    let known = keys(&all, "");
    for (key, value) in changed {
        let Some(place) = find(&mut all, key) else {
            return Err(LearnError::NoSuchParameter {
                learner: name.to_owned(),
                name: key.clone(),
                hint: hint(key, known.iter().map(String::as_str)),
            });
        };
        let wrong = |reason| LearnError::Value {
            learner: name.to_owned(),
            name: key.clone(),
            value: value.to_string(),
            reason,
        };
        *place = fitting(place, value).map_err(wrong)?;
        readable(name, key, place).map_err(wrong)?;
    }
    Ok(all)
}

/// Every key, with dots.
pub fn keys(settings: &Settings, before: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in settings {
        let key = format!("{before}{key}");
        match value {
            Value::Object(inner) => found.extend(keys(inner, &format!("{key}."))),
            _ => found.push(key),
        }
    }
    found
}

fn find<'a>(settings: &'a mut Settings, key: &str) -> Option<&'a mut Value> {
    match key.split_once('.') {
        None => settings.get_mut(key).filter(|value| !value.is_object()),
        Some((group, rest)) => find(settings.get_mut(group)?.as_object_mut()?, rest),
    }
}

/// The new value in the kind of the old one.
fn fitting(old: &Value, new: &Value) -> Result<Value, String> {
    let fits = match old {
        Value::Bool(_) => new.is_boolean(),
        Value::Number(number) if number.is_f64() => new.is_number(),
        Value::Number(_) => new.is_u64(),
        Value::String(_) => new.is_string(),
        _ => true,
    };
    let wanted = match old {
        Value::Bool(_) => "it has to be true or false",
        Value::Number(number) if number.is_f64() => "it has to be a number",
        Value::Number(_) => "it has to be a whole number from 0 on",
        Value::String(_) => "it has to be a word",
        _ => "it has another kind",
    };
    match (fits, old, new.as_f64()) {
        (false, _, _) => Err(wanted.to_owned()),
        // 1 and 1.0 are the same parameter, and shall be the same in a record.
        (_, Value::Number(number), Some(value)) if number.is_f64() => Ok(value.into()),
        _ => Ok(new.clone()),
    }
}

/// A learner that has learned nothing, with all parameters given.
///
/// # Errors
/// A learner that does not exist, a parameter outside its range.
pub fn build(name: &str, mut settings: Settings) -> Result<Box<dyn Learner>, LearnError> {
    let entry = entry(name)?;
    if !name.ends_with(SUFFIX) {
        return (entry.build)(settings);
    }
    let mut own = Settings::new();
    let names: Vec<String> = settings
        .keys()
        .filter(|key| key.starts_with("tp-"))
        .cloned()
        .collect();
    for key in names {
        if let Some(value) = settings.remove(&key) {
            own.insert(key, value);
        }
    }
    let seed = settings.get("seed").and_then(Value::as_u64).unwrap_or(0);
    let host = (entry.build)(settings)?;
    let own = parsed(own).map_err(|reason| unreadable(name, reason))?;
    Ok(Box::new(PlusTp::new(host, seed, &own)?))
}
