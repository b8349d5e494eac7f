//! Profiling: a task's prototype, and the task whose prototype is nearest to a query.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use treering_data::{Progress, Purpose, memory_limit, random};
use treering_graph::{Arcs, Features, Graph, NodeId, Propagation, Side};

use super::parameters::Profile;
use crate::learner::PROFILING;
use crate::task::{Groups, Query, TrainingTask};

/// Arcs in which every isolated node is joined, both ways, to a random node that was not isolated. A graph of nothing but isolated
/// nodes stays as it is.
///
/// The new arcs come on top of those there are, as in the published method; on a directed graph one may repeat another.
pub fn patched(arcs: &Arcs, random: &mut ChaCha8Rng) -> Arcs {
    let isolated: Vec<NodeId> = arcs.isolated().collect();
    let mut alone = vec![false; arcs.nodes()];
    isolated.iter().for_each(|node| alone[node.index()] = true);
    let others: Vec<u32> = (0..arcs.nodes() as u32)
        .filter(|&node| !alone[node as usize])
        .collect();
    if isolated.is_empty() || others.is_empty() {
        return arcs.clone();
    }
    let mut joined = vec![Vec::new(); arcs.nodes()];
    for node in isolated {
        let other = others[random.random_range(0..others.len())];
        joined[node.index()].push(other);
        joined[other as usize].push(node.0);
    }
    with_arcs(arcs, &joined)
}

/// The arcs with more sources for some nodes, of weight 1.
fn with_arcs(arcs: &Arcs, more: &[Vec<u32>]) -> Arcs {
    let mut offsets = vec![0u64];
    let mut sources = Vec::with_capacity(arcs.len() + more.len());
    let mut weights = arcs
        .weights()
        .map(|weights| Vec::with_capacity(weights.len()));
    for (node, more) in more.iter().enumerate() {
        let row = arcs.row(node);
        sources.extend_from_slice(&arcs.sources()[row.clone()]);
        sources.extend(more);
        if let (Some(into), Some(from)) = (&mut weights, arcs.weights()) {
            into.extend_from_slice(&from[row]);
            into.extend(more.iter().map(|_| 1.0));
        }
        offsets.push(sources.len() as u64);
    }
    let weights = weights.map(Into::into);
    Arcs::from_rows(offsets.into(), sources.into(), weights).unwrap_or_else(|error| {
        unreachable!("rows of a sound graph, with nodes of that graph: {error}")
    })
}

impl Profile {
    /// The prototype of some nodes.
    pub fn prototype(
        self,
        arcs: &Arcs,
        features: &Features,
        nodes: &[NodeId],
        smoothing: usize,
    ) -> Vec<f64> {
        match self {
            Profile::Smoothed => Propagation::new(arcs).prototype(features, nodes, smoothing),
            // Without arcs S is the identity and every degree is 1.
            Profile::FeatureMean => {
                Propagation::new(&Arcs::none(arcs.nodes())).prototype(features, nodes, 0)
            }
        }
    }
}

/// Recognises tasks by their prototypes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recogniser {
    /// Seeds the neighbours of isolated nodes.
    pub seed: u64,
    /// What tasks are recognised by.
    pub profile: Profile,
    /// Steps of smoothing.
    pub smoothing: usize,
    /// Give isolated nodes of a task a random neighbour.
    pub patch: bool,
}

impl Recogniser {
    /// The prototype of a task.
    pub fn prototype(&self, task: &TrainingTask) -> Vec<f64> {
        self.prototype_drawn(task, task.number())
    }

    /// The same with neighbours drawn for another number than the task's, so that it does not matter what was learned before.
    pub(crate) fn prototype_drawn(&self, task: &TrainingTask, number: u64) -> Vec<f64> {
        let graph = task.graph();
        let mut draws = random(self.seed, Purpose::Patching, number);
        let patched = self.patch.then(|| patched(graph.arcs(), &mut draws));
        let arcs = patched.as_ref().unwrap_or(graph.arcs());
        let nodes = &task.train().nodes;
        self.profile
            .prototype(arcs, graph.features(), nodes, self.smoothing)
    }

    /// The prototypes of tasks, as one phase of the work.
    pub(crate) fn prototypes(
        &self,
        tasks: &[TrainingTask],
        progress: &dyn Progress,
    ) -> Vec<Vec<f64>> {
        progress.begin(PROFILING, tasks.len() as u64);
        let one = |task: &TrainingTask| {
            let prototype = self.prototype(task);
            progress.advance(1);
            prototype
        };
        let all = tasks.iter().map(one).collect();
        progress.end();
        all
    }

    /// The prototype of all nodes of a query together.
    pub fn query_prototype(&self, query: &Query) -> Vec<f64> {
        let patched = self.patched_query(query);
        let (graph, nodes) = (query.graph(), &query.nodes);
        let arcs = patched.as_ref().unwrap_or(graph.arcs());
        self.profile
            .prototype(arcs, graph.features(), nodes, self.smoothing)
    }

    fn patched_query(&self, query: &Query) -> Option<Arcs> {
        let arcs = query.graph().arcs();
        query.patch.map(|number| {
            // Apart from the draws for tasks, which count up from 0.
            patched(arcs, &mut random(self.seed, Purpose::Patching, !number))
        })
    }

    /// Which task each group of a query belongs to.
    pub fn routes(&self, query: &Query, prototypes: &[&[f64]]) -> Vec<Route> {
        let patched = self.patched_query(query);
        let arcs = patched.as_ref().unwrap_or(query.graph().arcs());
        routes(query, arcs, prototypes, self.profile, self.smoothing)
    }
}

/// The task of one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Route {
    /// By its place among the prototypes.
    pub task: u32,
    /// (distance^2 to the second - distance^2 to the nearest) / distance^2 between the two prototypes.
    pub margin: f64,
    /// Minus the distance to the prototype; only for one group of all nodes, see [`Answer::familiarity`](crate::Answer::familiarity).
    pub familiarity: Option<f64>,
}

/// The nearest prototype for every group of a query. `arcs` are the query's, patched or not.
///
/// ||z - p||^2 = ||z||^2 - 2 z.p + ||p||^2, and the first term is the same for all prototypes: so only the inner products
/// with the prototypes are smoothed, one column a task, however many feature columns there are.
pub fn routes(
    query: &Query,
    arcs: &Arcs,
    prototypes: &[&[f64]],
    profile: Profile,
    smoothing: usize,
) -> Vec<Route> {
    let lengths: Vec<f64> = prototypes.iter().map(|p| inner(p, p)).collect();
    match query.groups {
        Groups::All if query.nodes.is_empty() => Vec::new(),
        Groups::All => {
            let features = query.graph().features();
            let mean = profile.prototype(arcs, features, &query.nodes, smoothing);
            let products: Vec<f64> = prototypes.iter().map(|p| inner(&mean, p)).collect();
            let route = nearest(&products, &lengths, prototypes);
            let distance = apart(&mean, prototypes[route.task as usize]).sqrt();
            vec![Route {
                familiarity: Some(-distance),
                ..route
            }]
        }
        _ => group_products(query, arcs, prototypes, profile, smoothing)
            .chunks(prototypes.len())
            .map(|products| nearest(products, &lengths, prototypes))
            .collect(),
    }
}

fn nearest(products: &[f64], lengths: &[f64], prototypes: &[&[f64]]) -> Route {
    let distance = |task: usize| lengths[task] - 2.0 * products[task];
    let (mut best, mut second) = (0, None);
    for task in 1..products.len() {
        if distance(task) < distance(best) {
            (best, second) = (task, Some(best));
        } else if second.is_none_or(|second| distance(task) < distance(second)) {
            second = Some(task);
        }
    }
    let margin = second.map_or(f64::INFINITY, |second| {
        let apart = apart(prototypes[best], prototypes[second]);
        match apart > 0.0 {
            true => (distance(second) - distance(best)) / apart,
            false => 0.0,
        }
    });
    Route {
        task: best as u32,
        margin,
        familiarity: None,
    }
}

/// The square of the distance.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The inner product of every group's mean with every prototype.
fn group_products(
    query: &Query,
    arcs: &Arcs,
    prototypes: &[&[f64]],
    profile: Profile,
    smoothing: usize,
) -> Vec<f64> {
    let tasks = prototypes.len();
    let (numbers, groups) = query.group_numbers();
    let mut sums = vec![0f64; groups * tasks];
    let mut sizes = vec![0f64; groups];
    numbers
        .iter()
        .for_each(|&group| sizes[group as usize] += 1.0);
    let propagation = (profile == Profile::Smoothed).then(|| Propagation::new(arcs));
    // Products, two strips to work in and the result, in a quarter of the memory.
    let each = 4 * size_of::<f64>() as u64 * query.graph().nodes().max(1) as u64;
    let step = (memory_limit() / 4 / each).clamp(1, tasks.max(1) as u64) as usize;
    for start in (0..tasks).step_by(step) {
        let some = start..tasks.min(start + step);
        let width = some.len();
        let mut products = node_products(query.graph(), &prototypes[some.clone()]);
        if let Some(operator) = &propagation {
            products = operator.smooth_strip(Side::Forward, &products, (width, tasks), smoothing);
            for (row, degree) in products.chunks_mut(width).zip(operator.degrees()) {
                row.iter_mut().for_each(|value| *value /= degree.sqrt());
            }
        }
        for (node, &group) in query.nodes.iter().zip(&numbers) {
            let from = &products[node.index() * width..(node.index() + 1) * width];
            let to = &mut sums[group as usize * tasks..(group as usize + 1) * tasks][some.clone()];
            to.iter_mut()
                .zip(from)
                .for_each(|(sum, value)| *sum += value);
        }
    }
    for (row, size) in sums.chunks_mut(tasks).zip(sizes) {
        row.iter_mut().for_each(|sum| *sum /= size);
    }
    sums
}

/// x_i . p_t for every node and task.
fn node_products(graph: &Graph, prototypes: &[&[f64]]) -> Vec<f64> {
    let tasks = prototypes.len();
    // One row a column, so that a sparse entry meets all tasks at once.
    let columns = graph.features().columns();
    let by_column: Vec<f64> = (0..columns)
        .flat_map(|column| prototypes.iter().map(move |p| p[column]))
        .collect();
    let mut products = vec![0f64; graph.nodes() * tasks];
    graph.features().visit(|rows| {
        let some = &mut products[rows.start * tasks..rows.end * tasks];
        let each = some.par_chunks_mut(tasks).zip(rows).with_min_len(64);
        each.for_each(|(out, node)| {
            let mut add = |column: usize, value: f32| {
                for (out, p) in out.iter_mut().zip(&by_column[column * tasks..]) {
                    *out += f64::from(value) * p;
                }
            };
            match graph.features() {
                Features::Dense(dense) => dense
                    .row(node)
                    .iter()
                    .enumerate()
                    .for_each(|(column, &value)| add(column, value)),
                Features::Sparse(sparse) => {
                    let (columns, values) = sparse.row(node);
                    columns
                        .iter()
                        .zip(values)
                        .for_each(|(&column, &value)| add(column as usize, value));
                }
            }
        });
    });
    products
}
