//! What each protocol shows, node by node and arc by arc, on a stream small enough to work out by hand.
#![allow(clippy::unwrap_used, clippy::panic)]

mod toy;

use std::collections::BTreeSet;

use toy::{EDGES, NODES, Reader, Seen, class, role, task, toy};
use treering_data::Silent;
use treering_eval::{Asked, Exam, Outcome, Protocol, evaluate, examine};
use treering_graph::Role;
use treering_learn::Groups;

fn run(protocol: Protocol, asked: Asked) -> (Reader, Outcome) {
    let (graph, stream) = toy();
    let exam = Exam {
        asked,
        seed: 7,
        ..protocol.into()
    };
    let mut reader = Reader::default();
    let mut done = evaluate(&mut reader, &graph, &stream, &[exam], &Silent).unwrap();
    (reader, done.outcomes.remove(0))
}

/// Names of the nodes for which something holds, in the order of the data.
fn nodes(wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    (0..NODES).filter(|&node| wanted(node)).collect()
}

/// The edges of which both ends are among some nodes.
fn edges(among: impl Fn(usize) -> bool) -> BTreeSet<(usize, usize)> {
    let both = |(a, b): &(usize, usize)| among(*a) && among(*b);
    EDGES.iter().copied().filter(both).collect()
}

fn wanted(asked: Asked) -> Role {
    match asked {
        Asked::Test => Role::Test,
        Asked::Validation => Role::Validation,
    }
}

/// Stage and task of every query about one task.
fn one_by_one() -> Vec<(usize, usize)> {
    (0..3)
        .flat_map(|stage| (0..=stage).map(move |task| (stage, task)))
        .collect()
}

/// A query about one task shows that task's whole graph, and asks about all its nodes of one role.
fn assert_task_query(seen: &Seen, stage: usize, of: usize, asked: Asked) {
    let own = |node: usize| task(node) == of;
    assert_eq!(sorted(&seen.shown), nodes(own));
    assert_eq!(seen.edges, edges(own));
    let role_of = wanted(asked);
    assert_eq!(
        sorted(&seen.nodes),
        nodes(|node| own(node) && role(node) == role_of)
    );
    assert_eq!(seen.learned, Some(stage + 1));
}

fn sorted(nodes: &[usize]) -> Vec<usize> {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes
}

#[test]
fn training_shows_the_whole_task_except_under_inductive() {
    for listed in Protocol::all() {
        let (reader, _) = run(listed.protocol, Asked::Test);
        assert_eq!(reader.lessons.len(), 3);
        for (of, lesson) in reader.lessons.iter().enumerate() {
            let inductive = listed.protocol == Protocol::Inductive;
            let there = |n: usize| task(n) == of && (!inductive || role(n) == Role::Train);
            assert_eq!(sorted(&lesson.shown), nodes(there), "{}", listed.name);
            assert_eq!(lesson.edges, edges(there), "{}", listed.name);
            let train = nodes(|n| task(n) == of && role(n) == Role::Train);
            let train: Vec<(usize, usize)> = train.iter().map(|&n| (n, class(n) % 2)).collect();
            assert_eq!(lesson.train, train, "{}", listed.name);
        }
    }
    // Of the three edges of every chain, none is between two train nodes; one joins the two classes.
    let (reader, _) = run(Protocol::Inductive, Asked::Test);
    assert_eq!(reader.lessons[1].edges, BTreeSet::from([(2, 3)]));
}

#[test]
fn paper_and_oracle_show_one_group_a_task_and_only_paper_patches() {
    for asked in [Asked::Test, Asked::Validation] {
        for protocol in [Protocol::Paper, Protocol::Oracle] {
            let (reader, _) = run(protocol, asked);
            let queries = reader.queries.borrow();
            assert_eq!(queries.len(), 6);
            for (seen, (stage, of)) in queries.iter().zip(one_by_one()) {
                assert_task_query(seen, stage, of, asked);
                assert_eq!(seen.groups, Groups::All);
                let oracle = protocol == Protocol::Oracle;
                let patch = (stage as u64) << 32 | of as u64;
                assert_eq!(seen.patch, (!oracle).then_some(patch));
                let tasks = vec![of as u32; seen.nodes.len()];
                assert_eq!(seen.tasks, oracle.then_some(tasks));
            }
        }
    }
}

#[test]
fn single_and_inductive_show_every_node_alone_on_the_whole_task() {
    for asked in [Asked::Test, Asked::Validation] {
        for protocol in [Protocol::Single, Protocol::Inductive, Protocol::Patched] {
            let (reader, _) = run(protocol, asked);
            let queries = reader.queries.borrow();
            assert_eq!(queries.len(), 6);
            for (seen, (stage, of)) in queries.iter().zip(one_by_one()) {
                assert_task_query(seen, stage, of, asked);
                assert_eq!(seen.groups, Groups::Single);
                assert_eq!(seen.patch.is_some(), protocol == Protocol::Patched);
                assert_eq!(seen.tasks, None);
            }
        }
    }
}

#[test]
fn groups_are_of_the_size_asked_for_and_the_same_at_every_stage() {
    let of = |size: u32, asked: Asked| run(Protocol::groups(size).unwrap(), asked).0;
    for (size, asked, sizes) in [
        (2, Asked::Test, &[2, 2][..]),
        (3, Asked::Test, &[4]),
        (4, Asked::Test, &[4]),
        (9, Asked::Test, &[4]),
        (2, Asked::Validation, &[2]),
    ] {
        let reader = of(size, asked);
        let queries = reader.queries.borrow();
        assert_eq!(queries.len(), 6);
        for (seen, (stage, task)) in queries.iter().zip(one_by_one()) {
            assert_task_query(seen, stage, task, asked);
            let Groups::Given(numbers) = &seen.groups else {
                panic!("groups of {size} are {:?}", seen.groups);
            };
            let count = |group: u32| numbers.iter().filter(|&&n| n == group).count();
            let found: Vec<usize> = (0..sizes.len() as u32).map(count).collect();
            assert_eq!(found, sizes, "{size}");
            assert_eq!((seen.patch, &seen.tasks), (None, &None));
            let same = queries.iter().zip(one_by_one());
            same.filter(|(_, (_, other))| *other == task)
                .for_each(|(other, _)| assert_eq!(other.groups, seen.groups));
        }
    }
}

#[test]
fn groups_are_drawn_from_the_seed_and_the_task_and_nothing_else() {
    let (graph, stream) = toy();
    let drawn = |seed: u64, others: &[Protocol]| -> Vec<Groups> {
        let groups = Exam {
            seed,
            ..Protocol::groups(2).unwrap().into()
        };
        let mut exams: Vec<Exam> = others.iter().map(|&other| other.into()).collect();
        exams.push(groups);
        let reader = Reader::default();
        examine(&reader, &graph, &stream, &exams).unwrap();
        let queries = reader.queries.into_inner().into_iter();
        let given = |seen: &Seen| matches!(seen.groups, Groups::Given(_));
        queries.filter(given).map(|seen| seen.groups).collect()
    };
    assert_eq!(drawn(3, &[]), drawn(3, &[Protocol::Paper, Protocol::Mixed]));
    let seeds: Vec<Vec<Groups>> = (0..8).map(|seed| drawn(seed, &[])).collect();
    assert!(seeds.iter().any(|other| *other != seeds[0]));
    // The last three queries are those of the three tasks.
    let differ = |groups: &Vec<Groups>| groups[3] != groups[4] || groups[4] != groups[5];
    assert!(seeds.iter().any(differ), "all tasks have the same draws");
}

#[test]
fn mixed_and_connected_show_all_tasks_seen_at_once() {
    for asked in [Asked::Test, Asked::Validation] {
        for protocol in [Protocol::Mixed, Protocol::Connected] {
            let (reader, _) = run(protocol, asked);
            let queries = reader.queries.borrow();
            assert_eq!(queries.len(), 3);
            for (stage, seen) in queries.iter().enumerate() {
                let there = |node: usize| task(node) <= stage;
                // In the order of the data, which says nothing about tasks.
                assert_eq!(seen.shown, nodes(there));
                let role_of = wanted(asked);
                assert_eq!(seen.nodes, nodes(|n| there(n) && role(n) == role_of));
                let mut expected = edges(there);
                if protocol == Protocol::Mixed {
                    expected.retain(|&(a, b)| task(a) == task(b));
                }
                assert_eq!(seen.edges, expected);
                assert_eq!(seen.groups, Groups::Single);
                assert_eq!((seen.patch, &seen.tasks), (None, &None));
                assert_eq!(seen.learned, Some(stage + 1));
            }
        }
    }
    let between = |protocol: Protocol| -> BTreeSet<(usize, usize)> {
        let (reader, _) = run(protocol, Asked::Test);
        let queries = reader.queries.borrow();
        let edges = queries[2].edges.iter().copied();
        edges.filter(|&(a, b)| task(a) != task(b)).collect()
    };
    assert_eq!(between(Protocol::Mixed), BTreeSet::new());
    let joints = BTreeSet::from([(1, 2), (3, 4), (13, 14)]);
    assert_eq!(between(Protocol::Connected), joints);
}

#[test]
fn open_asks_about_every_task_of_the_stream_at_every_stage() {
    for asked in [Asked::Test, Asked::Validation] {
        let (reader, _) = run(Protocol::Open, asked);
        let queries = reader.queries.borrow();
        let all = (0..3).flat_map(|stage| (0..3).map(move |task| (stage, task)));
        assert_eq!(queries.len(), 9);
        for (seen, (stage, of)) in queries.iter().zip(all) {
            assert_task_query(seen, stage, of, asked);
            assert_eq!(seen.groups, Groups::All);
            assert_eq!(seen.patch, Some((stage as u64) << 32 | of as u64));
            assert_eq!(seen.tasks, None);
        }
    }
}

#[test]
fn the_figures_are_those_worked_out_by_hand() {
    // Alone, node 12 looks like task 1 once that is known, node 14 like task 2, and 13 like the other class of its own task.
    let alone = vec![vec![75.0], vec![50.0, 75.0], vec![50.0, 75.0, 100.0]];
    // In a group of all four, the others decide on the task; 13 and 14 have the wrong class within it.
    let together = vec![vec![75.0], vec![75.0, 75.0], vec![75.0, 75.0, 100.0]];
    for listed in Protocol::all() {
        let (_, outcome) = run(listed.protocol, Asked::Test);
        let (rows, aa, af, task_id) = match listed.protocol {
            Protocol::Paper | Protocol::Open | Protocol::Oracle => {
                (&together, 250.0 / 3.0, 0.0, 100.0)
            }
            // Groups of 5 are all four nodes.
            Protocol::Groups(_) | Protocol::OpenGroups(_) => (&together, 250.0 / 3.0, 0.0, 100.0),
            _ => (&alone, 75.0, -12.5, 100.0 * 10.0 / 12.0),
        };
        let matrix = &outcome.matrix;
        assert_eq!(matrix.rows(), rows, "{}", listed.name);
        assert_eq!(matrix.average_accuracy(), Some(aa), "{}", listed.name);
        assert_eq!(matrix.average_forgetting(), Some(af), "{}", listed.name);
        assert_eq!(outcome.task_accuracy(), Some(task_id), "{}", listed.name);
        // The three tasks have four nodes each, so their mean is the share of all.
        let by_task = outcome.task_accuracy_by_task().unwrap();
        assert!((by_task - task_id).abs() < 1e-9, "{}", listed.name);
        let open = listed.protocol.is_open();
        assert_eq!(outcome.open.is_some(), open, "{}", listed.name);
        let (_, validation) = run(listed.protocol, Asked::Validation);
        assert_eq!(validation.matrix.average_accuracy(), Some(100.0));
        assert_eq!(validation.task_accuracy(), Some(100.0), "{}", listed.name);
    }
}

#[test]
fn the_cells_of_mixed_say_what_nodes_were_taken_for() {
    let (_, outcome) = run(Protocol::Mixed, Asked::Test);
    let last: Vec<_> = outcome.cells.iter().filter(|c| c.stage == 2).collect();
    let recognised: Vec<(usize, usize)> = last.iter().map(|cell| cell.recognised).collect();
    assert_eq!(recognised, [(3, 4), (3, 4), (4, 4)]);
    assert_eq!(last[0].mistaken, [(1, 1)]);
    assert_eq!(last[1].mistaken, [(2, 1)]);
    assert_eq!(last[0].plain, 50.0);
    // 3 of 12 nodes are wrong.
    assert_eq!(outcome.classes().micro_accuracy(), Some(75.0));
}

#[test]
fn open_compares_known_groups_with_unknown_ones() {
    // Familiarity is 0.625, 0.875 and 0.625 for the three tasks: at first 0.625 against 0.875 and 0.625, then 0.625 and 0.875 against 0.625.
    for asked in [Asked::Test, Asked::Validation] {
        let open = run(Protocol::Open, asked).1.open.unwrap();
        assert_eq!(open.stages, [Some(25.0), Some(75.0), None]);
        assert_eq!(open.auroc, Some(50.0));
    }
}

#[test]
fn nothing_that_is_shown_has_labels_or_roles() {
    for listed in Protocol::all() {
        let (reader, _) = run(listed.protocol, Asked::Test);
        let queries = reader.queries.borrow();
        let lessons = reader.lessons.iter().map(|lesson| lesson.labelled);
        let asked = queries.iter().map(|seen| seen.labelled);
        assert!(
            !lessons.chain(asked).any(|labelled| labelled),
            "{}",
            listed.name
        );
    }
}

#[test]
#[should_panic(expected = "a training of its own")]
fn one_training_cannot_be_inductive_and_not() {
    let (graph, stream) = toy();
    let exams = [Protocol::Paper, Protocol::Inductive];
    let _ = evaluate(&mut Reader::default(), &graph, &stream, &exams, &Silent);
}
