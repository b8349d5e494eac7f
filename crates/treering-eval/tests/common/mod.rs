//! Streams that the tests of several files learn.
#![allow(dead_code)]

use std::cell::RefCell;

use serde_json::Value;
use treering_data::{
    Context, Grouping, Progress, Recipe, Silent, Stream, StreamOptions, synthesize,
};
use treering_eval::{Protocol, evaluate};
use treering_graph::{Arcs, Dense, Features, Graph, Labels, NodeNames, Origin, Parts, build_arcs};
use treering_learn::registry::{self, LEARNERS};
use treering_learn::{Answer, LearnError, Learner, Query, Stages, Stored, TrainingTask};

/// A part of a built-in data set, as a stream of at least three tasks.
pub fn small(preset: &str, scale: f64) -> (Graph, Stream) {
    made(Recipe::preset(preset).unwrap().scaled(scale).unwrap())
}

/// Made-up data as a stream of at least three tasks.
pub fn made(recipe: Recipe) -> (Graph, Stream) {
    let graph = synthesize(&recipe, &Context::with_free_memory(&Silent)).unwrap();
    let stream = Stream::plan(&graph, &StreamOptions::default()).unwrap();
    assert!(stream.tasks.len() >= 3, "the tests need a few tasks");
    (graph, stream)
}

/// A learner of the registry with some parameters changed.
pub fn built(name: &str, changed: &[(&str, Value)]) -> Box<dyn Learner> {
    let own = |(key, value): &(&str, Value)| ((*key).to_owned(), value.clone());
    let changed: Vec<(String, Value)> = changed.iter().map(own).collect();
    registry::build(name, registry::complete(name, &changed).unwrap()).unwrap()
}

/// Average accuracy at the end.
pub fn accuracy(learner: &mut dyn Learner, graph: &Graph, stream: &Stream) -> f64 {
    let done = evaluate(learner, graph, stream, &[Protocol::Paper], &Silent).unwrap();
    done.outcomes[0].matrix.average_accuracy().unwrap()
}

/// Settings that make any learner quick; those that it does not have are left out.
pub fn learner(name: &str, more: &[(&str, Value)]) -> Box<dyn Learner> {
    let known = registry::keys(&registry::defaults(name).unwrap(), "");
    let quick = [
        ("hidden", 16),
        ("epochs", 20),
        ("contrastive.epochs", 3),
        ("encoders", 5),
        ("width", 16),
        ("networks", 5),
        ("budget", 5),
    ];
    let quick = quick.map(|(key, value)| (key, Value::from(value)));
    let known = |(key, _): &(&str, Value)| known.iter().any(|name| name == key);
    let changed = quick.into_iter().chain(more.iter().cloned());
    built(name, &changed.filter(known).collect::<Vec<_>>())
}

/// Every learner, and each that can have it also with task prediction.
pub fn names() -> Vec<String> {
    let own = LEARNERS.iter().map(|entry| entry.name.to_owned());
    let plus = LEARNERS
        .iter()
        .filter(|entry| !learner(entry.name, &[]).recognises())
        .map(|entry| format!("{}+tp", entry.name));
    own.chain(plus).collect()
}

/// `classes` classes of `size` nodes each in a row, a ring of arcs inside each class, and a feature of its own for each class.
pub fn graph(classes: usize, size: usize, edges: bool) -> Graph {
    let nodes = classes * size;
    let class = |node: usize| node / size;
    let (mut sources, mut targets) = (Vec::new(), Vec::new());
    for node in 0..nodes {
        sources.push(node as u32);
        targets.push((class(node) * size + (node + 1) % size) as u32);
    }
    let arcs = match edges {
        true => {
            let direction = treering_graph::Direction::Undirected;
            build_arcs(nodes, &sources, &targets, None, direction)
                .unwrap()
                .0
        }
        false => Arcs::none(nodes),
    };
    let x: Vec<f32> = (0..nodes * (classes + 2))
        .map(|at| {
            let (node, column) = (at / (classes + 2), at % (classes + 2));
            f32::from(u8::from(column == class(node))) + (node * 7 % 5) as f32 / 20.0
        })
        .collect();
    Graph::new(Parts {
        arcs,
        features: Features::Dense(Dense::new(nodes, classes + 2, x.into()).unwrap()),
        labels: Some(
            Labels::new(
                (0..nodes)
                    .map(|node| class(node) as u32)
                    .collect::<Vec<_>>()
                    .into(),
                (0..classes).map(|class| format!("c{class}")).collect(),
            )
            .unwrap(),
        ),
        names: NodeNames::Positions(nodes),
        split: None,
        origin: Origin::default(),
    })
    .unwrap()
}

pub fn stream(graph: &Graph, per_task: usize) -> Stream {
    let options = StreamOptions {
        grouping: Grouping::PerTask(per_task),
        ..StreamOptions::default()
    };
    Stream::plan(graph, &options).unwrap()
}

/// Two graphs side by side, without an arc between them.
pub fn beside(a: &Graph, b: &Graph) -> Graph {
    let shift = a.nodes() as u32;
    let mut offsets = a.arcs().offsets().to_vec();
    let last = *offsets.last().unwrap();
    offsets.extend(b.arcs().offsets()[1..].iter().map(|offset| offset + last));
    let mut sources = a.arcs().sources().to_vec();
    sources.extend(b.arcs().sources().iter().map(|source| source + shift));
    let (x, y) = (a.features().to_dense(), b.features().to_dense());
    let nodes = a.nodes() + b.nodes();
    Graph::new(Parts {
        arcs: Arcs::from_rows(offsets.into(), sources.into(), None).unwrap(),
        features: Features::Dense(
            Dense::new(nodes, x.columns(), [x.values(), y.values()].concat().into()).unwrap(),
        ),
        labels: None,
        names: NodeNames::Positions(nodes),
        split: None,
        origin: a.origin().clone(),
    })
    .unwrap()
}

/// All protocols, those together that one training serves.
pub fn by_training() -> [Vec<Protocol>; 2] {
    let all = Protocol::all().iter().map(|listed| listed.protocol);
    let (inductive, others) = all.partition(|&protocol| protocol == Protocol::Inductive);
    [others, inductive]
}

/// A learner that keeps what it was asked and what it said.
pub struct Recording {
    /// Who answers.
    pub learner: Box<dyn Learner>,
    /// Every query with its answers.
    pub said: RefCell<Vec<(Query, Vec<Answer>)>>,
}

impl Recording {
    pub fn new(learner: Box<dyn Learner>) -> Self {
        Recording {
            learner,
            said: RefCell::default(),
        }
    }
}

impl Learner for Recording {
    fn name(&self) -> &str {
        self.learner.name()
    }

    fn learn(&mut self, tasks: &[TrainingTask], progress: &dyn Progress) -> Result<(), LearnError> {
        self.learner.learn(tasks, progress)
    }

    fn predict(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        let answers = self.learner.predict(query)?;
        self.said
            .borrow_mut()
            .push((query.clone(), answers.clone()));
        Ok(answers)
    }

    fn stages(&self) -> Stages {
        self.learner.stages()
    }

    fn stored(&self) -> Stored {
        self.learner.stored()
    }

    fn calibrates(&self) -> bool {
        self.learner.calibrates()
    }

    fn familiarity_is_calibrated(&self) -> bool {
        self.learner.familiarity_is_calibrated()
    }
}
