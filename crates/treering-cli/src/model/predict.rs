//! `treering predict`.

pub(crate) mod apart;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use treering_data::{Fault, TaskSize, check_mapped, check_target, replace};
use treering_graph::NodeId;
use treering_learn::saved::{self, Keep, Parameters};
use treering_learn::treering::Router;
use treering_learn::{Answer, Query, memory};
use treering_store::Model;

use super::answers::{About, Table};
use super::parameters::RouterKind;
use super::rows::{Column, Format, Groups, Sink};
use super::selection;
use crate::Global;
use crate::failure::Failure;
use crate::memory::{Estimate, to_smooth};
use crate::output::Output;
use crate::progress::listener;
use crate::source::Source;

/// Flags of `treering predict`.
#[derive(Args)]
#[command(after_help = "Examples:\n  treering predict model/ graph.treering\n  \
    treering predict model/ graph.treering --only 17,42 --top 3\n  \
    treering predict model/ graph.treering --reject 0.05\n  \
    treering predict model/ graph.treering --groups batches.csv -o predictions.parquet\n  \
    treering predict model/ grown.treering --only new-nodes.txt\n\n\
    Columns: node (as the data calls it), class, probability (within the task), task, margin (how clear the choice of the task was; empty where only one \
    task is known), confidence (the probability that task and class are both right; empty where the router has none). docs/models.md says more. \
    Labels in the data are not looked at. Nodes that arrived after learning are asked about like any others: with the edges they have now, or with none.")]
pub(crate) struct Predict {
    /// The folder of the model.
    model: PathBuf,
    #[command(flatten)]
    source: Source,
    /// The nodes to print: a list of ids, or a file with one id a line [default: every node]. Groups stay whole all the same.
    #[arg(long, value_name = "FILE|ID,ID,...")]
    only: Option<String>,
    /// Which nodes are known to come from one task: single (nothing is known), all, a CSV file with the columns node and group, or components (those that
    /// edges connect); of components smaller than N every node stands alone.
    #[arg(
        long,
        value_name = "single|all|components[:N]|FILE.csv",
        default_value = "single"
    )]
    groups: String,
    /// Print the K most probable classes of the task, one line each, with their rank.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Answer `unknown` where a query is less like the task it was taken for than all but this share of queries of known tasks (of the same group size) are:
    /// so often are known ones rejected too. Adds the columns familiarity and nearest, the likeliest tasks.
    #[arg(long, value_name = "RATE", conflicts_with = "top")]
    reject: Option<f64>,
    /// Print the probability of every task instead: a line for each node and task.
    #[arg(long, conflicts_with_all = ["top", "reject"])]
    posterior: bool,
    /// How tasks are recognised, of models of the learner treering [default: as the model was begun].
    #[arg(long, value_enum, value_name = "NAME")]
    router: Option<RouterKind>,
    /// How to write [default: by the ending of FILE; csv on standard output].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write into a file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace what is there.
    #[arg(long)]
    force: bool,
    /// Give isolated nodes a random neighbour before tasks are recognised by prototypes, as the paper's evaluation does. Where the graph is one task's this
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
    let learner = learner(args, &model)?;
    let table = table(args, &*learner)?;
    let graph = args.source.load(global)?.graph;
    let names = graph.names().clone();
    let wanted = selection::nodes(args.only.as_deref(), &names)?;
    let (asked, groups) = selection::groups(&args.groups, &wanted, &graph)?;
    let (size, rings) = (TaskSize::of(&graph), &model.manifest().rings);
    let need = memory::to_predict(&learner.parameters(), &size, asked.len(), rings.len());
    Estimate::of(need + to_smooth(&graph)).check("answering")?;
    let mut query = Query::new(graph, asked, groups);
    query.patch = args.paper_patch.then_some(0);
    let job = Job {
        args,
        learner: &*learner,
        query: &query,
        wanted: &wanted,
        about: About {
            names: &names,
            rings,
            table,
        },
        quiet: global.quiet,
    };
    let columns = table.columns();
    let Some(path) = &args.out else {
        return output.lines(|out| job.fill(Sink::text(out, format, &columns)));
    };
    job.write(path, format, &columns)?;
    if !global.quiet {
        tell!("wrote {} ({} nodes)", path.display(), wanted.len());
    }
    Ok(())
}

/// A query that is about to be answered.
struct Job<'a> {
    args: &'a Predict,
    learner: &'a dyn Keep,
    query: &'a Query,
    /// The nodes that are printed.
    wanted: &'a [NodeId],
    about: About<'a>,
    quiet: bool,
}

impl<'a> Job<'a> {
    /// Answers, piece by piece, and hands the lines on.
    fn fill<W: Write>(&self, mut sink: Sink<'a, W>) -> Result<(), Failure> {
        let listener = listener(self.quiet);
        let (mut done, mut failed) = (0, None);
        // Groups can be larger than what is printed of them, and in another order.
        let picks = self.wanted != self.query.nodes;
        let mut picked = Vec::new();
        self.learner
            .predict_each(self.query, &*listener, &mut |answers| {
                if picks {
                    picked.extend(answers);
                    return true;
                }
                let nodes = &self.wanted[done..done + answers.len()];
                done += answers.len();
                failed = self.print(&mut sink, nodes, &answers).err();
                failed.is_none()
            })?;
        if let Some(failed) = failed {
            return Err(failed);
        }
        if picks {
            let answers = selection::pick(self.wanted, &self.query.nodes, picked);
            self.print(&mut sink, self.wanted, &answers)?;
        }
        check_mapped()?;
        sink.finish().map_err(Output::failed)
    }

    fn print<W: Write>(
        &self,
        sink: &mut Sink<'a, W>,
        nodes: &[NodeId],
        answers: &[Answer],
    ) -> Result<(), Failure> {
        check_familiar(&self.about, answers, self.args)?;
        let rows = self.about.rows(nodes, answers);
        sink.take(rows).map_err(Output::failed)
    }

    /// Writes a file, which is there when it is complete.
    fn write(&self, path: &Path, format: Format, columns: &'a [Column]) -> Result<(), Failure> {
        let fill = |partial: &Path| -> Result<(), Failure> {
            let told = |error: io::Error| Failure::from(Fault::from_io(error).at(path));
            match format {
                Format::Parquet => {
                    let groups = Groups::new(partial, columns).map_err(told)?;
                    self.fill(Sink::<File>::Parquet(Box::new(groups)))
                }
                _ => {
                    let file = File::create(partial).map_err(told)?;
                    self.fill(Sink::text(file, format, columns))
                }
            }
        };
        let mut why = None;
        let written = replace(path, self.args.force, |partial| {
            fill(partial).map_err(|failure| {
                why = Some(failure);
                Fault::Empty.at(partial)
            })
        });
        written.map_err(|error| why.unwrap_or_else(|| error.into()))
    }
}

/// Refuses to reject where nothing is known of how familiar nodes are.
fn check_familiar(about: &About<'_>, answers: &[Answer], args: &Predict) -> Result<(), Failure> {
    let rejects = matches!(about.table, Table::Rejecting(_));
    match rejects && answers.iter().any(|a| a.familiarity.is_none()) {
        false => Ok(()),
        true => Err(Failure::input(format!(
            "--reject: {} has nothing to calibrate with, since no class of it has a second train node or a validation node. Learn from more nodes",
            args.model.display()
        ))),
    }
}

/// The model's learner, with the router that was asked for.
fn learner(args: &Predict, model: &Model) -> Result<Box<dyn Keep>, Failure> {
    let mut parameters = saved::parameters(model)?;
    match (&mut parameters, args.router) {
        (Parameters::Treering(parameters), Some(router)) => parameters.router = router.into(),
        (Parameters::Tpp(_), Some(_)) => {
            return Err(Failure::input(format!(
                "{}: the learner of this model is tpp, whose router is fixed; leave --router out",
                args.model.display()
            )));
        }
        (_, None) => {}
    }
    if let Parameters::Treering(parameters) = &parameters
        && args.paper_patch
        && parameters.router != Router::Prototype
    {
        return Err(Failure::input(
            "--paper-patch is about prototypes; add --router prototype, or leave it out",
        ));
    }
    Ok(saved::load_with(model, parameters, |_| true)?)
}

/// What is printed, once it is known that the learner can say it.
fn table(args: &Predict, learner: &dyn Keep) -> Result<Table, Failure> {
    let probabilities = learner.familiarity_is_calibrated();
    let cannot = |flag: &str, what: &str| {
        let remedy = match learner.parameters() {
            Parameters::Treering(_) => "Use --router ridge",
            Parameters::Tpp(_) => "The learner of this model is tpp; learn one with treering",
        };
        Err(Failure::input(format!(
            "{flag}: a router that looks for the nearest prototype has no {what}. {remedy}"
        )))
    };
    if let Some(rate) = args.reject {
        if !(rate > 0.0 && rate < 1.0) {
            return Err(Failure::input(format!(
                "--reject is {rate}; it has to be more than 0 and less than 1, for instance 0.05"
            )));
        }
        if !probabilities {
            return cannot("--reject", "calibrated familiarity");
        }
        return Ok(Table::Rejecting(rate));
    }
    match (args.posterior, args.top) {
        (true, _) if !probabilities => cannot("--posterior", "probabilities"),
        (true, _) => Ok(Table::Tasks),
        (false, Some(top)) => Ok(Table::Ranked(top as usize)),
        (false, None) => Ok(Table::Plain),
    }
}
