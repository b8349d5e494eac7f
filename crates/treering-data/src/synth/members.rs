//! Who belongs to which class, and how readily each node takes an edge.
//!
//! Connected nodes stand in a row, class after class and so task after task, each as wide as its propensity.
//! Then every choice that edges need (in a class, in a task but not in one class, outside a task) is a
//! uniform draw from one stretch of the row with at most one hole in it.

use std::ops::Range;

use rand::RngExt;
use rand::seq::SliceRandom;

use super::recipe::Recipe;
use super::streams::{Use, stream};

/// Widths are whole numbers: a node of propensity 1 is this wide.
const UNIT: f64 = 1024.0;

/// The largest propensity; the widths of 2^32 nodes still add up within 64 bits.
const MOST: f64 = 1_048_576.0;

/// How many edges two hubs of one class may expect between them. More would be drawn again and again in vain.
const PAIR_LIMIT: f64 = 2.0;

/// Nodes by class, and the row of connected ones.
pub(super) struct Members {
    /// The class of every node.
    pub class_of: Vec<u32>,
    /// How many connected nodes each class has.
    pub connected: Vec<usize>,
    /// Where each class starts in the row; one entry more than there are classes.
    class_at: Vec<u64>,
    /// The nodes of the row.
    nodes: Vec<u32>,
    /// Where each of them starts; one entry more than there are nodes in the row.
    starts: Vec<u64>,
    /// For every stretch of `1 << shift`, the position that its beginning falls on: a search takes a step or two.
    guide: Vec<u32>,
    shift: u32,
}

impl Members {
    /// Gives every node a class, and every connected node a propensity.
    pub fn new(recipe: &Recipe) -> Self {
        let class_of = shuffled_classes(recipe);
        let isolated = isolated_nodes(recipe);
        let by_class = nodes_by_class(recipe, &class_of);
        let mut members = Members {
            class_of,
            connected: Vec::with_capacity(recipe.classes),
            class_at: vec![0],
            nodes: Vec::with_capacity(recipe.nodes),
            starts: vec![0],
            guide: Vec::new(),
            shift: 0,
        };
        let mut random = stream(recipe.seed, Use::Propensity, 0, 0);
        for of_class in &by_class {
            let most = propensity_limit(recipe, of_class.len());
            let before = members.nodes.len();
            for &node in of_class.iter().filter(|&&node| !isolated[node as usize]) {
                let width = propensity(recipe, most, random.random());
                members.nodes.push(node);
                members.starts.push(members.width() + width);
            }
            members.connected.push(members.nodes.len() - before);
            members.class_at.push(members.width());
        }
        members.lay_guide();
        members
    }

    /// The width of the whole row.
    pub fn width(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The stretch of some consecutive classes.
    pub fn stretch(&self, classes: Range<usize>) -> Range<u64> {
        self.class_at[classes.start]..self.class_at[classes.end]
    }

    /// The node that stands at a place of the row.
    pub fn at(&self, place: u64) -> u32 {
        let mut position = self.guide[(place >> self.shift) as usize] as usize;
        while self.starts[position + 1] <= place {
            position += 1;
        }
        self.nodes[position]
    }

    fn lay_guide(&mut self) {
        // Between one and two nodes to a stretch on average.
        let mean = self.width() / (self.nodes.len() as u64).max(1);
        self.shift = mean.max(1).ilog2();
        let stretches = (self.width() >> self.shift) + 1;
        let mut position = 0;
        self.guide.reserve_exact(stretches as usize);
        for stretch in 0..stretches {
            while position + 1 < self.nodes.len()
                && self.starts[position + 1] <= stretch << self.shift
            {
                position += 1;
            }
            self.guide.push(position as u32);
        }
    }
}

/// Class sizes as asked, dealt out at random, so that a node's position tells nothing.
fn shuffled_classes(recipe: &Recipe) -> Vec<u32> {
    let sizes = recipe.class_sizes();
    let mut class_of: Vec<u32> = sizes
        .iter()
        .enumerate()
        .flat_map(|(class, &size)| std::iter::repeat_n(class as u32, size))
        .collect();
    class_of.shuffle(&mut stream(recipe.seed, Use::Classes, 0, 0));
    class_of
}

fn isolated_nodes(recipe: &Recipe) -> Vec<bool> {
    let count = (recipe.nodes as f64 * recipe.isolated).ceil() as usize;
    let mut isolated = vec![false; recipe.nodes];
    isolated[..count.min(recipe.nodes)].fill(true);
    isolated.shuffle(&mut stream(recipe.seed, Use::Isolated, 0, 0));
    isolated
}

fn nodes_by_class(recipe: &Recipe, class_of: &[u32]) -> Vec<Vec<u32>> {
    let mut by_class: Vec<Vec<u32>> = recipe
        .class_sizes()
        .into_iter()
        .map(Vec::with_capacity)
        .collect();
    for (node, &class) in class_of.iter().enumerate() {
        by_class[class as usize].push(node as u32);
    }
    by_class
}

/// The propensity, relative to the mean, at which two such nodes reach [`PAIR_LIMIT`] in a class of this size.
fn propensity_limit(recipe: &Recipe, size: usize) -> f64 {
    let ends = if recipe.directed { 1.0 } else { 2.0 };
    let degree = ends * recipe.edges as f64 / recipe.nodes as f64;
    // The last class may be a single node: then pairs outside the class count.
    let inside = degree * recipe.task_share / size.max(1) as f64;
    let density = inside.max(degree / recipe.nodes as f64);
    (PAIR_LIMIT / density).sqrt().max(1.0)
}

/// The width of a node: a power law above 1, cut off at `most` times its mean.
fn propensity(recipe: &Recipe, most: f64, uniform: f64) -> u64 {
    let exponent = recipe.degree_exponent;
    if exponent >= Recipe::EQUAL_DEGREES {
        return UNIT as u64;
    }
    let mean = (exponent - 1.0) / (exponent - 2.0);
    let value = (1.0 - uniform).powf(-1.0 / (exponent - 1.0));
    (value.min(most * mean).min(MOST) * UNIT) as u64
}
