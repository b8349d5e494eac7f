//! Writes the gnn-benchmark layout, so that PyTorch Geometric, DGL and this program read it back.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use treering_graph::{Features, Graph, Labels, NodeNames};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::npy::write_header;
use crate::{Context, Fault, Result};

type Out = ZipWriter<BufWriter<File>>;

/// Writes `graph` to `path`. Each undirected edge is stored once.
pub(crate) fn write_npz(graph: &Graph, path: &Path, context: &Context<'_>) -> Result<()> {
    let missing = graph
        .labels()
        .is_some_and(|labels| labels.raw().contains(&Labels::NONE));
    if missing {
        return Err(Fault::CannotHold {
            what: "nodes without a label".into(),
            instead: "the native form (.treering) or a folder",
        }
        .at(path));
    }
    context.progress.begin("writing npz", 0);
    let done = write_members(graph, path);
    context.progress.end();
    done.map_err(|error| Fault::from_io(error).at(path))
}

fn write_members(graph: &Graph, path: &Path) -> io::Result<()> {
    let mut out = ZipWriter::new(BufWriter::with_capacity(1 << 20, File::create(path)?));
    write_arcs(graph, &mut out)?;
    let nodes = graph.nodes();
    match graph.features() {
        Features::Dense(dense) => {
            member(
                &mut out,
                "attr_matrix",
                "<f4",
                &[nodes, dense.columns()],
                bytemuck::cast_slice(dense.values()),
            )?;
        }
        Features::Sparse(sparse) => {
            let offsets = sparse.offsets();
            vector(
                &mut out,
                "attr_indptr",
                "<u8",
                offsets.len(),
                bytemuck::cast_slice(offsets),
            )?;
            vector(
                &mut out,
                "attr_indices",
                "<u4",
                sparse.indices().len(),
                bytemuck::cast_slice(sparse.indices()),
            )?;
            vector(
                &mut out,
                "attr_data",
                "<f4",
                sparse.values().len(),
                bytemuck::cast_slice(sparse.values()),
            )?;
            shape(&mut out, "attr_shape", nodes, sparse.columns())?;
        }
    }
    if let Some(labels) = graph.labels() {
        // 64 bits with a sign: older versions of PyTorch take nothing else.
        let numbers: Vec<i64> = labels.raw().iter().map(|&class| i64::from(class)).collect();
        vector(
            &mut out,
            "labels",
            "<i8",
            nodes,
            bytemuck::cast_slice(&numbers),
        )?;
        texts(&mut out, "class_names", labels.names())?;
    }
    match graph.names() {
        NodeNames::Positions(_) => {}
        NodeNames::Integers(names) => {
            vector(
                &mut out,
                "node_names",
                "<i8",
                nodes,
                bytemuck::cast_slice(names),
            )?;
        }
        NodeNames::Texts(names) => texts(&mut out, "node_names", names)?,
    }
    if let Some(split) = graph.split() {
        let numbers: Vec<u8> = split.iter().map(|&role| role as u8).collect();
        vector(&mut out, "split", "|u1", nodes, &numbers)?;
    }
    texts(
        &mut out,
        "treering_name",
        std::slice::from_ref(&graph.origin().name),
    )?;
    if let Some(recipe) = &graph.origin().synthetic {
        texts(&mut out, "treering_synthetic", std::slice::from_ref(recipe))?;
    }
    out.finish()?.into_inner()?.sync_all()
}

/// The adjacency with sources as rows; row order is how scipy and the public readers see it.
fn write_arcs(graph: &Graph, out: &mut Out) -> io::Result<()> {
    let directed = !graph.arcs().is_symmetric();
    let by_source = graph.arcs().reversed();
    let kept = match directed {
        true => by_source,
        false => by_source.filtered(|source, target| source <= target),
    };
    let ones;
    let weights = match kept.weights() {
        Some(weights) => weights,
        None => {
            ones = vec![1f32; kept.len()];
            &ones
        }
    };
    vector(
        out,
        "adj_indptr",
        "<u8",
        kept.offsets().len(),
        bytemuck::cast_slice(kept.offsets()),
    )?;
    vector(
        out,
        "adj_indices",
        "<u4",
        kept.len(),
        bytemuck::cast_slice(kept.sources()),
    )?;
    vector(
        out,
        "adj_data",
        "<f4",
        kept.len(),
        bytemuck::cast_slice(weights),
    )?;
    shape(out, "adj_shape", graph.nodes(), graph.nodes())?;
    vector(out, "directed", "|u1", 1, &[u8::from(directed)])
}

fn member(
    out: &mut Out,
    name: &str,
    spelling: &str,
    shape: &[usize],
    bytes: &[u8],
) -> io::Result<()> {
    // A fixed date keeps equal graphs equal to the byte; entries past 4 GB need the long form.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(3))
        .last_modified_time(zip::DateTime::default())
        .large_file(bytes.len() > u32::MAX as usize / 2);
    out.start_file(format!("{name}.npy"), options)?;
    write_header(out, spelling, shape)?;
    out.write_all(bytes)
}

fn vector(
    out: &mut Out,
    name: &str,
    spelling: &str,
    length: usize,
    bytes: &[u8],
) -> io::Result<()> {
    member(out, name, spelling, &[length], bytes)
}

fn shape(out: &mut Out, name: &str, rows: usize, columns: usize) -> io::Result<()> {
    vector(
        out,
        name,
        "<u8",
        2,
        bytemuck::cast_slice(&[rows as u64, columns as u64]),
    )
}

fn texts(out: &mut Out, name: &str, texts: &[String]) -> io::Result<()> {
    let longest = texts
        .iter()
        .map(|text| text.chars().count())
        .max()
        .unwrap_or(0)
        .max(1);
    let mut bytes = Vec::with_capacity(texts.len() * longest * 4);
    for text in texts {
        let end = bytes.len() + longest * 4;
        bytes.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
        bytes.resize(end, 0);
    }
    vector(out, name, &format!("<U{longest}"), texts.len(), &bytes)
}
