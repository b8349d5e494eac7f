//! How much memory learning and answering will take, from sizes alone, so that what cannot fit is refused before it begins. Each figure follows the arrays that the
//! code holds at once; `benchmarks/run_memory` compares them with what was measured.

use treering_data::{Large, TaskSize, memory_limit, memory_window};

use crate::saved::Parameters;
use crate::tpp::TppParameters;
use crate::treering;

/// Bytes of `numbers` four-byte numbers that a [`Large`] array keeps in memory.
fn held(numbers: usize) -> u64 {
    match Large::<f32>::is_filed(numbers) {
        // What is in use of a file at a time.
        true => memory_window() as u64,
        false => 4 * numbers as u64,
    }
}

/// Bytes of an operator S on so many nodes, with its powers of degrees.
fn operator(nodes: u64) -> u64 {
    16 * nodes
}

/// A task's graph in memory.
fn graph(size: &TaskSize) -> u64 {
    let features = 4 * (size.nodes * size.columns) as u64;
    match size.entries {
        None => size.graph_bytes() - features + held(size.nodes * size.columns),
        Some(_) => size.graph_bytes(),
    }
}

/// What learning a task takes beyond what is there before it: its graph, and all that is held while it is learned.
///
/// # Arguments
/// * `first`: it is the first of a model.
pub fn to_learn(parameters: &Parameters, size: &TaskSize, first: bool) -> u64 {
    let working = match parameters {
        Parameters::Treering(parameters) => {
            let asked = to_predict(
                &Parameters::Treering(parameters.clone()),
                size,
                size.validation,
                1,
            );
            treering_learns(parameters, size).max(if size.validation > 0 { asked } else { 0 })
        }
        Parameters::Tpp(parameters) => {
            let prompts = tpp_learns(parameters, size);
            match first {
                true => prompts.max(tpp_pretrains(parameters, size)),
                false => prompts,
            }
        }
    };
    graph(size) + working
}

/// What a task leaves behind.
pub fn ring(parameters: &Parameters, size: &TaskSize) -> u64 {
    let (classes, columns) = (size.classes, size.columns);
    let numbers = match parameters {
        Parameters::Treering(p) => {
            let width = columns.min(p.width);
            let directions = p.rank.min(size.train).min(width);
            (classes + directions) * width + (p.hops + 1) * columns * classes
        }
        Parameters::Tpp(p) => 2 * p.tokens * columns + p.hidden * classes,
    };
    4 * numbers as u64 + 8 * columns as u64
}

/// What answering takes beyond the graph that it is about.
///
/// # Arguments
/// * `size`: of that graph.
/// * `asked`: nodes that are asked about.
/// * `rings`: tasks learned.
pub fn to_predict(parameters: &Parameters, size: &TaskSize, asked: usize, rings: usize) -> u64 {
    let (n, q, tasks) = (size.nodes as u64, asked as u64, rings as u64);
    let quarter = memory_limit() / 4;
    // Answers as they are given away, and what is known of every node until then.
    let answers = 16_384.min(q) * (400 + 4 * tasks);
    match parameters {
        Parameters::Treering(p) => {
            let width = size.columns.min(p.width);
            let known = 8 * n + 16 * (p.hops as u64 + 1) * q + operator(n);
            let rows = held(asked * width);
            // Sums over all profiles, the equations made of them and their solution.
            let router = 4 * 8 * (width * width) as u64;
            let seen = rows + strips(size.nodes, width);
            let decided = rows + held(asked * rings) + 100 * q;
            let heads = decided + quarter.min(32 * n * tasks.min(64)) + 16 * n;
            known + answers + seen.max(heads).max(decided + router)
        }
        Parameters::Tpp(p) => {
            let base = hidden_layer(p, size, asked);
            let routes = quarter.min(32 * n * tasks) + 8 * q * tasks + 24 * q;
            let answered = 140 * q + 48 * n;
            let kept = held(asked * p.hidden) + inputs(size) + operator(n);
            base.max(kept + routes).max(kept + answered) + answers
        }
    }
}

/// The strips that a view smooths.
fn strips(nodes: usize, width: usize) -> u64 {
    let columns = treering::strip_columns(nodes).min(width);
    8 * (nodes * columns) as u64
}

fn treering_learns(p: &treering::Parameters, size: &TaskSize) -> u64 {
    let (n, hops) = (size.nodes as u64, p.hops as u64);
    let known = size.train + size.validation;
    let width = size.columns.min(p.width);
    let columns = size.columns * (p.hops + 1);
    let is_gram = width == size.columns
        && treering::equations_are_shorter(size.entries.is_none(), columns, size.train);
    let rows = held(known * width);
    let every_hop = if is_gram { held(known * columns) } else { 0 };
    // Lengths and scales stay; sums of squares are turned into scales.
    let stays = 8 * n + 8 * (hops + 1) * known as u64 + rows + every_hop;
    let view = strips(size.nodes, width) + operator(n);
    let follow = (p.rank + 16).min(width);
    // Products go over all rows, wherever they lie, and over as many that are centred and turned.
    let in_file = (4 * (known * width) as u64).saturating_sub(rows);
    let made = (4 * size.train * (width + follow)) as u64;
    let profile = in_file + made + 4 * 8 * (width * follow) as u64;
    // Arcs with neighbours for isolated nodes, turned round.
    let prototype = 8 * size.arcs as u64 + 64 * n;
    let head = match is_gram {
        true => 8 * 3 * (columns * columns) as u64 + 2 * 8 * 2048 * columns as u64,
        false => 40 * n + 8 * 5 * columns as u64,
    };
    stays + view.max(profile).max(prototype).max(head)
}

/// Sparse features are kept by rows and by columns.
fn inputs(size: &TaskSize) -> u64 {
    let lists = |entries: usize| 16 * entries + 8 * (size.nodes + size.columns);
    size.entries.map_or(0, |entries| lists(entries) as u64)
}

/// S^hops X W1 on some nodes, while it is worked out.
fn hidden_layer(p: &TppParameters, size: &TaskSize, rows: usize) -> u64 {
    let quarter = memory_limit() / 4;
    let out = held(rows * p.hidden);
    let strips = |width: usize| quarter.min(8 * (size.nodes * width) as u64);
    let own = inputs(size) + operator(size.nodes as u64);
    own + match size.entries.is_none() && size.columns < p.hidden {
        true => held(rows * size.columns) + strips(size.columns).max(out),
        false => 4 * (size.nodes * p.hidden) as u64 + strips(p.hidden) + out,
    }
}

fn tpp_learns(p: &TppParameters, size: &TaskSize) -> u64 {
    let (n, k) = (size.nodes as u64, p.tokens as u64);
    let base = held(size.train * p.hidden);
    let tokens = 4 * 8 * k * size.columns as u64;
    let epoch = base + inputs(size) + operator(n) + 4 * n * (6 * k + 8) + tokens;
    // Of a directed graph, arcs turned round.
    epoch.max(hidden_layer(p, size, size.train)) + 4 * size.arcs as u64
}

fn tpp_pretrains(p: &TppParameters, size: &TaskSize) -> u64 {
    let (n, m) = (size.nodes as u64, size.arcs as u64);
    let contrasted = p.contrastive.contrasted(size.nodes) as u64;
    let kept = contrasted.min(4096);
    let (d, wide) = (p.hidden as u64, 3 * p.hidden as u64);
    let contrast = 8 * kept * kept + 4 * 2 * contrasted * (4 * d + 2 * wide);
    // The arcs, those of the corrupted view, and the draw of what it lacks.
    let arcs = 4 * m + 8 * n + 4 * m + 5 * (m + n) + 2 * operator(n);
    let columns = match size.entries {
        None if size.columns < p.hidden => 3 * size.columns as u64,
        _ => wide,
    };
    // Only columns that the task has are trained.
    let present = size
        .entries
        .map_or(size.columns, |entries| entries.min(size.columns));
    let weights = 4 * 5 * (present as u64 * d + 6 * d * d);
    inputs(size) + arcs + 4 * n * columns + contrast + weights
}
