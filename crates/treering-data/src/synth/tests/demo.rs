use treering_graph::{Dense, Features, NodeId, Propagation};

use super::*;

fn smoothed(graph: &Graph) -> Dense {
    match Propagation::new(graph.arcs()).smooth_features(graph.features(), 2) {
        Features::Dense(dense) => dense,
        Features::Sparse(_) => panic!("the demo has dense features"),
    }
}

/// The mean of the rows of each group; `group` says where a row belongs, if anywhere.
fn means(rows: &Dense, groups: usize, group: impl Fn(usize) -> Option<usize>) -> Vec<Vec<f32>> {
    let mut sums = vec![vec![0f32; rows.columns()]; groups];
    let mut counts = vec![0f32; groups];
    for row in 0..rows.rows() {
        if let Some(group) = group(row) {
            counts[group] += 1.0;
            for (sum, value) in sums[group].iter_mut().zip(rows.row(row)) {
                *sum += value;
            }
        }
    }
    for (sums, count) in sums.iter_mut().zip(counts) {
        sums.iter_mut().for_each(|sum| *sum /= count);
    }
    sums
}

fn nearest(row: &[f32], means: &[Vec<f32>]) -> usize {
    let distance =
        |mean: &[f32]| -> f32 { row.iter().zip(mean).map(|(a, b)| (a - b) * (a - b)).sum() };
    let closer = |&a: &usize, &b: &usize| distance(&means[a]).total_cmp(&distance(&means[b]));
    (0..means.len()).min_by(closer).unwrap()
}

/// Positions tell nothing, so every other node is as good as a random half.
fn for_training(row: usize) -> bool {
    row.is_multiple_of(2)
}

/// How well the nearest class mean does on the other half of one task.
fn accuracy(recipe: &Recipe, graph: &Graph, task: usize) -> f64 {
    let class_of = graph.labels().unwrap().raw();
    let nodes: Vec<NodeId> = NodeId::first(graph.nodes())
        .filter(|node| recipe.task(class_of[node.index()] as usize) == task)
        .collect();
    let part = graph.induced(&nodes);
    let rows = smoothed(&part);
    let class = |row: usize| part.labels().unwrap().raw()[row] as usize % 2;
    let means = means(&rows, 2, |row| for_training(row).then(|| class(row)));
    let tested: Vec<usize> = (0..nodes.len()).filter(|&row| !for_training(row)).collect();
    let right = |&&row: &&usize| nearest(rows.row(row), &means) == class(row);
    tested.iter().filter(right).count() as f64 / tested.len() as f64
}

#[test]
fn the_demo_is_learnable_but_not_trivial() {
    for seed in 0..3 {
        let recipe = Recipe {
            seed,
            ..Recipe::demo()
        };
        let graph = made(&recipe);
        let of_task: Vec<f64> = (0..6).map(|task| accuracy(&recipe, &graph, task)).collect();
        let fair = |accuracy: &f64| (0.85..0.96).contains(accuracy);
        assert!(of_task.iter().all(fair), "{of_task:?}");
    }
}

#[test]
fn a_group_finds_its_task_more_easily_than_a_node() {
    let recipe = Recipe::demo();
    let graph = made(&recipe);
    let rows = smoothed(&graph);
    let class_of = graph.labels().unwrap().raw();
    let task = |row: usize| recipe.task(class_of[row] as usize);
    let known = means(&rows, 6, |row| for_training(row).then(|| task(row)));
    let groups = means(&rows, 6, |row| (!for_training(row)).then(|| task(row)));
    for (task, group) in groups.iter().enumerate() {
        assert_eq!(nearest(group, &known), task);
    }
    let tested: Vec<usize> = (0..graph.nodes())
        .filter(|&row| !for_training(row))
        .collect();
    let right = |&&row: &&usize| nearest(rows.row(row), &known) == task(row);
    let single = tested.iter().filter(right).count() as f64 / tested.len() as f64;
    assert!((0.5..0.8).contains(&single), "{single}");
}
