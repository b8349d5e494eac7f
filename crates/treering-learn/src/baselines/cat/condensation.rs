//! From a task to its synthetic rows.

use rand::RngExt;
use rand::seq::SliceRandom;
use treering_graph::{Arcs, Direction, Features, Graph, NodeId, Parts, build_arcs};

use super::matching::{Desk, Matching, means};
use super::{Parameters, sizes};
use crate::LearnError;
use crate::baselines::Lesson;
use crate::baselines::condense::{Block, Network, Real, choice, fill, start};
use crate::network::adam::{Adam, Trained};
use crate::network::source::{Source, smoothed_rows};

/// Steps of smoothing of the real rows; the method's own, whatever the network uses.
const HOPS: usize = 1;

/// The synthetic rows of a task.
///
/// # Errors
/// Features so large that the rows leave the finite numbers.
pub fn condensed(lesson: &Lesson<'_>, parameters: &Parameters) -> Result<Block, LearnError> {
    let graph = symmetric(lesson.task.graph());
    let by_class = lesson.rows_by_class();
    let counts: Vec<usize> = by_class.iter().map(Vec::len).collect();
    let sizes = sizes(parameters.budget.saturating_mul(counts.len()), &counts);
    let nodes: Vec<NodeId> = by_class
        .iter()
        .flatten()
        .map(|&row| lesson.task.train().nodes[row])
        .collect();
    let source = Source::smoothed(&graph, HOPS, &nodes);
    let chosen = with_replacement(lesson, &by_class, &sizes);
    let block = start(lesson, source.columns(), parameters.columns, &chosen);
    let mut rows = match parameters.real_rows {
        some if some > 0 && some < nodes.len() => Rows::Some {
            all: smoothed_rows(&graph, HOPS, &nodes),
            sizes: super::sizes(some, &counts),
        },
        _ => Rows::All(Box::new(Real::new(source, &block.columns))),
    };
    let state = State {
        lesson,
        parameters,
        sizes,
        shares: shares(&counts, parameters.class_ratio),
        counts,
    };
    let values = state.run(&block, &mut rows);
    block.with(values)
}

/// The real rows of a network, class by class.
enum Rows<'a> {
    All(Box<Real<'a, f32>>),
    Some { all: Features, sizes: Vec<usize> },
}

struct State<'a> {
    lesson: &'a Lesson<'a>,
    parameters: &'a Parameters,
    /// Synthetic rows of each class.
    sizes: Vec<usize>,
    /// Real rows of each class.
    counts: Vec<usize>,
    /// What each class counts.
    shares: Vec<f64>,
}

impl State<'_> {
    fn run(&self, block: &Block, rows: &mut Rows<'_>) -> Vec<f32> {
        let (width, progress) = (self.parameters.width, self.lesson.progress);
        let features = self.lesson.task.graph().features().columns();
        let bound = (6.0 / (features + width) as f64).sqrt();
        let adam = Adam {
            rate: self.parameters.condense_rate,
            decay: 0.0,
        };
        let mut synthetic = Trained::new(block.values.clone());
        let (mut weights, mut layer, mut gradient) = (Vec::new(), Vec::new(), Vec::new());
        let mut desk = Desk::default();
        progress.begin(
            &format!("condensing task {}", self.lesson.index + 1),
            self.parameters.encoders as u64,
        );
        for number in 0..self.parameters.encoders {
            let network = Network {
                seed: self.lesson.training.seed,
                task: self.lesson.task.number(),
                number,
                layer: 0,
            };
            fill(network, block.columns.len() * width, bound, &mut weights);
            let real = self.real_means(rows, number, block, &weights, &mut layer);
            let matching = Matching {
                values: &synthetic.values,
                sizes: &self.sizes,
                weights: &weights,
                width,
                real: &real,
                counts: &self.shares,
            };
            matching.gradient(&mut desk, &mut gradient);
            synthetic.follow_together(&gradient, &adam.step(number + 1));
            progress.advance(1);
        }
        progress.end();
        synthetic.values
    }

    fn real_means(
        &self,
        rows: &mut Rows<'_>,
        number: usize,
        block: &Block,
        weights: &[f32],
        layer: &mut Vec<f32>,
    ) -> Vec<f32> {
        let width = self.parameters.width;
        match rows {
            Rows::All(real) => {
                real.times(weights, width, layer);
                means(layer, width, &self.counts)
            }
            Rows::Some { all, sizes } => {
                let (picked, sizes) = self.picked(sizes, number);
                let source = Source::rows_of(&all.select(&picked));
                Real::new(source, &block.columns).times(weights, width, layer);
                means(layer, width, &sizes)
            }
        }
    }

    /// Some rows of each class, without replacement; places among the rows class by class.
    fn picked(&self, sizes: &[usize], number: usize) -> (Vec<NodeId>, Vec<usize>) {
        let mut draws = choice(self.lesson, 1 << 31 | number as u32);
        let (mut first, mut picked, mut taken) = (0, Vec::new(), Vec::new());
        for (&count, &size) in self.counts.iter().zip(sizes) {
            let mut rows: Vec<u32> = (first..first + count as u32).collect();
            let (chosen, _) = rows.partial_shuffle(&mut draws, size);
            picked.extend(chosen.iter().map(|&row| NodeId(row)));
            taken.push(chosen.len());
            first += count as u32;
        }
        (picked, taken)
    }
}

/// What each class counts in the matching.
fn shares(counts: &[usize], by_ratio: bool) -> Vec<f64> {
    let all: usize = counts.iter().sum();
    let share = |&count: &usize| match by_ratio {
        true => count as f64 / all.max(1) as f64,
        false => 1.0,
    };
    counts.iter().map(share).collect()
}

/// Train rows to begin with, class by class.
fn with_replacement(
    lesson: &Lesson<'_>,
    by_class: &[Vec<usize>],
    sizes: &[usize],
) -> Vec<Vec<usize>> {
    let classes = by_class.iter().zip(sizes).enumerate();
    classes
        .map(|(class, (rows, &size))| {
            let mut draws = choice(lesson, class as u32);
            (0..size)
                .map(|_| rows[draws.random_range(0..rows.len())])
                .collect()
        })
        .collect()
}

/// The graph with every arc in both directions.
fn symmetric(graph: &Graph) -> Graph {
    if graph.arcs().is_symmetric() {
        return graph.clone();
    }
    Graph::new(Parts {
        arcs: mirrored(graph.arcs()),
        features: graph.features().clone(),
        labels: None,
        names: graph.names().clone(),
        split: None,
        origin: graph.origin().clone(),
    })
    .unwrap_or_else(|error| unreachable!("the parts of a sound graph: {error}"))
}

fn mirrored(arcs: &Arcs) -> Arcs {
    let targets: Vec<u32> = (0..arcs.nodes())
        .flat_map(|node| std::iter::repeat_n(node as u32, arcs.row(node).len()))
        .collect();
    build_arcs(
        arcs.nodes(),
        arcs.sources(),
        &targets,
        arcs.weights(),
        Direction::Undirected,
    )
    .map_or_else(
        |error| unreachable!("the arcs of a sound graph: {error}"),
        |(arcs, _)| arcs,
    )
}

#[cfg(test)]
#[path = "condensation_tests.rs"]
mod tests;
