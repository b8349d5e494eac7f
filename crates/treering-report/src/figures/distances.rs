//! Study: how far the profiles of tasks are from each other.

use super::heat::Heat;
use super::{Figure, Kind};
use crate::csv::{Csv, cell};
use crate::scene::marked;
use treering_eval::studies::{ProfileDistances, Study};

pub(super) fn figure(study: &Study, found: &ProfileDistances) -> Figure {
    let scene = marked(&study.data, study.synthetic);
    let all = || found.distances.iter().flatten().copied();
    let cells: Vec<Vec<Option<f64>>> = found
        .distances
        .iter()
        .map(|row| row.iter().map(|&value| Some(value)).collect())
        .collect();
    let title = format!(
        "Profile distances on {scene}, {} smoothing steps, seed {}",
        found.steps, study.seed
    );
    let heat = Heat {
        title: &title,
        axes: ("test nodes of task", "distance to the profile of task"),
        columns: cells.len(),
        cells: &cells,
        range: (
            all().fold(f64::INFINITY, f64::min).min(0.0),
            all().fold(0.0, f64::max),
        ),
        unit: "",
        decimals: 2,
    };
    let mut csv = Csv::new(&["test_nodes_of", "profile_of", "distance"]);
    for (from, row) in found.tasks.iter().zip(&found.distances) {
        for (to, &value) in found.tasks.iter().zip(row) {
            csv.row([from.clone(), to.clone(), cell(value)]);
        }
    }
    let detail = format!(
        "seed {}, {} order",
        study.seed,
        crate::summary::word(&study.order)
    );
    Figure::new(Kind::Distances, scene, detail, heat.svg(), csv.text())
}
