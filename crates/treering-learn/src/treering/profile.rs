//! What a task leaves behind so that its nodes can be recognised: the mean of every class, and how rows scatter around them. Sums over train nodes
//! and nothing else, of this task alone.

use faer::{Mat, MatRef, Side};
use rand::RngExt;
use rayon::prelude::*;
use treering_data::{Large, Purpose, random};

use crate::network::dense::{self, Into};
use crate::{Labelled, LearnError};

/// Directions that are followed beside those that are kept, so that the kept ones are found exactly enough.
const SPARE: usize = 16;

/// Times that the directions are turned towards the largest ones.
const TURNS: usize = 4;

/// The profile of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Train nodes of every class.
    pub counts: Vec<u32>,
    /// The mean row of every class.
    pub means: Vec<f32>,
    /// How rows scatter around their class's mean.
    pub scatter: Scatter,
}

/// The sum over classes of the mean over a class's nodes of (e - mean)(e - mean)^T, as directions^T directions + rest I.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// The largest principal directions, each as long as the root of its variance.
    pub directions: Vec<f32>,
    /// The variance beyond them, spread over all columns evenly.
    pub rest: f64,
}

impl Profile {
    /// The profile of some train nodes.
    ///
    /// # Arguments
    /// * `rows`: of the train nodes, in their order.
    /// * `rank`: principal directions to keep.
    ///
    /// # Errors
    /// No room on a disk for what is too much for memory.
    pub(crate) fn new(
        rows: &[f32],
        train: &Labelled,
        classes: usize,
        rank: usize,
        seed: u64,
    ) -> Result<Self, LearnError> {
        let width = rows.len() / train.nodes.len().max(1);
        let (counts, means) = class_means(rows, &train.classes, classes, width);
        let mut centred = Large::zeros(rows.len())?;
        centred.fill(width, |some, centred| {
            let from = rows[some.start * width..].par_chunks(width);
            let to = centred.par_chunks_mut(width).zip(from);
            let to = to.zip(&train.classes[some]).with_min_len(64);
            to.for_each(|((to, from), &class)| {
                let mean = &means[class as usize * width..][..width];
                let scale = 1.0 / (counts[class as usize] as f32).sqrt();
                for ((to, from), mean) in to.iter_mut().zip(from).zip(mean) {
                    *to = (from - mean) * scale;
                }
            });
        });
        Ok(Profile {
            counts,
            means,
            scatter: Scatter::of(&centred, width, rank, seed)?,
        })
    }

    pub(crate) fn classes(&self) -> usize {
        self.counts.len()
    }

    /// Numbers that it keeps.
    pub(crate) fn numbers(&self) -> usize {
        self.counts.len() + self.means.len() + self.scatter.directions.len() + 1
    }
}

/// How many nodes every class has, and their mean rows.
pub(crate) fn class_means(
    rows: &[f32],
    of_row: &[u32],
    classes: usize,
    width: usize,
) -> (Vec<u32>, Vec<f32>) {
    let mut counts = vec![0u32; classes];
    let mut sums = vec![0f64; classes * width];
    for (row, &class) in rows.chunks(width).zip(of_row) {
        counts[class as usize] += 1;
        let sum = &mut sums[class as usize * width..][..width];
        sum.iter_mut()
            .zip(row)
            .for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let means = sums.chunks(width).zip(&counts).flat_map(|(sum, &count)| {
        let count = f64::from(count.max(1));
        sum.iter().map(move |sum| (sum / count) as f32)
    });
    let means = means.collect();
    (counts, means)
}

impl Scatter {
    /// Of rows that are centred and weighted already.
    fn of(rows: &[f32], width: usize, rank: usize, seed: u64) -> Result<Self, LearnError> {
        let count = rows.len() / width;
        let total: f64 = rows.iter().map(|&value| f64::from(value).powi(2)).sum();
        let rank = rank.min(count).min(width);
        let rows = dense::view(rows, count, width);
        let directions = match count <= 2 * rank {
            true => all_of(rows, rank),
            false => largest_of(rows, rank, seed)?,
        };
        let kept: f64 = directions
            .iter()
            .map(|&value| f64::from(value).powi(2))
            .sum();
        Ok(Scatter {
            directions,
            rest: (total - kept).max(0.0) / width as f64,
        })
    }
}

/// The principal directions of few rows, from the products of rows with each other.
fn all_of(rows: MatRef<'_, f32>, rank: usize) -> Vec<f32> {
    let count = rows.nrows();
    let mut products = vec![0f32; count * count];
    dense::product(&mut products, Into::Replace, rows, rows.transpose());
    let (_, turns) = eigen(dense::view(&products, count, count), rank);
    let mut directions = vec![0f32; rank * rows.ncols()];
    dense::product(
        &mut directions,
        Into::Replace,
        dense::view(&turns, rank, count),
        rows,
    );
    directions
}

/// The largest principal directions of many rows: random directions, turned towards them a few times.
fn largest_of(rows: MatRef<'_, f32>, rank: usize, seed: u64) -> Result<Vec<f32>, LearnError> {
    let (count, width) = (rows.nrows(), rows.ncols());
    let follow = (rank + SPARE).min(width);
    let mut basis = start(width, follow, seed);
    let mut images = Large::zeros(count * follow)?;
    for turn in 0..=TURNS {
        let columns = dense::view(&basis, width, follow);
        dense::product(&mut images, Into::Replace, rows, columns);
        if turn < TURNS {
            let mut next = vec![0f32; width * follow];
            let images = dense::view(&images, count, follow);
            dense::product(&mut next, Into::Replace, rows.transpose(), images);
            basis = orthonormal(dense::view(&next, width, follow));
        }
    }
    let images = dense::view(&images, count, follow);
    let mut products = vec![0f32; follow * follow];
    dense::product(&mut products, Into::Replace, images.transpose(), images);
    let (lengths, turns) = eigen(dense::view(&products, follow, follow), rank);
    let mut directions = vec![0f32; rank * width];
    dense::product(
        &mut directions,
        Into::Replace,
        dense::view(&turns, rank, follow),
        dense::view(&basis, width, follow).transpose(),
    );
    for (direction, length) in directions.chunks_mut(width).zip(lengths) {
        let length = length.sqrt() as f32;
        direction.iter_mut().for_each(|value| *value *= length);
    }
    Ok(directions)
}

/// Random directions to begin with.
fn start(width: usize, follow: usize, seed: u64) -> Vec<f32> {
    let mut draws = random(seed, Purpose::Projection, u64::MAX);
    let random: Vec<f32> = (0..width * follow)
        .map(|_| draws.random_range(-1.0..1.0))
        .collect();
    orthonormal(dense::view(&random, width, follow))
}

/// An orthonormal basis of the columns, row by row.
fn orthonormal(columns: MatRef<'_, f32>) -> Vec<f32> {
    let wide = Mat::from_fn(columns.nrows(), columns.ncols(), |i, j| {
        f64::from(columns[(i, j)])
    });
    let basis = wide.qr().compute_thin_Q();
    let (rows, columns) = (basis.nrows(), basis.ncols());
    (0..rows)
        .flat_map(|i| (0..columns).map(move |j| (i, j)))
        .map(|at| basis[at] as f32)
        .collect()
}

/// The largest eigenvalues of a symmetric matrix, from the largest on, and an eigenvector for each.
fn eigen(products: MatRef<'_, f32>, rank: usize) -> (Vec<f64>, Vec<f32>) {
    let size = products.nrows();
    let wide = Mat::from_fn(size, size, |i, j| f64::from(products[(i, j)]));
    // Only numbers that are not finite have none, and rows of unit length are finite.
    let Ok(found) = wide.self_adjoint_eigen(Side::Lower) else {
        return (vec![0.0; rank], vec![0.0; rank * size]);
    };
    let places = || (size - rank..size).rev();
    let values = places().map(|at| found.S()[at].max(0.0)).collect();
    let entry = |at: usize| (0..size).map(move |i| (i, at));
    let vectors = places()
        .flat_map(entry)
        .map(|place| found.U()[place] as f32);
    (values, vectors.collect())
}
