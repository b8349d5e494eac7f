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
use std::collections::HashMap;
use std::path::Path;

use bytemuck::Pod;
use safetensors::tensor::{Dtype, Metadata, View};
use safetensors::{SafeTensorError, SafeTensors};
use serde::{Deserialize, Serialize};
use treering_graph::{
    Arcs, Buffer, Dense, Features, Graph, Labels, NodeNames, Origin, Parts, Sparse,
};

use crate::mapped::Mapping;
use crate::open::open_file;
use crate::read::{Loaded, roles};
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

pub(crate) fn read_native(path: &Path, context: &Context<'_>) -> Result<Loaded> {
    let file = open_file(path)?;
    let mapping = Mapping::open(&file).map_err(|error| Fault::from_io(error).at(path))?;
    let (start, header) =
        SafeTensors::read_metadata(mapping.bytes()).map_err(|e| damaged(path, &e))?;
    let about = read_about(path, &header)?;
    let tensors = Tensors {
        path,
        mapping: &mapping,
        // The data begins after the length and the header.
        start: start + 8,
        header: &header,
    };
    context.progress.begin("checking the native file", 0);
    let graph = tensors.graph(about)?;
    context.progress.end();
    Ok(Loaded {
        graph,
        format: "native",
        notes: Vec::new(),
    })
}

fn damaged(path: &Path, error: &SafeTensorError) -> DataError {
    Fault::Damaged {
        why: error.to_string(),
    }
    .at(path)
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
        Graph::new(Parts {
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
        Arcs::from_rows(
            self.need(Dtype::U64, "arcs.offsets")?,
            self.need(Dtype::U32, "arcs.sources")?,
            self.find(Dtype::F32, "arcs.weights")?,
        )
        .map_err(|error| self.wrong("arcs.sources", error))
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

    fn wrong(&self, name: &str, error: treering_graph::GraphError) -> DataError {
        self.at(name, Fault::Graph(error))
    }
}

/// One tensor on its way into a file.
struct Tensor<'a> {
    kind: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl View for &Tensor<'_> {
    fn dtype(&self) -> Dtype {
        self.kind
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
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
    let about = serde_json::to_string(&about).map_err(|error| {
        let why = error.to_string();
        Fault::Damaged { why }.at(path)
    })?;
    context.progress.begin("writing the native file", 0);
    let tensors = tensors_of(graph);
    let entries = HashMap::from([(KEY.to_owned(), about)]);
    let list = tensors.iter().map(|(name, tensor)| (*name, tensor));
    safetensors::serialize_to_file(list, Some(entries), path).map_err(|error| match error {
        SafeTensorError::IoError(error) => Fault::from_io(error).at(path),
        other => damaged(path, &other),
    })?;
    context.progress.end();
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
