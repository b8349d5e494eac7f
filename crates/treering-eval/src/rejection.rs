//! What comes of rejecting groups that are not familiar enough.

use serde::{Deserialize, Serialize};

use crate::open::Familiar;

/// The rates that are asked for.
const RATES: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];

/// What comes of rejecting every group whose familiarity is below a rate. The groups of all stages that have an AUROC are counted together, so a stage
/// weighs as much as it has groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rejection {
    /// False alarms that were asked for, as a share of known groups.
    pub rate: f64,
    /// Known groups that were rejected, in percent.
    pub false_alarms: f64,
    /// Unknown groups that were rejected, in percent.
    pub detected: f64,
    /// Nodes of known groups that were accepted, and whose task and class were right, in percent; none where no such group was accepted.
    pub accepted_accuracy: Option<f64>,
    /// Known groups that were asked about.
    pub known: usize,
    /// Unknown groups that were asked about.
    pub unknown: usize,
}

impl Rejection {
    /// One for each rate; none without a known and an unknown group.
    pub(crate) fn all(groups: &[&Familiar]) -> Vec<Rejection> {
        let both = [true, false].map(|known| groups.iter().any(|group| group.known == known));
        let rates = RATES.iter().filter(|_| both == [true, true]);
        rates.map(|&rate| Rejection::at(rate, groups)).collect()
    }

    fn at(rate: f64, groups: &[&Familiar]) -> Rejection {
        let rejected = |group: &Familiar| group.score.is_some_and(|score| score < rate);
        let share = |known: bool| {
            let of = || groups.iter().filter(|group| group.known == known);
            let out = of().filter(|group| rejected(group)).count();
            (percent(out, of().count()).unwrap_or(0.0), of().count())
        };
        let accepted = || {
            groups
                .iter()
                .filter(|group| group.known && !rejected(group))
        };
        let right = accepted().map(|group| group.right).sum();
        let nodes = accepted().map(|group| group.nodes).sum();
        let ((false_alarms, known), (detected, unknown)) = (share(true), share(false));
        Rejection {
            rate,
            false_alarms,
            detected,
            accepted_accuracy: percent(right, nodes),
            known,
            unknown,
        }
    }

    /// Whether the figures can be shares of such numbers of groups.
    pub(crate) fn is_sound(&self) -> bool {
        let share = |value: f64, of: usize| {
            let groups = value / 100.0 * of as f64;
            (0.0..=100.0).contains(&value) && (groups - groups.round()).abs() < 1e-6
        };
        let accuracy = self.accepted_accuracy;
        (0.0..=1.0).contains(&self.rate)
            && self.known > 0
            && self.unknown > 0
            && share(self.false_alarms, self.known)
            && share(self.detected, self.unknown)
            && accuracy.is_none_or(|accuracy| (0.0..=100.0).contains(&accuracy))
    }
}

fn percent(part: usize, all: usize) -> Option<f64> {
    (all > 0).then(|| 100.0 * part as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(known: bool, score: f64, nodes: usize, right: usize) -> Familiar {
        Familiar {
            stage: 0,
            known,
            score: Some(score),
            nodes,
            right,
        }
    }

    #[test]
    fn the_figures_are_those_worked_out_by_hand() {
        let groups = [
            group(true, 0.005, 3, 3),
            group(true, 0.05, 4, 1),
            group(true, 0.15, 2, 2),
            group(true, 0.9, 2, 1),
            group(false, 0.0, 5, 0),
            group(false, 0.03, 5, 0),
            group(false, 0.5, 5, 0),
        ];
        let found = Rejection::all(&groups.iter().collect::<Vec<_>>());
        let third = 100.0 / 3.0;
        let (with_second, without) = (100.0 * 4.0 / 8.0, 100.0 * 3.0 / 4.0);
        // 0.05 is not below 0.05.
        let by_hand = [
            (0.01, 25.0, third, with_second),
            (0.02, 25.0, third, with_second),
            (0.05, 25.0, 200.0 / 3.0, with_second),
            (0.1, 50.0, 200.0 / 3.0, without),
            (0.2, 75.0, 200.0 / 3.0, 50.0),
        ];
        let by_hand = by_hand.map(|(rate, false_alarms, detected, accuracy)| Rejection {
            rate,
            false_alarms,
            detected,
            accepted_accuracy: Some(accuracy),
            known: 4,
            unknown: 3,
        });
        assert_eq!(found, by_hand);
        assert!(found.iter().all(Rejection::is_sound));
    }

    #[test]
    fn where_nothing_is_accepted_nothing_is_said_about_it() {
        let groups = [group(true, 0.0, 3, 3), group(false, 0.0, 1, 0)];
        let found = Rejection::all(&groups.iter().collect::<Vec<_>>());
        assert_eq!(found.len(), RATES.len());
        for rejection in &found {
            assert_eq!(rejection.accepted_accuracy, None);
            assert_eq!((rejection.false_alarms, rejection.detected), (100.0, 100.0));
        }
        for alone in &groups {
            assert_eq!(Rejection::all(&[alone]), []);
        }
    }

    #[test]
    fn what_is_no_share_of_the_groups_is_not_sound() {
        let good = Rejection {
            rate: 0.05,
            false_alarms: 25.0,
            detected: 50.0,
            accepted_accuracy: None,
            known: 4,
            unknown: 2,
        };
        assert!(good.is_sound());
        let edits: [fn(&mut Rejection); 6] = [
            |wrong| wrong.rate = 5.0,
            |wrong| wrong.false_alarms = 30.0,
            |wrong| wrong.detected = 150.0,
            |wrong| wrong.accepted_accuracy = Some(-1.0),
            |wrong| wrong.known = 0,
            |wrong| wrong.unknown = 0,
        ];
        for edit in edits {
            let mut wrong = good.clone();
            edit(&mut wrong);
            assert!(!wrong.is_sound(), "{wrong:?}");
        }
    }
}
