//! Building, turning round, cutting out and joining up arcs, against naive versions.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Listed, listed};
use proptest::prelude::*;
use treering_graph::{
    Arcs, Dense, Direction, Features, Graph, GraphError, Labels, NodeId, NodeNames, Origin, Parts,
    Role, Sparse, build_arcs,
};

/// (target, source) -> weight, by the rules of `build_arcs` read from its documentation.
fn naive(graph: &Listed) -> BTreeMap<(u32, u32), f32> {
    let mut one_way: BTreeMap<(u32, u32), f32> = BTreeMap::new();
    for (i, (&s, &t)) in graph.sources.iter().zip(&graph.targets).enumerate() {
        *one_way.entry((t, s)).or_default() += graph.weights.as_ref().map_or(1.0, |w| w[i]);
    }
    let mut arcs = one_way.clone();
    if graph.direction == Direction::Undirected {
        for (&(t, s), &w) in &one_way {
            let mirror = arcs.entry((s, t)).or_default();
            *mirror = mirror.max(w);
        }
    }
    let weighted = graph
        .weights
        .as_ref()
        .is_some_and(|w| w.iter().any(|&w| w != 1.0));
    arcs.into_iter()
        .filter(|(_, w)| *w > 0.0)
        .map(|(arc, w)| (arc, if weighted { w } else { 1.0 }))
        .collect()
}

fn as_map(arcs: &Arcs) -> BTreeMap<(u32, u32), f32> {
    arcs.iter()
        .map(|(t, s, at)| ((t as u32, s as u32), arcs.weights().map_or(1.0, |w| w[at])))
        .collect()
}

proptest! {
    #[test]
    fn building_equals_the_naive_version(graph in listed(20)) {
        let arcs = graph.arcs();
        prop_assert_eq!(as_map(&arcs), naive(&graph));
        prop_assert_eq!(arcs.len(), naive(&graph).len());
        let rows = (0..arcs.nodes()).all(|i| arcs.sources_of(NodeId(i as u32)).is_sorted());
        prop_assert!(rows, "rows are sorted");
        prop_assert!(graph.direction == Direction::Directed || arcs.is_symmetric());
    }

    #[test]
    fn turning_round_twice_changes_nothing(graph in listed(20)) {
        let arcs = graph.arcs();
        let turned: BTreeMap<_, _> = as_map(&arcs).into_iter().map(|((t, s), w)| ((s, t), w)).collect();
        prop_assert_eq!(as_map(&arcs.reversed()), turned.clone());
        prop_assert_eq!(&arcs.reversed().reversed(), &arcs);
        prop_assert_eq!(arcs.is_symmetric(), turned == as_map(&arcs));
    }

    #[test]
    fn cutting_out_keeps_the_arcs_between_the_chosen(graph in listed(20), salt in 0u64..50) {
        let arcs = graph.arcs();
        let mut chosen: Vec<NodeId> = NodeId::first(graph.nodes).filter(|n| (u64::from(n.0) + salt) % 3 != 0).collect();
        if salt % 2 == 0 { chosen.reverse(); }
        let place = |n: u32| chosen.iter().position(|c| c.0 == n).map(|p| p as u32);
        let expected: BTreeMap<_, _> = as_map(&arcs).into_iter()
            .filter_map(|((t, s), w)| Some(((place(t)?, place(s)?), w))).collect();
        prop_assert_eq!(as_map(&arcs.induced(&chosen)), expected);
    }

    #[test]
    fn components_are_what_can_be_reached(graph in listed(20)) {
        let arcs = graph.arcs();
        let (number, count) = arcs.components();
        let mut reach: Vec<BTreeSet<usize>> = (0..graph.nodes).map(|i| BTreeSet::from([i])).collect();
        for _ in 0..graph.nodes {
            for (t, s, _) in arcs.iter() {
                let both: BTreeSet<usize> = reach[t].union(&reach[s]).copied().collect();
                reach[t] = both.clone();
                reach[s] = both;
            }
        }
        for i in 0..graph.nodes {
            for j in 0..graph.nodes {
                prop_assert_eq!(number[i] == number[j], reach[i].contains(&j));
            }
        }
        prop_assert_eq!(number.iter().collect::<BTreeSet<_>>().len(), count);
    }

    #[test]
    fn sparse_rows_in_any_order_mean_the_same(entries in proptest::collection::vec((0u32..6, -4i8..4), 0..30)) {
        let half = entries.len() / 2;
        let offsets = vec![0, half as u64, entries.len() as u64];
        let columns: Vec<u32> = entries.iter().map(|e| e.0).collect();
        let values: Vec<f32> = entries.iter().map(|e| f32::from(e.1)).collect();
        let sparse = Sparse::from_unsorted(6, offsets.into(), columns.into(), values.into()).unwrap();
        let mut expected = [0f32; 12];
        for (i, e) in entries.iter().enumerate() {
            expected[usize::from(i >= half) * 6 + e.0 as usize] += f32::from(e.1);
        }
        let dense = Features::Sparse(sparse).to_dense();
        prop_assert_eq!(dense.values(), &expected[..]);
    }
}

fn parts(nodes: usize) -> Parts {
    Parts {
        arcs: Arcs::none(nodes),
        features: Features::Dense(Dense::new(nodes, 2, vec![0.5; 2 * nodes].into()).unwrap()),
        labels: None,
        names: NodeNames::Positions(nodes),
        split: None,
        origin: Origin::default(),
    }
}

#[test]
fn a_sub_graph_takes_features_labels_names_and_split_along() {
    let mut whole = parts(4);
    let values = (0..8).map(|v| v as f32).collect::<Vec<_>>();
    whole.features = Features::Dense(Dense::new(4, 2, values.into()).unwrap());
    whole.labels = Some(
        Labels::new(
            vec![1, Labels::NONE, 0, 1].into(),
            vec!["a".into(), "b".into()],
        )
        .unwrap(),
    );
    whole.split = Some(vec![Role::Train, Role::None, Role::Test, Role::Validation].into());
    let cut = Graph::new(whole).unwrap().induced(&[NodeId(3), NodeId(1)]);
    assert_eq!(cut.features().to_dense().values(), [6.0, 7.0, 2.0, 3.0]);
    assert_eq!(cut.labels().unwrap().raw(), [1, Labels::NONE]);
    assert_eq!(cut.split().unwrap(), [Role::Validation, Role::None]);
    assert_eq!(
        (cut.names().name(NodeId(0)), cut.names().name(NodeId(1))),
        ("3".into(), "1".into())
    );
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let mut wrong = parts(3);
    wrong.names = NodeNames::Positions(4);
    assert!(matches!(
        Graph::new(wrong),
        Err(GraphError::Length {
            what: "node names",
            ..
        })
    ));

    let mut wrong = parts(2);
    wrong.features =
        Features::Dense(Dense::new(2, 2, vec![0.0, 1.0, f32::NAN, 0.0].into()).unwrap());
    assert!(matches!(
        Graph::new(wrong),
        Err(GraphError::NotFinite {
            row: 1,
            column: 0,
            ..
        })
    ));

    assert!(matches!(
        Dense::new(2, 2, vec![0.0; 3].into()),
        Err(GraphError::Length { .. })
    ));
    assert!(matches!(
        Sparse::new(2, vec![0, 1].into(), vec![2].into(), vec![1.0].into()),
        Err(GraphError::ColumnOutside {
            row: 0,
            column: 2,
            columns: 2
        })
    ));
    assert!(matches!(
        Sparse::new(
            2,
            vec![0, 2].into(),
            vec![1, 0].into(),
            vec![1.0, 1.0].into()
        ),
        Err(GraphError::BadOffsets { .. })
    ));
    assert!(matches!(
        Labels::new(vec![0, 3].into(), vec!["only".into()]),
        Err(GraphError::ClassOutside {
            row: 1,
            class: 3,
            classes: 1
        })
    ));
}

#[test]
fn weights_whose_sum_is_not_finite_are_refused() {
    let huge = [3e38f32, 3e38];
    let built = build_arcs(2, &[0, 0], &[1, 1], Some(&huge), Direction::Directed);
    assert!(matches!(built, Err(GraphError::BadWeight { .. })));
}

#[test]
fn bad_arcs_are_refused_with_their_place() {
    let build = |s: &[u32], t: &[u32], w: Option<&[f32]>| {
        build_arcs(2, s, t, w, Direction::Directed).map(|_| ())
    };
    assert_eq!(
        build(&[0, 0], &[1, 5], None),
        Err(GraphError::ArcOutside {
            position: 1,
            node: 5,
            nodes: 2
        })
    );
    assert!(matches!(
        build(&[0], &[1], Some(&[-1.0])),
        Err(GraphError::BadWeight { position: 0, .. })
    ));
    assert!(matches!(
        build(&[0], &[1], Some(&[f32::INFINITY])),
        Err(GraphError::BadWeight { .. })
    ));
    assert!(matches!(
        build(&[0], &[1, 0], None),
        Err(GraphError::Length { .. })
    ));
    let rows = |o: Vec<u64>, s: Vec<u32>| Arcs::from_rows(o.into(), s.into(), None).map(|_| ());
    assert!(matches!(
        rows(vec![], vec![]),
        Err(GraphError::BadOffsets { .. })
    ));
    assert!(matches!(
        rows(vec![1, 1], vec![0]),
        Err(GraphError::BadOffsets { row: 0, .. })
    ));
    assert!(matches!(
        rows(vec![0, 2, 1, 2], vec![0, 0]),
        Err(GraphError::BadOffsets { row: 1, .. })
    ));
    assert!(matches!(
        rows(vec![0, 9], vec![0]),
        Err(GraphError::BadOffsets { .. })
    ));
    assert!(matches!(
        rows(vec![0, 1], vec![1]),
        Err(GraphError::ArcOutside {
            position: 0,
            node: 1,
            nodes: 1
        })
    ));
}
