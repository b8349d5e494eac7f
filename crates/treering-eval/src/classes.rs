//! What is read off single answers rather than off the accuracy matrix: micro accuracy and macro F1.

use std::collections::BTreeMap;

/// A class of the whole stream: its task, and its place in it.
type Class = (usize, usize);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    there: usize,
    answered: usize,
    right: usize,
}

/// How often every class of the stream was there, was answered, and was answered rightly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts(BTreeMap<Class, Count>);

impl ClassCounts {
    /// Counts one node.
    pub fn count(&mut self, truth: Class, answer: Class) {
        self.0.entry(truth).or_default().there += 1;
        let answered = self.0.entry(answer).or_default();
        answered.answered += 1;
        answered.right += usize::from(truth == answer);
    }

    /// Counts the nodes of other counts too.
    pub fn add(&mut self, other: &ClassCounts) {
        for (class, count) in &other.0 {
            let sum = self.0.entry(*class).or_default();
            sum.there += count.there;
            sum.answered += count.answered;
            sum.right += count.right;
        }
    }

    /// The share of nodes whose task and class were both right, in percent; none without a node.
    ///
    /// # Example
    /// ```
    /// let mut counts = treering_eval::ClassCounts::default();
    /// counts.count((0, 1), (0, 1));
    /// counts.count((0, 1), (2, 1));
    /// assert_eq!(counts.micro_accuracy(), Some(50.0));
    /// ```
    pub fn micro_accuracy(&self) -> Option<f64> {
        let (right, all) = self.0.values().fold((0, 0), |sum, count| {
            (sum.0 + count.right, sum.1 + count.there)
        });
        (all > 0).then(|| 100.0 * right as f64 / all as f64)
    }

    /// The mean over classes of F1, the harmonic mean of precision and recall, in percent. A class counts if it was there or was answered;
    /// one that was never right has 0.
    pub fn macro_f1(&self) -> Option<f64> {
        let f1 = |count: &Count| 2.0 * count.right as f64 / (count.there + count.answered) as f64;
        let sum: f64 = self.0.values().map(f1).sum();
        (!self.0.is_empty()).then(|| 100.0 * sum / self.0.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::ClassCounts;

    /// Six nodes of classes a, b (task 0) and c (task 1); d (task 1) is only ever answered.
    fn by_hand() -> ClassCounts {
        let (a, b, c, d) = ((0, 0), (0, 1), (1, 0), (1, 1));
        let (mut first, mut second) = (ClassCounts::default(), ClassCounts::default());
        [(a, a), (a, a), (a, b), (b, d)]
            .iter()
            .for_each(|&(truth, answer)| first.count(truth, answer));
        [(c, c), (c, a)]
            .iter()
            .for_each(|&(truth, answer)| second.count(truth, answer));
        first.add(&second);
        first
    }

    #[test]
    fn micro_accuracy_is_the_share_of_right_answers() {
        assert_eq!(by_hand().micro_accuracy(), Some(50.0));
        assert_eq!(ClassCounts::default().micro_accuracy(), None);
    }

    #[test]
    fn macro_f1_is_the_mean_over_classes_of_the_harmonic_mean_of_precision_and_recall() {
        // a: precision 2/3, recall 2/3; b: 0; c: precision 1, recall 1/2; d: 0.
        let harmonic = |p: f64, r: f64| 2.0 * p * r / (p + r);
        let expected =
            100.0 * (harmonic(2.0 / 3.0, 2.0 / 3.0) + 0.0 + harmonic(1.0, 0.5) + 0.0) / 4.0;
        let found = by_hand().macro_f1().unwrap_or(0.0);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        assert_eq!(ClassCounts::default().macro_f1(), None);
    }

    #[test]
    fn the_right_class_of_the_wrong_task_is_wrong() {
        let mut counts = ClassCounts::default();
        counts.count((0, 1), (1, 1));
        assert_eq!(counts.micro_accuracy(), Some(0.0));
        assert_eq!(counts.macro_f1(), Some(0.0));
    }
}
