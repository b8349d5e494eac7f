//! Files of other programs' layouts, written here byte by byte, so that readers are not tested with our own writers.
#![allow(dead_code)]

use std::fs::File;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use treering_data::{Context, DataError, Loaded, ReadOptions, Silent, read};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A NumPy array as a file: any header, any content.
pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_raw(
        &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"),
        data,
    )
}

pub fn npy_raw(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    let text = format!("{header}\n");
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(data);
    file
}

/// Little-endian bytes of some numbers.
macro_rules! le {
    ($type:ty: $($value:expr),* $(,)?) => {{
        let values: Vec<$type> = vec![$($value as $type),*];
        values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>()
    }};
}
pub(crate) use le;

/// A vector of `$type` as an array called by its NumPy name.
pub fn vector(descr: &str, length: usize, data: Vec<u8>) -> Vec<u8> {
    npy(&format!("'{descr}'"), &format!("({length},)"), &data)
}

/// A zip archive of named members.
pub fn npz(path: &Path, members: &[(&str, Vec<u8>)]) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    for (at, (name, content)) in members.iter().enumerate() {
        // Stored and deflated members both occur in the wild.
        let method = if at % 2 == 0 {
            CompressionMethod::Deflated
        } else {
            CompressionMethod::Stored
        };
        zip.start_file(
            format!("{name}.npy"),
            SimpleFileOptions::default().compression_method(method),
        )
        .unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
}

/// A small graph in the gnn-benchmark layout: 0 -> 1, 1 -> 2, 2 -> 1, three classes' worth of labels, two words.
pub fn small_npz() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("adj_indptr", vector("<i4", 5, le!(i32: 0, 1, 2, 3, 3))),
        ("adj_indices", vector("<i4", 3, le!(i32: 1, 2, 1))),
        ("adj_data", vector("<f4", 3, le!(f32: 1, 1, 1))),
        ("adj_shape", vector("<i8", 2, le!(i64: 4, 4))),
        ("attr_indptr", vector("<i4", 5, le!(i32: 0, 1, 2, 4, 4))),
        ("attr_indices", vector("<i4", 4, le!(i32: 0, 1, 1, 0))),
        ("attr_data", vector("<f4", 4, le!(f32: 1, 0.5, 2, 3))),
        ("attr_shape", vector("<i8", 2, le!(i64: 4, 2))),
        ("labels", vector("|i1", 4, le!(i8: 0, 2, 2, 0))),
    ]
}

/// The members with one replaced or, where it is new, added.
pub fn with(
    mut members: Vec<(&'static str, Vec<u8>)>,
    name: &'static str,
    content: Vec<u8>,
) -> Vec<(&'static str, Vec<u8>)> {
    match members.iter_mut().find(|member| member.0 == name) {
        Some(member) => member.1 = content,
        None => members.push((name, content)),
    }
    members
}

pub fn without(members: Vec<(&'static str, Vec<u8>)>, name: &str) -> Vec<(&'static str, Vec<u8>)> {
    members
        .into_iter()
        .filter(|member| member.0 != name)
        .collect()
}

pub fn gz(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut out = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap();
}

/// An OGB folder: four nodes, three arcs, two features, labels, one split.
pub fn ogb(folder: &Path) {
    gz(&folder.join("raw/num-node-list.csv.gz"), "4\n");
    gz(&folder.join("raw/num-edge-list.csv.gz"), "3\n");
    gz(&folder.join("raw/edge.csv.gz"), "0,1\n1,2\n3,0\n");
    gz(
        &folder.join("raw/node-feat.csv.gz"),
        "0.5,-1\n1e-3,2\n0,0\n-0.25,7\n",
    );
    gz(&folder.join("raw/node-label.csv.gz"), "4\n0\n4\n0\n");
    gz(&folder.join("split/time/train.csv.gz"), "0\n1\n");
    gz(&folder.join("split/time/valid.csv.gz"), "2\n");
    gz(&folder.join("split/time/test.csv.gz"), "3\n");
}

/// DGL's Reddit: four nodes, arcs in both directions as a scipy matrix.
pub fn reddit(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let feature = npy(
        "'<f4'",
        "(4, 3)",
        &le!(f32: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
    );
    npz(
        &folder.join("reddit_data.npz"),
        &[
            ("feature", feature),
            ("label", vector("<i4", 4, le!(i32: 1, 0, 1, 1))),
            ("node_types", vector("<i4", 4, le!(i32: 1, 1, 2, 3))),
            ("node_ids", vector("<i8", 4, le!(i64: 0, 1, 2, 3))),
        ],
    );
    npz(
        &folder.join("reddit_graph.npz"),
        &[
            ("row", vector("<i4", 4, le!(i32: 0, 1, 1, 2))),
            ("col", vector("<i4", 4, le!(i32: 1, 0, 2, 1))),
            ("data", vector("<f8", 4, le!(f64: 1, 1, 1, 1))),
            ("shape", vector("<i8", 2, le!(i64: 4, 4))),
            ("format", npy("'|S3'", "()", b"coo")),
        ],
    );
}

pub fn load(path: &Path) -> Result<Loaded, DataError> {
    load_with(path, &ReadOptions::default())
}

pub fn load_with(path: &Path, options: &ReadOptions) -> Result<Loaded, DataError> {
    // A small limit: what hostile files claim must never be allocated.
    read(path, options, &Context::new(&Silent, 64_000_000))
}
