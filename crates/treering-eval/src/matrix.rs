//! The accuracy matrix M[t][j], on task j after learning task t, and what is read off it.

use serde::Serialize;

/// Accuracies in percent; row t has t + 1 entries, or none where the stage was not asked about. Nothing in here is rounded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Matrix {
    rows: Vec<Vec<f64>>,
}

impl Matrix {
    /// Takes rows of 1, 2, 3, ... entries; empty ones for stages that nobody asked about.
    ///
    /// # Panics
    /// When a row has another length.
    pub fn new(rows: Vec<Vec<f64>>) -> Self {
        for (stage, row) in rows.iter().enumerate() {
            let length = row.len();
            assert!(
                length == stage + 1 || length == 0,
                "row {stage} of an accuracy matrix has {length} entries"
            );
        }
        Matrix { rows }
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    /// Average accuracy after the last task.
    ///
    /// # Example
    /// ```
    /// use treering_eval::Matrix;
    /// let matrix = Matrix::new(vec![vec![90.0], vec![70.0, 80.0]]);
    /// assert_eq!(matrix.average_accuracy(), Some(75.0));
    /// assert_eq!(matrix.average_forgetting(), Some(-20.0));
    /// ```
    pub fn average_accuracy(&self) -> Option<f64> {
        self.rows.last().and_then(|row| mean(row))
    }

    /// Average forgetting: how far every task but the last has moved since it was learned. Negative is worse; none for one task.
    pub fn average_forgetting(&self) -> Option<f64> {
        let last = self.rows.last().filter(|row| row.len() > 1)?;
        let moved: Option<Vec<f64>> = (0..last.len() - 1)
            .map(|task| Some(last[task] - self.rows[task].get(task)?))
            .collect();
        mean(&moved?)
    }

    /// The mean of every row: how accuracy develops. None where a stage was not asked about.
    pub fn learning_curve(&self) -> Vec<Option<f64>> {
        self.rows.iter().map(|row| mean(row)).collect()
    }
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean over classes of the share of right answers, in percent. Classes without a node do not count.
///
/// # Arguments
/// * `right`: for every node its class and whether the answer was right.
///
/// # Example
/// ```
/// let right = [(0, true), (0, true), (0, true), (1, false)];
/// assert_eq!(treering_eval::balanced_accuracy(2, right), Some(50.0));
/// ```
pub fn balanced_accuracy(
    classes: usize,
    right: impl IntoIterator<Item = (usize, bool)>,
) -> Option<f64> {
    let mut counts = vec![(0usize, 0usize); classes];
    for (class, right) in right {
        counts[class].0 += usize::from(right);
        counts[class].1 += 1;
    }
    let shares: Vec<f64> = counts
        .iter()
        .filter(|(_, all)| *all > 0)
        .map(|&(right, all)| 100.0 * right as f64 / all as f64)
        .collect();
    mean(&shares)
}

#[cfg(test)]
mod tests {
    use super::{Matrix, balanced_accuracy};

    /// AA = sum over j of M_Tj / T, AF = sum over j < T of (M_Tj - M_jj) / (T - 1), as the paper has them.
    #[test]
    fn averages_are_the_papers_on_matrices_by_hand() {
        // Nothing is forgotten: AF is 0 whatever the accuracies.
        let kept = Matrix::new(vec![vec![80.0], vec![80.0, 60.0], vec![80.0, 60.0, 100.0]]);
        assert_eq!(kept.average_accuracy(), Some(80.0));
        assert_eq!(kept.average_forgetting(), Some(0.0));
        // Old tasks get better: AF is positive.
        let better = Matrix::new(vec![vec![50.0], vec![70.0, 90.0]]);
        assert_eq!(better.average_forgetting(), Some(20.0));
        // Everything is forgotten, as fine-tuning does.
        let lost = Matrix::new(vec![vec![100.0], vec![0.0, 100.0], vec![0.0, 0.0, 100.0]]);
        assert_eq!(lost.average_accuracy(), Some(100.0 / 3.0));
        assert_eq!(lost.average_forgetting(), Some(-100.0));
        // Only the last row and the diagonal count: what comes between is neither the best nor the worst of a task.
        let between = Matrix::new(vec![vec![60.0], vec![99.0, 80.0], vec![50.0, 70.0, 90.0]]);
        assert_eq!(between.average_accuracy(), Some(70.0));
        assert_eq!(between.average_forgetting(), Some(-10.0));
        // The last task is no part of AF.
        let last = Matrix::new(vec![vec![40.0], vec![30.0, 0.0]]);
        assert_eq!(last.average_forgetting(), Some(-10.0));
    }

    #[test]
    fn accuracy_counts_classes_alike_and_leaves_out_those_without_a_node() {
        let rare = [(0, true), (0, true), (0, true), (0, false), (2, false)];
        assert_eq!(balanced_accuracy(3, rare), Some(37.5));
        assert_eq!(balanced_accuracy(3, []), None);
    }

    #[test]
    #[should_panic(expected = "row 1 of an accuracy matrix has 1 entries")]
    fn a_row_of_another_length_is_refused() {
        Matrix::new(vec![vec![1.0], vec![2.0]]);
    }

    #[test]
    fn a_matrix_by_hand() {
        let matrix = Matrix::new(vec![vec![100.0], vec![50.0, 90.0], vec![40.0, 95.0, 60.0]]);
        assert_eq!(matrix.average_accuracy(), Some(65.0));
        assert_eq!(matrix.average_forgetting(), Some((-60.0 + 5.0) / 2.0));
        assert_eq!(
            matrix.learning_curve(),
            [Some(100.0), Some(70.0), Some(65.0)]
        );
        let last = Matrix::new(vec![vec![], vec![50.0, 90.0]]);
        assert_eq!(last.average_accuracy(), Some(70.0));
        assert_eq!(last.average_forgetting(), None);
        assert_eq!(last.learning_curve(), [None, Some(70.0)]);
        assert_eq!(Matrix::new(vec![vec![1.0]]).average_forgetting(), None);
        assert_eq!(Matrix::new(Vec::new()).average_accuracy(), None);
    }
}
