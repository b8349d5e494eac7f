//! What a call of the bench comes to: entrants, the tables that show them, and studies; from flags or from presets.

use treering_data::ClassOrder;
use treering_eval::Protocol;
use treering_eval::studies::Kind;
use treering_learn::registry;

use super::choices::Choices;
use super::contenders::{Changes, contenders, with_changes};
use super::presets::{self, Part, Preset};
use super::series::{Entrant, or_default, pairs};
use super::table::word;
use super::tables::{Metric, Plan, PlannedLine};
use crate::failure::Failure;

/// Work that is done in one folder, in one way.
#[derive(Default)]
pub(super) struct Agenda {
    pub(super) entrants: Vec<Entrant>,
    pub(super) tables: Vec<Plan>,
    pub(super) studies: Vec<Kind>,
    /// What its user should know before the work begins.
    pub(super) notes: Vec<String>,
    /// One training at a time with all threads, in a folder of its own.
    pub(super) alone: bool,
}

impl Agenda {
    /// What flags or presets ask for, checked; what has to run alone comes apart and last.
    pub(super) fn all(choices: &Choices) -> Result<Vec<Agenda>, Failure> {
        if choices.preset.is_empty() {
            return Ok(vec![Agenda::product(choices)?]);
        }
        let decided = [
            ("learner", !choices.learner.is_empty()),
            ("protocol", !choices.protocol.is_empty()),
            ("order", !choices.order.is_empty()),
        ];
        if let Some((flag, _)) = decided.iter().find(|(_, said)| *said) {
            return Err(Failure::input(format!(
                "--preset {} decides on learners, protocols and orders. Leave out --{flag}, or the preset",
                choices.preset.join(",")
            )));
        }
        let (alone, together): (Vec<&Preset>, Vec<&Preset>) = presets::chosen(&choices.preset)
            .into_iter()
            .partition(|preset| preset.alone);
        let mut all = Vec::new();
        for (alone, presets) in [(false, together), (true, alone)] {
            if !presets.is_empty() {
                let mut agenda = Agenda::of(&presets, choices)?;
                agenda.alone = alone;
                all.push(agenda);
            }
        }
        Ok(all)
    }

    /// Every choice with every other, protocols of one learner side by side.
    fn product(choices: &Choices) -> Result<Self, Failure> {
        let (contenders, notes) = contenders(choices)?;
        let protocols = or_default(&choices.protocol, Protocol::Paper);
        let chosen: Vec<ClassOrder> = choices.order.iter().map(|&order| order.into()).collect();
        let orders = or_default(&chosen, ClassOrder::Ascending);
        let mut entrants = Vec::new();
        for &order in &orders {
            for (contender, &protocol) in pairs(&contenders, &protocols) {
                entrants.push(Entrant {
                    contender: contender.clone(),
                    protocol,
                    order,
                });
            }
        }
        let label = |entrant: &Entrant| {
            let mut label = entrant.contender.name.clone();
            if protocols.len() > 1 {
                label.push_str(&format!(", {}", entrant.protocol));
            }
            if orders.len() > 1 {
                label.push_str(&format!(", {}", word(&entrant.order)));
            }
            label
        };
        let lines = entrants.iter().enumerate();
        let lines =
            lines.map(|(place, one)| line(label(one), place, &one.contender.name, one.protocol));
        let table = Plan {
            name: "results",
            about: "",
            metrics: vec![Metric::Aa, Metric::Af, Metric::TaskId],
            lines: lines.collect(),
        };
        Ok(Agenda {
            tables: vec![table],
            entrants,
            notes,
            ..Agenda::default()
        })
    }

    /// What presets ask for; a row that several have is one entrant.
    fn of(presets: &[&Preset], choices: &Choices) -> Result<Self, Failure> {
        let mut agenda = Agenda::default();
        for preset in presets {
            let parts = preset.parts();
            let wanted: Vec<(String, Changes)> = parts
                .iter()
                .map(|part| (part.learner.clone(), part.changed.clone()))
                .collect();
            let (contenders, notes) = with_changes(choices, &wanted, preset.grid)?;
            for note in notes {
                if !agenda.notes.contains(&note) {
                    agenda.notes.push(note);
                }
            }
            let mut lines = Vec::new();
            for (part, contender) in parts.into_iter().zip(contenders) {
                let Part {
                    protocol, order, ..
                } = part;
                let entrant = Entrant {
                    contender,
                    protocol,
                    order,
                };
                let place = agenda.place(entrant);
                lines.push(line(part.label, place, &part.learner, protocol));
            }
            agenda.studies.extend(preset.studies);
            if !lines.is_empty() {
                agenda.tables.push(Plan {
                    name: preset.name,
                    about: preset.about,
                    metrics: preset.metrics.to_vec(),
                    lines,
                });
            }
        }
        Ok(agenda)
    }

    fn place(&mut self, entrant: Entrant) -> usize {
        let known = self.entrants.iter().position(|known| *known == entrant);
        known.unwrap_or_else(|| {
            self.entrants.push(entrant);
            self.entrants.len() - 1
        })
    }
}

/// A row of a table. Joint and Oracle are bounds to read others against, not competitors.
fn line(label: String, entrant: usize, learner: &str, protocol: Protocol) -> PlannedLine {
    PlannedLine {
        label,
        entrant,
        replays: registry::entry(learner).is_ok_and(|entry| entry.replays),
        reference: learner == "joint" || protocol == Protocol::Oracle,
    }
}
