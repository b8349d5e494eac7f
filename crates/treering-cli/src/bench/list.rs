//! `treering bench --list`.

use serde_json::{Value, json};
use treering_eval::runs::grid;
use treering_learn::plus_tp::{self, SUFFIX};
use treering_learn::registry::{self, LEARNERS, Settings};

use crate::failure::Failure;
use crate::output::{Output, table};

/// Prints all learners, or the parameters of one or of each.
pub(super) fn run(name: &str, json: bool, output: &Output) -> Result<(), Failure> {
    let names: Vec<&str> = match name {
        "" | "all" => LEARNERS.iter().map(|entry| entry.name).collect(),
        name => vec![name],
    };
    let each = |of: fn(&str) -> Result<String, Failure>, between: &str| {
        let all: Result<Vec<String>, Failure> = names.iter().map(|name| of(name)).collect();
        all.map(|all| all.join(between))
    };
    output.print(&match (json, name) {
        (true, _) => each(line, "")?,
        (false, "") => learners(),
        (false, _) => each(parameters, "\n")?,
    })
}

fn learners() -> String {
    let mut listing = table(&["learner", "replay", "about"], &[]);
    for entry in LEARNERS {
        let replay = if entry.replays { "yes" } else { "no" };
        listing.add_row([entry.name, replay, entry.summary]);
    }
    format!(
        "{}\nWith +tp, any of them that does not recognise tasks by itself is given task prediction (ewc+tp).\n\
         Parameters: treering bench --list NAME, or all\n",
        listing.trim_fmt()
    )
}

/// A learner as one line of JSON.
fn line(name: &str) -> Result<String, Failure> {
    let entry = registry::entry(name)?;
    let line = json!({
        "name": name,
        "summary": entry.summary,
        "replay": entry.replays,
        "revision": entry.revision,
        "tp_revision": name.ends_with(SUFFIX).then_some(plus_tp::REVISION),
        "parameters": registry::defaults(name)?,
        "grid": grid::of(name).map(|axes| grid::described(&axes)),
    });
    Ok(format!("{line}\n"))
}

fn parameters(name: &str) -> Result<String, Failure> {
    let entry = registry::entry(name)?;
    let defaults = registry::defaults(name)?;
    let axes = grid::of(name).unwrap_or_default();
    let mut listing = table(&["parameter", "default", "grid"], &[]);
    for key in registry::keys(&defaults, "") {
        let grid = axes.iter().find(|(axis, _)| *axis == key);
        let grid = grid.map_or(String::new(), |(_, values)| {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            values.join(", ")
        });
        listing.add_row([key.clone(), value(&defaults, &key), grid]);
    }
    Ok(format!(
        "{name}: {} (revision {})\n\n{}\n",
        entry.summary,
        entry.revision,
        listing.trim_fmt()
    ))
}

fn value(settings: &Settings, key: &str) -> String {
    match key.split_once('.') {
        None => match settings.get(key) {
            Some(Value::String(word)) => word.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        },
        Some((group, rest)) => {
            let inner = settings.get(group).and_then(|value| value.as_object());
            inner.map_or(String::new(), |inner| value(inner, rest))
        }
    }
}
