//! Draws exactly as many different edges as asked.
//!
//! An edge is a number, its two ends side by side, so a set of edges is a sorted list of numbers. A kind of edges
//! is drawn in rounds: the first asks for the whole quota, each further one for what loops and duplicates left
//! open. Blocks of a fixed size have streams of their own, so the number of threads changes nothing.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rayon::prelude::*;

use super::blocks::{self, Kind};
use super::error::RecipeError;
use super::members::Members;
use super::recipe::Recipe;
use super::streams::{Use, stream};
use crate::Progress;

/// How many edges one stream draws; also the least that a round asks for.
const BLOCK: usize = 1 << 16;

/// How many draws a kind may take: this many for each edge asked for, and some more for small graphs.
const PATIENCE: u64 = 16;
const LEAST_DRAWS: u64 = 1 << 22;

/// The two ends of every edge, each edge once.
pub(super) fn draw(
    recipe: &Recipe,
    members: &Members,
    progress: &dyn Progress,
) -> Result<(Vec<u32>, Vec<u32>), RecipeError> {
    // Isolated nodes take room away that the recipe's own check could not know of.
    blocks::check_room(recipe, &members.connected)?;
    let mut sources = Vec::with_capacity(recipe.edges as usize);
    let mut targets = Vec::with_capacity(recipe.edges as usize);
    progress.begin("drawing edges", recipe.edges);
    for (kind, quota) in Kind::ALL.into_iter().zip(blocks::quotas(recipe)) {
        if quota > 0 {
            let keys = Urn::new(recipe, members, kind).fill(quota as usize, progress)?;
            sources.extend(keys.iter().map(|key| (key >> 32) as u32));
            targets.extend(keys.iter().map(|&key| key as u32));
        }
    }
    progress.end();
    Ok((sources, targets))
}

/// All pairs of one kind, with their probabilities.
struct Urn<'a> {
    recipe: &'a Recipe,
    members: &'a Members,
    kind: Kind,
    /// Running sums of the weights of the first end's class.
    classes: Vec<u64>,
}

impl<'a> Urn<'a> {
    fn new(recipe: &'a Recipe, members: &'a Members, kind: Kind) -> Self {
        let mut urn = Urn {
            recipe,
            members,
            kind,
            classes: Vec::new(),
        };
        let mut sum = 0;
        for class in 0..recipe.classes {
            sum += urn.class_weight(class);
            urn.classes.push(sum);
        }
        urn
    }

    /// The width of the class, times the share of its surroundings that the other end can be in.
    fn class_weight(&self, class: usize) -> u64 {
        let width = |stretch: std::ops::Range<u64>| stretch.end - stretch.start;
        let own = width(self.members.stretch(class..class + 1));
        if self.kind == Kind::SameClass {
            return if self.members.connected[class] > 1 {
                own
            } else {
                0
            };
        }
        let (around, hole) = self.surroundings(class);
        let (around, hole) = (width(around), width(hole));
        if own == 0 || around == hole {
            return 0;
        }
        ((own as f64 * ((around - hole) as f64 / around as f64)) as u64).max(1)
    }

    /// Where the other end of an edge of this class can be: a stretch, but for a hole in it.
    fn surroundings(&self, class: usize) -> (std::ops::Range<u64>, std::ops::Range<u64>) {
        let own = class..class + 1;
        let first = self.recipe.task(class) * self.recipe.classes_per_task;
        let task = first..(first + self.recipe.classes_per_task).min(self.recipe.classes);
        let (around, hole) = match self.kind {
            Kind::SameClass => (own.clone(), own.start..own.start),
            Kind::SameTask => (task, own),
            Kind::AcrossTasks => (0..self.recipe.classes, task),
        };
        (self.members.stretch(around), self.members.stretch(hole))
    }

    fn draw(&self, random: &mut impl Rng) -> u64 {
        let total = self.classes.last().copied().unwrap_or(0);
        let ticket = random.random_range(0..total);
        let class = self.classes.partition_point(|&sum| sum <= ticket);
        let first = random.random_range(self.members.stretch(class..class + 1));
        let (around, hole) = self.surroundings(class);
        let gap = hole.end - hole.start;
        let mut second = random.random_range(around.start..around.end - gap);
        if second >= hole.start {
            second += gap;
        }
        let (source, target) = (self.members.at(first), self.members.at(second));
        if self.recipe.directed || source < target {
            key(source, target)
        } else {
            key(target, source)
        }
    }

    /// Different edges from so many draws, in order.
    fn round(&self, round: u64, draws: usize, progress: &dyn Progress) -> Vec<u64> {
        let what = match self.kind {
            Kind::SameClass => Use::SameClass,
            Kind::SameTask => Use::SameTask,
            Kind::AcrossTasks => Use::AcrossTasks,
        };
        let mut keys = vec![0u64; draws];
        keys.par_chunks_mut(BLOCK)
            .enumerate()
            .for_each(|(block, keys)| {
                let mut random = stream(self.recipe.seed, what, round, block as u64);
                keys.fill_with(|| self.draw(&mut random));
                // Later rounds fill gaps of the first; counting them too would run past the end.
                if round == 0 {
                    progress.advance(keys.len() as u64);
                }
            });
        keys.par_sort_unstable();
        keys.dedup();
        keys.retain(|&key| (key >> 32) as u32 != key as u32);
        keys
    }

    /// Exactly `quota` different edges, in order.
    fn fill(&self, quota: usize, progress: &dyn Progress) -> Result<Vec<u64>, RecipeError> {
        let patience = PATIENCE * quota as u64 + LEAST_DRAWS;
        let mut kept = self.round(0, quota, progress);
        let (mut draws, mut gained) = (quota, kept.len());
        let mut drawn = draws as u64;
        for round in 1.. {
            let missing = quota - kept.len();
            if missing == 0 {
                break;
            }
            if drawn >= patience {
                return Err(RecipeError::Saturated {
                    place: self.kind.place(),
                    asked: quota as u64,
                    reached: kept.len() as u64,
                });
            }
            // As many draws as the last round's luck says are needed.
            let needed = missing as f64 * draws as f64 / gained.max(1) as f64;
            draws = (needed as usize).clamp(BLOCK, quota.max(BLOCK));
            drawn += draws as u64;
            let mut fresh = self.round(round, draws, progress);
            leave_out(&mut fresh, &kept);
            gained = fresh.len();
            self.thin(&mut fresh, missing, round);
            merge(&mut kept, &fresh);
        }
        Ok(kept)
    }

    /// Keeps a random part of a round that found more than was missing.
    fn thin(&self, fresh: &mut Vec<u64>, most: usize, round: u64) {
        if fresh.len() > most {
            fresh.shuffle(&mut stream(
                self.recipe.seed,
                Use::Surplus,
                round,
                self.kind as u64,
            ));
            fresh.truncate(most);
            fresh.par_sort_unstable();
        }
    }
}

fn key(source: u32, target: u32) -> u64 {
    u64::from(source) << 32 | u64::from(target)
}

/// Takes out of one sorted list what another one has.
fn leave_out(fresh: &mut Vec<u64>, kept: &[u64]) {
    let mut at = 0;
    fresh.retain(|&key| {
        while at < kept.len() && kept[at] < key {
            at += 1;
        }
        at == kept.len() || kept[at] != key
    });
}

/// Merges two sorted lists from their ends, which takes no third list.
fn merge(kept: &mut Vec<u64>, fresh: &[u64]) {
    let (mut old, mut new) = (kept.len(), fresh.len());
    kept.resize(old + new, 0);
    while new > 0 {
        if old > 0 && kept[old - 1] > fresh[new - 1] {
            kept[old + new - 1] = kept[old - 1];
            old -= 1;
        } else {
            kept[old + new - 1] = fresh[new - 1];
            new -= 1;
        }
    }
}
