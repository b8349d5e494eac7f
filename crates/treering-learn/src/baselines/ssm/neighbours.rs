//! Ways to thin the neighbourhood of a task's centres.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use treering_graph::{Arcs, Graph, NodeId};

/// Chooses which nodes around the centres are kept.
pub trait Neighbours: Send + Sync {
    /// The centres, in their order, and after them the nodes to keep with them; no node twice.
    ///
    /// # Arguments
    /// * `each`: neighbours for every centre and hop, on average.
    fn retain(
        &self,
        graph: &Graph,
        centres: &[NodeId],
        hops: usize,
        each: usize,
        random: &mut ChaCha8Rng,
    ) -> Vec<NodeId>;
}

/// Nodes in the order they were taken, each once.
pub(crate) struct Retained {
    nodes: Vec<NodeId>,
    taken: Vec<bool>,
}

impl Retained {
    pub(crate) fn new(nodes: usize, centres: &[NodeId]) -> Self {
        let mut retained = Retained {
            nodes: Vec::new(),
            taken: vec![false; nodes],
        };
        retained.extend(centres.iter().map(|centre| centre.0));
        retained
    }

    pub(crate) fn has(&self, node: u32) -> bool {
        self.taken[node as usize]
    }

    /// Takes nodes; returns those that were not there yet.
    pub(crate) fn extend(&mut self, nodes: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut new = Vec::new();
        for node in nodes {
            if !std::mem::replace(&mut self.taken[node as usize], true) {
                self.nodes.push(NodeId(node));
                new.push(node);
            }
        }
        new
    }

    pub(crate) fn into_nodes(self) -> Vec<NodeId> {
        self.nodes
    }
}

/// Nodes that send an arc to a node, itself left out.
pub(crate) fn others_into(arcs: &Arcs, node: u32) -> impl Iterator<Item = u32> + '_ {
    let sources = arcs.sources_of(NodeId(node)).iter().copied();
    sources.filter(move |&source| source != node)
}

/// Each hop draws, with repetition, from all arcs into the nodes drawn last, one loop on each among them.
pub struct Uniform;

impl Neighbours for Uniform {
    fn retain(
        &self,
        graph: &Graph,
        centres: &[NodeId],
        hops: usize,
        each: usize,
        random: &mut ChaCha8Rng,
    ) -> Vec<NodeId> {
        let mut retained = Retained::new(graph.nodes(), centres);
        let mut frontier: Vec<u32> = centres.iter().map(|centre| centre.0).collect();
        for _ in 0..hops {
            let into: Vec<u32> = frontier
                .iter()
                .flat_map(|&node| others_into(graph.arcs(), node).chain([node]))
                .collect();
            if into.is_empty() {
                break;
            }
            let draws = centres.len().saturating_mul(each);
            let drawn = |_| into[random.random_range(0..into.len())];
            frontier = (0..draws).map(drawn).collect();
            retained.extend(frontier.iter().copied());
        }
        retained.into_nodes()
    }
}

/// Each hop draws, without repetition and in proportion to in-degree, from the nodes that send an arc to those drawn last and are not
/// kept yet.
pub struct ByDegree {
    /// Every hop starts from the centres.
    pub stuck_frontier: bool,
}

impl Neighbours for ByDegree {
    fn retain(
        &self,
        graph: &Graph,
        centres: &[NodeId],
        hops: usize,
        each: usize,
        random: &mut ChaCha8Rng,
    ) -> Vec<NodeId> {
        let arcs = graph.arcs();
        let mut retained = Retained::new(graph.nodes(), centres);
        let mut frontier: Vec<u32> = centres.iter().map(|centre| centre.0).collect();
        for _ in 0..hops {
            let into = frontier.iter().flat_map(|&node| others_into(arcs, node));
            let mut candidates: Vec<u32> = into.filter(|&node| !retained.has(node)).collect();
            candidates.sort_unstable();
            candidates.dedup();
            // The loop that smoothing gives every node counts.
            let weights: Vec<f64> = candidates
                .iter()
                .map(|&node| others_into(arcs, node).count() as f64 + 1.0)
                .collect();
            let drawn = weighted_draws(&weights, centres.len().saturating_mul(each), random);
            let new = retained.extend(drawn.into_iter().map(|at| candidates[at]));
            if !self.stuck_frontier {
                frontier = new;
            }
        }
        retained.into_nodes()
    }
}

/// Places drawn one after the other without repetition, each time in proportion to the weights, all of them positive.
///
/// The draws with the smallest exponential waiting times are exactly that (Efraimidis and Spirakis).
pub(crate) fn weighted_draws(weights: &[f64], count: usize, random: &mut ChaCha8Rng) -> Vec<usize> {
    let mut waits: Vec<(f64, usize)> = weights
        .iter()
        .enumerate()
        .map(|(at, weight)| (-(1.0 - random.random::<f64>()).ln() / weight, at))
        .collect();
    waits.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    waits.truncate(count);
    waits.into_iter().map(|(_, at)| at).collect()
}
