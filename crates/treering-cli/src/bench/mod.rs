//! `treering bench`: learners compared, run by run; what is there is not computed again.

mod agenda;
pub(crate) mod apart;
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
mod work;

use std::path::{Path, PathBuf};

use clap::Args;
use treering_eval::runs::Folder;

use self::agenda::Agenda;
use self::choices::Choices;
use self::table::Row;
use self::work::{Work, left_out};
use crate::Global;
use crate::failure::Failure;
use crate::output::Output;

pub(crate) use self::child::{end_of, end_with_parent, run as run_job};

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
    let words = std::env::args_os().skip(1);
    let words = words.map(|word| word.to_string_lossy().into_owned());
    run_called(args, global, output, &command(words))
}

/// # Arguments
/// * `called`: the call as it was made.
fn run_called(args: Bench, global: &Global, output: &Output, called: &str) -> Result<(), Failure> {
    if let Some(name) = &args.list {
        return list::run(name, args.choices.json, output);
    }
    let mut choices = match &args.config {
        Some(file) => args.choices.or(config::read(file)?),
        None => args.choices,
    };
    choices.check()?;
    choices.spell_out();
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
    if choices.finished && !works.iter().any(|work| work.place.join("runs").is_dir()) {
        return Err(Failure::input(format!(
            "{}: there are no runs in this folder. Name the folder of a bench, or leave --finished out",
            out.display()
        )));
    }
    let folder = Folder::open(out)?;
    folder.write("command.txt", called)?;
    notes
        .iter()
        .filter(|_| !global.quiet)
        .for_each(|note| tell!("note: {note}"));
    let (mut rows, mut remarks) = (Vec::new(), Vec::new());
    for work in &works {
        let own = match work.agenda.place.folder() {
            Some(_) => Some(Folder::open(&work.place)?),
            None => None,
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
pub(crate) fn command(words: impl Iterator<Item = String>) -> String {
    let quoted = |word: String| match word
        .chars()
        .all(|c| c.is_alphanumeric() || "-_.,/=:+".contains(c))
    {
        true if !word.is_empty() => word,
        _ => format!("'{}'", word.replace('\'', "'\\''")),
    };
    format!(
        "treering {}\n",
        words.map(quoted).collect::<Vec<_>>().join(" ")
    )
}
