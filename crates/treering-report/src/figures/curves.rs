//! How AA develops from task to task.

use super::lines::{Lines, Series};
use super::{Figure, Kind};
use crate::scene::{Scene, Styles};
use crate::summary::Row;

pub(super) fn figure(
    scene: &Scene<'_>,
    protocol: &str,
    rows: &[&Row],
    styles: &Styles,
) -> Option<Figure> {
    let tasks = rows
        .iter()
        .map(|row| row.learning_curve.len())
        .max()
        .unwrap_or(0);
    let series: Vec<Series> = rows
        .iter()
        // A learner that is asked only at the end has no curve.
        .filter(|row| row.learning_curve.iter().flatten().count() > 1)
        .map(|row| Series {
            name: row.label.clone(),
            style: styles.of(&row.label),
            points: row.learning_curve.clone(),
        })
        .collect();
    if series.is_empty() {
        return None;
    }
    let lines = Lines {
        title: format!("Learning curves on {}, protocol {protocol}", scene.marked()),
        x: (
            "tasks learned".to_owned(),
            (1..=tasks).map(|task| task.to_string()).collect(),
        ),
        y: "mean accuracy so far in %",
        series,
    };
    let (name, detail) = (scene.marked(), protocol.to_owned());
    Some(Figure::new(
        Kind::Curves,
        name,
        detail,
        lines.svg(),
        lines.csv("tasks_learned"),
    ))
}
