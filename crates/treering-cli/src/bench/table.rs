//! The rows of a bench for people and programs.

use serde::Serialize;
use treering_data::{ClassOrder, human_bytes};
use treering_eval::Protocol;
use treering_eval::runs::{GridRecord, Measured, Record, RunResult};
use treering_learn::registry::Settings;
use treering_report::summary::Spread;

use super::meter;
use super::search::{Choice, words};
use super::series::Series;
use super::sets::one_line;
use crate::output::{grouped, table};

/// One row: the runs of all seeds.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) data: String,
    checksum: String,
    synthetic: bool,
    order: ClassOrder,
    learner: String,
    /// Parameters that are not at their defaults.
    set: Settings,
    pub(super) protocol: Protocol,
    tasks: usize,
    classes: usize,
    runs: usize,
    done: usize,
    failed: Vec<Lost>,
    pub(super) aa: Option<Spread>,
    pub(super) af: Option<Spread>,
    pub(super) task_id_accuracy: Option<Spread>,
    pub(super) task_id_by_task: Option<Spread>,
    /// Only under the protocols `open` and `open:M`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) auroc: Option<Spread>,
    pub(super) stored_floats_per_task: Option<Spread>,
    cpu_seconds: Option<Spread>,
    /// By the clock.
    pub(super) learn_seconds: Option<Spread>,
    pub(super) predict_seconds: Option<Spread>,
    peak_memory_bytes: Option<u64>,
    chosen_by: Option<ChosenBy>,
}

/// The search of this call that chose the row's parameters.
#[derive(Serialize)]
struct ChosenBy {
    hash: String,
    #[serde(flatten)]
    grid: GridRecord,
}

/// A run without a result.
#[derive(Serialize)]
struct Lost {
    run: String,
    error: String,
}

impl Row {
    pub(super) fn new(
        series: &Series,
        synthetic: bool,
        records: &[Record],
        choice: Choice,
        wanted: usize,
    ) -> Self {
        let over = |of: fn(&RunResult) -> Option<f64>| {
            let results = records.iter().filter_map(|record| record.result.as_ref());
            Spread::of(&results.filter_map(of).collect::<Vec<_>>())
        };
        let measured = || records.iter().filter_map(|record| record.measured.as_ref());
        let seconds =
            |of: fn(&Measured) -> f64| Spread::of(&measured().map(of).collect::<Vec<_>>());
        let lost = |record: &Record| {
            Some(Lost {
                run: meter::name(&series.label, &record.spec),
                error: record.error.clone()?,
            })
        };
        let mut failed: Vec<Lost> = records.iter().filter_map(lost).collect();
        let chosen_by = match choice {
            Choice::Fixed => None,
            Choice::Chosen(_, grid) => Some(ChosenBy {
                hash: grid.hash(),
                grid: *grid,
            }),
            Choice::None(first, _) => {
                let error = "no combination of the grid gave a result for every seed on validation nodes; the first error";
                failed.push(Lost {
                    run: format!("{} {}", series.label, series.learner),
                    error: format!("{error}: {first}"),
                });
                None
            }
        };
        Row {
            data: series.label.clone(),
            checksum: series.data.checksum.clone(),
            synthetic,
            order: series.order,
            learner: series.learner.clone(),
            set: series.changed.iter().cloned().collect(),
            protocol: series.protocol,
            tasks: series.tasks,
            classes: series.classes,
            runs: wanted,
            done: records
                .iter()
                .filter(|record| record.result.is_some())
                .count(),
            failed,
            aa: over(|result| result.aa),
            af: over(|result| result.af),
            task_id_accuracy: over(|result| result.task_id_accuracy),
            task_id_by_task: over(|result| result.task_id_by_task),
            auroc: over(|result| result.open.as_ref()?.auroc),
            stored_floats_per_task: over(|result| Some(result.stored_floats_per_task)),
            cpu_seconds: seconds(|measured| measured.cpu_seconds.learning()),
            learn_seconds: seconds(|measured| measured.seconds.learning()),
            predict_seconds: seconds(|measured| measured.seconds.predict),
            peak_memory_bytes: measured().map(|measured| measured.peak_memory_bytes).max(),
            chosen_by,
        }
    }

    /// How many of its runs are done, where that is not all of them.
    pub(super) fn fewer(&self) -> Option<usize> {
        (self.done < self.runs).then_some(self.done)
    }

    /// How many of its runs have no result.
    pub(super) fn failures(&self) -> usize {
        self.failed.len()
    }

    fn cells(&self, columns: Columns) -> Vec<String> {
        let spread = |value: Option<Spread>| value.map_or("-".into(), |spread| spread.text(1));
        let mut cells = vec![self.data.clone()];
        cells.extend(columns.order.then(|| word(&self.order)));
        cells.extend([
            match self.set.is_empty() {
                true => self.learner.clone(),
                false => format!("{} {}", self.learner, words(&self.set)),
            },
            self.protocol.to_string(),
            match self.done == self.runs {
                true => self.runs.to_string(),
                false => format!("{}/{}", self.done, self.runs),
            },
            spread(self.aa),
            spread(self.af),
            spread(self.task_id_accuracy),
        ]);
        cells.extend(columns.auroc.then(|| spread(self.auroc)));
        cells.extend([
            self.stored_floats_per_task
                .map_or("-".into(), |stored| grouped(stored.mean.round() as usize)),
            self.cpu_seconds
                .map_or("-".into(), |seconds| format!("{:.2}", seconds.mean)),
            self.peak_memory_bytes.map_or("-".into(), human_bytes),
        ]);
        cells
    }

    fn choice(&self, orders: bool) -> Option<String> {
        let grid = &self.chosen_by.as_ref()?.grid;
        let highest = grid.tried.iter().filter_map(|tried| tried.validation_aa);
        let order = match orders {
            true => format!(" {}", word(&self.order)),
            false => String::new(),
        };
        Some(format!(
            "chosen on validation nodes for {}{order} {} {}: {} (AA {:.1} there, best of {})",
            self.data,
            self.learner,
            self.protocol,
            words(grid.chosen.iter().flatten()),
            highest.fold(f64::MIN, f64::max),
            grid.tried.len()
        ))
    }
}

/// A value of few words as it is written in files.
pub(super) fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

const HEADER: [&str; 12] = [
    "data",
    "order",
    "learner",
    "protocol",
    "runs",
    "AA",
    "AF",
    "task-ID",
    "AUROC",
    "stored/task",
    "CPU s (learn)",
    "peak memory",
];

/// Columns that are there only where they have something to say.
#[derive(Clone, Copy)]
struct Columns {
    /// Some order is not the ascending one.
    order: bool,
    /// Some row says how well unknown tasks were told from known ones.
    auroc: bool,
}

impl Columns {
    fn of(rows: &[Row]) -> Self {
        Columns {
            order: rows.iter().any(|row| row.order != ClassOrder::Ascending),
            auroc: rows.iter().any(|row| row.auroc.is_some()),
        }
    }

    fn header(self) -> Vec<&'static str> {
        let wanted = |name: &&str| match *name {
            "order" => self.order,
            "AUROC" => self.auroc,
            _ => true,
        };
        HEADER.iter().copied().filter(wanted).collect()
    }
}

/// For a terminal.
pub(super) fn plain(rows: &[Row], left_out: &[String]) -> String {
    let columns = Columns::of(rows);
    let header = columns.header();
    let numbers = header.iter().position(|&name| name == "runs");
    let right: Vec<usize> = (numbers.unwrap_or(0)..header.len()).collect();
    let mut listing = table(&header, &right);
    for row in rows {
        listing.add_row(row.cells(columns));
    }
    format!("{}\n{}", listing.trim_fmt(), remarks(rows, left_out, ""))
}

/// For a page.
pub(super) fn markdown(rows: &[Row], left_out: &[String]) -> String {
    let columns = Columns::of(rows);
    let header = columns.header();
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let names: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let mut text = line(&names);
    text.push_str(&format!("|{}\n", "---|".repeat(header.len())));
    for row in rows {
        text.push_str(&line(&row.cells(columns)));
    }
    format!("{text}\n{}", remarks(rows, left_out, "- "))
}

/// What has to be said below the table.
fn remarks(rows: &[Row], left_out: &[String], before: &str) -> String {
    let mut told: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| row.synthetic) {
        let said = format!("{} is SYNTHETIC data", row.data);
        if !told.contains(&said) {
            told.push(said);
        }
    }
    told.extend(left_out.iter().cloned());
    let orders = Columns::of(rows).order;
    told.extend(rows.iter().filter_map(|row| row.choice(orders)));
    for lost in rows.iter().flat_map(|row| &row.failed) {
        told.push(format!("failed: {}: {}", lost.run, lost.error));
    }
    told.iter()
        .map(|text| format!("{before}{}\n", one_line(text)))
        .collect()
}
