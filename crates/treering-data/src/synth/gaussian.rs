//! Dense features: the mean of the node's class, and noise.

use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;

use super::recipe::Recipe;
use super::streams::{Use, stream};
use crate::Progress;

/// How many rows one stream draws.
const ROWS: usize = 1024;

/// All values, row by row.
pub(super) fn draw(recipe: &Recipe, class_of: &[u32], progress: &dyn Progress) -> Vec<f32> {
    let scale = Scale::new(recipe);
    let columns = recipe.features;
    let means = class_means(recipe, scale.mean);
    let mut values = vec![0f32; recipe.nodes * columns];
    values
        .par_chunks_mut(ROWS * columns)
        .zip(class_of.par_chunks(ROWS))
        .enumerate()
        .for_each(|(block, (values, class_of))| {
            let mut random = stream(recipe.seed, Use::Noise, 0, block as u64);
            for (row, &class) in values.chunks_exact_mut(columns).zip(class_of) {
                let mean = &means[class as usize * columns..][..columns];
                for (value, mean) in row.iter_mut().zip(mean) {
                    let noise: f32 = random.sample(StandardNormal);
                    *value = mean + scale.noise * noise;
                }
            }
            progress.advance(class_of.len() as u64);
        });
    values
}

/// Standard deviations of one column: of the class means, and of the noise.
struct Scale {
    mean: f32,
    noise: f32,
}

impl Scale {
    /// With this spread two class means are at distance 1 on average; then all is stretched to variance 1.
    fn new(recipe: &Recipe) -> Self {
        let spread = 1.0 / (2.0 * recipe.features as f64);
        let stretch = 1.0 / (spread + recipe.feature_noise.powi(2)).sqrt();
        Scale {
            mean: (spread.sqrt() * stretch) as f32,
            noise: (recipe.feature_noise * stretch) as f32,
        }
    }
}

fn class_means(recipe: &Recipe, deviation: f32) -> Vec<f32> {
    let mut random = stream(recipe.seed, Use::Means, 0, 0);
    let mut draw = || deviation * random.sample::<f32, _>(StandardNormal);
    (0..recipe.classes * recipe.features)
        .map(|_| draw())
        .collect()
}
