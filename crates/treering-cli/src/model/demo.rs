//! `treering demo`: the whole journey on built-in data, left behind as files to go on with.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use treering_data::{
    Progress, Recipe, Stream, StreamOptions, WriteFormat, human_bytes, synthesize, write,
};
use treering_eval::{Outcome, Protocol, examine};
use treering_graph::Graph;
use treering_learn::saved::{self, LEARNERS, Parameters};
use treering_store::Model;

use super::tasks::Tasks;
use super::training::Training;
use crate::Global;
use crate::failure::Failure;
use crate::output::{Output, table};
use crate::progress::listener;
use crate::source::{DEFAULT, context};

const GRAPH: &str = "graph.treering";
const MODEL: &str = "model";

/// Flags of `treering demo`.
#[derive(Args)]
#[command(
    after_help = "Writes FOLDER/graph.treering and FOLDER/model. A folder that an earlier demo left is replaced; any other is refused."
)]
pub(crate) struct Demo {
    /// The folder to leave graph and model in.
    #[arg(default_value = "treering-demo")]
    folder: PathBuf,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    seed: u64,
    /// The learner: treering, our own, or tpp, the paper's.
    #[arg(long, value_name = "NAME", default_value = LEARNERS[0], value_parser = PossibleValuesParser::new(LEARNERS))]
    learner: String,
}

pub(crate) fn run(args: &Demo, global: &Global, output: &Output) -> Result<(), Failure> {
    let Some(mut recipe) = Recipe::preset(DEFAULT) else {
        return Err(Failure::system("the built-in demo is not there"));
    };
    recipe.seed = recipe.seed.wrapping_add(args.seed);
    make_room(&args.folder)?;
    let listener = listener(global.quiet);
    let graph = synthesize(&recipe, &context(global, &*listener))?;
    write(
        &graph,
        &args.folder.join(GRAPH),
        WriteFormat::Native,
        true,
        &context(global, &*listener),
    )?;
    let options = StreamOptions {
        seed: args.seed,
        split_seed: args.seed,
        ..StreamOptions::default()
    };
    let stream = Stream::plan(&graph, &options)?;
    output.print(&format!(
        "SYNTHETIC data: {} nodes, {} classes in {} tasks of 2\n\n",
        graph.nodes(),
        graph.labels().map_or(0, |labels| labels.names().len()),
        stream.tasks.len()
    ))?;
    let model = args.folder.join(MODEL);
    let Some(mut parameters) = Parameters::of(&args.learner) else {
        return Err(Failure::system("no such learner"));
    };
    *parameters.seed_mut() = args.seed;
    learn(&model, &graph, &stream, parameters, &*listener, output)?;
    let outcomes = ask(&model, &graph, &stream)?;
    output.print(&describe(&outcomes))?;
    output.print(&next_steps(&args.folder, &graph))
}

/// Makes the folder, or empties one that an earlier demo left.
fn make_room(folder: &Path) -> Result<(), Failure> {
    let fail = |error: std::io::Error| Failure::input(format!("{}: {error}", folder.display()));
    if folder.exists() {
        let names = fs::read_dir(folder).map_err(fail)?;
        for entry in names {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name();
            let ours =
                name == GRAPH && entry.path().is_file() || name == MODEL && is_model(&entry.path());
            if !ours {
                return Err(Failure::input(format!(
                    "{}: this folder holds `{}`, which is not from a demo. Name another folder",
                    folder.display(),
                    name.to_string_lossy()
                )));
            }
        }
        let _ = fs::remove_file(folder.join(GRAPH));
        let _ = fs::remove_dir_all(folder.join(MODEL));
    }
    fs::create_dir_all(folder).map_err(fail)
}

/// Whether a folder holds a model, or the beginning of one, and nothing else.
fn is_model(folder: &Path) -> bool {
    match Model::open(folder) {
        Ok(model) => !model.verify().iter().any(|found| found.leftover),
        Err(error) => matches!(*error.fault, treering_store::Fault::Unfinished),
    }
}

fn learn(
    folder: &Path,
    graph: &Graph,
    stream: &Stream,
    parameters: Parameters,
    progress: &dyn Progress,
    output: &Output,
) -> Result<(), Failure> {
    let tasks = Tasks::of_stream(graph.clone(), stream.clone());
    let names: Vec<String> = (1..=tasks.len()).map(|at| format!("task-{at}")).collect();
    let training = Training::begin(folder, parameters)?;
    training.check(&tasks, &names)?;
    training.learn(&tasks, &names, progress, |ring| {
        let contrast = ring.facts["contrast"].as_str();
        let how = contrast.map_or_else(String::new, |contrast| {
            format!("; trained the backbone, contrast: {contrast}")
        });
        output.print(&format!(
            "learned {}: classes {}, {} train nodes, {}{how}\n",
            ring.name,
            ring.classes.join(" and "),
            super::learn::train_nodes(ring),
            human_bytes(ring.file.bytes),
        ))
    })?;
    Ok(())
}

/// Asks the committed model, read back from the disk.
fn ask(model: &Path, graph: &Graph, stream: &Stream) -> Result<Vec<Outcome>, Failure> {
    let learner = saved::load(&Model::open(model)?)?;
    Ok(examine(
        &*learner,
        graph,
        stream,
        &[Protocol::Paper, Protocol::Single],
    )?)
}

fn describe(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let protocol = outcome.protocol;
        text.push_str(&format!(
            "\nprotocol {protocol}: {}\n",
            protocol.listed().summary
        ));
        text.push_str(&matrix(outcome));
        let percent = |value: Option<f64>| value.map_or("none".into(), |v| format!("{v:.1} %"));
        text.push_str(&format!(
            "AA {}   AF {}   task-ID accuracy {}\n",
            percent(outcome.matrix.average_accuracy()),
            percent(outcome.matrix.average_forgetting()),
            percent(outcome.task_accuracy())
        ));
    }
    text
}

/// Accuracy on every task (column) after each task that was learned (row), in percent.
fn matrix(outcome: &Outcome) -> String {
    let rows = outcome.matrix.rows();
    let tasks: Vec<String> = (1..=rows.len())
        .map(|task| format!("task {task}"))
        .collect();
    let header: Vec<&str> = ["after"]
        .into_iter()
        .chain(tasks.iter().map(|t| &t[..]))
        .collect();
    let right: Vec<usize> = (1..header.len()).collect();
    let mut listing = table(&header, &right);
    for (task, row) in tasks.iter().zip(rows) {
        let mut cells = vec![task.clone()];
        cells.extend(row.iter().map(|accuracy| format!("{accuracy:.1}")));
        cells.resize(header.len(), String::new());
        listing.add_row(cells);
    }
    format!("{}\n", listing.trim_fmt())
}

fn next_steps(folder: &Path, graph: &Graph) -> String {
    let (model, data) = (folder.join(MODEL), folder.join(GRAPH));
    let (model, data) = (model.display(), data.display());
    format!(
        "\nThese figures are about SYNTHETIC data ({}). Go on with what is left in {}:\n  \
         treering inspect {model}\n  treering predict {model} {data} --only 0,1,2 --top 2\n  treering forget {model} task-3\n",
        graph.origin().name,
        folder.display()
    )
}
