//! Answering a query: find its task, then classify with that task's prompt and head.

use rayon::prelude::*;
use treering_data::Large;
use treering_graph::{Propagation, Side};

use super::parameters::Routing;
use super::profile::Route;
use super::prompt::{fold_head, padded, padded_rows, shares};
use super::together::padded_width;
use super::{Ring, Tpp};
use crate::network::backbone::{Backbone, pick};
use crate::network::dense;
use crate::network::inputs::Inputs;
use crate::network::kernels::{Rows, prompted_probabilities};
use crate::{Answer, LearnError, Query};

/// Rows that one thread works on at a time.
const PIECE: usize = 256;

impl Tpp {
    pub(super) fn answers(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        let backbone = self.backbone.as_ref().ok_or(LearnError::Nothing)?;
        let rings = self.rings_for(query, backbone)?;
        if query.nodes.is_empty() {
            return Ok(Vec::new());
        }
        let network = Network::new(query, backbone)?;
        let answers = match (&query.tasks, self.parameters.routing) {
            (Some(tasks), _) => {
                let known = |&task: &u32| Route {
                    task,
                    margin: f64::INFINITY,
                    familiarity: None,
                };
                let routes: Vec<Route> = tasks.iter().map(known).collect();
                let each: Vec<u32> = (0..tasks.len() as u32).collect();
                classify(&each, &routes, rings, &network)
            }
            (None, Routing::MostConfident) => most_confident(rings, &network),
            (None, Routing::Prototype) => {
                let routes = self.routes(query, rings);
                classify(&query.group_numbers().0, &routes, rings, &network)
            }
        };
        let sound = |answer: &Answer| {
            let numbers = [answer.margin, answer.familiarity.unwrap_or(0.0)];
            numbers.iter().all(|number| !number.is_nan())
                && answer.probabilities.iter().all(|p| p.is_finite())
        };
        match answers.iter().position(|answer| !sound(answer)) {
            Some(at) => Err(LearnError::TooLarge(query.nodes[at].0)),
            None => Ok(answers),
        }
    }

    /// The embeddings of the query's nodes, a row each; with the prompt of a ring where one is named.
    ///
    /// # Errors
    /// A query that does not fit, a ring that is not there, nothing learned yet.
    pub fn embeddings(&self, query: &Query, ring: Option<usize>) -> Result<Vec<f32>, LearnError> {
        let backbone = self.backbone.as_ref().ok_or(LearnError::Nothing)?;
        let rings = self.rings_for(query, backbone)?;
        let ring = match ring {
            None => None,
            Some(place) => Some(rings.get(place).ok_or(LearnError::NoSuchTask {
                task: place as u32,
                learned: rings.len(),
            })?),
        };
        Ok(Network::new(query, backbone)?.embeddings(ring))
    }

    /// Which task each group of the query belongs to.
    fn routes(&self, query: &Query, rings: &[Ring]) -> Vec<Route> {
        let prototypes: Vec<&[f64]> = rings.iter().map(|ring| &ring.prototype[..]).collect();
        self.recogniser().routes(query, &prototypes)
    }

    /// The rings that may be used, once the query is found to fit.
    fn rings_for(&self, query: &Query, backbone: &Backbone) -> Result<&[Ring], LearnError> {
        let seen = query.stage(self.rings.len())?;
        query.check(backbone.features, seen)?;
        Ok(&self.rings[..seen])
    }
}

/// What every ring needs of a query, worked out once.
struct Network<'a> {
    backbone: &'a Backbone,
    inputs: Inputs<f32>,
    propagation: Propagation<'a>,
    /// S^hops X W1 on the query's nodes.
    base: Large<f32>,
    nodes: Vec<usize>,
    width: usize,
}

impl<'a> Network<'a> {
    fn new(query: &'a Query, backbone: &'a Backbone) -> Result<Self, LearnError> {
        let graph = query.graph();
        let propagation = Propagation::new(graph.arcs());
        let inputs = Inputs::new(graph.features());
        let nodes: Vec<usize> = query.nodes.iter().map(|node| node.index()).collect();
        let width = padded_width(backbone.hidden);
        let base = backbone.hidden_layer(&inputs, &propagation, &nodes)?;
        Ok(Network {
            backbone,
            inputs,
            propagation,
            base: padded_rows(base, backbone.hidden, width)?,
            nodes,
            width,
        })
    }

    /// A ring's probabilities on some of the query's nodes, one row each.
    fn probabilities(&self, ring: &Ring, chosen: &[usize]) -> Vec<f32> {
        let (mixed, product) = self.prompt(ring, chosen);
        let tokens = ring.prompt.as_ref().map_or(0, |prompt| prompt.count);
        let folded = fold_head(self.backbone, &ring.head.weights, self.width);
        let classes = ring.classes();
        let mut probabilities = vec![0f32; chosen.len() * classes];
        probabilities
            .par_chunks_mut(PIECE * classes)
            .enumerate()
            .for_each(|(at, out)| {
                let rows = at * PIECE..at * PIECE + out.len() / classes;
                let base = pick(&self.base, self.width, &chosen[rows.clone()]);
                let rows = Rows {
                    base: &base,
                    shares: &mixed[rows.start * tokens..rows.end * tokens],
                    product: &product,
                    folded: &folded,
                    bias: &ring.head.bias,
                    labels: &[],
                    weights: &[],
                };
                prompted_probabilities(&rows, out);
            });
        self.base.release(0..self.base.len());
        probabilities
    }

    /// ReLU(S^hops (X + alpha Phi) W1) W2.
    fn embeddings(&self, ring: Option<&Ring>) -> Vec<f32> {
        let (count, hidden) = (self.nodes.len(), self.backbone.hidden);
        let all: Vec<usize> = (0..count).collect();
        let (mixed, product) = ring.map_or_else(Default::default, |ring| self.prompt(ring, &all));
        let tokens = mixed.len() / count.max(1);
        let entry = |at: usize, column: usize| {
            let prompt: f32 = (0..tokens)
                .map(|token| mixed[at * tokens + token] * product[token * self.width + column])
                .sum();
            (self.base[at * self.width + column] + prompt).max(0.0)
        };
        let layer: Vec<f32> = all
            .iter()
            .flat_map(|&at| (0..hidden).map(move |column| entry(at, column)))
            .collect();
        let mut embeddings = vec![0f32; count * hidden];
        dense::product(
            &mut embeddings,
            dense::Into::Replace,
            dense::view(&layer, count, hidden),
            dense::view(&self.backbone.second, hidden, hidden),
        );
        embeddings
    }

    /// How much of each token reaches the chosen nodes, and the tokens times W1.
    fn prompt(&self, ring: &Ring, chosen: &[usize]) -> (Vec<f32>, Vec<f32>) {
        let Some(prompt) = &ring.prompt else {
            return (Vec::new(), Vec::new());
        };
        let features = self.backbone.features;
        let scorer: Vec<f32> = self
            .inputs
            .present()
            .iter()
            .flat_map(|&column| (0..prompt.count).map(move |token| (token, column as usize)))
            .map(|(token, column)| prompt.scorer[token * features + column])
            .collect();
        let alpha = shares(&self.inputs, &scorer, &prompt.bias);
        let smooth =
            self.propagation
                .smooth(Side::Forward, &alpha, prompt.count, self.backbone.hops);
        let nodes: Vec<usize> = chosen.iter().map(|&at| self.nodes[at]).collect();
        (
            pick(&smooth, prompt.count, &nodes),
            self.product(&prompt.tokens),
        )
    }

    /// Phi W1, by rows of W1.
    fn product(&self, tokens: &[f32]) -> Vec<f32> {
        let hidden = self.backbone.hidden;
        let count = tokens.len() / self.backbone.features;
        let mut product = vec![0f32; count * hidden];
        dense::product(
            &mut product,
            dense::Into::Replace,
            dense::view(tokens, count, self.backbone.features),
            dense::view(&self.backbone.first, self.backbone.features, hidden),
        );
        padded(&product, hidden, self.width)
    }
}

/// Every group's nodes by its task's ring.
fn classify(
    numbers: &[u32],
    routes: &[Route],
    rings: &[Ring],
    network: &Network<'_>,
) -> Vec<Answer> {
    let mut of_task = vec![Vec::new(); rings.len()];
    for (at, &group) in numbers.iter().enumerate() {
        of_task[routes[group as usize].task as usize].push(at);
    }
    let mut answers: Vec<Option<Answer>> = vec![None; numbers.len()];
    for (task, (ring, chosen)) in rings.iter().zip(&of_task).enumerate() {
        if chosen.is_empty() {
            continue;
        }
        let probabilities = network.probabilities(ring, chosen);
        for (&at, row) in chosen.iter().zip(probabilities.chunks(ring.classes())) {
            let route = routes[numbers[at] as usize];
            answers[at] = Some(Answer {
                task: task as u32,
                margin: route.margin,
                familiarity: route.familiarity,
                posterior: Vec::new(),
                probabilities: row.to_vec(),
            });
        }
    }
    answers.into_iter().flatten().collect()
}

/// Every ring on every node; the largest probability of all wins. The margin is its lead over the best of the other tasks.
fn most_confident(rings: &[Ring], network: &Network<'_>) -> Vec<Answer> {
    let all: Vec<usize> = (0..network.nodes.len()).collect();
    let largest = |row: &[f32]| row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut best: Vec<Option<Answer>> = vec![None; all.len()];
    let mut second = vec![f32::NEG_INFINITY; all.len()];
    for (task, ring) in rings.iter().enumerate() {
        let probabilities = network.probabilities(ring, &all);
        let rows = probabilities.chunks(ring.classes());
        for ((best, second), row) in best.iter_mut().zip(&mut second).zip(rows) {
            let before = best
                .as_ref()
                .map_or(f32::NEG_INFINITY, |answer| largest(&answer.probabilities));
            *second = second.max(before.min(largest(row)));
            if largest(row) > before {
                *best = Some(Answer {
                    task: task as u32,
                    margin: 0.0,
                    familiarity: None,
                    posterior: Vec::new(),
                    probabilities: row.to_vec(),
                });
            }
        }
    }
    let answers = best.into_iter().flatten().zip(second);
    answers
        .map(|(answer, second)| {
            let surest = f64::from(largest(&answer.probabilities));
            Answer {
                margin: surest - f64::from(second),
                familiarity: Some(surest),
                ..answer
            }
        })
        .collect()
}
