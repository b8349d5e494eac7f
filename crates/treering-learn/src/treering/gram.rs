//! A head by its normal equations, where features are dense and few, and train nodes many. There the blocks of the train nodes are made after all: their products with each other are taken once, for all
//! outputs, while conjugate gradients would go over all features and arcs some fifty times for every output.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side as Triangle};
use rayon::prelude::*;

use super::Head;
use super::head::Blocks;
use crate::network::dense::{self, Into};

/// Columns of all hops from which on the products take longer than the steps.
const MOST_COLUMNS: usize = 2500;

/// Train nodes whose rows are held in f64 at a time.
const ROWS: usize = 2048;

/// Whether this is the shorter way, for features seen over so many hops and so many train nodes. With fewer nodes than columns the equations are larger than all that steps go over.
///
/// # Arguments
/// * `columns`: of all hops together.
pub(crate) fn is_shorter(is_dense: bool, columns: usize, train: usize) -> bool {
    is_dense && columns <= MOST_COLUMNS.min(train)
}

/// The head with the least sum of weights (target - row w)^2 + ridge |w|^2.
///
/// # Arguments
/// * `blocks`: of a view that keeps every hop.
/// * `targets`: by node and output.
/// * `weights`: by node.
///
/// # Returns
/// Nothing where the equations have no solution in floating point.
pub(super) fn solved(
    blocks: &Blocks<'_>,
    targets: &[f64],
    weights: &[f64],
    ridge: f64,
) -> Option<Head> {
    let (each, nodes) = (blocks.each(), weights.len());
    let (width, outputs) = (each + 1, targets.len() / nodes);
    let mut gram = vec![0f64; width * width];
    let mut right = vec![0f64; width * outputs];
    for start in (0..nodes).step_by(ROWS) {
        let end = nodes.min(start + ROWS);
        let mut part = vec![1f64; (end - start) * width];
        let mut weighted = part.clone();
        let both = part
            .par_chunks_mut(width)
            .zip(weighted.par_chunks_mut(width));
        both.enumerate().for_each(|(at, (row, weighted))| {
            blocks.put_row(start + at, row);
            let weight = weights[start + at];
            weighted
                .iter_mut()
                .zip(row)
                .for_each(|(to, value)| *to = weight * *value);
        });
        let part = dense::view(&part, end - start, width);
        let weighted = dense::view(&weighted, end - start, width);
        let targets = &targets[start * outputs..end * outputs];
        let targets = dense::view(targets, end - start, outputs);
        dense::lower_product(&mut gram, Into::Add, weighted.transpose(), part);
        dense::product(&mut right, Into::Add, weighted.transpose(), targets);
        blocks.release(start..end);
    }
    let mut matrix = dense::lower_matrix(&gram, width, |sum| sum);
    (0..width).for_each(|at| matrix[(at, at)] += ridge);
    let right = Mat::from_fn(width, outputs, |at, output| right[at * outputs + output]);
    let found = matrix.llt(Triangle::Lower).ok()?.solve(&right);
    let of_output = |output: usize| (0..each).map(move |at| (at, output));
    Some(Head {
        weights: (0..outputs)
            .flat_map(of_output)
            .map(|place| found[place] as f32)
            .collect(),
        bias: (0..outputs)
            .map(|output| found[(each, output)] as f32)
            .collect(),
    })
}
