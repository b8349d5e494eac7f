//! What a report says about itself: what was compared, on what, how it was made.

use std::collections::BTreeSet;

use serde::Serialize;
use treering_eval::Asked;

use crate::read::Bench;
use crate::summary::Row;

/// What stands at the head and the foot of a report.
#[derive(Serialize)]
pub(crate) struct About {
    /// One plain sentence or two.
    pub(crate) summary: String,
    /// Names of data that a generator made up.
    pub(crate) synthetic: Vec<String>,
    pub(crate) command: Option<String>,
    pub(crate) versions: Vec<String>,
    pub(crate) seeds: String,
    /// Data and their checksums.
    pub(crate) data: Vec<Data>,
    pub(crate) failures: Vec<Failure>,
}

#[derive(Serialize)]
pub(crate) struct Data {
    pub(crate) name: String,
    pub(crate) checksum: String,
    pub(crate) synthetic: bool,
}

/// A run without a result.
#[derive(Serialize)]
pub(crate) struct Failure {
    pub(crate) data: String,
    pub(crate) learner: String,
    pub(crate) protocol: String,
    pub(crate) seed: u64,
    pub(crate) error: String,
}

impl About {
    pub(crate) fn new(bench: &Bench, rows: &[Row]) -> Self {
        let data = data(rows);
        let versions = bench.lines.iter().filter_map(|line| line.measured.as_ref());
        let versions: BTreeSet<String> =
            versions.map(|measured| measured.version.clone()).collect();
        About {
            summary: summary(bench, rows, data.len()),
            synthetic: data
                .iter()
                .filter(|data| data.synthetic)
                .map(|data| data.name.clone())
                .collect(),
            command: bench.command.clone(),
            versions: versions.into_iter().collect(),
            seeds: seeds(rows),
            data,
            failures: failures(rows),
        }
    }
}

fn data(rows: &[Row]) -> Vec<Data> {
    let distinct: BTreeSet<(&str, &str, bool)> = rows
        .iter()
        .map(|row| (row.data.as_str(), row.checksum.as_str(), row.synthetic))
        .collect();
    let entry = |(name, checksum, synthetic): (&str, &str, bool)| Data {
        name: name.to_owned(),
        checksum: checksum.to_owned(),
        synthetic,
    };
    distinct.into_iter().map(entry).collect()
}

fn summary(bench: &Bench, rows: &[Row], data: usize) -> String {
    let count = |of: fn(&Row) -> &str| rows.iter().map(of).collect::<BTreeSet<_>>().len();
    let runs: usize = rows.iter().map(Row::runs).sum();
    let failed: usize = rows.iter().map(|row| row.failed.len()).sum();
    let chosen = bench
        .lines
        .iter()
        .filter(|line| line.asked == Asked::Validation)
        .count();
    let mut text = format!(
        "{} compared on {} under {}: {} on test nodes, {}.",
        several(count(|row| &row.label), "learner"),
        several(data, "data set"),
        several(count(|row| &row.protocol), "protocol"),
        several(runs, "run"),
        match failed {
            0 => "none failed".to_owned(),
            failed => format!("{failed} failed"),
        }
    );
    if chosen > 0 {
        let were = if chosen == 1 { "was" } else { "were" };
        text.push_str(&format!(
            " Beside these, {} on validation nodes {were} used to choose parameters.",
            several(chosen, "run")
        ));
    }
    text
}

fn several(count: usize, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    }
}

/// `0 to 4`, or a list where some are missing.
fn seeds(rows: &[Row]) -> String {
    let all: BTreeSet<u64> = rows
        .iter()
        .flat_map(|row| row.seeds.iter().copied())
        .collect();
    match (all.first(), all.last()) {
        (Some(first), Some(last)) if last > first && last - first + 1 == all.len() as u64 => {
            format!("{first} to {last}")
        }
        _ => all
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn failures(rows: &[Row]) -> Vec<Failure> {
    let of_row = |row: &Row| {
        let failure = |failed: &crate::summary::Failed| Failure {
            data: crate::scene::marked(&row.data, row.synthetic),
            learner: row.label.clone(),
            protocol: row.protocol.clone(),
            seed: failed.seed,
            error: failed.error.clone(),
        };
        row.failed.iter().map(failure).collect::<Vec<_>>()
    };
    rows.iter().flat_map(of_row).collect()
}
