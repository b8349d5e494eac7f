//! AA and AF of all learners on one stream under one protocol.

use std::fmt::Write;

use super::listing::{Listing, TOP};
use super::{Figure, Kind};
use crate::colour::{FAINT, INK};
use crate::csv::{Csv, cell};
use crate::scale::{Scale, round_step};
use crate::scene::{Scene, Styles};
use crate::summary::{Row, Spread};
use crate::svg::{Anchor, Svg, escape, number};

const ROW: f64 = 20.0;
/// For `100.0 ± 10.0`.
const VALUE: f64 = 96.0;
const PANEL: f64 = 150.0;

pub(super) fn figure(
    scene: &Scene<'_>,
    protocol: &str,
    rows: &[&Row],
    styles: &Styles,
) -> Option<Figure> {
    let listing = Listing::new(rows, ROW, |row| row.aa.is_some())?;
    let (rows, left) = (&listing.rows, listing.left);
    let forgets = rows.iter().any(|row| row.af.is_some());
    let panels = if forgets { 2.0 } else { 1.0 };
    let whole = (left + panels * (PANEL + VALUE + 14.0)).max(430.0);
    let title = format!("AA and AF on {}, protocol {protocol}", scene.marked());
    let mut svg = Svg::new(whole, &title);
    listing.name(&mut svg, 8.0);
    panel(
        &mut svg,
        left,
        "AA in %",
        (0.0, 100.0),
        rows,
        |row| row.aa,
        styles,
    );
    if forgets {
        let range = range(rows.iter().filter_map(|row| row.af));
        let left = left + PANEL + VALUE + 14.0;
        panel(
            &mut svg,
            left,
            "AF in points",
            range,
            rows,
            |row| row.af,
            styles,
        );
    }
    let height = listing.bottom() + 28.0;
    let (name, detail) = (scene.marked(), protocol.to_owned());
    Some(Figure::new(
        Kind::Bars,
        name,
        detail,
        svg.finish(height, &title),
        csv(rows),
    ))
}

/// From the lowest end of an error to the highest, 0 included.
fn range(spreads: impl Iterator<Item = Spread> + Clone) -> (f64, f64) {
    let ends = |sign: f64| {
        spreads
            .clone()
            .map(move |s| s.mean + sign * s.std.unwrap_or(0.0))
    };
    let low = ends(-1.0).fold(0.0, f64::min);
    let high = ends(1.0).fold(0.0, f64::max);
    let step = round_step((high - low).max(1.0) / 3.0);
    ((low / step).floor() * step, (high / step).ceil() * step)
}

fn panel(
    svg: &mut Svg,
    left: f64,
    name: &str,
    range: (f64, f64),
    rows: &[&Row],
    of: fn(&Row) -> Option<Spread>,
    styles: &Styles,
) {
    let scale = Scale::straight(range, (left, left + PANEL));
    let bottom = TOP + ROW * rows.len() as f64;
    svg.text(left, TOP - 10.0, Anchor::Start, name);
    for (value, text) in scale.ticks(3) {
        let x = scale.place(value);
        svg.line((x, TOP), (x, bottom), FAINT, "grid");
        svg.text(x, bottom + 16.0, Anchor::Middle, &text);
    }
    let zero = scale.place(0.0);
    svg.line((zero, TOP), (zero, bottom), INK, "axis");
    for (at, row) in rows.iter().enumerate() {
        let Some(spread) = of(row) else { continue };
        let y = TOP + ROW * at as f64;
        svg.raw(&bar(&scale, y, spread, row, styles));
        svg.text(
            left + PANEL + 8.0,
            y + ROW / 2.0 + 4.0,
            Anchor::Start,
            &spread.text(1),
        );
    }
}

/// A bar from 0 and its error.
fn bar(scale: &Scale, y: f64, spread: Spread, row: &Row, styles: &Styles) -> String {
    let (zero, end) = (scale.place(0.0), scale.place(spread.mean));
    let mut text = format!(
        "<g><title>{}: {}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"12\" fill=\"{}\"/>",
        escape(&row.label),
        spread.text(1),
        number(zero.min(end)),
        number(y + 4.0),
        number((end - zero).abs()),
        styles.of(&row.label).colour
    );
    if let Some(std) = spread.std {
        let (low, high) = (
            scale.place(spread.mean - std),
            scale.place(spread.mean + std),
        );
        let (low, high, y) = (number(low), number(high), number(y + 10.0));
        let _ = write!(
            text,
            "<path class=\"error\" d=\"M{low} {y}H{high}m0 -3v6M{low} {y}m0 -3v6\" stroke=\"{INK}\" fill=\"none\"/>"
        );
    }
    text + "</g>"
}

fn csv(rows: &[&Row]) -> String {
    let mut csv = Csv::new(&["learner", "runs", "aa_mean", "aa_std", "af_mean", "af_std"]);
    let (mean, std) = (
        |s: Option<Spread>| cell(s.map(|s| s.mean)),
        |s: Option<Spread>| cell(s.and_then(|s| s.std)),
    );
    for row in rows {
        csv.row([
            row.label.clone(),
            row.done.to_string(),
            mean(row.aa),
            std(row.aa),
            mean(row.af),
            std(row.af),
        ]);
    }
    csv.text()
}
