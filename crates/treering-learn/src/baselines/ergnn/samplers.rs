//! Scores of the nodes of a class by their raw features: the lower, the sooner a node is kept.

use rand::RngExt;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use treering_graph::Features;

use super::Choice;

/// Nodes of one class.
pub(super) struct Group<'a> {
    features: &'a Features,
    nodes: Vec<usize>,
}

impl<'a> Group<'a> {
    pub(super) fn new(features: &'a Features, nodes: Vec<usize>) -> Self {
        Group { features, nodes }
    }

    fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.features.columns()];
        for &node in &self.nodes {
            each(self.features, node, |column, value| mean[column] += value);
        }
        let count = self.nodes.len().max(1) as f64;
        mean.iter_mut().for_each(|value| *value /= count);
        mean
    }
}

/// Every stored entry of a row.
fn each(features: &Features, row: usize, mut take: impl FnMut(usize, f64)) {
    match features {
        Features::Dense(dense) => {
            for (column, &value) in dense.row(row).iter().enumerate() {
                take(column, f64::from(value));
            }
        }
        Features::Sparse(sparse) => {
            let (columns, values) = sparse.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                take(column as usize, f64::from(value));
            }
        }
    }
}

fn dot(features: &Features, row: usize, with: &[f64]) -> f64 {
    let mut sum = 0.0;
    each(features, row, |column, value| sum += value * with[column]);
    sum
}

fn square(features: &Features, row: usize) -> f64 {
    let mut sum = 0.0;
    each(features, row, |_, value| sum += value * value);
    sum
}

/// Places of the lowest scores, ascending; the first of equals.
pub(super) fn lowest(scores: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    order.truncate(count);
    order
}

/// The squared distance to the mean of the class, less what all nodes have in common: |x|^2 - 2 x m.
pub(super) fn distance_to_mean(group: &Group<'_>) -> Vec<f64> {
    let mean = group.mean();
    let score =
        |&node: &usize| square(group.features, node) - 2.0 * dot(group.features, node, &mean);
    group.nodes.iter().map(score).collect()
}

/// The product with the mean of the class.
pub(super) fn dot_with_mean(group: &Group<'_>) -> Vec<f64> {
    let mean = group.mean();
    let score = |&node: &usize| dot(group.features, node, &mean);
    group.nodes.iter().map(score).collect()
}

/// How many nodes of other classes lie within `distance`, of at most `most` of each class.
///
/// # Complexity
/// O(nodes x compared x entries of a row): |x - y|^2 = |x|^2 + |y|^2 - 2 x y, where the product reads only what is stored of y, and rows
/// whose lengths differ by more than `distance` are not looked at.
pub(super) fn coverage(
    group: &Group<'_>,
    others: &[Vec<usize>],
    distance: f64,
    most: usize,
    random: &mut ChaCha8Rng,
) -> Vec<f64> {
    let features = group.features;
    let mut compared: Vec<(f64, usize)> = Vec::new();
    for other in others {
        let chosen = sample(random, other.len(), most.min(other.len()));
        let squared = |at: usize| (square(features, other[at]), other[at]);
        compared.extend(chosen.into_iter().map(squared));
    }
    compared.sort_by(|a, b| a.0.total_cmp(&b.0));
    // One entry for every column, zero outside the row at hand.
    let blank = || vec![0.0; features.columns()];
    let count = |row: &mut Vec<f64>, &node: &usize| {
        each(features, node, |column, value| row[column] = value);
        let own = square(features, node);
        let near = within_reach(&compared, own, distance)
            .iter()
            .filter(|(other, at)| {
                own + other - 2.0 * dot(features, *at, row) <= distance * distance
            })
            .count();
        each(features, node, |column, _| row[column] = 0.0);
        near as f64
    };
    group.nodes.par_iter().map_init(blank, count).collect()
}

/// Those whose length differs from the root of `own` by `distance` at most, a little more for the sake of rounding.
fn within_reach(compared: &[(f64, usize)], own: f64, distance: f64) -> &[(f64, usize)] {
    let reach = distance + 1e-6 * (1.0 + own.sqrt());
    let low = (own.sqrt() - reach).max(0.0);
    let high = own.sqrt() + reach;
    let from = compared.partition_point(|(square, _)| *square < low * low);
    let to = compared.partition_point(|(square, _)| *square <= high * high);
    &compared[from..to]
}

/// The published mix-up: scores of a sample that is drawn with repetition, whose ranks are taken for places in the class.
pub(super) fn sampled_coverage(
    group: &Group<'_>,
    others: &[Vec<usize>],
    choice: &Choice,
    most: usize,
    random: &mut ChaCha8Rng,
) -> Vec<usize> {
    let drawn = (0..most).map(|_| group.nodes[random.random_range(0..group.nodes.len())]);
    let drawn = Group::new(group.features, drawn.collect());
    let near = coverage(&drawn, others, choice.distance, most, random);
    lowest(&near, choice.budget)
}
