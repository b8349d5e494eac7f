use std::collections::BTreeSet;

use proptest::prelude::*;
use treering_data::{Purpose, random};
use treering_graph::{
    Arcs, Dense, Direction, Features, Graph, NodeId, NodeNames, Origin, Parts, build_arcs,
};

use super::{ByCurvature, Curvature, Edges, Parameters, Pick, learner};
use crate::baselines::ssm::Neighbours;

fn arcs_of(nodes: usize, ends: &[(u32, u32)], direction: Direction) -> Arcs {
    let (sources, targets): (Vec<u32>, Vec<u32>) = ends.iter().copied().unzip();
    let (arcs, _) = build_arcs(nodes, &sources, &targets, None, direction).unwrap();
    arcs
}

fn curvature(arcs: &Arcs, edge: (u32, u32), kind: Curvature) -> f64 {
    let edges = Edges::new(arcs);
    edges.curvature(edge, kind, usize::MAX, &mut edges.desk())
}

fn cycle(nodes: u32) -> Arcs {
    let ends: Vec<(u32, u32)> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
    arcs_of(nodes as usize, &ends, Direction::Undirected)
}

fn complete(nodes: u32) -> Arcs {
    let ends: Vec<(u32, u32)> = (0..nodes)
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .collect();
    arcs_of(nodes as usize, &ends, Direction::Undirected)
}

#[test]
fn known_graphs_have_their_known_curvatures() {
    let exact = |arcs: &Arcs| curvature(arcs, (0, 1), Curvature::Exact);
    assert_eq!(exact(&cycle(3)), 1.5);
    assert_eq!(exact(&cycle(4)), 1.0);
    assert_eq!(exact(&cycle(5)), 0.0);
    for nodes in 3..9 {
        let right = f64::from(nodes) / f64::from(nodes - 1);
        assert!((exact(&complete(nodes)) - right).abs() < 1e-12, "{nodes}");
    }
    let leaf = arcs_of(3, &[(0, 1), (1, 2)], Direction::Undirected);
    assert_eq!(exact(&leaf), 0.0);
    assert_eq!(curvature(&cycle(4), (0, 1), Curvature::Triangles), 0.0);
    assert_eq!(
        curvature(&cycle(3), (0, 1), Curvature::AugmentedForman),
        3.0
    );
}

/// The definition with sets, as it is written.
fn naive(nodes: usize, arcs: &Arcs, (i, j): (u32, u32), kind: Curvature) -> f64 {
    let mut n: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); nodes];
    for (target, source, _) in arcs.iter().filter(|(target, source, _)| target != source) {
        n[target].insert(source as u32);
        n[source].insert(target as u32);
    }
    let of = |node: u32| &n[node as usize];
    let (d_i, d_j) = (of(i).len() as f64, of(j).len() as f64);
    let triangles = of(i).intersection(of(j)).count() as f64;
    if kind == Curvature::AugmentedForman {
        return 4.0 - d_i - d_j + 3.0 * triangles;
    }
    if d_i.min(d_j) == 1.0 {
        return 0.0;
    }
    let alone = |a: u32, b: u32| -> BTreeSet<u32> {
        of(a)
            .difference(of(b))
            .copied()
            .filter(|&k| k != b)
            .collect()
    };
    let (u, v) = (alone(i, j), alone(j, i));
    let counts = |from: &BTreeSet<u32>, to: &BTreeSet<u32>| -> Vec<usize> {
        from.iter()
            .map(|&k| of(k).intersection(to).count())
            .collect()
    };
    let all = [counts(&u, &v), counts(&v, &u)].concat();
    let squares = all.iter().filter(|&&count| count > 0).count() as f64;
    let most = all.iter().copied().max().unwrap_or(0) as f64;
    let base =
        2.0 / d_i + 2.0 / d_j - 2.0 + 2.0 * triangles / d_i.max(d_j) + triangles / d_i.min(d_j);
    match kind {
        Curvature::Exact if most > 0.0 => base + squares / (most * d_i.max(d_j)),
        _ => base,
    }
}

proptest! {
    #[test]
    fn curvature_is_what_its_definition_says(
        ends in prop::collection::vec((0u32..12, 0u32..12), 1..60),
        directed in any::<bool>(),
    ) {
        let direction = if directed { Direction::Directed } else { Direction::Undirected };
        let arcs = arcs_of(12, &ends, direction);
        let edges = Edges::new(&arcs);
        let mut desk = edges.desk();
        for (target, source, _) in arcs.iter().filter(|(target, source, _)| target != source) {
            let edge = (source as u32, target as u32);
            for kind in [Curvature::Exact, Curvature::Triangles, Curvature::AugmentedForman] {
                let found = edges.curvature(edge, kind, usize::MAX, &mut desk);
                let right = naive(12, &arcs, edge, kind);
                prop_assert!((found - right).abs() < 1e-12, "{edge:?} {kind:?}: {found} {right}");
                let turned = edges.curvature((edge.1, edge.0), kind, usize::MAX, &mut desk);
                prop_assert!((found - turned).abs() < 1e-12);
            }
            let exact = edges.curvature(edge, Curvature::Exact, usize::MAX, &mut desk);
            let bound = edges.curvature(edge, Curvature::Triangles, usize::MAX, &mut desk);
            let limited = edges.curvature(edge, Curvature::Exact, 3, &mut desk);
            prop_assert!(bound <= exact && (limited == bound || limited == exact));
        }
    }
}

fn graph_of(arcs: Arcs) -> Graph {
    let nodes = arcs.nodes();
    Graph::new(Parts {
        arcs,
        features: Features::Dense(Dense::new(nodes, 1, vec![1.0; nodes].into()).unwrap()),
        labels: None,
        names: NodeNames::Positions(nodes),
        split: None,
        origin: Origin::default(),
    })
    .unwrap()
}

fn retained(graph: &Graph, centres: &[u32], hops: usize, each: usize, pick: Pick) -> Vec<u32> {
    let by = ByCurvature {
        curvature: Curvature::Exact,
        pick,
        limit: usize::MAX,
    };
    let centres: Vec<NodeId> = centres.iter().map(|&node| NodeId(node)).collect();
    let nodes = by.retain(
        graph,
        &centres,
        hops,
        each,
        &mut random(0, Purpose::Sampling, 0),
    );
    nodes.iter().map(|node| node.0).collect()
}

/// Two cliques of four, {0..3} and {4..7}, and the bridge 0 - 4.
fn bridged() -> Graph {
    let mut ends = vec![(0, 4)];
    for first in [0, 4] {
        for a in first..first + 4 {
            ends.extend((first..a).map(|b| (a, b)));
        }
    }
    graph_of(arcs_of(8, &ends, Direction::Undirected))
}

#[test]
fn neighbours_in_the_cluster_are_kept_before_those_across_a_bridge() {
    let graph = bridged();
    assert_eq!(retained(&graph, &[0], 1, 3, Pick::Top), [0, 1, 2, 3]);
    assert_eq!(
        retained(&graph, &[0], 1, 2, Pick::Top),
        [0, 1, 2],
        "of equals the first"
    );
    let all = retained(&graph, &[0], 1, 9, Pick::Top);
    assert_eq!(all.last(), Some(&4), "the bridge comes last");
}

#[test]
fn the_second_hop_keeps_the_best_of_all_arcs_into_new_nodes() {
    let graph = bridged();
    let nodes = retained(&graph, &[0], 2, 9, Pick::Top);
    assert_eq!(BTreeSet::from_iter(nodes), BTreeSet::from_iter(0..8));
    // Into 1, which the first hop brought, lead 2 and 3; there is room for one.
    assert_eq!(retained(&graph, &[0], 2, 1, Pick::Top), [0, 1, 2]);
    // 0 is the only new node of the first hop, and 4 all that leads into it from outside.
    assert_eq!(
        retained(&graph, &[1, 2, 3], 2, 3, Pick::Top),
        [1, 2, 3, 0, 4]
    );
    // Centres may be each other's best neighbours; then nothing new comes in.
    assert_eq!(retained(&graph, &[1, 2, 3], 2, 1, Pick::Top), [1, 2, 3]);
    let drawn = retained(&graph, &[0], 2, 4, Pick::Sampled);
    assert_eq!(BTreeSet::from_iter(drawn), BTreeSet::from_iter(0..8));
}

#[test]
fn a_limit_of_nothing_is_refused() {
    let parameters = Parameters {
        limit: 0,
        ..Parameters::default()
    };
    assert!(learner(parameters).is_err());
}
