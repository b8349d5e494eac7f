//! The accuracy matrix of one row: after which task, on which task.

use super::heat::Heat;
use super::{Figure, Kind};
use crate::csv::{Csv, cell};
use crate::scene::Scene;
use crate::summary::Row;

/// What the figure is called; the page's script writes the same.
pub(crate) fn title(scene: &str, protocol: &str, label: &str) -> String {
    format!("{label} on {scene}, protocol {protocol}")
}

/// None for a row without a result.
pub(crate) fn figure(scene: &Scene<'_>, row: &Row) -> Option<Figure> {
    if row.matrix.is_empty() {
        return None;
    }
    // As fine as it is shown: the page has no more decimals.
    let shown = |value: &f64| (value * 10.0).round() / 10.0;
    let cell_of = |stage: usize, task: usize| row.matrix[stage].get(task).map(shown);
    let cells: Vec<Vec<Option<f64>>> = (0..row.matrix.len())
        .map(|stage| (0..=stage).map(|task| cell_of(stage, task)).collect())
        .collect();
    let title = title(&scene.marked(), &row.protocol, &row.label);
    let heat = Heat {
        title: &title,
        axes: ("after task", "accuracy on task"),
        columns: cells.len(),
        cells: &cells,
        range: (0.0, 100.0),
        unit: " %",
        decimals: 1,
    };
    let mut csv = Csv::new(&["after_task", "on_task", "accuracy"]);
    for (stage, cells) in cells.iter().enumerate() {
        for (task, value) in cells.iter().enumerate() {
            let Some(value) = *value else { continue };
            csv.row([(stage + 1).to_string(), (task + 1).to_string(), cell(value)]);
        }
    }
    let detail = format!("{} {}", row.protocol, row.label);
    Some(Figure::new(
        Kind::Matrix,
        scene.marked(),
        detail,
        heat.svg(),
        csv.text(),
    ))
}
