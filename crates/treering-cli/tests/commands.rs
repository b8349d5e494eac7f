//! The real binary, driven as a person would: results on standard output, errors with exit code 2, no panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{binary, place, refused, text, treering, works};

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let readme =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let printed = works(&place(), &["demo"]);
    let block = printed.trim_end();
    assert!(
        block.contains("SYNTHETIC") && block.contains("AF 0.0 %"),
        "{block}"
    );
    // The last digits belong to processors with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        assert!(readme.contains(block), "README.md does not show:\n{block}");
    }
}

#[test]
fn stats_of_the_demo_as_table_and_as_json() {
    let place = place();
    let table = works(&place, &["data", "stats"]);
    assert!(
        table.contains("SYNTHETIC") && table.contains("12,000 (undirected: 6,000 edges)"),
        "{table}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&works(&place, &["data", "stats", "--json"])).unwrap();
    assert_eq!(
        (json["nodes"].as_u64(), json["arcs"].as_u64()),
        (Some(1800), Some(12000))
    );
    assert_eq!(json["classes"].as_array().unwrap().len(), 12);
    assert!(json["synthetic"].is_string());
}

#[test]
fn any_layout_goes_into_any_other_and_stays_the_same() {
    let place = place();
    works(
        &place,
        &["data", "synth", "demo", "--seed", "4", "-o", "a.treering"],
    );
    let steps: [(&str, &str, &[&str]); 5] = [
        ("a.treering", "b.npz", &[]),
        ("b.npz", "c", &["--to", "csv"]),
        ("c", "d", &[]),
        ("d", "e", &["--to", "csv-gz"]),
        ("e", "f.treering", &[]),
    ];
    for (from, to, more) in steps {
        let mut arguments = vec!["data", "convert", from, "-o", to];
        arguments.extend(more);
        works(&place, &arguments);
    }
    let bytes = |name: &str| fs::read(place.path().join(name)).unwrap();
    assert!(bytes("a.treering") == bytes("f.treering"));
    assert!(
        place.path().join("d/nodes.parquet").exists()
            && place.path().join("e/edges.csv.gz").exists()
    );
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let place = place();
    for threads in ["1", "2", "7"] {
        let file = format!("{threads}.treering");
        works(
            &place,
            &[
                "data",
                "synth",
                "corafull-like",
                "--scale",
                "0.1",
                "--threads",
                threads,
                "-o",
                &file,
            ],
        );
        works(
            &place,
            &[
                "data",
                "stream",
                &file,
                "-o",
                &format!("stream-{threads}"),
                "--graphs",
                "npz",
            ],
        );
    }
    let bytes = |name: String| fs::read(place.path().join(name)).unwrap();
    for threads in ["2", "7"] {
        assert!(bytes("1.treering".into()) == bytes(format!("{threads}.treering")));
        for part in ["nodes.csv", "stream.json", "tasks/0035.npz"] {
            assert!(
                bytes(format!("stream-1/{part}")) == bytes(format!("stream-{threads}/{part}")),
                "{part}"
            );
        }
    }
}

#[test]
fn tables_that_a_person_wrote() {
    let place = place();
    let nodes =
        "paper,topic,year,title\np1,ml,2001,\"A, B\"\np2,ml,2002,C\np3,db,2003,D\np4,,2004,E\n";
    fs::write(place.path().join("papers.csv"), nodes).unwrap();
    fs::write(place.path().join("cites.csv"), "from,to\np1,p2\np3,p1\n").unwrap();
    let flags = [
        "--nodes",
        "papers.csv",
        "--edges",
        "cites.csv",
        "--id-column",
        "paper",
    ];
    let mut arguments = vec!["data", "stats", "--json"];
    arguments.extend(flags);
    let json: serde_json::Value = serde_json::from_str(&works(&place, &arguments)).unwrap();
    assert_eq!(
        (json["nodes"].as_u64(), json["undirected_edges"].as_u64()),
        (Some(4), Some(2))
    );
    assert_eq!(
        (json["features"].as_u64(), json["unlabelled"].as_u64()),
        (Some(1), Some(1))
    );
    assert_eq!(json["classes"][0]["name"], "db");
    arguments.push("--directed");
    let json: serde_json::Value = serde_json::from_str(&works(&place, &arguments)).unwrap();
    assert_eq!(
        (json["directed"].as_bool(), json["arcs"].as_u64()),
        (Some(true), Some(2))
    );

    fs::write(place.path().join("cites.csv"), "from,to\np1,p2\np3,p9\n").unwrap();
    refused(&place, &arguments, &["cites.csv", "line 3", "`to`", "p9"]);
    arguments.extend(["--label-column", "subject"]);
    refused(
        &place,
        &arguments,
        &["papers.csv", "subject", "topic", "--label-column"],
    );
}

#[test]
fn streams_say_what_was_dropped() {
    let place = place();
    works(
        &place,
        &[
            "data",
            "synth",
            "demo",
            "--classes",
            "5",
            "-o",
            "five.treering",
        ],
    );
    let printed = works(&place, &["data", "stream", "five.treering"]);
    assert!(
        printed.contains("dropped: class 4") && printed.contains("left over"),
        "{printed}"
    );
    let printed = works(
        &place,
        &[
            "data",
            "stream",
            "five.treering",
            "--group",
            "4,0",
            "--group",
            "2",
        ],
    );
    assert!(
        printed.contains("4, 0") && printed.contains("in none of the groups"),
        "{printed}"
    );
    refused(
        &place,
        &["data", "stream", "five.treering", "--group", "9"],
        &["no class `9`"],
    );
    refused(
        &place,
        &["data", "stream", "five.treering", "--split", "own"],
        &["no split of its own"],
    );
    refused(
        &place,
        &["data", "stream", "five.treering", "--classes-per-task", "0"],
        &["0 classes per task"],
    );
    refused(
        &place,
        &["data", "stream", "five.treering", "--classes-per-task", "6"],
        &["5 of 5 classes"],
    );
}

#[test]
fn wrong_calls_name_the_remedy() {
    let place = place();
    refused(&place, &["data", "stats", "dmeo"], &["did you mean demo?"]);
    refused(
        &place,
        &["data", "stats", "no/such/file.npz"],
        &["no such file", "arxiv-like"],
    );
    refused(&place, &["data", "synth", "cora-like"], &["corafull-like"]);
    refused(
        &place,
        &["data", "synth", "--homophily", "1.5"],
        &["homophily", "1.5"],
    );
    refused(&place, &["data", "synth", "--scale", "0"], &["scale"]);
    refused(&place, &["data", "synth", "--scale", "nan"], &["scale"]);
    refused(
        &place,
        &["data", "synth", "--homophily", "-0.5"],
        &["homophily", "-0.5"],
    );
    refused(
        &place,
        &["data", "synth", "--seed", "-1"],
        &["--seed", "'-1'"],
    );
    refused(&place, &["data", "stats", "--memory", "lots"], &["8GB"]);
    refused(
        &place,
        &["data", "stats", "--memory", "1kB"],
        &["1.0 kB are allowed", "--memory"],
    );
    refused(&place, &["data", "stats", "--threads", "0"], &["--threads"]);
    refused(&place, &["data", "stats", "--edges", "x.csv"], &["nodes"]);
    refused(
        &place,
        &[
            "data",
            "stats",
            "arxiv-like",
            "--nodes",
            "x.csv",
            "--edges",
            "y.csv",
        ],
        &["arxiv-like"],
    );
    refused(
        &place,
        &["data", "stats", "demo", "--directed"],
        &["built-in data"],
    );
    refused(
        &place,
        &["data", "synth", "--words-per-node", "5"],
        &["--feature-kind"],
    );
    let kept = [
        "data",
        "stream",
        "--keep-inter-task-edges",
        "--graphs",
        "npz",
        "-o",
        "kept",
    ];
    refused(&place, &kept, &["npz cannot hold", "native"]);
    refused(&place, &["data", "statistics"], &["stats"]);
    refused(
        &place,
        &["data", "convert", "-o", "no/such/folder/x.npz"],
        &["no/such/folder", "make it first"],
    );
    fs::write(place.path().join("there.npz"), "mine").unwrap();
    refused(
        &place,
        &["data", "convert", "-o", "there.npz"],
        &["already there", "--force"],
    );
    assert_eq!(fs::read(place.path().join("there.npz")).unwrap(), b"mine");
    refused(
        &place,
        &["data", "stats", "there.npz"],
        &["there.npz", "begins neither"],
    );
    refused(
        &place,
        &["data", "stats", "."],
        &["a folder with there.npz"],
    );
    works(&place, &["data", "convert", "-o", "there.npz", "--force"]);
    refused(
        &place,
        &["data", "stats", "there.npz", "--scale", "0.5"],
        &["--scale is for built-in data"],
    );
}

#[cfg(unix)]
#[test]
fn output_may_be_cut_off_by_its_reader() {
    let binary = binary();
    let script = format!(
        "{} data synth --list | head -n 1; exit ${{PIPESTATUS[0]}}",
        binary.display()
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert!(
        output.status.success() && text(&output.stderr).is_empty(),
        "{}",
        text(&output.stderr)
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_writer_leaves_nothing_behind() {
    let place = place();
    let binary = binary();
    let mut child = std::process::Command::new(binary)
        .current_dir(place.path())
        .args([
            "data",
            "synth",
            "arxiv-like",
            "-o",
            "big",
            "--to",
            "csv",
            "--quiet",
        ])
        .spawn()
        .unwrap();
    // Wait until the temporary folder is there, so that the signal comes in the middle of the work.
    let mut names = Vec::new();
    while names.is_empty() && child.try_wait().unwrap().is_none() {
        names = fs::read_dir(place.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
    }
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .unwrap();
    let status = child.wait().unwrap();
    let left: Vec<_> = fs::read_dir(place.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    match status.code() {
        Some(130) => assert!(left.is_empty(), "{left:?}"),
        code => assert_eq!(
            (code, left.len()),
            (Some(0), 1),
            "it had just finished: {left:?}"
        ),
    }
}

#[test]
fn help_completions_and_manual_pages() {
    let place = place();
    for command in ["stats", "convert", "synth", "stream"] {
        let help = works(&place, &["data", command, "--help"]);
        assert!(help.contains("Examples:"), "{command} teaches by example");
    }
    assert!(works(&place, &["completions", "bash"]).contains("treering"));
    works(&place, &["man", "pages"]);
    assert!(place.path().join("pages/treering-data-stream.1").exists());
}

#[cfg(unix)]
#[test]
fn force_removes_nothing_that_is_not_ours() {
    let place = place();
    let path = |name: &str| place.path().join(name);
    let convert = |to: &str, refusal: &[&str]| {
        let arguments = [
            "data", "convert", "demo", "-o", to, "--force", "--to", "csv",
        ];
        match refusal.is_empty() {
            true => drop(works(&place, &arguments)),
            false => refused(&place, &arguments, refusal),
        }
    };
    // A folder with names like ours, but not written by us.
    fs::create_dir_all(path("proj/tasks/2026")).unwrap();
    fs::write(path("proj/tasks/2026/thesis.tex"), "precious").unwrap();
    convert("proj", &["did not write", "another place"]);
    fs::create_dir(path("own")).unwrap();
    fs::write(path("own/nodes.csv"), "id,label\n").unwrap();
    convert("own", &["did not write"]);
    assert!(path("proj/tasks/2026/thesis.tex").exists() && path("own/nodes.csv").exists());
    // A pipe, and a folder with things in it that cannot be opened.
    assert!(
        std::process::Command::new("mkfifo")
            .arg(path("pipe"))
            .status()
            .unwrap()
            .success()
    );
    convert("pipe", &["device, a pipe"]);
    std::os::unix::fs::symlink("nowhere", path("dangling")).unwrap();
    convert("fresh", &[]);
    convert("fresh", &[]);
    // A link stays a link.
    std::os::unix::fs::symlink("fresh", path("link")).unwrap();
    convert("link", &[]);
    assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
    assert!(path("fresh/graph.json").exists());
    works(
        &place,
        &["data", "stream", "-o", "stream", "--graphs", "csv"],
    );
    works(
        &place,
        &[
            "data", "stream", "-o", "stream", "--graphs", "native", "--force",
        ],
    );
    fs::write(path("stream/tasks/notes.txt"), "mine").unwrap();
    refused(
        &place,
        &["data", "stream", "-o", "stream", "--force"],
        &["did not write"],
    );
}

#[test]
fn a_folder_called_demo_does_not_become_the_default() {
    let place = place();
    let built_in = works(&place, &["data", "stats", "--json"]);
    works(
        &place,
        &[
            "data", "synth", "demo", "--nodes", "500", "--edges", "900", "-o", "demo",
        ],
    );
    assert_eq!(works(&place, &["data", "stats", "--json"]), built_in);
    let output = treering(place.path(), &["data", "stats", "demo", "--json"]);
    assert_ne!(text(&output.stdout), built_in);
    assert!(text(&output.stderr).contains("also the name of built-in data"));
}

#[test]
fn columns_of_numbers_and_first_lines_are_not_guessed_away() {
    let place = place();
    fs::write(
        place.path().join("nodes.csv"),
        "id,label,f\na,x,n/a\nb,y,2\nc,x,3\n",
    )
    .unwrap();
    fs::write(place.path().join("edges.csv"), "src,dst\na,b\n").unwrap();
    refused(
        &place,
        &["data", "stats", "."],
        &["nodes.csv", "line 2", "`f`", "`n/a`"],
    );
    fs::write(
        place.path().join("nodes.csv"),
        "id,label,f\na,x,1\nb,y,2\nc,x,3\n",
    )
    .unwrap();
    fs::write(place.path().join("edges.csv"), "a,b\nb,c\n").unwrap();
    refused(
        &place,
        &["data", "stats", "."],
        &["edges.csv", "line 1", "names the columns"],
    );
}

#[test]
fn kept_edges_show_in_the_table() {
    let place = place();
    let dropped = works(&place, &["data", "stream"]);
    let kept = works(&place, &["data", "stream", "--keep-inter-task-edges"]);
    let last = |text: &str| {
        text.lines()
            .last()
            .unwrap()
            .split_whitespace()
            .nth(3)
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        (last(&dropped).as_str(), last(&kept).as_str()),
        ("264", "1,800")
    );
}

/// The direction of an OGB data set hangs on its name, also when it is opened from inside.
#[test]
fn an_ogb_folder_keeps_its_name_when_opened_as_a_dot() {
    let place = place();
    let raw = place.path().join("ogbn_products/raw");
    fs::create_dir_all(&raw).unwrap();
    let tables = [
        ("num-node-list", "2"),
        ("num-edge-list", "1"),
        ("edge", "0,1"),
        ("node-feat", "1\n2"),
        ("node-label", "0\n0"),
    ];
    for (name, content) in tables {
        fs::write(raw.join(format!("{name}.csv")), format!("{content}\n")).unwrap();
        let gzip = std::process::Command::new("gzip")
            .arg(raw.join(format!("{name}.csv")))
            .status()
            .unwrap();
        assert!(gzip.success());
    }
    let output = treering(raw.parent().unwrap(), &["data", "stats", ".", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (json["name"].as_str(), json["arcs"].as_u64()),
        (Some("ogbn_products"), Some(2))
    );
}

#[test]
fn a_table_without_ids_says_that_rows_are_counted() {
    let place = place();
    let folder = place.path().join("t");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("nodes.csv"), "uid,a\n5,1\n6,2\n").unwrap();
    fs::write(folder.join("edges.csv"), "source,target\n0,1\n").unwrap();
    let output = treering(place.path(), &["data", "stats", "t"]);
    let told = text(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(
        told.contains("no column of ids") && told.contains("--id-column"),
        "{told}"
    );
}
