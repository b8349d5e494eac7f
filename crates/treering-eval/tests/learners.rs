//! What holds for every learner of the registry.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{by_training, graph, learner, names, small, stream};
use serde_json::Value;
use treering_data::{Silent, Stream, StreamOptions};
use treering_eval::{Asked, Exam, Protocol, evaluate, tasks_of};
use treering_graph::{Graph, Role};
use treering_learn::registry;
use treering_learn::{Groups, LearnError, Query, Shown, TrainingTask};

#[test]
fn small_and_odd_streams_are_learned_by_every_learner() {
    let with_edges = graph(4, 20, true);
    let cases = [
        ("one task", graph(2, 20, true), 2),
        ("one class a task", with_edges.clone(), 1),
        ("tasks without edges", graph(4, 20, false), 2),
        (
            "classes of three nodes, one train node each",
            graph(4, 3, true),
            2,
        ),
        ("three classes a task", graph(6, 10, true), 3),
    ];
    for name in names() {
        for (what, graph, per_task) in &cases {
            let stream = stream(graph, *per_task);
            for exams in by_training() {
                let done = evaluate(&mut *learner(&name, &[]), graph, &stream, &exams, &Silent)
                    .unwrap_or_else(|error| panic!("{name}, {what}: {error}"));
                for outcome in done.outcomes {
                    let accuracy = outcome.matrix.average_accuracy().unwrap();
                    assert!(
                        (0.0..=100.0).contains(&accuracy),
                        "{name}, {what}, {}: {accuracy}",
                        outcome.protocol
                    );
                }
            }
        }
    }
}

#[test]
fn a_class_with_a_single_train_node_is_learned_by_every_learner() {
    let graph = graph(4, 12, true);
    // One train node in every class but the first of each task.
    let roles = (0..48)
        .map(|node| match (node / 12 % 2, node % 12) {
            (_, 0) | (0, 0..8) => Role::Train,
            (_, 8 | 9) => Role::Validation,
            _ => Role::Test,
        })
        .collect();
    let graph = graph.with_split(roles).unwrap();
    let options = StreamOptions {
        split: treering_data::SplitSource::Own,
        ..StreamOptions::default()
    };
    let stream = Stream::plan(&graph, &options).unwrap();
    for name in names() {
        let done = evaluate(
            &mut *learner(&name, &[]),
            &graph,
            &stream,
            &[Protocol::Paper],
            &Silent,
        );
        let done = done.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            done.outcomes[0].matrix.average_accuracy().is_some(),
            "{name}"
        );
    }
}

#[test]
fn queries_that_do_not_fit_are_refused_by_every_learner() {
    let (data, wide) = (graph(4, 10, true), graph(6, 10, true));
    let tasks = tasks_of(&data, &stream(&data, 2), Shown::Train).unwrap();
    let other = tasks_of(&wide, &stream(&wide, 2), Shown::Train).unwrap();
    for name in names() {
        let mut learner = learner(&name, &[]);
        let query = |graph: &Graph, nodes: Vec<u32>| {
            let nodes = nodes.into_iter().map(treering_graph::NodeId).collect();
            Query::new(graph.clone(), nodes, Groups::Single)
        };
        let asked = query(&data, vec![0, 1]);
        assert_eq!(learner.predict(&asked), Err(LearnError::Nothing), "{name}");
        learner.learn(&tasks, &Silent).unwrap();
        assert_eq!(learner.predict(&asked).unwrap().len(), 2, "{name}");
        let refused = |query: &Query| learner.predict(query).unwrap_err();
        assert!(
            matches!(refused(&query(&wide, vec![0])), LearnError::Width { .. }),
            "{name}"
        );
        assert!(
            matches!(
                refused(&query(&data, vec![40])),
                LearnError::NoSuchNode { .. }
            ),
            "{name}"
        );
        let mut unknown = asked.clone();
        unknown.tasks = Some(vec![0, 2]);
        assert!(
            matches!(refused(&unknown), LearnError::NoSuchTask { task: 2, .. }),
            "{name}"
        );
        let mut short = asked.clone();
        short.tasks = Some(vec![0]);
        assert!(
            matches!(refused(&short), LearnError::Groups { .. }),
            "{name}"
        );
        let mut later = asked.clone();
        later.seen = Some(3);
        assert!(
            matches!(refused(&later), LearnError::Stage { .. }),
            "{name}"
        );
        assert!(
            matches!(
                learner.learn(&other[..1], &Silent),
                Err(LearnError::Width { .. })
            ),
            "{name}"
        );
    }
}

#[test]
fn the_task_that_a_query_names_is_the_task_of_every_answer() {
    let data = graph(4, 10, true);
    let tasks = tasks_of(&data, &stream(&data, 2), Shown::Train).unwrap();
    for name in names() {
        let mut learner = learner(&name, &[]);
        learner.learn(&tasks, &Silent).unwrap();
        let nodes = [0, 12, 25, 39].map(treering_graph::NodeId).to_vec();
        let mut query = Query::new(data.clone(), nodes, Groups::Single);
        query.tasks = Some(vec![1, 0, 1, 0]);
        let answers = learner.predict(&query).unwrap();
        let found: Vec<u32> = answers.iter().map(|answer| answer.task).collect();
        assert_eq!(found, [1, 0, 1, 0], "{name}");
        assert!(
            answers.iter().all(|answer| answer.probabilities.len() == 2),
            "{name}"
        );
    }
}

#[test]
fn the_number_of_threads_changes_no_bit_and_the_seed_changes_some() {
    for (data, stream) in [small("demo", 0.3), small("corafull-like", 0.02)] {
        let tasks = &tasks_of(&data, &stream, Shown::Train).unwrap()[..3];
        for name in names() {
            let with = |threads: usize, seed: u64| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                pool.build().unwrap().install(|| {
                    let more = [("epochs", 5.into()), ("seed", seed.into())];
                    let mut learner = learner(&name, &more);
                    learner.learn(tasks, &Silent).unwrap();
                    let nodes = treering_graph::NodeId::first(data.nodes()).collect();
                    let query = Query::new(data.clone(), nodes, Groups::Single);
                    learner.predict(&query).unwrap()
                })
            };
            assert!(with(1, 0) == with(3, 0), "{name}");
            assert!(with(1, 0) != with(1, 1), "{name}");
        }
    }
}

#[test]
fn fine_tuning_ends_with_the_last_task_and_nothing_else() {
    let data = graph(8, 20, true);
    let stream = stream(&data, 2);
    let mut learner = learner("finetune", &[("epochs", 200.into())]);
    let done = evaluate(&mut *learner, &data, &stream, &[Protocol::Paper], &Silent).unwrap();
    let matrix = &done.outcomes[0].matrix;
    assert!(
        (matrix.average_accuracy().unwrap() - 100.0 / 4.0).abs() < 1.0,
        "{matrix:?}"
    );
    assert!(matrix.average_forgetting().unwrap() < -95.0, "{matrix:?}");
}

#[test]
fn joint_training_knows_all_tasks_and_has_one_row_unless_asked_for_more() {
    let data = graph(6, 20, true);
    let stream = stream(&data, 2);
    let run = |every: bool| {
        let mut learner = learner(
            "joint",
            &[("epochs", 200.into()), ("every-stage", every.into())],
        );
        let exams = [Protocol::Paper, Protocol::Oracle];
        evaluate(&mut *learner, &data, &stream, &exams, &Silent)
            .unwrap()
            .outcomes
    };
    let (once, every) = (run(false), run(true));
    assert_eq!(once[0].matrix.rows()[2], every[0].matrix.rows()[2]);
    assert_eq!(once[0].matrix.average_forgetting(), None);
    assert!(every[0].matrix.average_forgetting().is_some());
    assert!(once[0].matrix.average_accuracy().unwrap() > 99.0);
    assert!(once[1].matrix.average_accuracy() >= once[0].matrix.average_accuracy());
}

#[test]
fn batches_learn_as_well_as_whole_tasks() {
    let data = graph(4, 20, true);
    let stream = stream(&data, 4);
    let accuracy = |batch: u64| {
        let mut learner = learner(
            "finetune",
            &[("batch", batch.into()), ("epochs", 60.into())],
        );
        let done = evaluate(&mut *learner, &data, &stream, &[Protocol::Paper], &Silent).unwrap();
        done.outcomes[0].matrix.average_accuracy().unwrap()
    };
    assert_eq!(
        (accuracy(0), accuracy(7), accuracy(1000)),
        (100.0, 100.0, 100.0)
    );
}

#[test]
fn validation_nodes_are_asked_about_apart_from_test_nodes() {
    let data = graph(4, 20, true);
    let stream = stream(&data, 2);
    let exam = |asked| Exam {
        asked,
        ..Protocol::Paper.into()
    };
    let mut learner = learner("finetune+tp", &[]);
    let exams = [
        exam(Asked::Test),
        exam(Asked::Validation),
        Exam {
            host: true,
            ..exam(Asked::Test)
        },
    ];
    let done = evaluate(&mut *learner, &data, &stream, &exams, &Silent).unwrap();
    // 20 nodes: 12 train, 4 validation, 4 test; a group has two classes.
    assert_eq!(done.outcomes.len(), 3);
    let (with, without) = (&done.outcomes[0].matrix, &done.outcomes[2].matrix);
    assert!(with.average_accuracy() > without.average_accuracy());
    assert_eq!(done.outcomes[0].task_accuracy(), Some(100.0));
}

#[test]
fn names_that_nobody_has_are_answered_with_the_nearest() {
    let error = registry::complete("finetun", &[]).unwrap_err();
    assert!(
        error.to_string().contains("did you mean finetune"),
        "{error}"
    );
    let set = |key: &str, value: Value| {
        registry::complete("joint+tp", &[(key.to_owned(), value)])
            .map(drop)
            .map_err(|error| error.to_string())
    };
    assert!(
        set("epoch", 3.into())
            .unwrap_err()
            .contains("did you mean epochs")
    );
    assert!(
        set("tp-smoothin", 3.into())
            .unwrap_err()
            .contains("tp-smoothing")
    );
    assert!(
        set("epochs", "many".into())
            .unwrap_err()
            .contains("whole number")
    );
    assert!(
        set("epochs", (-1).into())
            .unwrap_err()
            .contains("whole number")
    );
    assert!(
        set("every-stage", 1.into())
            .unwrap_err()
            .contains("true or false")
    );
    assert_eq!(set("rate", 1.into()), Ok(()));
    let error = set("tp-profile", "sharp".into()).unwrap_err();
    assert!(
        error.contains("joint+tp.tp-profile is \"sharp\"") && error.contains("feature-mean"),
        "{error}"
    );
    let changed = [("sampler".to_owned(), "best".into())];
    let error = registry::complete("ergnn", &changed)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("ergnn.sampler is \"best\"") && error.contains("coverage"),
        "{error}"
    );
    let changed = [("hidden".to_owned(), Value::from(0))];
    let settings = registry::complete("finetune", &changed).unwrap();
    let error = registry::build("finetune", settings).map(drop).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("hidden is 0; it has to be between 1 and 8192"),
        "{error}"
    );
    let error = registry::build("tpp+tp", registry::defaults("tpp+tp").unwrap())
        .map(drop)
        .unwrap_err();
    assert!(
        error.to_string().contains("recognises tasks by itself"),
        "{error}"
    );
}

#[test]
fn outputs_from_the_start_change_what_is_learned_but_not_what_may_be_answered() {
    let data = graph(6, 10, true);
    let stream = stream(&data, 2);
    let tasks = tasks_of(&data, &stream, Shown::Train).unwrap();
    for name in names() {
        let known = registry::keys(&registry::defaults(&name).unwrap(), "");
        if !known.iter().any(|key| key == "outputs") {
            continue;
        }
        let more = [("outputs", 9.into())];
        let built = registry::complete(&name, &[("outputs".to_owned(), 9.into())]).unwrap();
        if registry::build(&name, built).is_err() {
            assert!(
                ["oodcil", "oodcil+tp", "task-specific"].contains(&&*name),
                "{name}"
            );
            continue;
        }
        let (mut early, mut late) = (learner(&name, &more), learner(&name, &[]));
        let nodes: Vec<_> = treering_graph::NodeId::first(60).collect();
        let query = Query::new(data.clone(), nodes, Groups::Single);
        for (at, task) in tasks.chunks(1).enumerate() {
            early.learn(task, &Silent).unwrap();
            late.learn(task, &Silent).unwrap();
            let answers = early.predict(&query).unwrap();
            assert!(
                answers.iter().all(|answer| answer.task as usize <= at),
                "{name}"
            );
            assert!(
                answers.iter().all(|answer| answer.probabilities.len() == 2),
                "{name}"
            );
        }
        // Joint training starts anew and has all outputs from the start either way.
        let same = early.predict(&query) == late.predict(&query);
        assert_eq!(same, name.starts_with("joint"), "{name}");
        assert!(early.stored().model > late.stored().model, "{name}");
    }
}

#[test]
fn a_task_is_shown_without_what_the_protocol_hides() {
    let data = graph(4, 20, true);
    let task: &TrainingTask = &tasks_of(&data, &stream(&data, 2), Shown::Train).unwrap()[0];
    assert!(task.graph().labels().is_none() && task.validation().is_none());
    assert_eq!(task.train().nodes.len(), 24);
}
