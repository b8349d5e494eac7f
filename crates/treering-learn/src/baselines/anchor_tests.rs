//! The one pull against the sum of all pulls, one by one.

use proptest::prelude::*;

use super::{Anchor, Importance};

/// For each task: how important each weight is, and what it was.
fn tasks() -> impl Strategy<Value = Vec<Vec<(f64, f64)>>> {
    let importance = prop_oneof![1 => Just(0.0), 3 => 0.0..5.0, 1 => 1e-9..1e-6];
    proptest::collection::vec(
        proptest::collection::vec((importance, -2.0..2.0), 6),
        1..9usize,
    )
}

/// W2 grows by a class a task, W1 has 6 weights.
fn added(tasks: &[Vec<(f64, f64)>]) -> Anchor {
    let mut anchor = Anchor::default();
    for (task, pulls) in tasks.iter().enumerate() {
        let outputs = (task + 1).min(6);
        let pick = |of: fn(&(f64, f64)) -> f64| Importance {
            first: pulls.iter().map(of).collect(),
            second: pulls[..outputs].iter().map(of).collect(),
        };
        anchor.add_weights(&pick(|pull| pull.0), &pick(|pull| pull.1));
    }
    anchor
}

fn energy(tasks: &[Vec<(f64, f64)>], at: usize, weight: f64) -> f64 {
    let pull = |(importance, then): (f64, f64)| importance * (weight - then).powi(2);
    tasks.iter().map(|task| pull(task[at])).sum()
}

proptest! {
    #[test]
    fn one_pull_has_the_gradient_of_the_sum_and_its_energy_up_to_a_constant(tasks in tasks(), weights in proptest::collection::vec(-3.0..3.0f64, 6)) {
        let anchor = added(&tasks);
        for at in 0..6 {
            let (sum, centre) = (anchor.importance.first[at], anchor.centre.first[at]);
            let slope: f64 = tasks.iter().map(|task| 2.0 * task[at].0 * (weights[at] - task[at].1)).sum();
            prop_assert!((2.0 * sum * (weights[at] - centre) - slope).abs() < 1e-11);
            let constant = |w: f64| energy(&tasks, at, w) - sum * (w - centre).powi(2);
            prop_assert!((constant(weights[at]) - constant(0.7)).abs() < 1e-10);
        }
    }

    #[test]
    fn springs_pull_as_the_sum_does_and_leave_later_classes_alone(tasks in tasks(), weights in proptest::collection::vec(-3.0..3.0f32, 6)) {
        let springs = added(&tasks).springs(3.0).unwrap();
        let mut gradient = vec![0.0f32; 6];
        springs.first.add(&mut gradient, &weights);
        for at in 0..6 {
            let slope: f64 = tasks.iter().map(|task| 6.0 * task[at].0 * (f64::from(weights[at]) - task[at].1)).sum();
            prop_assert!((f64::from(gradient[at]) - slope).abs() < 1e-4, "{} {slope}", gradient[at]);
        }
        prop_assert_eq!(springs.second.strength.len(), tasks.len().min(6));
        // The last class came with the last task, so only that task pulls at it.
        let last = tasks.len().min(6) - 1;
        let since = &tasks[last..];
        let sum: f64 = since.iter().map(|task| task[last].0).sum();
        prop_assert!((f64::from(springs.second.strength[last]) - 6.0 * sum).abs() < 1e-4);
    }
}

#[test]
fn nothing_pulls_before_the_first_task() {
    assert!(Anchor::default().springs(1.0).is_none());
}

#[test]
fn importances_blend_weight_by_weight_and_new_weights_begin_at_zero() {
    let mut old = Importance {
        first: vec![1.0, 2.0],
        second: vec![4.0],
    };
    let new = Importance {
        first: vec![3.0, 0.0],
        second: vec![1.0, 8.0],
    };
    old.blend(0.75, &new, 0.25);
    assert_eq!((old.first, old.second), (vec![1.5, 1.5], vec![3.25, 2.0]));
}
