//! Short names for what is compared: of data, and of variants of one learner.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use treering_learn::registry::{self, Settings};

/// Parameters with dotted keys, in their order.
type Flat = Vec<(String, Value)>;

fn flat(settings: &Settings, before: &str) -> Flat {
    let mut all = Vec::new();
    for (key, value) in settings {
        let key = format!("{before}{key}");
        match value {
            Value::Object(inner) => all.extend(flat(inner, &format!("{key}."))),
            _ => all.push((key, value.clone())),
        }
    }
    all
}

/// Parameters that are not those of the registry, but for the seed. All of a learner that this program does not know.
fn unusual(learner: &str, parameters: &Settings) -> Flat {
    let usual = registry::defaults(learner).map(|all| flat(&all, ""));
    let usual: BTreeMap<String, Value> = usual.unwrap_or_default().into_iter().collect();
    let mut all = flat(parameters, "");
    all.retain(|(key, value)| key != "seed" && usual.get(key) != Some(value));
    all
}

fn words(parameters: &[(String, Value)]) -> String {
    let word = |(key, value): &(String, Value)| match value {
        Value::String(text) => format!("{key}={text}"),
        value => format!("{key}={value}"),
    };
    parameters.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The parameters that are not the registry's, in words: `tokens=5 adam.rate=0.01`.
pub(crate) fn changed(learner: &str, parameters: &Settings) -> String {
    words(&unusual(learner, parameters))
}

/// Names for variants of one learner that stand side by side: what one has to say so that no two are called the same.
///
/// A parameter that all of them share is left out, and so is one with its default value.
pub(crate) fn variants(learner: &str, sides: &[(&Settings, String)]) -> Vec<String> {
    let differing = differing(sides);
    let several = sides
        .iter()
        .map(|side| &side.1)
        .collect::<BTreeSet<_>>()
        .len()
        > 1;
    let name = |(parameters, revision): &(&Settings, String)| {
        let mut own = unusual(learner, parameters);
        own.retain(|(key, _)| differing.contains(key));
        let mut parts = vec![learner.to_owned()];
        parts.extend(Some(words(&own)).filter(|words| !words.is_empty()));
        parts.extend(several.then(|| format!("(revision {revision})")));
        parts.join(" ")
    };
    sides.iter().map(name).collect()
}

/// Keys whose values are not the same everywhere.
fn differing(sides: &[(&Settings, String)]) -> BTreeSet<String> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut there: BTreeMap<String, usize> = BTreeMap::new();
    for (parameters, _) in sides {
        for (key, value) in flat(parameters, "") {
            *there.entry(key.clone()).or_default() += 1;
            values.entry(key).or_default().insert(value.to_string());
        }
    }
    let differs = |key: &String| there.get(key) != Some(&sides.len());
    values
        .into_iter()
        .filter(|(key, values)| values.len() > 1 || differs(key))
        .map(|(key, _)| key)
        .collect()
}

/// Names for data: as it calls itself, with the start of its checksum where several are called the same.
pub(crate) fn data<'a>(
    all: impl Iterator<Item = (&'a str, &'a str)>,
) -> BTreeMap<(String, String), String> {
    let distinct: BTreeSet<(&str, &str)> = all.collect();
    let shared = |name: &str| distinct.iter().filter(|(other, _)| *other == name).count() > 1;
    distinct
        .iter()
        .map(|&(name, checksum)| {
            let start: String = checksum.chars().take(8).collect();
            let label = match shared(name) {
                true => format!("{name} ({start})"),
                false => name.to_owned(),
            };
            ((name.to_owned(), checksum.to_owned()), label)
        })
        .collect()
}
