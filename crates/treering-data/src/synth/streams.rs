//! Random streams of the generator: one for each use, round and block, whoever draws them and in whatever order.

use rand_chacha::ChaCha8Rng;

use crate::{Purpose, random};

/// What the generator draws.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(super) enum Use {
    Classes = 1,
    Isolated = 2,
    Propensity = 3,
    SameClass = 4,
    SameTask = 5,
    AcrossTasks = 6,
    Surplus = 7,
    Means = 8,
    Noise = 9,
    Topics = 10,
    Words = 11,
}

/// The stream of one block in one round. Ranges never meet: 8 bits of use, 16 of round, 40 of block.
pub(super) fn stream(seed: u64, what: Use, round: u64, block: u64) -> ChaCha8Rng {
    debug_assert!(round < 1 << 16 && block < 1 << 40);
    random(
        seed,
        Purpose::Synthesis,
        (what as u64) << 56 | round << 40 | block,
    )
}
