//! What no protocol lets through: labels of test nodes, other nodes of the query, the number of threads.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Recording, beside, by_training, graph, learner, names, small, stream};
use rand::seq::SliceRandom;
use treering_data::{Purpose, Silent, Stream, random};
use treering_eval::{Outcome, Protocol, evaluate};
use treering_graph::{Graph, Labels, NodeId, Role};
use treering_learn::{Answer, Query};

/// The same data with the labels of all nodes of the stream that are not shown shuffled among them.
fn shuffled(graph: &Graph, stream: &Stream, shown: &[Role]) -> Graph {
    let tasks = stream.tasks.iter();
    let roles = tasks.flat_map(|task| task.nodes.iter().zip(&task.roles));
    let hidden: Vec<&NodeId> = roles
        .filter(|(_, role)| !shown.contains(role))
        .map(|(node, _)| node)
        .collect();
    let labels = graph.labels().unwrap();
    let mut raw = labels.raw().to_vec();
    let mut drawn: Vec<u32> = hidden.iter().map(|node| raw[node.index()]).collect();
    drawn.shuffle(&mut random(5, Purpose::Sampling, 0));
    for (node, class) in hidden.iter().zip(drawn) {
        raw[node.index()] = class;
    }
    let labels = Labels::new(raw.into(), labels.names().to_vec()).unwrap();
    graph.clone().with_labels(labels).unwrap()
}

#[test]
fn hidden_labels_change_no_prediction_of_any_learner() {
    let honest = graph(4, 15, true);
    let stream = stream(&honest, 2);
    let other = shuffled(&honest, &stream, &[Role::Train]);
    let tests_only = shuffled(&honest, &stream, &[Role::Train, Role::Validation]);
    let run = |data: &Graph, name: &str, exams: &[Protocol]| {
        let mut learner = Recording::new(learner(name, &[("epochs", 5.into())]));
        let done = evaluate(&mut learner, data, &stream, exams, &Silent).unwrap();
        let said = learner.said.into_inner().into_iter();
        let answers: Vec<Vec<Answer>> = said.map(|(_, answers)| answers).collect();
        (answers, done.outcomes)
    };
    for name in names() {
        for exams in by_training() {
            // Who calibrates is shown validation labels too, but not under inductive.
            let calibrates = learner(&name, &[]).calibrates() && exams != [Protocol::Inductive];
            let other = if calibrates { &tests_only } else { &other };
            let (answers, outcomes) = run(&honest, &name, &exams);
            let (others, judged) = run(other, &name, &exams);
            assert!(answers == others, "{name}, {exams:?}");
            assert_eq!(answers.len(), judged.iter().map(asked).sum::<usize>());
            // The shuffle did something: the evaluator, which owns the labels, sees it.
            assert_ne!(outcomes, judged, "{name}");
        }
    }
}

/// How many queries an outcome was made of.
fn asked(outcome: &Outcome) -> usize {
    let stages = outcome.matrix.rows().iter().filter(|row| !row.is_empty());
    let tasks = outcome.matrix.rows().len();
    let queries = |row: &Vec<f64>| match outcome.protocol {
        Protocol::Mixed | Protocol::Connected => 1,
        Protocol::Open | Protocol::OpenGroups(_) => tasks,
        _ => row.len(),
    };
    stages.map(queries).sum()
}

/// The same query with a graph beside it that nothing is asked about.
fn among(query: &Query, others: &Graph) -> Query {
    let wide = beside(query.graph(), others);
    let mut wide = Query::new(wide, query.nodes.clone(), query.groups.clone());
    wide.seen = query.seen;
    wide
}

#[test]
fn unrelated_nodes_change_no_answer_where_nothing_is_patched() {
    for name in ["tpp", "treering"] {
        unrelated_nodes_change_nothing(name);
    }
}

fn unrelated_nodes_change_nothing(name: &str) {
    let (data, stream) = small("demo", 0.2);
    let exams = [
        Protocol::Single,
        Protocol::groups(3).unwrap(),
        Protocol::Mixed,
    ];
    let mut asked = Recording::new(learner(name, &[]));
    evaluate(&mut asked, &data, &stream, &exams, &Silent).unwrap();
    let said = asked.said.take();
    let others = stream.task_graph(&data, stream.tasks[0].id).unlabelled();
    assert!(said.iter().all(|(query, _)| query.patch.is_none()));
    for (query, answers) in &said {
        let again = asked.learner.predict(&among(query, &others)).unwrap();
        assert_eq!(answers.len(), again.len());
        for (a, b) in answers.iter().zip(&again) {
            assert!(close(a, b, 1e-9), "{a:?} {b:?}");
        }
    }
}

#[test]
fn a_node_among_all_tasks_is_answered_as_on_its_own_task() {
    for (name, margin) in [("tpp", 1e-9), ("treering", 1e-6)] {
        answered_among_all_as_alone(name, margin);
    }
}

fn answered_among_all_as_alone(name: &str, margin: f64) {
    let (data, stream) = small("demo", 0.2);
    let of = |protocol: Protocol| -> Vec<(String, Answer)> {
        let mut asked = Recording::new(learner(name, &[]));
        evaluate(&mut asked, &data, &stream, &[protocol], &Silent).unwrap();
        let last = stream.tasks.len();
        let said = asked.said.into_inner().into_iter();
        let mut answers: Vec<(String, Answer)> = said
            .filter(|(query, _)| query.seen == Some(last))
            .flat_map(|(query, answers)| {
                let names = query
                    .nodes
                    .iter()
                    .map(|&node| query.graph().names().name(node));
                names.collect::<Vec<_>>().into_iter().zip(answers)
            })
            .collect();
        answers.sort_by(|a, b| a.0.cmp(&b.0));
        answers
    };
    let (alone, mixed) = (of(Protocol::Single), of(Protocol::Mixed));
    assert_eq!(alone.len(), mixed.len());
    for (a, b) in alone.iter().zip(&mixed) {
        assert!(a.0 == b.0 && close(&a.1, &b.1, margin), "{a:?} {b:?}");
    }
}

/// Equal but for the order in which numbers are added.
///
/// # Arguments
/// * `margin`: how far margins may be apart; those of prototypes are worked out in f64, those of probabilities in f32.
fn close(a: &Answer, b: &Answer, margin: f64) -> bool {
    let pairs = a.probabilities.iter().zip(&b.probabilities);
    a.task == b.task
        && (a.margin == b.margin || (a.margin - b.margin).abs() < margin)
        && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-5)
}

#[test]
fn the_number_of_threads_changes_no_result_under_any_protocol() {
    let (data, stream) = small("demo", 0.2);
    for name in [
        "tpp",
        "treering",
        "task-specific",
        "finetune+tp",
        "ergnn",
        "oodcil",
    ] {
        for exams in by_training() {
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                pool.build().unwrap().install(|| {
                    let mut learner = Recording::new(learner(name, &[("epochs", 5.into())]));
                    let done = evaluate(&mut learner, &data, &stream, &exams, &Silent).unwrap();
                    let said = learner.said.into_inner().into_iter();
                    let answers: Vec<Vec<Answer>> = said.map(|(_, answers)| answers).collect();
                    (done.outcomes, answers)
                })
            };
            assert!(with(1) == with(3), "{name}, {exams:?}");
        }
    }
}

#[test]
fn every_learner_says_how_familiar_groups_are() {
    let data = graph(6, 12, true);
    let stream = stream(&data, 2);
    for name in names() {
        let mut learner = learner(&name, &[("epochs", 5.into())]);
        let done = evaluate(&mut *learner, &data, &stream, &[Protocol::Open], &Silent).unwrap();
        let open = done.outcomes[0].open.clone().unwrap();
        let there: Vec<bool> = open.stages.iter().map(Option::is_some).collect();
        // `joint` is asked at the end alone, when nothing is unknown.
        let asked = !name.starts_with("joint");
        assert_eq!(there, [asked, asked, false], "{name}");
        assert_eq!(open.auroc.is_some(), asked, "{name}");
        // Classes have features of their own, so prototypes tell them apart.
        if learner.recognises() && asked {
            assert_eq!(open.auroc, Some(100.0), "{name}");
        }
    }
}
