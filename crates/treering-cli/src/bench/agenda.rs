//! What a call of the bench comes to: entrants, the tables that show them, and studies; from flags or from presets.

use treering_data::ClassOrder;
use treering_eval::Protocol;
use treering_eval::studies::Kind;
use treering_learn::registry;

use super::choices::Choices;
use super::contenders::{Contender, Wanted, contenders, with_changes};
use super::presets::{self, Part, Place, Preset};
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
    pub(super) place: Place,
}

impl Agenda {
    /// What flags or presets ask for, checked; one for every place, what has to run alone last.
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
        let chosen = presets::chosen(&choices.preset);
        let rows: Vec<(&Preset, Part)> = chosen
            .iter()
            .flat_map(|&preset| preset.parts().into_iter().map(move |part| (preset, part)))
            .collect();
        let wanted = rows.iter().map(|(preset, part)| Wanted {
            name: part.learner.clone(),
            unless_said: part.defaults.clone(),
            decided: part.changed.clone(),
            built_in_grid: preset.grid,
        });
        let (contenders, notes) = with_changes(choices, &wanted.collect::<Vec<_>>())?;
        let mut rows = rows.into_iter().zip(contenders).peekable();
        let mut agendas = Place::ALL.map(|place| Agenda {
            place,
            ..Agenda::default()
        });
        for preset in chosen {
            let mut of_preset = Vec::new();
            while let Some(((_, part), contender)) =
                rows.next_if(|((other, _), _)| other.name == preset.name)
            {
                of_preset.push((part, contender));
            }
            let own = agendas.iter_mut().find(|one| one.place == preset.place);
            if let Some(agenda) = own {
                agenda.add(preset, of_preset);
            }
        }
        let work = |agenda: &Agenda| !agenda.entrants.is_empty() || !agenda.studies.is_empty();
        let mut agendas: Vec<Agenda> = agendas.into_iter().filter(work).collect();
        if let Some(first) = agendas.first_mut() {
            first.notes = notes;
        }
        Ok(agendas)
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
        let mut metrics = vec![Metric::Aa, Metric::Af, Metric::TaskId];
        metrics.extend(
            protocols
                .iter()
                .any(|one| one.is_open())
                .then_some(Metric::Auroc),
        );
        let table = Plan {
            name: "results",
            about: "",
            metrics,
            lines: lines.collect(),
        };
        Ok(Agenda {
            tables: vec![table],
            entrants,
            notes,
            ..Agenda::default()
        })
    }

    /// What a preset asks for; a row that several have is one entrant.
    fn add(&mut self, preset: &'static Preset, rows: Vec<(Part, Contender)>) {
        let mut lines = Vec::new();
        for (part, contender) in rows {
            let entrant = Entrant {
                contender,
                protocol: part.protocol,
                order: part.order,
            };
            let place = self.place(entrant);
            lines.push(line(part.label, place, &part.learner, part.protocol));
        }
        self.studies.extend(preset.studies);
        if !lines.is_empty() {
            self.tables.push(Plan {
                name: preset.name,
                about: preset.about,
                metrics: preset.metrics.to_vec(),
                lines,
            });
        }
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
        protocol,
        replays: registry::entry(learner).is_ok_and(|entry| entry.replays),
        reference: learner == "joint" || protocol == Protocol::Oracle,
    }
}
