//! Groups of tasks that are not learned yet, and how sure a learner is, on a stream small enough to work out by hand.
#![allow(clippy::unwrap_used, clippy::panic)]

mod toy;

use toy::{NODES, Reader, class, role, task, toy};
use treering_data::Silent;
use treering_eval::{Exam, Open, Outcome, Protocol, evaluate};
use treering_graph::Role;
use treering_learn::Groups;

fn run(protocol: Protocol, seed: u64, calibrated: bool) -> (Reader, Outcome) {
    let (graph, stream) = toy();
    let exam = Exam {
        seed,
        ..protocol.into()
    };
    let mut reader = Reader {
        calibrated,
        ..Reader::default()
    };
    let mut done = evaluate(&mut reader, &graph, &stream, &[exam], &Silent).unwrap();
    (reader, done.outcomes.remove(0))
}

fn open(size: u32) -> Protocol {
    Protocol::open_groups(size).unwrap()
}

#[test]
fn open_groups_are_those_of_groups_and_come_of_every_task() {
    let (known, _) = run(Protocol::groups(2).unwrap(), 7, false);
    let (all, _) = run(open(2), 7, false);
    let (known, all) = (known.queries.borrow(), all.queries.borrow());
    // The last three queries of `groups` are about the three tasks.
    let drawn: Vec<&Groups> = known[3..].iter().map(|seen| &seen.groups).collect();
    assert_eq!(all.len(), 9);
    for (at, seen) in all.iter().enumerate() {
        let (stage, of) = (at / 3, at % 3);
        assert!(seen.nodes.iter().all(|&node| task(node) == of));
        assert_eq!(seen.nodes, known[3 + of].nodes);
        assert_eq!((seen.nodes.len(), &seen.groups), (4, drawn[of]));
        assert_eq!((seen.patch, &seen.tasks), (None, &None));
        assert_eq!(seen.learned, Some(stage + 1));
    }
    let (alone, _) = run(open(1), 7, false);
    let alone = alone.queries.borrow();
    assert!(alone.iter().all(|seen| seen.groups == Groups::Single));
    assert!(alone.len() == 9 && alone.iter().all(|seen| seen.patch.is_none()));
}

#[test]
fn every_group_has_its_own_familiarity() {
    // The first task has 0.5, 0.5, 0.75, 0.75, which groups of two make 0.5 and 0.75, or 0.625 twice; all groups of the second have 0.875, of the third 0.625. Both
    // ways a quarter of the pairs is in order at first, and three quarters later.
    for size in [1, 2] {
        for seed in 0..8 {
            let (_, outcome) = run(open(size), seed, false);
            let open = outcome.open.unwrap();
            assert_eq!(open.stages, [Some(25.0), Some(75.0), None], "{size}");
            assert_eq!((open.auroc, open.rejections.len()), (Some(50.0), 0));
        }
    }
}

/// False alarms, detected and accuracy at 0.01 and at 0.2.
fn ends(open: &Open) -> [(f64, f64, Option<f64>); 2] {
    let rates: Vec<f64> = open.rejections.iter().map(|at| at.rate).collect();
    assert_eq!(rates, [0.01, 0.02, 0.05, 0.1, 0.2]);
    let told = |at: usize| {
        let rejection = &open.rejections[at];
        (
            rejection.false_alarms,
            rejection.detected,
            rejection.accepted_accuracy,
        )
    };
    [told(0), told(4)]
}

#[test]
fn single_nodes_are_rejected_below_a_rate() {
    let open = run(open(1), 7, true).1.open.unwrap();
    assert_eq!(open.auroc, Some(50.0));
    // Stages 0 and 1. Known nodes: 12 and 18 with 0, 13 and 19 with 0.25, both times; four with 0.375 the second time. Unknown: four with 0.375, eight with 0.125.
    let counts = open.rejections.iter().map(|at| (at.known, at.unknown));
    assert!(counts.into_iter().all(|count| count == (12, 12)));
    // Of the eight accepted, 13 is wrong twice, and 14 once.
    let third = 100.0 * 4.0 / 12.0;
    let right = Some(100.0 * 5.0 / 8.0);
    let detected = 100.0 * 8.0 / 12.0;
    assert_eq!(ends(&open), [(third, 0.0, right), (third, detected, right)]);
}

#[test]
fn groups_are_rejected_as_a_whole() {
    let (mut alike, mut mixed) = (0, 0);
    for seed in 0..12 {
        let (reader, outcome) = run(open(2), seed, true);
        let queries = reader.queries.borrow();
        let Groups::Given(groups) = &queries[0].groups else {
            panic!("{:?}", queries[0].groups)
        };
        let open = outcome.open.unwrap();
        let counts = open.rejections.iter().map(|at| (at.known, at.unknown));
        assert!(counts.into_iter().all(|count| count == (6, 6)));
        let group = |node: usize| {
            let at = queries[0].nodes.iter().position(|&one| one == node);
            groups[at.unwrap()]
        };
        let alarms = ends(&open).map(|end| end.0);
        let detected = ends(&open).map(|end| end.1);
        assert_eq!(detected, [0.0, 100.0 * 4.0 / 6.0]);
        // 12 and 18 have 0, 13 and 19 have 0.25; in company 0.125.
        if group(12) == group(18) {
            alike += 1;
            assert_eq!(alarms, [100.0 * 2.0 / 6.0; 2]);
        } else {
            mixed += 1;
            assert_eq!(alarms, [0.0, 100.0 * 4.0 / 6.0]);
        }
    }
    assert!(alike > 0 && mixed > 0, "{alike} {mixed}");
}

#[test]
fn the_calibration_error_is_that_of_the_last_stage() {
    // Every answer is 3/4 sure. Of twelve nodes nine are right alone, and ten in company.
    for (protocol, error) in [
        (Protocol::Single, 0.0),
        (Protocol::Mixed, 0.0),
        (Protocol::Paper, 100.0 / 12.0),
        (Protocol::Open, 100.0 / 12.0),
        (open(1), 0.0),
    ] {
        let (_, outcome) = run(protocol, 7, true);
        assert_eq!(outcome.calibration_error, Some(error), "{protocol}");
        assert_eq!(run(protocol, 7, false).1.calibration_error, None);
    }
}

#[test]
fn only_who_calibrates_is_shown_validation_labels_and_not_under_inductive() {
    for listed in Protocol::all() {
        for calibrated in [false, true] {
            let (reader, _) = run(listed.protocol, 7, calibrated);
            for (of, lesson) in reader.lessons.iter().enumerate() {
                let own = |&node: &usize| task(node) == of && role(node) == Role::Validation;
                let known = (0..NODES).filter(own).map(|node| (node, class(node) % 2));
                let granted = calibrated && listed.protocol != Protocol::Inductive;
                let known = granted.then(|| known.collect::<Vec<_>>());
                assert_eq!(lesson.validation, known, "{}", listed.name);
                assert!(!lesson.labelled, "{}", listed.name);
            }
        }
    }
}
