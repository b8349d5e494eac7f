//! What is kept, inner products, and steps that are turned.

use super::products::{Own, gram};
use super::{Gem, Parameters, memory::Kept};
use crate::checks::with_session;
use crate::network::session::Gradient;

fn gradient(seed: u32, first: usize, second: usize) -> Gradient<f32> {
    let number = |i: usize| {
        let mixed = (i as u32 + 1)
            .wrapping_mul(2_654_435_761)
            .wrapping_add(seed.wrapping_mul(0x9E37_79B9));
        ((mixed ^ mixed >> 15).wrapping_mul(0x85EB_CA6B) >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    Gradient {
        first: (0..first).map(number).collect(),
        second: (first..first + second).map(number).collect(),
    }
}

fn dot(a: &Gradient<f32>, b: &Gradient<f32>) -> f64 {
    let all = |g: &Gradient<f32>| [g.first.clone(), g.second.clone()].concat();
    let pairs = all(a).into_iter().zip(all(b));
    pairs.map(|(a, b)| f64::from(a) * f64::from(b)).sum()
}

/// The same gradient on its own columns: rows of 6, of which those at `places` are kept.
fn own(whole: &Gradient<f32>, places: &[u32]) -> Own {
    let row = |&place: &u32| whole.first[place as usize * 6..][..6].to_vec();
    Own {
        places: places.to_vec(),
        slopes: Gradient {
            first: places.iter().flat_map(row).collect(),
            second: whole.second.clone(),
        },
        width: 6,
    }
}

/// And back, with zeros elsewhere.
fn whole(own: &Own, columns: usize) -> Gradient<f32> {
    let mut whole = Gradient {
        first: vec![0.0; columns * 6],
        second: vec![0.0; own.slopes.second.len()],
    };
    own.add_to(&mut whole, 1.0);
    whole
}

fn gem(parameters: Parameters, gradients: &[Gradient<f32>]) -> Gem {
    let all: Vec<u32> = (0..5).collect();
    let gradients = gradients
        .iter()
        .map(|gradient| own(gradient, &all))
        .collect();
    Gem {
        parameters,
        memory: Vec::new(),
        gradients,
        unsettled: 0,
    }
}

#[test]
fn products_are_those_of_the_definition_whatever_columns_are_shared() {
    let places: [&[u32]; 4] = [&[0, 2, 3], &[1, 2, 4], &[], &[0, 1, 2, 3, 4]];
    let all: Vec<Own> = (0..4)
        .map(|at| own(&gradient(at, 30, 12), places[at as usize]))
        .collect();
    let found = gram(&all);
    let other = gradient(9, 30, 12);
    for (a, left) in all.iter().enumerate() {
        for (b, right) in all.iter().enumerate() {
            let right = dot(&whole(left, 5), &whole(right, 5));
            assert!((found[a * 4 + b] - right).abs() < 1e-9);
        }
        assert!((left.along(&other) - dot(&whole(left, 5), &other)).abs() < 1e-9);
    }
}

#[test]
fn a_turned_step_crosses_no_old_task_and_a_harmless_one_stays() {
    for margin in [0.0, 0.5] {
        let old: Vec<_> = (0..5).map(|seed| gradient(seed, 30, 12)).collect();
        let parameters = Parameters {
            margin,
            epsilon: 0.0,
            ..Parameters::default()
        };
        let mut crossed = 0;
        for seed in 10..40 {
            let start = gradient(seed, 30, 12);
            let harmless = old.iter().all(|old| dot(old, &start) >= 0.0);
            let mut learner = gem(parameters.clone(), &old);
            let mut turned = start.clone();
            learner.turn(&mut turned);
            assert_eq!((turned == start, learner.unsettled), (harmless, 0));
            for old in &old {
                assert!(dot(old, &turned) > -1e-5, "{}", dot(old, &turned));
            }
            crossed += usize::from(!harmless);
        }
        assert!(crossed > 10);
    }
}

/// One old task: v = max(margin, -p / (q + epsilon)).
#[test]
fn epsilon_counts_as_it_is_or_times_the_square_of_the_old_gradient() {
    let old = gradient(1, 30, 12);
    let start = Gradient {
        first: old.first.iter().map(|g| -g).collect(),
        second: old.second.iter().map(|g| -g).collect(),
    };
    let square = dot(&old, &old);
    for (relative, right) in [(false, square / (square + 0.2)), (true, 1.0 / 1.2)] {
        let parameters = Parameters {
            margin: 0.0,
            epsilon: 0.2,
            relative_epsilon: relative,
            ..Parameters::default()
        };
        let mut learner = gem(parameters, std::slice::from_ref(&old));
        let mut turned = start.clone();
        learner.turn(&mut turned);
        let rest = turned.first[0] / start.first[0];
        assert!((f64::from(rest) - (1.0 - right)).abs() < 1e-5);
    }
}

#[test]
fn memory_is_balanced_as_far_as_rows_last_or_the_first_rows_class_by_class() {
    with_session(|_, lesson, _| {
        let sizes: Vec<usize> = lesson.rows_by_class().iter().map(Vec::len).collect();
        assert!(
            sizes[0] >= 6 && sizes[1] >= 6 && sizes[0] != sizes[1],
            "{sizes:?}"
        );
        let counts = |kept: &Kept| {
            [2, 3].map(|class| {
                kept.labels()
                    .iter()
                    .filter(|&&label| label == class)
                    .count()
            })
        };
        assert_eq!(counts(&Kept::of(lesson, 6, false)), [3, 3]);
        let smaller = sizes[0].min(sizes[1]);
        let filled = counts(&Kept::of(lesson, 2 * smaller + 1, false));
        assert_eq!(
            (filled[0].min(filled[1]), filled[0].max(filled[1])),
            (smaller, smaller + 1)
        );
        assert_eq!(counts(&Kept::of(lesson, 1000, false)), [sizes[0], sizes[1]]);
        assert_eq!(counts(&Kept::of(lesson, 6, true)), [6, 0]);
        assert_eq!(Kept::of(lesson, 6, true).source().rows(), 6);
    });
}
