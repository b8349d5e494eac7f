//! What learning, answering and keeping costs.

use super::listing::{Listing, TOP};
use super::{Figure, Kind};
use crate::colour::FAINT;
use crate::csv::{Csv, cell};
use crate::scale::Scale;
use crate::scene::{Scene, Styles};
use crate::summary::{Row, Spread};
use crate::svg::{Anchor, Svg, escape, number};

const ROW: f64 = 18.0;
const PANEL: f64 = 116.0;
const GAP: f64 = 46.0;

/// A panel: its name, its numbers, and how one is written.
type Panel = (&'static str, fn(&Row) -> Option<Spread>, fn(f64) -> String);

const PANELS: [Panel; 4] = [
    (
        "learning, CPU s",
        |row| row.learn_seconds,
        |v| format!("{v:.2} s"),
    ),
    (
        "answering, CPU s",
        |row| row.predict_seconds,
        |v| format!("{v:.2} s"),
    ),
    ("peak memory, MB", megabytes, |v| format!("{v:.0} MB")),
    (
        "numbers per task",
        |row| row.stored_floats_per_task,
        |v| format!("{v:.0}"),
    ),
];

fn megabytes(row: &Row) -> Option<Spread> {
    let bytes = row.peak_memory_bytes?;
    Some(Spread {
        mean: bytes.mean / 1e6,
        std: bytes.std.map(|std| std / 1e6),
        ..bytes
    })
}

pub(super) fn figure(
    scene: &Scene<'_>,
    protocol: &str,
    rows: &[&Row],
    styles: &Styles,
) -> Option<Figure> {
    let listing = Listing::new(rows, ROW, |row| row.learn_seconds.is_some())?;
    let (rows, left) = (&listing.rows, listing.left);
    let title = format!("Costs on {}, protocol {protocol}", scene.marked());
    let mut svg = Svg::new(left + PANELS.len() as f64 * (PANEL + GAP), &title);
    listing.name(&mut svg, 12.0);
    for (at, panel) in PANELS.iter().enumerate() {
        draw(
            &mut svg,
            left + at as f64 * (PANEL + GAP),
            panel,
            rows,
            styles,
        );
    }
    let height = listing.bottom() + 28.0;
    let (name, detail) = (scene.marked(), protocol.to_owned());
    Some(Figure::new(
        Kind::Costs,
        name,
        detail,
        svg.finish(height, &title),
        csv(rows),
    ))
}

/// Points on a logarithmic axis: bars would have no foot to stand on.
fn draw(svg: &mut Svg, left: f64, (name, of, text): &Panel, rows: &[&Row], styles: &Styles) {
    let values = rows
        .iter()
        .filter_map(|row| of(row))
        .map(|spread| spread.mean);
    let scale = Scale::decades(values, (left, left + PANEL));
    let bottom = TOP + ROW * rows.len() as f64;
    svg.text(left - 4.0, TOP - 10.0, Anchor::Start, name);
    for (value, text) in scale.ticks(3) {
        let x = scale.place(value);
        svg.line((x, TOP), (x, bottom), FAINT, "grid");
        svg.text(x, bottom + 16.0, Anchor::Middle, &text);
    }
    for (at, row) in rows.iter().enumerate() {
        let Some(spread) = of(row) else { continue };
        svg.raw(&format!(
            "<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"4.5\" fill=\"{}\"><title>{}: {}</title></circle>",
            number(scale.place(spread.mean)),
            number(TOP + ROW * (at as f64 + 0.5)),
            styles.of(&row.label).colour,
            escape(&row.label),
            text(spread.mean)
        ));
    }
}

fn csv(rows: &[&Row]) -> String {
    let mut csv = Csv::new(&[
        "learner",
        "learn_cpu_seconds",
        "predict_cpu_seconds",
        "peak_memory_mb",
        "stored_floats_per_task",
    ]);
    for row in rows {
        let [learn, predict, memory, stored] =
            PANELS.map(|panel| cell(panel.1(row).map(|spread| spread.mean)));
        csv.row([row.label.clone(), learn, predict, memory, stored]);
    }
    csv.text()
}
