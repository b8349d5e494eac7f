//! Valid files with bytes changed, cut or added at random: read or refused, never a panic.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use treering_data::{Context, Recipe, Silent, Table, WriteFormat, synthesize, write};
use treering_graph::Graph;

use crate::common::load;

static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    let mut recipe = Recipe::demo();
    recipe.nodes = 60;
    recipe.edges = 120;
    recipe.features = 9;
    recipe.classes = 4;
    synthesize(&recipe, &Context::with_free_memory(&Silent)).unwrap()
});

/// The bytes of each kind of file, written once.
static FILES: LazyLock<Vec<(&'static str, Vec<u8>)>> = LazyLock::new(|| {
    let place = tempfile::tempdir().unwrap();
    let context = Context::with_free_memory(&Silent);
    let save = |name: &str, format| {
        let path = place.path().join(name);
        write(&GRAPH, &path, format, false, &context).unwrap();
        path
    };
    let native = save("g.treering", WriteFormat::Native);
    let archive = save("g.npz", WriteFormat::Npz);
    let parquet = save("parquet", WriteFormat::Folder(Table::Parquet));
    let csv = save("csv", WriteFormat::Folder(Table::CsvGz));
    let text = save("text", WriteFormat::Folder(Table::Csv));
    let read = |path: &Path| std::fs::read(path).unwrap();
    vec![
        ("g.treering", read(&native)),
        ("g.npz", read(&archive)),
        ("nodes.parquet", read(&parquet.join("nodes.parquet"))),
        ("edges.parquet", read(&parquet.join("edges.parquet"))),
        ("nodes.csv.gz", read(&csv.join("nodes.csv.gz"))),
        ("edges.csv", read(&text.join("edges.csv"))),
        ("graph.json", read(&text.join("graph.json"))),
    ]
});

#[derive(Clone, Debug)]
enum Change {
    Flip(usize, u8),
    Cut(usize),
    Insert(usize, u8),
    Overwrite(usize, [u8; 8]),
}

fn change() -> impl Strategy<Value = Change> {
    let place = 0usize..1 << 20;
    prop_oneof![
        (place.clone(), 1u8..=255).prop_map(|(at, bits)| Change::Flip(at, bits)),
        place.clone().prop_map(Change::Cut),
        (place.clone(), any::<u8>()).prop_map(|(at, byte)| Change::Insert(at, byte)),
        (
            place,
            prop_oneof![Just([0xff; 8]), Just([0; 8]), any::<[u8; 8]>()]
        )
            .prop_map(|(at, b)| Change::Overwrite(at, b)),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len().max(1);
        match *change {
            Change::Flip(at, bits) => {
                if let Some(byte) = bytes.get_mut(at % length) {
                    *byte ^= bits;
                }
            }
            Change::Cut(at) => bytes.truncate(at % length),
            Change::Insert(at, byte) => bytes.insert(at % length, byte),
            Change::Overwrite(at, with) => {
                let at = at % length;
                bytes
                    .iter_mut()
                    .skip(at)
                    .zip(with)
                    .for_each(|(byte, new)| *byte = new);
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn altered_files_never_panic(which in 0usize..7, changes in proptest::collection::vec(change(), 1..4)) {
        let place = tempfile::tempdir().unwrap();
        let (name, bytes) = &FILES[which];
        let context = Context::with_free_memory(&Silent);
        let bytes = changed(bytes.clone(), &changes);
        if name.starts_with("g.") {
            let path = place.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let _ = load(&path);
        } else {
            let folder = place.path().join("folder");
            let table = if name.ends_with("parquet") { Table::Parquet } else if name.ends_with("gz") { Table::CsvGz } else { Table::Csv };
            write(&GRAPH, &folder, WriteFormat::Folder(table), false, &context).unwrap();
            std::fs::write(folder.join(name), bytes).unwrap();
            let _ = load(&folder);
        }
    }
}
