//! Learning a stream in parts: every task's ring is a job; those that stand on a backbone wait for the first; one commit makes the model of all.

use std::path::{Path, PathBuf};

use clap::Args;
use treering_data::check_mapped;
use treering_jobs::Input;
use treering_learn::saved::{self, Parameters};
use treering_learn::{Shown, TrainingTask, memory};
use treering_store::{Change, Model, NewModel, NewRing, Writer};

use super::super::ground::Ground;
use super::super::tasks::{HeldOut, Tasks};
use super::super::{merge, prepared};
use super::{Learn, names};
use crate::Global;
use crate::failure::Failure;
use crate::jobs::{Draft, Drafts, Effort, FOLDER, Target, told_of};
use crate::memory::holding;
use crate::progress::listener;

/// Flags of a job that learns one task.
#[derive(Args)]
pub(crate) struct RingPart {
    #[command(flatten)]
    into: Target,
    /// Its place in the stream, from 0.
    #[arg(long = "job-task", value_name = "N")]
    task: usize,
    /// A model of the first task, whose backbone this one stands on.
    #[arg(long = "job-base", value_name = "MODEL")]
    base: Option<PathBuf>,
    #[command(flatten)]
    learn: Learn,
}

/// Flags of the job that puts rings together.
#[derive(Args)]
pub(crate) struct CommitPart {
    #[command(flatten)]
    into: Target,
    /// Models of one ring each, in order.
    #[arg(long = "job-part", value_name = "MODEL", required = true)]
    parts: Vec<PathBuf>,
}

/// A model that will begin.
struct Beginning {
    parameters: Parameters,
    tasks: Tasks,
    names: Vec<String>,
}

impl Beginning {
    /// Whatever is in the folder of the model: it may be what this list has made.
    fn new(args: &Learn, global: &Global) -> Result<Self, Failure> {
        super::check_share(args)?;
        let parameters = args.learner.asked(&args.model, None)?;
        let mut tasks = super::tasks(args, parameters.seed(), global)?;
        let names = names(args, (1, &[]), None, tasks.len());
        Ground::new(&args.model).check(&tasks, &names)?;
        if let Some(share) = args.val {
            tasks.hold_out(HeldOut {
                share,
                seed: parameters.seed(),
                first: 1,
            });
        }
        Ok(Beginning {
            parameters,
            tasks,
            names,
        })
    }
}

pub(crate) fn plan(args: &Learn, drafts: &mut Drafts, global: &Global) -> Result<(), Failure> {
    if !args.source.is_named() {
        return Err(Failure::input(
            "DATA is missing: name a file, a folder or built-in data",
        ));
    }
    if args.replace.is_some() || args.dry_run {
        return Err(Failure::input(
            "a list of jobs begins a new model, and learns all of it; leave --replace and --dry-run out",
        ));
    }
    if is_taken(&args.model) {
        return Err(Failure::input(format!(
            "{}: a list of jobs begins a new model, and this is there already. Name a folder that is not there; models that were learned apart are put \
             together by `treering merge`",
            args.model.display()
        )));
    }
    let beginning = Beginning::new(args, global)?;
    let sizes = beginning.tasks.sizes().to_vec();
    let to_cut = beginning.tasks.to_cut();
    let (parameters, tasks) = (beginning.parameters, beginning.tasks);
    let data = tasks.data_size();
    drop(tasks);
    let files = args.source.files().into_iter();
    let inputs = files.map(|file| drafts.input(&file));
    let inputs = inputs.collect::<Result<Vec<Input>, Failure>>()?;
    let shares = matches!(parameters, Parameters::Tpp(_));
    let mut rings: Vec<Input> = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        let begins = at == 0;
        let mut flags = vec!["--job-task".to_owned(), at.to_string()];
        let mut needs = inputs.clone();
        if let Some(first) = rings.first().filter(|_| shares) {
            flags.push("--job-base".to_owned());
            flags.push(format!("{FOLDER}/{}", first.path.display()));
            needs.push(first.clone());
        }
        let more = memory::to_learn(&parameters, size, begins);
        // Of a file that is mapped in windows, what is there while a task is cut.
        let held = if to_cut > 0 {
            to_cut
        } else {
            data.graph_bytes()
        };
        let ring = memory::ring(&parameters, size);
        rings.push(drafts.add(Draft {
            kind: "ring",
            level: u32::from(shares && !begins),
            flags,
            told: true,
            inputs: needs,
            output: None,
            memory: holding(held, more, drafts.limit())?,
            effort: effort(&parameters, size, begins) + Effort::bytes(data.graph_bytes()),
            read: data.graph_bytes(),
            written: ring,
        }));
    }
    let all: u64 = sizes
        .iter()
        .map(|size| memory::ring(&parameters, size))
        .sum();
    let flags = rings.iter().flat_map(told_of).collect();
    let output = Some(drafts.absolute(&args.model));
    drafts.add(Draft {
        kind: "commit",
        level: u32::from(shares && rings.len() > 1) + 1,
        flags,
        told: false,
        inputs: rings,
        output,
        memory: (64 << 20) + 3 * all,
        effort: Effort::start() + Effort::bytes(6 * all),
        read: all,
        written: all,
    });
    Ok(())
}

/// Whether anything but an empty folder is there.
fn is_taken(path: &Path) -> bool {
    match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => path.symlink_metadata().is_ok(),
    }
}

/// What learning a task costs, roughly: passes over its arcs with all columns, and what training does beside them.
fn effort(parameters: &Parameters, size: &treering_data::TaskSize, begins: bool) -> Effort {
    let steps = Effort::steps(size.arcs, size.columns, 3);
    let nodes = size.nodes as f64;
    match parameters {
        Parameters::Treering(_) => {
            let width = size.columns.min(2048) as f64;
            Effort::start() + steps + Effort::products(0.2 * nodes * width * width)
        }
        Parameters::Tpp(_) => {
            let contrasted = nodes.min(4096.0);
            let pretraining = 200.0 * 12.0 * contrasted * contrasted * 256.0 / 8.0;
            let prompts = 200.0 * nodes * 256.0;
            let first = if begins { pretraining } else { 0.0 };
            Effort::start() + steps + Effort::products(first + prompts)
        }
    }
}

/// Learns one task into a model of one ring.
pub(crate) fn ring(args: &RingPart, global: &Global) -> Result<(), Failure> {
    let beginning = Beginning::new(&args.learn, global)?;
    let (at, tasks) = (args.task, &beginning.tasks);
    if at >= tasks.len() {
        return Err(Failure::input("the data does not have so many tasks"));
    }
    let base = args.base.as_deref().map(Model::open).transpose()?;
    let mut learner = match &base {
        None => beginning.parameters.clone().build()?,
        Some(base) => saved::load_some(base, |_| false)?,
    };
    let shown = match learner.calibrates() {
        true => Shown::TrainAndValidation,
        false => Shown::Train,
    };
    // Numbered as in a model that learns all of them.
    let task = TrainingTask::new(tasks.graph(at)?, 1 + at as u64, shown)?;
    learner.learn(std::slice::from_ref(&task), &*listener(true))?;
    check_mapped()?;
    let name = &beginning.names[at];
    let head = match &base {
        None => saved::head(&*learner, &task, name),
        Some(base) => head_of(base)?,
    };
    let ring = NewRing {
        name: name.clone(),
        classes: task.classes().to_vec(),
        facts: saved::facts(&beginning.parameters, &task, at == 0),
        bytes: learner.ring(0),
    };
    let writer = Writer::create(&args.into.path, head)?;
    prepared(writer)?.commit(vec![Change::Add(ring)])?;
    Ok(())
}

/// What a model begins with that stands on the same backbone.
fn head_of(base: &Model) -> Result<NewModel, Failure> {
    let manifest = base.manifest().clone();
    Ok(NewModel {
        learner: manifest.learner,
        parameters: manifest.parameters,
        feature_width: manifest.feature_width,
        facts: manifest.facts,
        backbone: base.backbone_bytes()?,
    })
}

/// Makes the model of all rings.
pub(crate) fn commit(args: &CommitPart) -> Result<(), Failure> {
    merge::merge(&args.into.path, &args.parts)?;
    Ok(())
}
