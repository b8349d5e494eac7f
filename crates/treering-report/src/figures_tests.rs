use resvg::usvg::roxmltree::Document;
use serde_json::{Value, json};

use super::*;
use crate::fixture::{bench, done, failed};
use crate::summary::summarise;

/// Two learners, two protocols, a name that has to be escaped, three prompt sizes, a failed run.
fn runs() -> Vec<Value> {
    let mut all = Vec::new();
    for seed in 0..2 {
        let more = seed as f64;
        all.push(done(
            "demo <1>",
            "ewc",
            "paper",
            seed,
            [90.0, 20.0 + more, 80.0],
        ));
        for (protocol, tokens) in [("paper", 3), ("paper", 5), ("paper", 10), ("single", 3)] {
            let mut run = done("demo <1>", "tpp", protocol, seed, [90.0, 90.0, 80.0 + more]);
            run["parameters"]["tokens"] = tokens.into();
            run["task_id_by_task"] = if protocol == "paper" {
                json!(100.0)
            } else {
                json!(75.0 + more)
            };
            all.push(run);
        }
    }
    all.push(failed(
        done("demo <1>", "gem", "paper", 0, [0.0; 3]),
        "</script><b>",
    ));
    all
}

fn drawn() -> Vec<Figure> {
    let bench = bench(runs());
    figures(&bench, &summarise(&bench.lines))
}

fn one(kind: Kind) -> Figure {
    drawn()
        .into_iter()
        .find(|figure| figure.kind == kind)
        .unwrap()
}

#[test]
fn every_kind_of_figure_is_drawn_as_valid_xml_without_odd_numbers() {
    let all = drawn();
    let mut kinds: Vec<Kind> = all.iter().map(|figure| figure.kind).collect();
    kinds.dedup();
    assert_eq!(kinds.len(), 9, "{kinds:?}");
    for figure in &all {
        let document =
            Document::parse(&figure.svg).unwrap_or_else(|error| panic!("{}: {error}", figure.id));
        for node in document.descendants() {
            for attribute in node.attributes() {
                let value = attribute.value();
                assert!(
                    !value.contains("NaN") && !value.contains("inf"),
                    "{}: {value}",
                    figure.id
                );
            }
        }
        assert!(
            figure.svg.contains("SYNTHETIC") && figure.svg.contains("demo &lt;1&gt;"),
            "{}",
            figure.id
        );
        assert!(figure.csv.lines().count() > 1, "{}", figure.id);
        assert!(
            !figure.svg.contains("http") || figure.svg.matches("http").count() == 1,
            "only the namespace"
        );
    }
}

#[test]
fn names_of_figures_are_names_of_files_and_differ() {
    let mut names: Vec<String> = drawn().into_iter().map(|figure| figure.id).collect();
    let plain = |name: &String| {
        name.chars()
            .all(|sign| sign.is_ascii_alphanumeric() || sign == '-')
    };
    assert!(names.iter().all(plain), "{names:?}");
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(
        names.contains(&"aa-af-demo-1-synthetic-paper".to_owned()),
        "{names:?}"
    );
}

#[test]
fn bars_have_the_numbers_of_the_rows() {
    let csv = one(Kind::Bars).csv;
    assert!(csv.contains("\newc,2,50.25,0.354,-69.5,0.707\n"), "{csv}");
}

#[test]
fn group_sizes_run_from_single_nodes_to_all() {
    let csv = one(Kind::Groups).csv;
    assert!(
        csv.contains("tpp,1,75.5,0.707,2\ntpp,all,100,0,2\n"),
        "{csv}"
    );
    assert!(!csv.contains("ewc"));
}

#[test]
fn prompt_sizes_are_in_order_and_of_one_kind() {
    let csv = one(Kind::Tokens).csv;
    let places: Vec<&str> = csv
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(2))
        .collect();
    assert_eq!(places, ["3", "5", "10"], "{csv}");
}

#[test]
fn a_figure_without_numbers_is_left_out() {
    let mut alone = done("cora", "joint", "oracle", 0, [90.0; 3]);
    alone["matrix"] = json!([[], [80.0, 60.0]]);
    alone["learning_curve"] = json!([null, 70.0]);
    alone["af"] = Value::Null;
    let mut bench = bench([alone]);
    bench.studies.clear();
    let kinds: Vec<Kind> = figures(&bench, &summarise(&bench.lines))
        .into_iter()
        .map(|figure| figure.kind)
        .collect();
    assert_eq!(kinds, [Kind::Bars, Kind::Matrix, Kind::Costs]);
    bench.lines = crate::fixture::lines([failed(done("cora", "gem", "paper", 0, [0.0; 3]), "x")]);
    assert!(figures(&bench, &summarise(&bench.lines)).is_empty());
}

#[test]
fn a_cell_has_the_colour_of_its_rounded_value() {
    let svg = one(Kind::Matrix).svg;
    // 20.5 % of the first row's last stage.
    assert!(
        svg.contains(&format!("fill=\"{}\"", crate::colour::heat(0.21))),
        "{svg}"
    );
    assert!(svg.contains(">20.5</text>"));
}

#[test]
fn figures_become_pixels_without_any_font_of_the_system() {
    let figure = one(Kind::Matrix);
    let image = crate::png(&figure.id, &figure.svg).unwrap();
    assert_eq!(&image[1..4], b"PNG");
    let blank = figure
        .svg
        .replace("font-size=\"14\"", "font-size=\"14\" display=\"none\"");
    assert_ne!(crate::png("blank", &blank).unwrap(), image, "text is drawn");
    let error = crate::png("odd", "<svg").unwrap_err().to_string();
    assert!(error.contains("odd") && error.contains("--svg"));
}
