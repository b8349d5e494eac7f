//! The report as one page that needs nothing else: no network, no fonts, no other file.

use std::collections::BTreeMap;

use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

use crate::about::About;
use crate::colour;
use crate::figures::{Figure, Kind, matrix, overview};
use crate::read::Bench;
use crate::scene::{marked, scene_name, scenes};
use crate::summary::{Row, Spread};

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// What the template is filled with.
#[derive(Serialize)]
struct Content<'a> {
    style: &'static str,
    script: &'static str,
    about: About,
    columns: Vec<&'static str>,
    rows: Vec<Cells<'a>>,
    choices: [Vec<String>; 3],
    sections: Vec<Section>,
    packed: String,
}

/// Figures of one kind, of which one is shown at a time.
#[derive(Serialize)]
struct Section {
    id: &'static str,
    title: &'static str,
    scenes: Vec<String>,
    details: Vec<String>,
    figures: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    id: String,
    scene: String,
    detail: String,
    svg: String,
}

/// What the script draws from: the matrices of a scene, and the numbers behind each figure.
#[derive(Serialize)]
struct Packed<'a> {
    colours: Vec<String>,
    csv: BTreeMap<&'a str, &'a str>,
    matrices: Vec<Matrix<'a>>,
}

#[derive(Serialize)]
struct Matrix<'a> {
    scene: String,
    protocol: &'a str,
    learner: &'a str,
    /// In tenths of a percent: as fine as it is shown, and short.
    rows: Vec<Vec<u16>>,
}

/// One line of the table.
#[derive(Serialize)]
struct Cells<'a> {
    scene: String,
    label: &'a str,
    changed: &'a str,
    protocol: &'a str,
    runs: String,
    numbers: Vec<String>,
}

/// Columns that are there only where a row has something to say in them.
const CALIBRATION: &str = "ECE %";
const UNKNOWN: &str = "AUROC %";

const COLUMNS: [&str; 12] = [
    "runs",
    "AA %",
    "AF points",
    "task-ID %",
    "micro %",
    "macro-F1 %",
    CALIBRATION,
    UNKNOWN,
    "numbers per task",
    "learn CPU s",
    "answer CPU s",
    "peak memory MB",
];

/// Makes the page.
///
/// # Arguments
/// * `rows`: what [`summarise`](crate::summary::summarise) made of the bench's lines.
///
/// # Errors
/// None that data could cause; the template is part of the program.
pub fn page(bench: &Bench, rows: &[Row]) -> Result<String, minijinja::Error> {
    let figures = overview(rows, &bench.studies);
    let skeletons = skeletons(rows);
    let mut sections = sections(&figures);
    sections.extend(matrix_section(&skeletons));
    sections.sort_by_key(|section| section.0);
    let sections: Vec<Section> = sections.into_iter().map(|section| section.1).collect();
    let packed = Packed {
        colours: colour::table(),
        csv: figures
            .iter()
            .map(|figure| (figure.id.as_str(), figure.csv.as_str()))
            .collect(),
        matrices: matrices(rows),
    };
    let mut environment = Environment::new();
    environment.add_template("page.html", TEMPLATE)?;
    let content = Content {
        style: STYLE,
        script: SCRIPT,
        about: About::new(bench, rows),
        columns: columns(rows),
        rows: rows.iter().map(|row| cells(row, rows)).collect(),
        choices: choices(rows),
        sections,
        packed: json(&packed),
    };
    environment
        .get_template("page.html")?
        .render(Serde(content))
}

/// JSON that cannot end the script element it stands in.
fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    text.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// The values that the table can be filtered by: data, protocols, learners.
fn choices(rows: &[Row]) -> [Vec<String>; 3] {
    let distinct = |values: Vec<String>| {
        let mut seen = Vec::new();
        for value in values {
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
        seen
    };
    let all = |of: &dyn Fn(&Row) -> String| distinct(rows.iter().map(of).collect());
    [
        all(&|row| marked(&scene_name(row, rows), row.synthetic)),
        all(&|row| row.protocol.clone()),
        all(&|row| row.label.clone()),
    ]
}

fn calibrated(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.calibration_error.is_some())
}

fn tells_unknown(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.auroc.is_some())
}

fn columns(rows: &[Row]) -> Vec<&'static str> {
    let wanted = |name: &&str| match *name {
        CALIBRATION => calibrated(rows),
        UNKNOWN => tells_unknown(rows),
        _ => true,
    };
    COLUMNS.into_iter().filter(wanted).collect()
}

fn cells<'a>(row: &'a Row, rows: &[Row]) -> Cells<'a> {
    let spread = |value: Option<Spread>| value.map_or("-".to_owned(), |value| value.text(1));
    let mean = |value: Option<Spread>, unit: f64, decimals: usize| {
        value.map_or("-".to_owned(), |value| {
            format!("{:.decimals$}", value.mean / unit)
        })
    };
    let shares = [
        row.aa,
        row.af,
        row.task_id_accuracy,
        row.micro_accuracy,
        row.macro_f1,
    ];
    Cells {
        scene: marked(&scene_name(row, rows), row.synthetic),
        label: &row.label,
        changed: &row.changed,
        protocol: &row.protocol,
        runs: match row.failed.is_empty() {
            true => row.done.to_string(),
            false => format!("{}/{}", row.done, row.runs()),
        },
        numbers: shares
            .map(spread)
            .into_iter()
            .chain(calibrated(rows).then(|| spread(row.calibration_error)))
            .chain(tells_unknown(rows).then(|| spread(row.auroc)))
            .chain([
                mean(row.stored_floats_per_task, 1.0, 0),
                mean(row.learn_seconds, 1.0, 2),
                mean(row.predict_seconds, 1.0, 2),
                mean(row.peak_memory_bytes, 1e6, 1),
            ])
            .collect(),
    }
}

fn sections(figures: &[Figure]) -> Vec<(Kind, Section)> {
    let mut all: BTreeMap<Kind, Vec<&Figure>> = BTreeMap::new();
    for figure in figures {
        all.entry(figure.kind).or_default().push(figure);
    }
    all.into_iter()
        .map(|(kind, figures)| (kind, section(kind, &figures)))
        .collect()
}

fn section(kind: Kind, figures: &[&Figure]) -> Section {
    let (id, title) = kind.names();
    let distinct = |of: fn(&Figure) -> &String| {
        let mut seen: Vec<String> = Vec::new();
        for figure in figures {
            if !seen.contains(of(figure)) {
                seen.push(of(figure).clone());
            }
        }
        seen
    };
    Section {
        id,
        title,
        scenes: distinct(|figure| &figure.scene),
        details: distinct(|figure| &figure.detail),
        figures: figures
            .iter()
            .map(|figure| Shown {
                id: figure.id.clone(),
                scene: figure.scene.clone(),
                detail: figure.detail.clone(),
                svg: figure.svg.clone(),
            })
            .collect(),
    }
}

/// One matrix a scene: the script paints the others into the same drawing, so that 60 matrices of 35 tasks do not make 60 drawings.
fn skeletons(rows: &[Row]) -> Vec<Figure> {
    let first = |scene: &crate::scene::Scene<'_>| {
        let largest = scene
            .rows
            .iter()
            .max_by_key(|row| row.matrix.len())?
            .matrix
            .len();
        let row = scene.rows.iter().find(|row| row.matrix.len() == largest)?;
        matrix::figure(scene, row)
    };
    let mut all: Vec<Figure> = scenes(rows).iter().filter_map(first).collect();
    for (at, figure) in all.iter_mut().enumerate() {
        figure.id = format!("matrix-{at}");
    }
    all
}

fn matrix_section(skeletons: &[Figure]) -> Option<(Kind, Section)> {
    let figures: Vec<&Figure> = skeletons.iter().collect();
    let mut section = section(Kind::Matrix, &figures);
    // Protocol and learner are chosen from the packed matrices instead.
    section.details.clear();
    (!figures.is_empty()).then_some((Kind::Matrix, section))
}

fn matrices(rows: &[Row]) -> Vec<Matrix<'_>> {
    let tenths = |value: &f64| (value * 10.0).round().clamp(0.0, 1000.0) as u16;
    let pack = |row: &Vec<f64>| row.iter().map(tenths).collect();
    rows.iter()
        .filter(|row| !row.matrix.is_empty())
        .map(|row| Matrix {
            scene: marked(&scene_name(row, rows), row.synthetic),
            protocol: &row.protocol,
            learner: &row.label,
            rows: row.matrix.iter().map(pack).collect(),
        })
        .collect()
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
