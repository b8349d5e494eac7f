//! `treering learn`.

pub(crate) mod apart;

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use treering_data::{Progress, TaskSize, check_mapped, human_bytes, shortened};
use treering_learn::saved::{self, Parameters, TRAINED_BACKBONE, contrast};
use treering_store::{RingEntry, free_names};

use super::ground::Ground;
use super::held_out::{Accuracy, accuracy};
use super::parameters::LearnerFlags;
use super::tasks::{HeldOut, Tasks, Wanted};
use super::training::{Training, parameters_in};
use crate::Global;
use crate::failure::Failure;
use crate::memory::{self, Estimate};
use crate::output::{Output, grouped, table};
use crate::plan::PlanFlags;
use crate::progress::listener;
use crate::source::Source;

/// Flags of `treering learn`.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:\n  treering learn model/ topics-2024.treering\n  \
    treering learn model/ topics-2025.treering --name autumn --val 0.2\n  \
    treering learn model/ papers.csv-folder/ --classes physics,law\n  \
    treering learn model/ cora.npz --classes-per-task 2 --order random --seed 3\n  \
    treering learn model/ better-labels.treering --replace autumn\n\n\
    Without --classes all classes with a train node make one task. Nodes of classes that are not chosen are left out of the task's graph; nodes \
    without a label stay, because they may belong to the new classes. A folder written by `treering data stream -o FOLDER --graphs native` is \
    learned task by task. What was learned before does not change by a bit."
)]
pub(crate) struct Learn {
    /// The folder of the model; it is made if it is not there.
    model: PathBuf,
    #[command(flatten)]
    source: Source,
    /// What to call the task [default: task-N]; of several, the first is NAME-1.
    #[arg(long)]
    name: Option<String>,
    /// The classes of the task, by name; names with a comma cannot be given.
    #[arg(long, value_name = "CLASS,CLASS,...", value_delimiter = ',')]
    classes: Vec<String>,
    /// Cut the graph into several tasks of so many classes, and learn them all.
    #[arg(long, value_name = "K", conflicts_with = "group")]
    classes_per_task: Option<usize>,
    /// Learn this task (number or name) as a whole again, in its place. Its classes may be others than before.
    #[arg(long, value_name = "TASK", conflicts_with_all = ["classes_per_task", "group"])]
    replace: Option<String>,
    /// Hold out this share of every class's train nodes, and say how the model does on them.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    val: Option<f64>,
    /// Say which tasks would be learned and how much memory that takes, and learn nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plan: PlanFlags,
    #[command(flatten)]
    learner: LearnerFlags,
}

pub(crate) fn run(args: &Learn, global: &Global, output: &Output) -> Result<(), Failure> {
    if !args.source.is_named() {
        return Err(Failure::input(
            "DATA is missing: name a file, a folder or built-in data (`treering data synth --list`); `treering demo` shows how it goes",
        ));
    }
    let (parameters, exists) = parameters(args)?;
    if args.replace.is_some() && !exists {
        return Err(Failure::input(format!(
            "{}: there is no model yet, so there is no task to replace; leave --replace out",
            args.model.display()
        )));
    }
    let mut tasks = tasks(args, parameters.seed(), global)?;
    if args.dry_run {
        return dry_run(args, &parameters, exists, &tasks, output);
    }
    let training = match exists {
        false => {
            // Asked before the folder is made, so that a call that is refused leaves none.
            let names = names(args, (1, &[]), None, tasks.len());
            Ground::new(&args.model).check(&tasks, &names)?;
            estimate(&parameters, &tasks, true).check("learning")?;
            Training::begin(&args.model, parameters.clone())?
        }
        true => Training::resume(&args.model, args.replace.as_deref())?,
    };
    let (next, replaced) = (training.next_number(), training.replaced());
    let names = names(args, (next, &training.names()), replaced, tasks.len());
    training.check(&tasks, &names)?;
    training.estimate(&tasks).check("learning")?;
    if let Some(share) = args.val {
        tasks.hold_out(HeldOut {
            share,
            seed: parameters.seed(),
            first: u64::from(training.next_number()),
        });
    }
    if !global.quiet {
        announce(&parameters, &training, &tasks, exists);
    }
    let listener = listener(global.quiet);
    let mut rings = Vec::new();
    let training = training.learn(&tasks, &names, &*listener, |ring| {
        rings.push(ring.clone());
        Ok(())
    })?;
    let learned = judge(&training, rings, &tasks, &*listener)?;
    match args.json {
        true => output.json(&as_json(&learned)),
        false => output.print(&describe(&learned, &tasks)),
    }
}

/// What is to be learned.
fn tasks(args: &Learn, seed: u64, global: &Global) -> Result<Tasks, Failure> {
    let wanted = Wanted {
        source: &args.source,
        classes: &args.classes,
        classes_per_task: args.classes_per_task,
        plan: &args.plan,
        seed,
    };
    let tasks = wanted.load(global)?;
    check_count(args, &tasks)?;
    Ok(tasks)
}

/// The model's parameters, or those of the model that begins; and whether there is one.
fn parameters(args: &Learn) -> Result<(Parameters, bool), Failure> {
    check_share(args)?;
    let there = parameters_in(&args.model)?;
    let asked = args.learner.asked(&args.model, there.as_ref())?;
    Ok((asked, there.is_some()))
}

fn check_share(args: &Learn) -> Result<(), Failure> {
    match args.val {
        Some(share) if !(0.0..1.0).contains(&share) => Err(Failure::input(format!(
            "--val is {share}; it has to be at least 0 and less than 1"
        ))),
        _ => Ok(()),
    }
}

/// Says what learning would take, and learns nothing.
fn dry_run(
    args: &Learn,
    parameters: &Parameters,
    exists: bool,
    tasks: &Tasks,
    output: &Output,
) -> Result<(), Failure> {
    let estimate = estimate(parameters, tasks, !exists);
    if args.json {
        let size = |size: &TaskSize| json!({ "nodes": size.nodes, "arcs": size.arcs, "train": size.train });
        let sizes: Vec<_> = tasks.sizes().iter().map(size).collect();
        output.json(
            &json!({ "memory": estimate, "fits": estimate.peak <= estimate.limit, "tasks": sizes }),
        )?;
        return estimate.check("learning");
    }
    let mut listing = table(
        &["task", "classes", "nodes", "arcs", "train"],
        &[0, 2, 3, 4],
    );
    for (at, size) in tasks.sizes().iter().enumerate() {
        let classes: Vec<String> = tasks
            .classes(at)
            .iter()
            .map(|class| shortened(class))
            .collect();
        listing.add_row([
            (at + 1).to_string(),
            classes.join(", "),
            grouped(size.nodes),
            grouped(size.arcs),
            grouped(size.train),
        ]);
    }
    output.print(&format!(
        "{}\nmemory: {}\nnothing was learned (--dry-run)\n",
        listing.trim_fmt(),
        estimate.words()
    ))?;
    estimate.check("learning")
}

fn estimate(parameters: &Parameters, tasks: &Tasks, is_new: bool) -> Estimate {
    Estimate::of(tasks.to_cut() + memory::to_learn(parameters, tasks.sizes(), is_new))
}

fn check_count(args: &Learn, tasks: &Tasks) -> Result<(), Failure> {
    match (&args.replace, tasks.len()) {
        (Some(_), count) if count != 1 => Err(Failure::input(format!(
            "--replace learns one task again, and the data has {count}; name one task's graph"
        ))),
        _ => Ok(()),
    }
}

/// What the tasks will be called.
///
/// # Arguments
/// * `next`: the number of the first one's ring, and the names that are taken.
fn names(
    args: &Learn,
    (next, taken): (u32, &[&str]),
    replaced: Option<&RingEntry>,
    count: usize,
) -> Vec<String> {
    match (&args.name, replaced) {
        (Some(name), _) if count == 1 => vec![name.clone()],
        (Some(name), _) => (1..=count).map(|at| format!("{name}-{at}")).collect(),
        (None, Some(replaced)) => vec![replaced.name.clone()],
        (None, None) => free_names(next, taken).take(count).collect(),
    }
}

/// What a person should know before the work begins.
fn announce(parameters: &Parameters, training: &Training, tasks: &Tasks, exists: bool) {
    if let Some(origin) = tasks.origin().filter(|origin| origin.synthetic.is_some()) {
        let name = shortened(&origin.name);
        tell!("note: {name} is SYNTHETIC data");
    }
    for size in tasks.sizes().iter().take(1) {
        if let (false, Some(contrast)) = (exists, contrast(parameters, size.nodes)) {
            tell!("the first task trains the backbone; contrast: {contrast}");
        }
    }
    let is_first = |ring: &RingEntry| ring.facts[TRAINED_BACKBONE] == true;
    if training.replaced().is_some_and(is_first) {
        tell!(
            "note: this task trained the backbone. The backbone stays as it is, since every other ring stands on it; the task gets a prompt \
             like the others"
        );
    }
}

/// A ring that was committed, and how it does on validation nodes.
struct Learned {
    ring: RingEntry,
    accuracy: Option<Accuracy>,
}

/// Asks the model as it lies on the disk.
fn judge(
    training: &Training,
    rings: Vec<RingEntry>,
    tasks: &Tasks,
    progress: &dyn Progress,
) -> Result<Vec<Learned>, Failure> {
    let model = training.model().filter(|_| tasks.has_validation());
    let learner = model.map(saved::load).transpose()?;
    progress.begin("asking about validation nodes", rings.len() as u64);
    let mut learned = Vec::with_capacity(rings.len());
    for (task, ring) in rings.into_iter().enumerate() {
        let place = model.and_then(|model| {
            let rings = &model.manifest().rings;
            rings.iter().position(|known| known.number == ring.number)
        });
        let accuracy = match (&learner, place) {
            (Some(learner), Some(place)) => accuracy(&**learner, &tasks.graph(task)?, place)?,
            _ => None,
        };
        learned.push(Learned { ring, accuracy });
        progress.advance(1);
    }
    progress.end();
    check_mapped()?;
    Ok(learned)
}

fn describe(learned: &[Learned], tasks: &Tasks) -> String {
    let judged = learned.iter().any(|one| one.accuracy.is_some());
    let mut header = vec!["ring", "task", "classes", "nodes", "train", "bytes"];
    if judged {
        header.extend(["val, task known", "val, node by node"]);
    }
    let mut listing = table(&header, &[0, 3, 4, 5, 6, 7]);
    for (one, size) in learned.iter().zip(tasks.sizes()) {
        let ring = &one.ring;
        let classes: Vec<String> = ring.classes.iter().map(|class| shortened(class)).collect();
        let mut row = vec![
            format!("{:04}", ring.number),
            shortened(&ring.name),
            classes.join(", "),
            grouped(size.nodes),
            grouped(train_nodes(ring)),
            human_bytes(ring.file.bytes),
        ];
        if judged {
            let percent = |value: Option<f64>| value.map_or("".into(), |v| format!("{v:.1} %"));
            row.push(percent(one.accuracy.map(|accuracy| accuracy.within)));
            row.push(percent(one.accuracy.map(|accuracy| accuracy.over_all)));
        }
        listing.add_row(row);
    }
    format!("{}\n", listing.trim_fmt())
}

/// The train nodes of a ring, from its facts.
pub(super) fn train_nodes(ring: &RingEntry) -> usize {
    let train = ring.facts["train"].as_object();
    let counts = train.into_iter().flatten();
    counts.filter_map(|(_, count)| count.as_u64()).sum::<u64>() as usize
}

fn as_json(learned: &[Learned]) -> serde_json::Value {
    let one = |one: &Learned| {
        let ring = &one.ring;
        json!({
            "ring": ring.number,
            "name": ring.name,
            "classes": ring.classes,
            "bytes": ring.file.bytes,
            "facts": ring.facts,
            "validation": one.accuracy.map(|a| json!({ "task-known": a.within, "node-by-node": a.over_all })),
        })
    };
    learned.iter().map(one).collect()
}
