//! Answers about all nodes of a graph in parts that need not share a memory, or a machine: slices of columns and of heads, which go over all arcs, then blocks
//! of nodes, which go over none. Put together they are the answers that [`predict`](crate::Learner::predict) gives, bit by bit, where every node stands alone.

use std::ops::Range;

use treering_graph::Graph;

use super::answer::{Routed, TOGETHER, greedily, head_weights, judge, probabilities};
use super::embed::{Space, View, add_squares, lengths};
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

/// What is handed on of some columns.
pub enum Piece<'a> {
    /// By node, the square length of a hop's columns.
    Squares(&'a [f64]),
    /// By node, a hop's columns.
    Rows(&'a [f32]),
}

/// The same about some nodes, read again.
pub enum Read {
    /// By node, the square length of a hop's columns.
    Squares(Vec<f64>),
    /// By node, a hop's columns.
    Rows(Vec<f32>),
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
        // Tasks of one class have nothing to say.
        slices.retain(|slice| slice.outputs > 0);
        slices
    }

    fn rings(&self) -> &[Ring] {
        &self.learner.rings
    }

    /// Whether columns are a block, whose square lengths can be added up by themselves.
    pub fn is_block(&self, columns: &Range<usize>) -> bool {
        self.space.block(columns.start) == *columns
    }

    /// Some columns of all nodes, by node: of a [block](Parts::is_block) the square lengths of every hop and the columns of the farthest, otherwise the columns
    /// of every hop, which only together tell square lengths.
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
        mut take: impl FnMut(Piece<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let hops = self.learner.parameters.hops;
        let is_block = self.is_block(&columns);
        self.space.slice(graph, columns, hops, |hop, now| {
            if is_block {
                let mut squares = vec![0f64; graph.nodes()];
                add_squares(now, &mut squares);
                take(Piece::Squares(&squares))?;
            }
            match !is_block || hop == hops {
                true => take(Piece::Rows(now)),
                false => Ok(()),
            }
        })
    }

    /// The square lengths of some nodes' rows, from those of blocks or from columns.
    ///
    /// # Arguments
    /// * `slices`: all columns, in order.
    /// * `read`: gives what [`columns`](Parts::columns) gave for a slice: square lengths where it is a block, otherwise columns.
    ///
    /// # Errors
    /// What `read` says.
    pub fn squares<E>(
        &self,
        nodes: usize,
        slices: &[Range<usize>],
        mut read: impl FnMut(usize) -> Result<Read, E>,
    ) -> Result<Vec<f64>, E> {
        let mut all = vec![0f64; nodes];
        let mut block = vec![0f64; nodes];
        for (at, slice) in slices.iter().enumerate() {
            match read(at)? {
                Read::Squares(squares) => block = squares,
                Read::Rows(rows) => add_squares(&rows, &mut block),
            }
            if self.space.block(slice.start).end == slice.end {
                let both = all.iter_mut().zip(&mut block);
                both.for_each(|(all, block)| *all += std::mem::take(block));
            }
        }
        Ok(all)
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
    /// * `rows`: the nodes' rows of the farthest hop, all columns together.
    /// * `squares`: the square lengths of the nodes' rows, by hop.
    /// * `said`: gives what a slice of heads said about the nodes, of every hop.
    ///
    /// # Errors
    /// What `said` says; no room for what is held.
    ///
    /// # Panics
    /// Rows of another size.
    pub fn answers<E: From<LearnError>>(
        &self,
        nodes: usize,
        slices: &[HeadSlice],
        rows: Vec<f32>,
        squares: Vec<Vec<f64>>,
        mut said: impl FnMut(&HeadSlice) -> Result<Vec<Vec<f64>>, E>,
    ) -> Result<Vec<Answer>, E> {
        let view = self.space.put_together(rows, squares);
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
        for (task, own) in of_task.iter().enumerate() {
            let head = &self.rings()[task].head;
            if head.bias.is_empty() {
                let sure = probabilities(&[], self.rings()[task].classes());
                own.iter().for_each(|&node| classes[node] = sure.clone());
            }
        }
        let classes = classes.into_iter().enumerate();
        Ok(classes
            .map(|(node, own)| routed.answer(node, own))
            .collect())
    }

    /// The most columns of a slice: those of a [block](Parts::is_block).
    pub const WIDEST: usize = super::embed::STRIP;

    /// Nodes that are looked at together.
    pub const BLOCK: usize = super::answer::BLOCK;

    fn routed(&self, nodes: usize, view: &View) -> Result<Routed<'_>, LearnError> {
        let (rings, seen) = (self.rings(), self.rings().len());
        let numbers: Vec<u32> = (0..nodes as u32).collect();
        let alone = (&numbers[..], nodes);
        let (mut routes, posterior) = self.learner.decided(self.space, view, alone, seen, true)?;
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
