//! Propagation against its definition, against sprs, and against itself with other numbers of threads.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Listed, apply, close, dense_s, listed, numbers, transposed};
use proptest::prelude::*;
use treering_graph::{
    Arcs, Dense, Direction, Features, NodeId, Propagation, Side, Sparse, build_arcs,
};

const WIDTHS: [usize; 9] = [1, 2, 3, 5, 8, 16, 17, 100, 131];

/// Features with about two thirds zeros, dense and sparse.
fn both_kinds(rows: usize, columns: usize, salt: u64) -> (Features, Features) {
    let mut values = numbers(rows * columns, salt);
    values
        .iter_mut()
        .enumerate()
        .filter(|(i, _)| i % 3 != 0)
        .for_each(|(_, v)| *v = 0.0);
    let mut offsets = vec![0u64];
    let (mut indices, mut kept) = (Vec::new(), Vec::new());
    for row in values.chunks(columns) {
        for (column, &value) in (0u32..).zip(row).filter(|(_, value)| **value != 0.0) {
            indices.push(column);
            kept.push(value);
        }
        offsets.push(indices.len() as u64);
    }
    let sparse = Sparse::new(columns, offsets.into(), indices.into(), kept.into()).unwrap();
    (
        Features::Dense(Dense::new(rows, columns, values.into()).unwrap()),
        Features::Sparse(sparse),
    )
}

fn widened(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&v| f64::from(v)).collect()
}

/// S by sprs, from the operator's own degrees and the arcs without loops.
fn sprs_s(arcs: &Arcs) -> sprs::CsMat<f64> {
    let n = arcs.nodes();
    let mut triplets = sprs::TriMat::new((n, n));
    let mut degrees = vec![1f64; n];
    let weight = |at: usize| arcs.weights().map_or(1.0, |w| f64::from(w[at]));
    for (target, _, at) in arcs.iter().filter(|(target, source, _)| target != source) {
        degrees[target] += weight(at);
    }
    for (target, source, at) in arcs.iter().filter(|(target, source, _)| target != source) {
        triplets.add_triplet(
            target,
            source,
            weight(at) / (degrees[target] * degrees[source]).sqrt(),
        );
    }
    (0..n).for_each(|i| triplets.add_triplet(i, i, 1.0 / degrees[i]));
    triplets.to_csr()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn equals_the_dense_definition(graph in listed(24), which in 0..WIDTHS.len(), steps in 0usize..4) {
        let (arcs, width) = (graph.arcs(), WIDTHS[which]);
        let operator = Propagation::new(&arcs);
        let x = numbers(graph.nodes * width, 1);
        let s = dense_s(&arcs);
        for (side, matrix) in [(Side::Forward, s.clone()), (Side::Transposed, transposed(&s))] {
            let expected = apply(&matrix, &widened(&x), width, steps);
            let in_f32 = operator.smooth(side, &x, width, steps);
            let in_f64 = operator.smooth(side, &widened(&x), width, steps);
            for i in 0..expected.len() {
                prop_assert!(close(f64::from(in_f32[i]), expected[i], 2e-6), "{side:?} {i}");
                prop_assert!(close(in_f64[i], expected[i], 1e-13), "{side:?} {i}");
            }
        }
    }

    #[test]
    fn equals_sprs(graph in listed(40), width in 1usize..40) {
        let arcs = graph.arcs();
        let s = sprs_s(&arcs);
        let x = widened(&numbers(graph.nodes * width, 2));
        let ours = Propagation::new(&arcs).smooth(Side::Forward, &x, width, 1);
        for column in 0..width {
            let slice: Vec<f64> = x.iter().skip(column).step_by(width).copied().collect();
            let mut theirs = vec![0f64; graph.nodes];
            sprs::prod::mul_acc_mat_vec_csr(s.view(), slice.as_slice(), theirs.as_mut_slice());
            for row in 0..graph.nodes {
                prop_assert!(close(ours[row * width + column], theirs[row], 1e-13));
            }
        }
    }

    #[test]
    fn sparse_features_smooth_like_dense_ones(graph in listed(24), columns in 1usize..30, steps in 0usize..4) {
        let arcs = graph.arcs();
        let operator = Propagation::new(&arcs);
        let (dense, sparse) = both_kinds(graph.nodes, columns, 3);
        let (a, b) = (operator.smooth_features(&dense, steps), operator.smooth_features(&sparse, steps));
        prop_assert!(matches!(b, Features::Sparse(_)));
        for (x, y) in a.to_dense().values().iter().zip(b.to_dense().values()) {
            prop_assert!(close(f64::from(*x), f64::from(*y), 2e-6));
        }
    }

    /// D^-1/2 S^s X = P^s D^-1/2 X with P = D^-1 (A + I), whose rows sum to one.
    #[test]
    fn is_a_scaled_random_walk(graph in listed(24), steps in 0usize..5) {
        let arcs = graph.arcs();
        let operator = Propagation::new(&arcs);
        let d = operator.degrees();
        let x = widened(&numbers(graph.nodes, 4));
        let left: Vec<f64> = operator.smooth(Side::Forward, &x, 1, steps).iter().zip(d).map(|(v, d)| v / d.sqrt()).collect();
        let mut walk = dense_s(&arcs);
        for (i, row) in walk.iter_mut().enumerate() {
            row.iter_mut().zip(d).for_each(|(v, dj)| *v *= (dj / d[i]).sqrt());
            prop_assert!(close(row.iter().sum(), 1.0, 1e-12));
        }
        let scaled: Vec<f64> = x.iter().zip(d).map(|(v, d)| v / d.sqrt()).collect();
        for (l, r) in left.iter().zip(apply(&walk, &scaled, 1, steps)) {
            prop_assert!(close(*l, r, 1e-12));
        }
    }

    #[test]
    fn the_adjoint_prototype_equals_the_explicit_one(graph in listed(24), columns in 1usize..20, steps in 0usize..5, pick in 1usize..5) {
        let arcs = graph.arcs();
        let operator = Propagation::new(&arcs);
        let (dense, sparse) = both_kinds(graph.nodes, columns, 5);
        let nodes: Vec<NodeId> = NodeId::first(graph.nodes).step_by(pick).collect();
        let smooth = apply(&dense_s(&arcs), &widened(dense.to_dense().values()), columns, steps);
        let mut explicit = vec![0f64; columns];
        for node in &nodes {
            let root = operator.degrees()[node.index()].sqrt();
            for column in 0..columns {
                explicit[column] += smooth[node.index() * columns + column] / root / nodes.len() as f64;
            }
        }
        for features in [dense, sparse] {
            let adjoint = operator.prototype(&features, &nodes, steps);
            for (a, e) in adjoint.iter().zip(&explicit) {
                prop_assert!(close(*a, *e, 1e-12), "{a} {e}");
            }
        }
    }

    /// <S x, y> = <x, S^T y>, on directed graphs too.
    #[test]
    fn the_two_sides_are_adjoint(graph in listed(30), width in 1usize..20) {
        let arcs = graph.arcs();
        let operator = Propagation::new(&arcs);
        let x = widened(&numbers(graph.nodes * width, 6));
        let y = widened(&numbers(graph.nodes * width, 7));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let left = dot(&operator.smooth(Side::Forward, &x, width, 2), &y);
        let right = dot(&x, &operator.smooth(Side::Transposed, &y, width, 2));
        prop_assert!(close(left, right, 1e-12), "{left} {right}");
    }
}

/// On a connected undirected graph D^-1/2 S^s X tends to sum_j sqrt(d_j) x_j / sum_j d_j at every node.
#[test]
fn tends_to_the_stationary_mean_on_a_connected_graph() {
    let nodes = 12;
    let sources: Vec<u32> = (0..nodes as u32).chain([0, 3, 3]).collect();
    let targets: Vec<u32> = (1..=nodes as u32)
        .map(|t| t % nodes as u32)
        .chain([5, 9, 7])
        .collect();
    let (arcs, _) = build_arcs(nodes, &sources, &targets, None, Direction::Undirected).unwrap();
    assert_eq!(arcs.components().1, 1);
    let operator = Propagation::new(&arcs);
    let x = widened(&numbers(nodes, 8));
    let d = operator.degrees();
    let limit = x.iter().zip(d).map(|(x, d)| x * d.sqrt()).sum::<f64>() / d.iter().sum::<f64>();
    let far = operator.smooth(Side::Forward, &x, 1, 2000);
    for (value, d) in far.iter().zip(d) {
        assert!(close(value / d.sqrt(), limit, 1e-10));
    }
    // And the prototype of any choice of nodes is that same number.
    let features = Features::Dense(Dense::new(nodes, 1, numbers(nodes, 8).into()).unwrap());
    for pick in [vec![NodeId(0)], vec![NodeId(3), NodeId(7)]] {
        assert!(close(
            operator.prototype(&features, &pick, 2000)[0],
            limit,
            1e-10
        ));
    }
}

/// A graph large enough to be cut into many pieces, with a hub.
fn large(direction: Direction, weighted: bool) -> Listed {
    let nodes = 30_000usize;
    let draw = |salt| {
        numbers(200_000, salt)
            .into_iter()
            .map(move |v| ((v + 1.0) / 2.0 * 29_999.0) as u32)
    };
    let mut targets: Vec<u32> = draw(10).collect();
    targets.iter_mut().step_by(9).for_each(|t| *t = 17);
    Listed {
        nodes,
        sources: draw(11).collect(),
        targets,
        weights: weighted.then(|| numbers(200_000, 12).into_iter().map(f32::abs).collect()),
        direction,
    }
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    for (direction, weighted) in [(Direction::Directed, false), (Direction::Undirected, true)] {
        let graph = large(direction, weighted);
        let run = || {
            let arcs = graph.arcs();
            let operator = Propagation::new(&arcs);
            let mut bits: Vec<u64> = arcs.sources().iter().map(|&s| u64::from(s)).collect();
            for width in [1, 3, 16, 40] {
                for side in [Side::Forward, Side::Transposed] {
                    let x = numbers(graph.nodes * width, 13);
                    bits.extend(
                        operator
                            .smooth(side, &x, width, 3)
                            .iter()
                            .map(|v| u64::from(v.to_bits())),
                    );
                }
            }
            let (dense, sparse) = both_kinds(graph.nodes, 12, 14);
            let nodes: Vec<NodeId> = NodeId::first(graph.nodes).step_by(3).collect();
            for features in [&dense, &sparse] {
                bits.extend(
                    operator
                        .prototype(features, &nodes, 3)
                        .iter()
                        .map(|v| v.to_bits()),
                );
                let smooth = operator.smooth_features(features, 2).to_dense();
                bits.extend(smooth.values().iter().map(|v| u64::from(v.to_bits())));
            }
            bits
        };
        let one = with_threads(1, run);
        assert!(one == with_threads(2, run) && one == with_threads(7, run));
    }
}

#[test]
fn loops_in_the_data_count_once() {
    let with = build_arcs(2, &[0, 0, 1, 1], &[1, 0, 1, 0], None, Direction::Directed)
        .unwrap()
        .0;
    let without = build_arcs(2, &[0, 1], &[1, 0], None, Direction::Directed)
        .unwrap()
        .0;
    assert_eq!((with.loops(), without.loops()), (2, 0));
    let x = [0.25f32, -4.0];
    let smooth = |arcs: &Arcs| Propagation::new(arcs).smooth(Side::Forward, &x, 1, 3);
    assert_eq!(smooth(&with), smooth(&without));
}

#[test]
fn parallel_arcs_count_in_degree_and_in_sum() {
    // Node 0 gets two arcs from node 1: degree 3, and x_1 twice.
    let arcs = Arcs::from_rows(vec![0, 2, 2].into(), vec![1, 1].into(), None).unwrap();
    let operator = Propagation::new(&arcs);
    assert_eq!(operator.degrees(), [3.0, 1.0]);
    let smooth = operator.smooth(Side::Forward, &[0.0f64, 1.0], 1, 1);
    assert!(close(smooth[0], 2.0 / 3f64.sqrt(), 1e-15));
}
