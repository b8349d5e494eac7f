//! Training the prompts of several tasks in one go.
//!
//! Tasks do not depend on one another once the backbone is frozen, but each reads all of W1 twice an epoch: for the gradient of its tokens,
//! and for the product of the new tokens with W1. Here every slab of W1 is read once an epoch and serves the gradient, the step and
//! the next product of all tasks. A task's numbers do not depend on which others are there.

use rayon::prelude::*;
use treering_data::Progress;

use super::parameters::TppParameters;
use super::prompt::{Head, Prompt, Session, padded};
use crate::network::adam::Step;
use crate::network::backbone::Backbone;
use crate::network::kernels::{BLOCK, Tokens, pass};
use crate::network::number::Number;

/// Rows of W1 in a slab: 256 kB for 256 columns, which stay in the second-level cache while the tasks pass by.
const SLAB: usize = 256;

/// The width of W1's rows here: whole vectors.
pub(crate) fn padded_width(hidden: usize) -> usize {
    hidden.next_multiple_of(8)
}

/// Some rows of W1, and for each task the part of its tokens that meets them.
struct Slab<'a, T: Clone> {
    layer: std::borrow::Cow<'a, [T]>,
    rows: usize,
    width: usize,
    parts: Vec<Part<T>>,
}

/// The tokens of one task on a slab's columns.
struct Part<T> {
    count: usize,
    values: Vec<T>,
    first: Vec<T>,
    second: Vec<T>,
    product: Vec<T>,
}

impl<'a, T: Number> Slab<'a, T> {
    fn new(
        backbone: &'a Backbone<T>,
        columns: std::ops::Range<usize>,
        sessions: &[Session<'_, T>],
    ) -> Self {
        let (hidden, width) = (backbone.hidden, padded_width(backbone.hidden));
        let layer = &backbone.first[columns.start * hidden..columns.end * hidden];
        let part = |session: &Session<'_, T>| {
            let rows = session.tokens().chunks(backbone.features);
            let values: Vec<T> = rows
                .flat_map(|token| &token[columns.clone()])
                .copied()
                .collect();
            Part {
                count: values.len() / columns.len(),
                first: vec![T::ZERO; values.len()],
                second: vec![T::ZERO; values.len()],
                product: vec![T::ZERO; session.product.len()],
                values,
            }
        };
        Slab {
            layer: match width == hidden {
                true => layer.into(),
                false => padded(layer, hidden, width).into(),
            },
            rows: columns.len(),
            width,
            parts: sessions.iter().map(part).collect(),
        }
    }

    /// The tokens follow their gradient, if there is a step, and are multiplied with the slab.
    fn turn(&mut self, sessions: &[Session<'_, T>], step: Option<&Step<T>>) {
        for (part, session) in self.parts.iter_mut().zip(sessions) {
            part.product.fill(T::ZERO);
            for at in (0..self.rows).step_by(BLOCK) {
                let rows = at..(at + BLOCK).min(self.rows);
                let layer = &self.layer[rows.start * self.width..rows.end * self.width];
                let mut tokens = Tokens {
                    count: part.count,
                    values: &mut part.values,
                    first: &mut part.first,
                    second: &mut part.second,
                    stride: self.rows,
                    follow: step.map(|step| (&session.slope[..], step)),
                    product: &mut part.product,
                };
                pass(layer, self.width, at, &mut tokens);
            }
        }
    }
}

/// Trains all sessions to their end.
pub(crate) fn train<T: Number>(
    parameters: &TppParameters,
    backbone: &Backbone<T>,
    mut sessions: Vec<Session<'_, T>>,
    progress: &dyn Progress,
) -> Vec<(Option<Prompt<T>>, Head<T>)> {
    let starts = (0..backbone.features).step_by(SLAB);
    let ranges = starts.map(|start| start..(start + SLAB).min(backbone.features));
    let mut slabs: Vec<Slab<'_, T>> = ranges
        .map(|columns| Slab::new(backbone, columns, &sessions))
        .collect();
    slabs
        .par_iter_mut()
        .for_each(|slab| slab.turn(&sessions, None));
    gather(&slabs, &mut sessions);
    for epoch in 1..=parameters.epochs {
        let step = parameters.adam.step(epoch);
        sessions.par_iter_mut().for_each(|session| {
            session.epoch(&step);
        });
        slabs
            .par_iter_mut()
            .for_each(|slab| slab.turn(&sessions, Some(&step)));
        gather(&slabs, &mut sessions);
        progress.advance(sessions.len() as u64);
    }
    let tokens: Vec<Vec<T>> = (0..sessions.len())
        .map(|task| tokens_of(&slabs, task))
        .collect();
    let finish = |(session, tokens): (Session<'_, T>, Vec<T>)| session.finish(tokens);
    sessions.into_iter().zip(tokens).map(finish).collect()
}

/// Adds up what the slabs contribute to the products, in order.
fn gather<T: Number>(slabs: &[Slab<'_, T>], sessions: &mut [Session<'_, T>]) {
    sessions
        .par_iter_mut()
        .enumerate()
        .for_each(|(task, session)| {
            session.product.fill(T::ZERO);
            for slab in slabs {
                let part = session.product.iter_mut().zip(&slab.parts[task].product);
                part.for_each(|(into, &from)| *into += from);
            }
        });
}

/// A task's tokens, put together again.
fn tokens_of<T: Number>(slabs: &[Slab<'_, T>], task: usize) -> Vec<T> {
    let count = slabs.first().map_or(0, |slab| slab.parts[task].count);
    (0..count)
        .flat_map(|token| {
            slabs.iter().flat_map(move |slab| {
                let part = &slab.parts[task];
                part.values[token * slab.rows..(token + 1) * slab.rows]
                    .iter()
                    .copied()
            })
        })
        .collect()
}
