//! Figures: each a drawing with the numbers it was made from. Page, SVG files and PNG files show these and nothing else.

mod bars;
mod costs;
mod curves;
mod distances;
mod embeddings;
mod groups;
mod heat;
mod lines;
mod listing;
pub(crate) mod matrix;
mod pair;
mod tokens;

use std::collections::BTreeMap;

use crate::read::Bench;
use crate::scene::{Styles, scenes};
use crate::summary::Row;
use treering_eval::studies::{Finding, Study};

/// What a figure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// AA and AF as bars.
    Bars,
    /// AA by task.
    Curves,
    /// The accuracy matrix of one row.
    Matrix,
    /// Task-ID accuracy by size of groups.
    Groups,
    /// AA by number of prompt tokens.
    Tokens,
    /// Time, memory, stored numbers.
    Costs,
    /// Distances between profiles.
    Distances,
    /// Embeddings before and after a prompt.
    Embeddings,
    /// How two tasks differ.
    Pair,
}

impl Kind {
    /// The start of file names, and the name on the page.
    pub(crate) fn names(self) -> (&'static str, &'static str) {
        match self {
            Kind::Bars => ("aa-af", "Average accuracy and forgetting"),
            Kind::Curves => ("learning-curve", "Learning curves"),
            Kind::Matrix => ("matrix", "Accuracy matrices"),
            Kind::Groups => ("group-size", "Task-ID accuracy by group size"),
            Kind::Tokens => ("prompt-size", "Average accuracy by prompt size"),
            Kind::Costs => ("costs", "Time, memory and stored numbers"),
            Kind::Distances => ("profile-distances", "Distances between task profiles"),
            Kind::Embeddings => ("embeddings", "Embeddings before and after the prompt"),
            Kind::Pair => ("pair-difference", "How two tasks differ"),
        }
    }
}

/// A drawing with its numbers.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it shows.
    pub kind: Kind,
    /// Its name, that of no other figure: the name of its file.
    pub id: String,
    /// The scene, marked where its data is synthetic.
    pub scene: String,
    /// What tells it from others of its kind in this scene: a protocol, a task.
    pub detail: String,
    /// The drawing.
    pub svg: String,
    /// The numbers.
    pub csv: String,
}

impl Figure {
    fn new(kind: Kind, scene: String, detail: String, svg: String, csv: String) -> Self {
        Figure {
            kind,
            id: String::new(),
            scene,
            detail,
            svg,
            csv,
        }
    }
}

/// Every figure that there are numbers for, but the matrices.
pub(crate) fn overview(rows: &[Row], studies: &[Study]) -> Vec<Figure> {
    let styles = Styles::new(rows);
    let mut all = Vec::new();
    for scene in scenes(rows) {
        for (protocol, rows) in scene.by_protocol() {
            all.extend(bars::figure(&scene, protocol, &rows, &styles));
            all.extend(curves::figure(&scene, protocol, &rows, &styles));
            all.extend(costs::figure(&scene, protocol, &rows, &styles));
        }
        all.extend(groups::figure(&scene, &styles));
        all.extend(tokens::figure(&scene));
    }
    all.extend(studies.iter().map(study));
    all.sort_by_key(|figure| figure.kind);
    name(&mut all);
    all
}

/// Every figure, the matrix of every row included.
///
/// # Arguments
/// * `rows`: what [`summarise`](crate::summary::summarise) made of the bench's lines.
pub fn figures(bench: &Bench, rows: &[Row]) -> Vec<Figure> {
    let mut all = overview(rows, &bench.studies);
    for scene in scenes(rows) {
        all.extend(
            scene
                .rows
                .iter()
                .filter_map(|row| matrix::figure(&scene, row)),
        );
    }
    all.sort_by_key(|figure| figure.kind);
    name(&mut all);
    all
}

fn study(study: &Study) -> Figure {
    match &study.finding {
        Finding::ProfileDistances(found) => distances::figure(study, found),
        Finding::Embeddings(found) => embeddings::figure(study, found),
        Finding::PairDifference(found) => pair::figure(study, found),
    }
}

/// Names of letters that every file system takes; a number where two would be the same.
fn name(figures: &mut [Figure]) {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for figure in figures {
        let words = format!(
            "{}-{}-{}",
            figure.kind.names().0,
            figure.scene,
            figure.detail
        );
        let plain = slug(&words);
        let count = taken.entry(plain.clone()).or_default();
        *count += 1;
        figure.id = match count {
            1 => plain,
            count => format!("{plain}--{count}"),
        };
    }
}

/// Letters, digits and single hyphens, at most 120.
fn slug(text: &str) -> String {
    let mut plain = String::new();
    for sign in text.chars().take(120) {
        match sign {
            sign if sign.is_ascii_alphanumeric() => plain.push(sign.to_ascii_lowercase()),
            '+' => plain.push_str("-plus-"),
            _ if !plain.ends_with('-') => plain.push('-'),
            _ => {}
        }
    }
    plain.replace("--", "-").trim_matches('-').to_owned()
}

#[cfg(test)]
#[path = "../figures_tests.rs"]
mod tests;
