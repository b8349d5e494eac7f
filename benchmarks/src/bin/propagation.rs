//! Propagation beside its limits: `cargo run --release -p treering-benchmarks --bin propagation [SCALE [PRESET]]`.
//!
//! One step S x on synthetic graphs of the shape of ogbn-arxiv, Reddit and ogbn-products. Bytes are those that must move: for each
//! arc its index and its source's row, for each node its own row, its result, its offset and its scale. A step is timed as the
//! difference between three steps and one, which leaves out scaling, padding and fresh memory.

#![allow(clippy::print_stdout)]

use treering_benchmarks::{best_of, gather, triad, with_threads};
use treering_data::{Context, Recipe, Silent, synthesize};
use treering_graph::{Arcs, Propagation, Room, Side};

/// Preset, share of its size, widths.
const SHAPES: [(&str, f64, &[usize]); 3] = [
    ("arxiv-like", 1.0, &[1, 3, 16, 128]),
    ("products-like", 1.0, &[1, 3, 16, 100]),
    ("reddit-like", 0.1, &[1, 3, 16, 602]),
];

fn main() {
    let scale: f64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1.0);
    println!(
        "GB/s; `same arcs` gathers the rows that the graph's arcs name, `random` as many rows drawn evenly"
    );
    println!(
        "{:14} {:>5} {:>8} {:>7} {:>7} {:>7} {:>9} {:>9} {:>10} {:>9}",
        "graph",
        "width",
        "operand",
        "threads",
        "triad",
        "random",
        "same arcs",
        "S x",
        "of random",
        "of triad"
    );
    let only = std::env::args().nth(2).unwrap_or_default();
    for (preset, share, widths) in SHAPES
        .into_iter()
        .filter(|(preset, ..)| preset.starts_with(&only))
    {
        let Some(arcs) = shape(preset, share * scale) else {
            continue;
        };
        for &width in widths {
            for threads in [1, 2] {
                with_threads(threads, || measure(preset, &arcs, width, threads));
            }
        }
    }
}

/// The arcs of a preset; features are replaced by the widths measured here.
fn shape(preset: &str, scale: f64) -> Option<Arcs> {
    let mut recipe = Recipe::preset(preset)?;
    recipe.features = 1;
    if scale != 1.0 {
        recipe = recipe.scaled(scale).ok()?;
    }
    let graph = synthesize(&recipe, &Context::with_free_memory(&Silent));
    graph
        .map_err(|error| eprintln!("{preset}: {error}"))
        .ok()
        .map(|graph| graph.arcs().clone())
}

fn measure(preset: &str, arcs: &Arcs, width: usize, threads: usize) {
    let nodes = arcs.nodes();
    let operand = nodes * width;
    let x: Vec<f32> = (0..operand).map(|i| (i % 1013) as f32 / 1013.0).collect();
    // Enough repetitions for a tenth of a second where a step is short; one where it is long.
    let repeats = (2_000_000_000 / (arcs.len() * (width + 1) * 4)).clamp(2, 100);

    let third = (operand / 3).max(1);
    let (mut a, b, c) = (vec![0f32; third], vec![1f32; third], vec![2f32; third]);
    let mut bytes = 0.0;
    let triad_seconds = best_of(5 * repeats, || bytes = triad(&mut a, &b, &c));
    let triad_rate = bytes / triad_seconds;

    let mut state = 88_172_645_463_325_252u64;
    let random: Vec<u32> = (0..arcs.len())
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((u128::from(state) * nodes as u128) >> 64) as u32
        })
        .collect();
    let mut seen = 0f32;
    let mut rate = |rows: &[u32]| {
        let mut best = 0f64;
        // The better of the two ways; a limit must not be a straw man.
        for ahead in [true, false] {
            let mut bytes = 0.0;
            let seconds = best_of(repeats + 1, || {
                let (read, sum) = gather(&x, width, rows, ahead);
                bytes = read;
                seen += sum;
            });
            best = best.max(bytes / seconds);
        }
        best
    };
    let (random_rate, same_rate) = (rate(&random), rate(arcs.sources()));

    let operator = Propagation::new(arcs);
    let mut room = Room::new();
    let mut time = |steps| {
        best_of(repeats + 2, || {
            seen += operator.smooth_in(&mut room, Side::Forward, &x, width, steps)[operand / 2];
        })
    };
    let seconds = (time(3) - time(1)) / 2.0;
    let moved =
        arcs.len() as f64 * 4.0 * (width as f64 + 1.0) + nodes as f64 * (8.0 * width as f64 + 12.0);
    let step_rate = moved / seconds;
    println!(
        "{preset:14} {width:>5} {:>5} MB {threads:>7} {:>7.2} {:>7.2} {:>9.2} {:>9.2} {:>8.0} % {:>7.0} %{}",
        operand * 4 / 1_000_000,
        triad_rate / 1e9,
        random_rate / 1e9,
        same_rate / 1e9,
        step_rate / 1e9,
        100.0 * step_rate / random_rate,
        100.0 * step_rate / triad_rate,
        if seen.is_nan() { "!" } else { "" },
    );
}
