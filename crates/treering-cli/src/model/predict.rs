//! `treering predict`.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use treering_data::{Fault, check_target, replace};
use treering_graph::{NodeId, NodeNames};
use treering_learn::tpp::saved;
use treering_learn::{Answer, Learner, Query};
use treering_store::{Model, RingEntry};

use super::rows::{Format, Prediction, write_parquet, write_text};
use super::selection;
use crate::Global;
use crate::failure::Failure;
use crate::output::Output;
use crate::source::Source;

/// Flags of `treering predict`.
#[derive(Args)]
#[command(after_help = "Examples:\n  treering predict model/ graph.treering\n  \
    treering predict model/ graph.treering --only 17,42 --top 3\n  \
    treering predict model/ graph.treering --groups batches.csv -o predictions.parquet\n\n\
    Columns: node (as the data calls it), class, probability (within the task), task, margin (how clear the choice of the task was: 1 on the \
    task's prototype, 0 half way to the next; empty where only one task is known). Labels in the data are not looked at.")]
pub(crate) struct Predict {
    /// The folder of the model.
    model: PathBuf,
    #[command(flatten)]
    source: Source,
    /// The nodes to print: a list of ids, or a file with one id a line [default: every node]. Groups stay whole all the same.
    #[arg(long, value_name = "FILE|ID,ID,...")]
    only: Option<String>,
    /// Which nodes are known to come from one task: single (nothing is known), all, or a CSV file with the columns node and group.
    #[arg(long, value_name = "single|all|FILE.csv", default_value = "single")]
    groups: String,
    /// Print the K most probable classes of the task, one line each, with their rank.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// How to write [default: by the ending of FILE; csv on standard output].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write into a file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace what is there.
    #[arg(long)]
    force: bool,
    /// Give isolated nodes a random neighbour before tasks are recognised, as the paper's evaluation does. Where the graph is one task's this
    /// tells the task, so it is for comparisons only.
    #[arg(long)]
    paper_patch: bool,
}

pub(crate) fn run(args: &Predict, global: &Global, output: &Output) -> Result<(), Failure> {
    let format = Format::choose(args.format, args.out.as_deref())?;
    if let Some(out) = &args.out {
        super::check_outside(&args.model, out)?;
        check_target(out, args.force)?;
    }
    let model = Model::open(&args.model)?;
    let learner = saved::load(&model)?;
    let graph = args.source.load(global)?.graph;
    let names = graph.names().clone();
    let wanted = selection::nodes(args.only.as_deref(), &names)?;
    let (asked, groups) = selection::groups(&args.groups, &wanted, &names)?;
    let mut query = Query::new(graph, asked, groups);
    query.patch = args.paper_patch.then_some(0);
    let answers = selection::pick(&wanted, &query.nodes, learner.predict(&query)?);
    let result = Predictions {
        nodes: &wanted,
        names: &names,
        answers: &answers,
        rings: &model.manifest().rings,
        top: args.top.map(|top| top as usize),
    };
    match &args.out {
        None => output.stream(|out| write_text(out, format, args.top.is_some(), result.rows())),
        Some(path) => {
            result.write(path, format, args.force)?;
            if !global.quiet {
                tell!("wrote {} ({} nodes)", path.display(), answers.len());
            }
            Ok(())
        }
    }
}

/// Answers and what they are about.
struct Predictions<'a> {
    nodes: &'a [NodeId],
    names: &'a NodeNames,
    answers: &'a [Answer],
    rings: &'a [RingEntry],
    /// How many classes of each node; without, one and no rank.
    top: Option<usize>,
}

impl<'a> Predictions<'a> {
    fn rows(&self) -> impl Iterator<Item = Prediction<'a>> {
        let (names, rings) = (self.names, self.rings);
        let top = self.top.unwrap_or(1);
        let asked = self.nodes.iter().zip(self.answers);
        asked.flat_map(move |(&node, answer)| {
            let ring = &rings[answer.task as usize];
            let row = move |(rank, class): (u32, usize)| Prediction {
                node: names.name(node),
                rank,
                class: &ring.classes[class],
                probability: answer.probabilities[class],
                task: &ring.name,
                margin: Some(answer.margin).filter(|margin| margin.is_finite()),
            };
            (1u32..).zip(best(answer, top)).map(row)
        })
    }

    fn write(&self, path: &Path, format: Format, force: bool) -> Result<(), Failure> {
        let ranked = self.top.is_some();
        let fill = |partial: &Path| -> io::Result<()> {
            match format {
                Format::Parquet => write_parquet(partial, ranked, self.rows()),
                _ => write_text(std::fs::File::create(partial)?, format, ranked, self.rows()),
            }
        };
        Ok(replace(path, force, |partial| {
            fill(partial).map_err(|error| Fault::from_io(error).at(partial))
        })?)
    }
}

/// The most probable classes, the first of equals first.
fn best(answer: &Answer, count: usize) -> Vec<usize> {
    let mut classes: Vec<usize> = (0..answer.probabilities.len()).collect();
    let probability = |class: usize| answer.probabilities[class];
    classes.sort_by(|&a, &b| probability(b).total_cmp(&probability(a)).then(a.cmp(&b)));
    classes.truncate(count);
    classes
}
