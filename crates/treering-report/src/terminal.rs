//! The report for a terminal: what fits 80 columns.

use crate::about::About;
use crate::read::Bench;
use crate::scene::{Scene, scenes};
use crate::summary::{Row, Spread};
use crate::svg::shortened;

const LABEL: usize = 18;
const BAR: usize = 9;
const CURVE: usize = 10;
const WIDTH: usize = 80;
/// Failures that are told in full; a page has all of them.
const TOLD: usize = 5;

/// The report as text: a table for every stream and protocol, with bars of AA and small learning curves.
///
/// # Arguments
/// * `bold`: whether headings are marked for a terminal.
pub fn terminal(bench: &Bench, rows: &[Row], bold: bool) -> String {
    let about = About::new(bench, rows);
    let mut text = wrapped(&about.summary);
    for name in &about.synthetic {
        text.push_str(&wrapped(&format!("{name} is SYNTHETIC data.")));
    }
    for scene in scenes(rows) {
        for (protocol, rows) in scene.by_protocol() {
            text.push_str(&table(&scene, protocol, &rows, bold));
        }
    }
    if !about.failures.is_empty() {
        text.push('\n');
    }
    for failure in about.failures.iter().take(TOLD) {
        let run = format!(
            "{} {} {} seed {}",
            failure.data, failure.learner, failure.protocol, failure.seed
        );
        let error: Vec<&str> = failure.error.split_whitespace().collect();
        text.push_str(&wrapped(&format!(
            "failed: {}: {}",
            printable(&run),
            printable(&error.join(" "))
        )));
    }
    if about.failures.len() > TOLD {
        text.push_str(&format!(
            "and {} more; `-o report.html` has all of them\n",
            about.failures.len() - TOLD
        ));
    }
    text
}

fn table(scene: &Scene<'_>, protocol: &str, rows: &[&Row], bold: bool) -> String {
    let tasks = rows.iter().find_map(|row| row.tasks);
    let tasks = tasks.map_or(String::new(), |tasks| format!(", {tasks} tasks"));
    let heading = printable(&format!("{}, protocol {protocol}{tasks}", scene.marked()));
    let heading = wrapped(&heading);
    let heading = heading.trim_end();
    let heading = match bold {
        true => format!("\u{1b}[1m{heading}\u{1b}[0m"),
        false => heading.to_owned(),
    };
    let mut text = format!("\n{heading}\n");
    text.push_str(&line([
        "learner",
        "runs",
        "AA %",
        "",
        "AF points",
        "task-ID",
        "curve",
    ]));
    for row in rows {
        let runs = match row.failed.is_empty() {
            true => row.done.to_string(),
            false => format!("{}/{}", row.done, row.runs()),
        };
        let spread = |value: Option<Spread>| value.map_or("-".to_owned(), |value| value.text(1));
        let recognised = row
            .task_id_accuracy
            .map_or("-".to_owned(), |value| format!("{:.1}", value.mean));
        text.push_str(&line([
            &shortened(&printable(&row.label), LABEL),
            &runs,
            &spread(row.aa),
            &row.aa.map_or(String::new(), |aa| bar(aa.mean)),
            &spread(row.af),
            &recognised,
            &sparkline(&row.learning_curve),
        ]));
    }
    text
}

/// Seven columns, 80 signs: the widest AA is `100.0 ± 10.0`.
fn line([label, runs, aa, bar, af, id, curve]: [&str; 7]) -> String {
    let text = format!("{label:LABEL$} {runs:>5} {aa:>12} {bar:BAR$} {af:>13} {id:>7} {curve}");
    text.trim_end().to_owned() + "\n"
}

/// A share of 100 in eighths of a sign.
fn bar(percent: f64) -> String {
    let eighths = (percent.clamp(0.0, 100.0) / 100.0 * (8 * BAR) as f64).round() as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + rest
}

/// Heights from 0 to 100; of a long curve even samples, the last included.
fn sparkline(curve: &[Option<Spread>]) -> String {
    let signs = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let count = curve.len().min(CURVE);
    let sign = |at: usize| {
        let point = curve[at * (curve.len() - 1) / (count - 1).max(1)];
        point.map_or(' ', |point| {
            signs[(point.mean.clamp(0.0, 99.9) / 12.5) as usize]
        })
    };
    match count {
        0 | 1 => String::new(),
        count => (0..count).map(sign).collect(),
    }
}

/// Without signs that would steer a terminal.
fn printable(text: &str) -> String {
    text.chars()
        .map(|sign| if sign.is_control() { ' ' } else { sign })
        .collect()
}

/// Lines of at most 80 signs, broken between words where that is possible.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in printable(text).split(' ') {
        let line = lines.last().map_or(0, |line| line.chars().count());
        let long = line > 0 && line + 1 + word.chars().count() > WIDTH;
        if long {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
