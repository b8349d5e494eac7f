//! Inner products of gradients that are zero in most rows.
//!
//! An old task's gradient by W1 is zero in every feature column that its kept rows do not have, so it is held, multiplied and added on its own
//! columns only. Products are summed in f64: rounded to f32, those of nearly opposite gradients would not even belong to real ones.

use rayon::prelude::*;

use crate::network::kernels::{add_scaled, dot_wide};
use crate::network::session::Gradient;

/// The gradient of an old task, by W1 on some of the session's columns, and by W2.
#[derive(Clone)]
pub(super) struct Own {
    /// Which of the session's columns, ascending.
    pub(super) places: Vec<u32>,
    /// The gradient, a row for each of these columns.
    pub(super) slopes: Gradient<f32>,
    /// Width of a row.
    pub(super) width: usize,
}

impl Own {
    fn row(&self, at: usize) -> &[f32] {
        &self.slopes.first[at * self.width..(at + 1) * self.width]
    }

    /// The product with a gradient on all columns of the session.
    pub(super) fn along(&self, whole: &Gradient<f32>) -> f64 {
        let row = |place: u32| &whole.first[place as usize * self.width..][..self.width];
        let rows = self.places.iter().enumerate();
        let first: f64 = rows
            .map(|(at, &place)| dot_wide(self.row(at), row(place)))
            .sum();
        first + dot_wide(&self.slopes.second, &whole.second)
    }

    /// The product with another task's gradient: rows that both have.
    fn with(&self, other: &Own) -> f64 {
        let (mut a, mut b, mut sum) = (0, 0, 0.0);
        while a < self.places.len() && b < other.places.len() {
            match self.places[a].cmp(&other.places[b]) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => {
                    sum += dot_wide(self.row(a), other.row(b));
                    (a, b) = (a + 1, b + 1);
                }
            }
        }
        sum + dot_wide(&self.slopes.second, &other.slopes.second)
    }

    /// Adds so many times this one.
    pub(super) fn add_to(&self, whole: &mut Gradient<f32>, times: f32) {
        for (at, &place) in self.places.iter().enumerate() {
            let into = &mut whole.first[place as usize * self.width..][..self.width];
            add_scaled(into, times, self.row(at));
        }
        add_scaled(&mut whole.second, times, &self.slopes.second);
    }
}

/// The product of each with each, row by row. Every product is one thread's, so the number of threads changes nothing.
pub(super) fn gram(all: &[Own]) -> Vec<f64> {
    let tasks = all.len();
    let rows: Vec<Vec<f64>> = (0..tasks)
        .into_par_iter()
        .map(|at| all[..=at].iter().map(|other| all[at].with(other)).collect())
        .collect();
    let mut gram = vec![0.0; tasks * tasks];
    for (at, row) in rows.iter().enumerate() {
        for (other, &product) in row.iter().enumerate() {
            gram[at * tasks + other] = product;
            gram[other * tasks + at] = product;
        }
    }
    gram
}
