//! Lists of jobs: the same bytes as the command itself, whatever happens in between.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;

use common::{files, place, text, treering};
use serde_json::Value;

fn works(place: &Path, words: &str) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let done = treering(place, &words);
    assert!(done.status.success(), "{words:?}: {}", text(&done.stderr));
    text(&done.stdout)
}

/// What it says when it fails, and with which code.
fn fails(place: &Path, words: &str) -> (i32, String) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let done = treering(place, &words);
    assert!(!done.status.success(), "{words:?} worked");
    (done.status.code().unwrap_or(-1), text(&done.stderr))
}

fn same_file(place: &Path, a: &str, b: &str) {
    let read = |name: &str| fs::read(place.join(name)).expect("a file");
    assert!(read(a) == read(b), "{a} and {b} differ");
}

#[test]
fn a_model_learned_in_parts_is_the_model() {
    let place = place();
    let at = place.path();
    for learner in ["treering", "tpp --pretrain-epochs 3 --epochs 5"] {
        let stream = format!("demo --classes-per-task 2 --val 0.2 --learner {learner}");
        works(at, &format!("learn whole {stream} -q"));
        works(at, &format!("plan jobs learn apart {stream}"));
        works(at, "run jobs -q");
        assert_eq!(files(&at.join("whole")), files(&at.join("apart")));
        for folder in ["whole", "apart", "jobs"] {
            fs::remove_dir_all(at.join(folder)).expect("removed");
        }
    }
}

#[test]
fn answers_in_parts_are_the_answers_in_every_format() {
    let place = place();
    let at = place.path();
    works(at, "learn model demo --classes-per-task 2 -q");
    for (number, flags) in [
        "-o x.csv",
        "-o x.jsonl --top 2",
        "-o x.parquet --reject 0.1",
        "-o x.csv --posterior --router evidence --memory 90MB",
    ]
    .into_iter()
    .enumerate()
    {
        let whole = flags.replace("x.", &format!("whole-{number}."));
        let apart = flags.replace("x.", &format!("apart-{number}."));
        works(at, &format!("predict model demo {whole} -q"));
        // Whole blocks of columns, and parts of them.
        let pieces = if number == 0 { "" } else { "--pieces 3" };
        works(
            at,
            &format!("plan jobs-{number} {pieces} predict model demo {apart}"),
        );
        works(at, &format!("run jobs-{number} -q --jobs 2"));
        let name = |words: &str| words.split_whitespace().nth(1).expect("a name").to_owned();
        same_file(at, &name(&whole), &name(&apart));
    }
}

#[test]
fn answers_do_not_depend_on_the_cut() {
    let place = place();
    let at = place.path();
    // Several groups of a Parquet file, and tasks with fewer nodes than are multiplied at a time.
    works(at, "data synth demo --scale 7 -o demo.treering -q");
    works(at, "learn model demo.treering --classes-per-task 2 -q");
    works(at, "learn one-class demo.treering --classes-per-task 1 -q");
    for (number, words) in [
        "predict model demo.treering --reject 0.05 -o NAME.csv",
        "predict model demo.treering --posterior -o NAME.parquet",
        "predict one-class demo.treering -o NAME.jsonl",
    ]
    .into_iter()
    .enumerate()
    {
        works(at, &words.replace("NAME", &format!("whole-{number}")));
        for pieces in [1, 5] {
            let apart = words.replace("NAME", &format!("apart-{number}-{pieces}"));
            let jobs = format!("jobs-{number}-{pieces}");
            works(at, &format!("plan {jobs} --pieces {pieces} {apart}"));
            works(at, &format!("run {jobs} -q --threads 2"));
            let name = apart.split(' ').next_back().unwrap();
            same_file(
                at,
                &name
                    .replace("apart", "whole")
                    .replace(&format!("-{pieces}."), "."),
                name,
            );
        }
    }
    // Nor on what else is asked.
    let all = fs::read_to_string(at.join("whole-0.csv")).unwrap();
    let one = works(
        at,
        "predict model demo.treering --reject 0.05 --only 7,4711 -q",
    );
    for line in one.lines() {
        assert!(all.lines().any(|known| known == line), "{line}");
    }
}

#[test]
fn nothing_is_put_in_the_place_of_something_else() {
    let place = place();
    let at = place.path();
    fs::create_dir(at.join("mine")).unwrap();
    fs::write(at.join("mine/thesis.txt"), "precious").unwrap();
    for (words, expected) in [
        ("plan jobs learn mine demo", "is there already"),
        (
            "plan jobs bench --data demo --learner treering --out mine",
            "is there already",
        ),
        ("plan jobs learn jobs demo", "the list cannot lie there"),
        (
            "plan mine/jobs learn mine/jobs/model demo",
            "the list cannot lie there",
        ),
    ] {
        let (code, told) = fails(at, words);
        assert!(code == 2 && told.contains(expected), "{words}: {told}");
    }
    // It appears after the list was made, or is gone on with.
    works(at, "plan jobs profile demo -o out.csv");
    fs::write(at.join("out.csv"), "precious").unwrap();
    let (code, told) = fails(at, "run jobs -q");
    assert!(code == 2 && told.contains("it is not replaced"), "{told}");
    assert_eq!(fs::read(at.join("out.csv")).unwrap(), b"precious");
    works(at, "plan jobs-2 learn model demo --group 0,1 --group 2,3");
    works(at, "run jobs-2 -q");
    works(at, "learn model demo --classes 4,5 -q");
    let before = files(&at.join("model"));
    let (code, told) = fails(at, "run jobs-2 -q");
    assert!(code == 2 && told.contains("it is not replaced"), "{told}");
    assert_eq!(files(&at.join("model")), before);
}

#[test]
fn prototypes_in_parts_are_the_prototypes() {
    let place = place();
    let at = place.path();
    works(at, "data synth demo -o demo.treering -q");
    for (number, flags) in ["", "--steps 1 --classes-per-task 1 --memory 60MB"]
        .into_iter()
        .enumerate()
    {
        works(
            at,
            &format!("profile demo.treering -o whole-{number}.csv -q {flags}"),
        );
        works(
            at,
            &format!(
                "plan jobs-{number} --pieces 3 profile demo.treering -o apart-{number}.csv {flags}"
            ),
        );
        works(at, &format!("run jobs-{number} -q"));
        same_file(
            at,
            &format!("whole-{number}.csv"),
            &format!("apart-{number}.csv"),
        );
    }
}

/// Results without what is measured anew every time.
fn results(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("results.jsonl")).expect("results");
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("a line");
        line.as_object_mut().expect("an object").remove("measured");
        line
    };
    text.lines().map(line).collect()
}

#[test]
fn a_bench_in_parts_is_the_bench() {
    let place = place();
    let at = place.path();
    let bench = "bench --data demo --scale 0.3 --learner finetune finetune+tp treering --seeds 2 --set finetune.epochs=5";
    works(at, &format!("{bench} --out whole -q"));
    works(at, &format!("plan jobs {bench} --out apart"));
    works(at, "run jobs -q");
    assert_eq!(results(&at.join("whole")), results(&at.join("apart")));
    same_file(at, "whole/tables/results.csv", "apart/tables/results.csv");
    let command = fs::read_to_string(at.join("apart/command.txt")).expect("the call");
    assert_eq!(command, format!("treering {bench} --out apart\n"));
    // The folder is one that a bench goes on with.
    works(at, &format!("{bench} --out apart --finished -q"));
    let (code, told) = fails(at, &format!("plan more {bench} --out apart"));
    assert!(code == 2 && told.contains("name another"), "{told}");
}

#[test]
fn a_job_is_done_once_and_damage_is_mended() {
    let place = place();
    let at = place.path();
    works(at, "profile demo -o whole.csv -q");
    works(at, "plan jobs --pieces 2 profile demo -o apart.csv");
    let open = works(at, "exec jobs --open");
    assert_eq!(open.lines().count(), 5, "{open}");
    let (code, told) = fails(at, "exec jobs --job slice-0001");
    assert!(code == 1 && told.contains("Run job spread-0001"), "{told}");
    let (code, told) = fails(at, "exec jobs --job spread-9");
    assert!(code == 2 && told.contains("no job `spread-9`"), "{told}");
    works(at, "exec jobs --job spread-0001 --job spread-0002");
    // A part that was cut short is made again by whoever needs it.
    let part = at.join("jobs/parts/spread-0001");
    let bytes = fs::read(&part).expect("a part");
    fs::write(&part, &bytes[..bytes.len() / 2]).expect("cut");
    works(at, "exec jobs --job slice-0001");
    assert!(fs::read(&part).expect("a part") == bytes);
    let text = works(at, "run jobs");
    assert!(
        text.contains("2 jobs done") && text.contains("3 were done before"),
        "{text}"
    );
    same_file(at, "whole.csv", "apart.csv");
    let again = works(at, "run jobs");
    assert!(again.contains("all 5 jobs were done before"), "{again}");
}

#[test]
fn data_that_changed_is_refused() {
    let place = place();
    let at = place.path();
    works(at, "data synth demo -o graph.treering -q");
    works(at, "plan jobs profile graph.treering -o out.csv");
    works(at, "data synth demo --seed 7 -o graph.treering --force -q");
    let (code, told) = fails(at, "run jobs -q");
    assert!(
        code == 2 && told.contains("has changed since the list was made"),
        "{told}"
    );
    assert!(!at.join("out.csv").exists());
}

#[test]
fn a_failure_is_named_and_the_rest_stays() {
    let place = place();
    let at = place.path();
    works(at, "plan jobs --pieces 2 profile demo -o out.csv");
    let list = at.join("jobs/list.jsonl");
    let text = fs::read_to_string(&list).expect("a list");
    fs::write(
        &list,
        text.replace("\"--job-tasks\",\"0..", "\"--job-tasks\",\"900..900"),
    )
    .expect("broken");
    let (code, told) = fails(at, "run jobs -q");
    assert_eq!(code, 2);
    assert!(
        told.contains("spread-0001: ") && told.contains("so many tasks"),
        "{told}"
    );
    assert!(at.join("jobs/done/spread-0002.json").exists() && !at.join("out.csv").exists());
    // A list runs nothing else.
    fs::write(
        &list,
        text.replace(
            "\"work\",\"spread\",\"--job-output\",\"{output}\"",
            "\"forget\"",
        ),
    )
    .expect("broken");
    let (code, told) = fails(at, "exec jobs --job spread-0001");
    assert!(code == 2 && told.contains("another version"), "{told}");
}

#[test]
fn what_cannot_be_a_list_is_refused_with_words() {
    let place = place();
    let at = place.path();
    works(at, "learn model demo --classes-per-task 2 -q");
    works(
        at,
        "learn tpp demo --learner tpp --pretrain-epochs 1 --epochs 1 -q",
    );
    for (words, expected) in [
        ("plan jobs verify model", "no command that can be a list"),
        ("plan jobs", "no list of jobs here"),
        ("plan jobs predict model demo", "name it with -o"),
        (
            "plan jobs predict model demo -o x.csv --groups all",
            "each alone",
        ),
        ("plan jobs predict tpp demo -o x.csv", "is tpp"),
        (
            "plan jobs predict model demo -o x.csv --router prototype",
            "is prototype",
        ),
        ("plan jobs learn model demo", "begins a new model"),
        (
            "plan jobs bench --data demo --learner ewc --grid",
            "treering bench",
        ),
        (
            "plan jobs profile demo -o x.csv --memory 1MB",
            "of memory, and 1.0 MB are allowed",
        ),
        ("plan jobs --simulate 8 profile demo -o x.csv", "8x16"),
        ("plan jobs --pieces 3", "--pieces is about a new list"),
        (
            "plan jobs --simulate 8x16 --overhead nan profile demo -o x.csv",
            "a number of seconds",
        ),
        ("profile demo --memory 1kB", "are allowed"),
        ("run jobs", "no list of jobs here"),
        ("work empty --job-output x", "treering exec"),
    ] {
        let (code, told) = fails(at, words);
        assert!(code == 2 && told.contains(expected), "{words}: {told}");
        assert!(!at.join("jobs").exists(), "{words} left a list");
    }
}

#[test]
fn a_cluster_is_simulated_from_what_jobs_took() {
    let place = place();
    let at = place.path();
    works(at, "plan jobs --pieces 2 profile demo -o out.csv");
    let before: Value =
        serde_json::from_str(&works(at, "plan jobs --simulate 2x4 --json")).expect("JSON");
    assert_eq!(
        (&before["measured"], &before["planned"]),
        (&0.into(), &5.into())
    );
    works(at, "run jobs -q");
    let after: Value =
        serde_json::from_str(&works(at, "plan jobs --simulate 2x4 --json")).expect("JSON");
    assert_eq!(after["measured"], 5);
    let spent = |id: &str| {
        let text = fs::read_to_string(at.join(format!("jobs/done/{id}.json"))).expect("a seal");
        let seal: Value = serde_json::from_str(&text).expect("JSON");
        seal["cpu_seconds"].as_f64().expect("seconds")
    };
    // Every level has no more jobs than there are cores, so it takes as long as its longest, and 0.1 s to start it.
    let levels = [
        vec!["spread-0001", "spread-0002"],
        vec!["slice-0001", "slice-0002"],
        vec!["prototypes-0001"],
    ];
    let longest = |level: &Vec<&str>| level.iter().map(|id| spent(id)).fold(0.0, f64::max) + 0.1;
    let expected: f64 = levels.iter().map(longest).sum();
    let found = after["asked"]["makespan"].as_f64().expect("seconds");
    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    let text = works(
        at,
        "plan big --simulate 64x16 --measured jobs --assume nodes=1e8,arcs=3e9,columns=128,tasks=80 profile",
    );
    assert!(
        text.contains("64 machines of 16 cores") && text.contains("stops scaling at"),
        "{text}"
    );
    let (code, told) = fails(at, "run big -q");
    assert!(code == 2 && told.contains("is not there"), "{told}");
}

#[test]
fn scripts_for_other_engines_call_exec() {
    let place = place();
    let at = place.path();
    works(at, "plan jobs --pieces 2 profile demo -o out.csv");
    let submit = works(at, "plan jobs --slurm --program /opt/treering");
    assert!(
        submit.trim_end().ends_with("jobs/slurm/submit.sh"),
        "{submit}"
    );
    let level = fs::read_to_string(at.join("jobs/slurm/level-1.sbatch")).expect("a script");
    assert!(level.contains("/opt/treering exec "), "{level}");
    let line = works(at, "plan jobs --parallel");
    assert_eq!(line.matches("treering exec").count(), 3, "{line}");
}
