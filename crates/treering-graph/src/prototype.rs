//! Task prototypes: the degree-scaled mean of smoothed rows, p = (1/n) sum_i d_i^-1/2 (S^s X)_i.

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
        let mut share = vec![0f64; self.nodes()];
        for node in nodes {
            share[node.index()] += 1.0 / (self.degrees()[node.index()].sqrt() * nodes.len() as f64);
        }
        let share = self.smooth(Side::Transposed, &share, 1, steps);
        weighted_sum(features, &share)
    }
}

/// X^T v.
fn weighted_sum(features: &Features, weights: &[f64]) -> Vec<f64> {
    sum_rows(0..features.rows(), &|rows| {
        let mut sum = vec![0f64; features.columns()];
        for row in rows.clone().filter(|&row| weights[row] != 0.0) {
            let weight = weights[row];
            match features {
                Features::Dense(dense) => {
                    for (sum, &value) in sum.iter_mut().zip(dense.row(row)) {
                        *sum += weight * f64::from(value);
                    }
                }
                Features::Sparse(sparse) => {
                    let (columns, values) = sparse.row(row);
                    for (&column, &value) in columns.iter().zip(values) {
                        sum[column as usize] += weight * f64::from(value);
                    }
                }
            }
        }
        features.release(rows);
        sum
    })
}
