//! A learner comes back from its files to the same bits and answers, and files that do not fit are refused by name.
#![allow(clippy::unwrap_used)]

use serde_json::json;
use treering_data::Silent;
use treering_graph::{Direction, NodeId};
use treering_store::{Change, NewModel, NewRing, Writer, decode};

use super::*;
use crate::checks::small_graph;
use crate::saved::checks;
use crate::treering::Router;
use crate::{Groups, Learner, Query, Shown, TrainingTask};

const COLUMNS: usize = 9;

fn learner() -> Treering {
    let parameters = Parameters {
        width: 6,
        rank: 2,
        hops: 1,
        ..Parameters::default()
    };
    let mut learner = Treering::new(parameters).unwrap();
    let task = |direction, number| {
        TrainingTask::new(small_graph(30, COLUMNS, direction), number, Shown::Train).unwrap()
    };
    let tasks = [task(Direction::Undirected, 1), task(Direction::Directed, 2)];
    learner.learn(&tasks, &Silent).unwrap();
    learner
}

fn kept(learner: &Treering, folder: &std::path::Path, backbone: Option<Vec<u8>>) -> Model {
    let head = NewModel {
        learner: LEARNER.into(),
        parameters: Keep::parameters(learner).to_json(),
        feature_width: COLUMNS,
        facts: json!({}),
        backbone,
    };
    let rings = (0..Keep::rings(learner)).map(|at| {
        Change::Add(NewRing {
            name: format!("ring {at}"),
            classes: vec![format!("{at} a"), format!("{at} b")],
            facts: json!({}),
            bytes: learner.ring(at),
        })
    });
    let mut writer = Writer::create(folder, head).unwrap();
    writer.commit(rings.collect()).unwrap();
    Model::open(folder).unwrap()
}

#[test]
fn a_learner_comes_back_to_the_same_bits_and_answers() {
    let place = tempfile::tempdir().unwrap();
    let learner = learner();
    let model = kept(&learner, &place.path().join("model"), None);
    let entries: Vec<&RingEntry> = model.manifest().rings.iter().collect();
    let back = load(&model, Treering::parameters(&learner).clone(), &entries).unwrap();
    assert_eq!(Treering::rings(&back), Treering::rings(&learner));
    let found = saved::load(&model).unwrap();
    assert_eq!(found.parameters(), Keep::parameters(&learner));
    assert_eq!(found.ring(1), model.ring_bytes(entries[1]).unwrap());
    assert_eq!(found.backbone(), None);
    let graph = small_graph(30, COLUMNS, Direction::Undirected);
    let query = Query::new(graph, NodeId::first(30).collect(), Groups::Single);
    assert_eq!(
        found.predict(&query).unwrap(),
        learner.predict(&query).unwrap()
    );
    let alone = found.with(found.parameters(), &[1]).unwrap();
    assert_eq!((alone.rings(), alone.ring(0)), (1, found.ring(1)));
    assert_eq!(alone.prototype(0), found.prototype(1));
    assert_eq!(alone.numbers(0), learner.rings[1].numbers());
    let mut parameters = Treering::parameters(&learner).clone();
    for router in [Router::Ridge, Router::Evidence, Router::Prototype] {
        parameters.router = router;
        let parameters = saved::Parameters::Treering(parameters.clone());
        checks::shares_are_products(&*found.with(parameters, &[1, 0]).unwrap(), COLUMNS);
    }
}

#[test]
fn every_wrong_tensor_is_refused_with_file_and_name() {
    let learner = learner();
    let parameters = Treering::parameters(&learner);
    let read = |tensors: Tensors| read_ring(tensors, parameters, COLUMNS, 2);
    checks::tensors_are_checked(&learner.ring(0), read);
    let all = decode(std::path::Path::new("r"), &learner.ring(0)).unwrap();
    let wrong = [
        ("counts", 0, 1.5),
        ("counts", 1, 0.0),
        ("scatter.rest", 0, -1.0),
        ("usual.moments", 1, 0.0),
        ("usual.nodes", 0, 1e12),
        ("usual.points", 3, 1e9),
    ];
    for (name, place, value) in wrong {
        let mut tensors = all.clone().into_vec();
        let tensor = tensors.iter_mut().find(|t| t.name == name).unwrap();
        match &mut tensor.values {
            treering_store::Values::F32(values) => values[place] = value as f32,
            treering_store::Values::F64(values) => values[place] = value,
        }
        let bytes = encode(&tensors, &BTreeMap::new());
        let error = read(decode(std::path::Path::new("r"), &bytes).unwrap()).unwrap_err();
        assert!(error.to_string().contains(name), "{name}: {error}");
    }
}

#[test]
fn a_task_of_one_class_is_kept_too() {
    let mut learner = learner();
    let ring = &mut learner.rings[0];
    ring.profile.counts.truncate(1);
    ring.profile.means.truncate(6);
    ring.head = Head {
        weights: Vec::new(),
        bias: Vec::new(),
    };
    let bytes = learner.ring(0);
    let tensors = decode(std::path::Path::new("r"), &bytes).unwrap();
    let back = read_ring(tensors, Treering::parameters(&learner), COLUMNS, 1).unwrap();
    assert_eq!(back, learner.rings[0]);
}

#[test]
fn a_backbone_that_nobody_made_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let stray = encode(&[Tensor::f32("w", &[1], vec![1.0])], &BTreeMap::new());
    let model = kept(&learner(), &place.path().join("model"), Some(stray));
    let told = saved::load(&model).err().unwrap().to_string();
    assert!(told.contains("backbone"), "{told}");
}
