//! One door for all readers: find out what lies at a path, and read it.

use std::io::Read;
use std::path::{Path, PathBuf};

use treering_graph::{Arcs, Direction, Graph, Role, build_arcs};

use crate::folder::{is_folder, read_folder};
use crate::native::read_native;
use crate::npz::{is_reddit, read_npz, read_reddit};
use crate::ogb::{is_ogb, read_ogb};
use crate::open::open_file;
use crate::{Context, Fault, Result};

/// Choices that a reader leaves to the caller. Readers ignore what does not concern them.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Whether arcs get mirror images.
    pub edges: Edges,
    /// Leave edge weights out even where they are given.
    pub ignore_weights: bool,
    /// Which of several split schemes to take (a folder below `split/` of an OGB data set).
    pub split_scheme: Option<String>,
    /// Names of columns in tables, where they cannot be guessed.
    pub columns: Columns,
    /// The table of nodes, where it has another name than `nodes.*`.
    pub nodes_file: Option<PathBuf>,
    /// The table of edges, where it has another name than `edges.*`.
    pub edges_file: Option<PathBuf>,
}

/// Whether arcs get mirror images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edges {
    /// As the data set is published: see each reader.
    #[default]
    Auto,
    /// Keep arcs as stored.
    Directed,
    /// Give every arc its mirror image.
    Undirected,
}

/// Names of columns in tables; `None` means: guess.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// The node's id, in the table of nodes.
    pub id: Option<String>,
    /// The node's class.
    pub label: Option<String>,
    /// The node's part of a split.
    pub split: Option<String>,
    /// The feature columns, or the one list column.
    pub features: Option<Vec<String>>,
    /// Where an edge starts.
    pub source: Option<String>,
    /// Where an edge ends.
    pub target: Option<String>,
    /// The edge's weight.
    pub weight: Option<String>,
}

/// A graph, and what a person should know about how it was read.
#[derive(Debug)]
pub struct Loaded {
    /// The graph.
    pub graph: Graph,
    /// The layout it was read from.
    pub format: &'static str,
    /// Things that were done on the way, in plain words: mirror images added, columns not used, ...
    pub notes: Vec<String>,
}

/// Reads whatever lies at `path`: see [`FORMATS`].
///
/// # Errors
/// A [`DataError`](crate::DataError) that names the file, the place and the remedy.
pub fn read(path: &Path, options: &ReadOptions, context: &Context<'_>) -> Result<Loaded> {
    let metadata = std::fs::metadata(path).map_err(|error| Fault::from_io(error).at(path))?;
    if metadata.is_dir() {
        return read_directory(path, options, context);
    }
    if options.nodes_file.is_some() || options.edges_file.is_some() {
        return Err(Fault::IsFile.at(path));
    }
    let mut start = [0u8; 9];
    let found = open_file(path)?
        .read(&mut start)
        .map_err(|error| Fault::from_io(error).at(path))?;
    match &start[..found] {
        [b'P', b'K', ..] => read_npz(path, options, context),
        // A safetensors file begins with the length of its header, then the header, which is JSON.
        [_, _, _, _, 0, 0, 0, 0, b'{'] => read_native(path, context),
        _ => Err(Fault::UnknownFormat {
            found: "it begins neither like a zip archive nor like a native file; tables come as a folder, or as \
                    --nodes FILE --edges FILE"
                .into(),
        }
        .at(path)),
    }
}

fn read_directory(path: &Path, options: &ReadOptions, context: &Context<'_>) -> Result<Loaded> {
    if is_ogb(path) {
        return read_ogb(path, options, context);
    }
    if is_reddit(path) {
        return read_reddit(path, options, context);
    }
    if is_folder(path) || options.nodes_file.is_some() || options.edges_file.is_some() {
        return read_folder(Some(path), options, context);
    }
    let mut names: Vec<String> = std::fs::read_dir(path)
        .map_err(|error| Fault::from_io(error).at(path))?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names.truncate(8);
    let found = format!(
        "a folder with {}",
        if names.is_empty() {
            "nothing".into()
        } else {
            names.join(", ")
        }
    );
    Err(Fault::UnknownFormat { found }.at(path))
}

/// The layouts that [`read`] knows, with what each looks like on disk.
pub const FORMATS: [(&str, &str); 5] = [
    (
        "native",
        "FILE.treering: a safetensors file, mapped into memory; any other layout converts into it",
    ),
    (
        "npz",
        "FILE.npz of the gnn-benchmark family: CoraFull, Coauthor, Amazon, Cora, Citeseer as published",
    ),
    (
        "ogb",
        "a folder with raw/edge.csv.gz or raw/data.npz, as the ogb package unpacks ogbn-arxiv or ogbn-products",
    ),
    (
        "reddit",
        "a folder with reddit_data.npz and reddit_graph.npz, as DGL publishes them",
    ),
    (
        "folder",
        "a folder with nodes.{parquet,csv,csv.gz} and edges.{parquet,csv,csv.gz}",
    ),
];

/// A list of arcs on its way out of a file.
pub(crate) struct ArcList<'a> {
    pub(crate) file: &'a Path,
    pub(crate) nodes: usize,
    pub(crate) sources: &'a [u32],
    pub(crate) targets: &'a [u32],
    pub(crate) weights: Option<&'a [f32]>,
    pub(crate) direction: Direction,
}

impl ArcList<'_> {
    /// Builds the arcs, and says in `notes` what was added or taken out.
    pub(crate) fn build(&self, context: &Context<'_>, notes: &mut Vec<String>) -> Result<Arcs> {
        // Both directions of every edge, and where the rows start.
        let bytes = match self.weights {
            None => self.sources.len() * 8 + self.nodes * 24,
            Some(_) => self.sources.len() * 40 + self.nodes * 24,
        };
        context.take(self.file, bytes as u64)?;
        let (arcs, removed) = build_arcs(
            self.nodes,
            self.sources,
            self.targets,
            self.weights,
            self.direction,
        )
        .map_err(|error| Fault::Graph(error).at(self.file))?;
        if removed.duplicates > 0 {
            notes.push(format!(
                "{} edges were given more than once and were merged",
                removed.duplicates
            ));
        }
        if removed.weightless > 0 {
            notes.push(format!(
                "{} edges of weight 0 were left out",
                removed.weightless
            ));
        }
        let different = self.sources.len() as u64 - removed.duplicates - removed.weightless;
        let mirrored = (arcs.len() as u64).saturating_sub(different);
        if mirrored > 0 {
            notes.push(format!(
                "{mirrored} mirror images were added: the graph is undirected"
            ));
        }
        Ok(arcs)
    }
}

/// Roles from their numbers; the error is the first row that has none.
pub(crate) fn roles(numbers: &[u8]) -> std::result::Result<Vec<Role>, usize> {
    let role =
        |(row, &number): (usize, &u8)| Role::ALL.get(usize::from(number)).copied().ok_or(row);
    numbers.iter().enumerate().map(role).collect()
}

/// What to call a graph that has no name of its own.
pub(crate) fn file_stem(path: &Path) -> String {
    let name = path.file_stem().or_else(|| path.file_name());
    name.map_or_else(
        || "graph".into(),
        |name| name.to_string_lossy().into_owned(),
    )
}
