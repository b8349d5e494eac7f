//! Whether a learner is right as often as it says.

use treering_learn::Answer;

const BINS: usize = 15;

/// The answers of one bin.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    nodes: usize,
    right: usize,
    confidence: f64,
}

/// Answers by how confident they were: bins of equal width from 0 to 1. A bin has its lower end; the last has both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Confidences {
    bins: [Bin; BINS],
    /// Some answer had no confidence.
    unsaid: bool,
}

impl Confidences {
    /// Counts one answer, and whether its task and class were right.
    pub(crate) fn count(&mut self, answer: &Answer, right: bool) {
        let Some(confidence) = answer.confidence() else {
            self.unsaid = true;
            return;
        };
        let bin = &mut self.bins[((confidence * BINS as f64) as usize).min(BINS - 1)];
        bin.nodes += 1;
        bin.right += usize::from(right);
        bin.confidence += confidence;
    }

    /// The expected calibration error in percent: the mean over nodes of how far, in a node's bin, mean confidence and the share of right answers are apart. None
    /// without an answer, and where one had no confidence.
    pub(crate) fn error(&self) -> Option<f64> {
        let nodes: usize = self.bins.iter().map(|bin| bin.nodes).sum();
        // A bin's share of the nodes, times its gap, is the gap of its sums by all nodes.
        let gap = |bin: &Bin| (bin.confidence - bin.right as f64).abs();
        let gaps: f64 = self.bins.iter().map(gap).sum();
        (nodes > 0 && !self.unsaid).then(|| 100.0 * gaps / nodes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(answers: &[(f32, f32, bool)]) -> Option<f64> {
        let mut all = Confidences::default();
        for &(task, class, right) in answers {
            let answer = Answer {
                task: 1,
                margin: 0.0,
                familiarity: None,
                posterior: vec![1.0 - task, task],
                probabilities: vec![1.0 - class, class],
            };
            all.count(&answer, right);
        }
        all.error()
    }

    #[test]
    fn the_error_is_the_gap_of_every_bin_by_its_share_of_the_nodes() {
        // 1/2 and 17/32 lie in the bin from 7/15 on: mean 33/64, right 1/2. 3/4 times 3/4 is 9/16, in the next: right 0. 1 lies in the last one.
        let answers = [
            (1.0, 0.5, true),
            (0.53125, 1.0, false),
            (0.75, 0.75, false),
            (1.0, 1.0, true),
        ];
        let by_hand = 100.0 * (0.5 * (33.0 / 64.0 - 0.5) + 0.25 * (9.0 / 16.0) + 0.25 * 0.0);
        assert_eq!(counted(&answers), Some(by_hand));
        // In one bin, what is too sure here and not sure enough there is made good.
        assert_eq!(counted(&[(1.0, 0.5, true), (1.0, 0.5, false)]), Some(0.0));
    }

    #[test]
    fn the_ends_belong_to_the_outer_bins() {
        assert_eq!(counted(&[(1.0, 1.0, false)]), Some(100.0));
        assert_eq!(counted(&[(0.0, 1.0, true)]), Some(100.0));
        // A sum of probabilities may be a little above 1.
        let above = counted(&[(1.000_000_1, 1.0, true)]);
        assert!(above.is_some_and(|error| error < 1e-4), "{above:?}");
    }

    #[test]
    fn there_is_none_where_an_answer_has_no_confidence() {
        assert_eq!(counted(&[]), None);
        let mut all = Confidences::default();
        let mut answer = Answer {
            task: 0,
            margin: 0.0,
            familiarity: None,
            posterior: vec![1.0],
            probabilities: vec![1.0],
        };
        all.count(&answer, true);
        assert_eq!(all.error(), Some(0.0));
        answer.posterior.clear();
        all.count(&answer, true);
        assert_eq!(all.error(), None);
    }
}
