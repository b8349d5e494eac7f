//! How much of each old gradient to add.

/// Slopes count as 0 within this, in proportion to the numbers that they are sums of.
const CLOSE: f64 = 1e-11;
/// How far off a result may be before it counts as none.
const SOUND: f64 = 1e-8;
/// Of unit gradients, one whose square is no longer than this outside the span of others is inside it.
const INSIDE: f64 = 1e-13;

/// Finds the v at or above `margin` in all places for which v Q v / 2 + p v is smallest.
///
/// Places are freed from the margin one by one, the most promising first, and the free ones solved for exactly; those that would go below
/// are bound again (the active-set method of Lawson and Hanson). Unlike going round place by place, this ends soon for gradients that are
/// nearly opposite, too.
///
/// # Arguments
/// * `q`: symmetric, row by row, without negative eigenvalues; a place whose diagonal is 0 stays at the margin.
///
/// Returns none where the smallest was not found.
pub(super) fn settle(q: &[f64], p: &[f64], margin: f64) -> Option<Vec<f64>> {
    let size = p.len();
    let lengths: Vec<f64> = (0..size).map(|at| q[at * size + at].sqrt()).collect();
    let unit = |at: usize| {
        if lengths[at] > 0.0 {
            1.0 / lengths[at]
        } else {
            0.0
        }
    };
    let row = |at: usize| &q[at * size..][..size];
    let mut search = Search {
        q: (0..size)
            .map(|a| (0..size).map(|b| row(a)[b] * unit(a) * unit(b)).collect())
            .collect(),
        p: (0..size)
            .map(|at| (p[at] + margin * row(at).iter().sum::<f64>()) * unit(at))
            .collect(),
        above: vec![0.0; size],
        free: Vec::new(),
    };
    search.run().then(|| {
        let above = search.above.iter().enumerate();
        above
            .map(|(at, &above)| margin + above * unit(at))
            .collect()
    })
}

/// The search, with unit gradients and counted from the margin.
struct Search {
    q: Vec<Vec<f64>>,
    p: Vec<f64>,
    above: Vec<f64>,
    free: Vec<usize>,
}

impl Search {
    fn run(&mut self) -> bool {
        let size = self.p.len();
        // A place that was freed in vain, because of rounding, waits until something has moved.
        let mut waits = vec![false; size];
        for _ in 0..100 + 20 * size {
            let promising = (0..size)
                .filter(|at| !waits[*at] && !self.free.contains(at))
                .filter(|&at| self.wrong(at) > CLOSE)
                .max_by(|&a, &b| self.slope(b).0.total_cmp(&self.slope(a).0));
            let Some(place) = promising else {
                return (0..size).all(|at| self.wrong(at) <= SOUND);
            };
            self.free.push(place);
            match self.solve_free() && self.free.contains(&place) {
                true => waits.fill(false),
                false => {
                    self.free.retain(|&at| at != place);
                    self.above[place] = 0.0;
                    waits[place] = true;
                }
            }
        }
        false
    }

    /// The slope at a place, and the size of what it is the sum of.
    fn slope(&self, at: usize) -> (f64, f64) {
        let terms = self.q[at].iter().zip(&self.above).map(|(q, v)| q * v);
        terms.fold((self.p[at], self.p[at].abs()), |(sum, size), term| {
            (sum + term, size + term.abs())
        })
    }

    /// How far a place is from where it should be: free without slope, or bound with none that leads up.
    fn wrong(&self, at: usize) -> f64 {
        let (slope, size) = self.slope(at);
        let wrong = match self.free.contains(&at) {
            true => slope.abs(),
            false => -slope,
        };
        match size > 0.0 {
            true => wrong / size,
            false => 0.0,
        }
    }

    /// Moves the free places to where their slopes are 0, binding again what reaches the margin on the way. False where they depend on each
    /// other.
    fn solve_free(&mut self) -> bool {
        while !self.free.is_empty() {
            let Some(goal) = self.solved() else {
                return false;
            };
            // How far each can go before it meets the margin, as a share of the way; at 0 on both ends, not at all.
            let reach = |(&at, &goal): (&usize, &f64)| match goal > 0.0 {
                true => f64::INFINITY,
                false if self.above[at] > 0.0 => self.above[at] / (self.above[at] - goal),
                false => 0.0,
            };
            let reaches: Vec<f64> = self.free.iter().zip(&goal).map(reach).collect();
            let far = reaches.iter().copied().fold(f64::INFINITY, f64::min);
            for ((&at, &goal), &reach) in self.free.iter().zip(&goal).zip(&reaches) {
                match far.is_finite() {
                    false => self.above[at] = goal,
                    true if reach <= far => self.above[at] = 0.0,
                    true => self.above[at] += far * (goal - self.above[at]),
                }
            }
            if !far.is_finite() {
                return true;
            }
            let mut reaches = reaches.into_iter();
            self.free
                .retain(|_| reaches.next().is_some_and(|reach| reach > far));
        }
        true
    }

    /// Where the slopes of the free places are 0, by Cholesky's decomposition.
    fn solved(&self) -> Option<Vec<f64>> {
        let size = self.free.len();
        let mut lower = vec![vec![0.0; size]; size];
        let mut goal: Vec<f64> = self.free.iter().map(|&at| -self.p[at]).collect();
        for i in 0..size {
            for j in 0..=i {
                let known: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
                let rest = self.q[self.free[i]][self.free[j]] - known;
                match i == j {
                    true if rest <= INSIDE => return None,
                    true => lower[i][i] = rest.sqrt(),
                    false => lower[i][j] = rest / lower[j][j],
                }
            }
            let known: f64 = (0..i).map(|k| lower[i][k] * goal[k]).sum();
            goal[i] = (goal[i] - known) / lower[i][i];
        }
        for i in (0..size).rev() {
            let known: f64 = (i + 1..size).map(|k| lower[k][i] * goal[k]).sum();
            goal[i] = (goal[i] - known) / lower[i][i];
        }
        Some(goal)
    }
}

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;
