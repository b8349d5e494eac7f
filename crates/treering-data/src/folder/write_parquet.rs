//! Tables as Parquet, written in pieces so that a graph never lies in memory twice.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, FixedSizeListArray, Float32Array, Int64Array, RecordBatch, StringArray, UInt32Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use treering_graph::{Dense, Features, Graph, NodeId, NodeNames, Role, Sparse};

use super::table::Phase;
use super::write::written_arcs;
use crate::{DataError, Fault, Progress, Result};

/// The rows of a group, the unit that readers can skip.
const GROUP: usize = 1 << 16;

/// Writes all tables of a graph.
pub(super) fn write(graph: &Graph, dir: &Path, progress: &dyn Progress) -> Result<()> {
    write_nodes(graph, dir.join("nodes.parquet"), progress)?;
    write_edges(graph, dir.join("edges.parquet"), progress)?;
    match graph.features() {
        Features::Dense(_) => Ok(()),
        Features::Sparse(sparse) => {
            write_sparse(graph, sparse, dir.join("features.parquet"), progress)
        }
    }
}

fn write_nodes(graph: &Graph, path: PathBuf, progress: &dyn Progress) -> Result<()> {
    let dense = match graph.features() {
        Features::Dense(dense) if dense.columns() > 0 => Some(dense),
        _ => None,
    };
    let mut fields = vec![Field::new("id", id_type(graph.names()), false)];
    if graph.labels().is_some() {
        fields.push(Field::new("label", DataType::Utf8, true));
    }
    if graph.split().is_some() {
        fields.push(Field::new("split", DataType::Utf8, true));
    }
    if let Some(dense) = dense {
        let list = list_type(dense.columns()).map_err(|error| told(&path, error.into()))?;
        fields.push(Field::new("features", list, false));
    }
    let mut out = Out::create(path, fields, graph.nodes(), progress)?;
    // Wide rows are written a few at a time.
    let step = ((1 << 22) / graph.features().columns().max(1)).clamp(1, GROUP);
    for start in (0..graph.nodes()).step_by(step) {
        let nodes = start..graph.nodes().min(start + step);
        let ids = nodes.clone().map(|node| NodeId(node as u32));
        let mut columns = vec![names_of(graph.names(), nodes.clone())];
        if let Some(labels) = graph.labels() {
            let names = ids.map(|node| Some(labels.name(labels.class_of(node)?)));
            columns.push(Arc::new(names.collect::<StringArray>()));
        }
        if let Some(split) = graph.split() {
            let words = split[nodes.clone()].iter();
            let words = words.map(|role| (*role != Role::None).then(|| role.word()));
            columns.push(Arc::new(words.collect::<StringArray>()));
        }
        if let Some(dense) = dense {
            let lists = lists_of(dense, nodes).map_err(|error| told(&out.path, error.into()))?;
            columns.push(Arc::new(lists));
        }
        out.write(columns)?;
    }
    out.finish()
}

fn write_edges(graph: &Graph, path: PathBuf, progress: &dyn Progress) -> Result<()> {
    let weights = graph.arcs().weights();
    let id = id_type(graph.names());
    let mut fields = vec![
        Field::new("src", id.clone(), false),
        Field::new("dst", id, false),
    ];
    if weights.is_some() {
        fields.push(Field::new("weight", DataType::Float32, false));
    }
    let mut out = Out::create(path, fields, graph.arcs().len(), progress)?;
    let mut arcs = written_arcs(graph);
    loop {
        let piece: Vec<_> = arcs.by_ref().take(GROUP).collect();
        if piece.is_empty() {
            break;
        }
        let mut columns = vec![
            names_of(graph.names(), piece.iter().map(|arc| arc.0)),
            names_of(graph.names(), piece.iter().map(|arc| arc.1)),
        ];
        if let Some(weights) = weights {
            let numbers = piece.iter().map(|arc| weights[arc.2]);
            columns.push(Arc::new(Float32Array::from_iter_values(numbers)));
        }
        out.write(columns)?;
    }
    out.finish()
}

fn write_sparse(
    graph: &Graph,
    sparse: &Sparse,
    path: PathBuf,
    progress: &dyn Progress,
) -> Result<()> {
    let fields = vec![
        Field::new("node", id_type(graph.names()), false),
        Field::new("column", DataType::UInt32, false),
        Field::new("value", DataType::Float32, false),
    ];
    let entries = sparse.values().len();
    let mut out = Out::create(path, fields, entries, progress)?;
    let row = |node: usize| {
        let length = sparse.row(node).0.len();
        std::iter::repeat_n(node, length)
    };
    let mut nodes = (0..sparse.rows()).flat_map(row);
    for start in (0..entries).step_by(GROUP) {
        let piece = start..entries.min(start + GROUP);
        let nodes: Vec<usize> = nodes.by_ref().take(piece.len()).collect();
        let indices = sparse.indices()[piece.clone()].iter().copied();
        let values = sparse.values()[piece].iter().copied();
        out.write(vec![
            names_of(graph.names(), nodes.into_iter()),
            Arc::new(UInt32Array::from_iter_values(indices)),
            Arc::new(Float32Array::from_iter_values(values)),
        ])?;
    }
    out.finish()
}

fn id_type(names: &NodeNames) -> DataType {
    match names {
        NodeNames::Positions(_) | NodeNames::Integers(_) => DataType::Int64,
        NodeNames::Texts(_) => DataType::Utf8,
    }
}

fn names_of(names: &NodeNames, nodes: impl Iterator<Item = usize>) -> ArrayRef {
    match names {
        NodeNames::Positions(_) => {
            Arc::new(Int64Array::from_iter_values(nodes.map(|node| node as i64)))
        }
        NodeNames::Integers(numbers) => Arc::new(Int64Array::from_iter_values(
            nodes.map(|node| numbers[node]),
        )),
        NodeNames::Texts(texts) => Arc::new(StringArray::from_iter_values(
            nodes.map(|node| &texts[node]),
        )),
    }
}

fn list_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Float32, false))
}

fn width(columns: usize) -> std::result::Result<i32, ArrowError> {
    let told = || ArrowError::InvalidArgumentError(format!("{columns} features are too many"));
    i32::try_from(columns).map_err(|_| told())
}

fn list_type(columns: usize) -> std::result::Result<DataType, ArrowError> {
    Ok(DataType::FixedSizeList(list_item(), width(columns)?))
}

fn lists_of(
    dense: &Dense,
    nodes: std::ops::Range<usize>,
) -> std::result::Result<FixedSizeListArray, ArrowError> {
    let cells = nodes.start * dense.columns()..nodes.end * dense.columns();
    let values = Float32Array::from_iter_values(dense.values()[cells].iter().copied());
    FixedSizeListArray::try_new(list_item(), width(dense.columns())?, Arc::new(values), None)
}

/// One file on its way.
struct Out<'a> {
    path: PathBuf,
    schema: Arc<Schema>,
    writer: ArrowWriter<File>,
    progress: &'a dyn Progress,
    _phase: Phase<'a>,
}

impl<'a> Out<'a> {
    fn create(
        path: PathBuf,
        fields: Vec<Field>,
        rows: usize,
        progress: &'a dyn Progress,
    ) -> Result<Self> {
        let file = File::create_new(&path).map_err(|error| Fault::from_io(error).at(&path))?;
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP))
            .build();
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties))
            .map_err(|error| told(&path, error))?;
        let phase = Phase::begin("writing", &path, rows as u64, progress);
        Ok(Out {
            schema,
            writer,
            progress,
            _phase: phase,
            path,
        })
    }

    fn write(&mut self, columns: Vec<ArrayRef>) -> Result<()> {
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        let batch = batch.map_err(|error| told(&self.path, error.into()))?;
        self.progress.advance(batch.num_rows() as u64);
        let written = self.writer.write(&batch);
        written.map_err(|error| told(&self.path, error))
    }

    fn finish(self) -> Result<()> {
        let closed = self.writer.close();
        closed.map(drop).map_err(|error| told(&self.path, error))
    }
}

/// What the system says is wrapped once or twice on its way through the encoder.
fn told(path: &Path, error: ParquetError) -> DataError {
    let fault = match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => Fault::from_io(*error),
            Err(other) => Fault::Io(std::io::Error::other(other)),
        },
        other => Fault::Io(std::io::Error::other(other)),
    };
    fault.at(path)
}
