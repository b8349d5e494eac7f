//! Models of the learner `treering`, the default one, through the real binary.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{files, learn, place, refused, treering, works};
use serde_json::Value;
use tempfile::TempDir;

const DATA: [&str; 3] = ["demo", "--scale", "0.2"];

/// Learns classes of the demo with the default learner.
fn ours(place: &TempDir, model: &str, classes: &str, more: &[&str]) -> String {
    let head = ["learn", model, DATA[0], DATA[1], DATA[2], "--classes"];
    works(place, &[&head[..], &[classes], more].concat())
}

fn predict(place: &TempDir, model: &str, more: &[&str]) -> String {
    let head = ["predict", model, DATA[0], DATA[1], DATA[2]];
    works(place, &[&head[..], more].concat())
}

fn rings(folder: &Path) -> Vec<Vec<u8>> {
    let all: BTreeMap<_, _> = files(folder);
    let rings = all
        .into_iter()
        .filter(|(name, _)| name.starts_with("rings"));
    rings.map(|(_, bytes)| bytes).collect()
}

/// The cells of a CSV text, without its header.
fn cells(csv: &str) -> Vec<Vec<String>> {
    let lines = csv.lines().skip(1);
    lines
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

#[test]
fn it_is_the_default_has_no_backbone_and_keeps_every_earlier_byte() {
    let place = place();
    let mut before: Vec<Vec<u8>> = Vec::new();
    for classes in ["0,1", "2,3,4", "5"] {
        ours(&place, "m", classes, &[]);
        let now = rings(&place.path().join("m"));
        assert_eq!(now[..before.len()], before);
        before = now;
    }
    assert_eq!(before.len(), 3);
    assert!(!place.path().join("m/backbone.safetensors").exists());
    let shown: Value = serde_json::from_str(&works(&place, &["inspect", "m", "--json"])).unwrap();
    assert_eq!(shown["learner"], "treering");
    assert_eq!(shown["backbone"], Value::Null);
    assert_eq!(shown["parameters"]["router"], "ridge");
    assert_eq!(shown["distances"].as_array().unwrap().len(), 3);
    let shown = works(&place, &["inspect", "m"]);
    assert!(
        shown.contains("the defaults") && !shown.contains("backbone"),
        "{shown}"
    );
    assert!(works(&place, &["verify", "m"]).contains("treering with 3 rings"));
    works(&place, &["export", "m", "-o", "m.safetensors"]);
    let mut threads = ["learn", "t", DATA[0], DATA[1], DATA[2], "--classes", "0,1"].to_vec();
    threads.extend(["--threads", "5"]);
    works(&place, &threads);
    assert_eq!(rings(&place.path().join("t"))[0], before[0]);
}

#[test]
fn what_forgot_a_task_answers_like_what_never_saw_it() {
    let place = place();
    for classes in ["0,1", "2,3", "4,5"] {
        ours(&place, "all", classes, &["--name", classes]);
    }
    for classes in ["0,1", "4,5"] {
        ours(&place, "never", classes, &["--name", classes]);
    }
    let told = works(&place, &["forget", "all", "2,3"]);
    assert!(told.contains("as if it had never seen"), "{told}");
    assert_eq!(
        rings(&place.path().join("all")),
        rings(&place.path().join("never"))
    );
    for more in [&[][..], &["--posterior"], &["--reject", "0.1"]] {
        assert_eq!(predict(&place, "all", more), predict(&place, "never", more));
    }
}

#[test]
fn models_learned_apart_are_merged() {
    let place = place();
    ours(&place, "one", "0,1", &["--name", "a"]);
    ours(&place, "one", "2,3", &["--name", "b"]);
    ours(&place, "a", "0,1", &["--name", "a"]);
    ours(&place, "b", "2,3", &["--name", "b"]);
    works(&place, &["merge", "both", "a", "b"]);
    assert_eq!(
        rings(&place.path().join("both")),
        rings(&place.path().join("one"))
    );
    ours(&place, "seed", "4,5", &["--seed", "1", "--name", "c"]);
    refused(
        &place,
        &["merge", "x", "a", "seed"],
        &["seed", "same parameters"],
    );
    learn(&place, "tpp", "4,5", &["--name", "c"]);
    refused(&place, &["merge", "x", "a", "tpp"], &["learner", "tpp"]);
}

#[test]
fn parameters_belong_to_a_learner() {
    let place = place();
    let begin = ["learn", "m", "demo", "--scale", "0.1", "--classes", "0,1"];
    let with = |more: &[&'static str]| [&begin[..], more].concat();
    refused(
        &place,
        &with(&["--tokens", "5"]),
        &["only tpp has", "--learner tpp"],
    );
    let both = ["--learner", "tpp", "--rank", "5"];
    refused(&place, &with(&both), &["only treering has"]);
    refused(&place, &with(&["--width", "0"]), &["width"]);
    refused(&place, &with(&["--learner", "ewc"]), &["treering", "tpp"]);
    let narrow = ["--width", "8", "--rank", "3", "--router", "evidence"];
    works(&place, &with(&narrow));
    let other = ["learn", "m", "demo", "--scale", "0.1", "--classes", "2,3"];
    let again = |more: &[&'static str]| [&other[..], more].concat();
    refused(&place, &again(&["--rank", "4"]), &["rank 3", "ask for 4"]);
    refused(
        &place,
        &again(&["--learner", "tpp"]),
        &["is treering", "asks for tpp"],
    );
    works(&place, &again(&["--rank", "3", "--learner", "treering"]));
    let shown = works(&place, &["inspect", "m"]);
    assert!(shown.contains("router evidence"), "{shown}");
}

#[test]
fn probabilities_of_tasks_add_up_and_give_the_confidence() {
    let place = place();
    ours(&place, "m", "0,1", &[]);
    ours(&place, "m", "2,3", &[]);
    let some = ["--only", "0,5,9"];
    let tasks = cells(&predict(
        &place,
        "m",
        &[&some[..], &["--posterior"]].concat(),
    ));
    assert_eq!(tasks.len(), 6);
    let answers = cells(&predict(&place, "m", &some));
    let number = |text: &str| text.parse::<f64>().unwrap();
    for (both, answer) in tasks.chunks(2).zip(&answers) {
        let shares = [number(&both[0][2]), number(&both[1][2])];
        assert!((shares[0] + shares[1] - 1.0).abs() < 1e-6);
        let own = both.iter().find(|task| task[1] == answer[3]).unwrap();
        let confidence = number(&own[2]) * number(&answer[2]);
        assert!((confidence - number(&answer[5])).abs() < 1e-6);
        let lead = (shares[0] - shares[1]).abs();
        assert!(
            (lead - number(&answer[4])).abs() < 1e-6,
            "{lead} {answer:?}"
        );
    }
    let prototypes = ["--router", "prototype"];
    for flag in [&["--posterior"][..], &["--reject", "0.1"]] {
        let call = [&["predict", "m"][..], &DATA, &prototypes, flag].concat();
        refused(&place, &call, &[flag[0], "--router ridge"]);
    }
    let nearest = predict(&place, "m", &[&some[..], &prototypes].concat());
    assert!(
        cells(&nearest).iter().all(|row| row[5].is_empty()),
        "{nearest}"
    );
    let patched = [&["predict", "m"][..], &DATA, &["--paper-patch"]].concat();
    refused(&place, &patched, &["--router prototype"]);
    learn(&place, "tpp", "0,1", &[]);
    for flag in [&["--posterior"][..], &["--reject", "0.1"], &prototypes] {
        let call = [&["predict", "tpp"][..], &DATA, flag].concat();
        refused(&place, &call, &["tpp"]);
    }
}

#[test]
fn what_is_like_nothing_learned_is_unknown() {
    let place = place();
    ours(&place, "m", "0,1,2,3", &["--val", "0.3"]);
    works(
        &place,
        &[
            "data", "convert", DATA[0], DATA[1], DATA[2], "--to", "csv", "-o", "g",
        ],
    );
    let class_of: BTreeMap<String, String> = class_column(&place.path().join("g"));
    let rows = cells(&predict(&place, "m", &["--reject", "0.05"]));
    let share = |known: bool| {
        let of = rows
            .iter()
            .filter(|row| known == ["0", "1", "2", "3"].contains(&&class_of[&row[0]][..]));
        let rejected: Vec<bool> = of.map(|row| row[1] == "unknown").collect();
        let count = rejected.iter().filter(|&&rejected| rejected).count();
        count as f64 / rejected.len() as f64
    };
    assert!(share(true) < 0.15, "{}", share(true));
    assert!(share(false) > 3.0 * share(true), "{}", share(false));
    for row in &rows {
        let familiarity: f64 = row[6].parse().unwrap();
        assert_eq!(row[1] == "unknown", familiarity < 0.05);
        assert_eq!(row[3].is_empty(), row[1] == "unknown");
        assert_eq!(row[7], "task-1");
    }
    for rate in ["0", "1", "-0.1", "nan", "x"] {
        let call = ["predict", "m", DATA[0], "--reject", rate];
        let output = treering(place.path(), &call);
        assert_eq!(output.status.code(), Some(2), "{rate}");
    }
}

/// The class of every node, from a folder of CSV files.
fn class_column(folder: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder.join("nodes.csv")).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|found| *found == name).unwrap();
    let (id, label) = (at("id"), at("label"));
    cells(&text)
        .into_iter()
        .map(|row| (row[id].clone(), row[label].clone()))
        .collect()
}

#[test]
fn components_are_groups_from_a_size_on() {
    let place = place();
    ours(&place, "m", "0,1", &[]);
    ours(&place, "m", "2,3", &[]);
    // Two pairs, a triple and a node alone.
    let folder = place.path().join("q");
    fs::create_dir(&folder).unwrap();
    let stats = works(
        &place,
        &["data", "stats", DATA[0], DATA[1], DATA[2], "--json"],
    );
    let stats: Value = serde_json::from_str(&stats).unwrap();
    let columns = stats["features"].as_u64().unwrap();
    let mut nodes = format!(
        "id{}\n",
        (0..columns).map(|c| format!(",f{c}")).collect::<String>()
    );
    for node in 0..8 {
        let row: String = (0..columns)
            .map(|c| format!(",{}", (node * 7 + c) % 5))
            .collect();
        nodes.push_str(&format!("n{node}{row}\n"));
    }
    fs::write(folder.join("nodes.csv"), nodes).unwrap();
    fs::write(
        folder.join("edges.csv"),
        "src,dst\nn0,n1\nn2,n3\nn4,n5\nn5,n6\n",
    )
    .unwrap();
    let margins = |groups: &str| -> Vec<String> {
        let csv = works(&place, &["predict", "m", "q", "--groups", groups]);
        cells(&csv).into_iter().map(|row| row[4].clone()).collect()
    };
    let (single, pairs, triple) = (
        margins("single"),
        margins("components"),
        margins("components:3"),
    );
    assert!(pairs[0] == pairs[1] && pairs[4] == pairs[6] && pairs[0] != pairs[4]);
    assert_eq!(pairs[7], single[7]);
    assert_eq!(triple[..4], single[..4]);
    assert_eq!(triple[4..7], pairs[4..7]);
    let some = works(
        &place,
        &[
            "predict",
            "m",
            "q",
            "--groups",
            "components",
            "--only",
            "n5,n7",
        ],
    );
    let some: Vec<String> = cells(&some).into_iter().map(|row| row[4].clone()).collect();
    assert_eq!(some, [pairs[5].clone(), pairs[7].clone()]);
    refused(
        &place,
        &["predict", "m", "q", "--groups", "components:x"],
        &["components:5"],
    );
}

#[test]
fn nodes_that_arrive_later_are_answered_with_and_without_their_edges() {
    let place = place();
    works(
        &place,
        &[
            "data", "convert", DATA[0], DATA[1], DATA[2], "--to", "csv", "-o", "g",
        ],
    );
    let full = place.path().join("g");
    let class_of = class_column(&full);
    let keep = |name: &str| class_of.contains_key(name) && !name.ends_with('7');
    let filtered = |file: &str, ends: &[usize], keep: &dyn Fn(&str) -> bool| {
        let text = fs::read_to_string(full.join(file)).unwrap();
        let mut lines = text.lines();
        let mut out = format!("{}\n", lines.next().unwrap());
        for line in lines {
            let words: Vec<&str> = line.split(',').collect();
            if ends.iter().all(|&end| keep(words[end])) {
                out.push_str(&format!("{line}\n"));
            }
        }
        out
    };
    let folder = |name: &str, keep: &dyn Fn(&str) -> bool| {
        let folder = place.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("nodes.csv"), filtered("nodes.csv", &[0], keep)).unwrap();
        fs::write(
            folder.join("edges.csv"),
            filtered("edges.csv", &[0, 1], keep),
        )
        .unwrap();
    };
    folder("known", &keep);
    folder("late", &|name| !keep(name));
    for classes in ["0,1,2,3", "4,5,6,7", "8,9,10,11"] {
        works(&place, &["learn", "m", "known", "--classes", classes]);
    }
    let right = |data: &str| {
        let rows = cells(&works(&place, &["predict", "m", data]));
        let late: Vec<&Vec<String>> = rows.iter().filter(|row| !keep(&row[0])).collect();
        let right = late.iter().filter(|row| row[1] == class_of[&row[0]]);
        (right.count() as f64 / late.len() as f64, late.len())
    };
    let (attached, alone) = (right("g"), right("late"));
    assert_eq!(attached.1, alone.1);
    assert!(attached.0 > 0.6, "{attached:?}");
    // The demo's features say little without their neighbours'.
    assert!(alone.0 < attached.0, "{alone:?}");
}

#[test]
fn a_model_that_cannot_say_what_is_usual_says_so() {
    let place = place();
    let folder = place.path().join("tiny");
    fs::create_dir(&folder).unwrap();
    fs::write(
        folder.join("nodes.csv"),
        "id,label,f0,f1\na,x,1,0\nb,y,0,1\nc,,1,1\n",
    )
    .unwrap();
    fs::write(folder.join("edges.csv"), "src,dst\na,c\n").unwrap();
    works(&place, &["learn", "m", "tiny"]);
    assert_eq!(cells(&works(&place, &["predict", "m", "tiny"])).len(), 3);
    let call = ["predict", "m", "tiny", "--reject", "0.1"];
    refused(&place, &call, &["--reject", "second train node"]);
}
