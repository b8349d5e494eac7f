//! The native form: one safetensors file that is mapped into memory, so that opening it costs one pass of checks and no copy.
//!
//! | tensor | type | what |
//! |---|---|---|
//! | `arcs.offsets` | U64 [nodes + 1] | where each node's in-arcs start |
//! | `arcs.sources` | U32 [arcs] | the source of each arc |
//! | `arcs.weights` | F32 [arcs] | only where arcs have weights |
//! | `features.dense` | F32 [nodes, columns] | dense features, or the next three |
//! | `features.offsets` | U64 [nodes + 1] | where each node's features start |
//! | `features.columns` | U32 [entries] | ascending within a node |
//! | `features.values` | F32 [entries] | |
//! | `labels` | U32 [nodes] | class number, 4294967295 for none; only where there are labels |
//! | `names.integers` | I64 [nodes] | only where nodes are called by numbers other than their position |
//! | `names.offsets`, `names.text` | U64 [nodes + 1], U8 [bytes] | only where nodes are called by texts, in UTF-8 |
//! | `split` | U8 [nodes] | 0 none, 1 train, 2 validation, 3 test; only where there is a split |
//!
//! The metadata has one entry, `treering`: a JSON object with format, version, name, synthetic (the recipe, or null),
//! feature_columns and classes. One entry, because safetensors writes several in no fixed order.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bytemuck::Pod;
use safetensors::tensor::{Dtype, Metadata};
use serde::{Deserialize, Serialize};
use serde_json::json;
use treering_graph::{
    Arcs, Buffer, Dense, Features, Graph, GraphError, Labels, NodeNames, Origin, Parts, Sparse,
};

use crate::mapped::Mapping;
use crate::open::open_file;
use crate::read::{Loaded, roles};
use crate::safe_header::safetensors_header;
use crate::{Context, DataError, Fault, Result};

#[cfg(target_endian = "big")]
compile_error!("native files are little-endian and are mapped as they are");

const KEY: &str = "treering";
const FORMAT: &str = "treering graph";
const VERSION: u32 = 1;

/// The `treering` entry of the metadata.
#[derive(Serialize, Deserialize)]
struct About {
    format: String,
    version: u32,
    name: String,
    synthetic: Option<String>,
    feature_columns: usize,
    classes: Option<Vec<String>>,
}

/// Files whose numbers need not be checked again.
static KNOWN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Says that a file holds what it held when its numbers were checked, so that opening it need not read all of them. For jobs, which know a file by its checksum and
/// may need a small part of it.
pub fn vouch_for(path: &Path) {
    if let (Ok(path), Ok(mut known)) = (path.canonicalize(), KNOWN.lock()) {
        known.push(path);
    }
}

fn is_known(path: &Path) -> bool {
    let path = path.canonicalize().ok();
    let known = KNOWN.lock().ok();
    known.is_some_and(|known| path.is_some_and(|path| known.contains(&path)))
}

pub(crate) fn read_native(path: &Path, context: &Context<'_>) -> Result<Loaded> {
    let file = open_file(path)?;
    let mapping = Mapping::open(&file, path, context.limit())
        .map_err(|error| Fault::from_io(error).at(path))?;
    let (header, data) =
        safetensors_header(mapping.bytes()).map_err(|why| Fault::Damaged { why }.at(path))?;
    let start = mapping.bytes().len() - data.len();
    let about = read_about(path, &header)?;
    let tensors = Tensors {
        known: is_known(path),
        path,
        mapping: &mapping,
        start,
        header: &header,
    };
    context.progress.begin("checking the native file", 0);
    let graph = tensors.graph(about)?;
    graph.release();
    context.progress.end();
    Ok(Loaded {
        graph,
        format: "native",
        notes: Vec::new(),
    })
}

fn read_about(path: &Path, header: &Metadata) -> Result<About> {
    let Some(text) = header
        .metadata()
        .as_ref()
        .and_then(|entries| entries.get(KEY))
    else {
        let found = "a safetensors file, but not a graph written by `treering data convert`".into();
        return Err(Fault::UnknownFormat { found }.at(path));
    };
    // The version is looked at first, because another version may have other fields.
    let value: serde_json::Value = parse(path, text)?;
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
        let found = "a safetensors file, but not a graph".into();
        return Err(Fault::UnknownFormat { found }.at(path));
    }
    if version != Some(u64::from(VERSION)) {
        let found = version.map_or_else(|| "unknown".into(), |version| version.to_string());
        return Err(Fault::Version {
            found,
            expected: "1",
        }
        .at(path));
    }
    parse(path, text)
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        let why = format!("its description cannot be read: {error}");
        Fault::Damaged { why }.at(path).member(KEY)
    })
}

/// The tensors of an open file.
struct Tensors<'a> {
    /// Its numbers were checked before.
    known: bool,
    path: &'a Path,
    mapping: &'a Mapping,
    start: usize,
    header: &'a Metadata,
}

impl Tensors<'_> {
    fn graph(&self, about: About) -> Result<Graph> {
        let arcs = self.arcs()?;
        let nodes = arcs.nodes();
        let labels = match about.classes {
            None => None,
            Some(names) => {
                let class_of = self.need(Dtype::U32, "labels")?;
                Some(Labels::new(class_of, names).map_err(|error| self.wrong("labels", error))?)
            }
        };
        let split = match self.find::<u8>(Dtype::U8, "split")? {
            None => None,
            Some(numbers) => Some(roles(&numbers).map_err(|row| {
                let text = numbers[row].to_string();
                let expected = "0 (none), 1 (train), 2 (validation) or 3 (test)";
                self.at("split", Fault::BadValue { text, expected })
                    .row(row as u64)
            })?),
        };
        let make = match self.known {
            true => Graph::of_known,
            false => Graph::new,
        };
        make(Parts {
            arcs,
            features: self.features(nodes, about.feature_columns)?,
            labels,
            names: self.names(nodes)?,
            split: split.map(Buffer::from),
            origin: Origin {
                name: about.name,
                synthetic: about.synthetic,
            },
        })
        .map_err(|error| Fault::Graph(error).at(self.path))
    }

    fn arcs(&self) -> Result<Arcs> {
        let make = match self.known {
            true => Arcs::from_known_rows,
            false => Arcs::from_rows,
        };
        make(
            self.need(Dtype::U64, "arcs.offsets")?,
            self.need(Dtype::U32, "arcs.sources")?,
            self.find(Dtype::F32, "arcs.weights")?,
        )
        .map_err(|error| match error {
            GraphError::BadWeight { .. } => self.wrong("arcs.weights", error),
            GraphError::BadOffsets { .. } => self.wrong("arcs.offsets", error),
            _ => self.wrong("arcs.sources", error),
        })
    }

    fn features(&self, nodes: usize, columns: usize) -> Result<Features> {
        if let Some(values) = self.find(Dtype::F32, "features.dense")? {
            return Dense::new(nodes, columns, values)
                .map(Features::Dense)
                .map_err(|error| self.wrong("features.dense", error));
        }
        Sparse::new(
            columns,
            self.need(Dtype::U64, "features.offsets")?,
            self.need(Dtype::U32, "features.columns")?,
            self.need(Dtype::F32, "features.values")?,
        )
        .map(Features::Sparse)
        .map_err(|error| self.wrong("features.columns", error))
    }

    fn names(&self, nodes: usize) -> Result<NodeNames> {
        if let Some(names) = self.find(Dtype::I64, "names.integers")? {
            return Ok(NodeNames::Integers(names));
        }
        let Some(offsets) = self.find::<u64>(Dtype::U64, "names.offsets")? else {
            return Ok(NodeNames::Positions(nodes));
        };
        let text = self.need::<u8>(Dtype::U8, "names.text")?;
        let mut names = Vec::with_capacity(offsets.len().saturating_sub(1));
        for (row, pair) in (0u64..).zip(offsets.windows(2)) {
            let name = text
                .get(pair[0] as usize..pair[1] as usize)
                .and_then(|bytes| std::str::from_utf8(bytes).ok());
            let name = name.ok_or_else(|| {
                let why = "the name of a node is not a piece of text".to_owned();
                self.at("names.text", Fault::Damaged { why }).row(row)
            })?;
            names.push(name.to_owned());
        }
        Ok(NodeNames::Texts(names))
    }

    fn need<T: Pod + Send + Sync>(&self, kind: Dtype, name: &str) -> Result<Buffer<T>> {
        self.find(kind, name)?.ok_or_else(|| {
            let mut available = self.header.offset_keys();
            available.sort();
            let name = name.to_owned();
            Fault::MissingMember { name, available }.at(self.path)
        })
    }

    fn find<T: Pod + Send + Sync>(&self, kind: Dtype, name: &str) -> Result<Option<Buffer<T>>> {
        let Some(info) = self.header.info(name) else {
            return Ok(None);
        };
        if info.dtype != kind {
            let found = format!("{:?}", info.dtype);
            let expected = "the type that the native form has there";
            return Err(self.at(name, Fault::WrongType { found, expected }));
        }
        let (from, to) = info.data_offsets;
        let array = self.mapping.array(self.start + from..self.start + to);
        array.map(Some).ok_or_else(|| {
            let why = "its bytes do not lie where numbers can be read".to_owned();
            self.at(name, Fault::Damaged { why })
        })
    }

    fn at(&self, name: &str, fault: Fault) -> DataError {
        fault.at(self.path).member(name)
    }

    fn wrong(&self, name: &str, error: GraphError) -> DataError {
        self.at(name, Fault::Graph(error))
    }
}

/// One tensor on its way into a file.
struct Tensor<'a> {
    kind: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

/// Writes `graph` to `path`. Equal graphs give equal bytes.
pub(crate) fn write_native(graph: &Graph, path: &Path, context: &Context<'_>) -> Result<()> {
    let about = About {
        format: FORMAT.into(),
        version: VERSION,
        name: graph.origin().name.clone(),
        synthetic: graph.origin().synthetic.clone(),
        feature_columns: graph.features().columns(),
        classes: graph.labels().map(|labels| labels.names().to_vec()),
    };
    let total =
        |tensors: &[(&str, Tensor<'_>)]| tensors.iter().map(|(_, t)| t.bytes.len()).sum::<usize>();
    let tensors = tensors_of(graph);
    context
        .progress
        .begin("writing the native file", total(&tensors) as u64);
    write_tensors(path, &about, &tensors, context)
        .map_err(|error| Fault::from_io(error).at(path))?;
    context.progress.end();
    Ok(())
}

/// The safetensors layout: the header's length, the header, the data. Written here and not by the safetensors crate, which goes
/// through a temporary file of its own that nobody else may read and that an interrupt leaves behind.
fn write_tensors(
    path: &Path,
    about: &About,
    tensors: &[(&'static str, Tensor<'_>)],
    context: &Context<'_>,
) -> io::Result<()> {
    // Wide numbers first: everything then lies at a multiple of its size.
    let mut order: Vec<&(&str, Tensor<'_>)> = tensors.iter().collect();
    order.sort_by_key(|(name, tensor)| (std::cmp::Reverse(tensor.kind.bitsize()), *name));
    let mut header = serde_json::Map::new();
    header.insert(
        "__metadata__".into(),
        json!({ KEY: serde_json::to_string(about)? }),
    );
    let mut end = 0;
    for (name, tensor) in &order {
        let start = end;
        end += tensor.bytes.len();
        let entry =
            json!({ "dtype": tensor.kind, "shape": tensor.shape, "data_offsets": [start, end] });
        header.insert((*name).into(), entry);
    }
    let mut text = serde_json::to_string(&header)?;
    text.push_str(&" ".repeat(text.len().next_multiple_of(8) - text.len()));
    let mut out = File::create(path)?;
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(text.as_bytes())?;
    const PIECE: usize = 1 << 24;
    for piece in order
        .iter()
        .flat_map(|(_, tensor)| tensor.bytes.chunks(PIECE))
    {
        out.write_all(piece)?;
        context.progress.advance(piece.len() as u64);
    }
    Ok(())
}

fn tensors_of(graph: &Graph) -> Vec<(&'static str, Tensor<'_>)> {
    let mut tensors = Vec::new();
    let arcs = graph.arcs();
    tensors.push(("arcs.offsets", vector(Dtype::U64, arcs.offsets())));
    tensors.push(("arcs.sources", vector(Dtype::U32, arcs.sources())));
    if let Some(weights) = arcs.weights() {
        tensors.push(("arcs.weights", vector(Dtype::F32, weights)));
    }
    match graph.features() {
        Features::Dense(dense) => {
            let mut tensor = vector(Dtype::F32, dense.values());
            tensor.shape = vec![dense.rows(), dense.columns()];
            tensors.push(("features.dense", tensor));
        }
        Features::Sparse(sparse) => {
            tensors.push(("features.offsets", vector(Dtype::U64, sparse.offsets())));
            tensors.push(("features.columns", vector(Dtype::U32, sparse.indices())));
            tensors.push(("features.values", vector(Dtype::F32, sparse.values())));
        }
    }
    if let Some(labels) = graph.labels() {
        tensors.push(("labels", vector(Dtype::U32, labels.raw())));
    }
    match graph.names() {
        NodeNames::Positions(_) => {}
        NodeNames::Integers(names) => {
            tensors.push(("names.integers", vector(Dtype::I64, names)));
        }
        NodeNames::Texts(names) => {
            let ends = names.iter().scan(0u64, |end, name| {
                *end += name.len() as u64;
                Some(*end)
            });
            let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
            tensors.push(("names.offsets", owned(Dtype::U64, &offsets)));
            tensors.push(("names.text", owned(Dtype::U8, names.concat().as_bytes())));
        }
    }
    if let Some(split) = graph.split() {
        let numbers: Vec<u8> = split.iter().map(|&role| role as u8).collect();
        tensors.push(("split", owned(Dtype::U8, &numbers)));
    }
    tensors
}

fn vector<T: Pod>(kind: Dtype, values: &[T]) -> Tensor<'_> {
    Tensor {
        kind,
        shape: vec![values.len()],
        bytes: Cow::Borrowed(bytemuck::cast_slice(values)),
    }
}

fn owned<T: Pod>(kind: Dtype, values: &[T]) -> Tensor<'static> {
    Tensor {
        kind,
        shape: vec![values.len()],
        bytes: Cow::Owned(bytemuck::cast_slice(values).to_vec()),
    }
}
