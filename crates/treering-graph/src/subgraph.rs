//! Induced sub-graphs and connected components.

use crate::features::PICKED;
use crate::{Arcs, Buffer, NodeId};

const ABSENT: u32 = u32::MAX;

impl Arcs {
    /// The arcs between two of `nodes`, renumbered by position in `nodes`; see [`Graph::induced`](crate::Graph::induced).
    ///
    /// # Panics
    /// When `nodes` names a node twice or one that does not exist.
    pub fn induced(&self, nodes: &[NodeId]) -> Arcs {
        let mut position = vec![ABSENT; self.nodes()];
        for (new, old) in nodes.iter().enumerate() {
            let slot = &mut position[old.index()];
            assert!(*slot == ABSENT, "node {old} is chosen twice");
            *slot = new as u32;
        }
        let mut offsets = vec![0u64];
        let (mut sources, mut weights) = (Vec::new(), self.weights().map(|_| Vec::new()));
        let mut row: Vec<(u32, f32)> = Vec::new();
        for (at, old) in nodes.iter().enumerate() {
            if at % PICKED == 0 {
                self.release();
            }
            row.clear();
            row.extend(self.row(old.index()).filter_map(|at| {
                let new = position[self.sources()[at] as usize];
                (new != ABSENT).then(|| (new, self.weights().map_or(1.0, |w| w[at])))
            }));
            // New ids can be in another order than the old ones; rows stay sorted.
            row.sort_by_key(|arc| arc.0);
            sources.extend(row.iter().map(|arc| arc.0));
            if let Some(weights) = &mut weights {
                weights.extend(row.iter().map(|arc| arc.1));
            }
            offsets.push(sources.len() as u64);
        }
        self.release();
        Arcs::trusted(offsets.into(), sources.into(), weights.map(Buffer::from))
    }

    /// The connected component of every node, arcs taken as undirected. Components are numbered by their first node.
    ///
    /// # Returns
    /// One number per node, and how many components there are.
    ///
    /// # Complexity
    /// Close to linear: union by smaller root with path halving.
    ///
    /// # Example
    /// ```
    /// use treering_graph::{Direction, build_arcs};
    /// let (arcs, _) = build_arcs(4, &[0], &[2], None, Direction::Directed)?;
    /// assert_eq!(arcs.components(), (vec![0, 1, 0, 2], 3));
    /// # Ok::<(), treering_graph::GraphError>(())
    /// ```
    pub fn components(&self) -> (Vec<u32>, usize) {
        let mut parent: Vec<u32> = (0..self.nodes() as u32).collect();
        for (target, source, _) in self.iter() {
            let (a, b) = (
                root(&mut parent, target as u32),
                root(&mut parent, source as u32),
            );
            parent[a.max(b) as usize] = a.min(b);
        }
        let mut components = 0;
        let mut number = vec![0u32; self.nodes()];
        for node in 0..self.nodes() as u32 {
            let top = root(&mut parent, node);
            // A root is the smallest node of its component, so its number is known before it is asked for.
            number[node as usize] = if top == node {
                components += 1;
                components - 1
            } else {
                number[top as usize]
            };
        }
        (number, components as usize)
    }
}

fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let above = parent[parent[node as usize] as usize];
        parent[node as usize] = above;
        node = above;
    }
    node
}
