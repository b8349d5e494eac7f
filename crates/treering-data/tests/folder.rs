//! The folder form: what is written comes back, and what a person writes by hand is understood.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use treering_data::{
    Context, Edges, Loaded, ReadOptions, Silent, Table, is_folder, read_folder, write_folder,
};
use treering_graph::{
    Arcs, Dense, Direction, Features, Graph, Labels, NodeId, NodeNames, Origin, Parts, Role,
    Sparse, build_arcs,
};

const TABLES: [Table; 3] = [Table::Parquet, Table::Csv, Table::CsvGz];

fn context() -> Context<'static> {
    Context::new(&Silent, 1 << 30)
}

fn read(dir: &Path) -> Loaded {
    read_with(dir, &ReadOptions::default())
}

fn read_with(dir: &Path, options: &ReadOptions) -> Loaded {
    read_folder(Some(dir), options, &context()).expect("a graph")
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().expect("a folder");
    for (name, text) in files {
        fs::write(dir.path().join(name), text).expect("a file");
    }
    dir
}

fn arcs(directed: bool, weighted: bool) -> Arcs {
    let direction = match directed {
        true => Direction::Directed,
        false => Direction::Undirected,
    };
    let weights = [0.1f32, 2.5, 1e-30, 1.0, 3.0];
    let (sources, targets) = ([0, 1, 3, 2, 4], [1, 2, 0, 2, 0]);
    let weights = weighted.then_some(&weights[..]);
    build_arcs(5, &sources, &targets, weights, direction)
        .expect("arcs")
        .0
}

fn features(sparse: bool) -> Features {
    let values = [0.1f32, -7.25e-12, 1.0, 3.4e38, 1.0 / 3.0];
    if sparse {
        let sparse = Sparse::new(
            9,
            vec![0, 2, 2, 3, 5, 5].into(),
            vec![0, 4, 7, 1, 2].into(),
            values.to_vec().into(),
        );
        return Features::Sparse(sparse.expect("features"));
    }
    let rows: Vec<f32> = values.iter().flat_map(|&v| [v, v / 3.0, 1.0]).collect();
    Features::Dense(Dense::new(5, 3, rows.into()).expect("features"))
}

fn names(kind: usize) -> NodeNames {
    match kind {
        0 => NodeNames::Positions(5),
        1 => NodeNames::Integers(vec![7, -3, i64::MAX, 0, 12].into()),
        _ => NodeNames::Texts(
            ["a", "007", " b, \"c\"", "line\r\nend", "ü\rx"]
                .map(str::to_owned)
                .to_vec(),
        ),
    }
}

fn all_graphs() -> impl Iterator<Item = Graph> {
    let bit = |case: usize, at: usize| case >> at & 1 == 1;
    (0..32 * 3).map(move |case| {
        let (kind, case) = (case % 3, case / 3);
        let classes = ["zebra", "10", " 9", "never"].map(str::to_owned).to_vec();
        let labels = Labels::new(vec![1, 0, Labels::NONE, 2, 1].into(), classes);
        let split = vec![
            Role::Train,
            Role::None,
            Role::Test,
            Role::Validation,
            Role::Test,
        ];
        Graph::new(Parts {
            arcs: arcs(bit(case, 0), bit(case, 1)),
            features: features(bit(case, 2)),
            labels: bit(case, 3).then(|| labels.expect("labels")),
            names: names(kind),
            split: bit(case, 4).then(|| split.into()),
            origin: Origin {
                name: "a test".into(),
                synthetic: bit(case, 0).then(|| "recipe 7".into()),
            },
        })
        .expect("a graph")
    })
}

#[test]
fn what_is_written_comes_back() {
    for graph in all_graphs() {
        for table in TABLES {
            let dir = folder(&[]);
            assert!(!is_folder(dir.path()));
            write_folder(&graph, dir.path(), table, &context()).expect("written");
            assert!(is_folder(dir.path()));
            let loaded = read(dir.path());
            assert_eq!(loaded.graph, graph, "{table:?} {:?}", loaded.notes);
            assert_eq!(loaded.format, "folder");
        }
    }
}

#[test]
fn no_edges_and_no_features_come_back() {
    for sparse in [false, true] {
        let features = match sparse {
            true => Features::Sparse(
                Sparse::new(
                    4,
                    vec![0, 0, 0].into(),
                    Vec::new().into(),
                    Vec::new().into(),
                )
                .expect("features"),
            ),
            false => Features::Dense(Dense::new(2, 0, Vec::new().into()).expect("features")),
        };
        let graph = Graph::new(Parts {
            arcs: Arcs::none(2),
            features,
            labels: Some(Labels::new(vec![Labels::NONE; 2].into(), Vec::new()).expect("labels")),
            names: NodeNames::Positions(2),
            split: None,
            origin: Origin::default(),
        })
        .expect("a graph");
        for table in TABLES {
            let dir = folder(&[]);
            write_folder(&graph, dir.path(), table, &context()).expect("written");
            assert_eq!(read(dir.path()).graph, graph);
        }
    }
}

#[test]
fn many_rows_come_back() {
    let nodes = 70_000;
    let sources: Vec<u32> = (0..nodes).collect();
    let targets: Vec<u32> = (0..nodes).map(|node| (node * 7 + 1) % nodes).collect();
    let values: Vec<f32> = (0..nodes * 2).map(|at| at as f32 / 7.0).collect();
    let built = build_arcs(
        nodes as usize,
        &sources,
        &targets,
        None,
        Direction::Directed,
    );
    let graph = Graph::new(Parts {
        arcs: built.expect("arcs").0,
        features: Features::Dense(Dense::new(nodes as usize, 2, values.into()).expect("features")),
        labels: None,
        names: NodeNames::Integers((0..i64::from(nodes)).rev().collect::<Vec<_>>().into()),
        split: None,
        origin: Origin::default(),
    })
    .expect("a graph");
    for table in TABLES {
        let dir = folder(&[]);
        write_folder(&graph, dir.path(), table, &context()).expect("written");
        assert!(read(dir.path()).graph == graph);
    }
}

#[test]
fn a_folder_made_by_hand() {
    let dir = folder(&[
        (
            "nodes.csv",
            "\u{feff}Name,Topic,Role,age,comment,height\r\n\
             ann, x ,train,30,\"hi, there\",1.5\r\n\
             bob,,dev,40,,1.75\r\n\
             \r\n\
             cy,a,,50,none,2\r\n",
        ),
        (
            "edges.csv",
            "From,To,W,since\nann,bob,2,1999\nbob,ann,0.5,2000\ncy,cy,1,2001\n",
        ),
    ]);
    let loaded = read(dir.path());
    let graph = &loaded.graph;
    assert_eq!(
        *graph.names(),
        NodeNames::Texts(["ann", "bob", "cy"].map(str::to_owned).to_vec())
    );
    let labels = graph.labels().expect("labels");
    assert_eq!(labels.names(), ["a", "x"]);
    assert_eq!(labels.raw(), [1, Labels::NONE, 0]);
    assert_eq!(
        graph.split(),
        Some(&[Role::Train, Role::Validation, Role::None][..])
    );
    assert_eq!(
        graph.features().to_dense().values(),
        [30.0, 1.5, 40.0, 1.75, 50.0, 2.0]
    );
    assert_eq!(graph.arcs().sources_of(NodeId(2)), [2]);
    assert_eq!(graph.arcs().weights(), Some(&[2.0, 2.0, 1.0][..]));
    let folder_name = dir.path().file_name().expect("a name").to_string_lossy();
    assert_eq!(graph.origin().name, folder_name);
    let notes = loaded.notes.join("\n");
    for part in [
        "`comment`",
        "`since`",
        "1 edges were given more than once",
        "1 mirror images",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
}

#[test]
fn positions_and_columns_in_order() {
    let dir = folder(&[
        ("nodes.csv", "y,b,a\n10,1,2\n9.0,3,4\nnan,5,6\n"),
        ("edges.csv", "one,two,three\n0,2,1\n2,1,0\n"),
    ]);
    let loaded = read(dir.path());
    assert_eq!(*loaded.graph.names(), NodeNames::Positions(3));
    let labels = loaded.graph.labels().expect("labels");
    assert_eq!(
        (labels.names(), labels.raw()),
        (
            &["9".to_owned(), "10".to_owned()][..],
            &[1, 0, Labels::NONE][..]
        )
    );
    assert_eq!(loaded.graph.arcs().len(), 2);
    let notes = loaded.notes.join("\n");
    assert!(
        notes.contains("`one`, `two`, `three`") && notes.contains("weight 0"),
        "{notes}"
    );

    let options = ReadOptions {
        edges: Edges::Directed,
        ignore_weights: true,
        ..Default::default()
    };
    let loaded = read_with(dir.path(), &options);
    assert_eq!(loaded.graph.arcs().len(), 2);
    assert!(loaded.graph.arcs().weights().is_none() && !loaded.graph.arcs().is_symmetric());
}

#[test]
fn lists_and_triplets_made_by_hand() {
    let edges = ("edges.csv", "u,v\n5,6\n");
    for cells in ["\"[0.5, 2]\",\"[1, -1e3]\"", "0.5 2,1 -1e3", "0.5;2,1;-1e3"] {
        let (first, second) = match cells.split_once("\",\"") {
            Some((a, b)) => (format!("{a}\""), format!("\"{b}")),
            None => cells
                .split_once(',')
                .map(|(a, b)| (a.into(), b.into()))
                .expect("two"),
        };
        let nodes = format!("id,Embedding,n\n5,{first},1\n6,{second},1\n");
        let loaded = read(folder(&[("nodes.csv", &nodes), edges]).path());
        assert_eq!(
            loaded.graph.features().to_dense().values(),
            [0.5, 2.0, 1.0, -1000.0]
        );
        assert!(loaded.notes.iter().any(|note| note.contains("`n`")));
    }
    let dir = folder(&[
        ("nodes.csv", "id\n5\n6\n"),
        edges,
        (
            "features.csv",
            "node,column,value\n6,3,0.5\n5,1,1\n6,0,2\n6,3,1\n",
        ),
    ]);
    let loaded = read(dir.path());
    let Features::Sparse(sparse) = loaded.graph.features() else {
        unreachable!("sparse features")
    };
    assert_eq!(sparse.columns(), 4);
    assert_eq!(sparse.row(1), (&[0u32, 3][..], &[2.0f32, 1.5][..]));
}

#[test]
fn columns_that_the_caller_names() {
    let dir = folder(&[
        (
            "people.csv",
            ",who,id,kind,f,g,label\n0,a,1,p,1,2,3\n1,b,2,q,3,4,5\n",
        ),
        ("links.csv", "x,y,z,k\n9,a,b,2\n"),
    ]);
    let mut options = ReadOptions {
        nodes_file: Some(dir.path().join("people.csv")),
        edges_file: Some(dir.path().join("links.csv")),
        ..Default::default()
    };
    options.columns.id = Some("WHO".into());
    options.columns.label = Some("kind".into());
    options.columns.features = Some(vec!["g".into(), "f".into()]);
    options.columns.source = Some("y".into());
    options.columns.target = Some("z".into());
    options.columns.weight = Some("k".into());
    let loaded = read_folder(None, &options, &context()).expect("a graph");
    assert_eq!(
        loaded.graph.features().to_dense().values(),
        [2.0, 1.0, 4.0, 3.0]
    );
    assert_eq!(loaded.graph.labels().expect("labels").names(), ["p", "q"]);
    assert_eq!(loaded.graph.arcs().weights(), Some(&[2.0, 2.0][..]));
    assert_eq!(loaded.graph.origin().name, "people");

    // Neither a second label nor the count of rows that pandas writes becomes a feature by itself.
    options.columns.features = None;
    let loaded = read_folder(None, &options, &context()).expect("a graph");
    assert_eq!(
        loaded.graph.features().to_dense().values(),
        [1.0, 2.0, 3.0, 4.0]
    );
    assert!(
        loaded
            .notes
            .iter()
            .any(|note| note.contains("`label`") && note.contains("``"))
    );
}

#[test]
fn names_that_a_table_cannot_hold_are_refused() {
    let graph = |name: &str, class: &str| {
        Graph::new(Parts {
            arcs: Arcs::none(2),
            features: Features::Dense(Dense::new(2, 0, Vec::new().into()).expect("features")),
            labels: Some(
                Labels::new(vec![0, 1].into(), vec![class.into(), "b".into()]).expect("labels"),
            ),
            names: NodeNames::Texts(vec![name.into(), "y".into()]),
            split: None,
            origin: Origin::default(),
        })
        .expect("a graph")
    };
    for (name, class) in [("", "a"), ("y", "a"), ("x", ""), ("x", "b")] {
        let dir = folder(&[]);
        assert!(write_folder(&graph(name, class), dir.path(), Table::Csv, &context()).is_err());
    }
    let dir = folder(&[]);
    write_folder(&graph("x", "a"), dir.path(), Table::Csv, &context()).expect("written");
}
