//! One agenda worked off: runs, tables, studies.

use std::path::{Path, PathBuf};

use treering_data::{Context, Silent};
use treering_eval::Asked;
use treering_eval::runs::{Folder, Record, RunSpec};

use super::agenda::Agenda;
use super::budget::Budget;
use super::choices::Choices;
use super::meter::Meter;
use super::pool::Pool;
use super::presets::Place;
use super::search::{self, Choice};
use super::series::Comparison;
use super::sets::DataSet;
use super::table::Row;
use super::{captions, studied, tables};
use crate::Global;
use crate::failure::Failure;

/// The classes that are in no stream.
pub(super) fn left_out(comparison: &Comparison) -> Vec<String> {
    let of = |set: &DataSet| {
        let told = |what: &String| format!("{}: left out: {what}", set.label);
        set.left_out.iter().map(told).collect::<Vec<_>>()
    };
    comparison.sets.iter().flat_map(of).collect()
}

/// An agenda with its data, checked, and the folder of its runs.
pub(super) struct Work {
    pub(super) agenda: Agenda,
    pub(super) comparison: Comparison,
    pub(super) place: PathBuf,
}

impl Work {
    pub(super) fn new(
        agenda: Agenda,
        choices: &Choices,
        out: &Path,
        global: &Global,
    ) -> Result<Self, Failure> {
        let place = match agenda.place.folder() {
            Some(folder) => out.join(folder),
            None => out.to_owned(),
        };
        let seeds = match agenda.place {
            Place::Alone => 1,
            _ => choices.seeds.unwrap_or(5),
        };
        Folder::check(&place)?;
        let comparison = Comparison::new(choices, seeds, &agenda.entrants, global)?;
        Ok(Work {
            agenda,
            comparison,
            place,
        })
    }

    /// Does all of it: runs and results in their folder, tables and studies in the bench's.
    pub(super) fn run(
        &self,
        choices: &Choices,
        own: &Folder,
        folder: &Folder,
        global: &Global,
    ) -> Result<Vec<Row>, Failure> {
        let rows = self.compare(choices, own, global)?;
        let odd = own.write_results()?;
        for file in odd.iter().filter(|_| !global.quiet) {
            tell!("note: {file}; it is not in results.jsonl");
        }
        let each = self.agenda.entrants.len().max(1);
        let by_set: Vec<&[Row]> = rows.chunks(each).collect();
        for plan in &self.agenda.tables {
            let mut caption = captions::caption(plan, &self.comparison, &self.agenda.entrants);
            caption.extend(captions::fewer(plan, &by_set));
            let table = tables::Table::new(plan, &by_set, caption);
            let name = |ending: &str| format!("tables/{}.{ending}", plan.name);
            folder.write(&name("md"), &tables::markdown(&table))?;
            folder.write(&name("tex"), &tables::latex(&table))?;
            folder.write(&name("csv"), &tables::csv(&table).map_err(Failure::system)?)?;
        }
        if !choices.finished {
            studied::study(&self.agenda.studies, &self.comparison, folder, global)?;
        }
        Ok(rows)
    }

    /// Chooses parameters where that is wanted, then computes what is missing.
    fn compare(
        &self,
        choices: &Choices,
        folder: &Folder,
        global: &Global,
    ) -> Result<Vec<Row>, Failure> {
        let comparison = &self.comparison;
        let threads = match global.threads {
            Some(threads) => usize::from(threads),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let jobs = match self.agenda.place {
            Place::Alone => 1,
            _ => choices.jobs.map_or(threads, usize::from),
        };
        let labels = comparison.sets.iter();
        let labels = labels.map(|set| (set.id.clone(), set.label.clone()));
        let tests = comparison.series.len() * comparison.seeds as usize;
        let meter = Meter::new(
            tests + search::size(comparison),
            labels.collect(),
            global.quiet,
        );
        let left_out = left_out(comparison);
        let notes = self.agenda.notes.iter().chain(&left_out);
        notes.for_each(|note| meter.note(note));
        let limit = Context::with_free_memory(&Silent).limit();
        let pool = Pool {
            folder,
            sets: &comparison.sets,
            meter: &meter,
            jobs,
            threads: (threads / jobs).max(1),
            memory: global.memory.map(|bytes| bytes / jobs as u64),
            budget: Budget::new(global.memory.unwrap_or(limit)),
            retry_failed: choices.retry_failed,
            finished: choices.finished,
        };
        let mut chosen = search::choose(comparison, &pool)?;
        let specs = test_specs(comparison, &chosen)?;
        for (choice, specs) in chosen.iter_mut().zip(&specs) {
            if let Some(grid) = choice.grid_mut() {
                grid.test_runs = specs.iter().map(RunSpec::hash).collect();
                folder.store_grid(grid)?;
            }
        }
        for (series, specs) in comparison.series.iter().zip(&specs) {
            if !series.changed.is_empty() {
                let changed = series.changed.iter().map(|(key, value)| (key, value));
                meter.explain(specs, &search::words(changed));
            }
        }
        let all: Vec<RunSpec> = specs.iter().flatten().cloned().collect();
        let mut records = pool.run(&all)?.into_iter();
        meter.end();
        let mut rows = Vec::new();
        for ((series, specs), choice) in comparison.series.iter().zip(&specs).zip(chosen) {
            let wanted = specs.len();
            let records: Vec<Record> = records.by_ref().take(wanted).flatten().collect();
            let set = comparison.sets.iter().find(|set| set.id == series.data);
            let synthetic = set.is_some_and(|set| set.synthetic);
            rows.push(Row::new(series, synthetic, &records, choice, wanted));
        }
        Ok(rows)
    }
}

/// The test runs of every row, with the parameters that its grid chose.
fn test_specs(comparison: &Comparison, chosen: &[Choice]) -> Result<Vec<Vec<RunSpec>>, Failure> {
    let rows = comparison.series.iter().zip(chosen);
    rows.map(|(series, choice)| {
        Ok(match choice {
            Choice::Fixed => comparison.specs(series, &[], Asked::Test)?,
            Choice::Chosen(changes, _) => comparison.specs(series, changes, Asked::Test)?,
            Choice::None(..) => Vec::new(),
        })
    })
    .collect()
}
