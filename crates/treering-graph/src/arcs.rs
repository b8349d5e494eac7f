//! Arcs in compressed rows.
//!
//! Row i lists the sources j of the arcs j -> i, because smoothing reads what flows into a node. The rows
//! are kept as they came: parallel arcs and self-loops are allowed here (the paper's isolated-node patch
//! makes parallel arcs), and [`Propagation`](crate::Propagation) is the one place that decides about loops.

use std::sync::{Arc, OnceLock};

use crate::parallel::{first_wrong, split_rows};
use crate::{Buffer, GraphError, NodeId};

/// Directed arcs, grouped by target. An undirected edge is two arcs.
#[derive(Clone, Debug)]
pub struct Arcs {
    offsets: Buffer<u64>,
    sources: Buffer<u32>,
    weights: Option<Buffer<f32>>,
    symmetric: Arc<OnceLock<bool>>,
}

impl PartialEq for Arcs {
    fn eq(&self, other: &Self) -> bool {
        self.offsets == other.offsets
            && self.sources == other.sources
            && self.weights == other.weights
    }
}

impl Arcs {
    /// Takes arrays that are already grouped by target, and checks every one of them.
    ///
    /// # Errors
    /// When offsets, sources or weights do not describe arcs between `offsets.len() - 1` nodes.
    ///
    /// # Example
    /// ```
    /// use treering_graph::{Arcs, NodeId};
    /// // 0 -> 1 and 2 -> 1
    /// let arcs = Arcs::from_rows(vec![0, 0, 2, 2].into(), vec![0, 2].into(), None)?;
    /// assert_eq!(arcs.sources_of(NodeId(1)), [0, 2]);
    /// # Ok::<(), treering_graph::GraphError>(())
    /// ```
    pub fn from_rows(
        offsets: Buffer<u64>,
        sources: Buffer<u32>,
        weights: Option<Buffer<f32>>,
    ) -> Result<Self, GraphError> {
        let arcs = Self::from_known_rows(offsets, sources, weights)?;
        let (nodes, sources) = (arcs.nodes() as u64, &arcs.sources);
        if let Some(position) = first_wrong(sources, |&s| u64::from(s) >= nodes) {
            return Err(GraphError::ArcOutside {
                position: position as u64,
                node: u64::from(sources[position]),
                nodes,
            });
        }
        if let Some(weights) = &arcs.weights {
            check_weights(weights)?;
        }
        Ok(arcs)
    }

    /// As [`from_rows`](Arcs::from_rows), of arrays whose numbers were checked before: only their lengths are looked at, so that they need not be read. Work on
    /// numbers that are wrong all the same ends in a panic.
    ///
    /// # Errors
    /// When the lengths do not fit together.
    pub fn from_known_rows(
        offsets: Buffer<u64>,
        sources: Buffer<u32>,
        weights: Option<Buffer<f32>>,
    ) -> Result<Self, GraphError> {
        check_offsets("arcs", &offsets, sources.len())?;
        check_node_count(offsets.len() as u64 - 1)?;
        match &weights {
            Some(weights) if weights.len() != sources.len() => Err(GraphError::Length {
                what: "arc weights (against arcs)",
                found: weights.len() as u64,
                nodes: sources.len() as u64,
            }),
            _ => Ok(Self::trusted(offsets, sources, weights)),
        }
    }

    /// Arrays that this crate made itself.
    pub(crate) fn trusted(
        offsets: Buffer<u64>,
        sources: Buffer<u32>,
        weights: Option<Buffer<f32>>,
    ) -> Self {
        Arcs {
            offsets,
            sources,
            weights,
            symmetric: Arc::default(),
        }
    }

    /// A graph of `nodes` nodes and no arcs.
    pub fn none(nodes: usize) -> Self {
        Self::trusted(vec![0; nodes + 1].into(), Vec::new().into(), None)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of arcs, loops and parallel arcs counted.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether there is no arc at all.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Where each row of [`Arcs::sources`] starts; one entry more than there are nodes.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// The source of every arc, grouped by target.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// The weight of every arc, or none where all weights are 1.
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }

    /// As [`Buffer::release`], for all arcs.
    pub fn release(&self) {
        self.offsets.release(0..self.offsets.len());
        self.sources.release(0..self.sources.len());
        if let Some(weights) = &self.weights {
            weights.release(0..weights.len());
        }
    }

    /// The sources of the arcs into `node`.
    pub fn sources_of(&self, node: NodeId) -> &[u32] {
        &self.sources[self.row(node.index())]
    }

    /// The range of arcs into the node at `index`.
    pub fn row(&self, index: usize) -> std::ops::Range<usize> {
        self.offsets[index] as usize..self.offsets[index + 1] as usize
    }

    /// Every arc as (target, source, position), in the order of the rows.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        (0..self.nodes())
            .flat_map(move |target| self.row(target).map(move |at| (target, at)))
            .map(|(target, at)| (target, self.sources[at] as usize, at))
    }

    /// The number of arcs from a node to itself.
    pub fn loops(&self) -> usize {
        self.iter()
            .filter(|(target, source, _)| target == source)
            .count()
    }

    /// Nodes that no other node sends an arc to. On an undirected graph these are the isolated ones.
    pub fn isolated(&self) -> impl Iterator<Item = NodeId> + '_ {
        NodeId::first(self.nodes())
            .filter(|&node| self.sources_of(node).iter().all(|&source| source == node.0))
    }

    /// Whether every arc has its mirror image with the same weight; worked out once, then remembered.
    ///
    /// # Complexity
    /// One pass over the arcs: in sorted rows, the mirror images of the arcs into node 0, 1, 2, ... are met
    /// from left to right in every other row, so one cursor per row is enough.
    pub fn is_symmetric(&self) -> bool {
        *self.symmetric.get_or_init(|| {
            let mut cursor: Vec<u64> = self.offsets[..self.nodes()].to_vec();
            self.iter().all(|(target, source, at)| {
                let mirror = cursor[source] as usize;
                cursor[source] += 1;
                mirror < self.offsets[source + 1] as usize
                    && self.sources[mirror] as usize == target
                    && self.weights().is_none_or(|w| w[mirror] == w[at])
            })
        })
    }

    /// The same arcs turned round. Rows come out sorted.
    pub fn reversed(&self) -> Arcs {
        let mut offsets = vec![0u64; self.nodes() + 1];
        for &source in self.sources() {
            offsets[source as usize + 1] += 1;
        }
        cumulate(&mut offsets);
        let mut cursor = offsets.clone();
        let mut sources = vec![0u32; self.len()];
        let mut weights = self.weights().map(|w| vec![0f32; w.len()]);
        for (target, source, at) in self.iter() {
            let to = cursor[source] as usize;
            cursor[source] += 1;
            sources[to] = target as u32;
            if let (Some(into), Some(from)) = (&mut weights, self.weights()) {
                into[to] = from[at];
            }
        }
        Self::trusted(offsets.into(), sources.into(), weights.map(Buffer::from))
    }

    /// The arcs for which `keep(target, source)` holds, in the same order; it is asked once per arc, in order.
    pub fn filtered(&self, mut keep: impl FnMut(usize, usize) -> bool) -> Arcs {
        let mut offsets = vec![0u64; self.nodes() + 1];
        let mut sources = Vec::new();
        let mut weights = self.weights().map(|_| Vec::new());
        for target in 0..self.nodes() {
            for at in self.row(target) {
                if keep(target, self.sources[at] as usize) {
                    sources.push(self.sources[at]);
                    if let (Some(into), Some(from)) = (&mut weights, self.weights()) {
                        into.push(from[at]);
                    }
                }
            }
            offsets[target + 1] = sources.len() as u64;
        }
        Self::trusted(offsets.into(), sources.into(), weights.map(Buffer::from))
    }

    /// The sum of the weights of the arcs into each node; loops are left out.
    pub(crate) fn in_weight(&self) -> Vec<f64> {
        let mut sums = vec![0f64; self.nodes()];
        split_rows(self.offsets(), &mut sums, &|row| row, &|rows, sums| {
            for (target, sum) in rows.zip(sums) {
                *sum = self
                    .row(target)
                    .filter(|&at| self.sources[at] as usize != target)
                    .map(|at| self.weights().map_or(1.0, |w| f64::from(w[at])))
                    .sum();
            }
        });
        sums
    }
}

/// Turns counts at positions 1.. into offsets.
pub(crate) fn cumulate(counts: &mut [u64]) {
    let mut total = 0;
    for count in counts {
        total += *count;
        *count = total;
    }
}

pub(crate) fn check_node_count(nodes: u64) -> Result<(), GraphError> {
    // The last value is kept free so that it can stand for "none".
    if nodes >= u64::from(u32::MAX) {
        return Err(GraphError::TooManyNodes { nodes });
    }
    Ok(())
}

pub(crate) fn check_weights(weights: &[f32]) -> Result<(), GraphError> {
    match first_wrong(weights, |w| !(w.is_finite() && *w >= 0.0)) {
        None => Ok(()),
        Some(position) => Err(GraphError::BadWeight {
            position: position as u64,
            weight: weights[position],
        }),
    }
}

pub(crate) fn check_offsets(
    what: &'static str,
    offsets: &[u64],
    items: usize,
) -> Result<(), GraphError> {
    let wrong = |row: usize, why| {
        Err(GraphError::BadOffsets {
            what,
            row: row as u64,
            why,
        })
    };
    match (offsets.first(), offsets.last()) {
        (Some(0), Some(&last)) if last == items as u64 => {}
        (Some(0), Some(_)) => {
            return wrong(offsets.len() - 1, "the last is not the number of items");
        }
        (Some(_), _) => return wrong(0, "the first is not 0"),
        _ => return wrong(0, "there are none"),
    }
    match offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        Some(row) => wrong(row, "they decrease"),
        None => Ok(()),
    }
}
