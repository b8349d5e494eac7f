//! From a list of arcs, as files have them, to [`Arcs`].

use crate::arcs::{check_node_count, check_weights, cumulate};
use crate::parallel::split_rows;
use crate::{Arcs, Buffer, GraphError};

/// What to do with a list of arcs on the way into a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Keep the arcs as they are given.
    Directed,
    /// Give every arc its mirror image.
    Undirected,
}

/// What [`build_arcs`] took out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Arcs given more than once (mirror images count as given once).
    pub duplicates: u64,
    /// Arcs of weight 0, which are no arcs.
    pub weightless: u64,
}

/// Sorts arcs by target and source and leaves one of each.
///
/// Where the list has weights, those of parallel arcs add up, and an undirected edge gets the larger of its two
/// directions' weights. Weights that are all 1 are not kept.
///
/// # Arguments
/// * `nodes`: how many nodes there are.
/// * `sources`, `targets`: the ends of each arc.
/// * `weights`: one for each arc, or none.
///
/// # Errors
/// An end outside `0..nodes`, a weight that is negative or not finite.
///
/// # Complexity
/// Time O(arcs log degree), memory one 32-bit id per kept arc beside the lists (twice that with weights).
///
/// # Example
/// ```
/// use treering_graph::{Direction, NodeId, build_arcs};
/// let (arcs, removed) = build_arcs(3, &[0, 1, 1], &[1, 0, 2], None, Direction::Undirected)?;
/// assert_eq!(arcs.len(), 4);
/// assert_eq!(removed.duplicates, 1);
/// # Ok::<(), treering_graph::GraphError>(())
/// ```
pub fn build_arcs(
    nodes: usize,
    sources: &[u32],
    targets: &[u32],
    weights: Option<&[f32]>,
    direction: Direction,
) -> Result<(Arcs, Removed), GraphError> {
    check_node_count(nodes as u64)?;
    check_ends(nodes, sources, targets)?;
    let weights = match weights {
        Some(weights) => {
            check_weights(weights)?;
            weights.iter().any(|&w| w != 1.0).then_some(weights)
        }
        None => None,
    };
    match weights {
        None => Ok(build_unweighted(nodes, sources, targets, direction)),
        Some(weights) => build_weighted(nodes, sources, targets, weights, direction),
    }
}

fn check_ends(nodes: usize, sources: &[u32], targets: &[u32]) -> Result<(), GraphError> {
    if sources.len() != targets.len() {
        return Err(GraphError::Length {
            what: "arc targets (against arc sources)",
            found: targets.len() as u64,
            nodes: sources.len() as u64,
        });
    }
    for (position, (&source, &target)) in sources.iter().zip(targets).enumerate() {
        if source as usize >= nodes || target as usize >= nodes {
            let outside = if source as usize >= nodes {
                source
            } else {
                target
            };
            return Err(GraphError::ArcOutside {
                position: position as u64,
                node: u64::from(outside),
                nodes: nodes as u64,
            });
        }
    }
    Ok(())
}

/// Scatters the arcs into rows; `put(position, arc, source)` stores one.
fn scatter(
    nodes: usize,
    sources: &[u32],
    targets: &[u32],
    direction: Direction,
    mut put: impl FnMut(usize, usize, u32),
) -> Vec<u64> {
    let mirrored = |s: u32, t: u32| direction == Direction::Undirected && s != t;
    let mut cursor = row_starts(nodes, sources, targets, direction);
    let offsets = cursor.clone();
    for (arc, (&source, &target)) in sources.iter().zip(targets).enumerate() {
        let mut store = |source: u32, target: u32| {
            let at = &mut cursor[target as usize];
            put(*at as usize, arc, source);
            *at += 1;
        };
        store(source, target);
        if mirrored(source, target) {
            store(target, source);
        }
    }
    offsets
}

fn row_starts(nodes: usize, sources: &[u32], targets: &[u32], direction: Direction) -> Vec<u64> {
    let mut offsets = vec![0u64; nodes + 1];
    for (&source, &target) in sources.iter().zip(targets) {
        offsets[target as usize + 1] += 1;
        if direction == Direction::Undirected && source != target {
            offsets[source as usize + 1] += 1;
        }
    }
    cumulate(&mut offsets);
    offsets
}

/// How many arcs the list stands for once mirror images are added.
fn expanded(sources: &[u32], targets: &[u32], direction: Direction) -> usize {
    match direction {
        Direction::Directed => sources.len(),
        Direction::Undirected => {
            let loops = sources.iter().zip(targets).filter(|(s, t)| s == t).count();
            2 * sources.len() - loops
        }
    }
}

fn build_unweighted(
    nodes: usize,
    sources: &[u32],
    targets: &[u32],
    direction: Direction,
) -> (Arcs, Removed) {
    let mut rows = vec![0u32; expanded(sources, targets, direction)];
    let offsets = scatter(nodes, sources, targets, direction, |at, _, source| {
        rows[at] = source;
    });
    split_rows(
        &offsets,
        &mut rows,
        &|row| offsets[row] as usize,
        &|range, part| {
            let base = offsets[range.start];
            for row in range {
                part[(offsets[row] - base) as usize..(offsets[row + 1] - base) as usize]
                    .sort_unstable();
            }
        },
    );
    let mut kept = vec![0u64; nodes + 1];
    let mut write = 0;
    for row in 0..nodes {
        let start = write;
        for read in offsets[row] as usize..offsets[row + 1] as usize {
            if write == start || rows[write - 1] != rows[read] {
                rows[write] = rows[read];
                write += 1;
            }
        }
        kept[row + 1] = write as u64;
    }
    rows.truncate(write);
    rows.shrink_to_fit();
    let arcs = Arcs::trusted(kept.into(), rows.into(), None);
    let removed = Removed {
        duplicates: given_twice(sources, targets, &arcs, direction),
        weightless: 0,
    };
    (arcs, removed)
}

/// The list's length less the number of different edges (undirected) or arcs (directed) that came of it.
fn given_twice(sources: &[u32], targets: &[u32], arcs: &Arcs, direction: Direction) -> u64 {
    debug_assert_eq!(sources.len(), targets.len());
    let different = match direction {
        Direction::Directed => arcs.len(),
        Direction::Undirected => {
            let loops = arcs.loops();
            (arcs.len() - loops) / 2 + loops
        }
    };
    (sources.len() - different) as u64
}

/// One arc on its way into a weighted row: its source, whether it is a mirror image, its weight.
type Weighted = (u32, bool, f32);

fn build_weighted(
    nodes: usize,
    sources: &[u32],
    targets: &[u32],
    weights: &[f32],
    direction: Direction,
) -> Result<(Arcs, Removed), GraphError> {
    let mut rows: Vec<Weighted> = vec![(0, false, 0.0); expanded(sources, targets, direction)];
    let offsets = scatter(nodes, sources, targets, direction, |at, arc, source| {
        rows[at] = (source, source != sources[arc], weights[arc]);
    });
    let (mut kept_sources, mut kept_weights) = (Vec::new(), Vec::new());
    let mut kept = vec![0u64; nodes + 1];
    for row in 0..nodes {
        let part = &mut rows[offsets[row] as usize..offsets[row + 1] as usize];
        // A stable sort: equal arcs are added up in the order of the list.
        part.sort_by_key(|&(source, mirror, _)| (source, mirror));
        for same in part.chunk_by(|a, b| a.0 == b.0) {
            let sum = |mirror| {
                same.iter()
                    .filter(|a| a.1 == mirror)
                    .map(|a| a.2)
                    .sum::<f32>()
            };
            let weight = f32::max(sum(false), sum(true));
            if weight > 0.0 {
                kept_sources.push(same[0].0);
                kept_weights.push(weight);
            }
        }
        kept[row + 1] = kept_sources.len() as u64;
    }
    // Each weight was finite; the sum of parallel ones may not be.
    check_weights(&kept_weights)?;
    let arcs = Arcs::trusted(
        kept.into(),
        kept_sources.into(),
        Some(Buffer::from(kept_weights)),
    );
    let weightless = weights.iter().filter(|&&w| w == 0.0).count() as u64;
    let removed = Removed {
        duplicates: given_twice(sources, targets, &arcs, direction).saturating_sub(weightless),
        weightless,
    };
    Ok((arcs, removed))
}
