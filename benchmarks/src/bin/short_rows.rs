//! Why narrow rows on sparse graphs stay below the bare gather: `cargo run --release -p treering-benchmarks --bin short_rows`.
//!
//! Two graphs with as many nodes and arcs as ogbn-arxiv, the same sources in the same order; in one every node has 7 in-arcs, in the other 0 to 14. What they
//! differ in is only whether the end of a row can be predicted.
#![allow(clippy::print_stdout)]

use treering_benchmarks::{best_of, gather, with_threads};
use treering_graph::{Arcs, Propagation, Room, Side};

const NODES: usize = 169_343;
const DEGREE: usize = 7;

fn main() {
    let mut state = 88_172_645_463_325_252u64;
    let mut draw = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((u128::from(state) * below as u128) >> 64) as usize
    };
    let sources: Vec<u32> = (0..NODES * DEGREE).map(|_| draw(NODES) as u32).collect();
    let even: Vec<u64> = (0..=NODES as u64).map(|row| row * DEGREE as u64).collect();
    let mut uneven = vec![0u64];
    for _ in 1..NODES {
        let last = uneven.last().copied().unwrap_or(0);
        uneven.push((last + draw(2 * DEGREE + 1) as u64).min(sources.len() as u64));
    }
    uneven.push(sources.len() as u64);
    println!(
        "{:8} {:>5} {:>12} {:>14}",
        "rows", "width", "ns per row", "gather, ns"
    );
    for width in [1, 3, 16] {
        let x: Vec<f32> = (0..NODES * width).map(|i| (i % 1013) as f32).collect();
        for (name, offsets) in [("even", &even), ("uneven", &uneven)] {
            match Arcs::from_rows(offsets.clone().into(), sources.clone().into(), None) {
                Ok(arcs) => with_threads(1, || measure(name, &arcs, &x, width)),
                Err(error) => eprintln!("{error}"),
            }
        }
    }
}

fn measure(name: &str, arcs: &Arcs, x: &[f32], width: usize) {
    let operator = Propagation::new(arcs);
    let mut room = Room::new();
    let mut seen = 0f32;
    let mut time = |steps| {
        best_of(60, || {
            seen += operator.smooth_in(&mut room, Side::Forward, x, width, steps)[7]
        })
    };
    let step = (time(3) - time(1)) / 2.0;
    let bare = [true, false]
        .map(|ahead| best_of(60, || seen += gather(x, width, arcs.sources(), ahead).1));
    let per_row = |seconds: f64| 1e9 * seconds / arcs.nodes() as f64;
    let limit = per_row(bare[0].min(bare[1]));
    println!(
        "{name:8} {width:>5} {:>12.1} {limit:>14.1}{}",
        per_row(step),
        if seen.is_nan() { "!" } else { "" }
    );
}
