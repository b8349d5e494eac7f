//! How two tasks differ in structure and attributes: the terms of the paper's second theorem, which compares nodes of equally large graphs one by one. Real tasks
//! have no such pairs of nodes, so quantiles of degrees and means of attributes are compared instead.

use treering_data::Stream;
use treering_graph::{Features, Graph};

use super::{Attributes, Degrees, PairDifference, name};

/// Steps between quantiles.
const STEPS: usize = 100;
/// Attributes that a figure can show.
const COLUMNS: usize = 200;

/// The first two tasks of a stream.
pub(super) fn difference(graph: &Graph, stream: &Stream) -> PairDifference {
    let [first, second] = [0, 1].map(|task| stream.task_graph(graph, stream.tasks[task].id));
    let degrees = Degrees {
        first: quantiles(&first),
        second: quantiles(&second),
    };
    let means = [&first, &second].map(|graph| means(graph.features()));
    let gap = |column: &usize| (means[0][*column] - means[1][*column]).abs();
    let mut columns: Vec<usize> = (0..means[0].len()).collect();
    let attribute = norm(columns.iter().map(gap));
    columns.sort_by(|a, b| gap(b).total_cmp(&gap(a)).then(a.cmp(b)));
    columns.truncate(COLUMNS);
    columns.retain(|column| gap(column) > 0.0);
    let of = |means: &[f64]| columns.iter().map(|&column| means[column]).collect();
    let gaps = degrees.first.iter().zip(&degrees.second);
    let structure = norm(gaps.map(|(a, b)| a - b)) / ((STEPS + 1) as f64).sqrt();
    PairDifference {
        tasks: [name(&first), name(&second)],
        structure,
        attribute,
        attributes: Attributes {
            first: of(&means[0]),
            second: of(&means[1]),
            columns,
        },
        degrees,
    }
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// Quantiles of the root of degrees, every node's own loop counted.
fn quantiles(graph: &Graph) -> Vec<f64> {
    let arcs = graph.arcs();
    let degree = |node: usize| (arcs.row(node).len() as f64 + 1.0).sqrt();
    let mut roots: Vec<f64> = (0..graph.nodes()).map(degree).collect();
    roots.sort_by(f64::total_cmp);
    let last = roots.len().saturating_sub(1);
    let at = |step: usize| {
        let place = (step * last) as f64 / STEPS as f64;
        let (below, above) = (place.floor() as usize, place.ceil() as usize);
        roots[below] + (roots[above] - roots[below]) * place.fract()
    };
    (0..=STEPS).map(at).collect()
}

/// The mean of every column.
fn means(features: &Features) -> Vec<f64> {
    let mut sums = vec![0.0; features.columns()];
    match features {
        Features::Dense(dense) => {
            for row in 0..dense.rows() {
                for (sum, &value) in sums.iter_mut().zip(dense.row(row)) {
                    *sum += f64::from(value);
                }
            }
        }
        Features::Sparse(sparse) => {
            for (&column, &value) in sparse.indices().iter().zip(sparse.values()) {
                sums[column as usize] += f64::from(value);
            }
        }
    }
    let rows = features.rows().max(1) as f64;
    sums.into_iter().map(|sum| sum / rows).collect()
}
