//! Small models, and what can be said about the whole of one.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::json;
use tempfile::TempDir;
use treering_store::{
    Change, Fault, Manifest, Model, NewModel, NewRing, Step, Tensor, Writer, encode,
};

/// A place for a model that is not there yet.
pub fn place() -> (TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("model");
    (place, folder)
}

pub fn tensors(seed: u32) -> Vec<Tensor> {
    let seed = seed as f32;
    vec![
        Tensor::f32("head", &[2, 2], vec![seed, 0.1, -2.5, f32::MIN_POSITIVE]),
        Tensor::f64("mean", &[3], vec![f64::from(seed), 1.0 / 3.0, -0.0]),
    ]
}

pub fn head() -> NewModel {
    NewModel {
        learner: "tpp".into(),
        parameters: json!({ "rate": 0.1, "tiny": 2.225_073_858_507_201e-308, "prompts": 3 }),
        feature_width: 5,
        facts: json!({ "note": "a \"quoted\" text" }),
        backbone: Some(encode(
            &[Tensor::f32("w", &[1, 2], vec![1.5, 2.5])],
            &BTreeMap::new(),
        )),
    }
}

/// A ring with tensors of its own.
pub fn ring(name: &str, classes: &[&str]) -> NewRing {
    let seed = name.bytes().map(u32::from).sum();
    NewRing {
        name: name.into(),
        classes: classes.iter().map(|&class| class.into()).collect(),
        facts: json!({ "nodes": seed }),
        bytes: encode(&tensors(seed), &BTreeMap::new()),
    }
}

pub fn add(name: &str, classes: &[&str]) -> Change {
    Change::Add(ring(name, classes))
}

pub fn replace(number: u32, name: &str, classes: &[&str]) -> Change {
    let ring = ring(name, classes);
    Change::Replace { number, ring }
}

/// A model with the rings 1 `alpha` and 2 `beta`.
pub fn two_rings(folder: &Path) -> Writer {
    let mut writer = Writer::create(folder, head()).unwrap();
    let changes = vec![add("alpha", &["a1", "a2"]), add("beta", &["b1"])];
    writer.commit(changes).unwrap();
    writer
}

/// Everything that a model holds.
pub type State = (Manifest, Vec<Tensor>, Vec<Vec<Tensor>>);

/// The whole model in a folder, every file read and checked; `None` when there is none yet.
pub fn state(folder: &Path) -> Option<State> {
    let model = match Model::open(folder) {
        Ok(model) => model,
        Err(error) => match *error.fault {
            Fault::NotFound | Fault::Unfinished | Fault::NotAModel => return None,
            _ => panic!("{error}"),
        },
    };
    let manifest = model.manifest().clone();
    let rings = manifest.rings.iter();
    let rings = rings.map(|ring| model.ring(ring).unwrap().into_vec());
    let rings = rings.collect();
    let backbone = model.backbone().unwrap().unwrap().into_vec();
    Some((manifest, backbone, rings))
}

/// Asserts that every file of the model is right and that nothing else lies in the folder.
pub fn assert_clean(folder: &Path) {
    for finding in Model::open(folder).unwrap().verify() {
        assert!(finding.fault.is_none(), "{:?}", finding.fault);
        assert!(!finding.leftover, "{:?}", finding.file);
    }
}

/// A kind of commit, and the changes that it makes.
#[derive(Clone, Copy, Debug)]
pub enum Scenario {
    First,
    Add,
    Replace,
    Remove,
    Several,
}

impl Scenario {
    pub const ALL: [Scenario; 5] = [
        Scenario::First,
        Scenario::Add,
        Scenario::Replace,
        Scenario::Remove,
        Scenario::Several,
    ];

    /// A writer that stands before the commit.
    pub fn writer(self, folder: &Path) -> Writer {
        match self {
            Scenario::First => Writer::create(folder, head()).unwrap(),
            _ if folder.exists() => Writer::open(folder).unwrap(),
            _ => two_rings(folder),
        }
    }

    pub fn changes(self) -> Vec<Change> {
        match self {
            Scenario::First => vec![add("alpha", &["a1", "a2"]), add("beta", &["b1"])],
            Scenario::Add => vec![add("gamma", &["c1"])],
            Scenario::Replace => vec![replace(1, "alpha", &["a1", "a3"])],
            Scenario::Remove => vec![Change::Remove { number: 2 }],
            Scenario::Several => vec![
                Change::Remove { number: 1 },
                replace(2, "better beta", &["b1", "b2"]),
                add("gamma", &["a1"]),
                add("delta", &["d1"]),
            ],
        }
    }

    /// The steps that the commit takes, and the model that it gives.
    pub fn undisturbed(self) -> (Vec<Step>, Option<State>) {
        let (_place, folder) = place();
        let steps = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&steps);
        let mut writer = self.writer(&folder).with_hook(Box::new(move |step| {
            seen.lock().unwrap().push(step);
            Ok(())
        }));
        writer.commit(self.changes()).unwrap();
        assert_clean(&folder);
        let steps = steps.lock().unwrap().clone();
        (steps, state(&folder))
    }
}

/// Whether the commit is done when it ends at this step of the list.
pub fn is_done(steps: &[Step], at: usize) -> bool {
    let renamed = steps.iter().position(|&step| step == Step::ManifestRenamed);
    at >= renamed.unwrap()
}

/// A hook that does something at one call of many, counted from 0.
pub fn at_call(
    at: usize,
    mut act: impl FnMut(Step) -> io::Result<()> + Send + 'static,
) -> treering_store::Hook {
    let mut calls = 0;
    Box::new(move |step| {
        calls += 1;
        if calls - 1 == at { act(step) } else { Ok(()) }
    })
}
