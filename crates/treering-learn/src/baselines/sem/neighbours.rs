//! Choosing neighbours by the curvature of edges.

use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use treering_graph::{Graph, NodeId};

use super::{Curvature, Desk, Edges};
use crate::baselines::ssm::{Neighbours, Retained, others_into, weighted_draws};

/// How scores decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// The largest scores; of equals the first nodes.
    Top,
    /// Drawn without repetition, in proportion to one more than what a score is above the smallest.
    Sampled,
}

/// The first hop keeps, for every centre, the nodes of the most curved arcs into it. Every further hop keeps, over all nodes that the one
/// before brought, the most curved arcs from nodes that are not kept yet.
pub struct ByCurvature {
    /// Which curvature.
    pub curvature: Curvature,
    /// How it decides.
    pub pick: Pick,
    /// Arcs looked at for the four-cycles of one edge at most.
    pub limit: usize,
}

impl Neighbours for ByCurvature {
    fn retain(
        &self,
        graph: &Graph,
        centres: &[NodeId],
        hops: usize,
        each: usize,
        random: &mut ChaCha8Rng,
    ) -> Vec<NodeId> {
        let edges = Edges::new(graph.arcs());
        let mut retained = Retained::new(graph.nodes(), centres);
        let mut frontier = Vec::new();
        for hop in 0..hops {
            let chosen: Vec<u32> = match hop {
                0 => {
                    let targets: Vec<u32> = centres.iter().map(|centre| centre.0).collect();
                    let scored = self.scored(graph, &edges, &targets, |_| true);
                    scored
                        .chunk_by(|a, b| a.target == b.target)
                        .flat_map(|into| self.chosen(best(into), each, random))
                        .collect()
                }
                _ => {
                    let fresh = |node: u32| !retained.has(node);
                    let scored = self.scored(graph, &edges, &frontier, fresh);
                    self.chosen(best(&scored), each.saturating_mul(centres.len()), random)
                }
            };
            frontier = retained.extend(chosen);
        }
        retained.into_nodes()
    }
}

/// An arc and the curvature of its edge.
struct Scored {
    target: u32,
    source: u32,
    score: f64,
}

/// The sources, ascending, each with the best score of its arcs.
fn best(arcs: &[Scored]) -> Vec<(u32, f64)> {
    let mut sources: Vec<(u32, f64)> = arcs.iter().map(|arc| (arc.source, arc.score)).collect();
    sources.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    sources.dedup_by_key(|(source, _)| *source);
    sources
}

impl ByCurvature {
    /// The arcs into `targets` from wanted nodes, target by target.
    fn scored(
        &self,
        graph: &Graph,
        edges: &Edges,
        targets: &[u32],
        wanted: impl Fn(u32) -> bool,
    ) -> Vec<Scored> {
        let arcs: Vec<(u32, u32)> = targets
            .iter()
            .flat_map(|&target| others_into(graph.arcs(), target).map(move |from| (from, target)))
            .filter(|&(from, _)| wanted(from))
            .collect();
        let score = |desk: &mut Desk, &(source, target): &(u32, u32)| Scored {
            target,
            source,
            score: edges.curvature((source, target), self.curvature, self.limit, desk),
        };
        let arcs = arcs.par_iter().with_min_len(64);
        arcs.map_init(|| edges.desk(), score).collect()
    }

    fn chosen(&self, scored: Vec<(u32, f64)>, count: usize, random: &mut ChaCha8Rng) -> Vec<u32> {
        let places: Vec<usize> = match self.pick {
            Pick::Top => {
                let mut order: Vec<usize> = (0..scored.len()).collect();
                order.sort_by(|&a, &b| scored[b].1.total_cmp(&scored[a].1));
                order.truncate(count);
                order
            }
            Pick::Sampled => {
                let least = scored.iter().map(|s| s.1).fold(f64::INFINITY, f64::min);
                let weights: Vec<f64> = scored.iter().map(|s| s.1 - least + 1.0).collect();
                weighted_draws(&weights, count, random)
            }
        };
        places.into_iter().map(|at| scored[at].0).collect()
    }
}
