//! The two views that contrastive training compares: the graph as it is, and one with arcs and feature columns missing.

use rand::RngExt;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;
use treering_graph::{Arcs, Propagation, Room, Side};

use super::backbone::pick;
use super::dense::{Into, product, view};
use super::inputs::{Inputs, transposed_product};
use super::number::Number;
use super::pretrain::{Contrastive, EdgeMask};

/// What both views work in.
pub(super) struct Memory<T> {
    pub(super) room: Room<T>,
    pub(super) projected: Vec<T>,
}

/// One view of a task's graph.
pub(super) struct View<'a, T> {
    propagation: Propagation<'a>,
    /// Which of the present columns are seen; all of them without.
    kept: Option<Vec<bool>>,
    /// S^hops X, where X is dense and that is the cheaper order. Masks act on columns, so they can wait.
    smooth: Option<Vec<T>>,
    hops: usize,
}

impl<'a, T: Number> View<'a, T> {
    pub(super) fn new(
        arcs: &'a Arcs,
        kept: Option<Vec<bool>>,
        inputs: &Inputs<T>,
        hidden: usize,
        hops: usize,
        contrasted: usize,
    ) -> Self {
        let propagation = Propagation::new(arcs);
        let columns = inputs.present().len();
        let smooth = inputs
            .dense()
            .filter(|_| {
                let size = (arcs.len() + arcs.nodes(), arcs.nodes());
                smooth_first(size, hops, columns, hidden, contrasted)
            })
            .map(|x| propagation.smooth(Side::Forward, x, columns, hops));
        View {
            propagation,
            kept,
            smooth,
            hops,
        }
    }

    /// S^hops X W1 on `rows`, or on all without; `first` holds the rows of W1 for the present columns.
    pub(super) fn hidden(
        &self,
        inputs: &Inputs<T>,
        first: &[T],
        hidden: usize,
        rows: Option<&[usize]>,
        memory: &mut Memory<T>,
        out: &mut [T],
    ) {
        let columns = inputs.present().len();
        if let Some(smooth) = &self.smooth {
            let seen = self.seen(smooth, columns, rows);
            let seen = view(&seen, out.len() / hidden, columns);
            return product(out, Into::Replace, seen, view(first, columns, hidden));
        }
        inputs.times(first, hidden, self.kept.as_deref(), &mut memory.projected);
        let smooth = self.propagation.smooth_in(
            &mut memory.room,
            Side::Forward,
            &memory.projected,
            hidden,
            self.hops,
        );
        match rows {
            None => out.copy_from_slice(smooth),
            Some(rows) => out.copy_from_slice(&pick(smooth, hidden, rows)),
        }
    }

    /// Adds the gradient of W1's present rows, given that of [`View::hidden`].
    pub(super) fn back(
        &self,
        inputs: &Inputs<T>,
        gradient: &[T],
        hidden: usize,
        rows: Option<&[usize]>,
        memory: &mut Memory<T>,
        into: &mut Vec<T>,
    ) {
        let columns = inputs.present().len();
        if let Some(smooth) = &self.smooth {
            let seen = self.seen(smooth, columns, rows);
            let count = gradient.len() / hidden;
            let gradient = view(gradient, count, hidden);
            return transposed_product(
                view(&seen, count, columns),
                gradient,
                None,
                Into::Add,
                into,
            );
        }
        let gradient = match rows {
            None => gradient,
            Some(rows) => {
                memory.projected.clear();
                memory.projected.resize(inputs.rows() * hidden, T::ZERO);
                for (&row, from) in rows.iter().zip(gradient.chunks(hidden)) {
                    memory.projected[row * hidden..(row + 1) * hidden].copy_from_slice(from);
                }
                &memory.projected
            }
        };
        let back = self.propagation.smooth_in(
            &mut memory.room,
            Side::Transposed,
            gradient,
            hidden,
            self.hops,
        );
        inputs.transposed_times(back, hidden, self.kept.as_deref(), Into::Add, into);
    }

    /// The chosen rows of S^hops X with masked columns zeroed.
    fn seen(&self, smooth: &[T], columns: usize, rows: Option<&[usize]>) -> Vec<T> {
        let mut seen = match rows {
            None => smooth.to_vec(),
            Some(rows) => pick(smooth, columns, rows),
        };
        if let Some(kept) = &self.kept {
            for row in seen.chunks_mut(columns) {
                for (value, _) in row.iter_mut().zip(kept).filter(|(_, kept)| !**kept) {
                    *value = T::ZERO;
                }
            }
        }
        seen
    }
}

/// Whether smoothing dense X before the first layer is cheaper than after it. Before, the layer is needed for contrasted nodes only;
/// after, it narrows wide features. A number smoothed counts as eight multiplied: it waits for memory.
fn smooth_first(
    (arcs, nodes): (usize, usize),
    hops: usize,
    columns: usize,
    hidden: usize,
    contrasted: usize,
) -> bool {
    let smoothing = |width: usize| 8.0 * (hops * arcs) as f64 * width as f64;
    let layer = |rows: usize| rows as f64 * columns as f64 * hidden as f64;
    smoothing(columns) + layer(contrasted) < layer(nodes) + smoothing(hidden)
}

/// Arcs with a share of them removed. One loop per node counts as an arc that may be drawn but is never removed, as the published
/// method has it; the two directions of an edge fall independently.
pub(super) fn fewer_arcs(arcs: &Arcs, options: &Contrastive, random: &mut ChaCha8Rng) -> Arcs {
    let mut removed = vec![false; arcs.len()];
    match options.edge_mask {
        EdgeMask::FixedCount => {
            let all = arcs.len() + arcs.nodes();
            let count = (options.edge_removal * all as f64) as usize;
            let drawn = sample(random, all, count.min(all));
            drawn
                .into_iter()
                .filter(|&arc| arc < arcs.len())
                .for_each(|arc| removed[arc] = true);
        }
        EdgeMask::Bernoulli => removed
            .iter_mut()
            .for_each(|removed| *removed = random.random_bool(options.edge_removal)),
    }
    let mut removed = removed.into_iter();
    arcs.filtered(|_, _| !removed.next().unwrap_or(false))
}

/// Which columns stay visible.
pub(super) fn fewer_columns(
    columns: usize,
    options: &Contrastive,
    random: &mut ChaCha8Rng,
) -> Vec<bool> {
    (0..columns)
        .map(|_| !random.random_bool(options.attribute_masking))
        .collect()
}
