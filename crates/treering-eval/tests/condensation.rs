//! Learners that condense tasks, and networks of their own for every task, over whole streams.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{accuracy, built, small};
use treering_data::Silent;
use treering_eval::{Protocol, evaluate, tasks_of};
use treering_graph::NodeId;
use treering_learn::baselines::{cat, delome};
use treering_learn::{Answer, Groups, LearnError, Learner, Query, Shown, TrainingTask, registry};

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
    built(name, &all)
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
        registry::build(name, registry::complete(name, &changed)?).map(drop)
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
