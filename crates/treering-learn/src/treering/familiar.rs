//! How usual a row is for a task: its distance to the nearest class mean, in units of the task's own scatter, beside the distances of nodes that the
//! task's means and scatter were not made from. Nothing of another task has a part in it, so a ring that goes takes all of its share along.

use rand::RngExt;
use rayon::prelude::*;
use treering_data::{Purpose, random};

use super::profile::Profile;
use crate::Labelled;
use crate::network::dense::{self, Into};

/// The group sizes whose distances are known; others lie between.
pub(crate) const SIZES: [usize; 6] = [1, 2, 5, 10, 20, 50];

/// Points of a distribution that a ring keeps.
pub(crate) const POINTS: usize = 64;

/// Random groups that a distribution is taken from.
const DRAWS: usize = 1024;

/// The distances of a task's own nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Usual {
    /// The mean distance of a train node from what the other train nodes make.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// How many nodes the points come from.
    pub nodes: u32,
    /// Of every size in turn, rising: what share of groups lies below.
    pub points: Vec<f32>,
}

/// Distances in units of a task's scatter.
pub(crate) struct Ruler<'a> {
    profile: &'a Profile,
    width: usize,
    /// What is added to the scatter in every direction.
    floor: f64,
    /// Of each direction, the share by which it shortens a distance.
    shares: Vec<f64>,
    /// The class means along the directions.
    means: Vec<f32>,
}

impl<'a> Ruler<'a> {
    pub(crate) fn new(profile: &'a Profile) -> Self {
        let classes = profile.classes();
        let width = profile.means.len() / classes;
        let scatter = &profile.scatter;
        let squares: Vec<f64> = scatter
            .directions
            .chunks(width)
            .map(|direction| direction.iter().map(|&v| f64::from(v).powi(2)).sum())
            .collect();
        let trace = squares.iter().sum::<f64>() + scatter.rest * width as f64;
        let nodes: f64 = profile.counts.iter().map(|&n| f64::from(n)).sum();
        let floor = (scatter.rest + trace / nodes).max(1e-9) / classes as f64;
        // Directions are as long as the root of their variance: |direction . z|^2 / (variance (variance / classes + floor) classes).
        let share = |&square: &f64| match square > 0.0 {
            true => 1.0 / (classes as f64 * (square / classes as f64 + floor)),
            false => 0.0,
        };
        let mut ruler = Ruler {
            profile,
            width,
            floor,
            shares: squares.iter().map(share).collect(),
            means: Vec::new(),
        };
        ruler.means = ruler.along(&profile.means, classes);
        ruler
    }

    /// Rows times directions.
    fn along(&self, rows: &[f32], count: usize) -> Vec<f32> {
        let directions = &self.profile.scatter.directions;
        let rank = directions.len() / self.width;
        let mut out = vec![0f32; count * rank];
        dense::product(
            &mut out,
            Into::Replace,
            dense::view(rows, count, self.width),
            dense::view(directions, rank, self.width).transpose(),
        );
        out
    }

    /// Of every row, its squared distance to every class mean.
    fn to_means(&self, rows: &[f32], count: usize) -> Vec<f64> {
        let classes = self.profile.classes();
        let mut all = vec![0f64; count * classes];
        for some in dense::row_blocks(count) {
            let rows = &rows[some.start * self.width..some.end * self.width];
            let out = &mut all[some.start * classes..some.end * classes];
            self.put_to_means(rows, &self.along(rows, some.len()), out);
        }
        all
    }

    fn put_to_means(&self, rows: &[f32], along: &[f32], all: &mut [f64]) {
        let (classes, rank) = (self.profile.classes(), self.shares.len());
        let pieces = all.par_chunks_mut(TOGETHER * classes).enumerate();
        pieces.with_min_len(4).for_each(|(piece, out)| {
            let start = piece * TOGETHER;
            for class in 0..classes {
                let mean = &self.profile.means[class * self.width..(class + 1) * self.width];
                let plain = squares(&rows[start * self.width..], mean, out.len() / classes);
                let mean = &self.means[class * rank..(class + 1) * rank];
                for (at, out) in out.chunks_mut(classes).enumerate() {
                    let own = &along[(start + at) * rank..(start + at + 1) * rank];
                    let along = own.iter().zip(mean).map(apart);
                    let saved: f64 = along
                        .zip(&self.shares)
                        .map(|(along, share)| along * share)
                        .sum();
                    out[class] = (plain[at] - saved).max(0.0) / self.floor;
                }
            }
        });
    }

    /// Of every row, its squared distance to the nearest class mean.
    pub(crate) fn distances(&self, rows: &[f32], count: usize) -> Vec<f64> {
        self.smallest(&self.to_means(rows, count))
    }

    /// The same, where what is said about a row does not depend on the others, to the bit.
    pub(crate) fn distances_by_row(&self, rows: &[f32], count: usize) -> Vec<f64> {
        let directions = &self.profile.scatter.directions;
        let rank = directions.len() / self.width;
        let mut along = vec![0f32; count * rank];
        let directions = dense::view(directions, rank, self.width).transpose();
        dense::product_by_row(&mut along, rows, directions);
        let mut all = vec![0f64; count * self.profile.classes()];
        self.put_to_means(rows, &along, &mut all);
        self.smallest(&all)
    }

    fn smallest(&self, all: &[f64]) -> Vec<f64> {
        let smallest = |row: &[f64]| row.iter().copied().fold(f64::INFINITY, f64::min);
        all.chunks(self.profile.classes()).map(smallest).collect()
    }

    /// The distance of every train node as if it had not been among them, where its class has others.
    fn left_out(&self, rows: &[f32], train: &Labelled) -> Vec<f64> {
        let classes = self.profile.classes();
        let all = self.to_means(rows, train.nodes.len());
        let mut left_out = Vec::new();
        for (row, &class) in all.chunks(classes).zip(&train.classes) {
            let count = f64::from(self.profile.counts[class as usize]);
            if count < 2.0 {
                continue;
            }
            // Without the node its class's mean is farther by n / (n - 1), and the scatter lacks its own share (Sherman and Morrison).
            let more = count / (count - 1.0);
            let own = more / ((count - 1.0) * classes as f64);
            let of_class = |(other, &square): (usize, &f64)| match other == class as usize {
                true => square * more * more / (1.0 - own * square).max(1e-3),
                false => square,
            };
            left_out.push(
                row.iter()
                    .enumerate()
                    .map(of_class)
                    .fold(f64::INFINITY, f64::min),
            );
        }
        left_out
    }
}

/// Rows whose distances to a mean are added up in step: a sum waits for its last addition, and others can be made meanwhile.
const TOGETHER: usize = 4;

fn apart((a, b): (&f32, &f32)) -> f64 {
    f64::from(a - b).powi(2)
}

/// The squared distances of the first `count` rows to a mean, at most [`TOGETHER`].
fn squares(rows: &[f32], mean: &[f32], count: usize) -> [f64; TOGETHER] {
    let mut sums = [0f64; TOGETHER];
    let row = |at: usize| &rows[at * mean.len()..(at + 1) * mean.len()];
    if count == TOGETHER {
        let four: [&[f32]; TOGETHER] = std::array::from_fn(row);
        for (column, mean) in mean.iter().enumerate() {
            for (sum, row) in sums.iter_mut().zip(four) {
                *sum += apart((&row[column], mean));
            }
        }
        return sums;
    }
    for (at, sum) in sums.iter_mut().enumerate().take(count) {
        *sum = row(at).iter().zip(mean).map(apart).sum();
    }
    sums
}

impl Usual {
    /// # Arguments
    /// * `rows`: of the train nodes.
    /// * `apart`: rows of labelled nodes that are no train nodes; train nodes take their place where there are none.
    pub(crate) fn new(
        profile: &Profile,
        rows: &[f32],
        train: &Labelled,
        apart: &[f32],
        seed: u64,
    ) -> Self {
        let ruler = Ruler::new(profile);
        let left_out = ruler.left_out(rows, train);
        let (mean, deviation) = moments(&left_out);
        let own = match apart.is_empty() {
            true => left_out,
            false => ruler.distances(apart, apart.len() / ruler.width),
        };
        let own: Vec<f64> = own.iter().map(|d| (d - mean) / deviation).collect();
        let points = match own.is_empty() {
            true => Vec::new(),
            false => SIZES
                .iter()
                .flat_map(|&size| points(groups(&own, size, seed)))
                .collect(),
        };
        Usual {
            mean,
            deviation,
            nodes: own.len() as u32,
            points,
        }
    }

    /// Numbers that it keeps.
    pub(crate) fn numbers(&self) -> usize {
        3 + self.points.len()
    }

    /// The share of groups of a size that lie farther than this one, by what the ring knows.
    fn farther(&self, size: usize, distance: f64) -> f64 {
        let table = |at: usize| share_above(&self.points[at * POINTS..(at + 1) * POINTS], distance);
        let above = SIZES.iter().position(|&known| known >= size);
        match above {
            None => table(SIZES.len() - 1),
            Some(at) if SIZES[at] == size => table(at),
            Some(at) => {
                let [low, high, size] = [SIZES[at - 1], SIZES[at], size].map(|n| (n as f64).ln());
                let part = (size - low) / (high - low);
                table(at - 1) * (1.0 - part) + table(at) * part
            }
        }
    }
}

/// What all rings together find usual.
pub(crate) struct Familiar<'a> {
    all: Vec<&'a Usual>,
    nodes: f64,
    /// Of all distances known.
    largest: f64,
}

impl<'a> Familiar<'a> {
    pub(crate) fn new(all: impl Iterator<Item = &'a Usual>) -> Self {
        let all: Vec<&Usual> = all.filter(|usual| usual.nodes > 0).collect();
        // Points of a size rise, so its last one is the largest.
        let points = all
            .iter()
            .flat_map(|usual| usual.points.chunks(POINTS).filter_map(<[f32]>::last));
        Familiar {
            nodes: all.iter().map(|usual| f64::from(usual.nodes)).sum(),
            largest: points.fold(f64::NEG_INFINITY, |largest, &p| largest.max(f64::from(p))),
            all,
        }
    }

    /// The share of groups of known tasks, of this size, that are stranger: over all rings, each by its number of nodes. Never 0, and smaller the
    /// stranger, so that no two strange groups are equally strange.
    ///
    /// # Arguments
    /// * `distance`: the mean over the group's nodes, in deviations of its task.
    pub(crate) fn share(&self, size: usize, distance: f64) -> Option<f64> {
        let farther = |usual: &&Usual| f64::from(usual.nodes) * usual.farther(size, distance);
        let sum: f64 = self.all.iter().map(farther).sum();
        let beyond = (distance - self.largest).max(0.0);
        (self.nodes > 0.0).then(|| (sum + 1.0 / (1.0 + beyond)) / (self.nodes + 1.0))
    }
}

fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    match square > 0.0 {
        true => (mean, square.sqrt()),
        false => (mean, 1.0),
    }
}

/// The mean distances of groups: all nodes for groups of one, random groups for others.
fn groups(own: &[f64], size: usize, seed: u64) -> Vec<f64> {
    if size == 1 {
        return own.to_vec();
    }
    let mut draws = random(seed, Purpose::Grouping, u64::MAX - size as u64);
    let mean = |_| {
        (0..size)
            .map(|_| own[draws.random_range(0..own.len())])
            .sum::<f64>()
            / size as f64
    };
    (0..DRAWS).map(mean).collect()
}

/// A distribution in a few numbers: evenly spaced quantiles.
fn points(mut values: Vec<f64>) -> Vec<f32> {
    values.sort_unstable_by(f64::total_cmp);
    let last = (values.len() - 1) as f64;
    let point = |at: usize| {
        let place = last * at as f64 / (POINTS - 1) as f64;
        let (low, part) = (place.floor() as usize, place.fract());
        let high = (low + 1).min(values.len() - 1);
        (values[low] * (1.0 - part) + values[high] * part) as f32
    };
    (0..POINTS).map(point).collect()
}

/// The share of a distribution above a value.
fn share_above(points: &[f32], value: f64) -> f64 {
    let below = points.partition_point(|&point| f64::from(point) < value);
    if below == 0 {
        return 1.0;
    }
    if below == points.len() {
        return 0.0;
    }
    let (low, high) = (f64::from(points[below - 1]), f64::from(points[below]));
    let part = if high > low {
        (value - low) / (high - low)
    } else {
        0.0
    };
    1.0 - ((below - 1) as f64 + part) / (points.len() - 1) as f64
}
