//! Learners that condense tasks, and networks of their own for every task, over whole streams and at their edges.
#![allow(clippy::unwrap_used, clippy::panic)]

use treering_data::{Context, Recipe, Silent, Stream, StreamOptions, synthesize};
use treering_eval::{Protocol, evaluate, tasks_of};
use treering_graph::{
    Arcs, Dense, Direction, Features, Graph, Labels, NodeId, NodeNames, Origin, Parts, Sparse,
    build_arcs,
};
use treering_learn::baselines::{cat, delome};
use treering_learn::{Answer, Groups, LearnError, Learner, Query, Shown, TrainingTask, registry};

const NAMES: [&str; 3] = ["cat", "delome", "task-specific"];

fn small(preset: &str, scale: f64) -> (Graph, Stream) {
    let context = Context::with_free_memory(&Silent);
    let recipe = Recipe::preset(preset).unwrap().scaled(scale).unwrap();
    let graph = synthesize(&recipe, &context).unwrap();
    let stream = Stream::plan(&graph, &StreamOptions::default()).unwrap();
    assert!(stream.tasks.len() >= 3, "the tests need a few tasks");
    (graph, stream)
}

/// Small and quick, with some parameters changed.
fn quick(name: &str, changed: &[(&str, serde_json::Value)]) -> Box<dyn Learner> {
    let mut all = vec![("hidden", 32.into()), ("epochs", 60.into())];
    match name {
        "cat" => all.extend([
            ("encoders", 40.into()),
            ("width", 48.into()),
            ("budget", 20.into()),
        ]),
        "delome" => all.extend([("networks", 20.into()), ("budget", 20.into())]),
        _ => {}
    }
    all.extend_from_slice(changed);
    let all: Vec<(String, serde_json::Value)> = all
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    registry::build(name, registry::complete(name, &all).unwrap()).unwrap()
}

fn accuracy(learner: &mut dyn Learner, graph: &Graph, stream: &Stream) -> f64 {
    let done = evaluate(learner, graph, stream, &[Protocol::Paper], &Silent).unwrap();
    done.outcomes[0].matrix.average_accuracy().unwrap()
}

#[test]
fn condensed_tasks_are_remembered_where_fine_tuning_forgets() {
    let (graph, stream) = small("demo", 0.4);
    let lower = accuracy(&mut *quick("finetune", &[]), &graph, &stream);
    for name in ["cat", "delome"] {
        let mut learner = quick(name, &[]);
        let found = accuracy(&mut *learner, &graph, &stream);
        assert!(found > lower + 15.0, "{name} {found}, finetune {lower}");
        assert!(learner.stored().memory > 0);
    }
    let mut own = quick("task-specific", &[]);
    let done = evaluate(&mut *own, &graph, &stream, &[Protocol::Paper], &Silent).unwrap();
    let matrix = &done.outcomes[0].matrix;
    assert_eq!(matrix.average_forgetting(), Some(0.0));
    assert!(matrix.average_accuracy().unwrap() > lower + 15.0);
    assert_eq!(own.stored().memory, 0);
}

#[test]
fn every_parameter_changes_something() {
    let (graph, stream) = small("corafull-like", 0.03);
    let tasks = &tasks_of(&graph, &stream, Shown::Train).unwrap()[..3];
    let variants: [(&str, &[(&str, serde_json::Value)]); 10] = [
        ("cat", &[("class-ratio", true.into())]),
        ("cat", &[("real-rows", 8.into())]),
        ("cat", &[("columns", "all".into())]),
        ("cat", &[("with-real-rows", true.into())]),
        ("cat", &[("balanced", true.into())]),
        ("delome", &[("loss", "raw-logits".into())]),
        ("delome", &[("balance", "weights".into())]),
        ("delome", &[("balance", "none".into())]),
        ("delome", &[("tau", 0.5.into())]),
        ("delome", &[("columns", "all".into())]),
    ];
    for (name, changed) in variants {
        let (plain, other) = (learned(name, &[], tasks), learned(name, changed, tasks));
        assert_ne!(plain, other, "{name} {changed:?}");
    }
}

/// Answers about all nodes of the first task after learning all tasks.
fn learned(
    name: &str,
    changed: &[(&str, serde_json::Value)],
    tasks: &[TrainingTask],
) -> Vec<Answer> {
    let mut learner = quick(name, changed);
    learner.learn(tasks, &Silent).unwrap();
    ask(&*learner, &tasks[0])
}

fn ask(learner: &dyn Learner, task: &TrainingTask) -> Vec<Answer> {
    let nodes = NodeId::first(task.graph().nodes()).collect();
    let query = Query::new(task.graph().clone(), nodes, Groups::All);
    learner.predict(&query).unwrap()
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for (graph, stream) in [small("demo", 0.4), small("corafull-like", 0.03)] {
        let tasks = &tasks_of(&graph, &stream, Shown::Train).unwrap()[..2];
        for name in NAMES {
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(|| learned(name, &[], tasks))
            };
            let one = with(1);
            assert_eq!(one, with(2), "{name}");
            assert_eq!(one, with(7), "{name}");
        }
    }
}

/// A task of six nodes on a ring, or without edges; features dense or sparse.
fn tiny(class_of: &[u32], edges: bool, sparse: bool) -> TrainingTask {
    let nodes = class_of.len();
    let classes = class_of.iter().max().unwrap() + 1;
    let ring: Vec<u32> = (0..nodes as u32).collect();
    let next: Vec<u32> = ring.iter().map(|node| (node + 1) % nodes as u32).collect();
    let arcs = match edges {
        true => {
            build_arcs(nodes, &ring, &next, None, Direction::Directed)
                .unwrap()
                .0
        }
        false => Arcs::none(nodes),
    };
    let value = |node: usize, column: usize| match column as u32 == class_of[node] {
        true => 1.0 + node as f32 / 10.0,
        false => 0.0,
    };
    let features = match sparse {
        false => {
            let values: Vec<f32> = (0..nodes * 6).map(|i| value(i / 6, i % 6)).collect();
            Features::Dense(Dense::new(nodes, 6, values.into()).unwrap())
        }
        true => {
            let values: Vec<f32> = (0..nodes)
                .map(|node| value(node, class_of[node] as usize))
                .collect();
            let offsets: Vec<u64> = (0..=nodes as u64).collect();
            Features::Sparse(
                Sparse::new(6, offsets.into(), class_of.to_vec().into(), values.into()).unwrap(),
            )
        }
    };
    let names = (0..classes).map(|class| format!("class {class}")).collect();
    let graph = Graph::new(Parts {
        arcs,
        features,
        labels: Some(Labels::new(class_of.to_vec().into(), names).unwrap()),
        names: NodeNames::Positions(nodes),
        split: None,
        origin: Origin::default(),
    })
    .unwrap();
    TrainingTask::new(graph, 0, Shown::Train).unwrap()
}

#[test]
fn tasks_at_the_edge_are_learned() {
    let kinds: [(&str, &[u32], bool); 5] = [
        ("two classes", &[0, 0, 0, 1, 1, 1], true),
        ("one class", &[0, 0, 0, 0, 0, 0], true),
        ("a class with one train node", &[0, 0, 0, 0, 0, 1], true),
        ("no edges", &[0, 0, 0, 1, 1, 1], false),
        ("one node", &[0], false),
    ];
    for name in NAMES {
        for (kind, class_of, edges) in kinds {
            for sparse in [false, true] {
                let task = tiny(class_of, edges, sparse);
                let answers = learned(name, &[], std::slice::from_ref(&task));
                let sound = answers.iter().all(|answer| {
                    answer.probabilities.iter().all(|p| p.is_finite())
                        && answer.probabilities.len() == task.classes().len()
                });
                assert!(sound && answers.len() == class_of.len(), "{name}, {kind}");
                if kind == "no edges" {
                    let right = answers.iter().zip(class_of);
                    assert!(
                        right.into_iter().all(|(a, &c)| a.class() == c as usize),
                        "{name}"
                    );
                }
            }
        }
    }
}

#[test]
fn memories_hold_what_their_budgets_say() {
    let (graph, stream) = small("demo", 0.4);
    let tasks = &tasks_of(&graph, &stream, Shown::Train).unwrap()[..2];
    let rows_of = |task: &TrainingTask, class: u32| {
        let classes = task.train().classes.iter();
        classes.filter(|&&other| other == class).count()
    };
    let mut parameters = delome::Parameters {
        budget: 30,
        networks: 1,
        ..delome::Parameters::default()
    };
    parameters.training.epochs = 1;
    let mut learner = delome::learner(parameters).unwrap();
    learner.learn(tasks, &Silent).unwrap();
    let mut first = 0;
    for (block, task) in learner.strategy().bank().iter().zip(tasks) {
        for class in 0..task.classes().len() as u32 {
            let kept = block.labels.iter().filter(|&&label| label == first + class);
            assert_eq!(kept.count(), rows_of(task, class).min(30));
        }
        first += task.classes().len() as u32;
    }
    let mut parameters = cat::Parameters {
        budget: 7,
        encoders: 1,
        width: 8,
        ..cat::Parameters::default()
    };
    parameters.training.epochs = 1;
    let mut learner = cat::learner(parameters).unwrap();
    learner.learn(tasks, &Silent).unwrap();
    for (block, task) in learner.strategy().bank().iter().zip(tasks) {
        assert_eq!(block.labels.len(), 7 * task.classes().len());
        assert_eq!(block.values.len(), block.labels.len() * block.columns.len());
    }
}

#[test]
fn without_a_step_synthetic_rows_are_train_rows() {
    let (graph, stream) = small("corafull-like", 0.03);
    let task = &tasks_of(&graph, &stream, Shown::Train).unwrap()[..1];
    let mut parameters = cat::Parameters {
        encoders: 0,
        ..cat::Parameters::default()
    };
    parameters.training.epochs = 0;
    let mut learner = cat::learner(parameters).unwrap();
    learner.learn(task, &Silent).unwrap();
    let (features, train) = (task[0].graph().features().to_dense(), task[0].train());
    let block = &learner.strategy().bank()[0];
    for (row, &label) in block.values.chunks(block.columns.len()).zip(&block.labels) {
        let mut full = vec![0f32; features.columns()];
        let columns = block.columns.iter().zip(row);
        columns.for_each(|(&column, &value)| full[column as usize] = value);
        let mut known = train.nodes.iter().zip(&train.classes);
        assert!(known.any(|(node, &class)| class == label && features.row(node.index()) == full));
    }
}

#[test]
fn the_true_task_can_be_given_and_earlier_stages_come_back() {
    let (graph, stream) = small("demo", 0.4);
    let tasks = tasks_of(&graph, &stream, Shown::Train).unwrap();
    let mut all = quick("task-specific", &[]);
    all.learn(&tasks, &Silent).unwrap();
    let mut two = quick("task-specific", &[]);
    two.learn(&tasks[..2], &Silent).unwrap();
    let nodes: Vec<NodeId> = NodeId::first(tasks[1].graph().nodes()).collect();
    let mut query = Query::new(tasks[1].graph().clone(), nodes.clone(), Groups::Single);
    let right = two.predict(&query).unwrap();
    query.seen = Some(2);
    assert_eq!(all.predict(&query).unwrap(), right);
    assert!(
        right.iter().any(|answer| answer.task == 0),
        "some nodes look like task 0"
    );
    query.tasks = Some(vec![1; nodes.len()]);
    let given = all.predict(&query).unwrap();
    assert!(given.iter().all(|answer| answer.task == 1));
    query.tasks = Some(vec![2; nodes.len()]);
    let refused = all.predict(&query);
    assert!(matches!(
        refused,
        Err(LearnError::NoSuchTask { task: 2, .. })
    ));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let build = |name: &str, key: &str, value: serde_json::Value| {
        let changed = [(key.to_owned(), value)];
        registry::build(name, registry::complete(name, &changed).unwrap()).map(|_| ())
    };
    for (name, key, value) in [
        ("cat", "budget", 0.into()),
        ("cat", "width", 0.into()),
        ("cat", "condense-rate", 0.0.into()),
        ("cat", "batch", 10.into()),
        ("delome", "budget", 0.into()),
        ("delome", "tau", (-1.0).into()),
        ("task-specific", "tp-smoothing", 5000.into()),
    ] {
        let refused = build(name, key, value);
        assert!(
            matches!(refused, Err(LearnError::Parameter { .. })),
            "{name} {key}"
        );
    }
    assert!(build("delome", "loss", "squared".into()).is_err());
    let twice = build("task-specific+tp", "seed", 1.into());
    assert!(
        matches!(twice, Err(LearnError::RecognisesAlready(_))),
        "{twice:?}"
    );
}
