//! The real graphs in the folder that TREERING_DATA names, against their published figures; skipped, and said so, where it is not set.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use treering_data::{
    Context, ReadOptions, Silent, Stats, Stream, StreamOptions, WriteFormat, read, write,
};
use treering_graph::Graph;

/// name, nodes, undirected edges, feature columns, non-zero features, classes, two-class tasks, smallest class, isolated nodes.
type Figures = (
    &'static str,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
);

const FIGURES: [Figures; 6] = [
    (
        "cora_topics70",
        11_694,
        30_583,
        9_472,
        80_864,
        70,
        35,
        9,
        650,
    ),
    (
        "coauthor_cs",
        18_333,
        81_894,
        6_805,
        1_092_079,
        15,
        7,
        118,
        0,
    ),
    (
        "amazon_computers",
        13_752,
        245_861,
        767,
        3_675_081,
        10,
        5,
        291,
        281,
    ),
    (
        "amazon_clothing20",
        9_360,
        29_077,
        9_034,
        301_863,
        20,
        10,
        104,
        802,
    ),
    ("cora", 2_708, 5_278, 1_433, 49_216, 7, 3, 180, 0),
    ("citeseer", 3_312, 4_536, 3_703, 105_165, 6, 3, 249, 48),
];

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("TREERING_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: TREERING_DATA does not name a folder with real graphs");
    }
    folder
}

fn load(path: &Path) -> Graph {
    let context = Context::with_free_memory(&Silent);
    read(path, &ReadOptions::default(), &context)
        .unwrap_or_else(|error| panic!("{error}"))
        .graph
}

#[test]
fn real_graphs_have_their_published_figures() {
    let Some(folder) = folder() else { return };
    for (name, nodes, edges, columns, non_zero, classes, tasks, smallest, isolated) in FIGURES {
        let graph = load(&folder.join(format!("{name}.npz")));
        let stats = Stats::of(&graph);
        let found = (
            stats.nodes,
            stats.undirected_edges,
            stats.features,
            stats.features_non_zero,
            stats.classes.len(),
            stats.classes.iter().map(|class| class.nodes).min(),
            stats.isolated,
        );
        let expected = (
            nodes,
            Some(edges),
            columns,
            non_zero,
            classes,
            Some(smallest),
            isolated,
        );
        assert_eq!(found, expected, "{name}");
        let stream = Stream::plan(&graph, &StreamOptions::default()).unwrap();
        assert_eq!(stream.tasks.len(), tasks, "{name}");
        assert!(stats.synthetic.is_none());
    }
}

#[test]
fn real_graphs_come_back_equal_from_every_layout() {
    let Some(folder) = folder() else { return };
    let place = tempfile::tempdir().unwrap();
    let context = Context::with_free_memory(&Silent);
    for (name, ..) in FIGURES {
        let graph = load(&folder.join(format!("{name}.npz")));
        for (ending, format) in [
            (".treering", WriteFormat::Native),
            (".npz", WriteFormat::Npz),
        ] {
            let path = place.path().join(format!("{name}{ending}"));
            write(&graph, &path, format, false, &context).unwrap();
            assert!(load(&path) == graph, "{name}{ending}");
        }
        let path = place.path().join(name);
        write(
            &graph,
            &path,
            WriteFormat::from_path(&path),
            false,
            &context,
        )
        .unwrap();
        assert!(load(&path) == graph, "{name} as a folder");
    }
}
