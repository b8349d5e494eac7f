//! Telling groups of tasks that were learned from groups of tasks that were not.

use serde::{Deserialize, Serialize};
use treering_learn::Answer;

use crate::Rejection;
use crate::cell::is_right;
use crate::matrix::mean;
use crate::protocol::Question;

/// What the protocols `open` and `open:M` add to a result. AUROC is in percent: 100 where every known group is more familiar than every unknown one, 50 where
/// familiarity says nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// The mean over the stages that have one.
    pub auroc: Option<f64>,
    /// The AUROC of every stage; none where all tasks are known, where the stage was not asked about, or where the learner says nothing about
    /// familiarity.
    pub stages: Vec<Option<f64>>,
    /// What rejecting at some rates gives; empty unless the learner's [familiarity is calibrated](treering_learn::Learner::familiarity_is_calibrated).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejections: Vec<Rejection>,
}

/// How familiar one group was, and how many of its nodes were answered rightly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Familiar {
    pub(crate) stage: usize,
    pub(crate) known: bool,
    /// The mean over the group's nodes; none where an answer has none.
    pub(crate) score: Option<f64>,
    pub(crate) nodes: usize,
    pub(crate) right: usize,
}

impl Familiar {
    /// One for every group of a question that has a node.
    pub(crate) fn groups(question: &Question, answers: &[Answer], stage: usize) -> Vec<Self> {
        let (numbers, count) = question.query.group_numbers();
        let mut scores: Vec<Vec<Option<f64>>> = vec![Vec::new(); count];
        let mut right = vec![0; count];
        for ((answer, &truth), group) in answers.iter().zip(&question.truth).zip(numbers) {
            scores[group as usize].push(answer.familiarity);
            right[group as usize] += usize::from(is_right(answer, truth));
        }
        let groups = scores.iter().zip(right);
        groups
            .filter(|(scores, _)| !scores.is_empty())
            .map(|(scores, right)| Familiar {
                stage,
                known: question.tasks.start <= stage,
                score: score(scores),
                nodes: scores.len(),
                right,
            })
            .collect()
    }
}

/// The mean. What all nodes have in common stays as it is, because a rounded sum might fall below the rate that it lies on.
fn score(scores: &[Option<f64>]) -> Option<f64> {
    let scores: Vec<f64> = scores.iter().copied().collect::<Option<_>>()?;
    let first = *scores.first()?;
    match scores.iter().all(|&score| score == first) {
        true => Some(first),
        false => mean(&scores),
    }
}

impl Open {
    /// # Arguments
    /// * `calibrated`: whether familiarity is a share that groups can be rejected by.
    pub(crate) fn new(groups: &[Familiar], stages: usize, calibrated: bool) -> Self {
        let stages: Vec<Option<f64>> = (0..stages).map(|stage| at_stage(groups, stage)).collect();
        let told = |group: &&Familiar| calibrated && stages[group.stage].is_some();
        let told: Vec<&Familiar> = groups.iter().filter(told).collect();
        Open {
            auroc: mean_of(&stages),
            rejections: Rejection::all(&told),
            stages,
        }
    }

    /// Whether the figures can be what a stream of so many tasks gave.
    pub(crate) fn is_sound(&self, tasks: usize) -> bool {
        let percent = |value: &f64| (0.0..=100.0).contains(value);
        self.stages.len() == tasks
            && self.stages.iter().flatten().all(percent)
            && self.rejections.iter().all(Rejection::is_sound)
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
            nodes: 1,
            right: 1,
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
        let open = Open::new(&groups, 3, false);
        assert_eq!(open.stages, [Some(75.0), Some(50.0), None]);
        assert_eq!(open.auroc, Some(62.5));
        assert!(open.is_sound(3) && !open.is_sound(2));
        assert_eq!(open.rejections, []);
        let rejected = Open::new(&groups, 3, true).rejections;
        // Of the last stage, which knows all, nothing is counted.
        assert!(rejected.iter().all(|at| (at.known, at.unknown) == (3, 3)));
        assert_eq!(rejected.len(), 5);
        let last = Open::new(&groups[6..], 3, true);
        assert_eq!((last.auroc, last.rejections), (None, Vec::new()));
    }

    #[test]
    fn a_score_that_all_nodes_share_is_not_rounded() {
        for share in [0.01, 0.02, 0.05, 0.1, 0.2] {
            for nodes in 1..200 {
                assert_eq!(score(&vec![Some(share); nodes]), Some(share));
            }
        }
        assert_eq!(score(&[Some(0.25), Some(0.75)]), Some(0.5));
        assert_eq!(score(&[Some(0.25), None]), None);
    }
}
