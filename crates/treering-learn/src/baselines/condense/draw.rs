//! Random weights, drawn quickly: one word of the stream a number, and pieces of fixed size with streams of their own, so that neither the
//! bits nor their order depend on threads.

use rand::Rng;
use rayon::prelude::*;
use treering_data::{Purpose, random};

/// Numbers that one thread draws at a time.
const PIECE: usize = 1 << 14;

/// One of the random networks of a task.
#[derive(Clone, Copy, Debug)]
pub struct Network {
    /// Seeds everything.
    pub seed: u64,
    /// The task's number.
    pub task: u64,
    /// Which of the task's networks.
    pub number: usize,
    /// Which layer.
    pub layer: u32,
}

/// Fills `values` with `count` numbers between -bound and bound.
pub fn fill(network: Network, count: usize, bound: f64, values: &mut Vec<f32>) {
    values.resize(count, 0.0);
    // Apart from networks that are trained, which count up from 0.
    let index = 1 << 63 | network.task << 32 | network.number as u64;
    let start = random(network.seed, Purpose::Initialisation, index);
    let bound = bound as f32;
    values
        .par_chunks_mut(PIECE)
        .enumerate()
        .for_each(|(piece, values)| {
            let mut random = start.clone();
            random.set_stream(u64::from(network.layer) << 32 | piece as u64);
            // Many words at a time: one by one, asking for them takes as long as drawing them.
            let mut bytes = [0u8; 1024];
            for values in values.chunks_mut(bytes.len() / 4) {
                random.fill_bytes(&mut bytes);
                let (words, _) = bytes.as_chunks::<4>();
                for (value, &word) in values.iter_mut().zip(words) {
                    *value = unit(u32::from_le_bytes(word)) * bound;
                }
            }
        });
}

/// From -1 up to 1, from the upper 23 bits of a word.
fn unit(word: u32) -> f32 {
    // The bits of a number from 2 up to 4.
    f32::from_bits(0x4000_0000 | word >> 9) - 3.0
}

#[cfg(test)]
mod tests {
    use super::{Network, PIECE, fill, unit};

    const NETWORK: Network = Network {
        seed: 3,
        task: 1,
        number: 5,
        layer: 0,
    };

    fn drawn(network: Network, count: usize) -> Vec<f32> {
        let mut values = Vec::new();
        fill(network, count, 0.25, &mut values);
        values
    }

    #[test]
    fn words_cover_minus_one_to_one() {
        assert_eq!(unit(0), -1.0);
        assert_eq!(unit(1 << 31), 0.0);
        assert_eq!(unit(u32::MAX), 1.0 - f32::EPSILON * 2.0);
    }

    #[test]
    fn numbers_are_uniform_within_the_bound() {
        let values = drawn(NETWORK, 4 * PIECE + 3);
        let count = values.len() as f64;
        let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
        let square = values.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / count;
        assert!(values.iter().all(|x| x.abs() <= 0.25));
        assert!(mean.abs() < 3e-3, "{mean}");
        assert!((square * 48.0 - 1.0).abs() < 0.02, "{square}");
        assert_ne!(values[..PIECE], values[PIECE..2 * PIECE]);
    }

    #[test]
    fn networks_layers_tasks_and_seeds_differ_and_longer_draws_only_add() {
        let values = drawn(NETWORK, 100);
        assert_eq!(drawn(NETWORK, 70)[..70], values[..70]);
        for other in [
            Network { seed: 4, ..NETWORK },
            Network { task: 2, ..NETWORK },
            Network {
                number: 6,
                ..NETWORK
            },
            Network {
                layer: 1,
                ..NETWORK
            },
        ] {
            assert_ne!(drawn(other, 100), values);
        }
    }
}
