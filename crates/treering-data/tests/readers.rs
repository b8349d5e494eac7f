//! Every reader on small files of exactly the published layout, every writer by reading back.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{gz, le, load, load_with, npy, npz, ogb, reddit, small_npz, vector, with, without};
use treering_data::{
    Context, Edges, Fault, ReadOptions, Recipe, Silent, Table, WriteFormat, synthesize, write,
};
use treering_graph::{Features, Graph, Labels, NodeId, NodeNames, Role};

fn arcs_of(graph: &Graph) -> Vec<(usize, usize)> {
    graph
        .arcs()
        .iter()
        .map(|(target, source, _)| (source, target))
        .collect()
}

fn directed() -> ReadOptions {
    ReadOptions {
        edges: Edges::Directed,
        ..ReadOptions::default()
    }
}

#[test]
fn gnn_benchmark_archives() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("small.npz");
    npz(&path, &small_npz());
    let loaded = load(&path).unwrap();
    let graph = &loaded.graph;
    assert_eq!(loaded.format, "gnn-benchmark npz");
    assert_eq!(arcs_of(graph), [(1, 0), (0, 1), (2, 1), (1, 2)]);
    assert_eq!(
        graph.features().to_dense().values(),
        [1.0, 0.0, 0.0, 0.5, 3.0, 2.0, 0.0, 0.0]
    );
    // Labels 0 and 2: the gap closes, the names stay.
    assert_eq!(graph.labels().unwrap().raw(), [0, 1, 1, 0]);
    assert_eq!(graph.labels().unwrap().names(), ["0", "2"]);
    assert_eq!(graph.names(), &NodeNames::Positions(4));
    assert_eq!(graph.origin().name, "small");
    assert!(
        loaded
            .notes
            .iter()
            .any(|note| note.contains("more than once")),
        "{:?}",
        loaded.notes
    );

    let graph = load_with(&path, &directed()).unwrap().graph;
    assert_eq!(arcs_of(&graph), [(0, 1), (2, 1), (1, 2)]);
}

#[test]
fn labels_of_any_integer_type() {
    let place = tempfile::tempdir().unwrap();
    let kinds: [(&str, Vec<u8>); 8] = [
        ("|i1", le!(i8: 1, 0, 5, 1)),
        ("<i2", le!(i16: 1, 0, 5, 1)),
        ("<i4", le!(i32: 1, 0, 5, 1)),
        ("<i8", le!(i64: 1, 0, 5, 1)),
        ("|u1", le!(u8: 1, 0, 5, 1)),
        ("<u2", le!(u16: 1, 0, 5, 1)),
        ("<u4", le!(u32: 1, 0, 5, 1)),
        ("<u8", le!(u64: 1, 0, 5, 1)),
    ];
    for (descr, bytes) in kinds {
        let path = place.path().join("labels.npz");
        npz(&path, &with(small_npz(), "labels", vector(descr, 4, bytes)));
        let graph = load(&path).unwrap().graph;
        assert_eq!(graph.labels().unwrap().raw(), [1, 0, 2, 1], "{descr}");
    }
}

#[test]
fn names_dense_attributes_and_weights() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("named.npz");
    let wide = |texts: [&str; 4]| {
        let bytes: Vec<u8> = texts
            .iter()
            .flat_map(|text| text.chars().chain(std::iter::repeat('\0')).take(3))
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect();
        npy("'<U3'", "(4,)", &bytes)
    };
    let dense = npy("'<f8'", "(4, 2)", &le!(f64: 1, 2, 3, 4, 5, 6, 7, 8));
    let members = with(small_npz(), "node_names", wide(["a", "bé", "ccc", "d"]));
    let members = with(members, "class_names", npy("'|S2'", "(3,)", b"x\0y\0zz"));
    let members = with(members, "attr_matrix", dense);
    let members = with(members, "adj_data", vector("<f4", 3, le!(f32: 1, 0.5, 2)));
    npz(&path, &members);
    let graph = load(&path).unwrap().graph;
    assert_eq!(graph.names().name(NodeId(1)), "bé");
    assert_eq!(graph.labels().unwrap().names(), ["x", "y", "zz"]);
    assert_eq!(graph.features().to_dense().row(3), [7.0, 8.0]);
    assert!(matches!(graph.features(), Features::Dense(_)));
    // 0-1 has weight 1; 1 -> 2 has 0.5 and 2 -> 1 has 2: the edge takes the larger.
    assert_eq!(graph.arcs().weights().unwrap(), [1.0, 1.0, 2.0, 2.0]);
    let options = ReadOptions {
        ignore_weights: true,
        ..ReadOptions::default()
    };
    assert!(
        load_with(&path, &options)
            .unwrap()
            .graph
            .arcs()
            .weights()
            .is_none()
    );
}

#[test]
fn pickled_names_are_left_out_with_a_note() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("pickled.npz");
    npz(
        &path,
        &with(small_npz(), "class_names", npy("'|O'", "(3,)", b"\x80\x04")),
    );
    let loaded = load(&path).unwrap();
    assert!(loaded.notes.iter().any(|note| note.contains("pickled")));
    assert_eq!(loaded.graph.labels().unwrap().names(), ["0", "2"]);
}

#[test]
fn ogb_text_folders() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("ogbn_arxiv");
    ogb(&folder);
    let loaded = load(&folder).unwrap();
    let graph = &loaded.graph;
    assert_eq!(loaded.format, "OGB folder");
    assert_eq!(
        arcs_of(graph),
        [(3, 0), (0, 1), (1, 2)],
        "arxiv stays directed"
    );
    assert_eq!(
        graph.features().to_dense().values(),
        [0.5, -1.0, 1e-3, 2.0, 0.0, 0.0, -0.25, 7.0]
    );
    assert_eq!(graph.labels().unwrap().raw(), [1, 0, 1, 0]);
    assert_eq!(graph.labels().unwrap().names(), ["0", "4"]);
    assert_eq!(
        graph.split().unwrap(),
        [Role::Train, Role::Train, Role::Validation, Role::Test]
    );

    let products = place.path().join("ogbn_products");
    std::fs::rename(&folder, &products).unwrap();
    assert_eq!(
        load(&products).unwrap().graph.arcs().len(),
        6,
        "products gets mirror images"
    );
    assert_eq!(
        load_with(&products, &directed())
            .unwrap()
            .graph
            .arcs()
            .len(),
        3
    );
}

#[test]
fn ogb_split_schemes_and_missing_labels() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("arxiv");
    ogb(&folder);
    for (part, node) in [("train", 3), ("valid", 2), ("test", 1)] {
        gz(
            &folder.join(format!("split/random/{part}.csv.gz")),
            &format!("{node}\n"),
        );
    }
    let error = load(&folder).unwrap_err();
    assert!(
        matches!(*error.fault, Fault::Ambiguous { .. })
            && error.to_string().contains("--split-scheme")
    );
    let options = ReadOptions {
        split_scheme: Some("random".into()),
        ..ReadOptions::default()
    };
    gz(&folder.join("raw/node-label.csv.gz"), "4.0\nnan\n\n0\n");
    let graph = load_with(&folder, &options).unwrap().graph;
    assert_eq!(
        graph.split().unwrap(),
        [Role::None, Role::Test, Role::Validation, Role::Train]
    );
    assert_eq!(
        graph.labels().unwrap().raw(),
        [1, Labels::NONE, Labels::NONE, 0]
    );
}

#[test]
fn ogb_tables_longer_than_a_block() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("big");
    ogb(&folder);
    let nodes = 300_000usize;
    let lines =
        |line: &dyn Fn(usize) -> String| (0..nodes).map(|i| line(i) + "\n").collect::<String>();
    gz(
        &folder.join("raw/num-node-list.csv.gz"),
        &format!("{nodes}\n"),
    );
    gz(
        &folder.join("raw/num-edge-list.csv.gz"),
        &format!("{nodes}\n"),
    );
    gz(
        &folder.join("raw/edge.csv.gz"),
        &lines(&|i| format!("{i},{}", (i * 7 + 1) % nodes)),
    );
    gz(
        &folder.join("raw/node-feat.csv.gz"),
        &lines(&|i| format!("{}.5,{}", i % 10, i)),
    );
    gz(
        &folder.join("raw/node-label.csv.gz"),
        &lines(&|i| (i % 3).to_string()),
    );
    let graph = load(&folder).unwrap().graph;
    assert_eq!(graph.nodes(), nodes);
    assert!(
        graph
            .arcs()
            .iter()
            .all(|(target, source, _)| target == (source * 7 + 1) % nodes)
    );
    let features = graph.features().to_dense();
    assert!((0..nodes).all(|i| features.row(i) == [(i % 10) as f32 + 0.5, i as f32]));

    let mut text = lines(&|i| format!("{i},{i}"));
    text.push_str("1,2,3\n");
    gz(&folder.join("raw/edge.csv.gz"), &text);
    let error = load(&folder).unwrap_err().to_string();
    assert!(
        error.contains("edge.csv.gz, line 300001: 3 fields where 2"),
        "{error}"
    );
}

#[test]
fn ogb_binary_folders() {
    let place = tempfile::tempdir().unwrap();
    let raw = place.path().join("papers100M-bin/raw");
    std::fs::create_dir_all(&raw).unwrap();
    npz(
        &raw.join("data.npz"),
        &[
            (
                "edge_index",
                npy("'<i8'", "(2, 3)", &le!(i64: 0, 1, 3, 1, 2, 0)),
            ),
            (
                "node_feat",
                npy("'<f2'", "(4, 1)", &[0, 0x3c, 0, 0x40, 0, 0xbc, 0, 0]),
            ),
            ("num_nodes_list", vector("<i8", 1, le!(i64: 4))),
        ],
    );
    let labels = npy("'<f4'", "(4, 1)", &le!(f32: 7, f32::NAN, 3, f32::NAN));
    npz(&raw.join("node-label.npz"), &[("node_label", labels)]);
    let graph = load(raw.parent().unwrap()).unwrap().graph;
    assert_eq!(arcs_of(&graph), [(3, 0), (0, 1), (1, 2)]);
    assert_eq!(graph.features().to_dense().values(), [1.0, 2.0, -1.0, 0.0]);
    assert_eq!(
        graph.labels().unwrap().raw(),
        [1, Labels::NONE, 0, Labels::NONE]
    );
    assert_eq!(graph.labels().unwrap().names(), ["3", "7"]);
    assert!(graph.split().is_none());
}

#[test]
fn dgl_reddit() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("reddit");
    reddit(&folder);
    let expected = [(1, 0), (0, 1), (2, 1), (1, 2)];
    let graph = load(&folder).unwrap().graph;
    assert_eq!(arcs_of(&graph), expected);
    assert_eq!(graph.features().to_dense().row(2), [7.0, 8.0, 9.0]);
    assert_eq!(graph.labels().unwrap().raw(), [1, 0, 1, 1]);
    assert_eq!(
        graph.split().unwrap(),
        [Role::Train, Role::Train, Role::Validation, Role::Test]
    );
    // The same matrix as scipy's csr and csc; it is symmetric, so the two look alike.
    for format in [b"csr", b"csc"] {
        npz(
            &folder.join("reddit_graph.npz"),
            &[
                ("indptr", vector("<i4", 5, le!(i32: 0, 1, 3, 4, 4))),
                ("indices", vector("<i4", 4, le!(i32: 1, 0, 2, 1))),
                ("data", vector("<f4", 4, le!(f32: 1, 1, 1, 1))),
                ("shape", vector("<i8", 2, le!(i64: 4, 4))),
                ("format", npy("'|S3'", "()", format)),
            ],
        );
        assert_eq!(arcs_of(&load(&folder).unwrap().graph), expected);
    }
}

/// Graphs with every combination of what a graph may have.
fn varied() -> Vec<Graph> {
    let context = Context::with_free_memory(&Silent);
    let place = tempfile::tempdir().unwrap();
    let mut graphs = vec![synthesize(&Recipe::demo(), &context).unwrap()];
    let mut recipe = Recipe::preset("arxiv-like").unwrap().scaled(0.005).unwrap();
    recipe.features = 7;
    graphs.push(synthesize(&recipe, &context).unwrap());
    let path = place.path().join("weighted.npz");
    let weighted = with(
        small_npz(),
        "adj_data",
        vector("<f4", 3, le!(f32: 1, 0.5, 2)),
    );
    let named = with(
        weighted,
        "node_names",
        vector("<i8", 4, le!(i64: 9, -7, 8, 1)),
    );
    npz(
        &path,
        &with(named, "split", vector("|u1", 4, le!(u8: 0, 1, 2, 3))),
    );
    graphs.push(load(&path).unwrap().graph);
    graphs.push(load_with(&path, &directed()).unwrap().graph);
    let texts = npy("'|S4'", "(4,)", b"a,b\0\"q\"\0\xc3\xbc\0\0 z\0\0");
    npz(
        &path,
        &without(with(small_npz(), "node_names", texts), "labels"),
    );
    graphs.push(load(&path).unwrap().graph);
    graphs
}

#[test]
fn every_writer_is_read_back_equal() {
    let place = tempfile::tempdir().unwrap();
    let context = Context::with_free_memory(&Silent);
    let formats = [
        (WriteFormat::Native, "g.treering"),
        (WriteFormat::Npz, "g.npz"),
        (WriteFormat::Folder(Table::Parquet), "parquet"),
        (WriteFormat::Folder(Table::Csv), "csv"),
        (WriteFormat::Folder(Table::CsvGz), "gz"),
    ];
    for graph in varied() {
        for (format, name) in formats {
            let path = place.path().join(name);
            write(&graph, &path, format, true, &context).unwrap();
            let back = load(&path).unwrap().graph;
            assert!(back == graph, "{} through {name}", graph.origin().name);
            assert_eq!(back.origin().synthetic, graph.origin().synthetic);
        }
    }
}

#[test]
fn equal_graphs_give_equal_native_files() {
    let place = tempfile::tempdir().unwrap();
    let context = Context::with_free_memory(&Silent);
    let bytes = |name: &str| {
        let path = place.path().join(name);
        let graph = synthesize(&Recipe::demo(), &context).unwrap();
        write(
            &graph,
            &path,
            WriteFormat::from_path(&path),
            false,
            &context,
        )
        .unwrap();
        std::fs::read(path).unwrap()
    };
    assert!(bytes("a.treering") == bytes("b.treering"));
    assert!(bytes("a.npz") == bytes("b.npz"));
}

#[test]
fn nothing_is_overwritten_unasked_and_nothing_half_written_stays() {
    let place = tempfile::tempdir().unwrap();
    let context = Context::with_free_memory(&Silent);
    let graph = synthesize(&Recipe::demo(), &context).unwrap();
    let path = place.path().join("g.treering");
    write(&graph, &path, WriteFormat::Native, false, &context).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = write(&graph, &path, WriteFormat::Npz, false, &context).unwrap_err();
    assert!(matches!(*error.fault, Fault::Exists));
    assert!(std::fs::read(&path).unwrap() == before);

    // A folder with anything of somebody else's in it is not replaced, even when forced.
    let folder = place.path().join("mine");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("thesis.tex"), "precious").unwrap();
    let error = write(
        &graph,
        &folder,
        WriteFormat::Folder(Table::Csv),
        true,
        &context,
    )
    .unwrap_err();
    assert!(matches!(*error.fault, Fault::NotOurs));
    assert!(folder.join("thesis.tex").exists());

    // npz cannot hold a missing label: refused, and the file that was there stays.
    let classes = vec![Labels::NONE; graph.nodes()];
    let unlabelled = graph
        .with_labels(Labels::new(classes.into(), vec!["a".into()]).unwrap())
        .unwrap();
    let error = write(&unlabelled, &path, WriteFormat::Npz, true, &context).unwrap_err();
    assert!(matches!(*error.fault, Fault::CannotHold { .. }), "{error}");
    assert!(std::fs::read(&path).unwrap() == before);
    let names: Vec<_> = std::fs::read_dir(place.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 2, "only the file and the folder: {names:?}");
}

#[test]
fn a_class_called_nan_survives_every_layout() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("nan.npz");
    npz(
        &path,
        &with(
            small_npz(),
            "class_names",
            npy("'|S3'", "(3,)", b"nanb\0\0a\0\0"),
        ),
    );
    let graph = load(&path).unwrap().graph;
    let context = Context::with_free_memory(&Silent);
    for (table, name) in [
        (Table::Csv, "csv"),
        (Table::CsvGz, "gz"),
        (Table::Parquet, "parquet"),
    ] {
        let folder = place.path().join(name);
        write(&graph, &folder, WriteFormat::Folder(table), false, &context).unwrap();
        assert!(load(&folder).unwrap().graph == graph, "{name}");
    }
}

#[test]
fn ogb_labels_that_pandas_left_empty() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("arxiv");
    ogb(&folder);
    gz(
        &folder.join("raw/node-label.csv.gz"),
        "4.0\n\"\"\n0.0\n\"\"\n",
    );
    let graph = load(&folder).unwrap().graph;
    assert_eq!(
        graph.labels().unwrap().raw(),
        [1, Labels::NONE, 0, Labels::NONE]
    );
}
