//! `treering bench`: learners compared, run by run; what is there is not computed again.

mod assign;
mod child;
mod choices;
mod list;
mod meter;
mod pool;
mod search;
mod series;
mod sets;
mod table;

use std::path::{Path, PathBuf};

use clap::Args;
use treering_eval::Asked;
use treering_eval::runs::{Folder, Record, RunSpec};

use self::choices::Choices;
use self::meter::Meter;
use self::pool::Pool;
use self::search::Choice;
use self::series::Comparison;
use self::table::Row;
use crate::Global;
use crate::failure::Failure;
use crate::output::Output;
use crate::source::parse_bytes;

pub(crate) use self::child::run as run_job;

/// Flags of `treering bench`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  treering bench --data demo --learner finetune finetune+tp tpp --seeds 3\n  \
    treering bench --data cora citeseer --learner all --protocol paper oracle --out results\n  \
    treering bench compare.toml --jobs 1 --retry-failed\n  treering bench --data cora --learner ewc --grid\n\n\
    DIR/runs holds a file for every run; a second call does only what is missing. DIR/results.jsonl has a line a run, \
    DIR/table.md the table that is printed. Exit code 1 when a run failed."
)]
pub(crate) struct Bench {
    /// A TOML file with keys named as the flags; flags go before it.
    config: Option<PathBuf>,
    /// Print all learners, or the parameters of one, and stop.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "config")]
    list: Option<String>,
    #[command(flatten)]
    choices: Choices,
}

pub(crate) fn run(args: Bench, global: &Global, output: &Output) -> Result<(), Failure> {
    if let Some(name) = &args.list {
        return list::run(name, output);
    }
    let choices = match &args.config {
        Some(file) => args.choices.or(Choices::read(file)?),
        None => args.choices,
    };
    choices.check()?;
    let global = Global {
        threads: global.threads.or(choices.threads),
        memory: match (&choices.memory, global.memory) {
            (Some(size), None) => Some(parse_bytes(size).map_err(Failure::input)?),
            (_, given) => given,
        },
        quiet: global.quiet,
    };
    let comparison = Comparison::new(&choices, &global)?;
    let out = choices
        .out
        .as_deref()
        .unwrap_or(Path::new("treering-bench"));
    let folder = Folder::open(out)?;
    let rows = compare(&comparison, &choices, &folder, &global)?;
    folder.write("table.md", &table::markdown(&rows))?;
    folder.write_results()?;
    match choices.json {
        true => {
            let line = |row: &Row| serde_json::to_string(row).map(|text| text + "\n");
            let lines: Result<String, _> = rows.iter().map(line).collect();
            output.print(&lines.map_err(Failure::system)?)?;
        }
        false => output.print(&table::plain(&rows))?,
    }
    match rows.iter().map(Row::failures).sum::<usize>() {
        0 => Ok(()),
        failed => Err(Failure::system(format!(
            "{failed} without a result, named above and in {}. Mend the cause and call again with --retry-failed",
            out.join("table.md").display()
        ))),
    }
}

/// Chooses parameters where that is wanted, then computes what is missing.
fn compare(
    comparison: &Comparison,
    choices: &Choices,
    folder: &Folder,
    global: &Global,
) -> Result<Vec<Row>, Failure> {
    let threads = match global.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let jobs = choices.jobs.map_or(threads, usize::from);
    let tests = comparison.series.len() * comparison.seeds as usize;
    let meter = Meter::new(tests + search::size(comparison), global.quiet);
    let pool = Pool {
        folder,
        sets: &comparison.sets,
        meter: &meter,
        jobs,
        threads: (threads / jobs).max(1),
        memory: global.memory.map(|bytes| bytes / jobs as u64),
        retry_failed: choices.retry_failed,
    };
    let chosen = search::choose(comparison, &pool)?;
    let specs = test_specs(comparison, &chosen)?;
    let all: Vec<RunSpec> = specs.iter().flatten().cloned().collect();
    let mut records = pool.run(&all)?.into_iter();
    meter.end();
    let mut rows = Vec::new();
    for ((series, specs), choice) in comparison.series.iter().zip(&specs).zip(chosen) {
        let mut records: Vec<Record> = records.by_ref().take(specs.len()).collect();
        let unchosen = matches!(choice, Choice::None);
        let chosen_by = match choice {
            Choice::Chosen(_, chosen_by) => Some(chosen_by),
            Choice::Fixed | Choice::None => None,
        };
        if chosen_by.is_some() {
            for record in records.iter_mut() {
                if record.chosen_by != chosen_by {
                    record.chosen_by = chosen_by.clone();
                    folder.store(record)?;
                }
            }
        }
        let set = comparison.sets.iter().find(|set| set.id == series.data);
        let synthetic = set.is_some_and(|set| set.synthetic);
        rows.push(Row::new(series, synthetic, &records, unchosen, chosen_by));
    }
    Ok(rows)
}

/// The test runs of every row, with the parameters that its grid chose.
fn test_specs(comparison: &Comparison, chosen: &[Choice]) -> Result<Vec<Vec<RunSpec>>, Failure> {
    let rows = comparison.series.iter().zip(chosen);
    rows.map(|(series, choice)| {
        Ok(match choice {
            Choice::Fixed => comparison.specs(series, &[], Asked::Test)?,
            Choice::Chosen(changes, _) => comparison.specs(series, changes, Asked::Test)?,
            Choice::None => Vec::new(),
        })
    })
    .collect()
}
