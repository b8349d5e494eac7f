//! Sparse features: the different words of a text.
//!
//! A node's words come from the topic of its class or from the vocabulary that all share; in both, few words
//! are frequent and many are rare. A word is in or out: every stored value is 1.

use rand::seq::{SliceRandom, index};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson};
use rayon::prelude::*;
use treering_graph::{GraphError, Sparse};

use super::recipe::Recipe;
use super::streams::{Use, stream};
use crate::Progress;

/// How many rows one stream draws.
const ROWS: usize = 1024;

/// A topic has this many times the words of a node.
const TOPIC: f64 = 4.0;

/// How often a word that the node has already is drawn again before it goes without.
const TRIES: usize = 64;

/// The number of words of a topic.
pub(super) fn topic_words(recipe: &Recipe, words_per_node: f64) -> usize {
    ((TOPIC * words_per_node) as usize).clamp(1, recipe.features)
}

/// All rows.
pub(super) fn draw(
    recipe: &Recipe,
    words_per_node: f64,
    class_of: &[u32],
    progress: &dyn Progress,
) -> Result<Sparse, GraphError> {
    let language = Language::new(recipe, words_per_node);
    let blocks: Vec<(Vec<usize>, Vec<u32>)> = class_of
        .par_chunks(ROWS)
        .enumerate()
        .map(|(block, class_of)| {
            let random = stream(recipe.seed, Use::Words, 0, block as u64);
            let rows = language.write(class_of, random);
            progress.advance(class_of.len() as u64);
            rows
        })
        .collect();
    let mut offsets = vec![0u64];
    let mut words = Vec::new();
    let mut end = 0;
    for (lengths, block) in blocks {
        for length in lengths {
            end += length as u64;
            offsets.push(end);
        }
        words.extend(block);
    }
    let values = vec![1f32; words.len()];
    Sparse::new(recipe.features, offsets.into(), words.into(), values.into())
}

/// The common vocabulary and the topics, both most frequent words first.
struct Language {
    noise: f64,
    words_per_node: f64,
    common: Vec<u32>,
    topics: Vec<Vec<u32>>,
    /// Running sums of 1 / rank. A topic uses the beginning of it.
    frequencies: Vec<f64>,
}

impl Language {
    fn new(recipe: &Recipe, words_per_node: f64) -> Self {
        let mut random = stream(recipe.seed, Use::Topics, 0, 0);
        let mut common: Vec<u32> = (0..recipe.features as u32).collect();
        common.shuffle(&mut random);
        let length = topic_words(recipe, words_per_node);
        let topic = |_| {
            let mut words: Vec<u32> = index::sample(&mut random, recipe.features, length)
                .into_iter()
                .map(|word| word as u32)
                .collect();
            words.shuffle(&mut random);
            words
        };
        let mut sum = 0.0;
        let frequency = |rank: usize| {
            sum += 1.0 / (rank + 1) as f64;
            sum
        };
        Language {
            noise: recipe.feature_noise,
            words_per_node,
            topics: (0..recipe.classes).map(topic).collect(),
            frequencies: (0..common.len()).map(frequency).collect(),
            common,
        }
    }

    /// The lengths of some rows, and their words one row after the other.
    fn write(&self, class_of: &[u32], mut random: ChaCha8Rng) -> (Vec<usize>, Vec<u32>) {
        let mut taken = vec![false; self.common.len()];
        let (mut lengths, mut words) = (Vec::new(), Vec::new());
        for &class in class_of {
            let start = words.len();
            for _ in 0..self.length(&mut random) {
                if let Some(word) = self.new_word(class, &taken, &mut random) {
                    taken[word as usize] = true;
                    words.push(word);
                }
            }
            let row = &mut words[start..];
            row.sort_unstable();
            row.iter().for_each(|&word| taken[word as usize] = false);
            lengths.push(row.len());
        }
        (lengths, words)
    }

    /// How many words a node has: Poisson, at least one.
    fn length(&self, random: &mut impl Rng) -> usize {
        let length = Poisson::new(self.words_per_node)
            .map_or(self.words_per_node, |poisson| poisson.sample(random));
        (length as usize).clamp(1, self.common.len())
    }

    fn new_word(&self, class: u32, taken: &[bool], random: &mut impl Rng) -> Option<u32> {
        let common = random.random::<f64>() < self.noise;
        let words = match common {
            true => &self.common,
            false => &self.topics[class as usize],
        };
        let sums = &self.frequencies[..words.len()];
        let total = sums.last().copied().unwrap_or(0.0);
        (0..TRIES)
            .map(|_| {
                let place = random.random::<f64>() * total;
                words[sums.partition_point(|&sum| sum <= place)]
            })
            .find(|&word| !taken[word as usize])
    }
}
