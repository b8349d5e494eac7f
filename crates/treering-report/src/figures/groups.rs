//! How well tasks are recognised, by how many nodes are known to come from one.

use super::lines::{Lines, Series};
use super::{Figure, Kind};
use crate::scene::{Scene, Styles};
use crate::summary::{GroupSize, Row};

pub(super) fn figure(scene: &Scene<'_>, styles: &Styles) -> Option<Figure> {
    let known = |row: &&&Row| row.task_id_by_task.is_some() && row.group_size().is_some();
    let rows: Vec<&Row> = scene.rows.iter().filter(known).copied().collect();
    let mut sizes: Vec<GroupSize> = rows.iter().filter_map(|row| row.group_size()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut labels: Vec<&str> = Vec::new();
    for row in &rows {
        if !labels.contains(&row.label.as_str()) {
            labels.push(&row.label);
        }
    }
    let point = |label: &str, size: GroupSize| {
        let fits = |row: &&&Row| row.label == label && row.group_size() == Some(size);
        rows.iter().find(fits).and_then(|row| row.task_id_by_task)
    };
    let series = labels.into_iter().map(|label| Series {
        name: label.to_owned(),
        style: styles.of(label),
        points: sizes.iter().map(|&size| point(label, size)).collect(),
    });
    let series: Vec<Series> = series
        .filter(|series| series.points.iter().flatten().count() > 1)
        .collect();
    if series.is_empty() {
        return None;
    }
    let name = |size: &GroupSize| match size {
        GroupSize::Nodes(nodes) => nodes.to_string(),
        GroupSize::All => "all".to_owned(),
    };
    let lines = Lines {
        title: format!("Task-ID accuracy on {}", scene.marked()),
        x: (
            "test nodes that come as one group".to_owned(),
            sizes.iter().map(name).collect(),
        ),
        y: "task-ID accuracy in %, mean over tasks",
        series,
    };
    Some(Figure::new(
        Kind::Groups,
        scene.marked(),
        String::new(),
        lines.svg(),
        lines.csv("group_size"),
    ))
}
