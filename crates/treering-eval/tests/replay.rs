//! Methods that replay what they keep, over whole streams: with enough kept they are as good as training on everything, they bear small and
//! odd tasks, and threads do not matter.
#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::{Value, json};
use treering_data::{Context, Recipe, Silent, Stream, StreamOptions, synthesize};
use treering_eval::{Protocol, evaluate, tasks_of};
use treering_graph::{Arcs, Direction, Features, Graph, Labels, NodeId, NodeNames};
use treering_graph::{Dense, Origin, Parts, build_arcs};
use treering_learn::{Answer, Groups, Learner, Query, Shown, TrainingTask, registry};

const ALL: [&str; 5] = ["ergnn", "ssm-uniform", "ssm-degree", "sem", "oodcil"];

fn demo() -> (Graph, Stream) {
    noisy(0.9)
}

fn noisy(feature_noise: f64) -> (Graph, Stream) {
    let context = Context::with_free_memory(&Silent);
    let recipe = Recipe {
        feature_noise,
        ..Recipe::preset("demo").unwrap().scaled(0.4).unwrap()
    };
    let graph = synthesize(&recipe, &context).unwrap();
    let stream = Stream::plan(&graph, &StreamOptions::default()).unwrap();
    assert!(stream.tasks.len() >= 3, "the tests need a few tasks");
    (graph, stream)
}

fn built(name: &str, changed: &[(&str, Value)]) -> Box<dyn Learner> {
    let mut all = vec![("hidden".to_owned(), json!(32))];
    let own = |(key, value): &(&str, Value)| ((*key).to_owned(), value.clone());
    all.extend(changed.iter().map(own));
    registry::build(name, registry::complete(name, &all).unwrap()).unwrap()
}

/// Average accuracy at the end.
fn accuracy(name: &str, changed: &[(&str, Value)], graph: &Graph, stream: &Stream) -> f64 {
    let mut learner = built(name, changed);
    let done = evaluate(&mut *learner, graph, stream, &[Protocol::Paper], &Silent).unwrap();
    done.outcomes[0].matrix.average_accuracy().unwrap()
}

#[test]
fn with_everything_kept_neighbourhoods_give_what_joint_training_gives() {
    let (graph, stream) = demo();
    let joint = accuracy("joint", &[], &graph, &stream);
    let finetune = accuracy("finetune", &[], &graph, &stream);
    assert!(joint > finetune + 25.0, "{joint} {finetune}");
    let everything = [("budget", json!(10_000)), ("neighbours", json!(1000))];
    for name in ["ssm-uniform", "ssm-degree", "sem"] {
        let found = accuracy(name, &everything, &graph, &stream);
        assert!((found - joint).abs() < 6.0, "{name} {found}, joint {joint}");
        // As good as nothing kept: far from it.
        let little = [("budget", json!(1)), ("neighbours", json!(0))];
        let little = accuracy(name, &little, &graph, &stream);
        assert!(little < found - 10.0, "{name} {little} of {found}");
    }
}

/// The same nodes without arcs.
fn without_arcs(graph: &Graph) -> Graph {
    Graph::new(Parts {
        arcs: Arcs::none(graph.nodes()),
        features: graph.features().clone(),
        labels: graph.labels().cloned(),
        names: graph.names().clone(),
        split: graph.split().map(|split| split.to_vec().into()),
        origin: graph.origin().clone(),
    })
    .unwrap()
}

#[test]
fn single_nodes_are_enough_where_there_are_no_edges() {
    // Features that tell the class of a node that has no neighbours.
    let (graph, stream) = noisy(0.25);
    let bare = without_arcs(&graph);
    let everything = [("budget", json!(10_000))];
    let joint = accuracy("joint", &[], &bare, &stream);
    assert!(joint > 60.0, "{joint}");
    let kept = accuracy("ergnn", &everything, &bare, &stream);
    assert!((kept - joint).abs() < 6.0, "ergnn {kept}, joint {joint}");
    let one = accuracy("ergnn", &[("budget", json!(1))], &bare, &stream);
    assert!(one < kept - 10.0, "{one} of {kept}");
}

#[test]
fn detectors_hold_what_fine_tuning_forgets() {
    let (graph, stream) = demo();
    let finetune = accuracy("finetune", &[], &graph, &stream);
    let smoothed = [("smoothed-buffer", json!(true)), ("shuffle", json!(true))];
    let found = accuracy("oodcil", &smoothed, &graph, &stream);
    assert!(found > finetune + 5.0, "{found} {finetune}");
}

/// A task of nodes in a ring, or without edges; `classes` holds the class of every node.
fn small_task(number: u64, classes: &[u32], ring: bool) -> TrainingTask {
    let nodes = classes.len();
    let next: Vec<u32> = (1..=nodes as u32).map(|node| node % nodes as u32).collect();
    let own: Vec<u32> = (0..nodes as u32).collect();
    let arcs = match ring {
        true => {
            build_arcs(nodes, &own, &next, None, Direction::Undirected)
                .unwrap()
                .0
        }
        false => Arcs::none(nodes),
    };
    let count = classes.iter().max().unwrap() + 1;
    // Class c of task t has its own column, and there is a little of everything else.
    let value = |at: usize| {
        let (node, column) = (at / 12, at % 12);
        let own = (number as usize * 3 + classes[node] as usize) % 12 == column;
        f32::from(u8::from(own)) + (at * 7 % 5) as f32 / 20.0
    };
    let x: Vec<f32> = (0..nodes * 12).map(value).collect();
    let names = (0..count)
        .map(|class| format!("{number}.{class}"))
        .collect();
    let graph = Graph::new(Parts {
        arcs,
        features: Features::Dense(Dense::new(nodes, 12, x.into()).unwrap()),
        labels: Some(Labels::new(classes.to_vec().into(), names).unwrap()),
        names: NodeNames::Positions(nodes),
        split: None,
        origin: Origin::default(),
    })
    .unwrap();
    TrainingTask::new(graph, number, Shown::Train).unwrap()
}

fn answers(learner: &dyn Learner, task: &TrainingTask) -> Vec<Answer> {
    let nodes = task.train().nodes.clone();
    learner
        .predict(&Query::new(task.graph().clone(), nodes, Groups::Single))
        .unwrap()
}

#[test]
fn small_and_odd_tasks_are_learned() {
    let even = [0, 1, 0, 1, 0, 1];
    let streams = [
        ("one task", vec![small_task(1, &even, true)]),
        (
            "a task of one class",
            vec![small_task(1, &[0; 4], true), small_task(2, &even, true)],
        ),
        (
            "one class at last",
            vec![small_task(1, &even, true), small_task(2, &[0; 4], true)],
        ),
        (
            "a class of one node",
            vec![
                small_task(1, &[0, 0, 0, 1], true),
                small_task(2, &[0, 1, 1, 1, 1], true),
            ],
        ),
        (
            "a task without edges",
            vec![small_task(1, &even, false), small_task(2, &even, true)],
        ),
        (
            "one node alone",
            vec![small_task(1, &[0], false), small_task(2, &even, false)],
        ),
    ];
    for (what, tasks) in &streams {
        for name in ALL {
            let mut learner = built(name, &[("epochs", json!(60))]);
            learner.learn(tasks, &Silent).unwrap();
            for task in tasks {
                let found = answers(&*learner, task);
                let sound = |answer: &Answer| {
                    let sum: f32 = answer.probabilities.iter().sum();
                    (answer.task as usize) < tasks.len() && sum.is_finite() && sum <= 1.001
                };
                assert_eq!(found.len(), task.train().nodes.len());
                assert!(found.iter().all(sound), "{name} on {what}: {found:?}");
            }
            assert!(learner.stored().memory > 0, "{name} keeps something");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (graph, stream) = demo();
    let tasks = &tasks_of(&graph, &stream, Shown::Train).unwrap()[..3];
    for name in ["ergnn", "ssm-degree", "sem", "oodcil"] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let mut learner = built(name, &[("epochs", json!(20))]);
                learner.learn(tasks, &Silent).unwrap();
                let nodes = NodeId::first(tasks[1].graph().nodes()).collect();
                let query = Query::new(tasks[1].graph().clone(), nodes, Groups::Single);
                learner.predict(&query).unwrap()
            })
        };
        let one = with(1);
        assert_eq!(one, with(2), "{name}");
        assert_eq!(one, with(7), "{name}");
    }
}

#[test]
fn one_seed_gives_one_result_and_another_seed_another() {
    let (graph, stream) = demo();
    let tasks = &tasks_of(&graph, &stream, Shown::Train).unwrap()[..2];
    for name in ALL {
        let with = |seed: u64| {
            let mut learner = built(name, &[("epochs", json!(5)), ("seed", json!(seed))]);
            learner.learn(tasks, &Silent).unwrap();
            answers(&*learner, &tasks[0])
        };
        assert_eq!(with(3), with(3), "{name}");
        assert_ne!(with(3), with(4), "{name}");
    }
}
