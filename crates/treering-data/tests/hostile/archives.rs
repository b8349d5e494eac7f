//! NumPy archives that lie.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::common::{le, npy, npy_raw, npz, reddit, small_npz, vector, with, without};
use crate::refused;

/// Replaces one member of the small archive and wants a refusal.
fn member(name: &'static str, content: Vec<u8>, words: &[&str]) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("bad.npz");
    npz(&path, &with(small_npz(), name, content));
    let mut words = words.to_vec();
    words.push("bad.npz");
    refused(&path, &words);
}

#[test]
fn pickled_objects() {
    member(
        "labels",
        npy("'|O'", "(4,)", b"\x80\x04K\x01."),
        &["member `labels`", "pickled", "np.savez"],
    );
}

#[test]
fn wrong_types() {
    member(
        "labels",
        vector("<f4", 4, le!(f32: 0, 1, 0, 1)),
        &["`labels`", "<f4"],
    );
    member(
        "adj_indices",
        vector("<f8", 3, le!(f64: 1, 2, 1)),
        &["`adj_indices`", "<f8"],
    );
    member(
        "attr_data",
        npy("'<c8'", "(4,)", &[0; 32]),
        &["`attr_data`", "<c8"],
    );
    member(
        "attr_data",
        npy("'<U2'", "(4,)", &[0; 32]),
        &["`attr_data`", "<U2"],
    );
    member(
        "labels",
        npy("[('a', '<i4')]", "(4,)", &[0; 16]),
        &["`labels`", "a plain number"],
    );
    member(
        "labels",
        npy("'<i3'", "(4,)", &[0; 12]),
        &["`labels`", "<i3"],
    );
}

#[test]
fn wrong_byte_order_and_fortran_order() {
    member(
        "labels",
        vector(">i4", 4, vec![0; 16]),
        &["`labels`", "most significant byte first", "newbyteorder"],
    );
    let header = "{'descr': '<f4', 'fortran_order': True, 'shape': (4, 2), }";
    member(
        "attr_matrix",
        npy_raw(header, &[0; 32]),
        &["`attr_matrix`", "Fortran", "ascontiguousarray"],
    );
}

#[test]
fn headers_that_claim_too_much() {
    member(
        "labels",
        npy("'<i8'", "(1000000000000,)", &[0; 32]),
        &["`labels`", "only 32 of 8000000000000 bytes"],
    );
    member(
        "labels",
        npy("'<i8'", "(4294967296, 4294967296)", &[]),
        &["`labels`", "larger than any file"],
    );
    member(
        "labels",
        npy("'<i8'", "(99999999999999999999999,)", &[]),
        &["`labels`", "shape"],
    );
    member(
        "labels",
        npy("'<U999999999999'", "(4,)", &[]),
        &["`labels`"],
    );
    member("labels", npy("'<i8'", "(-4,)", &[]), &["`labels`", "shape"]);
    let mut endless = b"\x93NUMPY\x02\x00".to_vec();
    endless.extend(u32::MAX.to_le_bytes());
    member("labels", endless, &["`labels`", "absurd"]);
}

#[test]
fn headers_that_are_not_headers() {
    for header in [
        "",
        "{",
        "{'descr'",
        "{'descr': '<i8'}",
        "'shape': (4,)",
        "{'descr': '', 'shape': ()}",
        "(((((((((",
    ] {
        member("labels", npy_raw(header, &[]), &["`labels`"]);
    }
    member("labels", npy_raw(&"(".repeat(60_000), &[]), &["`labels`"]);
    member("labels", b"not an array".to_vec(), &["`labels`", "NumPy"]);
    member("labels", Vec::new(), &["`labels`"]);
}

#[test]
fn numbers_out_of_range() {
    member(
        "adj_indices",
        vector("<i4", 3, le!(i32: 1, 9, 1)),
        &["`adj_indices`", "the end 9", "0 to 3"],
    );
    member(
        "adj_indices",
        vector("<i4", 3, le!(i32: 1, -2, 1)),
        &["`adj_indices`", "row 1", "`-2`"],
    );
    member(
        "adj_indices",
        vector("<i8", 3, le!(i64: 1, 5_000_000_000i64, 1)),
        &["row 1", "`5000000000`"],
    );
    member(
        "attr_indices",
        vector("<i4", 4, le!(i32: 0, 1, 7, 0)),
        &["`attr_indices`", "node 2", "column 7"],
    );
    member(
        "labels",
        vector("<i4", 4, le!(i32: 0, 1, -1, 0)),
        &["`labels`", "row 2", "-1 is negative"],
    );
    member(
        "class_names",
        npy("'|S1'", "(1,)", b"x"),
        &["`labels`", "row 1", "`2`"],
    );
    member(
        "adj_data",
        vector("<f4", 3, le!(f32: 1, -1, 1)),
        &["`adj_data`", "the weight -1"],
    );
    member(
        "adj_data",
        vector("<f4", 3, le!(f32: 1, f32::NAN, 1)),
        &["the weight NaN"],
    );
}

#[test]
fn features_that_are_not_finite() {
    member(
        "attr_data",
        vector("<f4", 4, le!(f32: 1, 1, f32::NAN, 1)),
        &["node 2", "NaN", "column 1"],
    );
    member(
        "attr_data",
        vector("<f8", 4, le!(f64: 1, f64::INFINITY, 1, 1)),
        &["node 1", "inf"],
    );
    // Finite in 64 bits, infinite in 32.
    member(
        "attr_data",
        vector("<f8", 4, le!(f64: 1e300, 1, 1, 1)),
        &["node 0", "inf"],
    );
}

#[test]
fn parts_that_do_not_fit() {
    member(
        "adj_indptr",
        vector("<i4", 5, le!(i32: 0, 1, 2, 3, 99)),
        &["`adj_indptr`"],
    );
    member(
        "adj_indptr",
        vector("<i4", 5, le!(i32: 0, 3, 1, 3, 3)),
        &["`adj_indptr`", "row 2", "decrease"],
    );
    member(
        "adj_indptr",
        vector("<i4", 0, Vec::new()),
        &["`adj_indptr`"],
    );
    member(
        "adj_indptr",
        vector("<i4", 1, le!(i32: 0)),
        &["`adj_indptr`"],
    );
    member(
        "adj_shape",
        vector("<i8", 2, le!(i64: 4, 5)),
        &["`adj_shape`", "[4, 5]"],
    );
    member(
        "adj_shape",
        vector("<i8", 3, le!(i64: 4, 4, 4)),
        &["`adj_shape`", "3 numbers"],
    );
    member(
        "adj_data",
        vector("<f4", 2, le!(f32: 1, 1)),
        &["`adj_data`", "2 elements"],
    );
    member(
        "attr_indptr",
        vector("<i4", 4, le!(i32: 0, 1, 2, 4)),
        &["`attr_indptr`"],
    );
    member(
        "attr_matrix",
        npy("'<f4'", "(3, 2)", &[0; 24]),
        &["`attr_matrix`", "[3, 2]"],
    );
    member(
        "labels",
        vector("<i4", 3, le!(i32: 0, 1, 0)),
        &["`labels`", "3 elements"],
    );
    member(
        "labels",
        npy("'<i4'", "(2, 2)", &[0; 16]),
        &["`labels`", "a vector"],
    );
    member(
        "node_names",
        npy("'|S1'", "(2,)", b"ab"),
        &["`node_names`", "2 elements"],
    );
    member(
        "split",
        vector("|u1", 4, le!(u8: 0, 1, 2, 9)),
        &["`split`", "row 3", "`9`"],
    );
    member(
        "node_names",
        npy("'|S1'", "(4,)", b"abca"),
        &["`node_names`", "row 3", "`a`", "used before (row 0)"],
    );
    member(
        "class_names",
        npy("'|S1'", "(3,)", b"xyx"),
        &["`class_names`", "row 2", "`x`", "only one class"],
    );
    member(
        "node_names",
        npy("'<U1'", "(4,)", &[0xff; 16]),
        &["`node_names`", "Unicode"],
    );
}

#[test]
fn missing_members() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("bad.npz");
    for name in [
        "adj_indptr",
        "adj_indices",
        "attr_indptr",
        "attr_indices",
        "attr_data",
    ] {
        npz(&path, &without(small_npz(), name));
        refused(
            &path,
            &["bad.npz", &format!("`{name}`"), "is missing", "labels"],
        );
    }
    npz(&path, &[]);
    refused(&path, &["`adj_indptr` is missing"]);
}

/// Hundreds of megabytes of zeros in less than one: refused by the memory limit before they are unpacked.
#[test]
fn zip_bombs() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("bomb.npz");
    bomb(&path, "adj_indices", "'<i4'", 100_000_000);
    refused(
        &path,
        &[
            "bomb.npz",
            "`adj_indices`",
            "400.0 MB",
            "64.0 MB are allowed",
            "--memory",
        ],
    );
    // Where the number of elements is known beforehand, not even the limit is needed.
    bomb(&path, "labels", "'<i8'", 50_000_000);
    refused(
        &path,
        &[
            "bomb.npz",
            "`labels`",
            "50000000 elements, but 4 are expected",
        ],
    );
}

/// The small archive with one member that unpacks to 400 MB.
fn bomb(path: &Path, name: &str, descr: &str, elements: usize) {
    let mut zip = ZipWriter::new(File::create(path).unwrap());
    let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in without(small_npz(), name) {
        zip.start_file(format!("{name}.npy"), deflated).unwrap();
        zip.write_all(&content).unwrap();
    }
    zip.start_file(format!("{name}.npy"), deflated).unwrap();
    zip.write_all(&npy(descr, &format!("({elements},)"), &[]))
        .unwrap();
    let zeros = vec![0u8; 1_000_000];
    (0..400).for_each(|_| zip.write_all(&zeros).unwrap());
    zip.finish().unwrap();
    assert!(std::fs::metadata(path).unwrap().len() < 1_000_000);
}

#[test]
fn archives_cut_short_or_altered() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("whole.npz");
    npz(&path, &small_npz());
    let whole = std::fs::read(&path).unwrap();
    let cut = place.path().join("cut.npz");
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    refused(&cut, &["cut.npz", "damaged"]);
    // A stored member with one byte changed fails its checksum.
    let mut altered = whole.clone();
    let at = altered
        .windows(8)
        .position(|w| {
            w == 1i32
                .to_le_bytes()
                .iter()
                .chain(&2i32.to_le_bytes())
                .copied()
                .collect::<Vec<_>>()
        })
        .unwrap();
    altered[at] = 3;
    std::fs::write(&cut, &altered).unwrap();
    refused(&cut, &["cut.npz", "damaged"]);
}

#[test]
fn reddit_parts_that_do_not_fit() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("reddit");
    let graph = folder.join("reddit_graph.npz");
    let base = |format: &'static [u8], rows: Vec<u8>, shape: Vec<u8>| {
        vec![
            ("row", vector("<i4", 4, rows)),
            ("col", vector("<i4", 4, le!(i32: 1, 0, 2, 1))),
            ("data", vector("<f8", 4, le!(f64: 1, 1, 1, 1))),
            ("shape", vector("<i8", 2, shape)),
            (
                "format",
                npy(&format!("'|S{}'", format.len()), "()", format),
            ),
        ]
    };
    reddit(&folder);
    npz(&graph, &base(b"lil", le!(i32: 0, 1, 1, 2), le!(i64: 4, 4)));
    refused(&folder, &["reddit_graph.npz", "`format`", "`lil`", "coo"]);
    npz(&graph, &base(b"coo", le!(i32: 0, 1, 1, 2), le!(i64: 4, 5)));
    refused(&folder, &["reddit_graph.npz", "`shape`", "[4, 5]"]);
    npz(&graph, &base(b"coo", le!(i32: 0, 1, 1, 8), le!(i64: 4, 4)));
    refused(&folder, &["reddit_graph.npz", "the end 8"]);
    std::fs::remove_file(&graph).unwrap();
    refused(&folder, &["reddit_graph.npz", "no such file"]);
}

#[test]
fn reddit_node_types_count_from_one() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("reddit");
    reddit(&folder);
    let feature = npy("'<f4'", "(4, 1)", &le!(f32: 1, 2, 3, 4));
    let data = [
        ("feature", feature),
        ("label", vector("<i4", 4, le!(i32: 1, 0, 1, 1))),
        ("node_types", vector("<i4", 4, le!(i32: 1, 0, 1, 2))),
    ];
    npz(&folder.join("reddit_data.npz"), &data);
    refused(
        &folder,
        &[
            "reddit_data.npz",
            "`node_types`",
            "row 1",
            "`0`",
            "1 (train)",
        ],
    );
}
