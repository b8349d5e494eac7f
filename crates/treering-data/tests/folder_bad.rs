//! The folder form: every kind of bad input gives an error that says what is wrong and where.

use std::fs;
use std::io::Write;
use std::path::Path;

use tempfile::TempDir;
use treering_data::{
    Context, DataError, Fault, ReadOptions, Row, Silent, Table, read_folder, write_folder,
};
use treering_graph::Graph;

const EDGES: &str = "src,dst\n1,2\n";

fn read(dir: &Path) -> Result<Graph, DataError> {
    let context = Context::new(&Silent, 1 << 30);
    read_folder(Some(dir), &ReadOptions::default(), &context).map(|loaded| loaded.graph)
}

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let dir = TempDir::new().expect("a folder");
    for (name, bytes) in files {
        fs::write(dir.path().join(name), bytes).expect("a file");
    }
    dir
}

fn error(files: &[(&str, &[u8])]) -> DataError {
    read(folder(files).path()).expect_err("an error")
}

fn nodes_error(nodes: &[u8]) -> DataError {
    error(&[("nodes.csv", nodes), ("edges.csv", EDGES.as_bytes())])
}

fn edges_error(edges: &str) -> DataError {
    error(&[
        ("nodes.csv", b"id,x0\n1,0\n2,0\n"),
        ("edges.csv", edges.as_bytes()),
    ])
}

/// Checks the fault, and that the message names the place.
macro_rules! check {
    ($error:expr, $fault:pat, $($part:expr),*) => {{
        let error = $error;
        let text = error.to_string();
        assert!(matches!(*error.fault, $fault), "{error:?}");
        $(assert!(text.contains($part), "{} not in: {text}", $part);)*
    }};
}

#[test]
fn files_that_are_not_there() {
    check!(
        error(&[("nodes.csv", b"id\n1\n"), ("notes.txt", b"")]),
        Fault::MissingMember { .. },
        "edges.csv",
        "notes.txt"
    );
    check!(
        error(&[("edges.csv", EDGES.as_bytes())]),
        Fault::MissingMember { .. },
        "nodes.parquet"
    );
    let two = [
        ("nodes.csv", &b"id\n1\n"[..]),
        ("nodes.csv.gz", b"x"),
        ("edges.csv", b"x"),
    ];
    check!(
        error(&two),
        Fault::Ambiguous {
            flag: "--nodes",
            ..
        },
        "nodes.csv.gz"
    );
    check!(
        read(Path::new("/nowhere/at/all")).expect_err("an error"),
        Fault::NotFound,
        "/nowhere"
    );
    let dir = folder(&[("edges.csv", EDGES.as_bytes())]);
    check!(
        read(&dir.path().join("edges.csv")).expect_err("an error"),
        Fault::IsFile,
        "edges.csv"
    );
    fs::create_dir(dir.path().join("nodes.csv")).expect("a folder");
    check!(
        read(dir.path()).expect_err("an error"),
        Fault::IsFolder,
        "nodes.csv"
    );
    let options = ReadOptions {
        nodes_file: Some("/a/nodes.csv".into()),
        ..Default::default()
    };
    let context = Context::new(&Silent, 1 << 30);
    let alone = read_folder(None, &options, &context).expect_err("an error");
    check!(
        alone,
        Fault::MissingMember { .. },
        "/a/nodes.csv",
        "edges.csv"
    );
}

#[test]
fn tables_that_are_no_tables() {
    check!(nodes_error(b""), Fault::Empty, "nodes.csv");
    check!(nodes_error(b"id,label\n"), Fault::Empty, "nodes.csv");
    check!(
        nodes_error(b"id,label\n1,2\n2\n"),
        Fault::Ragged {
            found: 1,
            expected: 2,
            delimiter: None
        },
        "nodes.csv",
        "line 3"
    );
    check!(
        nodes_error(b"id,label\r\n1,2\r\n\r\n2,3,4\r\n"),
        Fault::Ragged { found: 3, .. },
        "line 4"
    );
    check!(
        nodes_error(b"id,label\n\n\n1,2\n\n2,3,4\n5,6"),
        Fault::Ragged { found: 3, .. },
        "line 6"
    );
    check!(
        nodes_error(b"id,label\n1,\"a\nb\"\n2,\"c\nd\",4\n"),
        Fault::Ragged { found: 3, .. },
        "line 4"
    );
    check!(
        nodes_error(b"id,label\n1,a\n2"),
        Fault::Ragged { found: 1, .. },
        "line 3"
    );
    check!(
        nodes_error(b"id;label\n1;2\n"),
        Fault::Ragged {
            delimiter: Some(';'),
            ..
        },
        "line 1",
        "`;`"
    );
    check!(
        nodes_error(b"id\tlabel\n1\t2\n"),
        Fault::Ragged {
            delimiter: Some('\t'),
            ..
        },
        "tabs"
    );
    check!(
        nodes_error(b"id|x|y\n1|2|3\n"),
        Fault::Ragged {
            delimiter: Some('|'),
            expected: 3,
            ..
        },
        "line 1"
    );
    check!(
        nodes_error(b"id,label\n1,a\n\xff\xfe,b\n"),
        Fault::BadValue { .. },
        "line 3",
        "`id`",
        "UTF-8"
    );
    check!(
        nodes_error(b"i\xffd,label\n1,a\n"),
        Fault::BadValue { .. },
        "line 1"
    );
    check!(
        nodes_error(b"7,0.5\n8,0.25\n"),
        Fault::BadValue { .. },
        "line 1",
        "names the columns"
    );
    check!(
        edges_error("1,2\n2,1\n"),
        Fault::BadValue { .. },
        "edges.csv",
        "line 1",
        "names the columns"
    );
}

#[test]
fn a_row_that_never_ends() {
    let mut long = b"id,label\n1,\"".to_vec();
    long.resize(66 << 20, b'x');
    check!(
        nodes_error(&long),
        Fault::LineTooLong { .. },
        "nodes.csv",
        "line 2"
    );
    // An unclosed quote swallows line ends.
    long.iter_mut()
        .skip(100)
        .step_by(50)
        .for_each(|byte| *byte = b'\n');
    check!(nodes_error(&long), Fault::LineTooLong { .. }, "nodes.csv");
}

#[test]
fn packed_text_that_is_damaged() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let text: String = (0..20_000)
        .map(|id: u64| format!("{id},{}\n", id * 7919 % 1013))
        .collect();
    packed.write_all(b"id,x0\n").expect("packed");
    packed.write_all(text.as_bytes()).expect("packed");
    let packed = packed.finish().expect("packed");
    let with = |bytes: &[u8]| {
        read(folder(&[("nodes.csv.gz", bytes), ("edges.csv", EDGES.as_bytes())]).path())
    };
    assert_eq!(with(&packed).expect("a graph").nodes(), 20_000);
    for cut in [1, 5, packed.len() / 2, packed.len() - 1] {
        check!(
            with(&packed[..cut]).expect_err("an error"),
            Fault::Damaged { .. },
            "nodes.csv.gz"
        );
    }
    check!(
        with(b"id,x0\n1,2\n").expect_err("an error"),
        Fault::Damaged { .. },
        "nodes.csv.gz"
    );
    check!(
        with(b"").expect_err("an error"),
        Fault::Empty,
        "nodes.csv.gz"
    );
}

#[test]
fn cells_of_nodes() {
    for bad in ["", "NaN", "inf", "-inf", "1e60", "abc", "1,5"] {
        let table = format!("id,label,f0,f1\n1,a,0,0\n\n2,b,0,\"{bad}\"\n");
        check!(
            nodes_error(table.as_bytes()),
            Fault::BadValue { .. },
            "nodes.csv",
            "line 4",
            "`f1`"
        );
    }
    check!(
        nodes_error(b"id,x\n1,\"[1, 2]\"\n2,\"[1]\"\n"),
        Fault::LengthMismatch {
            found: 1,
            expected: 2,
            ..
        },
        "line 3",
        "`x`"
    );
    check!(
        nodes_error(b"id,x\n1,\"[1, 2]\"\n2,\"[1, b]\"\n"),
        Fault::BadValue { .. },
        "line 3",
        "`x`"
    );
    check!(
        nodes_error(b"id,x\n1,1 2\n2,1 nan\n"),
        Fault::BadValue { .. },
        "line 3",
        "`x`"
    );
    check!(
        nodes_error(b"id,x\n1,1 2\n2,\n"),
        Fault::BadValue { .. },
        "line 3",
        "`x`"
    );
    check!(
        nodes_error(b"id,split\n1,train\n2,holiday\n"),
        Fault::BadValue { .. },
        "line 3",
        "`split`",
        "holiday"
    );
    check!(
        nodes_error(b"id,label\n1,a\n,b\n"),
        Fault::BadValue { .. },
        "line 3",
        "`id`"
    );
    let first = Row::Line(3);
    let text = nodes_error(b"id,label\n1,a\n2,\"b\nc\"\n3,d\n2,e\n");
    assert!(
        matches!(&*text.fault, Fault::DuplicateId { id, first: at } if id == "2" && *at == first)
    );
    check!(text, Fault::DuplicateId { .. }, "line 6", "`id`", "line 3");
    check!(
        nodes_error(b"id\nx\ny\nx\n"),
        Fault::DuplicateId { .. },
        "line 4",
        "line 2"
    );
    let mut options = ReadOptions::default();
    options.columns.label = Some("colour".into());
    let dir = folder(&[
        ("nodes.csv", b"id,label\n1,a\n"),
        ("edges.csv", EDGES.as_bytes()),
    ]);
    let missing = read_folder(Some(dir.path()), &options, &Context::new(&Silent, 1 << 30));
    check!(
        missing.expect_err("an error"),
        Fault::MissingColumn { .. },
        "nodes.csv",
        "`colour`",
        "label"
    );
}

#[test]
fn cells_of_edges() {
    check!(
        edges_error("src,dst\n1,2\n1,3\n"),
        Fault::UnknownNode { .. },
        "edges.csv",
        "line 3",
        "`dst`",
        "`3`"
    );
    check!(
        edges_error("src,dst\n,2\n"),
        Fault::BadValue { .. },
        "line 2",
        "`src`"
    );
    check!(
        edges_error("a,b,c,d\n1,2,3,4\n"),
        Fault::MissingColumn { .. },
        "edges.csv",
        "src"
    );
    check!(
        edges_error("src,b,c,d\n1,2,3,4\n"),
        Fault::MissingColumn { .. },
        "dst"
    );
    for bad in ["-1", "NaN", "inf", "", "heavy"] {
        let table = format!("src,dst,weight\n1,2,1\n1,2,{bad}\n");
        check!(
            edges_error(&table),
            Fault::BadValue { .. },
            "edges.csv",
            "line 3",
            "`weight`"
        );
    }
    check!(edges_error(""), Fault::Empty, "edges.csv");
    let positions = error(&[
        ("nodes.csv", b"f0\n1\n2\n"),
        ("edges.csv", b"src,dst\n0,2\n"),
    ]);
    check!(positions, Fault::UnknownNode { .. }, "line 2", "`dst`");
}

#[test]
fn cells_of_sparse_features() {
    let with = |text: &[u8]| {
        error(&[
            ("nodes.csv", b"id\n1\n2\n"),
            ("edges.csv", EDGES.as_bytes()),
            ("features.csv", text),
        ])
    };
    check!(
        with(b"node,column,value\n3,0,1\n"),
        Fault::UnknownNode { .. },
        "features.csv",
        "line 2",
        "`node`"
    );
    check!(
        with(b"node,column,value\n1,-1,1\n"),
        Fault::BadValue { .. },
        "line 2",
        "`column`"
    );
    check!(
        with(b"node,column,value\n1,0,inf\n"),
        Fault::BadValue { .. },
        "line 2",
        "`value`"
    );
    check!(
        with(b"node,value\n1,0\n"),
        Fault::MissingColumn { .. },
        "features.csv",
        "column"
    );
}

#[test]
fn descriptions_that_do_not_fit() {
    let good = |nodes: u64, columns: u64, classes: &str| {
        format!(
            r#"{{"format":"treering folder","version":1,"name":"n","synthetic":null,"directed":true,
            "features":{{"kind":"dense","columns":{columns}}},"classes":{classes},"nodes":{nodes}}}"#
        )
    };
    let with = |json: &str| {
        let dir = folder(&[
            ("nodes.csv", b"id,label,f0\n1,a,0\n2,b,0\n"),
            ("edges.csv", EDGES.as_bytes()),
            ("graph.json", json.as_bytes()),
        ]);
        read(dir.path())
    };
    let graph = with(&good(2, 1, r#"["b","a","c"]"#)).expect("a graph");
    assert_eq!(graph.labels().expect("labels").raw(), [1, 0]);
    assert_eq!((graph.arcs().len(), &*graph.origin().name), (1, "n"));
    let fails = |json: &str| with(json).expect_err("an error");
    check!(
        fails(&good(2, 1, r#"["b"]"#)),
        Fault::BadValue { .. },
        "nodes.csv",
        "line 2",
        "`label`"
    );
    check!(
        fails(&good(2, 1, r#"["b","b"]"#)),
        Fault::BadValue { .. },
        "graph.json",
        "`b`"
    );
    check!(
        fails(&good(3, 1, r#"["a","b"]"#)),
        Fault::LengthMismatch {
            found: 2,
            expected: 3,
            ..
        },
        "nodes.csv"
    );
    check!(
        fails(&good(2, 4, r#"["a","b"]"#)),
        Fault::LengthMismatch {
            found: 1,
            expected: 4,
            ..
        },
        "nodes.csv"
    );
    check!(
        fails("{\n\"format\": 3}"),
        Fault::Damaged { .. },
        "graph.json",
        "line 2"
    );
    check!(
        fails(&good(2, 1, "[]").replace("dense", "sparse")),
        Fault::MissingMember { .. },
        "features.csv"
    );
    check!(
        fails(&good(2, 1, "[]").replace("\"version\":1", "\"version\":2")),
        Fault::Version { .. },
        "graph.json"
    );
    check!(
        fails(&good(2, 1, "[]").replace("treering", "other")),
        Fault::UnknownFormat { .. },
        "graph.json"
    );
}

#[test]
fn a_limit_on_memory() {
    let rows: String = (0..200_000)
        .map(|id| format!("{id},0.5,0.5,0.5\n"))
        .collect();
    let nodes = format!("id,f0,f1,f2\n{rows}");
    let dir = folder(&[
        ("nodes.csv", nodes.as_bytes()),
        ("edges.csv", EDGES.as_bytes()),
    ]);
    let context = Context::new(&Silent, 2 << 20);
    let refused = read_folder(Some(dir.path()), &ReadOptions::default(), &context);
    check!(
        refused.expect_err("an error"),
        Fault::TooLarge { .. },
        "nodes.csv"
    );
    assert!(read(dir.path()).is_ok());
}

#[test]
#[cfg(unix)]
fn a_place_that_may_not_be_read_or_written() {
    let dir = folder(&[
        ("nodes.csv", b"id,f0\n1,0\n2,0\n"),
        ("edges.csv", EDGES.as_bytes()),
    ]);
    let graph = read(dir.path()).expect("a graph");
    let context = Context::new(&Silent, 1 << 30);
    let nowhere = dir.path().join("missing");
    for table in [Table::Parquet, Table::Csv, Table::CsvGz] {
        let refused = write_folder(&graph, &nowhere, table, &context).expect_err("an error");
        check!(refused, Fault::NotFound, "missing");
    }
    use std::os::unix::fs::PermissionsExt;
    let file = dir.path().join("nodes.csv");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).expect("permissions");
    // Root may read everything.
    if fs::File::open(&file).is_err() {
        check!(
            read(dir.path()).expect_err("an error"),
            Fault::Io(_),
            "nodes.csv"
        );
    }
}
