//! Normalised propagation S = D^-1/2 (A + I) D^-1/2, in-degrees on both sides, and its transpose.
//!
//! S^s = D^1/2 (D^-1 (A + I))^s D^-1/2, so the scaling between two steps is one factor per target, and a 0/1 graph
//! needs no weight per arc at all: scale the rows once, sum neighbours, scale, sum neighbours, ...

use std::borrow::Cow;
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::kernels::{Factor, Ones, PerArc, PerBoth, PerSource, Real, narrow, wide};
use crate::parallel::split_rows;
use crate::{Arcs, Dense, Features};

/// Which way values travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// S: a node sums over the arcs into it.
    Forward,
    /// S^T: a node sums over the arcs out of it.
    Transposed,
}

/// The operator S of a graph: its arcs without loops, and the degrees that one loop per node adds to.
pub struct Propagation<'a> {
    arcs: Cow<'a, Arcs>,
    reversed: OnceLock<Arcs>,
    degrees: Vec<f64>,
}

impl<'a> Propagation<'a> {
    /// Prepares the operator. Loops in `arcs` are left out; exactly one per node, of weight 1, takes their place.
    pub fn new(arcs: &'a Arcs) -> Self {
        let degrees = arcs
            .in_weight()
            .into_iter()
            .map(|weight| weight + 1.0)
            .collect();
        let arcs = match arcs.iter().any(|(target, source, _)| target == source) {
            false => Cow::Borrowed(arcs),
            true => Cow::Owned(arcs.filtered(|target, source| target != source)),
        };
        Propagation {
            arcs,
            reversed: OnceLock::new(),
            degrees,
        }
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.degrees.len()
    }

    /// The in-degree of every node, its one loop counted.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// S^steps x, or (S^T)^steps x.
    ///
    /// # Arguments
    /// * `values`: `width` numbers per node, row by row.
    ///
    /// # Panics
    /// When `values` does not hold `width` numbers per node.
    ///
    /// # Complexity
    /// O(steps x (arcs + nodes) x width); memory twice `values`. Rows of up to 16 numbers are padded to a power of two.
    ///
    /// # Example
    /// ```
    /// use treering_graph::{Direction, Propagation, Side, build_arcs};
    /// let (arcs, _) = build_arcs(2, &[0], &[1], None, Direction::Undirected)?;
    /// let smooth = Propagation::new(&arcs).smooth(Side::Forward, &[1.0f32, 0.0], 1, 1);
    /// assert_eq!(smooth, [0.49999997, 0.49999997]); // 1/sqrt(2) rounded to f32, squared
    /// # Ok::<(), treering_graph::GraphError>(())
    /// ```
    pub fn smooth<T: Real>(&self, side: Side, values: &[T], width: usize, steps: usize) -> Vec<T> {
        assert_eq!(
            values.len(),
            self.nodes() * width,
            "one row of {width} per node"
        );
        if steps == 0 || values.is_empty() {
            return values.to_vec();
        }
        match width {
            1 => self.smooth_narrow::<T, 1>(side, values, width, steps),
            2 => self.smooth_narrow::<T, 2>(side, values, width, steps),
            3..=4 => self.smooth_narrow::<T, 4>(side, values, width, steps),
            5..=8 => self.smooth_narrow::<T, 8>(side, values, width, steps),
            9..=16 => self.smooth_narrow::<T, 16>(side, values, width, steps),
            _ => self.smooth_wide(side, values, width, steps),
        }
    }

    /// S^steps X for features of either kind; sparse features stay sparse.
    pub fn smooth_features(&self, features: &Features, steps: usize) -> Features {
        match features {
            Features::Dense(dense) => {
                let width = dense.columns();
                let values = self.smooth(Side::Forward, dense.values(), width, steps);
                match Dense::new(dense.rows(), width, values.into()) {
                    Ok(smooth) => Features::Dense(smooth),
                    Err(_) => unreachable!("smoothing keeps the shape"),
                }
            }
            Features::Sparse(sparse) => Features::Sparse(self.smooth_sparse(sparse, steps)),
        }
    }

    pub(crate) fn arcs(&self, side: Side) -> &Arcs {
        match side {
            Side::Forward => &self.arcs,
            Side::Transposed if self.arcs.is_symmetric() => &self.arcs,
            Side::Transposed => self.reversed.get_or_init(|| self.arcs.reversed()),
        }
    }

    /// The degrees to the power of -1/2, in the type asked for.
    pub(crate) fn inverse_root<T: Real>(&self) -> Vec<T> {
        self.degrees
            .iter()
            .map(|d| T::from_f64(1.0 / d.sqrt()))
            .collect()
    }

    /// The degrees to the power of -1.
    pub(crate) fn inverse<T: Real>(&self) -> Vec<T> {
        self.degrees.iter().map(|d| T::from_f64(1.0 / d)).collect()
    }

    fn smooth_narrow<T: Real, const W: usize>(
        &self,
        side: Side,
        values: &[T],
        width: usize,
        steps: usize,
    ) -> Vec<T> {
        let (root, inverse) = (self.inverse_root::<T>(), self.inverse::<T>());
        let mut x = vec![T::default(); self.nodes() * W];
        x.par_chunks_mut(W)
            .zip(values.par_chunks(width))
            .zip(&root)
            .with_min_len(1024)
            .for_each(|((to, from), &scale)| {
                for (to, &from) in to.iter_mut().zip(from) {
                    *to = scale * from;
                }
            });
        let arcs = self.arcs(side);
        let mut next = vec![T::default(); x.len()];
        for step in 1..=steps {
            let scale = if step == steps { &root } else { &inverse };
            match arcs.weights() {
                None => step_narrow::<T, _, W>(arcs, Ones, &x, scale, &mut next),
                Some(w) => step_narrow::<T, _, W>(arcs, PerArc(w), &x, scale, &mut next),
            }
            std::mem::swap(&mut x, &mut next);
        }
        if W == width {
            return x;
        }
        let mut smooth = vec![T::default(); values.len()];
        smooth
            .par_chunks_mut(width)
            .zip(x.par_chunks(W))
            .with_min_len(1024)
            .for_each(|(to, from)| to.copy_from_slice(&from[..width]));
        smooth
    }

    fn smooth_wide<T: Real>(&self, side: Side, values: &[T], width: usize, steps: usize) -> Vec<T> {
        let (root, inverse) = (self.inverse_root::<T>(), self.inverse::<T>());
        let arcs = self.arcs(side);
        let scale = |step| if step == steps { &root } else { &inverse };
        let mut x = vec![T::default(); values.len()];
        // The first step scales rows while it reads them, which saves a pass over all of them.
        match arcs.weights() {
            None => step_wide(arcs, PerSource(&root), values, width, scale(1), &mut x),
            Some(w) => step_wide(arcs, PerBoth(w, &root), values, width, scale(1), &mut x),
        }
        if steps == 1 {
            return x;
        }
        let mut next = vec![T::default(); values.len()];
        for step in 2..=steps {
            match arcs.weights() {
                None => step_wide(arcs, Ones, &x, width, scale(step), &mut next),
                Some(w) => step_wide(arcs, PerArc(w), &x, width, scale(step), &mut next),
            }
            std::mem::swap(&mut x, &mut next);
        }
        x
    }
}

fn step_narrow<T: Real, F: Factor<T>, const W: usize>(
    arcs: &Arcs,
    factor: F,
    x: &[T],
    scale: &[T],
    out: &mut [T],
) {
    split_rows(arcs.offsets(), out, &|row| row * W, &|rows, out| {
        narrow::<T, F, W>(arcs, factor, x, scale, rows, out);
    });
}

fn step_wide<T: Real, F: Factor<T>>(
    arcs: &Arcs,
    factor: F,
    x: &[T],
    width: usize,
    scale: &[T],
    out: &mut [T],
) {
    split_rows(arcs.offsets(), out, &|row| row * width, &|rows, out| {
        wide::<T, F>(arcs, factor, x, width, scale, rows, out);
    });
}
