//! `treering bench`: learners compared, run by run; what is there is not computed again.

mod agenda;
mod assign;
mod budget;
mod captions;
mod child;
mod choices;
mod config;
mod contenders;
mod left_out;
mod list;
mod meter;
mod paper_data;
mod pool;
mod presets;
mod protocols;
mod search;
mod series;
mod sets;
mod studied;
mod table;
mod tables;

use std::path::{Path, PathBuf};

use clap::Args;
use treering_data::{Context, Silent};
use treering_eval::Asked;
use treering_eval::runs::{Folder, Record, RunSpec};

use self::agenda::Agenda;
use self::budget::Budget;
use self::choices::Choices;
use self::meter::Meter;
use self::pool::Pool;
use self::search::Choice;
use self::series::Comparison;
use self::sets::DataSet;
use self::table::Row;
use crate::Global;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) use self::child::run as run_job;

/// Flags of `treering bench`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering bench --data demo --learner finetune finetune+tp tpp --seeds 3\n  \
    treering bench --data cora citeseer --learner all --protocol paper oracle --out results\n  \
    treering bench compare.toml --jobs 1 --retry-failed\n  treering bench --data cora --learner ewc --grid\n\n\
    DIR/runs holds a file for every run, DIR/grids one for every search; a second call does only what is missing. DIR/results.jsonl has a line a run, \
    DIR/table.md the table that is printed. Exit code 1 when a run failed."
)]
pub(crate) struct Bench {
    /// A TOML file with keys named as the flags. It comes right after `bench`, before all flags; where both say something, the flag counts.
    #[arg(value_name = "CONFIG.toml")]
    config: Option<PathBuf>,
    /// Print all learners, or the parameters of one (of each: all), and stop; with --json as JSON, a line a learner.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "config")]
    list: Option<String>,
    #[command(flatten)]
    choices: Choices,
}

pub(crate) fn run(args: Bench, global: &Global, output: &Output) -> Result<(), Failure> {
    if let Some(name) = &args.list {
        return list::run(name, args.choices.json, output);
    }
    let mut choices = match &args.config {
        Some(file) => args.choices.or(config::read(file)?),
        None => args.choices,
    };
    let out = choices.out.as_deref();
    let out = out.unwrap_or(Path::new("treering-bench"));
    if out.as_os_str().is_empty() {
        return Err(Failure::input(
            "out is empty; name a folder for the results",
        ));
    }
    Folder::check(out)?;
    let global = Global {
        threads: global.threads.or(choices.threads),
        memory: global.memory.or(choices.memory),
        quiet: global.quiet,
    };
    let agendas = Agenda::all(&choices)?;
    let notes = match choices.data.is_empty() && !choices.preset.is_empty() {
        true => paper_data::find(&mut choices.data)?,
        false => Vec::new(),
    };
    let mut works = Vec::new();
    for agenda in agendas {
        works.push(Work::new(agenda, &choices, out, &global)?);
    }
    let folder = Folder::open(out)?;
    folder.write("command.txt", &command())?;
    notes
        .iter()
        .filter(|_| !global.quiet)
        .for_each(|note| tell!("note: {note}"));
    let (mut rows, mut remarks) = (Vec::new(), Vec::new());
    for work in &works {
        let own = match work.agenda.alone {
            true => Some(Folder::open(&work.place)?),
            false => None,
        };
        let done = work.run(&choices, own.as_ref().unwrap_or(&folder), &folder, &global)?;
        rows.extend(done);
        let more = left_out(&work.comparison).into_iter();
        remarks.extend(
            more.filter(|remark| !remarks.contains(remark))
                .collect::<Vec<_>>(),
        );
    }
    folder.write("table.md", &table::markdown(&rows, &remarks))?;
    show(&rows, &remarks, &choices, out, output)
}

/// Prints the table; a run without a result is a failure.
fn show(
    rows: &[Row],
    remarks: &[String],
    choices: &Choices,
    out: &Path,
    output: &Output,
) -> Result<(), Failure> {
    let printed = match choices.json {
        true => {
            let line = |row: &Row| serde_json::to_string(row).map(|text| text + "\n");
            let lines: Result<String, _> = rows.iter().map(line).collect();
            output.print(&lines.map_err(Failure::system)?)
        }
        false => output.print(&table::plain(rows, remarks)),
    };
    match (printed, rows.iter().map(Row::failures).sum::<usize>()) {
        // Whether the runs have results does not depend on who reads the table.
        (Ok(()) | Err(Failure::Closed), 0) => Ok(()),
        (Ok(()) | Err(Failure::Closed), failed) => Err(Failure::system(format!(
            "{failed} without a result, named above and in {}. Mend the cause and call again with --retry-failed",
            out.join("table.md").display()
        ))),
        (failure, _) => failure,
    }
}

/// The call as it was made.
fn command() -> String {
    let quoted = |word: String| match word
        .chars()
        .all(|c| c.is_alphanumeric() || "-_.,/=:+".contains(c))
    {
        true if !word.is_empty() => word,
        _ => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let words = std::env::args_os().skip(1);
    let words = words.map(|word| quoted(word.to_string_lossy().into_owned()));
    format!("treering {}\n", words.collect::<Vec<_>>().join(" "))
}

/// The classes that are in no stream.
fn left_out(comparison: &Comparison) -> Vec<String> {
    let of = |set: &DataSet| {
        let told = |what: &String| format!("{}: left out: {what}", set.label);
        set.left_out.iter().map(told).collect::<Vec<_>>()
    };
    comparison.sets.iter().flat_map(of).collect()
}

/// An agenda with its data, checked, and the folder of its runs.
struct Work {
    agenda: Agenda,
    comparison: Comparison,
    place: PathBuf,
}

impl Work {
    fn new(
        agenda: Agenda,
        choices: &Choices,
        out: &Path,
        global: &Global,
    ) -> Result<Self, Failure> {
        let (seeds, place) = match agenda.alone {
            true => (1, out.join("time")),
            false => (choices.seeds.unwrap_or(5), out.to_owned()),
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
    fn run(
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
            let caption = captions::caption(plan, &self.comparison, &self.agenda.entrants);
            let table = tables::Table::new(plan, &by_set, caption);
            let name = |ending: &str| format!("tables/{}.{ending}", plan.name);
            folder.write(&name("md"), &tables::markdown(&table))?;
            folder.write(&name("tex"), &tables::latex(&table))?;
            folder.write(&name("csv"), &tables::csv(&table).map_err(Failure::system)?)?;
        }
        studied::study(&self.agenda.studies, &self.comparison, folder, global)?;
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
        let jobs = match self.agenda.alone {
            true => 1,
            false => choices.jobs.map_or(threads, usize::from),
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
            let records: Vec<Record> = records.by_ref().take(specs.len()).collect();
            let set = comparison.sets.iter().find(|set| set.id == series.data);
            let synthetic = set.is_some_and(|set| set.synthetic);
            rows.push(Row::new(series, synthetic, &records, choice));
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
