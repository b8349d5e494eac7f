//! Random streams, one for each purpose, so that a change in one place never shifts the draws of another.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What random numbers are drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Which nodes are train, validation and test.
    Split = 1,
    /// The order of classes.
    Order = 2,
    /// First values of parameters.
    Initialisation = 3,
    /// Neighbours for isolated nodes, as the paper gives them.
    Patching = 4,
    /// Corrupted views for contrastive learning.
    Augmentation = 5,
    /// Nodes to keep, batches.
    Sampling = 6,
    /// Synthetic graphs.
    Synthesis = 7,
    /// Which nodes are asked about together.
    Grouping = 8,
    /// Which places of a projection a feature column goes to.
    Projection = 9,
}

/// The random numbers of one purpose; `index` keeps tasks, classes or blocks of one purpose apart.
///
/// # Example
/// ```
/// use rand::Rng;
/// use treering_data::{Purpose, random};
/// let draw = |purpose, index| random(7, purpose, index).next_u64();
/// assert_eq!(draw(Purpose::Split, 0), draw(Purpose::Split, 0));
/// assert_ne!(draw(Purpose::Split, 0), draw(Purpose::Split, 1));
/// assert_ne!(draw(Purpose::Split, 0), draw(Purpose::Order, 0));
/// ```
pub fn random(seed: u64, purpose: Purpose, index: u64) -> ChaCha8Rng {
    let mut key = [0u8; 32];
    for (part, word) in key
        .chunks_exact_mut(8)
        .zip([seed, purpose as u64, index, 0])
    {
        part.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}
