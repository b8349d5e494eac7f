//! Random graphs, and a dense S written straight from its definition.
#![allow(dead_code)]

use proptest::prelude::*;
use treering_graph::{Arcs, Direction, build_arcs};

/// A list of arcs between `nodes` nodes, loops and repetitions allowed, with or without weights.
#[derive(Clone, Debug)]
pub struct Listed {
    pub nodes: usize,
    pub sources: Vec<u32>,
    pub targets: Vec<u32>,
    pub weights: Option<Vec<f32>>,
    pub direction: Direction,
}

impl Listed {
    pub fn arcs(&self) -> Arcs {
        let (n, w) = (self.nodes, self.weights.as_deref());
        build_arcs(n, &self.sources, &self.targets, w, self.direction)
            .unwrap()
            .0
    }
}

pub fn listed(most_nodes: usize) -> impl Strategy<Value = Listed> {
    (1..=most_nodes, any::<bool>(), any::<bool>()).prop_flat_map(|(nodes, undirected, weighted)| {
        let arc = (0..nodes as u32, 0..nodes as u32, 0u8..5);
        proptest::collection::vec(arc, 0..nodes * 4).prop_map(move |arcs| Listed {
            nodes,
            sources: arcs.iter().map(|a| a.0).collect(),
            targets: arcs.iter().map(|a| a.1).collect(),
            weights: weighted.then(|| arcs.iter().map(|a| f32::from(a.2) * 0.5).collect()),
            direction: if undirected {
                Direction::Undirected
            } else {
                Direction::Directed
            },
        })
    })
}

/// S as a full matrix: A[target][source] without loops, plus I, scaled by in-degrees on both sides.
pub fn dense_s(arcs: &Arcs) -> Vec<Vec<f64>> {
    let n = arcs.nodes();
    let mut a = vec![vec![0f64; n]; n];
    for (target, source, at) in arcs.iter().filter(|(target, source, _)| target != source) {
        a[target][source] += arcs.weights().map_or(1.0, |w| f64::from(w[at]));
    }
    (0..n).for_each(|i| a[i][i] = 1.0);
    let d: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
    for i in 0..n {
        for j in 0..n {
            a[i][j] /= (d[i] * d[j]).sqrt();
        }
    }
    a
}

pub fn transposed(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..a.len())
        .map(|i| a.iter().map(|row| row[i]).collect())
        .collect()
}

/// a^steps x for x with `width` numbers a row.
pub fn apply(a: &[Vec<f64>], x: &[f64], width: usize, steps: usize) -> Vec<f64> {
    let mut x = x.to_vec();
    for _ in 0..steps {
        x = (0..a.len())
            .flat_map(|i| {
                let x = &x;
                (0..width).map(move |c| (0..a.len()).map(|j| a[i][j] * x[j * width + c]).sum())
            })
            .collect();
    }
    x
}

/// Numbers that look random and are the same every time.
pub fn numbers(count: usize, salt: u64) -> Vec<f32> {
    (0..count as u64)
        .map(|i| {
            let mixed = (i + 1)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15 ^ salt.wrapping_mul(0xD134_2543_DE82_EF95));
            ((mixed >> 40) as f32 / (1u64 << 24) as f32) * 2.0 - 1.0
        })
        .collect()
}

pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}
