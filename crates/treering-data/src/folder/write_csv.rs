//! Tables as text. Numbers are written with as many digits as it takes to read the same number again.

use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use treering_graph::{Features, Graph, NodeId, NodeNames, Sparse};

use super::table::{Phase, ends_in};
use super::write::written_arcs;
use crate::{DataError, Fault, Progress, Result};

/// Writes all tables of a graph; `ending` is `csv` or `csv.gz`.
pub(super) fn write(
    graph: &Graph,
    dir: &Path,
    ending: &str,
    progress: &dyn Progress,
) -> Result<()> {
    let path = |stem: &str| dir.join(format!("{stem}.{ending}"));
    write_nodes(graph, path("nodes"), progress)?;
    write_edges(graph, path("edges"), progress)?;
    match graph.features() {
        Features::Dense(_) => Ok(()),
        Features::Sparse(sparse) => write_sparse(graph, sparse, path("features"), progress),
    }
}

fn write_nodes(graph: &Graph, path: PathBuf, progress: &dyn Progress) -> Result<()> {
    let dense = match graph.features() {
        Features::Dense(dense) => Some(dense),
        Features::Sparse(_) => None,
    };
    let mut out = Out::create(path, graph.nodes(), progress)?;
    out.text("id")?;
    if graph.labels().is_some() {
        out.text("label")?;
    }
    if graph.split().is_some() {
        out.text("split")?;
    }
    for column in 0..dense.map_or(0, |dense| dense.columns()) {
        out.text(&format!("f{column}"))?;
    }
    out.end_row()?;
    for node in NodeId::first(graph.nodes()) {
        out.name(graph.names(), node.index())?;
        if let Some(labels) = graph.labels() {
            out.text(labels.class_of(node).map_or("", |class| labels.name(class)))?;
        }
        if let Some(split) = graph.split() {
            out.text(split[node.index()].word())?;
        }
        for value in dense.map_or(&[][..], |dense| dense.row(node.index())) {
            out.value(value)?;
        }
        out.end_row()?;
        out.progress.advance(1);
    }
    out.finish()
}

fn write_edges(graph: &Graph, path: PathBuf, progress: &dyn Progress) -> Result<()> {
    let weights = graph.arcs().weights();
    let mut out = Out::create(path, graph.arcs().len(), progress)?;
    out.text("src")?;
    out.text("dst")?;
    if weights.is_some() {
        out.text("weight")?;
    }
    out.end_row()?;
    for (source, target, at) in written_arcs(graph) {
        out.name(graph.names(), source)?;
        out.name(graph.names(), target)?;
        if let Some(weights) = weights {
            out.value(weights[at])?;
        }
        out.end_row()?;
        out.progress.advance(1);
    }
    out.finish()
}

fn write_sparse(
    graph: &Graph,
    sparse: &Sparse,
    path: PathBuf,
    progress: &dyn Progress,
) -> Result<()> {
    let mut out = Out::create(path, sparse.values().len(), progress)?;
    for name in ["node", "column", "value"] {
        out.text(name)?;
    }
    out.end_row()?;
    for node in 0..sparse.rows() {
        let (columns, values) = sparse.row(node);
        for (column, value) in columns.iter().zip(values) {
            out.name(graph.names(), node)?;
            out.value(column)?;
            out.value(value)?;
            out.end_row()?;
        }
        out.progress.advance(columns.len() as u64);
    }
    out.finish()
}

/// One file on its way.
struct Out<'a> {
    path: PathBuf,
    writer: csv::Writer<Sink>,
    text: String,
    progress: &'a dyn Progress,
    _phase: Phase<'a>,
}

impl<'a> Out<'a> {
    fn create(path: PathBuf, rows: usize, progress: &'a dyn Progress) -> Result<Self> {
        let file = File::create_new(&path).map_err(|error| Fault::from_io(error).at(&path))?;
        let file = BufWriter::with_capacity(1 << 18, file);
        let sink = match ends_in(&path, "gz") {
            true => Sink::Packed(Box::new(GzEncoder::new(file, Compression::default()))),
            false => Sink::Plain(file),
        };
        let phase = Phase::begin("writing", &path, rows as u64, progress);
        Ok(Out {
            writer: csv::Writer::from_writer(sink),
            text: String::new(),
            progress,
            _phase: phase,
            path,
        })
    }

    fn text(&mut self, text: &str) -> Result<()> {
        let written = self.writer.write_field(text);
        written.map_err(|error| told(&self.path, error))
    }

    fn value(&mut self, value: impl Display) -> Result<()> {
        self.text.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{value}");
        let written = self.writer.write_field(&self.text);
        written.map_err(|error| told(&self.path, error))
    }

    fn name(&mut self, names: &NodeNames, node: usize) -> Result<()> {
        match names {
            NodeNames::Positions(_) => self.value(node),
            NodeNames::Integers(numbers) => self.value(numbers[node]),
            NodeNames::Texts(texts) => self.text(&texts[node]),
        }
    }

    fn end_row(&mut self) -> Result<()> {
        let written = self.writer.write_record(None::<&[u8]>);
        written.map_err(|error| told(&self.path, error))
    }

    fn finish(self) -> Result<()> {
        let finished = match self.writer.into_inner() {
            Ok(sink) => sink.finish(),
            Err(error) => Err(error.into_error()),
        };
        finished.map_err(|error| Fault::from_io(error).at(&self.path))
    }
}

fn told(path: &Path, error: csv::Error) -> DataError {
    Fault::from_io(error.into()).at(path)
}

enum Sink {
    Plain(BufWriter<File>),
    Packed(Box<GzEncoder<BufWriter<File>>>),
}

impl Sink {
    fn finish(self) -> io::Result<()> {
        match self {
            Sink::Plain(mut file) => file.flush(),
            Sink::Packed(packed) => packed.finish()?.flush(),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Plain(file) => file.write(bytes),
            Sink::Packed(packed) => packed.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Plain(file) => file.flush(),
            Sink::Packed(packed) => packed.flush(),
        }
    }
}
