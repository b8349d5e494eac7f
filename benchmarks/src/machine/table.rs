//! The one table, as Markdown and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::Row;
use super::peaks::{Line, Peaks};

type Measured = [(Peaks, Vec<Row>)];

const HEAD: &str = "| what | shape | threads | seconds | GB | GFLOP | GB/s | GFLOP/s | bound s | bound by | times bound | times bound, all at triad |";

/// Peaks first, then kernels, each with one thread before more.
pub(super) fn markdown(all: &Measured) -> String {
    let mut out = format!(
        "{HEAD}\n|{}\n",
        "---|".repeat(HEAD.matches('|').count() - 1)
    );
    for at in 0..all.first().map_or(0, |(peaks, _)| peaks.lines.len()) {
        for (peaks, _) in all {
            peak(&mut out, peaks.threads, &peaks.lines[at]);
        }
    }
    for at in 0..all.first().map_or(0, |(_, rows)| rows.len()) {
        for (peaks, rows) in all {
            kernel(&mut out, peaks, &rows[at]);
        }
    }
    out
}

fn peak(out: &mut String, threads: usize, line: &Line) {
    let rates = rates(line.seconds, line.bytes, line.flops);
    let _ = writeln!(
        out,
        "| {} | {} | {threads} | {} | {rates} | | | | |",
        line.what,
        line.shape,
        seconds(line.seconds)
    );
}

fn kernel(out: &mut String, peaks: &Peaks, row: &Row) {
    let bound = row.bound(peaks);
    let _ = writeln!(
        out,
        "| **{}** | {} | {} | {} | {} | {} | {} | {:.2} | {:.2} |",
        row.what,
        row.shape,
        row.threads,
        seconds(row.seconds),
        rates(row.seconds, row.work.bytes(), row.work.flops()),
        seconds(bound.seconds),
        bound.by,
        row.seconds / bound.seconds,
        row.seconds / bound.all_streamed
    );
}

/// GB, GFLOP and both by second.
fn rates(seconds: f64, bytes: f64, flops: f64) -> String {
    let number = |value: f64| match value / 1e9 {
        0.0 => String::new(),
        value if value < 9.995 => format!("{value:.2}"),
        value => format!("{value:.1}"),
    };
    let (per_byte, per_flop) = (number(bytes / seconds), number(flops / seconds));
    format!(
        "{} | {} | {per_byte} | {per_flop}",
        number(bytes),
        number(flops)
    )
}

fn seconds(value: f64) -> String {
    match value {
        value if value < 0.1 => format!("{value:.5}"),
        value => format!("{value:.3}"),
    }
}

/// Every line by name, with the counts that it was worked out from.
pub(super) fn json(all: &Measured) -> Value {
    let lines = all.iter().flat_map(|(peaks, rows)| {
        let lines = peaks.lines.iter().map(|line| {
            json!({
                "kind": "peak",
                "what": line.what,
                "shape": line.shape,
                "threads": peaks.threads,
                "seconds": line.seconds,
                "bytes": line.bytes,
                "flops": line.flops,
            })
        });
        lines.chain(rows.iter().map(|row| of_row(peaks, row)))
    });
    lines.collect()
}

fn of_row(peaks: &Peaks, row: &Row) -> Value {
    let bound = row.bound(peaks);
    json!({
        "kind": "kernel",
        "what": row.what,
        "shape": row.shape,
        "threads": row.threads,
        "seconds": row.seconds,
        "bytes": row.work.bytes(),
        "flops": row.work.flops(),
        "bound_seconds": bound.seconds,
        "bound_by": bound.by,
        "times_bound": row.seconds / bound.seconds,
        "counts": row.counts,
    })
}
