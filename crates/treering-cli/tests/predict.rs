//! Predictions through the real binary: formats, groups, nodes without a label.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{TINY, learn, place, refused, synth, text, works};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn predictions_in_every_format() {
    let place = place();
    synth(&place, "g.treering");
    learn(&place, "m", "0,1", &[]);
    let alone = works(&place, &["predict", "m", "g.treering", "--only", "3"]);
    assert!(
        alone.trim_end().ends_with(','),
        "no margin with one task: {alone}"
    );
    learn(&place, "m", "2,3", &[]);
    let csv = works(&place, &["predict", "m", "g.treering"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "node,class,probability,task,margin,confidence");
    assert_eq!(lines.len(), 181);
    works(&place, &["predict", "m", "g.treering", "-o", "p.csv"]);
    assert_eq!(fs::read_to_string(place.path().join("p.csv")).unwrap(), csv);
    refused(
        &place,
        &["predict", "m", "g.treering", "-o", "p.csv"],
        &["p.csv", "--force"],
    );
    works(
        &place,
        &["predict", "m", "g.treering", "-o", "p.csv", "--force"],
    );
    works(&place, &["predict", "m", "g.treering", "-o", "p.jsonl"]);
    let jsonl = fs::read_to_string(place.path().join("p.jsonl")).unwrap();
    for (line, row) in jsonl.lines().zip(&lines[1..]) {
        let line = json(line);
        let words: Vec<&str> = row.split(',').collect();
        assert_eq!(line["class"], words[1]);
        assert_eq!(line["task"], words[3]);
        assert!(
            (line["probability"].as_f64().unwrap() - words[2].parse::<f64>().unwrap()).abs() < 1e-6
        );
    }
    works(&place, &["predict", "m", "g.treering", "-o", "p.parquet"]);
    let parquet = fs::File::open(place.path().join("p.parquet")).unwrap();
    let table = SerializedFileReader::new(parquet).unwrap();
    let mut rows = lines[1..].iter();
    for row in table.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let words: Vec<&str> = rows.next().unwrap().split(',').collect();
        assert_eq!(row.get_string(0).unwrap(), words[0]);
        assert_eq!(row.get_string(1).unwrap(), words[1]);
        assert_eq!(row.get_float(2).unwrap(), words[2].parse::<f32>().unwrap());
        assert_eq!(row.get_string(3).unwrap(), words[3]);
        assert_eq!(row.get_double(4).unwrap(), words[4].parse::<f64>().unwrap());
    }
    assert!(rows.next().is_none());
    refused(
        &place,
        &["predict", "m", "g.treering", "--format", "parquet"],
        &["-o"],
    );
    refused(
        &place,
        &["predict", "m", "g.treering", "-o", "p.txt"],
        &[".csv", "--format"],
    );

    let top = works(
        &place,
        &["predict", "m", "g.treering", "--only", "7,3", "--top", "2"],
    );
    let lines: Vec<&str> = top.lines().collect();
    assert_eq!(
        lines[0],
        "node,rank,class,probability,task,margin,confidence"
    );
    assert!(
        lines[1].starts_with("7,1,")
            && lines[2].starts_with("7,2,")
            && lines[3].starts_with("3,1,")
    );
    fs::write(place.path().join("ids.txt"), "7\n3\n\n").unwrap();
    assert_eq!(
        works(
            &place,
            &[
                "predict",
                "m",
                "g.treering",
                "--only",
                "ids.txt",
                "--top",
                "2"
            ]
        ),
        top
    );
    refused(
        &place,
        &["predict", "m", "g.treering", "--only", "7,nobody"],
        &["nobody"],
    );
}

#[test]
fn groups_are_answered_as_one() {
    let place = place();
    learn(&place, "m", "0,1", &[]);
    learn(&place, "m", "2,3", &[]);
    let task_of = |arguments: &[&str]| -> Vec<String> {
        let mut all = vec!["predict", "m", "demo", "--scale", "0.1"];
        all.extend(arguments);
        let csv = works(&place, &all);
        csv.lines()
            .skip(1)
            .map(|line| line.split(',').nth(3).unwrap().to_owned())
            .collect()
    };
    let all = task_of(&["--groups", "all"]);
    assert!(all.iter().all(|task| *task == all[0]));
    let single = task_of(&["--groups", "single"]);
    assert!(single.iter().any(|task| *task != single[0]));
    assert_eq!(single, task_of(&[]));
    let rows: String = (0..180)
        .map(|node| format!("{node},g{}\n", node % 3))
        .collect();
    fs::write(place.path().join("g.csv"), format!("node,group\n{rows}")).unwrap();
    let given = task_of(&["--groups", "g.csv"]);
    assert!((0..180).all(|node| given[node] == given[node % 3]));
    // A group of its own for every node is the same as no group.
    let rows: String = (0..180).map(|node| format!("{node},{node}\n")).collect();
    fs::write(place.path().join("own.csv"), format!("node,group\n{rows}")).unwrap();
    assert_eq!(task_of(&["--groups", "own.csv"]), single);

    // A group is recognised as a whole, whichever of its nodes are printed.
    assert_eq!(
        task_of(&["--groups", "all", "--only", "179"]),
        [all[0].clone()]
    );
    assert_eq!(
        task_of(&["--groups", "g.csv", "--only", "5,4"]),
        [given[5].clone(), given[4].clone()]
    );
    fs::write(place.path().join("nobody.txt"), "\n").unwrap();
    assert!(task_of(&["--only", "nobody.txt"]).is_empty());
    assert!(task_of(&["--only", "nobody.txt", "--groups", "all"]).is_empty());

    let ask = |file: &str, content: &str, words: &[&str]| {
        fs::write(place.path().join(file), content).unwrap();
        refused(
            &place,
            &["predict", "m", "demo", "--scale", "0.1", "--groups", file],
            words,
        );
    };
    ask(
        "a.csv",
        "id,set\n1,2\n",
        &["a.csv", "id,set", "node and group"],
    );
    ask("b.csv", "node,group\n9999,1\n", &["b.csv, line 2", "9999"]);
    ask(
        "c.csv",
        "node,group\n1,1\n",
        &["c.csv", "has no group", "--only"],
    );
    ask("d.csv", "node,group\n1,1,5\n", &["d.csv"]);
    ask(
        "e.csv",
        "node,group\n1,a\n1,b\n",
        &["e.csv, line 3", "node `1`", "one group"],
    );
    refused(
        &place,
        &[
            "predict", "m", "demo", "--scale", "0.1", "--groups", "label",
        ],
        &["label", "CSV"],
    );
}

#[test]
fn unlabelled_nodes_stay_and_labels_are_not_needed_to_predict() {
    let place = place();
    fs::create_dir(place.path().join("d")).unwrap();
    let node = |id: usize, label: &str| format!("{id},{label},{},{}\n", id % 2, id % 3);
    let nodes: String = (0..12)
        .map(|id| node(id, ["a", "b", "", "c"][id % 4]))
        .collect();
    fs::write(
        place.path().join("d/nodes.csv"),
        format!("id,label,p,q\n{nodes}"),
    )
    .unwrap();
    let edges: String = (0..11).map(|id| format!("{id},{}\n", id + 1)).collect();
    fs::write(
        place.path().join("d/edges.csv"),
        format!("src,dst\n{edges}"),
    )
    .unwrap();
    let mut learn = vec!["learn", "m", "d", "--classes", "a,b", "--json"];
    learn.extend(&TINY[2..]);
    let learned = json(&works(&place, &learn));
    assert_eq!(
        learned[0]["facts"]["nodes"], 9,
        "a, b and those without a label"
    );
    assert_eq!(
        learned[0]["facts"]["train"],
        serde_json::json!({"a": 3, "b": 3})
    );
    let bare: String = (0..12)
        .map(|id| format!("{id},{},{}\n", id % 2, id % 3))
        .collect();
    fs::create_dir(place.path().join("bare")).unwrap();
    fs::write(
        place.path().join("bare/nodes.csv"),
        format!("id,p,q\n{bare}"),
    )
    .unwrap();
    fs::copy(
        place.path().join("d/edges.csv"),
        place.path().join("bare/edges.csv"),
    )
    .unwrap();
    assert_eq!(
        works(&place, &["predict", "m", "d"]),
        works(&place, &["predict", "m", "bare"])
    );
    refused(&place, &["learn", "m", "bare"], &["no labelled node"]);
}

#[test]
fn predictions_may_be_cut_off_by_their_reader() {
    use std::io::Read;
    let place = place();
    learn(&place, "m", "0,1", &[]);
    let mut child = common::command(place.path(), &["predict", "m", "demo"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 10]).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}
