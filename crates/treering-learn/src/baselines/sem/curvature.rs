//! Curvature of edges: how well the ends of an edge are connected besides it. Low between clusters, high inside them.

use serde::{Deserialize, Serialize};
use treering_graph::Arcs;

/// Which curvature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Curvature {
    /// Balanced Forman curvature: degrees, triangles and four-cycles.
    Exact,
    /// The same without four-cycles, a lower bound.
    Triangles,
    /// 4 - d_i - d_j + 3 triangles.
    AugmentedForman,
}

/// The edges of a graph without direction, weights, loops and repetitions, as sorted lists.
pub struct Edges {
    offsets: Vec<usize>,
    ends: Vec<u32>,
}

/// Memory that curvatures of one graph are worked out in.
pub struct Desk {
    /// For the nodes of V, one more than their neighbours in U so far; 0 for all others.
    marks: Vec<u32>,
    beside: [Vec<u32>; 2],
}

impl Edges {
    /// Takes the edges from arcs.
    pub fn new(arcs: &Arcs) -> Self {
        let back = (!arcs.is_symmetric()).then(|| arcs.reversed());
        let (mut offsets, mut ends) = (vec![0], Vec::with_capacity(arcs.len()));
        let mut row = Vec::new();
        for node in 0..arcs.nodes() {
            row.clear();
            row.extend_from_slice(&arcs.sources()[arcs.row(node)]);
            if let Some(back) = &back {
                row.extend_from_slice(&back.sources()[back.row(node)]);
            }
            row.sort_unstable();
            row.dedup();
            ends.extend(row.iter().filter(|&&other| other as usize != node));
            offsets.push(ends.len());
        }
        Edges { offsets, ends }
    }

    /// The neighbours of a node, ascending.
    pub fn of(&self, node: u32) -> &[u32] {
        &self.ends[self.offsets[node as usize]..self.offsets[node as usize + 1]]
    }

    /// Memory for [`Edges::curvature`].
    pub fn desk(&self) -> Desk {
        Desk {
            marks: vec![0; self.offsets.len() - 1],
            beside: [Vec::new(), Vec::new()],
        }
    }

    /// The curvature of the edge between two nodes.
    ///
    /// # Arguments
    /// * `limit`: arcs looked at for four-cycles at most; beyond, they are left out.
    ///
    /// # Complexity
    /// O(d_i + d_j) and, with four-cycles, the smaller sum of degrees of the neighbours of either end.
    pub fn curvature(
        &self,
        (i, j): (u32, u32),
        kind: Curvature,
        limit: usize,
        desk: &mut Desk,
    ) -> f64 {
        let degrees = (self.of(i).len() as f64, self.of(j).len() as f64);
        let triangles = self.part(i, j, &mut desk.beside) as f64;
        if kind == Curvature::AugmentedForman {
            return 4.0 - degrees.0 - degrees.1 + 3.0 * triangles;
        }
        let (small, large) = (degrees.0.min(degrees.1), degrees.0.max(degrees.1));
        if small <= 1.0 {
            return 0.0;
        }
        let base = 2.0 / small + 2.0 / large - 2.0 + 2.0 * triangles / large + triangles / small;
        match kind {
            Curvature::Exact => base + self.four_cycles(limit, desk) / large,
            _ => base,
        }
    }

    /// Parts the neighbours of both ends into common ones, which are counted, and those of one end only, without the ends themselves.
    fn part(&self, i: u32, j: u32, beside: &mut [Vec<u32>; 2]) -> usize {
        let [own, other] = beside;
        own.clear();
        other.clear();
        let (mut common, mut a, mut b) = (0, 0, 0);
        let (left, right) = (self.of(i), self.of(j));
        while a < left.len() || b < right.len() {
            let (x, y) = (left.get(a), right.get(b));
            match (x, y) {
                (Some(x), Some(y)) if x == y => {
                    common += 1;
                    (a, b) = (a + 1, b + 1);
                }
                (Some(&x), y) if y.is_none_or(|&y| x < y) => {
                    own.extend((x != j).then_some(x));
                    a += 1;
                }
                (_, Some(&y)) => {
                    other.extend((y != i).then_some(y));
                    b += 1;
                }
                _ => break,
            }
        }
        common
    }

    /// (Sq_i + Sq_j) / gamma: neighbours of one end alone that have an edge to such a neighbour of the other end, over the most edges that
    /// one of them has. 0 without any.
    fn four_cycles(&self, limit: usize, desk: &mut Desk) -> f64 {
        let [own, other] = &desk.beside;
        let arcs = |nodes: &[u32]| nodes.iter().map(|&node| self.of(node).len()).sum::<usize>();
        let (from, to) = match arcs(own) <= arcs(other) {
            true => (own, other),
            false => (other, own),
        };
        if arcs(from) > limit {
            return 0.0;
        }
        let (mut touched, mut most) = (0usize, 0u32);
        to.iter().for_each(|&node| desk.marks[node as usize] = 1);
        for &node in from {
            let mut edges = 0;
            for &next in self.of(node) {
                let mark = &mut desk.marks[next as usize];
                if *mark > 0 {
                    *mark += 1;
                    edges += 1;
                }
            }
            touched += usize::from(edges > 0);
            most = most.max(edges);
        }
        for &node in to {
            let edges = std::mem::take(&mut desk.marks[node as usize]) - 1;
            touched += usize::from(edges > 0);
            most = most.max(edges);
        }
        match most {
            0 => 0.0,
            _ => touched as f64 / f64::from(most),
        }
    }
}
