//! One step S x.

use serde_json::json;
use treering_graph::{Features, Graph, Propagation, Room, Side};

use super::gathers::TOKENS;
use super::peaks::Peaks;
use super::shapes::Shapes;
use super::{Clock, Once, Row, Work};

/// For each arc its index and its source's row, in an order that the graph decides; for each node its own row, its result, its offset and its scale.
/// A flop for every number added and one for every number scaled.
pub(super) fn work(nodes: usize, arcs: usize, width: usize) -> Work {
    let (nodes, arcs, width) = (nodes as f64, arcs as f64, width as f64);
    Work {
        streamed: nodes * (8.0 * width + 12.0),
        gathered: arcs * 4.0 * (width + 1.0),
        single: (arcs + nodes) * width,
        double: 0.0,
    }
}

pub(super) fn rows(shapes: &Shapes, peaks: &Peaks) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, graph) in named(shapes) {
        for width in [graph.features().columns(), TOKENS] {
            rows.push(row(shapes.clock, name, graph, width, peaks));
        }
    }
    rows
}

fn named(shapes: &Shapes) -> impl Iterator<Item = (&'static str, &Graph)> {
    let all = [
        ("products-like", &shapes.products),
        ("arxiv-like", &shapes.arxiv),
    ];
    all.into_iter()
        .filter_map(|(name, graph)| graph.as_ref().map(|graph| (name, graph)))
}

fn row(clock: Clock, name: &str, graph: &Graph, width: usize, peaks: &Peaks) -> Row {
    let (nodes, arcs) = (graph.nodes(), graph.arcs().len());
    let x = numbers(graph, width);
    let work = work(nodes, arcs, width);
    let operator = Propagation::new(graph.arcs());
    let mut room = Room::new();
    let mut seen = 0f32;
    let runs = ((1e9 / work.bytes()) as usize).clamp(2, 100);
    // The second of two steps: the first also scales and pads, and what both do around them is done once.
    let mut time = |steps| {
        clock.best(runs, || {
            seen += operator.smooth_in(&mut room, Side::Forward, &x, width, steps)[nodes / 2];
        })
    };
    let seconds = (time(3) - time(1)) / 2.0;
    assert!(!seen.is_nan(), "finite numbers stay finite");
    Row {
        what: "smoothing S x".into(),
        shape: format!("{name}, {width} columns: {nodes} nodes, {arcs} arcs"),
        threads: peaks.threads,
        seconds,
        work,
        gather: peaks.gather(nodes, width),
        counts: json!({ "nodes": nodes, "arcs": arcs, "columns": width }),
    }
}

/// The features themselves, or as many numbers as are asked for.
fn numbers(graph: &Graph, width: usize) -> Vec<f32> {
    match graph.features() {
        Features::Dense(dense) if dense.columns() == width => dense.values().to_vec(),
        _ => (0..graph.nodes() * width)
            .map(|at| (at % 1013) as f32 / 1013.0)
            .collect(),
    }
}

pub(super) fn once(shapes: &Shapes) -> Once<'_> {
    let mut turns: Vec<Once<'_>> = named(shapes)
        .take(1)
        .map(|(_, graph)| {
            let width = graph.features().columns();
            let (x, operator) = (numbers(graph, width), Propagation::new(graph.arcs()));
            let mut room = Room::new();
            let turn: Once<'_> = Box::new(move || {
                operator.smooth_in(&mut room, Side::Forward, &x, width, 2);
                Ok(())
            });
            turn
        })
        .collect();
    Box::new(move || turns.iter_mut().try_for_each(|turn| turn()))
}
