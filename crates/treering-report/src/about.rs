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
        let data = data(bench, rows);
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
            seeds: seeds(bench, rows),
            data,
            failures: failures(rows),
        }
    }
}

fn data(bench: &Bench, rows: &[Row]) -> Vec<Data> {
    let mut distinct: BTreeSet<(&str, &str, bool)> = rows
        .iter()
        .map(|row| (row.data.as_str(), row.checksum.as_str(), row.synthetic))
        .collect();
    // A study may be of data that has no run.
    for study in &bench.studies {
        if distinct.iter().all(|known| known.1 != study.checksum) {
            distinct.insert((&study.data, &study.checksum, study.synthetic));
        }
    }
    let entry = |(name, checksum, synthetic): (&str, &str, bool)| Data {
        name: name.to_owned(),
        checksum: checksum.to_owned(),
        synthetic,
    };
    distinct.into_iter().map(entry).collect()
}

fn summary(bench: &Bench, rows: &[Row], data: usize) -> String {
    if rows.is_empty() {
        let studies = several(bench.studies.len(), "study", "studies");
        let sets = several(data, "data set", "data sets");
        return format!("{studies} of the tasks of {sets}. There is no run in this folder.");
    }
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
        several(count(|row| &row.label), "learner", "learners"),
        several(data, "data set", "data sets"),
        several(count(|row| &row.protocol), "protocol", "protocols"),
        several(runs, "run", "runs"),
        match failed {
            0 => "none failed".to_owned(),
            failed => format!("{failed} failed"),
        }
    );
    if chosen > 0 {
        let were = if chosen == 1 { "was" } else { "were" };
        text.push_str(&format!(
            " Beside these, {} on validation nodes {were} used to choose parameters.",
            several(chosen, "run", "runs")
        ));
    }
    text
}

fn several(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// `0 to 4`, or a list where some are missing.
fn seeds(bench: &Bench, rows: &[Row]) -> String {
    let of_runs = rows.iter().flat_map(|row| row.seeds.iter().copied());
    let of_studies = bench.studies.iter().map(|study| study.seed);
    let all: BTreeSet<u64> = of_runs.chain(of_studies).collect();
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
