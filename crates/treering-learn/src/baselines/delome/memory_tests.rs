//! Memory learning as a whole: under random networks that it never saw, the gradients of synthetic rows come nearer to those of real rows.

use treering_graph::{Direction, NodeId};

use super::condensed;
use crate::baselines::condense::{Block, Network, Real, fill};
use crate::baselines::delome::{Desk, Loss, Matching, Net, Parameters};
use crate::baselines::{Lesson, Training};
use crate::checks::{small_graph, sparsely};
use crate::network::source::Source;
use crate::{Shown, TrainingTask};

const HIDDEN: usize = 32;

/// The mean distance under networks that memory learning does not draw.
fn distance(block: &Block, lesson: &Lesson<'_>, loss: Loss) -> f64 {
    let (mut sum, mut first) = (0.0, 0);
    for (class, rows) in lesson.rows_by_class().iter().enumerate() {
        let node = |&row: &usize| lesson.task.train().nodes[row];
        let nodes: Vec<NodeId> = rows.iter().map(node).collect();
        let source = Source::smoothed(lesson.task.graph(), 2, &nodes);
        let mut real = Real::new(source, &block.columns);
        let columns = block.columns.len();
        let label = |&&label: &&u32| label as usize == class;
        let rows = block.labels.iter().filter(label).count();
        for number in 0..20 {
            let layer = |layer, count, bound| {
                let mut weights = Vec::new();
                let network = Network {
                    seed: 99,
                    task: 0,
                    number,
                    layer,
                };
                fill(network, count, bound, &mut weights);
                weights
            };
            let matching = Matching {
                values: &block.values[first * columns..(first + rows) * columns],
                rows,
                net: Net {
                    first: &layer(0, columns * HIDDEN, 0.3),
                    second: &layer(1, 2 * HIDDEN, 0.2),
                    hidden: HIDDEN,
                },
                label: class,
                loss,
                weight: 1.0,
            };
            let mut gradient = vec![0.0; rows * columns];
            sum += matching.gradient(&mut real, &mut Desk::default(), &mut gradient);
        }
        first += rows;
    }
    sum
}

#[test]
fn gradients_come_to_match_under_networks_they_never_met() {
    let training = Training {
        hidden: HIDDEN,
        ..Training::default()
    };
    let dense = small_graph(60, 7, Direction::Directed);
    for graph in [sparsely(&dense), dense] {
        let task = TrainingTask::new(graph, 0, Shown::Train).unwrap();
        let lesson = Lesson::new(&task, 0..2, 0, &training);
        for loss in [Loss::CrossEntropy, Loss::RawLogits] {
            let after = |networks: usize| {
                let parameters = Parameters {
                    budget: 4,
                    networks,
                    condense_rate: 1e-2,
                    loss,
                    ..Parameters::default()
                };
                distance(&condensed(&lesson, &parameters).unwrap(), &lesson, loss)
            };
            let (before, after) = (after(0), after(200));
            assert!(after < before / 4.0, "{loss:?} {before} {after}");
        }
    }
}

#[test]
fn rows_to_begin_with_are_different_train_rows_of_their_class() {
    let training = Training::default();
    let graph = small_graph(60, 7, Direction::Directed);
    let features = graph.features().to_dense();
    let task = TrainingTask::new(graph, 0, Shown::Train).unwrap();
    let lesson = Lesson::new(&task, 4..6, 2, &training);
    let parameters = Parameters {
        budget: 10,
        networks: 0,
        ..Parameters::default()
    };
    let block = condensed(&lesson, &parameters).unwrap();
    assert_eq!(block.labels.len(), 20);
    let mut used = Vec::new();
    for (row, &label) in block.values.chunks(7).zip(&block.labels) {
        let mut known = lesson.task.train().nodes.iter().zip(&lesson.labels);
        let from = known.find(|(node, other)| {
            **other == label && features.row(node.index()) == row && !used.contains(&node.index())
        });
        used.push(from.unwrap().0.index());
    }
}
