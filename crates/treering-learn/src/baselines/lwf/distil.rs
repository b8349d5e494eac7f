//! How far the outputs for some classes are from what they were.

use crate::network::kernels::softmax;
use crate::network::number::Number;

/// Cross entropy between softened old and new probabilities of the first classes, the mean over rows.
pub struct Distillation<'a, T> {
    /// Old logits: `kept` for each train row.
    pub old: &'a [T],
    /// How many old logits a row has.
    pub kept: usize,
    /// Which train rows the new logits belong to.
    pub rows: &'a [usize],
    /// How many classes compete, from the first on.
    pub columns: usize,
    /// Divides all logits.
    pub temperature: f64,
    /// Times the loss.
    pub weight: f64,
}

impl<T: Number> Distillation<'_, T> {
    /// Adds the gradient by `logits`, rows of `outputs`, to `slopes`; returns the loss.
    pub fn add(&self, logits: &[T], outputs: usize, slopes: &mut [T]) -> f64 {
        let share = self.weight / self.rows.len().max(1) as f64;
        let factor = T::from_f64(share / self.temperature);
        let (mut was, mut is) = (Vec::new(), Vec::new());
        let mut loss = 0.0;
        let rows = logits.chunks(outputs).zip(slopes.chunks_mut(outputs));
        for (&row, (logits, slopes)) in self.rows.iter().zip(rows) {
            self.soften(&self.old[row * self.kept..], &mut was);
            self.soften(logits, &mut is);
            for ((slope, &was), &is) in slopes.iter_mut().zip(&was).zip(&is) {
                loss -= share * was.to_f64() * is.to_f64().max(f64::MIN_POSITIVE).ln();
                *slope += factor * (is - was);
            }
        }
        loss
    }

    fn soften(&self, logits: &[T], into: &mut Vec<T>) {
        let by = T::from_f64(1.0 / self.temperature);
        into.clear();
        into.extend(logits[..self.columns].iter().map(|&logit| logit * by));
        softmax(into);
    }
}
