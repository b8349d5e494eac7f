//! Everything that a run's result depends on.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use treering_data::StreamOptions;
use treering_learn::registry::Settings;

use crate::{Asked, Protocol};

/// The data of a run: what it is called, and what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataId {
    /// As the graph calls itself.
    pub name: String,
    /// Of its content; see [`checksum`](super::checksum()).
    pub checksum: String,
}

/// Everything that a run's result depends on, and nothing else: two runs with the same specification have the same result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The data.
    pub data: DataId,
    /// How it becomes a stream.
    pub stream: StreamOptions,
    /// The learner's name, with `+tp` where task prediction is plugged in.
    pub learner: String,
    /// All its parameters; `seed` is the run's.
    pub parameters: Settings,
    /// The learner's revision.
    pub revision: u32,
    /// The revision of task prediction, where it is plugged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tp_revision: Option<u32>,
    /// What it is shown.
    pub protocol: Protocol,
    /// The protocol's [revision](Protocol::revision).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_revision: Option<u32>,
    /// Which nodes it is asked about.
    pub asked: Asked,
    /// The run's seed.
    pub seed: u64,
}

impl RunSpec {
    /// SHA-256 of the canonical form, in 64 hexadecimal digits.
    pub fn hash(&self) -> String {
        digest(canonical(self).as_bytes())
    }

    /// The name of the run's file: the first 16 digits of the hash.
    pub fn file_name(&self) -> String {
        format!("{}.json", &self.hash()[..16])
    }
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON without spaces whose keys are in alphabetical order at every depth: one text for one value, in whatever order it was put together.
pub(crate) fn canonical(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    sorted(value).to_string()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            let inner = entries.into_iter();
            Value::Object(inner.map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// A specification that no registry has a say in.
    pub(crate) fn example() -> RunSpec {
        let Value::Object(parameters) = json!({"seed": 3, "rate": 0.005, "adam": {"b": 2, "a": 1}})
        else {
            unreachable!()
        };
        RunSpec {
            data: DataId {
                name: "toy".into(),
                checksum: "00ff".into(),
            },
            stream: StreamOptions {
                seed: 3,
                split_seed: 4,
                ..StreamOptions::default()
            },
            learner: "ewc".into(),
            parameters,
            revision: 1,
            tp_revision: None,
            protocol: Protocol::Paper,
            protocol_revision: None,
            asked: Asked::Test,
            seed: 3,
        }
    }

    #[test]
    fn the_canonical_form_has_its_keys_in_order() {
        let text = canonical(&example());
        let expected = concat!(
            r#"{"asked":"test","data":{"checksum":"00ff","name":"toy"},"learner":"ewc","#,
            r#""parameters":{"adam":{"a":1,"b":2},"rate":0.005,"seed":3},"protocol":"paper","revision":1,"seed":3,"#,
            r#""stream":{"grouping":{"per-task":2},"inter_task":"dropped","order":"ascending","seed":3,"split":"random","split_seed":4}}"#,
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn the_hash_stays_what_it_was() {
        // A change here makes every result that anybody has computed count as missing.
        assert_eq!(
            example().hash(),
            "f62bb0684d41b2bd3dd2a26cc21047af96927cac5d85a875169b6258837ed004"
        );
        assert_eq!(example().file_name().len(), 16 + ".json".len());
    }

    #[test]
    fn the_order_of_parameters_does_not_matter_but_every_value_does() {
        let spec = example();
        let mut turned = spec.clone();
        turned.parameters = spec
            .parameters
            .iter()
            .rev()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        assert_eq!(turned.hash(), spec.hash());
        let mut others = vec![spec.clone(); 11];
        others[0].data.name.push('x');
        others[1].data.checksum.push('0');
        others[2].stream.split_seed = 5;
        others[3].learner = "mas".into();
        others[4]
            .parameters
            .insert("rate".into(), 0.0050000001.into());
        others[5].revision = 2;
        others[6].protocol = Protocol::Oracle;
        others[7].asked = Asked::Validation;
        others[8].seed = 4;
        others[9].tp_revision = Some(1);
        others[10].protocol_revision = Some(2);
        let mut hashes: Vec<String> = others.iter().map(RunSpec::hash).collect();
        hashes.push(spec.hash());
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), 12);
    }

    #[test]
    fn groups_of_one_and_single_are_one_run() {
        let with = |protocol: &str| RunSpec {
            protocol: protocol.parse().unwrap(),
            ..example()
        };
        assert_eq!(with("groups:1").hash(), with("single").hash());
        assert_ne!(with("groups:2").hash(), with("groups:3").hash());
        assert!(canonical(&with("groups:2")).contains(r#""protocol":"groups:2""#));
    }

    #[test]
    fn a_specification_comes_back_from_json_with_the_same_hash() {
        let mut spec = example();
        spec.parameters.insert("third".into(), (1.0 / 3.0).into());
        let text = serde_json::to_string_pretty(&spec).unwrap();
        let back: RunSpec = serde_json::from_str(&text).unwrap();
        assert_eq!(back, spec);
        assert_eq!(back.hash(), spec.hash());
    }
}
