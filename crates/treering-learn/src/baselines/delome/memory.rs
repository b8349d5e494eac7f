//! From a task to its synthetic rows.

use rand::seq::SliceRandom;
use treering_graph::NodeId;

use super::Parameters;
use super::matching::{Desk, Matching, Net};
use crate::LearnError;
use crate::baselines::Lesson;
use crate::baselines::condense::{Block, Network, Real, choice, fill, start};
use crate::network::adam::{Adam, Trained};
use crate::network::source::Source;

/// The synthetic rows of a task.
///
/// # Errors
/// Features so large that the rows leave the finite numbers.
pub fn condensed(lesson: &Lesson<'_>, parameters: &Parameters) -> Result<Block, LearnError> {
    let by_class = lesson.rows_by_class();
    let sources: Vec<Source<'_, f32>> = by_class
        .iter()
        .map(|rows| {
            let node = |&row: &usize| lesson.task.train().nodes[row];
            let nodes: Vec<NodeId> = rows.iter().map(node).collect();
            Source::smoothed(lesson.task.graph(), lesson.training.hops, &nodes)
        })
        .collect();
    let chosen = without_replacement(lesson, by_class, parameters.budget);
    // All classes of a task have the columns of its graph.
    let present = sources.first().map_or(&[][..], |source| source.columns());
    let block = start(lesson, present, parameters.columns, &chosen);
    let classes: Vec<Class<'_>> = sources
        .into_iter()
        .zip(&chosen)
        .map(|(source, chosen)| Class {
            real: Real::new(source, &block.columns),
            rows: chosen.len(),
        })
        .collect();
    let values = matched(lesson, parameters, &block, classes);
    block.with(values)
}

/// Real rows of a class, and how many synthetic ones.
struct Class<'a> {
    real: Real<'a, f32>,
    rows: usize,
}

fn matched(
    lesson: &Lesson<'_>,
    parameters: &Parameters,
    block: &Block,
    mut classes: Vec<Class<'_>>,
) -> Vec<f32> {
    let (hidden, columns) = (lesson.training.hidden, block.columns.len());
    let largest = classes.iter().map(|class| class.rows).max().unwrap_or(1);
    let adam = Adam {
        rate: parameters.condense_rate,
        decay: 0.0,
    };
    let mut synthetic = Trained::new(block.values.clone());
    let mut gradient = vec![0f32; block.values.len()];
    let mut weights = Weights::default();
    let (mut desk, mut steps) = (Desk::default(), 0);
    lesson.progress.begin(
        &format!("condensing task {}", lesson.index + 1),
        parameters.networks as u64,
    );
    for number in 0..parameters.networks {
        weights.draw(lesson, number, columns);
        let mut first = 0;
        for (at, class) in classes.iter_mut().enumerate() {
            let part = first * columns..(first + class.rows) * columns;
            let matching = Matching {
                values: &synthetic.values[part.clone()],
                rows: class.rows,
                net: Net {
                    first: &weights.first,
                    second: &weights.second,
                    hidden,
                },
                label: lesson.columns.start + at,
                loss: parameters.loss,
                weight: class.rows as f64 / largest as f64,
            };
            // Rows of other classes have no gradient, and move on by what they had before.
            gradient.fill(0.0);
            matching.gradient(&mut class.real, &mut desk, &mut gradient[part]);
            steps += 1;
            synthetic.follow_together(&gradient, &adam.step(steps));
            first += class.rows;
        }
        lesson.progress.advance(1);
    }
    lesson.progress.end();
    synthetic.values
}

/// The weights of a random network.
#[derive(Default)]
struct Weights {
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Weights {
    fn draw(&mut self, lesson: &Lesson<'_>, number: usize, columns: usize) {
        let hidden = lesson.training.hidden;
        let features = lesson.task.graph().features().columns();
        let bound = |inputs: usize| 1.0 / (inputs as f64).sqrt();
        let network = |layer| Network {
            seed: lesson.training.seed,
            task: lesson.task.number(),
            number,
            layer,
        };
        fill(
            network(0),
            columns * hidden,
            bound(features),
            &mut self.first,
        );
        let outputs = lesson.columns.end;
        fill(
            network(1),
            outputs * hidden,
            bound(hidden),
            &mut self.second,
        );
    }
}

/// Train rows to begin with, class by class; as many as there are where the budget is larger.
fn without_replacement(
    lesson: &Lesson<'_>,
    by_class: Vec<Vec<usize>>,
    budget: usize,
) -> Vec<Vec<usize>> {
    let classes = by_class.into_iter().enumerate();
    classes
        .map(|(class, mut rows)| {
            rows.shuffle(&mut choice(lesson, class as u32));
            rows.truncate(budget);
            rows
        })
        .collect()
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
