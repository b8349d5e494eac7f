//! The search against every choice of places that could be at the margin.

use proptest::prelude::*;

use super::settle;

/// Gradients of a few old tasks in few dimensions, and that of the step.
fn case() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>)> {
    (1usize..6, 2usize..7).prop_flat_map(|(tasks, dimensions)| {
        let gradient = || proptest::collection::vec(-2.0..2.0f64, dimensions);
        (proptest::collection::vec(gradient(), tasks), gradient())
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Q and p of the search.
fn problem(old: &[Vec<f64>], step: &[f64], epsilon: f64) -> (Vec<f64>, Vec<f64>) {
    let mut q: Vec<f64> = old
        .iter()
        .flat_map(|a| old.iter().map(move |b| dot(a, b)))
        .collect();
    (0..old.len()).for_each(|at| q[at * old.len() + at] += epsilon);
    (q, old.iter().map(|a| dot(a, step)).collect())
}

fn value(q: &[f64], p: &[f64], v: &[f64]) -> f64 {
    let size = p.len();
    let rows = (0..size).map(|at| v[at] * dot(&q[at * size..][..size], v));
    rows.sum::<f64>() / 2.0 + dot(p, v)
}

/// Solves a x = b by elimination.
fn solved(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let size = b.len();
    for at in 0..size {
        let best = (at..size).max_by(|&i, &j| a[i][at].abs().total_cmp(&a[j][at].abs()));
        a.swap(at, best.unwrap());
        b.swap(at, best.unwrap());
        for row in at + 1..size {
            let by = a[row][at] / a[at][at];
            let above = a[at].clone();
            a[row].iter_mut().zip(above).for_each(|(x, y)| *x -= by * y);
            b[row] -= by * b[at];
        }
    }
    for at in (0..size).rev() {
        let known: f64 = (at + 1..size).map(|c| a[at][c] * b[c]).sum();
        b[at] = (b[at] - known) / a[at][at];
    }
    b
}

/// The smallest value over all choices of free places, each solved exactly.
fn smallest(q: &[f64], p: &[f64], margin: f64) -> f64 {
    let size = p.len();
    let choice = |free: u32| {
        let places: Vec<usize> = (0..size).filter(|at| free >> at & 1 == 1).collect();
        let bound = |row: usize| -> f64 {
            let others = (0..size).filter(|at| free >> at & 1 == 0);
            others.map(|at| q[row * size + at] * margin).sum()
        };
        let a = places
            .iter()
            .map(|&row| places.iter().map(|&c| q[row * size + c]).collect())
            .collect();
        let b = places.iter().map(|&row| -p[row] - bound(row)).collect();
        let mut v = vec![margin; size];
        for (&at, x) in places.iter().zip(solved(a, b)) {
            v[at] = x;
        }
        let allowed = v.iter().all(|&x| x >= margin - 1e-12);
        if allowed {
            value(q, p, &v)
        } else {
            f64::INFINITY
        }
    };
    (0..1 << size).map(choice).fold(f64::INFINITY, f64::min)
}

proptest! {
    #[test]
    fn no_other_choice_is_better((old, step) in case(), epsilon in 1e-2..1.0f64, margin in prop_oneof![Just(0.0), 0.0..1.0f64]) {
        let (q, p) = problem(&old, &step, epsilon);
        let v = settle(&q, &p, margin).unwrap();
        prop_assert!(v.iter().all(|&v| v >= margin));
        let (found, right) = (value(&q, &p, &v), smallest(&q, &p, margin));
        prop_assert!((found - right).abs() <= 1e-7 * (1.0 + right.abs()), "{} {}", found, right);
    }

    #[test]
    fn without_epsilon_no_old_task_is_crossed_for_any_margin((old, step) in case(), margin in 0.0..3.0f64) {
        let (q, p) = problem(&old, &step, 0.0);
        let v = settle(&q, &p, margin).unwrap();
        let turned: Vec<f64> = (0..step.len()).map(|c| step[c] + old.iter().zip(&v).map(|(g, v)| v * g[c]).sum::<f64>()).collect();
        // Nearly opposite gradients take large v, and rounding grows with them.
        let rounding = 1e-9 * (1.0 + v.iter().sum::<f64>());
        for old in &old {
            prop_assert!(dot(&turned, old) >= -rounding, "{}", dot(&turned, old));
        }
    }
}

#[test]
fn tasks_without_a_gradient_and_tasks_twice_the_same_do_no_harm() {
    let same = vec![1.0, -1.0, 0.0];
    let old = [same.clone(), vec![0.0; 3], same];
    let (q, p) = problem(&old, &[-1.0, 1.0, 4.0], 0.0);
    let v = settle(&q, &p, 0.0).unwrap();
    assert_eq!(v[1], 0.0);
    assert!((v[0] + v[2] - 1.0).abs() < 1e-9, "{v:?}");
}

#[test]
fn gradients_that_are_nearly_opposite_leave_what_is_across_both() {
    let old = [vec![1.0, 1e-4, 0.0], vec![-1.0, 1e-4, 0.0]];
    let (q, p) = problem(&old, &[0.3, -1.0, 2.0], 0.0);
    let v = settle(&q, &p, 0.0).unwrap();
    let turned = |c: usize| [0.3, -1.0, 2.0][c] + v[0] * old[0][c] + v[1] * old[1][c];
    for (c, right) in [0.0, 0.0, 2.0].into_iter().enumerate() {
        assert!((turned(c) - right).abs() < 1e-7, "{c}: {}", turned(c));
    }
}

#[test]
fn many_tasks_in_few_dimensions_are_settled() {
    let number = |i: usize| ((i * 7919 + i * i * 104_729) % 1009) as f64 / 504.5 - 1.0;
    for dimensions in 3..40 {
        let row = |task: usize| (0..dimensions).map(|c| number(task * 97 + c)).collect();
        let old: Vec<Vec<f64>> = (0..34).map(row).collect();
        let step: Vec<f64> = (0..dimensions).map(|c| -number(c * 31 + 5)).collect();
        let (q, p) = problem(&old, &step, 0.0);
        let v = settle(&q, &p, 0.5);
        assert!(v.is_some(), "{dimensions}");
    }
}

#[test]
fn what_cannot_be_settled_is_said() {
    // An eigenvalue below 0: there is no smallest.
    assert_eq!(settle(&[1.0, -2.0, -2.0, 1.0], &[-1.0, -1.0], 0.0), None);
}
