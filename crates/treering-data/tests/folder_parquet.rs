//! The folder form: the types that other programs write to Parquet, and files that are damaged.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, LargeListBuilder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::*;
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;
use tempfile::TempDir;
use treering_data::{Context, DataError, Fault, Loaded, ReadOptions, Silent, read_folder};
use treering_graph::{Labels, NodeNames, Role};

fn write(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )
    .expect("a batch");
    let file = fs::File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
}

fn read_tables(
    nodes: Vec<(&str, ArrayRef)>,
    edges: Vec<(&str, ArrayRef)>,
) -> Result<Loaded, DataError> {
    let dir = TempDir::new().expect("a folder");
    write(&dir.path().join("nodes.parquet"), nodes);
    write(&dir.path().join("edges.parquet"), edges);
    read(dir.path())
}

fn read(dir: &Path) -> Result<Loaded, DataError> {
    let context = Context::new(&Silent, 1 << 28);
    read_folder(Some(dir), &ReadOptions::default(), &context)
}

fn an_edge() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("src", Arc::new(Int32Array::from(vec![7]))),
        ("dst", Arc::new(UInt64Array::from(vec![8]))),
    ]
}

fn ids() -> (&'static str, ArrayRef) {
    ("id", Arc::new(Int16Array::from(vec![7, 8])))
}

#[test]
fn numbers_of_every_width() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ids(),
        ("a", Arc::new(Int8Array::from(vec![1, -2]))),
        ("b", Arc::new(UInt8Array::from(vec![1, 255]))),
        ("c", Arc::new(UInt16Array::from(vec![1, 2]))),
        ("d", Arc::new(UInt32Array::from(vec![1, u32::MAX]))),
        ("e", Arc::new(Int64Array::from(vec![1, 1 << 40]))),
        ("f", Arc::new(Float64Array::from(vec![0.1, 2.0]))),
        ("g", Arc::new(BooleanArray::from(vec![true, false]))),
        (
            "h",
            Arc::new(Float16Array::from(vec![half::f16::ONE, half::f16::ZERO])),
        ),
        ("label", Arc::new(Float64Array::from(vec![f64::NAN, 2.0]))),
        (
            "split",
            Arc::new(StringViewArray::from(vec![Some("train"), None])),
        ),
        ("when", Arc::new(Date32Array::from(vec![1, 2]))),
    ];
    let loaded = read_tables(columns, an_edge()).expect("a graph");
    let graph = loaded.graph;
    assert_eq!(*graph.names(), NodeNames::Integers(vec![7, 8].into()));
    let values = [
        [1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 1.0, 1.0],
        [
            -2.0,
            255.0,
            2.0,
            u32::MAX as f32,
            (1u64 << 40) as f32,
            2.0,
            0.0,
            0.0,
        ],
    ];
    assert_eq!(graph.features().to_dense().values(), values.concat());
    let labels = graph.labels().expect("labels");
    assert_eq!(
        (labels.names(), labels.raw()),
        (&["2".to_owned()][..], &[Labels::NONE, 0][..])
    );
    assert_eq!(graph.split(), Some(&[Role::Train, Role::None][..]));
    assert!(loaded.notes.iter().any(|note| note.contains("`when`")));
}

#[test]
fn texts_of_every_kind() {
    let kinds: [ArrayRef; 4] = [
        Arc::new(StringArray::from(vec!["7", "x"])),
        Arc::new(LargeStringArray::from(vec!["7", "x"])),
        Arc::new(StringViewArray::from(vec!["7", "x"])),
        Arc::new(
            vec!["7", "x"]
                .into_iter()
                .collect::<DictionaryArray<Int32Type>>(),
        ),
    ];
    for texts in kinds {
        let nodes = vec![("id", texts.clone()), ("label", texts.clone())];
        let edges = vec![
            ("src", texts),
            ("dst", Arc::new(Int32Array::from(vec![7, 7])) as ArrayRef),
        ];
        let graph = read_tables(nodes, edges).expect("a graph").graph;
        assert_eq!(
            *graph.names(),
            NodeNames::Texts(vec!["7".into(), "x".into()])
        );
        assert_eq!(graph.labels().expect("labels").names(), ["7", "x"]);
        assert_eq!(graph.arcs().len(), 3);
    }
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![7, u64::MAX]));
    let graph = read_tables(
        vec![("id", large)],
        vec![
            ("src", Arc::new(Int32Array::from(vec![7]))),
            ("dst", Arc::new(UInt64Array::from(vec![u64::MAX]))),
        ],
    );
    let names = NodeNames::Texts(vec!["7".into(), u64::MAX.to_string()]);
    assert_eq!(*graph.expect("a graph").graph.names(), names);
}

#[test]
fn lists_of_every_kind() {
    let rows = [[Some(1.0), Some(2.0)], [Some(3.0), Some(4.0)]];
    let mut list = ListBuilder::new(Float32Builder::new());
    let mut large = LargeListBuilder::new(Float32Builder::new());
    let mut fixed = FixedSizeListBuilder::new(Float32Builder::new(), 2);
    for row in rows {
        list.append_value(row);
        large.append_value(row);
        row.iter()
            .for_each(|&value| fixed.values().append_option(value));
        fixed.append(true);
    }
    let kinds: [ArrayRef; 3] = [
        Arc::new(list.finish()),
        Arc::new(large.finish()),
        Arc::new(fixed.finish()),
    ];
    for lists in kinds {
        let number: ArrayRef = Arc::new(Int8Array::from(vec![1, 2]));
        let loaded = read_tables(vec![ids(), ("n", number), ("z", lists)], an_edge());
        let loaded = loaded.expect("a graph");
        assert_eq!(
            loaded.graph.features().to_dense().values(),
            [1.0, 2.0, 3.0, 4.0]
        );
        assert!(loaded.notes.iter().any(|note| note.contains("`n`")));
    }
}

#[test]
fn cells_that_are_wrong() {
    let check = |nodes: Vec<(&str, ArrayRef)>, parts: &[&str]| {
        let error = read_tables(nodes, an_edge()).expect_err("an error");
        let text = error.to_string();
        assert!(
            parts.iter().all(|part| text.contains(part)),
            "{parts:?}: {text}"
        );
        error.fault
    };
    let holes: [ArrayRef; 3] = [
        Arc::new(Float32Array::from(vec![Some(1.0), None])),
        Arc::new(Float32Array::from(vec![1.0, f32::INFINITY])),
        Arc::new(Float64Array::from(vec![1.0, 1e300])),
    ];
    for hole in holes {
        let fault = check(vec![ids(), ("f", hole)], &["nodes.parquet", "row 1", "`f`"]);
        assert!(matches!(*fault, Fault::BadValue { .. }));
    }
    let lists = |rows: Vec<Option<Vec<Option<f32>>>>| -> (&'static str, ArrayRef) {
        let mut list = ListBuilder::new(Float32Builder::new());
        rows.into_iter().for_each(|row| list.append_option(row));
        ("z", Arc::new(list.finish()))
    };
    let good = Some(vec![Some(1.0), Some(2.0)]);
    for bad in [
        None,
        Some(vec![Some(1.0), None]),
        Some(vec![Some(1.0), Some(f32::NAN)]),
    ] {
        let fault = check(
            vec![ids(), lists(vec![good.clone(), bad])],
            &["row 1", "`z`"],
        );
        assert!(matches!(*fault, Fault::BadValue { .. }));
    }
    let fault = check(
        vec![ids(), lists(vec![good.clone(), Some(vec![])])],
        &["row 1", "`z`"],
    );
    assert!(matches!(
        *fault,
        Fault::LengthMismatch {
            found: 0,
            expected: 2,
            ..
        }
    ));
    let two = vec![
        ids(),
        lists(vec![good.clone(); 2]),
        ("y2", lists(vec![good.clone(); 2]).1),
    ];
    assert!(matches!(*check(two, &["y2", "z"]), Fault::Ambiguous { .. }));
    let id = |column: ArrayRef| vec![("id", column)];
    let fault = check(
        id(Arc::new(Int32Array::from(vec![7, 7]))),
        &["row 1", "`id`", "row 0"],
    );
    assert!(matches!(*fault, Fault::DuplicateId { .. }));
    let fault = check(
        id(Arc::new(Int32Array::from(vec![Some(7), None]))),
        &["row 1", "`id`"],
    );
    assert!(matches!(*fault, Fault::BadValue { .. }));
    let fault = check(
        id(Arc::new(Date32Array::from(vec![7]))),
        &["nodes.parquet", "`id`"],
    );
    assert!(matches!(*fault, Fault::WrongType { .. }));
    let fault = check(
        id(Arc::new(Int32Array::from(vec![7]))),
        &["edges.parquet", "row 0", "`dst`"],
    );
    assert!(matches!(*fault, Fault::UnknownNode { .. }));
    let fault = check(
        id(Arc::new(Int32Array::from(Vec::<i32>::new()))),
        &["nodes.parquet"],
    );
    assert!(matches!(*fault, Fault::Empty));
}

/// The bytes of a file with everything that is read: numbers, texts, lists, holes.
fn valid() -> Vec<u8> {
    let dir = TempDir::new().expect("a folder");
    let path = dir.path().join("nodes.parquet");
    let mut list = ListBuilder::new(Float32Builder::new());
    (0..20).for_each(|row| list.append_value([Some(row as f32), Some(1.0)]));
    let labels = (0..20).map(|row| (row % 3 > 0).then(|| format!("c{}", row % 5)));
    write(
        &path,
        vec![
            ("id", Arc::new(Int64Array::from_iter_values(0..20))),
            ("label", Arc::new(labels.collect::<StringArray>())),
            ("z", Arc::new(list.finish())),
        ],
    );
    fs::read(path).expect("bytes")
}

/// Whatever comes of it, it must not be a panic.
fn try_bytes(file: &str, bytes: &[u8]) -> Result<Loaded, DataError> {
    let dir = TempDir::new().expect("a folder");
    let text = |name: &str| dir.path().join(name);
    if file != "nodes.parquet" {
        fs::write(text("nodes.csv"), "id\n0\n1\n").expect("a file");
    }
    if file != "edges.csv" {
        fs::write(text("edges.csv"), "src,dst\n0,1\n").expect("a file");
    }
    fs::write(dir.path().join(file), bytes).expect("a file");
    read(dir.path())
}

#[test]
fn a_cut_file_is_an_error() {
    let bytes = valid();
    assert_eq!(
        try_bytes("nodes.parquet", &bytes)
            .expect("a graph")
            .graph
            .nodes(),
        20
    );
    for cut in 1..bytes.len() {
        let error = try_bytes("nodes.parquet", &bytes[..cut]).expect_err("an error");
        assert!(matches!(*error.fault, Fault::Damaged { .. }), "{error:?}");
    }
}

#[test]
fn a_changed_byte_is_no_panic() {
    let bytes = valid();
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            let _ = try_bytes("nodes.parquet", &changed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_no_panic(
        file in prop::sample::select(vec!["nodes.csv", "edges.csv", "nodes.parquet", "edges.parquet", "features.csv", "graph.json"]),
        bytes in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let _ = try_bytes(file, &bytes);
    }

    #[test]
    fn any_text_is_no_panic(
        file in prop::sample::select(vec!["nodes.csv", "edges.csv", "features.csv"]),
        head in prop::sample::select(vec!["", "id,x\n", "src,dst,w\n", "node,column,value\n", "features\n"]),
        text in "[-0-9a-z,;\"\\[\\]. \r\n]{0,120}",
    ) {
        let _ = try_bytes(file, format!("{head}{text}").as_bytes());
    }

    #[test]
    fn changed_parquet_is_no_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = valid();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = try_bytes("nodes.parquet", &bytes);
    }
}
