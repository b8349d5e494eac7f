use treering_data::{Purpose, Silent, random};
use treering_graph::{Direction, Features, Graph, NodeId};

use super::samplers::{Group, coverage, distance_to_mean, lowest};
use super::{Choice, Chooser, Parameters, Sampler, beta, learner, raw_rows};
use crate::baselines::{Lesson, Training};
use crate::checks::{small_graph, sparsely};
use crate::{Learner, Shown, TrainingTask};

fn both_kinds() -> [Graph; 2] {
    let dense = small_graph(60, 7, Direction::Undirected);
    let sparse = sparsely(&dense);
    [dense, sparse]
}

fn rows_of(features: &Features) -> Vec<Vec<f64>> {
    let dense = features.to_dense();
    let row = |row| dense.row(row).iter().map(|&x| f64::from(x)).collect();
    (0..dense.rows()).map(row).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let square = |(a, b): (&f64, &f64)| (a - b) * (a - b);
    a.iter().zip(b).map(square).sum::<f64>().sqrt()
}

fn task(graph: Graph) -> TrainingTask {
    TrainingTask::new(graph, 1, Shown::Train).unwrap()
}

#[test]
fn mean_of_feature_scores_order_nodes_by_their_distance_to_the_mean() {
    for graph in both_kinds() {
        let nodes: Vec<usize> = (0..60).step_by(3).collect();
        let rows = rows_of(graph.features());
        let mean: Vec<f64> = (0..7)
            .map(|column| {
                nodes.iter().map(|&node| rows[node][column]).sum::<f64>() / nodes.len() as f64
            })
            .collect();
        let square = mean.iter().map(|value| value * value).sum::<f64>();
        let scores = distance_to_mean(&Group::new(graph.features(), nodes.clone()));
        for (&node, score) in nodes.iter().zip(scores) {
            let right = distance(&rows[node], &mean);
            assert!((score + square - right * right).abs() < 1e-9, "{node}");
        }
    }
}

#[test]
fn the_nearest_are_kept_and_with_the_published_mistake_those_of_the_smallest_product() {
    for graph in both_kinds() {
        let rows = rows_of(graph.features());
        let task = task(graph);
        let training = Training::default();
        let lesson = Lesson::new(&task, 0..2, 0, &training);
        let choice = Choice {
            budget: 4,
            sampler: Sampler::MeanOfFeature,
            ..Choice::default()
        };
        let mut chooser = Chooser::new(&choice, &lesson);
        for mistake in [false, true] {
            chooser.bugs.farthest_mean = mistake;
            let chosen = chooser.rows();
            assert_eq!(chosen.len(), 8);
            for class in lesson.rows_by_class() {
                let x = |row: usize| &rows[lesson.task.train().nodes[row].index()];
                let mean: Vec<f64> = (0..7)
                    .map(|c| class.iter().map(|&row| x(row)[c]).sum::<f64>() / class.len() as f64)
                    .collect();
                let score = |row: usize| match mistake {
                    false => distance(x(row), &mean),
                    true => x(row).iter().zip(&mean).map(|(a, b)| a * b).sum(),
                };
                let (kept, left): (Vec<usize>, Vec<usize>) =
                    class.iter().partition(|&row| chosen.contains(row));
                let worst = kept.iter().map(|&row| score(row)).fold(f64::MIN, f64::max);
                let best = left.iter().map(|&row| score(row)).fold(f64::MAX, f64::min);
                assert_eq!(kept.len(), 4);
                assert!(worst <= best + 1e-9, "{worst} {best}");
            }
        }
    }
}

#[test]
fn coverage_counts_the_nodes_of_other_classes_within_the_distance() {
    for graph in both_kinds() {
        let rows = rows_of(graph.features());
        let own: Vec<usize> = (0..60).step_by(3).collect();
        let others = [
            (1..60).step_by(3).collect::<Vec<_>>(),
            (2..60).step_by(3).collect(),
        ];
        let group = Group::new(graph.features(), own.clone());
        let mut counted = Vec::new();
        for reach in [0.0, 0.9, 1.7, 2.3, 100.0] {
            let mut random = random(0, Purpose::Sampling, 0);
            let found = coverage(&group, &others, reach, usize::MAX, &mut random);
            for (&node, found) in own.iter().zip(&found) {
                let near = |&&other: &&usize| distance(&rows[node], &rows[other]) <= reach + 1e-9;
                let right = others.iter().flatten().filter(near).count();
                assert_eq!(*found, right as f64, "node {node} within {reach}");
            }
            counted.extend(found);
        }
        assert!(
            counted.iter().any(|&count| count > 0.0 && count < 40.0),
            "the distances tell nodes apart"
        );
    }
}

#[test]
fn a_node_is_compared_with_no_more_of_each_class_than_asked() {
    let [graph, _] = both_kinds();
    let others = [(1..60).step_by(3).collect(), (2..60).step_by(3).collect()];
    let group = Group::new(graph.features(), (0..60).step_by(3).collect());
    let found = coverage(
        &group,
        &others,
        1e3,
        6,
        &mut random(0, Purpose::Sampling, 0),
    );
    assert_eq!(found, [12.0; 20]);
}

#[test]
fn of_equal_scores_the_first_node_is_kept() {
    assert_eq!(lowest(&[2.0, 1.0, 0.0, 1.0, 1.0], 3), [2, 1, 3]);
    assert_eq!(lowest(&[0.0; 2], 5), [0, 1]);
}

#[test]
fn the_published_ranks_are_places_within_the_sample_and_say_nothing_of_the_class() {
    let [graph, _] = both_kinds();
    let task = task(graph);
    let training = Training::default();
    let lesson = Lesson::new(&task, 0..2, 0, &training);
    let choice = Choice {
        budget: 50,
        compared: 10,
        ..Choice::default()
    };
    let mut chooser = Chooser::new(&choice, &lesson);
    chooser.bugs.sampled_coverage = true;
    let chosen = chooser.rows();
    for class in lesson.rows_by_class() {
        let kept = class.iter().filter(|row| chosen.contains(row)).count();
        let first = class[..10].iter().all(|row| chosen.contains(row));
        assert!(kept == 10 && first, "no node behind the tenth is ever kept");
    }
}

#[test]
fn small_budgets_give_way_to_replay() {
    assert_eq!(beta(0, 300), 0.0);
    assert_eq!(beta(100, 300), 0.25);
}

#[test]
fn the_buffer_holds_raw_rows_of_every_class_up_to_the_budget() {
    for graph in both_kinds() {
        let raw = graph.features().clone();
        let first = task(graph);
        for sampler in [Sampler::Coverage, Sampler::MeanOfFeature, Sampler::Random] {
            let mut parameters = Parameters::default();
            parameters.training.epochs = 2;
            parameters.training.hidden = 4;
            parameters.choice.budget = 5;
            parameters.choice.sampler = sampler;
            let mut ergnn = learner(parameters.clone()).unwrap();
            ergnn
                .learn(&[first.clone(), first.clone()], &Silent)
                .unwrap();
            let buffer = ergnn.strategy().buffer();
            let count = |class| {
                buffer
                    .labels()
                    .iter()
                    .filter(|&&label| label == class)
                    .count()
            };
            assert_eq!([0, 1, 2, 3].map(count), [5; 4]);
            let training = Training::default();
            let lesson = Lesson::new(&first, 0..2, 0, &training);
            let rows = Chooser::new(&parameters.choice, &lesson).rows();
            let nodes: Vec<NodeId> = rows.iter().map(|&row| first.train().nodes[row]).collect();
            assert_eq!(raw_rows(&lesson, &rows), raw.select(&nodes));
            assert_eq!(
                buffer.features().unwrap().numbers() as u64,
                ergnn.stored().memory
            );
        }
    }
}

/// Whole batches, one epoch from the same weights: the step of the second task is that of the published objective with beta of the first
/// epoch, worked out here from two separate gradients.
#[test]
fn the_gradient_is_the_weighted_sum_of_both_losses() {
    use super::{Bugs, Ergnn};
    use crate::baselines::{StoredRows, Strategy};
    use crate::network::session::Session;

    let graph = small_graph(60, 7, Direction::Undirected);
    let second = task(graph);
    let training = Training {
        hidden: 5,
        ..Training::default()
    };
    let choice = Choice {
        budget: 6,
        ..Choice::default()
    };
    let mut ergnn = Ergnn {
        choice,
        bugs: Bugs::default(),
        buffer: StoredRows::default(),
        old: 0,
    };
    let mut network = training.network(&second, 0);
    network.grow(4);
    let lesson = Lesson::new(&second, 0..2, 0, &training);
    let none = ergnn.before(&lesson, &network).unwrap();
    assert!(none.sources.is_empty(), "the first task is trained alone");
    let lesson = Lesson::new(&second, 2..4, 1, &training);
    let beside = ergnn.before(&lesson, &network).unwrap();
    let batches = lesson.batches();
    for epoch in [0, 1] {
        let turn = &batches.turns(epoch)[0];
        let mut all = vec![batches.whole()];
        all.extend(ergnn.buffer.source());
        let mut copy = network.clone();
        let mut session = Session::new(&mut copy, all, None);
        let mut together = session.no_gradient();
        let loss = ergnn.gradient(&mut session, &lesson, turn, &mut together);
        // Mean over classes of the mean over rows, by hand.
        let mut parts = [0.0; 2];
        for (part, labels) in [&turn.labels[..], ergnn.buffer.labels()]
            .into_iter()
            .enumerate()
        {
            let logits = session.logits(part);
            let mut by_class = [(0.0, 0.0); 4];
            for (row, &label) in logits.chunks(4).zip(labels) {
                let sum: f64 = row.iter().map(|&z| f64::from(z).exp()).sum();
                by_class[label as usize].0 += sum.ln() - f64::from(row[label as usize]);
                by_class[label as usize].1 += 1.0;
            }
            let present: Vec<f64> = by_class
                .iter()
                .filter(|class| class.1 > 0.0)
                .map(|class| class.0 / class.1)
                .collect();
            parts[part] = present.iter().sum::<f64>() / present.len() as f64;
        }
        let kept = [12.0, 24.0][epoch];
        let beta = kept / (kept + turn.rows.len() as f64);
        let right = beta * parts[0] + (1.0 - beta) * parts[1];
        assert!((loss - right).abs() < 1e-5, "epoch {epoch}: {loss} {right}");
    }
    assert_eq!(beside.sources.len(), 1);
}
