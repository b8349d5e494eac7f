//! The rules by which a graph becomes a stream, on graphs small enough to check by hand.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use treering_data::{
    ClassOrder, Context, DropReason, Grouping, InterTask, Recipe, Silent, SplitSource, Stream,
    StreamError, StreamOptions, WriteFormat, read, split_counts, synthesize,
};
use treering_graph::{
    ClassId, Dense, Direction, Features, Graph, Labels, NodeId, NodeNames, Origin, Parts, Role,
    TaskId, build_arcs,
};

/// A ring of nodes; class c has `sizes[c]` of them, dealt out in turn; the nodes after them have no label.
fn ring(sizes: &[usize], unlabelled: usize) -> Graph {
    let mut left = sizes.to_vec();
    let mut class_of = Vec::new();
    while left.iter().any(|&n| n > 0) {
        for (class, n) in left.iter_mut().enumerate().filter(|(_, n)| **n > 0) {
            *n -= 1;
            class_of.push(class as u32);
        }
    }
    class_of.extend(vec![Labels::NONE; unlabelled]);
    let nodes = class_of.len();
    let sources: Vec<u32> = (0..nodes as u32).collect();
    let targets: Vec<u32> = sources.iter().map(|s| (s + 1) % nodes as u32).collect();
    let names = (0..sizes.len()).map(|c| format!("c{c}")).collect();
    Graph::new(Parts {
        arcs: build_arcs(nodes, &sources, &targets, None, Direction::Undirected)
            .unwrap()
            .0,
        features: Features::Dense(Dense::new(nodes, 1, vec![0.0; nodes].into()).unwrap()),
        labels: Some(Labels::new(class_of.into(), names).unwrap()),
        names: NodeNames::Positions(nodes),
        split: None,
        origin: Origin::default(),
    })
    .unwrap()
}

fn classes(stream: &Stream) -> Vec<Vec<u32>> {
    stream
        .tasks
        .iter()
        .map(|task| task.classes.iter().map(|c| c.0).collect())
        .collect()
}

fn with(change: impl FnOnce(&mut StreamOptions)) -> StreamOptions {
    let mut options = StreamOptions::default();
    change(&mut options);
    options
}

#[test]
fn split_counts_follow_the_benchmark() {
    // The rule said the other way round: three fifths, rounded down, are for training; what is left is halved.
    for n in 3..2000 {
        let train = 3 * n / 5;
        let validation = (n - train) / 2;
        assert_eq!(split_counts(n), (train, validation, n - train - validation));
    }
    assert_eq!(split_counts(3), (1, 1, 1));
    assert_eq!(
        split_counts(2),
        (1, 0, 1),
        "two nodes cannot fill three parts"
    );
}

#[test]
fn small_and_left_over_classes_are_dropped_and_named() {
    let graph = ring(&[5, 2, 5, 5, 5, 1, 5], 3);
    let stream = Stream::plan(&graph, &StreamOptions::default()).unwrap();
    assert_eq!(classes(&stream), [[0, 2], [3, 4]]);
    let dropped: Vec<_> = stream
        .dropped
        .iter()
        .map(|d| (d.class.as_str(), d.nodes, d.reason))
        .collect();
    assert_eq!(
        dropped,
        [
            ("c1", 2, DropReason::TooSmall),
            ("c5", 1, DropReason::TooSmall),
            ("c6", 5, DropReason::Unpaired)
        ]
    );
    assert_eq!(stream.unlabelled, 3);
}

#[test]
fn every_order_keeps_the_same_classes() {
    let graph = ring(&[5; 7], 0);
    let plan =
        |order, seed| Stream::plan(&graph, &with(|o| (o.order, o.seed) = (order, seed))).unwrap();
    assert_eq!(
        classes(&plan(ClassOrder::Descending, 0)),
        [[5, 4], [3, 2], [1, 0]]
    );
    let random = classes(&plan(ClassOrder::Random, 1));
    let mut all = random.concat();
    all.sort();
    assert_eq!(
        all,
        [0, 1, 2, 3, 4, 5],
        "class 6 is the one left over, as in ascending order"
    );
    assert_eq!(random, classes(&plan(ClassOrder::Random, 1)));
    assert!((2..20).any(|seed| classes(&plan(ClassOrder::Random, seed)) != random));
}

#[test]
fn the_split_of_a_class_depends_on_its_seed_alone() {
    let graph = ring(&[20, 20, 20, 20], 0);
    let roles_of = |options: &StreamOptions, class: u32| {
        let stream = Stream::plan(&graph, options).unwrap();
        let labels = graph.labels().unwrap();
        let mut roles: Vec<(NodeId, Role)> = stream
            .tasks
            .iter()
            .flat_map(|task| task.nodes.iter().copied().zip(task.roles.iter().copied()))
            .filter(|(node, _)| labels.class_of(*node) == Some(ClassId(class)))
            .collect();
        roles.sort();
        roles
    };
    let base = roles_of(&StreamOptions::default(), 1);
    assert_eq!(
        base,
        roles_of(&with(|o| (o.order, o.seed) = (ClassOrder::Random, 9)), 1)
    );
    assert_ne!(base, roles_of(&with(|o| o.split_seed = 1), 1));
}

#[test]
fn groups_by_name() {
    let graph = ring(&[5; 5], 0);
    let group = |names: &[&[&str]]| {
        let groups = names
            .iter()
            .map(|g| g.iter().map(|n| (*n).to_owned()).collect())
            .collect();
        Stream::plan(&graph, &with(|o| o.grouping = Grouping::Groups(groups)))
    };
    let stream = group(&[&["c3"], &["c0", "c4", "c1"]]).unwrap();
    assert_eq!(classes(&stream), [vec![3], vec![0, 4, 1]]);
    assert_eq!(stream.dropped[0].reason, DropReason::NotChosen);
    let error = group(&[&["c0", "cc1"]]).unwrap_err();
    assert!(
        matches!(&error, StreamError::UnknownClass { near, .. } if near.contains(&"c1".to_owned())),
        "{error}"
    );
    assert!(matches!(
        group(&[&["c0"], &["c0"]]),
        Err(StreamError::ClassTwice { .. })
    ));
}

#[test]
fn plans_that_cannot_be() {
    let graph = ring(&[5, 5], 0);
    let per_task = |k| Stream::plan(&graph, &with(|o| o.grouping = Grouping::PerTask(k)));
    assert_eq!(per_task(0).unwrap_err(), StreamError::ClassesPerTask(0));
    assert!(matches!(
        per_task(3),
        Err(StreamError::TooFewClasses { usable: 2, .. })
    ));
    assert_eq!(per_task(1).unwrap().tasks.len(), 2);
    let own = Stream::plan(&graph, &with(|o| o.split = SplitSource::Own));
    assert_eq!(own.unwrap_err(), StreamError::NoSplit);
}

#[test]
fn the_data_sets_own_split_is_kept() {
    let graph = ring(&[4, 4, 4], 0);
    // Class by class in turn: 0, 1, 2, 0, 1, 2, ... Class 2 gets no test node.
    let role = |node: usize| match (node % 3, node / 3) {
        (_, 0) => Role::Train,
        (_, 1) => Role::Validation,
        (2, _) => Role::Train,
        (_, 2) => Role::Test,
        _ => Role::None,
    };
    let graph = graph
        .clone()
        .with_split((0..12).map(role).collect())
        .unwrap();
    let stream = Stream::plan(&graph, &with(|o| o.split = SplitSource::Own)).unwrap();
    assert_eq!(stream.dropped[0].reason, DropReason::NotInSplit);
    let task = &stream.tasks[0];
    assert_eq!(task.nodes, [0, 3, 6, 1, 4, 7].map(NodeId));
    assert_eq!(task.roles[..3], [Role::Train, Role::Validation, Role::Test]);
}

#[test]
fn a_task_graph_has_its_own_nodes_edges_and_classes() {
    let graph = ring(&[3, 3, 3, 3], 0);
    let options = with(|o| o.order = ClassOrder::Descending);
    let stream = Stream::plan(&graph, &options).unwrap();
    let cut = stream.task_graph(&graph, TaskId(1));
    assert_eq!(stream.tasks[1].classes, [ClassId(1), ClassId(0)]);
    assert_eq!(cut.labels().unwrap().names(), ["c1", "c0"]);
    assert_eq!(cut.labels().unwrap().raw(), [0, 0, 0, 1, 1, 1]);
    let expected = [Role::Train, Role::Validation, Role::Test].repeat(2);
    assert_eq!(cut.split().unwrap(), expected);
    // Of the ring 0 1 2 3 0 1 2 3 ... only the edges between classes 0 and 1 are left: three of them.
    assert_eq!(cut.arcs().len(), 6);

    let kept = with(|o| (o.order, o.inter_task) = (ClassOrder::Descending, InterTask::Kept));
    let stream = Stream::plan(&graph, &kept).unwrap();
    let cut = stream.task_graph(&graph, TaskId(1));
    assert_eq!((cut.nodes(), cut.arcs().len()), (12, 24), "the whole ring");
    assert_eq!(
        cut.labels().unwrap().raw()[6..],
        [Labels::NONE; 6],
        "earlier labels are gone"
    );
    assert_eq!(cut.split().unwrap()[6..], [Role::None; 6]);
}

#[test]
fn written_streams_hold_what_was_planned() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("stream");
    let context = Context::with_free_memory(&Silent);
    let graph = synthesize(&Recipe::demo(), &context).unwrap();
    let stream = Stream::plan(&graph, &StreamOptions::default()).unwrap();
    stream
        .write(&graph, &folder, Some(WriteFormat::Native), false, &context)
        .unwrap();
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("stream.json")).unwrap()).unwrap();
    assert_eq!(json["tasks"].as_array().unwrap().len(), 6);
    assert!(json["synthetic"].is_string());
    let text = std::fs::read_to_string(folder.join("nodes.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("task,node,id,class,label,split"));
    let total: usize = stream.tasks.iter().map(|task| task.nodes.len()).sum();
    assert_eq!(text.lines().count(), total + 1);
    for task in &stream.tasks {
        let path = folder.join(format!("tasks/{:04}.treering", task.id.0 + 1));
        let back = read(&path, &Default::default(), &context).unwrap().graph;
        assert!(back == stream.task_graph(&graph, task.id));
    }
}

proptest! {
    #[test]
    fn every_node_of_a_task_has_one_role(sizes in proptest::collection::vec(0usize..12, 1..9), k in 1usize..4, seed in 0u64..9) {
        let graph = ring(&sizes, 1);
        let usable = sizes.iter().filter(|&&n| n >= 3).count();
        let plan = Stream::plan(&graph, &with(|o| {
            o.grouping = Grouping::PerTask(k);
            o.order = ClassOrder::Random;
            o.seed = seed;
        }));
        let Ok(stream) = plan else {
            prop_assert!(usable < k);
            return Ok(());
        };
        prop_assert_eq!(stream.tasks.len(), usable / k);
        let mut seen = vec![false; graph.nodes()];
        for task in &stream.tasks {
            prop_assert_eq!(task.classes.len(), k);
            for node in &task.nodes {
                prop_assert!(!std::mem::replace(&mut seen[node.index()], true));
            }
            let counts: Vec<_> = task.classes.iter().map(|c| split_counts(sizes[c.index()])).collect();
            prop_assert_eq!(task.count(Role::Train), counts.iter().map(|c| c.0).sum::<usize>());
            prop_assert_eq!(task.count(Role::Validation), counts.iter().map(|c| c.1).sum::<usize>());
            prop_assert_eq!(task.count(Role::Test), counts.iter().map(|c| c.2).sum::<usize>());
        }
        prop_assert_eq!(stream.tasks.len() * k + stream.dropped.len(), sizes.len());
    }
}
