//! Importances against gradients of single rows, by the textbook.

use super::{Mas, add_squares};
use crate::baselines::Strategy;
use crate::baselines::anchor::Importance;
use crate::checks::{assert_same_importance, row_gradient, with_session};

fn mas(original: bool) -> Mas {
    Mas {
        lambda: 1.0,
        original,
        importance: Importance::default(),
        rows: 0,
    }
}

/// `inner` of each row's gradient of its squared outputs, meaned over rows, then `outer`.
fn naive(inner: fn(f64) -> f64, outer: fn(f64) -> f64) -> Importance {
    let mut mean = Importance::default();
    with_session(|_, lesson, network| {
        let rows = lesson.kept_rows().to_dense();
        let double = |z: &[f64]| z.iter().map(|z| 2.0 * z).collect();
        for at in 0..rows.rows() {
            let mut one = row_gradient(rows.row(at), network, double);
            one.first.iter_mut().for_each(|x| *x = inner(*x));
            one.second.iter_mut().for_each(|x| *x = inner(*x));
            mean.blend(1.0, &one, 1.0 / rows.rows() as f64);
        }
    });
    mean.first.iter_mut().for_each(|x| *x = outer(*x));
    mean.second.iter_mut().for_each(|x| *x = outer(*x));
    mean
}

#[test]
fn the_default_squares_the_gradient_of_the_mean_over_rows_and_outputs() {
    with_session(|session, lesson, _| {
        let found = mas(false).task_importance(session, lesson);
        // 4 outputs.
        assert_same_importance(&found, &naive(|x| x, |x| (x / 4.0).powi(2)), "as coded");
    });
}

#[test]
fn the_original_means_the_sizes_of_row_gradients() {
    with_session(|session, lesson, _| {
        let found = mas(true).task_importance(session, lesson);
        assert_same_importance(&found, &naive(f64::abs, |x| x), "original");
    });
}

#[test]
fn importance_is_the_mean_over_all_rows_seen() {
    with_session(|session, lesson, _| {
        let new = mas(false).task_importance(session, lesson);
        let mut learner = mas(false);
        // As many rows with three times the importance went before, when there were 2 outputs.
        learner.rows = lesson.labels.len();
        learner.importance.blend(0.0, &new, 3.0);
        learner.importance.second.truncate(2 * 5);
        learner.after(session, lesson).unwrap();
        for (found, new) in learner.importance.first.iter().zip(&new.first) {
            assert!((found - 2.0 * new).abs() <= 1e-12 * new);
        }
        for (at, (found, new)) in learner
            .importance
            .second
            .iter()
            .zip(&new.second)
            .enumerate()
        {
            let right = if at < 10 { 2.0 } else { 0.5 };
            assert!((found - right * new).abs() <= 1e-12 * new);
        }
        assert_eq!(learner.rows, 2 * lesson.labels.len());
    });
}

#[test]
fn slopes_of_squares_are_those_of_finite_differences() {
    // Two rows of three, of which the last column does not count.
    let logits = [0.3, -1.2, 2.0, 0.7, 0.1, -9.0f64];
    let mut slopes = [1.0; 6];
    add_squares(&logits, 2, 2, 0.4, &mut slopes);
    for at in 0..6 {
        let moved = |by: f64| {
            let mut logits = logits;
            logits[at] += by;
            add_squares(&logits, 2, 2, 0.4, &mut [0.0; 6])
        };
        let right = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        assert!((slopes[at] - 1.0 - right).abs() < 1e-9);
    }
    assert_eq!((slopes[2], slopes[5]), (1.0, 1.0));
}
