//! Deciding on the task of a node from the profiles present: their sums, added up in the order of the rings, and linear scores from them.

use faer::prelude::Solve;
use faer::{Mat, Side};
use serde::{Deserialize, Serialize};

use super::profile::Profile;
use crate::LearnError;
use crate::network::dense::{self, Into};

/// How a query finds its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Router {
    /// One class against all others, by least squares with a ridge.
    Ridge,
    /// A normal distribution for every class, with one scatter shared by all.
    Evidence,
    /// The nearest smoothed mean, as in the paper.
    Prototype,
}

impl Router {
    /// What scores of so many classes are multiplied with before they become probabilities. Least squares gives each of many classes a smaller score; the
    /// factor is a compromise over the validation nodes of six graphs of 6 to 70 classes (docs/treering-learner.md). A normal distribution says itself how sure it is.
    fn sharpness(self, classes: usize) -> f64 {
        match self {
            Router::Ridge => 4.0 * (classes as f64).ln(),
            Router::Evidence | Router::Prototype => 1.0,
        }
    }
}

/// The sums of all profiles so far.
#[derive(Clone, Debug)]
pub(crate) struct Sums {
    width: usize,
    /// Row by row, of which what lies above the diagonal is not worked out: it is symmetric.
    within: Vec<f64>,
    means: Vec<f32>,
    /// The task of every class.
    tasks: Vec<u32>,
    train: f64,
    /// How many profiles there are.
    pub(crate) stage: usize,
}

impl Sums {
    pub(crate) fn new(width: usize) -> Self {
        Sums {
            width,
            within: vec![0.0; width * width],
            means: Vec::new(),
            tasks: Vec::new(),
            train: 0.0,
            stage: 0,
        }
    }

    pub(crate) fn add(&mut self, profile: &Profile) {
        let rank = profile.scatter.directions.len() / self.width;
        let directions = dense::view(&profile.scatter.directions, rank, self.width);
        dense::each_lower(self.width, &mut self.within, |rows, sums, products| {
            let end = rows.end;
            products.resize(rows.len() * end, 0f32);
            let left = directions.subcols(rows.start, rows.len()).transpose();
            dense::product_here(products, Into::Replace, left, directions.subcols(0, end));
            let pieces = sums.chunks_mut(self.width).zip(products.chunks(end));
            for (sums, products) in pieces {
                let each = sums.iter_mut().zip(products);
                each.for_each(|(sum, &value)| *sum += f64::from(value));
            }
        });
        for at in 0..self.width {
            self.within[at * self.width + at] += profile.scatter.rest;
        }
        self.means.extend_from_slice(&profile.means);
        self.tasks
            .extend(std::iter::repeat_n(self.stage as u32, profile.classes()));
        self.train += profile.counts.iter().map(|&n| f64::from(n)).sum::<f64>();
        self.stage += 1;
    }

    fn classes(&self) -> usize {
        self.tasks.len()
    }

    /// The mean over classes of their means.
    fn centre(&self) -> Vec<f64> {
        let mut centre = vec![0f64; self.width];
        for mean in self.means.chunks(self.width) {
            for (sum, &value) in centre.iter_mut().zip(mean) {
                *sum += f64::from(value) / self.classes() as f64;
            }
        }
        centre
    }

    /// Scores for every class.
    ///
    /// The ridge is the mean variance of a class by the number of train nodes: what is known from few nodes is held back more. On six graphs of
    /// 3 to 35 tasks it was at or near the best of a grid on validation nodes.
    pub(crate) fn scores(&self, router: Router) -> Result<Scores, LearnError> {
        let (width, classes) = (self.width, self.classes() as f64);
        let centre = self.centre();
        let mean = |class: usize, at: usize| f64::from(self.means[class * width + at]) - centre[at];
        // What lies above the diagonal is never looked at.
        let mut matrix = dense::lower_matrix(&self.within, width, |sum| sum / classes);
        let trace: f64 = (0..width).map(|at| matrix[(at, at)]).sum();
        // Tiny, so that a task of equal rows has a solution too.
        let ridge = (trace / self.train).max(1e-6 / width as f64);
        (0..width).for_each(|at| matrix[(at, at)] += ridge);
        if router == Router::Ridge {
            let means = Mat::from_fn(self.classes(), width, mean);
            let scaled = faer::Scale(1.0 / classes) * means.transpose();
            matrix += scaled * &means;
        }
        let right = Mat::from_fn(width, self.classes(), |at, class| mean(class, at));
        let found = matrix
            .llt(Side::Lower)
            .map_err(|_| LearnError::Diverged { what: "router" })?;
        let mut weights = found.solve(&right);
        if router == Router::Ridge {
            // Targets are 1 for the class and 0 for all others.
            weights *= faer::Scale(1.0 / classes);
        }
        let bias = (0..self.classes()).map(|class| {
            let along = |of: &dyn Fn(usize) -> f64| -> f64 {
                (0..width).map(|at| of(at) * weights[(at, class)]).sum()
            };
            // Of the distance to a class's mean, half is the same for a normal distribution and nothing for least squares.
            let own = match router {
                Router::Ridge => 0.0,
                _ => along(&|at| mean(class, at)) / 2.0,
            };
            (-along(&|at| centre[at]) - own) as f32
        });
        Ok(Scores {
            bias: bias.collect(),
            weights: (0..width)
                .flat_map(|at| (0..self.classes()).map(move |class| (at, class)))
                .map(|place| weights[place] as f32)
                .collect(),
            tasks: self.tasks.clone(),
            sharpness: router.sharpness(self.classes()),
        })
    }
}

/// A linear score for every class seen.
#[derive(Clone, Debug)]
pub(crate) struct Scores {
    /// By columns of a row, a number for each class.
    weights: Vec<f32>,
    bias: Vec<f32>,
    /// The task of every class.
    pub(crate) tasks: Vec<u32>,
    /// What scores are multiplied with before they become probabilities.
    pub(crate) sharpness: f64,
}

impl Scores {
    pub(crate) fn classes(&self) -> usize {
        self.bias.len()
    }

    /// Of every row, a score for each class.
    pub(crate) fn of(&self, rows: &[f32], count: usize) -> Vec<f32> {
        let classes = self.classes();
        let width = self.weights.len() / classes;
        let mut scores = vec![0f32; count * classes];
        let weights = dense::view(&self.weights, width, classes);
        dense::product_by_row(&mut scores, rows, weights);
        for row in scores.chunks_mut(classes) {
            row.iter_mut()
                .zip(&self.bias)
                .for_each(|(score, bias)| *score += bias);
        }
        scores
    }
}
