//! The config file: TOML with keys named as the flags.

use std::path::Path;

use clap::ValueEnum;
use serde_json::{Map, Value};
use treering_data::nearest;
use treering_eval::{NoSuchProtocol, Protocol};

use super::assign::Place;
use super::choices::{Choices, MOST_AT_ONCE, MOST_CLASSES, MOST_SEEDS};
use super::presets;
use crate::failure::Failure;
use crate::source::parse_bytes;

const KEYS: [&str; 20] = [
    "data",
    "scale",
    "learner",
    "protocol",
    "order",
    "preset",
    "seeds",
    "split-seed",
    "split",
    "classes-per-task",
    "set",
    "router",
    "grid",
    "jobs",
    "out",
    "retry-failed",
    "finished",
    "json",
    "threads",
    "memory",
];

/// Reads a config file.
pub(super) fn read(file: &Path) -> Result<Choices, Failure> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => {
                "there is no such config file; data is named with --data".to_owned()
            }
            _ => error.to_string(),
        };
        Failure::input(format!("{name}: {hint}"))
    })?;
    parse(&name, &text).map_err(|why| Failure::input(format!("{name}: {why}")))
}

fn parse(file: &str, text: &str) -> Result<Choices, String> {
    let keys: Map<String, Value> =
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let mut choices = Choices::default();
    for (key, value) in &keys {
        let entry = Entry { key, value };
        let said = |texts: Vec<String>| {
            let place = |text| (Place::File(file.to_owned()), text);
            texts.into_iter().map(place).collect()
        };
        match key.as_str() {
            "data" => choices.data = entry.texts()?,
            "scale" => choices.scale = Some(entry.number()?),
            "learner" => choices.learner = entry.texts()?,
            "protocol" => choices.protocol = entry.protocols()?,
            "order" => choices.order = entry.names()?,
            "preset" => choices.preset = entry.one_of(&presets::names())?,
            "seeds" => choices.seeds = Some(entry.whole(1, MOST_SEEDS)?),
            "split-seed" => choices.split_seed = Some(entry.whole(0, u64::MAX)?),
            "split" => choices.split = entry.names()?.pop(),
            "classes-per-task" => {
                choices.classes_per_task = Some(entry.whole(1, MOST_CLASSES)? as usize)
            }
            "set" => choices.set = said(entry.assignments()?),
            "router" => choices.router = entry.names()?.pop(),
            "grid" => choices.grid = said(entry.assignments()?),
            "jobs" => choices.jobs = Some(entry.whole(1, MOST_AT_ONCE)? as u16),
            "out" => choices.out = Some(entry.text()?.into()),
            "retry-failed" => choices.retry_failed = entry.truth()?,
            "finished" => choices.finished = entry.truth()?,
            "json" => choices.json = entry.truth()?,
            "threads" => choices.threads = Some(entry.whole(1, MOST_AT_ONCE)? as u16),
            "memory" => choices.memory = Some(entry.size()?),
            _ => return Err(unknown(key)),
        }
    }
    Ok(choices)
}

fn unknown(key: &str) -> String {
    let near = nearest(key, KEYS.iter().copied());
    let hint = match near.is_empty() {
        true => format!("the keys are {}", KEYS.join(", ")),
        false => format!("did you mean {}?", near.join(" or ")),
    };
    format!("there is no key {key}; {hint}")
}

/// A key with its value.
struct Entry<'a> {
    key: &'a str,
    value: &'a Value,
}

impl Entry<'_> {
    fn wrong<T>(&self, wanted: &str) -> Result<T, String> {
        let found = match self.value {
            Value::Null => "not a number".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "a table".to_owned(),
            other => other.to_string(),
        };
        Err(format!("{} is {found}; it has to be {wanted}", self.key))
    }

    fn number(&self) -> Result<f64, String> {
        match self.value.as_f64() {
            Some(number) => Ok(number),
            None => self.wrong("a number"),
        }
    }

    fn whole(&self, least: u64, most: u64) -> Result<u64, String> {
        match self
            .value
            .as_u64()
            .filter(|number| (least..=most).contains(number))
        {
            Some(number) => Ok(number),
            None if most == u64::MAX => self.wrong(&format!("a whole number from {least} on")),
            None => self.wrong(&format!("a whole number from {least} to {most}")),
        }
    }

    fn truth(&self) -> Result<bool, String> {
        match self.value {
            Value::Bool(truth) => Ok(*truth),
            _ => self.wrong("true or false, without quotes"),
        }
    }

    fn text(&self) -> Result<String, String> {
        match self.value {
            Value::String(text) => Ok(text.clone()),
            _ => self.wrong("a text in quotes"),
        }
    }

    /// A text such as 8GB, or a number of bytes.
    fn size(&self) -> Result<u64, String> {
        let text = match self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        parse_bytes(&text).map_err(|why| format!("memory is {}; {why}", self.value))
    }

    /// A list of texts, or one without brackets.
    fn texts(&self) -> Result<Vec<String>, String> {
        let items = match self.value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let text = |item: &Value| item.as_str().map(str::to_owned);
        match items.iter().map(text).collect() {
            Some(texts) => Ok(texts),
            None => self.wrong("a text in quotes, or a list of them"),
        }
    }

    /// Words that a flag takes.
    fn names<T: ValueEnum>(&self) -> Result<Vec<T>, String> {
        let name = |text: String| {
            T::from_str(&text, false).map_err(|_| {
                let all = T::value_variants().iter().filter_map(T::to_possible_value);
                let all: Vec<String> = all.map(|value| value.get_name().to_owned()).collect();
                format!(
                    "{} is {text:?}; it has to be one of {}",
                    self.key,
                    all.join(", ")
                )
            })
        };
        self.texts()?.into_iter().map(name).collect()
    }

    /// Words of a list.
    fn one_of(&self, known: &[&str]) -> Result<Vec<String>, String> {
        let texts = self.texts()?;
        match texts.iter().find(|text| !known.contains(&text.as_str())) {
            None => Ok(texts),
            Some(text) => {
                let (key, known) = (self.key, known.join(", "));
                Err(format!("{key} is {text:?}; it has to be one of {known}"))
            }
        }
    }

    fn protocols(&self) -> Result<Vec<Protocol>, String> {
        let protocol = |text: String| {
            let wrong = |error: NoSuchProtocol| format!("{} is {text:?}; {error}", self.key);
            text.parse().map_err(wrong)
        };
        self.texts()?.into_iter().map(protocol).collect()
    }

    /// `true`, texts as the flag takes them, or a table: `ewc.lambda = 1` and `ewc = { lambda = 1 }` say the same.
    fn assignments(&self) -> Result<Vec<String>, String> {
        match (self.key, self.value) {
            ("grid", Value::Bool(true)) => Ok(vec![String::new()]),
            ("grid", Value::Bool(false)) => Ok(Vec::new()),
            (_, table @ Value::Object(_)) => {
                let mut found = Vec::new();
                flatten("", table, &mut found);
                Ok(found)
            }
            (key, Value::String(_) | Value::Array(_)) => match self.texts() {
                Ok(texts) => Ok(texts),
                Err(_) => self.wrong(&format!(
                    "texts such as \"ewc.lambda=1\", or a table [{key}]"
                )),
            },
            ("grid", _) => self.wrong("true, or a table [grid]"),
            (key, _) => self.wrong(&format!("a table [{key}]")),
        }
    }
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
    use super::*;

    #[test]
    fn tables_and_texts_say_the_same() {
        let text = "data = 'cora'\nset = ['ewc.lambda=1', 'ewc.balanced=true']\ngrid = true";
        let texts = parse("x", text).unwrap();
        let text = "data = ['cora']\n[set.ewc]\nlambda = 1\nbalanced = true\n[grid]\newc.lambda = [1, 0.5]";
        let tables = parse("x", text).unwrap();
        assert_eq!(texts.data, tables.data);
        let sorted = |list: &[(Place, String)]| {
            let mut list: Vec<String> = list.iter().map(|(_, text)| text.clone()).collect();
            list.sort();
            list
        };
        assert_eq!(sorted(&texts.set), ["ewc.balanced=true", "ewc.lambda=1"]);
        assert_eq!(sorted(&texts.set), sorted(&tables.set));
        assert_eq!(sorted(&texts.grid), [""]);
        assert_eq!(sorted(&tables.grid), ["ewc.lambda=1,0.5"]);
    }

    #[test]
    fn mistakes_are_told_with_the_key() {
        for (text, told) in [
            (
                "learners = 'ewc'",
                "there is no key learners; did you mean learner",
            ),
            (
                "seeds = 'many'",
                "seeds is \"many\"; it has to be a whole number from 1 to 1000000",
            ),
            ("seeds = 0", "seeds is 0;"),
            ("seeds = -1", "seeds is -1;"),
            ("seeds = 2000000", "seeds is 2000000;"),
            ("jobs = 1025", "jobs is 1025;"),
            ("threads = 70000", "threads is 70000;"),
            ("threads = 1.5", "threads is 1.5;"),
            ("scale = nan", "scale is not a number;"),
            ("data = 3", "data is 3; it has to be a text in quotes"),
            ("learner = ['ewc', 1]", "learner is a list; it has to be"),
            (
                "protocol = 'papers'",
                "protocol is \"papers\"; it has to be one of paper, single, groups:M",
            ),
            (
                "protocol = ['paper', 'groups:0']",
                "protocol is \"groups:0\"; it has to be one of",
            ),
            (
                "json = 'yes'",
                "json is \"yes\"; it has to be true or false",
            ),
            ("memory = 'much'", "memory is \"much\";"),
            ("grid = 3", "grid is 3; it has to be true, or a table"),
            ("set = true", "set is true; it has to be a table"),
        ] {
            let error = parse("x", text).err().unwrap();
            assert!(error.starts_with(told), "{text}: {error}");
            assert!(!error.contains("expected"), "{error}");
        }
    }

    #[test]
    fn a_protocol_is_read_by_its_text() {
        let read = |text: &str| parse("x", text).unwrap().protocol;
        assert_eq!(read("protocol = 'connected'"), [Protocol::Connected]);
        let groups = read("protocol = ['groups:1', 'groups:20']");
        assert_eq!(groups[0], Protocol::Single);
        assert_eq!(Some(groups[1]), Protocol::groups(20));
        let open = read("protocol = ['open', 'open:1']");
        assert_eq!(open[0], Protocol::Open);
        assert_eq!(Some(open[1]), Protocol::open_groups(1));
    }

    #[test]
    fn every_key_is_known() {
        for key in KEYS {
            let error = parse("x", &format!("{key} = 1979-05-27")).err();
            assert!(
                !error.is_some_and(|error| error.contains("no key")),
                "{key}"
            );
        }
    }
}
