//! Training the network on one task.
//!
//! Feature columns that are zero in all rows of a session get no gradient but the decay (and a spring, if there is one), so they are
//! left out of every step and caught up with at the end, to the same bits.

use super::adam::{Spring, Step, Trained};
use super::classifier::{Classifier, rectify};
use super::dense::{Into, product, view};
use super::kernels::add_scaled;
use super::number::Number;
use super::source::Source;

/// The gradient by both layers: W1 at the columns of a session, and W2.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient<T> {
    /// A row for each of the session's columns.
    pub first: Vec<T>,
    /// A row for each class.
    pub second: Vec<T>,
}

impl<T: Number> Gradient<T> {
    /// Back to zero.
    pub fn clear(&mut self) {
        self.first.fill(T::ZERO);
        self.second.fill(T::ZERO);
    }
}

/// Springs on all weights of a network.
#[derive(Clone, Debug)]
pub struct Springs<T = f32> {
    /// On W1, whole.
    pub first: Spring<T>,
    /// On W2; classes that are not covered are free.
    pub second: Spring<T>,
}

/// A source, and where its columns are among those of the session; none where they are the same.
struct Placed<'s, T> {
    source: Source<'s, T>,
    places: Option<Vec<u32>>,
}

impl<'s, T: Number> Placed<'s, T> {
    fn new(source: Source<'s, T>, columns: &[u32]) -> Self {
        let places = (source.columns() != columns).then(|| {
            let place = |column: &u32| {
                columns.binary_search(column).unwrap_or_else(|_| {
                    unreachable!("a session has the columns of all its sources")
                })
            };
            source
                .columns()
                .iter()
                .map(|column| place(column) as u32)
                .collect()
        });
        Placed { source, places }
    }
}

/// Memory that every step uses again.
struct Desk<T> {
    weights: Vec<T>,
    layer: Vec<T>,
    logits: Vec<T>,
    slopes: Vec<T>,
    layer_slopes: Vec<T>,
    back: Vec<T>,
}

/// Training on one task.
pub struct Session<'n, 's, T = f32> {
    network: &'n mut Classifier<T>,
    sources: Vec<Placed<'s, T>>,
    columns: Vec<u32>,
    /// W1 at the columns of the session.
    first: Trained<T>,
    springs: Option<(&'n Springs<T>, Spring<T>)>,
    steps: usize,
    desk: Desk<T>,
}

impl<'n, 's, T: Number> Session<'n, 's, T> {
    /// Begins with everything that will be read.
    pub fn new(
        network: &'n mut Classifier<T>,
        sources: Vec<Source<'s, T>>,
        springs: Option<&'n Springs<T>>,
    ) -> Self {
        let mut columns: Vec<u32> = sources
            .iter()
            .flat_map(|source| source.columns())
            .copied()
            .collect();
        columns.sort_unstable();
        columns.dedup();
        let width = network.shape.hidden;
        Session {
            first: network.first.pick(&columns, width),
            springs: springs.map(|springs| (springs, springs.first.pick(&columns, width))),
            sources: sources
                .into_iter()
                .map(|source| Placed::new(source, &columns))
                .collect(),
            columns,
            network,
            steps: 0,
            desk: Desk {
                weights: Vec::new(),
                layer: Vec::new(),
                logits: Vec::new(),
                slopes: Vec::new(),
                layer_slopes: Vec::new(),
                back: Vec::new(),
            },
        }
    }

    /// The feature columns that the session's gradients are about.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// How many classes the network tells apart.
    pub fn outputs(&self) -> usize {
        self.network.outputs()
    }

    /// Width of the hidden layer.
    pub fn width(&self) -> usize {
        self.network.shape.hidden
    }

    /// One of the sources.
    pub fn source(&self, at: usize) -> &Source<'s, T> {
        &self.sources[at].source
    }

    /// How many sources there are.
    pub fn sources(&self) -> usize {
        self.sources.len()
    }

    /// Reads other rows in place of a source. Their columns have to be among the session's.
    pub fn replace(&mut self, at: usize, source: Source<'s, T>) {
        self.sources[at] = Placed::new(source, &self.columns);
    }

    /// A gradient of zero.
    pub fn no_gradient(&self) -> Gradient<T> {
        Gradient {
            first: vec![T::ZERO; self.first.values.len()],
            second: vec![T::ZERO; self.network.second.values.len()],
        }
    }

    /// Adds the gradient of a loss on the rows of a source. `loss` gets the logits and adds its slopes by them.
    pub fn add_gradient(
        &mut self,
        at: usize,
        into: &mut Gradient<T>,
        loss: impl FnOnce(&[T], &mut [T]) -> f64,
    ) -> f64 {
        let loss = self.slopes(at, loss);
        self.add_second(at, &mut into.second);
        let Placed { source, places } = &self.sources[at];
        let (width, desk) = (self.network.shape.hidden, &mut self.desk);
        match places {
            None => {
                source.transposed_times(&desk.layer_slopes, width, Into::Add, &mut into.first);
            }
            Some(places) => {
                source.transposed_times(&desk.layer_slopes, width, Into::Replace, &mut desk.back);
                add_rows(&mut into.first, &desk.back, places, width);
            }
        }
        loss
    }

    /// As [`Session::add_gradient`], alone, with a row of W1 for each of the source's own columns.
    pub fn own_gradient(
        &mut self,
        at: usize,
        into: &mut Gradient<T>,
        loss: impl FnOnce(&[T], &mut [T]) -> f64,
    ) -> f64 {
        into.second.clear();
        into.second
            .resize(self.network.second.values.len(), T::ZERO);
        let loss = self.slopes(at, loss);
        self.add_second(at, &mut into.second);
        let (width, slopes) = (self.network.shape.hidden, &self.desk.layer_slopes);
        let source = &self.sources[at].source;
        source.transposed_times(slopes, width, Into::Replace, &mut into.first);
        loss
    }

    /// Where a source's own columns are among the session's.
    pub fn places(&self, at: usize) -> Vec<u32> {
        let Placed { source, places } = &self.sources[at];
        let all = 0..source.columns().len() as u32;
        places.clone().unwrap_or_else(|| all.collect())
    }

    /// Adds the gradient by W2 of what is on the desk.
    fn add_second(&self, at: usize, second: &mut [T]) {
        let rows = self.sources[at].source.rows();
        let slopes = view(&self.desk.slopes, rows, self.network.outputs());
        let layer = view(&self.desk.layer, rows, self.network.shape.hidden);
        product(second, Into::Add, slopes.transpose(), layer);
    }

    /// Forward through the network, and back to the slopes by the hidden layer before its ReLU, all left on the desk.
    fn slopes(&mut self, at: usize, loss: impl FnOnce(&[T], &mut [T]) -> f64) -> f64 {
        let Placed { source, places } = &self.sources[at];
        let (hidden, outputs, rows) = (
            self.network.shape.hidden,
            self.network.outputs(),
            source.rows(),
        );
        let desk = &mut self.desk;
        let weights = match places {
            None => &self.first.values,
            Some(places) => {
                desk.weights.clear();
                for &place in places {
                    desk.weights
                        .extend_from_slice(&self.first.values[place as usize * hidden..][..hidden]);
                }
                &desk.weights
            }
        };
        source.times(weights, hidden, &mut desk.layer);
        rectify(&mut desk.layer);
        let second = view(&self.network.second.values, outputs, hidden);
        desk.logits.resize(rows * outputs, T::ZERO);
        product(
            &mut desk.logits,
            Into::Replace,
            view(&desk.layer, rows, hidden),
            second.transpose(),
        );
        desk.slopes.clear();
        desk.slopes.resize(rows * outputs, T::ZERO);
        let loss = loss(&desk.logits, &mut desk.slopes);
        desk.layer_slopes.resize(rows * hidden, T::ZERO);
        product(
            &mut desk.layer_slopes,
            Into::Replace,
            view(&desk.slopes, rows, outputs),
            second,
        );
        for (slope, &value) in desk.layer_slopes.iter_mut().zip(&desk.layer) {
            // No branch, so that the loop runs on vectors.
            *slope = if value > T::ZERO { *slope } else { T::ZERO };
        }
        loss
    }

    /// Adds the sum over rows of `change` of each row's own gradient, where `change(a b) = change(a) change(b)` (a square, a magnitude). A
    /// row's gradient by a weight is a product, so the sum is a product of changed matrices.
    ///
    /// Needs rows that are worked out; returns false where a source smooths anew.
    pub fn add_row_by_row(
        &mut self,
        at: usize,
        into: &mut Gradient<T>,
        change: fn(T) -> T,
        loss: impl FnOnce(&[T], &mut [T]) -> f64,
    ) -> bool {
        self.slopes(at, loss);
        let Placed { source, places } = &self.sources[at];
        let Some(inputs) = source.inputs() else {
            return false;
        };
        let (hidden, outputs, rows) = (
            self.network.shape.hidden,
            self.network.outputs(),
            source.rows(),
        );
        let changed =
            |values: &[T]| -> Vec<T> { values.iter().map(|&value| change(value)).collect() };
        let (slopes, layer) = (changed(&self.desk.slopes), changed(&self.desk.layer));
        product(
            &mut into.second,
            Into::Add,
            view(&slopes, rows, outputs).transpose(),
            view(&layer, rows, hidden),
        );
        let layer_slopes = changed(&self.desk.layer_slopes);
        let mut back = Vec::new();
        inputs
            .map(change)
            .transposed_times(&layer_slopes, hidden, None, Into::Replace, &mut back);
        match places {
            None => add_scaled(&mut into.first, T::ONE, &back),
            Some(places) => add_rows(&mut into.first, &back, places, hidden),
        }
        true
    }

    /// The logits of a source's rows now.
    pub fn logits(&mut self, at: usize) -> Vec<T> {
        self.slopes(at, |_, _| 0.0);
        self.desk.logits.clone()
    }

    /// One step of the optimiser along a gradient; springs are added to it.
    pub fn step(&mut self, gradient: &mut Gradient<T>) {
        self.steps += 1;
        let step: Step<T> = self
            .network
            .shape
            .adam
            .step(self.network.steps + self.steps);
        if let Some((springs, first)) = &self.springs {
            first.add(&mut gradient.first, &self.first.values);
            let covered = springs.second.strength.len();
            springs.second.add(
                &mut gradient.second[..covered],
                &self.network.second.values[..covered],
            );
        }
        self.first.follow_together(&gradient.first, &step);
        self.network.second.follow_together(&gradient.second, &step);
    }

    /// A gradient with a row for every feature column.
    pub fn spread(&self, gradient: &Gradient<T>) -> Gradient<T> {
        let hidden = self.network.shape.hidden;
        let mut first = vec![T::ZERO; self.network.first.values.len()];
        for (&column, row) in self.columns.iter().zip(gradient.first.chunks(hidden)) {
            first[column as usize * hidden..][..hidden].copy_from_slice(row);
        }
        Gradient {
            first,
            second: gradient.second.clone(),
        }
    }

    /// W1 at the session's columns, and W2, as they are now.
    pub fn weights(&self) -> (&[T], &[T]) {
        (&self.first.values, &self.network.second.values)
    }

    /// Ends the session: the weights that took no part catch up.
    pub fn finish(self) {
        let (width, before) = (self.network.shape.hidden, self.network.steps);
        self.network.first.put(&self.columns, width, &self.first);
        let mut absent = vec![true; self.network.shape.features];
        self.columns
            .iter()
            .for_each(|&column| absent[column as usize] = false);
        let steps: Vec<Step<T>> = (1..=self.steps)
            .map(|count| self.network.shape.adam.step(before + count))
            .collect();
        let spring = self.springs.as_ref().map(|(springs, _)| &springs.first);
        self.network
            .first
            .coast(width, |row| absent[row], &steps, spring);
        self.network.steps += self.steps;
    }
}

/// Adds rows at their places.
fn add_rows<T: Number>(into: &mut [T], rows: &[T], places: &[u32], width: usize) {
    for (&place, row) in places.iter().zip(rows.chunks(width)) {
        add_scaled(&mut into[place as usize * width..][..width], T::ONE, row);
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
