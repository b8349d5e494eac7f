//! The gnn-benchmark layout: a CSR adjacency, CSR or dense attributes, labels, and optional names.
//!
//! Published files store an undirected edge once or twice, as they please, and every known reader adds mirror
//! images; so does this one unless told otherwise. Our own writer leaves a note of the direction.

use std::path::Path;

use treering_graph::{
    Dense, Direction, Features, Graph, GraphError, Labels, NodeNames, Origin, Parts, Role, Sparse,
};

use super::archive::Npz;
use crate::labelling::{check_class_names, check_unique, integer_names, number_labels, text_names};
use crate::read::{ArcList, Edges, Loaded, ReadOptions, file_stem};
use crate::{Context, Fault, Result};

pub(crate) fn read_npz(
    path: &Path,
    options: &ReadOptions,
    context: &Context<'_>,
) -> Result<Loaded> {
    let mut npz = Npz::open(path, context)?;
    let mut notes = Vec::new();
    let adjacency = prefix(&npz, path, ["adj_", "adj_matrix."])?;
    let (nodes, sources, targets) = read_arcs(&mut npz, path, &adjacency)?;
    let name = format!("{adjacency}data");
    let weights = match npz.has(&name) && !options.ignore_weights {
        true => {
            npz.expect(&name, sources.len(), "one for each arc")?;
            Some(npz.vector::<f32>(&name)?)
        }
        false => None,
    };
    let direction = match options.edges {
        Edges::Directed => Direction::Directed,
        Edges::Undirected => Direction::Undirected,
        Edges::Auto
            if npz.has("directed") && npz.numbers::<u8>("directed")?.values.contains(&1) =>
        {
            Direction::Directed
        }
        Edges::Auto => Direction::Undirected,
    };
    let member = format!("{adjacency}indices");
    let list = ArcList {
        file: path,
        nodes,
        sources: &sources,
        targets: &targets,
        weights: weights.as_deref(),
        direction,
    };
    let arcs = list
        .build(context, &mut notes)
        .map_err(|error| match *error.fault {
            Fault::Graph(GraphError::BadWeight { .. }) => error.member(name),
            _ => error.member(member),
        })?;
    let features = read_features(&mut npz, path, nodes)?;
    let labels = read_labels(&mut npz, path, nodes, &mut notes)?;
    let names = read_names(&mut npz, path, nodes, &mut notes)?;
    let split = read_split(&mut npz, nodes)?;
    let origin = read_origin(&mut npz, path)?;
    let graph = Graph::new(Parts {
        arcs,
        features,
        labels,
        names,
        split,
        origin,
    })
    .map_err(|error| npz.error("attr_*", Fault::Graph(error)))?;
    Ok(Loaded {
        graph,
        format: "gnn-benchmark npz",
        notes,
    })
}

/// The spelling of a matrix's members that this archive uses.
fn prefix(npz: &Npz<'_>, path: &Path, spellings: [&str; 2]) -> Result<String> {
    spellings
        .iter()
        .find(|prefix| npz.has(&format!("{prefix}indptr")))
        .map(|prefix| (*prefix).to_owned())
        .ok_or_else(|| {
            let name = format!("{}indptr", spellings[0]);
            let available = npz.names();
            Fault::MissingMember { name, available }.at(path)
        })
}

/// A matrix's shape, from `<prefix>shape` where it is there.
fn read_shape(npz: &mut Npz<'_>, prefix: &str) -> Result<Option<[usize; 2]>> {
    let name = format!("{prefix}shape");
    if !npz.has(&name) {
        return Ok(None);
    }
    let shape = npz.vector::<u32>(&name)?;
    match shape[..] {
        [rows, columns] => Ok(Some([rows as usize, columns as usize])),
        _ => Err(npz.error(
            &name,
            Fault::LengthMismatch {
                what: "numbers".into(),
                found: shape.len() as u64,
                expected: 2,
                because: "a matrix has rows and columns".into(),
            },
        )),
    }
}

/// The offsets of a matrix's rows, checked so that they can be used for slicing.
fn read_offsets(npz: &mut Npz<'_>, name: &str, items: usize) -> Result<Vec<u64>> {
    let offsets = npz.vector::<u64>(name)?;
    let wrong = offsets.windows(2).position(|pair| pair[0] > pair[1]);
    if let Some(row) = wrong {
        let why = "offsets decrease".to_owned();
        return Err(npz.error(name, Fault::Damaged { why }).row(row as u64 + 1));
    }
    if offsets.first() != Some(&0) || offsets.last() != Some(&(items as u64)) {
        return Err(npz.error(
            name,
            Fault::LengthMismatch {
                what: "items according to the row offsets".into(),
                found: offsets.last().copied().unwrap_or(0),
                expected: items as u64,
                because: "that many are stored, and the first offset is 0".into(),
            },
        ));
    }
    Ok(offsets)
}

fn read_arcs(npz: &mut Npz<'_>, path: &Path, prefix: &str) -> Result<(usize, Vec<u32>, Vec<u32>)> {
    let name = format!("{prefix}indices");
    let targets = npz.vector::<u32>(&name)?;
    let offsets = read_offsets(npz, &format!("{prefix}indptr"), targets.len())?;
    let nodes = offsets.len() - 1;
    if let Some([rows, columns]) = read_shape(npz, prefix)?
        && (rows != columns || rows != nodes)
    {
        return Err(npz.error(
            &format!("{prefix}shape"),
            Fault::WrongShape {
                found: vec![rows as u64, columns as u64],
                expected: format!("[{nodes}, {nodes}] as the row offsets say"),
            },
        ));
    }
    if nodes == 0 {
        return Err(Fault::Empty.at(path).member(format!("{prefix}indptr")));
    }
    let mut sources = Vec::with_capacity(targets.len());
    for (row, pair) in (0u32..).zip(offsets.windows(2)) {
        sources.resize(pair[1] as usize, row);
    }
    Ok((nodes, sources, targets))
}

fn read_features(npz: &mut Npz<'_>, path: &Path, nodes: usize) -> Result<Features> {
    if npz.has("attr_matrix") {
        return read_dense(npz, "attr_matrix", nodes);
    }
    let prefix = prefix(npz, path, ["attr_", "attr_matrix."]).map_err(|mut error| {
        if let Fault::MissingMember { name, .. } = &mut *error.fault {
            name.push_str("` or `attr_matrix");
        }
        error
    })?;
    let name = format!("{prefix}indices");
    let starts = format!("{prefix}indptr");
    npz.expect(&starts, nodes + 1, "one for each node, and the end")?;
    let indices = npz.vector::<u32>(&name)?;
    let offsets = read_offsets(npz, &starts, indices.len())?;
    let data = format!("{prefix}data");
    npz.expect(&data, indices.len(), "one for each attribute column")?;
    let values = npz.vector::<f32>(&data)?;
    let columns = match read_shape(npz, &prefix)? {
        Some([_, columns]) => columns,
        None => indices.iter().max().map_or(0, |&last| last as usize + 1),
    };
    Sparse::from_unsorted(columns, offsets.into(), indices.into(), values.into())
        .map(Features::Sparse)
        .map_err(|error| npz.error(&name, Fault::Graph(error)))
}

/// A dense matrix with one row a node.
pub(super) fn read_dense(npz: &mut Npz<'_>, name: &str, nodes: usize) -> Result<Features> {
    let array = npz.numbers::<f32>(name)?;
    match array.shape[..] {
        [rows, columns] if rows == nodes as u64 => {
            Dense::new(nodes, columns as usize, array.values.into())
                .map(Features::Dense)
                .map_err(|error| npz.error(name, Fault::Graph(error)))
        }
        _ => Err(npz.error(
            name,
            Fault::WrongShape {
                found: array.shape,
                expected: format!("[{nodes}, columns]"),
            },
        )),
    }
}

fn read_labels(
    npz: &mut Npz<'_>,
    path: &Path,
    nodes: usize,
    notes: &mut Vec<String>,
) -> Result<Option<Labels>> {
    if !npz.has("labels") {
        notes.push("there are no labels".into());
        return Ok(None);
    }
    npz.expect("labels", nodes, "one for each node")?;
    let numbers: Vec<Option<i64>> = npz.vector::<i64>("labels")?.into_iter().map(Some).collect();
    let names = optional(npz, "class_names", notes, |npz| npz.texts("class_names"))?;
    if let Some(names) = &names {
        check_class_names(names, path).map_err(|error| error.member("class_names"))?;
    }
    number_labels(&numbers, names, path)
        .map(Some)
        .map_err(|error| error.member("labels"))
}

fn read_names(
    npz: &mut Npz<'_>,
    path: &Path,
    nodes: usize,
    notes: &mut Vec<String>,
) -> Result<NodeNames> {
    let names = optional(npz, "node_names", notes, |npz| {
        npz.expect("node_names", nodes, "one for each node")?;
        match npz.texts("node_names") {
            Err(error) if matches!(*error.fault, Fault::WrongType { .. }) => {
                npz.vector::<i64>("node_names").map(integer_names)
            }
            texts => texts.map(text_names),
        }
    })?;
    let names = names.unwrap_or(NodeNames::Positions(nodes));
    check_unique(&names, path).map_err(|error| error.member("node_names"))?;
    Ok(names)
}

/// A member that may be missing; a pickled one counts as missing, with a note.
fn optional<'a, T>(
    npz: &mut Npz<'a>,
    name: &str,
    notes: &mut Vec<String>,
    read: impl FnOnce(&mut Npz<'a>) -> Result<T>,
) -> Result<Option<T>> {
    if !npz.has(name) {
        return Ok(None);
    }
    match read(npz) {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(*error.fault, Fault::ObjectArray) => {
            notes.push(format!(
                "`{name}` holds pickled Python objects and was not read"
            ));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn read_split(npz: &mut Npz<'_>, nodes: usize) -> Result<Option<treering_graph::Buffer<Role>>> {
    if !npz.has("split") {
        return Ok(None);
    }
    npz.expect("split", nodes, "one for each node")?;
    let numbers = npz.vector::<u8>("split")?;
    let roles = crate::read::roles(&numbers).map_err(|row| {
        let text = numbers[row].to_string();
        let expected = "0 (none), 1 (train), 2 (validation) or 3 (test)";
        npz.error("split", Fault::BadValue { text, expected })
            .row(row as u64)
    })?;
    Ok(Some(roles.into()))
}

/// Our own writer says where a graph comes from; other files are called by their name.
fn read_origin(npz: &mut Npz<'_>, path: &Path) -> Result<Origin> {
    let first = |texts: Vec<String>| texts.into_iter().next().filter(|text| !text.is_empty());
    let name = match npz.has("treering_name") {
        true => first(npz.texts("treering_name")?),
        false => None,
    };
    let synthetic = match npz.has("treering_synthetic") {
        true => first(npz.texts("treering_synthetic")?),
        false => None,
    };
    Ok(Origin {
        name: name.unwrap_or_else(|| file_stem(path)),
        synthetic,
    })
}
