//! Task prototypes: the degree-scaled mean of smoothed rows, p = (1/n) sum_i d_i^-1/2 (S^s X)_i.

use std::ops::Range;

use crate::parallel::sum_rows;
use crate::propagate::{Propagation, Side};
use crate::{Features, NodeId};

impl Propagation<'_> {
    /// The prototype of `nodes` after `steps` of smoothing.
    ///
    /// It is linear in X, so it is taken by its adjoint: p = X^T (S^T)^s v with v_i = d_i^-1/2 / n on the chosen nodes. That
    /// propagates one vector instead of every column of X. Worked out in f64: distances between prototypes can be
    /// small against their length.
    ///
    /// # Panics
    /// When a node does not exist or `features` has another number of rows.
    ///
    /// # Complexity
    /// O(steps x arcs + stored entries of X). An empty list of nodes gives zeros.
    ///
    /// # Example
    /// ```
    /// use treering_graph::{Arcs, Dense, Features, NodeId, Propagation};
    /// let features = Features::Dense(Dense::new(2, 1, vec![1.0, 3.0].into())?);
    /// let arcs = Arcs::none(2); // without arcs S is the identity and every degree is 1
    /// let mean = Propagation::new(&arcs).prototype(&features, &[NodeId(0), NodeId(1)], 3);
    /// assert_eq!(mean, [2.0]);
    /// # Ok::<(), treering_graph::GraphError>(())
    /// ```
    pub fn prototype(&self, features: &Features, nodes: &[NodeId], steps: usize) -> Vec<f64> {
        assert_eq!(features.rows(), self.nodes(), "one row per node");
        weighted_sum(features, 0..features.columns(), &self.spread(nodes, steps))
    }

    /// What every node's features weigh in the [prototype](Propagation::prototype) of `nodes`: the part of it that goes over arcs.
    ///
    /// # Panics
    /// When a node does not exist.
    pub fn spread(&self, nodes: &[NodeId], steps: usize) -> Vec<f64> {
        let mut share = vec![0f64; self.nodes()];
        for node in nodes {
            share[node.index()] += 1.0 / (self.degrees()[node.index()].sqrt() * nodes.len() as f64);
        }
        self.smooth(Side::Transposed, &share, 1, steps)
    }
}

/// X^T v, of some columns of X: the part of a [prototype](Propagation::prototype) that goes over features. A column does not depend on which others are asked for.
///
/// # Panics
/// When there are not as many weights as rows, or columns that are not there.
pub fn weighted_sum(features: &Features, columns: Range<usize>, weights: &[f64]) -> Vec<f64> {
    assert_eq!(features.rows(), weights.len(), "one weight per row");
    assert!(columns.end <= features.columns(), "columns that are there");
    sum_rows(0..features.rows(), &|rows| {
        let mut sum = vec![0f64; columns.len()];
        for row in rows.clone().filter(|&row| weights[row] != 0.0) {
            let weight = weights[row];
            match features {
                Features::Dense(dense) => {
                    for (sum, &value) in sum.iter_mut().zip(&dense.row(row)[columns.clone()]) {
                        *sum += weight * f64::from(value);
                    }
                }
                Features::Sparse(sparse) => {
                    let (places, values) = sparse.row(row);
                    for (&place, &value) in places.iter().zip(values) {
                        if columns.contains(&(place as usize)) {
                            sum[place as usize - columns.start] += weight * f64::from(value);
                        }
                    }
                }
            }
        }
        features.release(rows);
        sum
    })
}
