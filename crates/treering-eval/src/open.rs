//! Telling groups of tasks that were learned from groups of tasks that were not.

use serde::{Deserialize, Serialize};
use treering_learn::Answer;

use crate::matrix::mean;

/// What the protocol `open` adds to a result. In percent: 100 where every known group is more familiar than every unknown one, 50 where familiarity
/// says nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// The mean over the stages that have one.
    pub auroc: Option<f64>,
    /// The AUROC of every stage; none where all tasks are known, where the stage was not asked about, or where the learner says nothing about
    /// familiarity.
    pub stages: Vec<Option<f64>>,
}

/// How familiar one group was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Familiar {
    pub(crate) stage: usize,
    pub(crate) known: bool,
    pub(crate) score: Option<f64>,
}

impl Familiar {
    /// The mean over a group's nodes. None for a group without a node, or where an answer has none.
    pub(crate) fn of(answers: &[Answer], stage: usize, known: bool) -> Option<Self> {
        let scores: Option<Vec<f64>> = answers.iter().map(|answer| answer.familiarity).collect();
        (!answers.is_empty()).then(|| Familiar {
            stage,
            known,
            score: scores.and_then(|scores| mean(&scores)),
        })
    }
}

impl Open {
    pub(crate) fn new(groups: &[Familiar], stages: usize) -> Self {
        let stages: Vec<Option<f64>> = (0..stages).map(|stage| at_stage(groups, stage)).collect();
        Open {
            auroc: mean_of(&stages),
            stages,
        }
    }

    /// Whether the figures can be what a stream of so many tasks gave.
    pub(crate) fn is_sound(&self, tasks: usize) -> bool {
        let percent = |value: &f64| (0.0..=100.0).contains(value);
        self.stages.len() == tasks && self.stages.iter().flatten().all(percent)
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        mean_of(&self.stages)
    }
}

fn mean_of(stages: &[Option<f64>]) -> Option<f64> {
    mean(&stages.iter().flatten().copied().collect::<Vec<_>>())
}

fn at_stage(groups: &[Familiar], stage: usize) -> Option<f64> {
    let scores = |known: bool| -> Option<Vec<f64>> {
        let at = |group: &&Familiar| group.stage == stage && group.known == known;
        groups.iter().filter(at).map(|group| group.score).collect()
    };
    auroc(&scores(true)?, &scores(false)?)
}

/// The area under the receiver operating characteristic, in percent: how often a known group scores higher than an unknown one, ties counted half. None
/// where one side is empty.
///
/// # Complexity
/// O(n log n) by sorting, instead of looking at all pairs.
///
/// # Example
/// ```
/// assert_eq!(treering_eval::auroc(&[3.0, 1.0], &[2.0, 1.0]), Some(62.5));
/// ```
pub fn auroc(known: &[f64], unknown: &[f64]) -> Option<f64> {
    let mut unknown = unknown.to_vec();
    unknown.sort_unstable_by(f64::total_cmp);
    let wins = |score: &f64| {
        let below = unknown.partition_point(|other| other < score);
        let not_above = unknown.partition_point(|other| other <= score);
        (below + not_above) as f64 / 2.0
    };
    let pairs = known.len() * unknown.len();
    (pairs > 0).then(|| 100.0 * known.iter().map(wins).sum::<f64>() / pairs as f64)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use treering_data::{Purpose, random};

    use super::*;

    fn over_all_pairs(known: &[f64], unknown: &[f64]) -> f64 {
        let pair = |(k, u): (f64, f64)| match k.partial_cmp(&u) {
            Some(std::cmp::Ordering::Greater) => 1.0,
            Some(std::cmp::Ordering::Equal) => 0.5,
            _ => 0.0,
        };
        let pairs = known
            .iter()
            .flat_map(|&k| unknown.iter().map(move |&u| (k, u)));
        100.0 * pairs.map(pair).sum::<f64>() / (known.len() * unknown.len()) as f64
    }

    #[test]
    fn auroc_is_the_share_of_pairs_in_the_right_order() {
        let mut random = random(1, Purpose::Sampling, 0);
        for case in 1..60 {
            // Few values, so that there are many ties; zero in both signs.
            let mut draw = |count: usize| -> Vec<f64> {
                let value = |_| f64::from(random.random_range(-3i32..4)) * 0.5;
                (0..count)
                    .map(value)
                    .map(|v| if case % 2 == 0 { -v } else { v })
                    .collect()
            };
            let (known, unknown) = (draw(1 + case % 7), draw(1 + case % 11));
            assert_eq!(
                auroc(&known, &unknown),
                Some(over_all_pairs(&known, &unknown)),
                "{known:?} {unknown:?}"
            );
        }
    }

    #[test]
    fn the_ends_and_the_middle() {
        assert_eq!(auroc(&[2.0, 3.0], &[0.0, 1.0]), Some(100.0));
        assert_eq!(auroc(&[0.0], &[1.0]), Some(0.0));
        assert_eq!(auroc(&[1.0, 1.0], &[1.0]), Some(50.0));
        assert_eq!(auroc(&[f64::NEG_INFINITY], &[f64::INFINITY]), Some(0.0));
        assert_eq!((auroc(&[], &[1.0]), auroc(&[1.0], &[])), (None, None));
    }

    #[test]
    fn only_stages_with_both_kinds_count() {
        let group = |stage, known, score| Familiar {
            stage,
            known,
            score: Some(score),
        };
        let groups = [
            group(0, true, 0.9),
            group(0, false, 0.5),
            group(0, false, 0.9),
            group(1, true, 0.9),
            group(1, true, 0.2),
            group(1, false, 0.5),
            group(2, true, 0.1),
        ];
        let open = Open::new(&groups, 3);
        assert_eq!(open.stages, [Some(75.0), Some(50.0), None]);
        assert_eq!(open.auroc, Some(62.5));
        assert!(open.is_sound(3) && !open.is_sound(2));
        assert_eq!(Open::new(&groups[6..], 3).auroc, None);
    }
}
