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

/// Rows of up to so many numbers are summed in registers.
const NARROW: usize = 16;

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
    in_f32: OnceLock<Scales<f32>>,
    in_f64: OnceLock<Scales<f64>>,
}

/// Powers of the degrees, in one number type; made when first needed, then kept.
pub struct Scales<T> {
    /// d^-1/2
    pub(crate) root: Vec<T>,
    /// d^-1
    pub(crate) inverse: Vec<T>,
}

impl<T: Real> Scales<T> {
    fn of(degrees: &[f64]) -> Self {
        Scales {
            root: degrees
                .par_iter()
                .map(|d| T::from_f64(1.0 / d.sqrt()))
                .collect(),
            inverse: degrees.par_iter().map(|d| T::from_f64(1.0 / d)).collect(),
        }
    }
}

/// The scales of a number type. Only this crate's number types have them.
pub trait Scaled: Sized {
    /// Of this operator.
    fn scales<'p>(operator: &'p Propagation<'_>) -> &'p Scales<Self>;
}

impl Scaled for f32 {
    fn scales<'p>(operator: &'p Propagation<'_>) -> &'p Scales<f32> {
        operator
            .in_f32
            .get_or_init(|| Scales::of(&operator.degrees))
    }
}

impl Scaled for f64 {
    fn scales<'p>(operator: &'p Propagation<'_>) -> &'p Scales<f64> {
        operator
            .in_f64
            .get_or_init(|| Scales::of(&operator.degrees))
    }
}

/// Memory that smoothing works in. Keep one where the same shape is smoothed again and again: fresh memory costs as
/// much as a step on a sparse graph.
#[derive(Default)]
pub struct Room<T> {
    now: Vec<T>,
    next: Vec<T>,
    result: Vec<T>,
}

impl<T: Real> Room<T> {
    /// No memory yet.
    pub fn new() -> Self {
        Room {
            now: Vec::new(),
            next: Vec::new(),
            result: Vec::new(),
        }
    }
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
            in_f32: OnceLock::new(),
            in_f64: OnceLock::new(),
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
        self.smooth_strip(side, values, (width, width), steps)
    }

    /// As [`Propagation::smooth`], for some columns of wider rows; see [`Propagation::smooth_strip_in`].
    ///
    /// # Panics
    /// As [`Propagation::smooth`].
    pub fn smooth_strip<T: Real>(
        &self,
        side: Side,
        values: &[T],
        width: (usize, usize),
        steps: usize,
    ) -> Vec<T> {
        let mut room = Room::new();
        if std::ptr::eq(
            self.smooth_strip_in(&mut room, side, values, width, steps),
            &room.now[..],
        ) {
            return room.now;
        }
        room.result
    }

    /// As [`Propagation::smooth`], in memory that is used again.
    ///
    /// # Panics
    /// When `values` does not hold `width` numbers per node.
    pub fn smooth_in<'r, T: Real>(
        &self,
        room: &'r mut Room<T>,
        side: Side,
        values: &[T],
        width: usize,
        steps: usize,
    ) -> &'r [T] {
        self.smooth_strip_in(room, side, values, (width, width), steps)
    }

    /// As [`Propagation::smooth_in`], for some columns of wider rows: every number comes out as if all columns had been smoothed at once.
    ///
    /// # Arguments
    /// * `width`: the columns that are here, and those of the whole.
    ///
    /// # Panics
    /// As [`Propagation::smooth`].
    pub fn smooth_strip_in<'r, T: Real>(
        &self,
        room: &'r mut Room<T>,
        side: Side,
        values: &[T],
        (width, whole): (usize, usize),
        steps: usize,
    ) -> &'r [T] {
        assert_eq!(
            values.len(),
            self.nodes() * width,
            "one row of {width} per node"
        );
        if steps == 0 || values.is_empty() {
            room.now.clear();
            room.now.extend_from_slice(values);
            return &room.now;
        }
        match width {
            // Sums of wide rows are taken in another order.
            _ if whole > NARROW => self.smooth_wide(room, side, values, width, steps),
            1 => self.smooth_narrow::<T, 1>(room, side, values, width, steps),
            2 => self.smooth_narrow::<T, 2>(room, side, values, width, steps),
            3..=4 => self.smooth_narrow::<T, 4>(room, side, values, width, steps),
            5..=8 => self.smooth_narrow::<T, 8>(room, side, values, width, steps),
            _ => self.smooth_narrow::<T, 16>(room, side, values, width, steps),
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

    fn smooth_narrow<'r, T: Real, const W: usize>(
        &self,
        room: &'r mut Room<T>,
        side: Side,
        values: &[T],
        width: usize,
        steps: usize,
    ) -> &'r [T] {
        let Scales { root, inverse } = T::scales(self);
        room.now.resize(self.nodes() * W, T::default());
        room.next.resize(self.nodes() * W, T::default());
        let padded = room.now.par_chunks_mut(W).zip(values.par_chunks(width));
        padded
            .zip(root)
            .with_min_len(1024)
            .for_each(|((to, from), &scale)| {
                let (used, padding) = to.split_at_mut(width);
                for (to, &from) in used.iter_mut().zip(from) {
                    *to = scale * from;
                }
                padding.fill(T::default());
            });
        let arcs = self.arcs(side);
        for step in 1..=steps {
            let scale = if step == steps { root } else { inverse };
            let (x, out) = (&room.now[..], &mut room.next[..]);
            match arcs.weights() {
                None => step_narrow::<T, _, W>(arcs, Ones, x, scale, out),
                Some(w) => step_narrow::<T, _, W>(arcs, PerArc(w), x, scale, out),
            }
            std::mem::swap(&mut room.now, &mut room.next);
        }
        if W == width {
            return &room.now;
        }
        room.result.resize(values.len(), T::default());
        let packed = room
            .result
            .par_chunks_mut(width)
            .zip(room.now.par_chunks(W));
        packed
            .with_min_len(1024)
            .for_each(|(to, from)| to.copy_from_slice(&from[..width]));
        &room.result
    }

    fn smooth_wide<'r, T: Real>(
        &self,
        room: &'r mut Room<T>,
        side: Side,
        values: &[T],
        width: usize,
        steps: usize,
    ) -> &'r [T] {
        let Scales { root, inverse } = T::scales(self);
        let arcs = self.arcs(side);
        let scale = |step| if step == steps { root } else { inverse };
        room.now.resize(values.len(), T::default());
        // The first step scales rows while it reads them, which saves a pass over all of them.
        match arcs.weights() {
            None => step_wide(
                arcs,
                PerSource(root),
                values,
                width,
                scale(1),
                &mut room.now,
            ),
            Some(w) => step_wide(
                arcs,
                PerBoth(w, root),
                values,
                width,
                scale(1),
                &mut room.now,
            ),
        }
        if steps > 1 {
            room.next.resize(values.len(), T::default());
        }
        for step in 2..=steps {
            let (x, out) = (&room.now[..], &mut room.next[..]);
            match arcs.weights() {
                None => step_wide(arcs, Ones, x, width, scale(step), out),
                Some(w) => step_wide(arcs, PerArc(w), x, width, scale(step), out),
            }
            std::mem::swap(&mut room.now, &mut room.next);
        }
        &room.now
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
