//! Tables for papers: a row a method, a column for every data set and figure; as Markdown, LaTeX and CSV.

mod formats;
mod published;

use treering_eval::Protocol;
use treering_report::summary::Spread;

pub(super) use self::formats::{csv, latex, markdown};
use self::published::{Figure, published};
use super::table::Row;

/// What a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    Aa,
    Af,
    TaskId,
    TaskIdByTask,
    Auroc,
    Stored,
    LearnSeconds,
    PredictSeconds,
}

impl Metric {
    fn title(self) -> &'static str {
        match self {
            Metric::Aa => "AA",
            Metric::Af => "AF",
            Metric::TaskId => "task-ID",
            Metric::TaskIdByTask => "task-ID, mean of tasks",
            Metric::Auroc => "AUROC",
            Metric::Stored => "stored/task",
            Metric::LearnSeconds => "learn s",
            Metric::PredictSeconds => "predict s",
        }
    }

    fn of(self, row: &Row) -> Option<Spread> {
        match self {
            Metric::Aa => row.aa,
            Metric::Af => row.af,
            Metric::TaskId => row.task_id_accuracy,
            Metric::TaskIdByTask => row.task_id_by_task,
            Metric::Auroc => row.auroc,
            Metric::Stored => row.stored_floats_per_task,
            Metric::LearnSeconds => row.learn_seconds,
            Metric::PredictSeconds => row.predict_seconds,
        }
    }

    fn decimals(self) -> usize {
        match self {
            Metric::Stored => 0,
            Metric::PredictSeconds => 2,
            _ => 1,
        }
    }

    /// How good a figure is as it is shown: figures that look the same are equally good.
    fn merit(self, spread: Spread) -> i64 {
        let shown = (spread.mean * 10f64.powi(self.decimals() as i32)).round() as i64;
        match self {
            Metric::Stored | Metric::LearnSeconds | Metric::PredictSeconds => -shown,
            _ => shown,
        }
    }
}

/// What a table is about, before its figures are there.
pub(super) struct Plan {
    /// The name of its files.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) metrics: Vec<Metric>,
    pub(super) lines: Vec<PlannedLine>,
}

/// A row of a table: which entrant of the bench it shows.
pub(super) struct PlannedLine {
    pub(super) label: String,
    pub(super) entrant: usize,
    pub(super) protocol: Protocol,
    pub(super) replays: bool,
    pub(super) reference: bool,
}

/// A table.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// What it shows, what learners know at the test, and how it was made; a sentence each.
    pub(super) caption: Vec<String>,
    columns: Vec<Column>,
    lines: Vec<Line>,
}

struct Column {
    data: String,
    metric: Metric,
    /// What the paper has there, where the data is one of its four.
    published: bool,
}

struct Line {
    label: String,
    protocol: Protocol,
    replays: bool,
    reference: bool,
    cells: Vec<Cell>,
}

struct Cell {
    spread: Option<Spread>,
    best: bool,
    published: Option<Figure>,
}

impl Table {
    /// Fills a table in.
    ///
    /// # Arguments
    /// * `rows`: the rows of every data set, in the order of the entrants.
    pub(super) fn new(plan: &Plan, rows: &[&[Row]], caption: Vec<String>) -> Self {
        let mut lines: Vec<Line> = Vec::new();
        for planned in &plan.lines {
            let cells = rows.iter().flat_map(|rows| {
                let row = &rows[planned.entrant];
                let cell = move |&metric: &Metric| Cell {
                    spread: metric.of(row),
                    best: false,
                    published: published(plan.name, &planned.label, &row.data, metric),
                };
                plan.metrics.iter().map(cell)
            });
            lines.push(Line {
                label: planned.label.clone(),
                protocol: planned.protocol,
                replays: planned.replays,
                reference: planned.reference,
                cells: cells.collect(),
            });
        }
        let data = rows.iter().filter_map(|rows| rows.first());
        let columns = data.flat_map(|row| plan.metrics.iter().map(|&m| (row.data.clone(), m)));
        let columns = columns.enumerate().map(|(at, (data, metric))| Column {
            data,
            metric,
            published: lines.iter().any(|line| line.cells[at].published.is_some()),
        });
        let mut table = Table {
            name: plan.name,
            caption,
            columns: columns.collect(),
            lines,
        };
        table.mark_best();
        table
    }

    /// Marks the best of every column among the methods that are told the same; references do not compete, and a single method has nobody to beat.
    fn mark_best(&mut self) {
        let mut protocols: Vec<Protocol> = self.lines.iter().map(|line| line.protocol).collect();
        protocols.dedup();
        for protocol in protocols {
            let rival = |line: &Line| !line.reference && line.protocol == protocol;
            if self.lines.iter().filter(|line| rival(line)).count() < 2 {
                continue;
            }
            for (at, column) in self.columns.iter().enumerate() {
                let merit = |cell: &Cell| cell.spread.map(|spread| column.metric.merit(spread));
                let rivals = self.lines.iter().filter(|line| rival(line));
                let best = rivals.filter_map(|line| merit(&line.cells[at])).max();
                for line in self.lines.iter_mut().filter(|line| rival(line)) {
                    let cell = &mut line.cells[at];
                    cell.best = best.is_some() && merit(cell) == best;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
