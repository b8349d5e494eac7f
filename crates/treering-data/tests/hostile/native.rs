//! Native files that lie. Headers are written by hand: length, JSON, data.

use std::path::Path;

use crate::refused;

const ABOUT: &str = r#"{\"format\":\"treering graph\",\"version\":1,\"name\":\"x\",\"synthetic\":null,\"feature_columns\":1,\"classes\":null}"#;

/// Two nodes, one arc, one feature each: offsets at 0..24, one source at 24..28, features at 28..36.
fn header(about: &str, tensors: &str) -> String {
    format!(r#"{{"__metadata__":{{"treering":"{about}"}},{tensors}}}"#)
}

const TENSORS: &str = r#""arcs.offsets":{"dtype":"U64","shape":[3],"data_offsets":[0,24]},"arcs.sources":{"dtype":"U32","shape":[1],"data_offsets":[24,28]},"features.dense":{"dtype":"F32","shape":[2,1],"data_offsets":[28,36]}"#;

fn data(offsets: [u64; 3], source: u32, features: [f32; 2]) -> Vec<u8> {
    let mut bytes: Vec<u8> = offsets.iter().flat_map(|v| v.to_le_bytes()).collect();
    bytes.extend(source.to_le_bytes());
    bytes.extend(features.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

fn file(path: &Path, header: &str, data: &[u8]) {
    let mut text = header.to_owned();
    while !text.len().is_multiple_of(8) {
        text.push(' ');
    }
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    std::fs::write(path, bytes).unwrap();
}

fn good() -> Vec<u8> {
    data([0, 0, 1], 0, [0.5, 1.0])
}

#[test]
fn the_unaltered_file_is_read() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("good.treering");
    file(&path, &header(ABOUT, TENSORS), &good());
    let graph = crate::common::load(&path).unwrap().graph;
    assert_eq!((graph.nodes(), graph.arcs().len()), (2, 1));
}

#[test]
fn lies_in_the_header() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("bad.treering");
    let bad = |header: &str, words: &[&str]| {
        file(&path, header, &good());
        refused(&path, words);
    };
    bad(
        &header(&ABOUT.replace("1,\\\"name", "2,\\\"name"), TENSORS),
        &["version 2", "reads 1"],
    );
    bad(
        &header(&ABOUT.replace("treering graph", "treering ring"), TENSORS),
        &["not a graph"],
    );
    bad(&header("{", TENSORS), &["bad.treering", "description"]);
    bad(
        &format!("{{{TENSORS}}}"),
        &["safetensors file, but not a graph"],
    );
    bad(
        &header(ABOUT, &TENSORS.replace("arcs.sources", "arcs.sauces")),
        &["`arcs.sources` is missing", "arcs.sauces"],
    );
    bad(
        &header(ABOUT, &TENSORS.replace("U32", "I32")),
        &["`arcs.sources`", "I32"],
    );
    bad(
        &header(ABOUT, &TENSORS.replace("[28,36]", "[28,99999999]")),
        &["bad.treering", "damaged"],
    );
    bad(
        &header(ABOUT, &TENSORS.replace("[2,1]", "[4611686018427387904,4]")),
        &["bad.treering", "damaged"],
    );
    bad(
        &header(&ABOUT.replace("columns\\\":1", "columns\\\":7"), TENSORS),
        &["`features.dense`"],
    );
    bad(
        &header(
            &ABOUT.replace("columns\\\":1", "columns\\\":9223372036854775807"),
            TENSORS,
        ),
        &["bad.treering"],
    );
    bad(
        &header(&ABOUT.replace("null}", "[\\\"a\\\"]}"), TENSORS),
        &["`labels` is missing"],
    );
    bad("{}", &["bad.treering"]);
    bad("{\"a\":", &["bad.treering"]);
}

#[test]
fn lies_in_the_data() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("bad.treering");
    let bad = |data: &[u8], words: &[&str]| {
        file(&path, &header(ABOUT, TENSORS), data);
        refused(&path, words);
    };
    bad(
        &data([0, 0, 1], 2, [0.5, 1.0]),
        &["`arcs.sources`", "the end 2"],
    );
    bad(&data([0, 1, 0], 0, [0.5, 1.0]), &["offsets of the arcs"]);
    bad(
        &data([0, 5, 1], 0, [0.5, 1.0]),
        &["offsets of the arcs", "decrease"],
    );
    bad(&data([1, 1, 1], 0, [0.5, 1.0]), &["first is not 0"]);
    bad(&data([0, 0, 1], 0, [0.5, f32::NAN]), &["node 1", "NaN"]);
    bad(&good()[..30], &["bad.treering", "damaged"]);
    bad(&[], &["bad.treering", "damaged"]);
}

#[test]
fn a_header_longer_than_the_file() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("bad.treering");
    for length in [9u64, 1_000_000, u64::from(u32::MAX)] {
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend(b"{}");
        std::fs::write(&path, bytes).unwrap();
        refused(&path, &["bad.treering", "damaged"]);
    }
}
