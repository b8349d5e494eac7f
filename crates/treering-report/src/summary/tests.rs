use serde_json::{Value, json};

use super::*;
use crate::fixture::{done, failed, lines};

fn labels(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.label.as_str()).collect()
}

fn with(mut run: Value, key: &str, value: Value) -> Value {
    run["parameters"][key] = value;
    run
}

#[test]
fn a_row_has_mean_and_deviation_over_seeds() {
    // AA 80, 84 and 88; AF -10, -6 and -2.
    let runs = [0, 1, 2].map(|seed| {
        let better = 4.0 * seed as f64;
        done(
            "cora",
            "ewc",
            "paper",
            seed,
            [90.0, 80.0 + better, 80.0 + better],
        )
    });
    let rows = summarise(&lines(runs));
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    let both = |spread: Option<Spread>| spread.map(|spread| (spread.mean, spread.std));
    assert_eq!(both(row.aa), Some((84.0, Some(4.0))));
    assert_eq!(both(row.af), Some((-6.0, Some(4.0))));
    assert_eq!(both(row.task_id_accuracy), None);
    assert_eq!(both(row.learn_seconds), Some((2.0, Some(1.0))));
    assert_eq!(both(row.peak_memory_bytes), Some((2e6, Some(1e6))));
    assert_eq!(row.matrix, [vec![90.0], vec![84.0, 84.0]]);
    assert_eq!(both(row.learning_curve[1]), Some((84.0, Some(4.0))));
    assert_eq!((row.tasks, row.classes, row.runs()), (Some(2), Some(4), 3));
    assert_eq!(row.seeds, [0, 1, 2]);
    assert_eq!(row.aa.unwrap().text(1), "84.0 ± 4.0");
    assert_eq!(Spread::of(&[-0.04]).unwrap().text(1), "0.0");
    assert_eq!(Spread::of(&[-0.06]).unwrap().text(1), "-0.1");
}

#[test]
fn failed_runs_are_counted_and_keep_out_of_the_means() {
    let good = done("demo", "ewc", "paper", 0, [90.0, 70.0, 90.0]);
    let bad = failed(done("demo", "ewc", "paper", 1, [0.0; 3]), "no memory");
    let rows = summarise(&lines([bad, good]));
    let row = &rows[0];
    assert_eq!((row.done, row.failed.len()), (1, 1));
    assert_eq!(row.failed[0].error, "no memory");
    assert_eq!(row.aa.map(|aa| (aa.mean, aa.std)), Some((80.0, None)));
    assert!(row.synthetic);
}

#[test]
fn a_failed_run_is_synthetic_if_others_on_the_data_are() {
    let good = done("demo", "ewc", "paper", 0, [90.0, 70.0, 90.0]);
    let bad = failed(done("demo", "mas", "paper", 0, [0.0; 3]), "no memory");
    let rows = summarise(&lines([bad, good]));
    assert!(rows.iter().all(|row| row.synthetic));
}

#[test]
fn variants_are_told_apart_by_what_differs_from_the_defaults() {
    let run = |tokens: u64| {
        let run = done("cora", "tpp", "paper", 0, [90.0; 3]);
        with(with(run, "tokens", tokens.into()), "epochs", 7.into())
    };
    let rows = summarise(&lines([run(10), run(3), run(5)]));
    assert_eq!(labels(&rows), ["tpp", "tpp tokens=5", "tpp tokens=10"]);
    // What all of them share is said elsewhere.
    assert_eq!(rows[0].changed, "epochs=7");
    assert_eq!(rows[1].changed, "tokens=5 epochs=7");
}

#[test]
fn a_variant_that_stands_alone_on_its_data_needs_no_parameters() {
    let first = with(
        done("cora", "ewc", "paper", 0, [90.0; 3]),
        "lambda",
        json!(5.0),
    );
    let second = with(
        done("citeseer", "ewc", "paper", 0, [90.0; 3]),
        "lambda",
        json!(7.0),
    );
    let rows = summarise(&lines([first, second]));
    assert_eq!(labels(&rows), ["ewc", "ewc"]);
    assert_eq!(rows[1].changed, "lambda=5.0");
}

#[test]
fn revisions_and_groups_of_parameters_are_told_apart_too() {
    let old = done("cora", "tpp", "paper", 0, [90.0; 3]);
    let mut new = old.clone();
    new["revision"] = 9.into();
    let mut slow = old.clone();
    slow["parameters"]["adam"]["rate"] = json!(0.25);
    let rows = summarise(&lines([old.clone(), new]));
    assert_eq!(labels(&rows), ["tpp (revision 1)", "tpp (revision 9)"]);
    let rows = summarise(&lines([old, slow]));
    assert_eq!(labels(&rows), ["tpp", "tpp adam.rate=0.25"]);
}

#[test]
fn the_order_of_parameters_does_not_matter() {
    let one = done("cora", "ewc", "paper", 0, [90.0; 3]);
    let mut other = done("cora", "ewc", "paper", 1, [90.0; 3]);
    let turned = other["parameters"].as_object().unwrap().clone();
    other["parameters"] = Value::Object(turned.into_iter().rev().collect());
    assert_eq!(summarise(&lines([one, other])).len(), 1);
}

#[test]
fn data_of_one_name_is_told_apart_by_its_checksum() {
    let one = done("cora", "ewc", "paper", 0, [90.0; 3]);
    let mut other = one.clone();
    other["checksum"] = "0123456789".into();
    let rows = summarise(&lines([one, other]));
    assert_eq!(rows[0].data, "cora (01234567)");
    assert_eq!(rows[1].data, "cora (sum-of-c)");
}

#[test]
fn validation_runs_are_left_out() {
    let mut run = done("cora", "ewc", "paper", 0, [90.0; 3]);
    run["asked"] = "validation".into();
    assert!(summarise(&lines([run])).is_empty());
}

#[test]
fn runs_that_share_a_split_make_a_row_of_their_own() {
    let shared = |seed: u64| {
        let mut run = done("cora", "ewc", "paper", seed, [90.0; 3]);
        run["split_seed"] = 0.into();
        run["stream"]["split_seed"] = 0.into();
        run
    };
    let own = |seed| done("cora", "ewc", "paper", seed, [90.0; 3]);
    let seeds = |rows: Vec<Row>| -> Vec<_> {
        rows.into_iter()
            .map(|row| (row.split_seed, row.seeds))
            .collect()
    };
    let rows = summarise(&lines([shared(0), shared(1), shared(2)]));
    assert_eq!(seeds(rows), [(Some(0), vec![0, 1, 2])]);
    let rows = summarise(&lines([shared(0), shared(1), own(1)]));
    assert_eq!(seeds(rows), [(None, vec![0, 1]), (Some(0), vec![0, 1])]);
}

#[test]
fn rows_come_in_the_order_of_the_registry() {
    let run = |learner, protocol| done("cora", learner, protocol, 0, [90.0; 3]);
    let rows = summarise(&lines([
        run("tpp", "single"),
        run("ewc+tp", "paper"),
        run("tpp", "paper"),
        run("ewc", "paper"),
        run("finetune", "oracle"),
    ]));
    let order: Vec<_> = rows
        .iter()
        .map(|row| (row.protocol.as_str(), row.label.as_str()))
        .collect();
    let expected = [
        ("paper", "ewc"),
        ("paper", "ewc+tp"),
        ("paper", "tpp"),
        ("single", "tpp"),
        ("oracle", "finetune"),
    ];
    assert_eq!(order, expected);
}

#[test]
fn stages_that_were_not_asked_about_stay_empty() {
    let mut run = done("cora", "joint", "paper", 0, [90.0; 3]);
    run["matrix"] = json!([[], [80.0, 60.0]]);
    run["learning_curve"] = json!([null, 70.0]);
    let rows = summarise(&lines([run]));
    assert_eq!(rows[0].matrix, [vec![], vec![80.0, 60.0]]);
    assert_eq!(rows[0].learning_curve[0], None);
}

#[test]
fn protocols_say_how_large_groups_are() {
    for open in ["open", "open:5"] {
        assert_eq!(order::group_size(open), None);
    }
    let sizes = ["single", "groups:5", "paper", "oracle", "groups:x"].map(order::group_size);
    let nodes = |count| Some(GroupSize::Nodes(count));
    assert_eq!(
        sizes,
        [nodes(1), nodes(5), Some(GroupSize::All), None, None]
    );
}

#[test]
fn rows_go_from_large_groups_to_single_nodes() {
    let names = [
        "open:1", "open:20", "oracle", "single", "open", "groups:5", "open:5", "paper", "mixed",
    ];
    let runs = names.map(|protocol| done("cora", "ewc", protocol, 0, [90.0; 3]));
    let rows = summarise(&lines(runs));
    let found: Vec<&str> = rows.iter().map(|row| row.protocol.as_str()).collect();
    let expected = [
        "paper", "groups:5", "single", "mixed", "open", "open:20", "open:5", "open:1", "oracle",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_calibration_error_is_summarised_where_runs_have_one() {
    let mut run = done("cora", "ewc", "paper", 0, [90.0; 3]);
    let rows = summarise(&lines([run.clone()]));
    assert_eq!(rows[0].calibration_error, None);
    run["calibration_error"] = json!(4.5);
    let rows = summarise(&lines([run]));
    assert_eq!(rows[0].calibration_error.map(|error| error.mean), Some(4.5));
}
