//! Answering a query: the likeliest task of a group, then the likeliest of its classes for each node. A class belongs to one task, so H(y|x) is
//! H(t|group) H(y|x,t) of its own.

use rayon::prelude::*;

use super::embed::{Kept, Space, View};
use super::familiar::{Familiar, Ruler};
use super::head::{Blocks, outputs};
use super::router::{Router, Scores};
use super::{Ring, Treering};
use crate::network::kernels::softmax;
use crate::{Answer, LearnError, Query, Stage};

/// What head scores are multiplied with before they become probabilities; fitted on validation nodes of four graphs.
const SHARPNESS: f64 = 3.0;

/// What the router says about a group.
struct Route {
    task: usize,
    margin: f64,
    familiarity: Option<f64>,
    /// Of every task seen; empty where the router gives none.
    posterior: Vec<f32>,
}

/// A query that was looked at.
struct Routed<'a> {
    rings: &'a [Ring],
    /// The number of every node's group.
    numbers: Vec<u32>,
    /// What the router says about every group; nothing where the query knows the tasks.
    routes: Vec<Route>,
    /// The task of every node.
    tasks: Vec<usize>,
}

impl Routed<'_> {
    fn route(&self, node: usize) -> Option<&Route> {
        self.routes.get(self.numbers[node] as usize)
    }

    /// The probability that a node is of a task; the recognised or known one has all where nobody said more.
    fn share(&self, node: usize, task: usize) -> f64 {
        let posterior = self.route(node).and_then(|route| route.posterior.get(task));
        let alone = || f64::from(u8::from(self.tasks[node] == task));
        posterior.map_or_else(alone, |&share| f64::from(share))
    }
}

impl Treering {
    pub(super) fn answers(&self, query: &Query) -> Result<Vec<Answer>, LearnError> {
        match self.view(query)? {
            None => Ok(Vec::new()),
            Some(view) => self.answers_in(query, &view),
        }
    }

    /// As [`answers`](Treering::answers), at several stages.
    pub(super) fn answers_at(
        &self,
        query: &Query,
        stages: &[Stage],
    ) -> Result<Vec<Vec<Answer>>, LearnError> {
        let mut query = query.clone();
        let mut view = None;
        let mut at = |stage: &Stage| {
            query.go_to(*stage);
            self.check(&query)?;
            if view.is_none() {
                view = self.view(&query)?;
            }
            match &view {
                None => Ok(Vec::new()),
                Some(view) => self.answers_in(&query, view),
            }
        };
        stages.iter().map(&mut at).collect()
    }

    fn answers_in(&self, query: &Query, view: &View) -> Result<Vec<Answer>, LearnError> {
        let routed = self.routed(query, view)?;
        let blocks = Blocks::new(query.graph(), view, &query.nodes);
        let mut of_task = vec![Vec::new(); routed.rings.len()];
        let tasks = routed.tasks.iter().enumerate();
        tasks.for_each(|(node, &task)| of_task[task].push(node));
        let mut classes = vec![Vec::new(); query.nodes.len()];
        each_head(
            &blocks,
            routed.rings,
            |task| !of_task[task].is_empty(),
            |task, said| {
                let own = of_task[task].iter();
                own.for_each(|&node| classes[node] = said(node));
            },
        );
        let answer = |(node, probabilities): (usize, Vec<f32>)| {
            let route = routed.route(node);
            Answer {
                task: routed.tasks[node] as u32,
                margin: route.map_or(f64::INFINITY, |route| route.margin),
                familiarity: route.and_then(|route| route.familiarity),
                posterior: route.map_or_else(Vec::new, |route| route.posterior.clone()),
                probabilities,
            }
        };
        Ok(classes.into_iter().enumerate().map(answer).collect())
    }

    /// The probability of every class of every task, by node.
    pub(super) fn all_shares(&self, query: &Query) -> Result<Vec<f64>, LearnError> {
        let Some(view) = self.view(query)? else {
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
    fn view(&self, query: &Query) -> Result<Option<View>, LearnError> {
        let (space, _) = self.check(query)?;
        let asked = !query.nodes.is_empty();
        let hops = self.parameters.hops;
        Ok(asked.then(|| space.view(query.graph(), &query.nodes, hops, Kept::LastHop)))
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
        let routes = match (&query.tasks, self.parameters.router) {
            (Some(_), _) => Vec::new(),
            (None, Router::Prototype) => self.nearest(query, rings),
            (None, _) => {
                let evidence = match seen {
                    // There is nothing to decide, and a router takes the better part of a second.
                    1 => vec![0.0; groups],
                    _ => {
                        let scores = self.scores(space, seen)?;
                        evidence(&scores, view, &numbers, (groups, seen))
                    }
                };
                let mut routes = posteriors(evidence, seen);
                judge(&mut routes, view, &numbers, rings);
                routes
            }
        };
        let tasks = match &query.tasks {
            Some(tasks) => tasks.iter().map(|&task| task as usize).collect(),
            None => numbers.iter().map(|&g| routes[g as usize].task).collect(),
        };
        Ok(Routed {
            rings,
            numbers,
            routes,
            tasks,
        })
    }

    /// By the paper's router.
    fn nearest(&self, query: &Query, rings: &[Ring]) -> Vec<Route> {
        let prototypes: Vec<&[f64]> = rings.iter().map(|ring| &ring.prototype[..]).collect();
        let routes = self.recogniser().routes(query, &prototypes).into_iter();
        let route = |route: crate::tpp::Route| Route {
            task: route.task as usize,
            margin: route.margin,
            familiarity: route.familiarity,
            posterior: Vec::new(),
        };
        routes.map(route).collect()
    }
}

/// Of every group and task, the sum over its nodes of the log of the sum over the task's classes of exp(score). Nodes of a group count as if they were
/// independent: dividing their sum by something did not help on validation nodes.
fn evidence(
    scores: &Scores,
    view: &View,
    numbers: &[u32],
    (groups, seen): (usize, usize),
) -> Vec<f64> {
    let width = view.rows.len() / numbers.len();
    let mut sums = vec![0f64; groups * seen];
    let blocks = view.rows.chunks(BLOCK * width).zip(numbers.chunks(BLOCK));
    for (rows, numbers) in blocks {
        let all = scores.of(rows, numbers.len());
        let of_nodes = all.par_chunks(scores.classes()).with_min_len(16);
        let of_nodes: Vec<Vec<f64>> = of_nodes.map(|row| by_task(scores, row, seen)).collect();
        for (row, &group) in of_nodes.iter().zip(numbers) {
            let sum = &mut sums[group as usize * seen..(group as usize + 1) * seen];
            sum.iter_mut()
                .zip(row)
                .for_each(|(sum, value)| *sum += value);
        }
    }
    sums
}

/// Nodes whose scores for all classes are held at a time.
const BLOCK: usize = 1024;

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

/// The probability of every task, by group.
fn posteriors(mut evidence: Vec<f64>, seen: usize) -> Vec<Route> {
    let route = |row: &mut [f64]| {
        softmax(row);
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
            posterior: row.iter().map(|&p| p as f32).collect(),
        }
    };
    evidence.chunks_mut(seen).map(route).collect()
}

/// Says how usual each group is for the task that it was taken for.
fn judge(routes: &mut [Route], view: &View, numbers: &[u32], rings: &[Ring]) {
    let width = view.rows.len() / numbers.len();
    let mut sums = vec![(0f64, 0usize); routes.len()];
    for (task, ring) in rings.iter().enumerate() {
        let own = numbers.iter().enumerate();
        let own: Vec<usize> = own
            .filter(|(_, group)| routes[**group as usize].task == task)
            .map(|(at, _)| at)
            .collect();
        if own.is_empty() {
            continue;
        }
        let rows: Vec<f32> = own
            .iter()
            .flat_map(|&at| &view.rows[at * width..(at + 1) * width])
            .copied()
            .collect();
        let distances = Ruler::new(&ring.profile).distances(&rows, own.len());
        for (at, distance) in own.into_iter().zip(distances) {
            let sum = &mut sums[numbers[at] as usize];
            sum.0 += (distance - ring.usual.mean) / ring.usual.deviation;
            sum.1 += 1;
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
const TOGETHER: usize = 64;

/// Asks heads, in the order of learning.
///
/// # Arguments
/// * `asked`: whether anybody wants to know what a task's head says.
/// * `take`: is given a task, and what tells the probabilities of its classes for a node.
fn each_head(
    blocks: &Blocks<'_>,
    rings: &[Ring],
    asked: impl Fn(usize) -> bool,
    mut take: impl FnMut(usize, &dyn Fn(usize) -> Vec<f32>),
) {
    let mut next = (0..rings.len()).filter(|&task| asked(task)).peekable();
    while next.peek().is_some() {
        let mut starts = vec![None; rings.len()];
        let mut width = 0;
        while let Some(task) = next.next_if(|_| width < TOGETHER) {
            starts[task] = Some(width);
            width += outputs(rings[task].classes());
        }
        let scores = scores(blocks, rings, &starts, width);
        for (task, start) in starts.iter().enumerate() {
            let Some(start) = start else { continue };
            let classes = rings[task].classes();
            take(task, &|node| {
                let own = &scores[node * width + start..][..outputs(classes)];
                probabilities(own, classes)
            });
        }
    }
}

/// What the heads of some rings say about all nodes, by node and output.
///
/// # Arguments
/// * `starts`: of each of these rings the place of its first output.
fn scores(blocks: &Blocks<'_>, rings: &[Ring], starts: &[Option<usize>], width: usize) -> Vec<f64> {
    if width == 0 {
        return Vec::new();
    }
    let each = blocks.each();
    let mut weights = vec![0f64; each * width];
    let mut bias = Vec::with_capacity(width);
    let asked = rings
        .iter()
        .zip(starts)
        .filter(|(_, start)| start.is_some());
    for head in asked.map(|(ring, _)| &ring.head) {
        for (own, &shift) in head.weights.chunks(each).zip(&head.bias) {
            for (place, &weight) in own.iter().enumerate() {
                weights[place * width + bias.len()] = f64::from(weight);
            }
            bias.push(f64::from(shift));
        }
    }
    blocks.times(&weights, &bias)
}

/// From what a head says to the probabilities of its classes.
fn probabilities(scores: &[f64], classes: usize) -> Vec<f32> {
    let mut row = match classes {
        1 => vec![0.0],
        2 => vec![scores[0], -scores[0]],
        _ => scores.to_vec(),
    };
    row.iter_mut().for_each(|score| *score *= SHARPNESS);
    softmax(&mut row);
    row.iter().map(|&p| p as f32).collect()
}
