//! Answers in parts: slices of columns and of heads, which go over all arcs; then blocks of nodes, which go over none; then one table.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use treering_data::{TaskSize, check_target};
use treering_graph::{Graph, NodeId};
use treering_jobs::Input;
use treering_learn::saved::{self, Parameters};
use treering_learn::treering::{self, HeadSlice, Parts, Piece, Read, Router, Treering};
use treering_store::Model;

use super::super::answers::About;
use super::super::rows::{Format, GROUP, Groups, Sink};
use super::{Predict, table as columns_of};
use crate::Global;
use crate::failure::Failure;
use crate::jobs::{Assumed, Draft, Drafts, Effort, FOLDER, Target, at, pieces, told_of};
use crate::memory::{holding, part};
use crate::output::Output;
use crate::parts::{Numbers, span};

/// The most columns of a slice: a whole block.
const MOST_COLUMNS: usize = Parts::WIDEST;
/// The most outputs of a slice of heads.
const MOST_OUTPUTS: usize = 64;
/// The fewest columns and outputs that memory is not too short for: arcs are gone over again for every slice.
const FEWEST: usize = 1;
/// The most nodes of a block.
const MOST_NODES: usize = 4 * GROUP;

/// How a query is cut, for all its jobs.
#[derive(Args, Clone, Copy)]
pub(crate) struct Cut {
    /// Columns of a slice.
    #[arg(long = "job-columns", value_name = "N")]
    columns: usize,
    /// Outputs of a slice of heads.
    #[arg(long = "job-outputs", value_name = "N")]
    outputs: usize,
}

/// Flags of a job that smooths columns, or what heads say.
#[derive(Args)]
pub(crate) struct SlicePart {
    #[command(flatten)]
    into: Target,
    #[command(flatten)]
    cut: Cut,
    /// Which slice.
    #[arg(long = "job-slice", value_name = "N")]
    slice: usize,
    #[command(flatten)]
    predict: Predict,
}

/// Flags of a job that answers.
#[derive(Args)]
pub(crate) struct RowsPart {
    #[command(flatten)]
    into: Target,
    #[command(flatten)]
    cut: Cut,
    /// From which node to which.
    #[arg(long = "job-nodes", value_name = "A..B", value_parser = span)]
    job_nodes: Range<usize>,
    /// The folder of the parts.
    #[arg(long = "job-parts", value_name = "FOLDER")]
    parts: PathBuf,
    #[command(flatten)]
    predict: Predict,
}

/// Flags of the job that writes the table.
#[derive(Args)]
pub(crate) struct TablePart {
    #[command(flatten)]
    into: Target,
    /// Answers, in order.
    #[arg(long = "job-part", value_name = "FILE", required = true)]
    parts: Vec<PathBuf>,
    #[command(flatten)]
    predict: Predict,
}

/// The model's learner; others than `treering` do not answer in parts.
fn learner(args: &Predict, model: &Model) -> Result<Treering, Failure> {
    let cannot = |why: &str| {
        Failure::input(format!(
            "{}: {why}, which cannot answer in parts. Run `treering predict` instead",
            args.model.display()
        ))
    };
    let mut parameters = match saved::parameters(model)? {
        Parameters::Treering(parameters) => parameters,
        Parameters::Tpp(_) => return Err(cannot("the learner of this model is tpp")),
    };
    parameters.router = args.router.map_or(parameters.router, Router::from);
    if parameters.router == Router::Prototype {
        return Err(cannot("the router of this model is prototype"));
    }
    Ok(saved::load_treering(model, parameters)?)
}

/// What a list is made for.
struct Sizes {
    graph: TaskSize,
    hops: usize,
    width: usize,
    tasks: usize,
    /// Outputs of a slice of heads.
    outputs: usize,
    /// Bytes of the model, and memory that the table takes.
    model: u64,
    table: u64,
}

impl Sizes {
    /// Memory of a job that smooths so many columns; of numbers of four bytes, two arrays are held at once, and of every node the length of its features.
    fn columns_memory(&self, columns: usize, limit: u64) -> Result<u64, Failure> {
        let nodes = self.graph.nodes as u64;
        part(
            &self.graph,
            nodes * (2 * 4 * columns as u64 + 8) + self.model,
            limit,
        )
    }

    /// The same of heads: three arrays of eight bytes.
    fn heads_memory(&self, outputs: usize, limit: u64) -> Result<u64, Failure> {
        let nodes = self.graph.nodes as u64;
        part(
            &self.graph,
            nodes * (3 * 8 * outputs as u64 + 8) + self.model,
            limit,
        )
    }

    /// The widest slices that fit.
    fn cut(&self, limit: u64) -> Result<Cut, Failure> {
        let widest = |most: usize, memory: &dyn Fn(usize, u64) -> Result<u64, Failure>| {
            // Not to the last byte: what is told before is right to a tenth.
            let safe = limit / 10 * 9;
            let fits = |&width: &usize| memory(width, safe).is_ok();
            let widest = (FEWEST..=most).rev().find(fits);
            widest.map_or_else(|| memory(FEWEST, limit).map(|_| FEWEST), Ok)
        };
        Ok(Cut {
            columns: widest(MOST_COLUMNS, &|width, limit| {
                self.columns_memory(width, limit)
            })?,
            outputs: widest(MOST_OUTPUTS, &|width, limit| {
                self.heads_memory(width, limit)
            })?,
        })
    }

    /// Nodes of a block: so many that a job is long enough and fits into memory, in whole blocks that are looked at together.
    fn block(&self, asked: Option<usize>, limit: u64) -> Result<usize, Failure> {
        let (nodes, group) = (self.graph.nodes, Parts::BLOCK);
        let count = pieces(self.rows(nodes), asked, nodes.div_ceil(group));
        let some = nodes.div_ceil(count).next_multiple_of(group);
        let most = some.clamp(group, MOST_NODES) / group;
        let fits = (1..=most)
            .rev()
            .find(|&groups| self.rows_memory(groups * group, limit / 10 * 9).is_ok());
        match fits {
            Some(groups) => Ok(groups * group),
            None => self.rows_memory(group, limit).map(|_| group),
        }
    }

    /// Memory of a job that answers about so many nodes.
    fn rows_memory(&self, nodes: usize, limit: u64) -> Result<u64, Failure> {
        let heads = 8 * self.hops as u64 * self.outputs as u64;
        let each = 3 * 4 * self.width as u64 + heads + 12 * self.tasks as u64 + 400;
        let held = nodes as u64 * each;
        // The names of nodes are read; the rest of the graph is not.
        holding(0, held + 4 * self.model + (8 << 20), limit)
    }

    /// Bytes that a slice of columns keeps of a node: of a block, square lengths and the columns of the last hop; otherwise the columns of every hop.
    fn kept(&self, columns: &Range<usize>) -> u64 {
        let (hops, own) = (self.hops as u64, 4 * columns.len() as u64);
        let block = columns.start.is_multiple_of(MOST_COLUMNS)
            && columns.end == self.width.min(columns.start + MOST_COLUMNS);
        if block { 8 * hops + own } else { hops * own }
    }

    /// What answers about so many nodes cost.
    fn rows(&self, nodes: usize) -> Effort {
        let read = nodes * self.hops * (4 * self.width + 16 * self.tasks);
        let products = nodes as f64 * (self.width * (2 * self.tasks + 300)) as f64;
        Effort::start()
            + Effort::bytes(read as u64)
            + Effort::products(products)
            + Effort::lines(nodes)
    }
}

pub(crate) fn plan(args: &Predict, drafts: &mut Drafts, global: &Global) -> Result<(), Failure> {
    let Some(out) = &args.out else {
        return Err(Failure::input(
            "a list of jobs writes into a file; name it with -o FILE",
        ));
    };
    if args.only.is_some() || args.groups != "single" || args.paper_patch {
        return Err(Failure::input(
            "in parts all nodes are asked about, each alone; leave --only, --groups and --paper-patch out, or run `treering predict` without `plan`",
        ));
    }
    Format::choose(args.format, Some(out))?;
    super::super::check_outside(&args.model, out)?;
    check_target(out, args.force)?;
    drafts.replaces = args.force;
    let model = Model::open(&args.model)?;
    let learner = learner(args, &model)?;
    columns_of(args, &learner)?;
    let parts = learner.parts()?;
    let graph = args.source.load(global)?.graph;
    fits(&graph, &parts)?;
    let mut sizes = Sizes {
        outputs: 0,
        // A group of Parquet's is put together in memory; lines of text go by.
        table: match format(args)? {
            Format::Parquet => 256 << 20,
            _ => 32 << 20,
        },
        graph: TaskSize::of(&graph),
        hops: parts.hops(),
        width: parts.width(),
        tasks: learner.rings().len(),
        model: model
            .manifest()
            .rings
            .iter()
            .map(|ring| ring.file.bytes)
            .sum(),
    };
    drop(graph);
    let cut = asked(&sizes, drafts)?;
    sizes.outputs = cut.outputs;
    let columns = parts.column_slices(cut.columns);
    let heads = parts.head_slices(cut.outputs);
    let heads: Vec<usize> = heads.iter().map(|slice| slice.outputs).collect();
    let mut inputs = vec![drafts.input(&args.model)?];
    for file in args.source.files() {
        inputs.push(drafts.input(&file)?);
    }
    draft(&sizes, cut, (&columns, &heads), inputs, Some(out), drafts)
}

/// As wide as memory allows, unless there should be more jobs.
fn asked(sizes: &Sizes, drafts: &Drafts) -> Result<Cut, Failure> {
    let cut = sizes.cut(drafts.limit())?;
    let steps = sizes.hops - 1;
    let all = Effort::steps(sizes.graph.arcs, sizes.width, steps);
    let slices = pieces(all, drafts.pieces, sizes.width);
    let outputs = sizes.tasks.max(1);
    let all = Effort::steps(sizes.graph.arcs, 2 * outputs, steps * (steps + 1) / 2);
    let head_slices = pieces(all, drafts.pieces, outputs);
    Ok(Cut {
        columns: cut.columns.min(sizes.width.div_ceil(slices)),
        outputs: cut.outputs.min(outputs.div_ceil(head_slices)),
    })
}

/// For a graph that is not there: tasks of two classes, and as many columns as features.
pub(crate) fn assumed(assumed: Assumed, drafts: &mut Drafts) -> Result<(), Failure> {
    let parameters = treering::Parameters::default();
    let mut sizes = Sizes {
        outputs: 0,
        table: 32 << 20,
        graph: assumed.size,
        hops: parameters.hops + 1,
        width: assumed.size.columns.min(parameters.width),
        tasks: assumed.tasks,
        model: 0,
    };
    let cut = asked(&sizes, drafts)?;
    sizes.outputs = cut.outputs;
    let columns: Vec<Range<usize>> = (0..sizes.width)
        .step_by(cut.columns)
        .map(|start| start..sizes.width.min(start + cut.columns))
        .collect();
    let heads: Vec<usize> = (0..sizes.tasks)
        .step_by(cut.outputs)
        .map(|start| cut.outputs.min(sizes.tasks - start))
        .collect();
    let graph = Drafts::assumed(sizes.graph.graph_bytes());
    draft(&sizes, cut, (&columns, &heads), vec![graph], None, drafts)
}

fn draft(
    sizes: &Sizes,
    cut: Cut,
    (columns, heads): (&[Range<usize>], &[usize]),
    inputs: Vec<Input>,
    out: Option<&Path>,
    drafts: &mut Drafts,
) -> Result<(), Failure> {
    let (graph, limit) = (&sizes.graph, drafts.limit());
    let (nodes, hops) = (graph.nodes as u64, sizes.hops as u64);
    let told = |flags: &[(&str, String)]| -> Vec<String> {
        let cut = [
            ("--job-columns", cut.columns.to_string()),
            ("--job-outputs", cut.outputs.to_string()),
        ];
        let all = cut.iter().chain(flags);
        all.flat_map(|(flag, value)| [(*flag).to_owned(), value.clone()])
            .collect()
    };
    let (whole, opening) = (graph.graph_bytes(), Effort::start());
    let mut made = Vec::new();
    for (slice, columns) in columns.iter().enumerate() {
        let written = nodes * sizes.kept(columns);
        made.push(drafts.add(Draft {
            kind: "columns",
            level: 0,
            flags: told(&[("--job-slice", slice.to_string())]),
            told: true,
            inputs: inputs.clone(),
            output: None,
            memory: sizes.columns_memory(columns.len(), limit)?,
            effort: opening
                + Effort::steps(graph.arcs, columns.len(), sizes.hops - 1)
                + Effort::bytes(written),
            read: whole,
            written,
        }));
    }
    for (slice, &outputs) in heads.iter().enumerate() {
        let written = nodes * hops * 8 * outputs as u64;
        // The outputs of a hop are smoothed as often as it has steps, in numbers of eight bytes.
        let steps = (sizes.hops - 1) * sizes.hops / 2;
        let products = (graph.nodes * graph.columns * outputs * sizes.hops) as f64;
        made.push(drafts.add(Draft {
            kind: "heads",
            level: 0,
            flags: told(&[("--job-slice", slice.to_string())]),
            told: true,
            inputs: inputs.clone(),
            output: None,
            memory: sizes.heads_memory(outputs, limit)?,
            effort: opening
                + Effort::steps(graph.arcs, 2 * outputs, steps)
                + Effort::products(products)
                + Effort::bytes(written),
            read: whole,
            written,
        }));
    }
    let all_outputs: usize = heads.iter().sum();
    let (mut answers, block) = (Vec::new(), sizes.block(drafts.pieces, limit)?);
    for start in (0..graph.nodes).step_by(block) {
        let end = graph.nodes.min(start + block);
        let some = (end - start) as u64;
        answers.push(drafts.add(Draft {
            kind: "rows",
            level: 1,
            flags: told(&[
                ("--job-nodes", format!("{start}..{end}")),
                ("--job-parts", format!("{FOLDER}/parts")),
            ]),
            told: true,
            inputs: inputs.iter().chain(&made).cloned().collect(),
            output: None,
            memory: sizes.rows_memory(end - start, limit)?,
            effort: sizes.rows(end - start),
            read: some
                * (columns.iter().map(|own| sizes.kept(own)).sum::<u64>()
                    + 8 * hops * all_outputs as u64),
            written: some * 60,
        }));
    }
    let flags = answers.iter().flat_map(told_of).collect();
    let output = out.map(|out| drafts.absolute(out));
    drafts.add(Draft {
        kind: "table",
        level: 2,
        flags,
        told: true,
        inputs: answers,
        output,
        memory: sizes.table,
        effort: Effort::start() + Effort::bytes(4 * 60 * nodes),
        read: 60 * nodes,
        written: 60 * nodes,
    });
    Ok(())
}

fn fits(graph: &Graph, parts: &Parts<'_>) -> Result<(), Failure> {
    let (found, expected) = (graph.features().columns(), parts.features());
    match found == expected {
        true => Ok(()),
        false => Err(treering_learn::LearnError::Width { found, expected }.into()),
    }
}

/// Writes arrays one after the other.
fn put(
    path: &Path,
    each: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
) -> Result<(), Failure> {
    let told = |error| at(path, error);
    let mut file = File::create(path).map_err(told)?;
    each(&mut |bytes| file.write_all(bytes)).map_err(told)
}

pub(crate) fn columns(args: &SlicePart, global: &Global) -> Result<(), Failure> {
    let learner = learner(&args.predict, &Model::open(&args.predict.model)?)?;
    let parts = learner.parts()?;
    let graph = args.predict.source.load(global)?.graph;
    fits(&graph, &parts)?;
    let slices = parts.column_slices(args.cut.columns);
    let slice = slices.get(args.slice).ok_or_else(no_slice)?;
    put(&args.into.path, |put| {
        parts.columns(&graph, slice.clone(), |piece| match piece {
            Piece::Squares(squares) => put(bytemuck::cast_slice(squares)),
            Piece::Rows(rows) => put(bytemuck::cast_slice(rows)),
        })
    })
}

pub(crate) fn heads(args: &SlicePart, global: &Global) -> Result<(), Failure> {
    let learner = learner(&args.predict, &Model::open(&args.predict.model)?)?;
    let parts = learner.parts()?;
    let graph = args.predict.source.load(global)?.graph;
    fits(&graph, &parts)?;
    let slices = parts.head_slices(args.cut.outputs);
    let slice = slices.get(args.slice).ok_or_else(no_slice)?;
    put(&args.into.path, |put| {
        parts.heads(&graph, slice, |said| put(bytemuck::cast_slice(said)))
    })
}

fn no_slice() -> Failure {
    Failure::input("there are not so many slices; make the list again")
}

pub(crate) fn rows(args: &RowsPart, global: &Global) -> Result<(), Failure> {
    let predict = &args.predict;
    let model = Model::open(&predict.model)?;
    let learner = learner(predict, &model)?;
    let parts = learner.parts()?;
    let table = columns_of(predict, &learner)?;
    let graph = predict.source.load(global)?.graph;
    let (names, all) = (graph.names().clone(), graph.nodes());
    drop(graph);
    let (some, count) = (args.job_nodes.clone(), args.job_nodes.len());
    if some.end > all {
        return Err(no_slice());
    }
    let column_slices = parts.column_slices(args.cut.columns);
    let head_slices = parts.head_slices(args.cut.outputs);
    let file = |kind: &str, slice: usize| args.parts.join(format!("{kind}-{:04}", slice + 1));
    let hops = parts.hops();
    // Of a block, square lengths of all hops lie before the columns of the last.
    let hop_rows = |slice: usize, hop: usize| -> Result<Vec<f32>, Failure> {
        let columns = &column_slices[slice];
        let before = match parts.is_block(columns) {
            true => hops * all * (size_of::<f64>() / size_of::<f32>()),
            false => hop * all * columns.len(),
        };
        let from = before + some.start * columns.len();
        let numbers = Numbers::<f32>::open(&file("columns", slice))?;
        numbers.read(from..from + count * columns.len())
    };
    let squares = |hop: usize| {
        parts.squares(count, &column_slices, |slice| {
            match parts.is_block(&column_slices[slice]) {
                true => {
                    let from = hop * all + some.start;
                    let numbers = Numbers::<f64>::open(&file("columns", slice))?;
                    numbers.read(from..from + count).map(Read::Squares)
                }
                false => hop_rows(slice, hop).map(Read::Rows),
            }
        })
    };
    let squares = (0..hops)
        .map(squares)
        .collect::<Result<Vec<_>, Failure>>()?;
    let width = parts.width();
    let mut last = vec![0f32; count * width];
    for (slice, columns) in column_slices.iter().enumerate() {
        let numbers = hop_rows(slice, hops - 1)?;
        let rows = last.chunks_mut(width).zip(numbers.chunks(columns.len()));
        rows.for_each(|(row, own)| row[columns.clone()].copy_from_slice(own));
    }
    let said = |slice: &HeadSlice| -> Result<Vec<Vec<f64>>, Failure> {
        let at = head_slices.iter().position(|known| known == slice);
        let numbers = Numbers::<f64>::open(&file("heads", at.unwrap_or(0)))?;
        let of_hop = |hop: usize| {
            let from = (hop * all + some.start) * slice.outputs;
            numbers.read(from..from + count * slice.outputs)
        };
        (0..hops).map(of_hop).collect()
    };
    let answers = parts.answers(count, &head_slices, last, squares, said)?;
    let nodes: Vec<NodeId> = some.map(|node| NodeId(node as u32)).collect();
    let about = About {
        names: &names,
        rings: &model.manifest().rings,
        table,
    };
    let (path, columns) = (&args.into.path, table.columns());
    let told = |error| at(path, error);
    let mut sink: Sink<'_, File> = match format(predict)? {
        Format::Parquet => Sink::Parquet(Box::new(Groups::new(path, &columns).map_err(told)?)),
        format => Sink::text(File::create(path).map_err(told)?, format, &columns).without_names(),
    };
    super::check_familiar(&about, &answers, predict)?;
    sink.take(about.rows(&nodes, &answers))
        .map_err(Output::failed)?;
    sink.finish().map_err(Output::failed)
}

fn format(args: &Predict) -> Result<Format, Failure> {
    Format::choose(args.format, args.out.as_deref())
}

pub(crate) fn table(args: &TablePart) -> Result<(), Failure> {
    let predict = &args.predict;
    let learner = learner(predict, &Model::open(&predict.model)?)?;
    let columns = columns_of(predict, &learner)?.columns();
    let path = &args.into.path;
    let told = |error: io::Error| at(path, error);
    if format(predict)? == Format::Parquet {
        let mut groups = Groups::new(path, &columns).map_err(told)?;
        for part in &args.parts {
            let read = |error: parquet::errors::ParquetError| at(part, io::Error::other(error));
            let file = File::open(part).map_err(|error| at(part, error))?;
            let batches = ParquetRecordBatchReaderBuilder::try_new(file).map_err(read)?;
            for batch in batches.with_batch_size(GROUP).build().map_err(read)? {
                let batch = batch.map_err(|error| at(part, io::Error::other(error)))?;
                groups.copy(batch).map_err(told)?;
            }
        }
        return groups.finish().map_err(told);
    }
    let mut out = BufWriter::new(File::create(path).map_err(told)?);
    // The names of the columns, as a table without lines has them.
    let names = Sink::text(&mut out, format(predict)?, &columns);
    names.finish().map_err(told)?;
    for part in &args.parts {
        let mut file = File::open(part).map_err(|error| at(part, error))?;
        io::copy(&mut file, &mut out).map_err(told)?;
    }
    out.flush().map_err(told)
}
