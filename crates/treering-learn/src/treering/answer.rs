//! Answering a query: the likeliest task of a group, then the likeliest of its classes for each node. A class belongs to one task, so H(y|x) is
//! H(t|group) H(y|x,t) of its own.

use rayon::prelude::*;
use treering_data::{Large, Progress, Silent, memory_limit};

use super::embed::{Kept, Space, View};
use super::familiar::{Familiar, Ruler};
use super::head::{Blocks, outputs};
use super::router::{Router, Scores};
use super::{Ring, Treering};
use crate::learner::Counted;
use crate::network::dense;
use crate::network::kernels::softmax;
use crate::{Answer, Groups, LearnError, Query, Stage};

/// What head scores are multiplied with before they become probabilities; fitted on validation nodes of four graphs.
const SHARPNESS: f64 = 3.0;

/// Answers that are given away at a time.
const PIECE: usize = 1 << 14;

/// What the router says about a group.
pub(super) struct Route {
    pub(super) task: usize,
    margin: f64,
    familiarity: Option<f64>,
}

/// A query that was looked at.
pub(super) struct Routed<'a> {
    pub(super) rings: &'a [Ring],
    /// The number of every node's group.
    pub(super) numbers: Vec<u32>,
    /// What the router says about every group; nothing where the query knows the tasks.
    pub(super) routes: Vec<Route>,
    /// By group, the probability of every task seen; empty where the router gives none.
    pub(super) posterior: Large<f32>,
    /// The task of every node.
    pub(super) tasks: Vec<u32>,
}

impl Routed<'_> {
    fn route(&self, node: usize) -> Option<&Route> {
        self.routes.get(self.numbers[node] as usize)
    }

    /// The probability of every task, for a node's group.
    fn posterior(&self, node: usize) -> &[f32] {
        let (seen, group) = (self.rings.len(), self.numbers[node] as usize);
        let all = group * seen..(group + 1) * seen;
        self.posterior.get(all).unwrap_or_default()
    }

    /// The probability that a node is of a task; the recognised or known one has all where nobody said more.
    fn share(&self, node: usize, task: usize) -> f64 {
        let alone = || f64::from(u8::from(self.tasks[node] as usize == task));
        let share = self.posterior(node).get(task);
        share.map_or_else(alone, |&share| f64::from(share))
    }

    pub(super) fn answer(&self, node: usize, probabilities: Vec<f32>) -> Answer {
        let route = self.route(node);
        Answer {
            task: self.tasks[node],
            margin: route.map_or(f64::INFINITY, |route| route.margin),
            familiarity: route.and_then(|route| route.familiarity),
            posterior: self.posterior(node).to_vec(),
            probabilities,
        }
    }
}

impl Treering {
    pub(super) fn answers(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        let mut all = Vec::with_capacity(query.nodes.len());
        self.each_answer(query, &Silent, &mut |some| {
            all.extend(some);
            true
        })?;
        Ok(all)
    }

    /// Answers in the order of the nodes, some at a time.
    pub(super) fn each_answer(
        &self,
        query: &Query,
        progress: &dyn Progress,
        take: &mut dyn FnMut(Vec<Answer>) -> bool,
    ) -> Result<(), LearnError> {
        match self.view(query, progress)? {
            None => Ok(()),
            Some(view) => self.answers_in(query, &view, progress, take),
        }
    }

    /// As [`answers`](Treering::answers), at several stages.
    pub(super) fn answers_at(
        &self,
        query: &Query,
        stages: &[Stage],
        take: &mut dyn FnMut(usize, Vec<Answer>),
    ) -> Result<(), LearnError> {
        let mut query = query.clone();
        let mut view = None;
        for (at, stage) in stages.iter().enumerate() {
            query.go_to(*stage);
            self.check(&query)?;
            if view.is_none() {
                view = self.view(&query, &Silent)?;
            }
            let mut all = Vec::with_capacity(query.nodes.len());
            if let Some(view) = &view {
                self.answers_in(&query, view, &Silent, &mut |some| {
                    all.extend(some);
                    true
                })?;
            }
            take(at, all);
        }
        Ok(())
    }

    fn answers_in(
        &self,
        query: &Query,
        view: &View,
        progress: &dyn Progress,
        take: &mut dyn FnMut(Vec<Answer>) -> bool,
    ) -> Result<(), LearnError> {
        let routed = self.routed(query, view)?;
        let blocks = Blocks::new(query.graph(), view, &query.nodes);
        let mut of_task = vec![Vec::new(); routed.rings.len()];
        let tasks = routed.tasks.iter().enumerate();
        tasks.for_each(|(node, &task)| of_task[task as usize].push(node as u32));
        let mut classes = vec![Vec::new(); query.nodes.len()];
        each_head(
            &blocks,
            routed.rings,
            progress,
            |task| !of_task[task].is_empty(),
            |task, said| {
                let own = of_task[task].iter().map(|&node| node as usize);
                own.for_each(|node| classes[node] = said(node));
            },
        );
        drop(of_task);
        let mut node = 0;
        for some in classes.chunks_mut(PIECE) {
            let answers = some.iter_mut().map(|probabilities| {
                node += 1;
                routed.answer(node - 1, std::mem::take(probabilities))
            });
            if !take(answers.collect()) {
                break;
            }
        }
        Ok(())
    }

    /// The probability of every class of every task, by node.
    pub(super) fn all_shares(&self, query: &Query) -> Result<Vec<f64>, LearnError> {
        let Some(view) = self.view(query, &Silent)? else {
            return Ok(Vec::new());
        };
        let routed = self.routed(query, &view)?;
        let blocks = Blocks::new(query.graph(), &view, &query.nodes);
        let classes: usize = routed.rings.iter().map(Ring::classes).sum();
        let mut shares = vec![0.0; query.nodes.len() * classes];
        let mut start = 0;
        each_head(
            &blocks,
            routed.rings,
            &Silent,
            |_| true,
            |task, said| {
                for (node, row) in shares.chunks_mut(classes).enumerate() {
                    let own = said(node);
                    let of_task = routed.share(node, task);
                    let room = row[start..].iter_mut().zip(own);
                    room.for_each(|(share, of_class)| *share = of_task * f64::from(of_class));
                }
                start += routed.rings[task].classes();
            },
        );
        Ok(shares)
    }

    /// The nodes of a query as all stages see them; nothing where it has none.
    fn view(&self, query: &Query, progress: &dyn Progress) -> Result<Option<View>, LearnError> {
        let (space, _) = self.check(query)?;
        if query.nodes.is_empty() {
            return Ok(None);
        }
        let hops = self.parameters.hops;
        let counted = Counted::new(progress);
        progress.begin("smoothing features", Counted::ALL);
        let view = space.view(query.graph(), &query.nodes, hops, Kept::LastHop, &|share| {
            counted.add(share);
        });
        progress.end();
        view.map(Some)
    }

    /// Refuses a query that does not fit; how many tasks had been seen by its stage.
    fn check(&self, query: &Query) -> Result<(&Space, usize), LearnError> {
        let space = self.space.get().ok_or(LearnError::Nothing)?;
        let seen = query.stage(self.rings.len())?;
        query.check(space.features(), seen)?;
        Ok((space, seen))
    }

    fn routed(&self, query: &Query, view: &View) -> Result<Routed<'_>, LearnError> {
        let (space, seen) = self.check(query)?;
        let rings = &self.rings[..seen];
        let (numbers, groups) = query.group_numbers();
        let none = || Large::from(Vec::new());
        let (mut routes, posterior) = match (&query.tasks, self.parameters.router) {
            (Some(_), _) => (Vec::new(), none()),
            (None, Router::Prototype) => (self.nearest(query, rings), none()),
            (None, _) => {
                let single = query.groups == Groups::Single;
                self.decided(space, view, (&numbers, groups), seen, single)?
            }
        };
        let tasks = match &query.tasks {
            Some(tasks) => tasks.clone(),
            None => numbers
                .iter()
                .map(|&group| routes[group as usize].task as u32)
                .collect(),
        };
        if !posterior.is_empty() {
            judge(&mut routes, view, &numbers, rings);
        }
        Ok(Routed {
            rings,
            numbers,
            routes,
            posterior,
            tasks,
        })
    }

    /// By scores: the task of every group, and the probability of each.
    pub(super) fn decided(
        &self,
        space: &Space,
        view: &View,
        (numbers, groups): (&[u32], usize),
        seen: usize,
        single: bool,
    ) -> Result<(Vec<Route>, Large<f32>), LearnError> {
        let mut posterior = Large::zeros(groups * seen)?;
        // With one task there is nothing to decide, and a router takes the better part of a second.
        let scores = match seen {
            1 => None,
            _ => Some(self.scores(space, seen)?),
        };
        let routes = decide(scores.as_deref(), view, numbers, single, &mut posterior);
        Ok((routes, posterior))
    }

    /// By the paper's router.
    fn nearest(&self, query: &Query, rings: &[Ring]) -> Vec<Route> {
        let prototypes: Vec<&[f64]> = rings.iter().map(|ring| &ring.prototype[..]).collect();
        let routes = self.recogniser().routes(query, &prototypes).into_iter();
        let route = |route: crate::tpp::Route| Route {
            task: route.task as usize,
            margin: route.margin,
            familiarity: route.familiarity,
        };
        routes.map(route).collect()
    }
}

/// The task of every group, and into `posterior` the probability of each. Without scores there is one task.
///
/// # Arguments
/// * `single`: every node is a group of its own, so that a group is decided as soon as its node was looked at.
fn decide(
    scores: Option<&Scores>,
    view: &View,
    numbers: &[u32],
    single: bool,
    posterior: &mut Large<f32>,
) -> Vec<Route> {
    let width = view.rows.len() / numbers.len();
    let seen = posterior.len() / numbers.iter().max().map_or(1, |&last| last as usize + 1);
    let mut routes = Vec::with_capacity(posterior.len() / seen);
    let mut sums = match (single, scores) {
        (true, Some(_)) => Vec::new(),
        _ => vec![0f64; posterior.len()],
    };
    let blocks = numbers.chunks(BLOCK).enumerate();
    for (at, numbers) in blocks.filter(|_| scores.is_some()) {
        let rows = at * BLOCK * width..(at * BLOCK + numbers.len()) * width;
        let mut of_nodes = scores.map_or_else(Vec::new, |scores| {
            evidence(scores, &view.rows[rows.clone()], numbers.len(), seen)
        });
        view.rows.release(rows);
        if single {
            let from = at * BLOCK * seen;
            let to = &mut posterior[from..from + of_nodes.len()];
            routes.extend(posteriors(&mut of_nodes, to, seen));
            posterior.release(0..from);
            continue;
        }
        for (row, &group) in of_nodes.chunks(seen).zip(numbers) {
            let sum = &mut sums[group as usize * seen..(group as usize + 1) * seen];
            sum.iter_mut()
                .zip(row)
                .for_each(|(sum, value)| *sum += value);
        }
    }
    if routes.is_empty() {
        routes.extend(posteriors(&mut sums, posterior, seen));
    }
    posterior.release(0..posterior.len());
    routes
}

/// Of every node and task, the log of the sum over the task's classes of exp(score). Nodes of a group count as if they were independent, so theirs are added up:
/// dividing their sum by something did not help on validation nodes.
fn evidence(scores: &Scores, rows: &[f32], nodes: usize, seen: usize) -> Vec<f64> {
    let all = scores.of(rows, nodes);
    let of_nodes = all.par_chunks(scores.classes()).with_min_len(16);
    let of_nodes: Vec<Vec<f64>> = of_nodes.map(|row| by_task(scores, row, seen)).collect();
    of_nodes.concat()
}

/// Nodes whose scores for all classes are held at a time.
pub(super) const BLOCK: usize = 1024;

/// One node's evidence for every task.
fn by_task(scores: &Scores, row: &[f32], seen: usize) -> Vec<f64> {
    let mut largest = vec![f64::NEG_INFINITY; seen];
    let classes = || {
        let scores_of = row.iter().map(|&score| scores.sharpness * f64::from(score));
        scores_of.zip(scores.tasks.iter().map(|&task| task as usize))
    };
    classes().for_each(|(score, task)| largest[task] = largest[task].max(score));
    let mut sums = vec![0f64; seen];
    classes().for_each(|(score, task)| sums[task] += (score - largest[task]).exp());
    let parts = largest.iter().zip(sums);
    parts.map(|(largest, sum)| largest + sum.ln()).collect()
}

/// The probability of every task, by group, and the likeliest.
fn posteriors<'a>(
    evidence: &'a mut [f64],
    posterior: &'a mut [f32],
    seen: usize,
) -> impl Iterator<Item = Route> + 'a {
    let rows = evidence.chunks_mut(seen).zip(posterior.chunks_mut(seen));
    rows.map(move |(row, to)| {
        softmax(row);
        to.iter_mut().zip(&*row).for_each(|(to, &p)| *to = p as f32);
        let task = first_largest(row);
        let others = row.iter().enumerate().filter(|(other, _)| *other != task);
        let second = others.map(|(_, &p)| p).fold(0.0, f64::max);
        Route {
            task,
            margin: if seen == 1 {
                f64::INFINITY
            } else {
                row[task] - second
            },
            familiarity: None,
        }
    })
}

/// Says how usual each group is for the task that it was taken for.
pub(super) fn judge(routes: &mut [Route], view: &View, numbers: &[u32], rings: &[Ring]) {
    let width = view.rows.len() / numbers.len();
    let mut sums = vec![(0f64, 0usize); routes.len()];
    let mut of_task = vec![Vec::new(); rings.len()];
    for (at, &group) in (0u32..).zip(numbers) {
        of_task[routes[group as usize].task].push(at);
    }
    for (own, ring) in of_task.into_iter().zip(rings) {
        if own.is_empty() {
            continue;
        }
        let ruler = Ruler::new(&ring.profile);
        for some in dense::row_blocks(own.len()) {
            let own = &own[some];
            let own = own.iter().map(|&at| at as usize);
            // Whole rows at once, instead of number by number.
            let mut rows = Vec::with_capacity(own.len() * width);
            for at in own.clone() {
                rows.extend_from_slice(&view.rows[at * width..(at + 1) * width]);
            }
            for (at, distance) in own.clone().zip(ruler.distances_by_row(&rows, own.len())) {
                let sum = &mut sums[numbers[at] as usize];
                sum.0 += (distance - ring.usual.mean) / ring.usual.deviation;
                sum.1 += 1;
            }
            view.rows.release(0..view.rows.len());
        }
    }
    let known = Familiar::new(rings.iter().map(|ring| &ring.usual));
    let judged = routes.par_iter_mut().zip(sums).with_min_len(64);
    judged.for_each(|(route, (sum, size))| {
        route.familiarity = known.share(size, sum / size as f64);
    });
}

fn first_largest(values: &[f64]) -> usize {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    values
        .iter()
        .position(|&value| value == largest)
        .unwrap_or(0)
}

/// Outputs that are worked out at a time, for all nodes: memory is so many numbers a node.
pub(super) const TOGETHER: usize = 64;

/// Outputs of all nodes that memory allows to work out at a time: four arrays of them are held at once, in a quarter of it.
fn outputs_at_once(nodes: usize) -> usize {
    let each = 4 * size_of::<f64>() as u64 * nodes.max(1) as u64;
    (memory_limit() / 4 / each).max(1) as usize
}

/// Asks heads, in the order of learning.
///
/// # Arguments
/// * `asked`: whether anybody wants to know what a task's head says.
/// * `take`: is given a task, and what tells the probabilities of its classes for a node.
fn each_head(
    blocks: &Blocks<'_>,
    rings: &[Ring],
    progress: &dyn Progress,
    asked: impl Fn(usize) -> bool,
    mut take: impl FnMut(usize, &dyn Fn(usize) -> Vec<f32>),
) {
    let all: Vec<usize> = (0..rings.len()).collect();
    let width_of = |task: usize| outputs(rings[task].classes());
    let most = outputs_at_once(blocks.nodes());
    progress.begin("asking heads", all.len() as u64);
    for group in greedily(&all, TOGETHER, width_of) {
        // Whoever is asked, so that what a head says does not depend on what is said about other nodes.
        let whole: usize = group.iter().map(|&task| width_of(task)).sum();
        let wanted: Vec<usize> = group.iter().copied().filter(|&task| asked(task)).collect();
        progress.advance((group.len() - wanted.len()) as u64);
        for some in greedily(&wanted, most, width_of) {
            let width = some.iter().map(|&task| width_of(task)).sum();
            let scores = scores(blocks, rings, some, (width, whole));
            let mut start = 0;
            for &task in some {
                let classes = rings[task].classes();
                take(task, &|node| {
                    let own = &scores[node * width + start..][..outputs(classes)];
                    probabilities(own, classes)
                });
                start += outputs(classes);
            }
            progress.advance(some.len() as u64);
        }
    }
    progress.end();
}

/// Tasks in groups: one is added as long as the group has fewer outputs than `most`.
pub(super) fn greedily(
    tasks: &[usize],
    most: usize,
    outputs: impl Fn(usize) -> usize,
) -> Vec<&[usize]> {
    let mut groups = Vec::new();
    let (mut start, mut width) = (0, 0);
    for (at, &task) in tasks.iter().enumerate() {
        if width >= most {
            groups.push(&tasks[start..at]);
            (start, width) = (at, 0);
        }
        width += outputs(task);
    }
    if start < tasks.len() {
        groups.push(&tasks[start..]);
    }
    groups
}

/// What the heads of some tasks say about all nodes, by node and output.
///
/// # Arguments
/// * `width`: their outputs, and those that are worked out as one.
fn scores(
    blocks: &Blocks<'_>,
    rings: &[Ring],
    tasks: &[usize],
    (width, whole): (usize, usize),
) -> Vec<f64> {
    if width == 0 {
        return Vec::new();
    }
    let (weights, bias) = head_weights(rings, tasks, width, blocks.each());
    blocks.some_times(&weights, &bias, whole)
}

/// The heads of some tasks as one: weights by hop, feature column and output, and the outputs' biases.
pub(super) fn head_weights(
    rings: &[Ring],
    tasks: &[usize],
    width: usize,
    each: usize,
) -> (Vec<f64>, Vec<f64>) {
    let mut weights = vec![0f64; each * width];
    let mut bias = Vec::with_capacity(width);
    for head in tasks.iter().map(|&task| &rings[task].head) {
        for (own, &shift) in head.weights.chunks(each).zip(&head.bias) {
            for (place, &weight) in own.iter().enumerate() {
                weights[place * width + bias.len()] = f64::from(weight);
            }
            bias.push(f64::from(shift));
        }
    }
    (weights, bias)
}

/// From what a head says to the probabilities of its classes.
pub(super) fn probabilities(scores: &[f64], classes: usize) -> Vec<f32> {
    let mut row = match classes {
        1 => vec![0.0],
        2 => vec![scores[0], -scores[0]],
        _ => scores.to_vec(),
    };
    row.iter_mut().for_each(|score| *score *= SHARPNESS);
    softmax(&mut row);
    row.iter().map(|&p| p as f32).collect()
}
