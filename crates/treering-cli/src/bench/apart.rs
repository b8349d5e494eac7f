//! A bench in parts: every training is a job; one more makes the tables.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use treering_data::Silent;
use treering_eval::Asked;
use treering_eval::runs::{Folder, Record, RunSpec, jobs};

use super::agenda::Agenda;
use super::child::{self, Order};
use super::presets::Place;
use super::work::Work;
use super::{Bench, config, sets};
use crate::Global;
use crate::failure::Failure;
use crate::jobs::{Draft, Drafts, Effort, FOLDER, Target, at};
use crate::output::Output;

/// Flags of a job that trains.
#[derive(Args)]
pub(crate) struct RunPart {
    #[command(flatten)]
    into: Target,
    /// What to train on what, as JSON.
    #[arg(long = "job-order", value_name = "JSON")]
    order: String,
}

/// Flags of the job that makes the tables.
#[derive(Args)]
pub(crate) struct GatherPart {
    #[command(flatten)]
    into: Target,
    /// The folder of the parts.
    #[arg(long = "job-parts", value_name = "FOLDER")]
    parts: PathBuf,
    /// How many there are.
    #[arg(long = "job-runs", value_name = "N")]
    runs: usize,
    /// The call that the list stands for.
    #[arg(long = "job-called", value_name = "TEXT")]
    called_as: String,
    /// Where data was found by name.
    #[arg(long = "job-data", value_name = "FOLDER")]
    data_folder: Option<PathBuf>,
    #[command(flatten)]
    bench: Bench,
}

pub(crate) fn plan(args: Bench, drafts: &mut Drafts, global: &Global) -> Result<(), Failure> {
    if args.list.is_some() {
        return Err(Failure::input(
            "--list prints and trains nothing; leave it out",
        ));
    }
    let mut choices = match &args.config {
        Some(file) => args.choices.or(config::read(file)?),
        None => args.choices,
    };
    choices.check()?;
    choices.spell_out();
    if choices.finished || choices.retry_failed {
        return Err(Failure::input(
            "a list of jobs computes all runs; leave --finished and --retry-failed out",
        ));
    }
    let out = choices.out.clone();
    let out = out.unwrap_or_else(|| PathBuf::from("treering-bench"));
    if out.exists() {
        return Err(Failure::input(format!(
            "{}: this is there already, and a list of jobs makes a new folder of results; name another with --out",
            out.display()
        )));
    }
    let mut agendas = Agenda::all(&choices)?;
    let agenda = agendas.pop().filter(|_| agendas.is_empty());
    let plain = |agenda: &Agenda| {
        let searches = agenda
            .entrants
            .iter()
            .any(|one| one.contender.grid.is_some());
        agenda.place == Place::default() && agenda.studies.is_empty() && !searches
    };
    let Some(agenda) = agenda.filter(plain) else {
        return Err(Failure::input(
            "searches, studies and what has to run alone cannot be jobs of a list, since they need other runs first; run it with `treering bench`",
        ));
    };
    if choices.data.is_empty() && !choices.preset.is_empty() {
        super::paper_data::find(&mut choices.data)?;
    }
    let work = Work::new(agenda, &choices, &out, global)?;
    let comparison = &work.comparison;
    let mut specs: Vec<RunSpec> = Vec::new();
    for series in &comparison.series {
        for spec in comparison.specs(series, &[], Asked::Test)? {
            if !specs.contains(&spec) {
                specs.push(spec);
            }
        }
    }
    let mut made = Vec::new();
    for job in jobs(specs) {
        let wanted = job.specs.first().map(|spec| &spec.data);
        let set = comparison.sets.iter().find(|set| Some(&set.id) == wanted);
        let set = set.ok_or_else(|| Failure::system("a run's data was lost"))?;
        let order = Order {
            origin: set.origin.clone(),
            job,
        };
        let order = serde_json::to_string(&order).map_err(Failure::system)?;
        let file = set.origin.path().map(|path| drafts.input(path));
        made.push(drafts.add(Draft {
            kind: "run",
            level: 0,
            flags: vec!["--job-order".into(), order],
            told: false,
            inputs: file.transpose()?.into_iter().collect(),
            output: None,
            memory: set.guess,
            effort: Effort::start() + Effort::bytes(20 * set.guess),
            read: set.guess / 2,
            written: 20_000,
        }));
    }
    let mut flags = vec![
        "--job-parts".to_owned(),
        format!("{FOLDER}/parts"),
        "--job-runs".to_owned(),
        made.len().to_string(),
        "--job-called".to_owned(),
        drafts.called("bench"),
    ];
    if let Some(folder) = sets::data_folder() {
        flags.push("--job-data".to_owned());
        flags.push(drafts.absolute(&folder).to_string_lossy().into_owned());
    }
    let memory = comparison.sets.iter().map(|set| set.guess).max();
    let mut inputs = made;
    for set in &comparison.sets {
        if let Some(path) = set.origin.path() {
            inputs.push(drafts.input(path)?);
        }
    }
    let written = 20_000 * inputs.len() as u64;
    let output = Some(drafts.absolute(&out));
    drafts.add(Draft {
        kind: "gather",
        level: 1,
        flags,
        told: true,
        inputs,
        output,
        memory: memory.unwrap_or(0),
        effort: Effort::start() + Effort::bytes(memory.unwrap_or(0)),
        read: written,
        written,
    });
    Ok(())
}

/// Trains, and writes the records of its runs.
pub(crate) fn run_part(args: &RunPart, global: &Global) -> Result<(), Failure> {
    let started = Instant::now();
    let order: Order = serde_json::from_str(&args.order).map_err(Failure::input)?;
    let results = child::work(&order, started, global, &Silent).map_err(Failure::system)?;
    let runs = order.job.specs.into_iter().zip(results);
    let records: Vec<Record> = runs
        .map(|(spec, (result, measured))| Record::done(spec, result, measured))
        .collect();
    let text = serde_json::to_string(&records).map_err(Failure::system)?;
    let path = &args.into.path;
    fs::write(path, text + "\n").map_err(|error| at(path, error))
}

/// Makes the folder of results, as if all runs had been done there.
pub(crate) fn gather(args: GatherPart, global: &Global) -> Result<(), Failure> {
    if let Some(folder) = args.data_folder {
        sets::set_data_folder(folder);
    }
    let out = &args.into.path;
    let folder = Folder::open(out)?;
    for number in 1..=args.runs {
        let path = args.parts.join(format!("run-{number:04}"));
        let bytes = fs::read(&path).map_err(|error| at(&path, error))?;
        let records: Vec<Record> = serde_json::from_slice(&bytes)
            .map_err(|error| Failure::system(format!("{}: {error}", path.display())))?;
        records.iter().try_for_each(|record| folder.store(record))?;
    }
    drop(folder);
    let mut bench = args.bench;
    bench.choices.out = Some(out.clone());
    bench.choices.finished = true;
    super::run_called(bench, global, &Output::nowhere(), &args.called_as)
}
