use std::collections::BTreeSet;

use treering_data::{Purpose, Silent, random};
use treering_graph::{
    Dense, Direction, Features, Graph, NodeId, NodeNames, Origin, Parts, build_arcs,
};

use super::centres::together;
use super::{
    ByDegree, DegreeParameters, Neighbours, Parameters, Uniform, degree, uniform, weighted_draws,
};
use crate::checks::{small_graph, sparsely};
use crate::network::source::smoothed_rows;
use crate::{Learner, Shown, TrainingTask};

fn graph_of(nodes: usize, ends: &[(u32, u32)], direction: Direction) -> Graph {
    let (sources, targets): (Vec<u32>, Vec<u32>) = ends.iter().copied().unzip();
    let (arcs, _) = build_arcs(nodes, &sources, &targets, None, direction).unwrap();
    Graph::new(Parts {
        arcs,
        features: Features::Dense(Dense::new(nodes, 1, vec![1.0; nodes].into()).unwrap()),
        labels: None,
        names: NodeNames::Positions(nodes),
        split: None,
        origin: Origin::default(),
    })
    .unwrap()
}

fn retained(
    by: &dyn Neighbours,
    graph: &Graph,
    centres: &[u32],
    each: usize,
    seed: u64,
) -> Vec<u32> {
    let centres: Vec<NodeId> = centres.iter().map(|&node| NodeId(node)).collect();
    let mut random = random(seed, Purpose::Sampling, 0);
    let nodes = by.retain(graph, &centres, 2, each, &mut random);
    assert_eq!(nodes[..centres.len()], centres, "centres come first");
    let distinct: BTreeSet<NodeId> = nodes.iter().copied().collect();
    assert_eq!(distinct.len(), nodes.len(), "no node twice");
    nodes.iter().map(|node| node.0).collect()
}

/// A path 0 - 1 - 2 - 3 - 4.
fn path() -> Graph {
    graph_of(5, &[(0, 1), (1, 2), (2, 3), (3, 4)], Direction::Undirected)
}

const DEGREE: ByDegree = ByDegree {
    stuck_frontier: false,
};

#[test]
fn two_hops_reach_what_is_two_arcs_away_and_no_farther() {
    for by in [&Uniform as &dyn Neighbours, &DEGREE] {
        assert_eq!(
            BTreeSet::from_iter(retained(by, &path(), &[0], 60, 0)),
            BTreeSet::from([0, 1, 2])
        );
        assert_eq!(retained(by, &path(), &[0], 0, 0), [0]);
    }
    // Only arcs into a node bring neighbours.
    let down = graph_of(3, &[(0, 1), (1, 2)], Direction::Directed);
    for by in [&Uniform as &dyn Neighbours, &DEGREE] {
        assert_eq!(retained(by, &down, &[0], 60, 0), [0]);
        assert_eq!(
            BTreeSet::from_iter(retained(by, &down, &[2], 60, 0)),
            BTreeSet::from([0, 1, 2])
        );
    }
}

#[test]
fn a_stuck_frontier_never_leaves_the_first_hop() {
    let stuck = ByDegree {
        stuck_frontier: true,
    };
    assert_eq!(retained(&stuck, &path(), &[0], 60, 0), [0, 1]);
    // What one hop has left, the next one draws.
    let star = graph_of(
        6,
        &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)],
        Direction::Undirected,
    );
    assert_eq!(retained(&stuck, &star, &[0], 2, 0).len(), 5);
    assert_eq!(retained(&DEGREE, &star, &[0], 2, 0).len(), 3);
}

/// Node 0 hears from 1 and 2; node 1 from 3 to 9 as well.
fn uneven() -> Graph {
    let mut ends = vec![(1, 0), (2, 0)];
    ends.extend((3..10).map(|node| (node, 1)));
    graph_of(10, &ends, Direction::Directed)
}

#[test]
fn degree_draws_in_proportion_to_in_degree_with_the_loop() {
    // One draw at each of two hops: first 1 (in-degree 7 + 1) or 2 (0 + 1).
    let draws = 2000;
    let first = (0..draws)
        .filter(|&seed| retained(&DEGREE, &uneven(), &[0], 1, seed)[1] == 1)
        .count();
    let share = first as f64 / draws as f64;
    assert!((share - 8.0 / 9.0).abs() < 0.025, "{share}");
}

#[test]
fn uniform_draws_every_arc_and_the_loop_alike() {
    // One draw at the first hop: 1, 2 or 0 itself. A second hop from 1 stays with one chance in eight, from 0 it is as the first.
    let draws = 3000;
    let (mut alone, mut two) = (0, 0);
    for seed in 0..draws {
        let nodes = retained(&Uniform, &uneven(), &[0], 1, seed);
        alone += usize::from(nodes == [0]);
        two += usize::from(nodes == [0, 2]);
    }
    let share = |count: usize| count as f64 / draws as f64;
    assert!((share(alone) - 1.0 / 9.0).abs() < 0.02, "{}", share(alone));
    // 2 at once, which then has only its loop, or itself first and then 2.
    let right = 1.0 / 3.0 + 1.0 / 9.0;
    assert!((share(two) - right).abs() < 0.03, "{}", share(two));
}

#[test]
fn weighted_draws_are_successive_ones() {
    let weights = [1.0, 2.0, 5.0];
    let rounds = 20_000;
    let mut orders = std::collections::BTreeMap::new();
    let mut random = random(1, Purpose::Sampling, 0);
    for _ in 0..rounds {
        *orders
            .entry(weighted_draws(&weights, 2, &mut random))
            .or_insert(0) += 1;
    }
    for (first, second) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        let right = weights[first] / 8.0 * weights[second] / (8.0 - weights[first]);
        let found = f64::from(orders[&vec![first, second]]) / f64::from(rounds);
        assert!(
            (found - right).abs() < 0.015,
            "{first} {second}: {found} {right}"
        );
    }
}

#[test]
fn one_loss_balances_classes_over_both_sets_of_rows() {
    // Class 0 only in memory, class 1 in both, class 2 only in the task.
    let (own, replayed) = (vec![1, 2, 2, 2, 1], vec![0, 0, 1]);
    let (a, b) = together(&own, &replayed, true, 1);
    let third = 1.0 / 3.0;
    let right = [
        third / 3.0,
        third / 3.0,
        third / 3.0,
        third / 3.0,
        third / 3.0,
    ];
    assert!(
        a.iter()
            .zip(right)
            .all(|(a, b)| (a - b as f32).abs() < 1e-6),
        "{a:?}"
    );
    let right = [third / 2.0, third / 2.0, third / 3.0];
    assert!(
        b.iter()
            .zip(right)
            .all(|(a, b)| (a - b as f32).abs() < 1e-6),
        "{b:?}"
    );
    let (a, b) = together(&own, &replayed, false, 1);
    assert!(
        a.iter()
            .chain(&b)
            .all(|weight| (weight - 0.125).abs() < 1e-6)
    );
}

#[test]
fn growing_replay_repeats_rows_and_keeps_the_loss_a_mean() {
    let (own, replayed) = (vec![1, 2, 2, 2, 1], vec![0, 0, 1]);
    let once = together(&own, &replayed, true, 1);
    let often = together(&own, &replayed, true, 7);
    let ratio = |weights: &(Vec<f32>, Vec<f32>)| weights.1[0] / weights.0[0];
    assert!((ratio(&often) / ratio(&once) - 7.0).abs() < 1e-4);
    let sum: f32 = often.0.iter().chain(&often.1).sum();
    assert!((sum - 1.0).abs() < 1e-6);
}

fn task(number: u64) -> TrainingTask {
    let graph = sparsely(&small_graph(60, 7, Direction::Undirected));
    TrainingTask::new(graph, number, Shown::Train).unwrap()
}

fn quick() -> Parameters {
    let mut parameters = Parameters::default();
    parameters.training.epochs = 3;
    parameters.training.hidden = 4;
    parameters
}

#[test]
fn with_everything_kept_the_stored_rows_are_those_of_the_task_itself() {
    let mut parameters = quick();
    parameters.memory.budget = 1000;
    parameters.memory.neighbours = 1000;
    let mut ssm = uniform(parameters).unwrap();
    ssm.learn(&[task(1)], &Silent).unwrap();
    let strategy = ssm.strategy();
    assert_eq!(strategy.retained(), [60]);
    // Centres are in the order they were drawn; sums of columns do not care.
    let task = task(1);
    let whole = smoothed_rows(task.graph(), 2, &task.train().nodes).to_dense();
    let kept = strategy.rows().features().unwrap().to_dense();
    for column in 0..7 {
        let sum = |rows: &Dense| -> f64 {
            (0..rows.rows())
                .map(|row| f64::from(rows.row(row)[column]))
                .sum()
        };
        assert!((sum(&whole) - sum(&kept)).abs() < 1e-4);
    }
}

#[test]
fn old_only_changes_what_is_learned_from_the_second_task_on() {
    let learned = |old_only: bool, growing: bool, tasks: usize| {
        let mut parameters = quick();
        parameters.memory.budget = 5;
        parameters.memory.old_only = old_only;
        parameters.memory.growing_replay = growing;
        let mut ssm = uniform(parameters).unwrap();
        let tasks: Vec<TrainingTask> = (1..=tasks as u64).map(task).collect();
        ssm.learn(&tasks, &Silent).unwrap();
        assert_eq!(ssm.strategy().rows().len(), 10 * tasks.len());
        ssm.network().unwrap().first().to_vec()
    };
    assert_eq!(learned(false, false, 1), learned(true, true, 1));
    assert_ne!(learned(false, false, 2), learned(true, false, 2));
    assert_ne!(learned(false, false, 2), learned(false, true, 2));
}

#[test]
fn what_cannot_work_is_refused() {
    let mut parameters = DegreeParameters::default();
    parameters.memory.budget = 0;
    assert!(degree(parameters).is_err());
}
