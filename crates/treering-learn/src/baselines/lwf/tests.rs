//! The distillation against its definition and finite differences.

use super::{Distillation, Lwf, Parameters};

/// Old logits of 3 train rows for 3 classes; new logits of train rows 2 and 0 for 4.
const OLD: [f64; 9] = [0.1, -0.4, 2.0, 9.0, 9.0, 9.0, -1.0, 0.5, 0.3];
const NEW: [f64; 8] = [0.2, 1.0, -0.7, 5.0, 1.5, 0.0, -0.3, -5.0];

fn distillation(columns: usize, temperature: f64) -> Distillation<'static, f64> {
    Distillation {
        old: &OLD,
        kept: 3,
        rows: &[2, 0],
        columns,
        temperature,
        weight: 0.6,
    }
}

fn naive(new: &[f64; 8], columns: usize, temperature: f64) -> f64 {
    let log_share = |logits: &[f64], class: usize| {
        let total: f64 = logits[..columns]
            .iter()
            .map(|z| (z / temperature).exp())
            .sum();
        logits[class] / temperature - total.ln()
    };
    let row = |old: &[f64], new: &[f64]| -> f64 {
        let term = |class| -log_share(old, class).exp() * log_share(new, class);
        (0..columns).map(term).sum()
    };
    0.6 * (row(&OLD[6..], &new[..4]) + row(&OLD[..3], &new[4..])) / 2.0
}

#[test]
fn the_loss_is_that_of_the_definition_and_its_slopes_those_of_finite_differences() {
    for (columns, temperature) in [(3, 1.0), (3, 2.0), (2, 20.0), (1, 2.0)] {
        let mut slopes = [0.0; 8];
        let loss = distillation(columns, temperature).add(&NEW, 4, &mut slopes);
        assert!((loss - naive(&NEW, columns, temperature)).abs() < 1e-12);
        for at in 0..8 {
            let moved = |by: f64| {
                let mut new = NEW;
                new[at] += by;
                naive(&new, columns, temperature)
            };
            let right = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!(
                (slopes[at] - right).abs() < 1e-9,
                "{at}: {} {right}",
                slopes[at]
            );
        }
    }
}

#[test]
fn outputs_that_have_not_changed_have_no_slope() {
    let same = [-1.0, 0.5, 0.3, 7.0, 0.1, -0.4, 2.0, -7.0];
    let mut slopes = [0.0; 8];
    distillation(3, 2.0).add(&same, 4, &mut slopes);
    assert_eq!(slopes, [0.0; 8]);
}

#[test]
fn old_classes_are_kept_once_or_task_by_task() {
    let mut lwf = Lwf {
        parameters: Parameters::default(),
        ends: vec![],
        old: vec![],
    };
    assert_eq!(lwf.prefixes(), [0usize; 0]);
    lwf.ends = vec![2, 3, 5];
    assert_eq!(lwf.prefixes(), [5]);
    lwf.parameters.prefix_sum = true;
    assert_eq!(lwf.prefixes(), [2, 3, 5]);
}
