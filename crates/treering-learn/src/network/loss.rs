//! Losses on logits. Each adds its gradient by the logits to what others left there.

use super::kernels::softmax;
use super::number::Number;

/// Cross entropy over the first columns of the logits, one weight a row.
pub struct CrossEntropy<'a, T> {
    /// The class of each row.
    pub labels: &'a [u32],
    /// What each row counts.
    pub weights: &'a [T],
    /// How many columns compete; those behind them are as if they did not exist.
    pub columns: usize,
    /// Added to the logits of a row before the loss is taken.
    pub shift: Option<&'a [T]>,
}

impl<T: Number> CrossEntropy<'_, T> {
    /// Adds the gradient by `logits`, a row for every label, to `slopes`; returns the loss.
    pub fn add(&self, logits: &[T], slopes: &mut [T]) -> f64 {
        let outputs = (logits.len() / self.labels.len().max(1)).max(1);
        let mut scores = vec![T::ZERO; self.columns];
        let mut loss = 0.0;
        let rows = logits.chunks(outputs).zip(slopes.chunks_mut(outputs));
        for ((logits, slopes), (&label, &weight)) in rows.zip(self.labels.iter().zip(self.weights))
        {
            scores.copy_from_slice(&logits[..self.columns]);
            if let Some(shift) = self.shift {
                scores
                    .iter_mut()
                    .zip(shift)
                    .for_each(|(score, &shift)| *score += shift);
            }
            softmax(&mut scores);
            let right = scores[label as usize].to_f64();
            loss -= weight.to_f64() * right.max(f64::MIN_POSITIVE).ln();
            for (slope, &probability) in slopes.iter_mut().zip(&scores) {
                *slope += weight * probability;
            }
            slopes[label as usize] -= weight;
        }
        loss
    }
}

/// What each row counts in a loss of weight `total`: every class alike where `balanced`, every row alike otherwise.
///
/// Balanced, this is the mean over the classes present of the mean loss of their rows.
pub fn row_weights<T: Number>(labels: &[u32], balanced: bool, total: f64) -> Vec<T> {
    if !balanced {
        return vec![T::from_f64(total / labels.len().max(1) as f64); labels.len()];
    }
    let classes = labels
        .iter()
        .max()
        .map_or(0, |&largest| largest as usize + 1);
    let mut counts = vec![0usize; classes];
    labels.iter().for_each(|&label| counts[label as usize] += 1);
    let present = counts.iter().filter(|&&count| count > 0).count();
    let weight = |&label: &u32| T::from_f64(total / (present * counts[label as usize]) as f64);
    labels.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::{CrossEntropy, row_weights};

    #[test]
    fn balanced_weights_give_the_mean_of_class_means() {
        let labels = [0, 2, 2, 2];
        let weights: Vec<f64> = row_weights(&labels, true, 1.0);
        let losses = [1.0, 2.0, 3.0, 4.0];
        let weighted: f64 = weights.iter().zip(losses).map(|(w, l)| w * l).sum();
        assert!((weighted - (1.0 + 3.0) / 2.0).abs() < 1e-12);
        let plain: Vec<f64> = row_weights(&labels, false, 2.0);
        assert_eq!(plain, [0.5; 4]);
    }

    #[test]
    fn slopes_are_those_of_finite_differences_and_masked_columns_have_none() {
        let logits = [0.3, -1.0, 0.7, 5.0, 1.5, 0.2, -0.4, 9.0f64];
        let (labels, weights, shift) = ([2, 0], [0.25, 1.5], [0.1, -0.2, 0.0]);
        let loss = CrossEntropy {
            labels: &labels,
            weights: &weights,
            columns: 3,
            shift: Some(&shift),
        };
        let mut slopes = [0.0; 8];
        loss.add(&logits, &mut slopes);
        for at in 0..8 {
            let moved = |by: f64| {
                let mut logits = logits;
                logits[at] += by;
                loss.add(&logits, &mut [0.0; 8])
            };
            let right = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!(
                (slopes[at] - right).abs() < 1e-8,
                "{at}: {} {right}",
                slopes[at]
            );
        }
        assert_eq!((slopes[3], slopes[7]), (0.0, 0.0));
    }
}
