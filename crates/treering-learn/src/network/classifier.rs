//! The network of every method without prompts: logits = ReLU(S^hops X W1) W2, no biases, one output a class.

use treering_data::{Purpose, random};
use treering_graph::{Graph, NodeId};

use super::adam::{Adam, Trained};
use super::backbone::uniform;
use super::dense::{Into, product, view};
use super::number::Number;
use super::source::Source;

/// The shape of a network and how it follows its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Columns of the features.
    pub features: usize,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Steps of propagation.
    pub hops: usize,
    /// The optimiser.
    pub adam: Adam,
}

/// How weights are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Between plus and minus one over the root of a layer's inputs.
    Uniform,
    /// Normal, with one over the number of a layer's inputs as variance.
    Normal,
}

/// A network that grows an output with every class.
#[derive(Clone, Debug)]
pub struct Classifier<T = f32> {
    pub(super) shape: Shape,
    start: (Start, u64, u64),
    /// W1, a row a feature column.
    pub(super) first: Trained<T>,
    /// W2, a row a class.
    pub(super) second: Trained<T>,
    /// Steps taken so far, over all tasks.
    pub(super) steps: usize,
}

impl<T: Number> Classifier<T> {
    /// A network without outputs. `number` keeps several networks of one seed apart.
    pub fn new(shape: Shape, start: Start, seed: u64, number: u64) -> Self {
        let mut network = Classifier {
            shape,
            start: (start, seed, number),
            first: Trained::new(Vec::new()),
            second: Trained::new(Vec::new()),
            steps: 0,
        };
        let first = network.draw(0, shape.features * shape.hidden, shape.features);
        network.first.extend(&first);
        network
    }

    fn draw(&self, index: u64, count: usize, inputs: usize) -> Vec<T> {
        let (start, seed, number) = self.start;
        let mut random = random(seed, Purpose::Initialisation, number << 32 | index);
        let bound = 1.0 / (inputs.max(1) as f64).sqrt();
        match start {
            Start::Uniform => uniform(&mut random, count, bound),
            Start::Normal => normal(&mut random, count, bound),
        }
    }

    /// Draws outputs until there are `outputs`.
    pub fn grow(&mut self, outputs: usize) {
        for output in self.outputs()..outputs {
            let drawn = self.draw(output as u64 + 1, self.shape.hidden, self.shape.hidden);
            self.second.extend(&drawn);
        }
    }

    /// How many classes it tells apart.
    pub fn outputs(&self) -> usize {
        self.second.values.len() / self.shape.hidden
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// W1, a row a feature column.
    #[allow(clippy::misnamed_getters)]
    pub fn first(&self) -> &[T] {
        &self.first.values
    }

    /// W2, a row a class.
    #[allow(clippy::misnamed_getters)]
    pub fn second(&self) -> &[T] {
        &self.second.values
    }

    /// Numbers that it keeps.
    pub fn numbers(&self) -> usize {
        self.first.values.len() + self.second.values.len()
    }

    /// Whether all weights are finite.
    pub fn is_finite(&self) -> bool {
        let sound = |values: &[T]| values.iter().all(|value| value.to_f64().is_finite());
        sound(&self.first.values) && sound(&self.second.values)
    }

    /// The logits of some rows.
    pub fn logits(&self, source: &Source<'_, T>) -> Vec<T> {
        let (hidden, rows) = (self.shape.hidden, source.rows());
        let mut layer = Vec::new();
        source.times(&self.first_of(source.columns()), hidden, &mut layer);
        rectify(&mut layer);
        let mut logits = vec![T::ZERO; rows * self.outputs()];
        let second = view(&self.second.values, self.outputs(), hidden);
        product(
            &mut logits,
            Into::Replace,
            view(&layer, rows, hidden),
            second.transpose(),
        );
        logits
    }

    /// The logits of some nodes of a graph.
    pub fn logits_of(&self, graph: &Graph, nodes: &[NodeId]) -> Vec<T> {
        self.logits(&Source::smoothed(graph, self.shape.hops, nodes))
    }

    fn first_of(&self, columns: &[u32]) -> Vec<T> {
        let row = |&column: &u32| {
            &self.first.values[column as usize * self.shape.hidden..][..self.shape.hidden]
        };
        columns.iter().flat_map(row).copied().collect()
    }
}

fn normal<T: Number>(random: &mut rand_chacha::ChaCha8Rng, count: usize, deviation: f64) -> Vec<T> {
    use rand::RngExt;
    // Box and Muller: two uniform numbers give one normal one.
    let mut draw = || {
        let (a, b) = (1.0 - random.random::<f64>(), random.random::<f64>());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    };
    (0..count)
        .map(|_| T::from_f64(deviation * draw()))
        .collect()
}

pub(super) fn rectify<T: Number>(layer: &mut [T]) {
    for value in layer {
        *value = if *value > T::ZERO { *value } else { T::ZERO };
    }
}
