//! Answers about all nodes of a graph in parts that need not share a memory, or a machine: slices of columns and of heads, which go over all arcs, then blocks
//! of nodes, which go over none. Put together they are the answers that [`predict`](crate::Learner::predict) gives, bit by bit, where every node stands alone.

use std::ops::Range;

use treering_data::Large;
use treering_graph::Graph;

use super::answer::{Routed, TOGETHER, decide, greedily, head_weights, judge, probabilities};
use super::embed::{Space, View, lengths};
use super::head::{Blocks, outputs};
use super::router::Router;
use super::{Ring, Treering};
use crate::{Answer, LearnError};

/// A learner whose answers are worked out in parts.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    learner: &'a Treering,
    space: &'a Space,
}

/// Heads that are asked together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadSlice {
    /// Their tasks.
    pub tasks: Range<usize>,
    /// Their outputs.
    pub outputs: usize,
    /// Outputs that are worked out as one, of which these are some.
    whole: usize,
}

impl Treering {
    /// For answers in parts.
    ///
    /// # Errors
    /// Nothing was learned; a router that needs more than rows.
    pub fn parts(&self) -> Result<Parts<'_>, LearnError> {
        let space = self.space.get().ok_or(LearnError::Nothing)?;
        match self.parameters.router {
            Router::Prototype => Err(LearnError::Parameter {
                name: "router",
                value: "prototype".into(),
                allowed: "one that looks at nodes alone, to answer in parts",
            }),
            _ => Ok(Parts {
                learner: self,
                space,
            }),
        }
    }
}

impl Parts<'_> {
    /// Columns of the space.
    pub fn width(&self) -> usize {
        self.space.width()
    }

    /// Columns that a graph has to have.
    pub fn features(&self) -> usize {
        self.space.features()
    }

    /// How many rows a node has: one for itself and one for every step away.
    pub fn hops(&self) -> usize {
        self.learner.parameters.hops + 1
    }

    /// The columns in slices of at most so many.
    pub fn column_slices(&self, most: usize) -> Vec<Range<usize>> {
        self.space.slices(most)
    }

    /// The heads in slices: one is added as long as there are fewer outputs than `most`.
    pub fn head_slices(&self, most: usize) -> Vec<HeadSlice> {
        let all: Vec<usize> = (0..self.rings().len()).collect();
        let width_of = |task: usize| outputs(self.rings()[task].classes());
        let sum = |tasks: &[usize]| tasks.iter().map(|&task| width_of(task)).sum();
        let mut slices = Vec::new();
        for group in greedily(&all, TOGETHER, width_of) {
            let slice = |some: &[usize]| HeadSlice {
                tasks: some[0]..some[some.len() - 1] + 1,
                outputs: sum(some),
                whole: sum(group),
            };
            slices.extend(
                greedily(group, most.max(1), width_of)
                    .into_iter()
                    .map(slice),
            );
        }
        slices
    }

    fn rings(&self) -> &[Ring] {
        &self.learner.rings
    }

    /// Some columns of all nodes, hop after hop, by node.
    ///
    /// # Errors
    /// What `take` says.
    ///
    /// # Panics
    /// Columns that are no slice; a graph with other columns.
    pub fn columns<E>(
        &self,
        graph: &Graph,
        columns: Range<usize>,
        take: impl FnMut(&[f32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let hops = self.learner.parameters.hops;
        self.space.slice(graph, columns, hops, take)
    }

    /// What some heads say about all nodes, hop after hop, by node and output; before rows are made unit length.
    ///
    /// # Errors
    /// What `take` says.
    ///
    /// # Panics
    /// As [`columns`](Parts::columns).
    pub fn heads<E>(
        &self,
        graph: &Graph,
        slice: &HeadSlice,
        mut take: impl FnMut(&[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let tasks: Vec<usize> = slice.tasks.clone().collect();
        let (hops, columns) = (self.hops(), graph.features().columns());
        let (weights, _) = head_weights(self.rings(), &tasks, slice.outputs, hops * columns);
        let view = View {
            rows: Vec::new().into(),
            every_hop: Vec::new().into(),
            scales: vec![Vec::new(); hops],
            lengths: lengths(graph.features()),
        };
        let blocks = Blocks::new(graph, &view, &[]);
        let each = columns * slice.outputs;
        for hop in 0..hops {
            let of_hop = &weights[hop * each..(hop + 1) * each];
            take(&blocks.hop_times(hop, of_hop, (slice.outputs, slice.whole)))?;
        }
        Ok(())
    }

    /// The answers about some nodes. Blocks of nodes begin at a multiple of [`BLOCK`](Parts::BLOCK).
    ///
    /// # Arguments
    /// * `slices`: as the heads were asked.
    /// * `rows`: gives the nodes' rows of a hop, all columns together.
    /// * `said`: gives what a slice of heads said about the nodes, of every hop.
    ///
    /// # Errors
    /// What `rows` and `said` say; no room for what is held.
    ///
    /// # Panics
    /// Rows of another size.
    pub fn answers<E: From<LearnError>>(
        &self,
        nodes: usize,
        slices: &[HeadSlice],
        rows: impl FnMut(usize) -> Result<Vec<f32>, E>,
        mut said: impl FnMut(&HeadSlice) -> Result<Vec<Vec<f64>>, E>,
    ) -> Result<Vec<Answer>, E> {
        let hops = self.learner.parameters.hops;
        let view = self.space.put_together(nodes, hops, rows)?;
        let routed = self.routed(nodes, &view)?;
        let mut of_task = vec![Vec::new(); self.rings().len()];
        let tasks = routed.tasks.iter().enumerate();
        tasks.for_each(|(node, &task)| of_task[task as usize].push(node));
        let mut classes = vec![Vec::new(); nodes];
        for slice in slices {
            let asked = slice.tasks.clone().any(|task| !of_task[task].is_empty());
            let blocks = if asked { said(slice)? } else { continue };
            let mut start = 0;
            for task in slice.tasks.clone() {
                let head = &self.rings()[task].head;
                let own = start..start + head.bias.len();
                for &node in &of_task[task] {
                    let mut scores: Vec<f64> = head.bias.iter().map(|&b| f64::from(b)).collect();
                    for (hop, block) in blocks.iter().enumerate() {
                        let scale = view.scales[hop][node] / (self.hops() as f64).sqrt();
                        let from = &block[node * slice.outputs..][own.clone()];
                        let sums = scores.iter_mut().zip(from);
                        sums.for_each(|(sum, value)| *sum += scale * value);
                    }
                    classes[node] = probabilities(&scores, self.rings()[task].classes());
                }
                start = own.end;
            }
        }
        let classes = classes.into_iter().enumerate();
        Ok(classes
            .map(|(node, own)| routed.answer(node, own))
            .collect())
    }

    /// Nodes that are looked at together.
    pub const BLOCK: usize = super::answer::BLOCK;

    fn routed(&self, nodes: usize, view: &View) -> Result<Routed<'_>, LearnError> {
        let (rings, seen) = (self.rings(), self.rings().len());
        let numbers: Vec<u32> = (0..nodes as u32).collect();
        let mut posterior = Large::zeros(nodes * seen)?;
        let scores = match seen {
            1 => None,
            _ => Some(self.learner.scores(self.space, seen)?),
        };
        let mut routes = decide(scores.as_deref(), view, &numbers, true, &mut posterior);
        judge(&mut routes, view, &numbers, rings);
        let tasks = routes.iter().map(|route| route.task as u32).collect();
        Ok(Routed {
            rings,
            numbers,
            routes,
            posterior,
            tasks,
        })
    }
}
