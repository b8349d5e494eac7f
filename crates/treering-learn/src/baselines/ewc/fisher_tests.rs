//! Importances against gradients of single rows, by the textbook.

use super::{Fisher, class_at, drawn};
use crate::baselines::anchor::Importance;
use crate::checks::{assert_same_importance, cross_entropy_slopes, row_gradient, with_session};
use crate::network::loss::row_weights;

#[test]
fn the_default_is_the_square_of_the_weighted_sum_of_row_gradients() {
    with_session(|session, lesson, network| {
        let found = Fisher::SquaredMean.importance(session, lesson);
        let rows = lesson.kept_rows().to_dense();
        let weights: Vec<f64> = row_weights(&lesson.labels, true, 1.0);
        let mut sum = Importance::default();
        for (at, &label) in lesson.labels.iter().enumerate() {
            let one = row_gradient(rows.row(at), network, |z| cross_entropy_slopes(z, label));
            sum.blend(1.0, &one, weights[at]);
        }
        let square = |values: &[f64]| values.iter().map(|x| x * x).collect();
        let right = Importance {
            first: square(&sum.first),
            second: square(&sum.second),
        };
        assert_same_importance(&found, &right, "squared mean");
    });
}

#[test]
fn per_row_importances_are_means_of_squares_of_row_gradients() {
    for fisher in [Fisher::PerRow, Fisher::PerRowSampled] {
        with_session(|session, lesson, network| {
            let labels = match fisher {
                Fisher::PerRow => lesson.labels.clone(),
                _ => drawn(session, lesson),
            };
            let found = fisher.importance(session, lesson);
            let rows = lesson.kept_rows().to_dense();
            let mut right = Importance::default();
            for (at, &label) in labels.iter().enumerate() {
                let mut one =
                    row_gradient(rows.row(at), network, |z| cross_entropy_slopes(z, label));
                one.first.iter_mut().for_each(|x| *x *= *x);
                one.second.iter_mut().for_each(|x| *x *= *x);
                right.blend(1.0, &one, 1.0 / labels.len() as f64);
            }
            assert_same_importance(&found, &right, "per row");
        });
    }
}

#[test]
fn drawn_classes_follow_the_probabilities() {
    let probabilities = [0.25, 0.0, 0.75];
    let points = [(0.0, 0), (0.24, 0), (0.25, 2), (0.99, 2), (1.0, 2)];
    for (point, class) in points {
        assert_eq!(class_at(&probabilities, point), class, "{point}");
    }
    with_session(|session, lesson, _| {
        let labels = drawn(session, lesson);
        assert!(
            labels.iter().any(|&label| label < 2),
            "old classes are drawn, too"
        );
        assert_eq!(
            labels,
            drawn(session, lesson),
            "the same seed draws the same"
        );
    });
}
