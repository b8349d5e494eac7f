//! AA by number of prompt tokens: rows that differ in `tokens` and in nothing else.

use serde_json::Value;

use super::lines::{Lines, Series};
use super::{Figure, Kind};
use crate::colour::style;
use crate::scene::Scene;
use crate::summary::Row;

/// The number of tokens, and everything else that a row depends on.
fn taken_apart(row: &Row) -> Option<(u64, String)> {
    let mut rest = row.parameters.clone();
    let tokens = rest.shift_remove("tokens")?.as_u64()?;
    let rest = Value::Object(rest);
    Some((
        tokens,
        format!("{} {} {} {rest}", row.learner, row.protocol, row.revision),
    ))
}

pub(super) fn figure(scene: &Scene<'_>) -> Option<Figure> {
    let mut kinds: Vec<(String, Vec<(u64, &Row)>)> = Vec::new();
    for &row in scene.rows.iter().filter(|row| row.aa.is_some()) {
        let Some((tokens, rest)) = taken_apart(row) else {
            continue;
        };
        match kinds.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, rows)) => rows.push((tokens, row)),
            None => kinds.push((rest, vec![(tokens, row)])),
        }
    }
    kinds.retain(|(_, rows)| rows.len() > 1);
    let mut places: Vec<u64> = kinds
        .iter()
        .flat_map(|(_, rows)| rows)
        .map(|row| row.0)
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut series: Vec<Series> = kinds
        .iter()
        .enumerate()
        .map(|(at, kind)| series(at, &kind.1, &places))
        .collect();
    distinguish(&mut series, &kinds);
    if series.is_empty() {
        return None;
    }
    let lines = Lines {
        title: format!("AA by prompt size on {}", scene.marked()),
        x: (
            "prompt tokens per task".to_owned(),
            places.iter().map(u64::to_string).collect(),
        ),
        y: "AA in %",
        series,
    };
    Some(Figure::new(
        Kind::Tokens,
        scene.marked(),
        String::new(),
        lines.svg(),
        lines.csv("tokens"),
    ))
}

fn series(at: usize, rows: &[(u64, &Row)], places: &[u64]) -> Series {
    let first = rows[0].1;
    let point = |place: &u64| {
        let found = rows.iter().find(|(tokens, _)| tokens == place);
        found.and_then(|(_, row)| row.aa)
    };
    Series {
        name: format!("{}, {}", first.learner, first.protocol),
        style: style(at, false),
        points: places.iter().map(point).collect(),
    }
}

/// Series of one name are told apart by their other parameters.
fn distinguish(series: &mut [Series], kinds: &[(String, Vec<(u64, &Row)>)]) {
    let names: Vec<String> = series.iter().map(|series| series.name.clone()).collect();
    for (series, (_, rows)) in series.iter_mut().zip(kinds) {
        if names.iter().filter(|name| **name == series.name).count() > 1 {
            let words = rows[0].1.changed.split(' ');
            let others: Vec<&str> = words.filter(|word| !word.starts_with("tokens=")).collect();
            series.name = format!("{}, {}", series.name, others.join(" "));
        }
    }
}
