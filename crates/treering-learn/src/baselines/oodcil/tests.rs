use treering_data::{Purpose, Silent, random};
use treering_graph::{Direction, Features, Graph, NodeId};

use super::augment::{masked, shuffled};
use super::{Parameters, Score, learner, log_scores};
use crate::checks::{small_graph, sparsely};
use crate::{Groups, LearnError, Learner, Query, Shown, TrainingTask};

fn both_kinds() -> [Graph; 2] {
    let dense = small_graph(40, 7, Direction::Undirected);
    let sparse = sparsely(&dense);
    [dense, sparse]
}

fn task(number: u64) -> TrainingTask {
    let [_, graph] = both_kinds();
    TrainingTask::new(graph, number, Shown::Train).unwrap()
}

fn quick() -> Parameters {
    let mut parameters = Parameters::default();
    parameters.training.epochs = 5;
    parameters.training.hidden = 6;
    parameters.choice.budget = 4;
    parameters
}

fn query() -> Query {
    let [_, graph] = both_kinds();
    Query::new(graph, NodeId::first(40).collect(), Groups::Single)
}

#[test]
fn scores_are_the_products_they_are_the_logarithm_of() {
    let logits = [0.3f32, -1.2, 2.0];
    let exponentials = logits.map(|z| f64::from(z).exp());
    let sum: f64 = exponentials.iter().sum();
    let [a, b, o] = exponentials.map(|e| e / sum);
    for (score, right) in [
        (Score::Published, [(1.0 - o) * a, (1.0 - o) * b]),
        (Score::Single, [a, b]),
    ] {
        let mut found = Vec::new();
        log_scores(&logits, score, &mut found);
        for (found, right) in found.iter().zip(right) {
            assert!((f64::from(*found).exp() - right).abs() < 1e-6);
        }
    }
}

#[test]
fn the_two_scores_can_choose_different_tasks() {
    // Probabilities (.5, .5, o = 0) and (.6, 0, o = .4), nearly.
    let tiny = 1e-6f32;
    let logits = |p: [f32; 3]| p.map(f32::ln);
    let (a, b) = (logits([0.5, 0.5, tiny]), logits([0.6, tiny, 0.4]));
    let best = |score: Score| {
        let mut scores = Vec::new();
        log_scores(&a, score, &mut scores);
        log_scores(&b, score, &mut scores);
        let most = scores.iter().copied().fold(f32::MIN, f32::max);
        scores.iter().position(|&score| score == most).unwrap() / 2
    };
    assert_eq!((best(Score::Published), best(Score::Single)), (0, 1));
}

#[test]
fn sure_detectors_have_finite_scores_and_boundless_ones_have_none() {
    let mut scores = Vec::new();
    log_scores(&[-900.0, -800.0, 900.0], Score::Published, &mut scores);
    assert!(scores.iter().all(|score| score.is_finite()) && scores[0] < scores[1]);
    scores.clear();
    log_scores(&[f32::INFINITY, 0.0, 0.0], Score::Published, &mut scores);
    assert!(scores.iter().any(|score| !score.is_finite()));
}

#[test]
fn masking_zeroes_whole_columns_and_leaves_the_others() {
    let kept = [true, true, false, true, false, true, true];
    for graph in both_kinds() {
        let found = masked(graph.features(), &kept).to_dense();
        let x = graph.features().to_dense();
        for row in 0..40 {
            for (column, &kept) in kept.iter().enumerate() {
                let right = if kept { x.row(row)[column] } else { 0.0 };
                assert_eq!(found.row(row)[column], right);
            }
        }
    }
}

#[test]
fn shuffling_keeps_the_values_of_every_column_and_moves_them() {
    for graph in both_kinds() {
        let found = shuffled(graph.features(), &mut random(0, Purpose::Augmentation, 0));
        assert_eq!(
            matches!(found, Features::Sparse(_)),
            matches!(graph.features(), Features::Sparse(_))
        );
        let (found, x) = (found.to_dense(), graph.features().to_dense());
        assert_ne!(found.values(), x.values());
        for column in 0..7 {
            let sorted = |x: &treering_graph::Dense| {
                let mut values: Vec<f32> = (0..40).map(|row| x.row(row)[column]).collect();
                values.sort_by(f32::total_cmp);
                values
            };
            assert_eq!(sorted(&found), sorted(&x));
        }
    }
}

#[test]
fn detectors_are_never_touched_again_and_every_stage_can_be_asked_for() {
    let mut early = learner(quick()).unwrap();
    early.learn(&[task(1)], &Silent).unwrap();
    let before = early.predict(&query()).unwrap();
    let mut late = learner(quick()).unwrap();
    late.learn(&[task(1), task(2), task(3)], &Silent).unwrap();
    let mut back = query();
    back.seen = Some(1);
    assert_eq!(late.predict(&back).unwrap(), before);
    assert_eq!(late.detectors()[0].first(), early.detectors()[0].first());
    assert_ne!(late.detectors()[0].first(), late.detectors()[1].first());
    for seen in [0, 4] {
        back.seen = Some(seen);
        assert_eq!(
            late.predict(&back),
            Err(LearnError::Stage { seen, learned: 3 })
        );
    }
    assert_eq!(
        learner(quick()).unwrap().predict(&query()),
        Err(LearnError::Nothing)
    );
}

#[test]
fn a_given_task_is_answered_by_its_own_detector_with_probabilities_of_its_classes() {
    let mut oodcil = learner(quick()).unwrap();
    oodcil.learn(&[task(1), task(2)], &Silent).unwrap();
    let mut given = query();
    given.tasks = Some(vec![1; 40]);
    let logits = oodcil.detectors()[1].logits_of(given.graph(), &given.nodes);
    for (answer, z) in oodcil.predict(&given).unwrap().iter().zip(logits.chunks(3)) {
        let (a, b) = (f64::from(z[0]).exp(), f64::from(z[1]).exp());
        assert_eq!(answer.task, 1);
        assert!((f64::from(answer.probabilities[0]) - a / (a + b)).abs() < 1e-5);
    }
}

#[test]
fn memory_is_what_the_buffer_holds_and_smoothed_rows_are_fuller() {
    let stored = |smoothed: bool| {
        let mut parameters = quick();
        parameters.smoothed_buffer = smoothed;
        let mut oodcil = learner(parameters).unwrap();
        oodcil.learn(&[task(1), task(2)], &Silent).unwrap();
        assert_eq!(oodcil.buffer.len(), 2 * 2 * 4);
        oodcil.stored()
    };
    let (raw, smooth) = (stored(false), stored(true));
    assert!(raw.memory < smooth.memory && smooth.memory <= 16 * 7);
    assert_eq!(raw.model, 2 * (7 + 3) * 6);
}

#[test]
fn shares_outside_their_range_are_refused() {
    let mut parameters = quick();
    parameters.corruption.edge_removal = 1.5;
    assert!(matches!(
        learner(parameters),
        Err(LearnError::Parameter { .. })
    ));
}
