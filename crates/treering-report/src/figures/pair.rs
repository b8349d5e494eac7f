//! Study: how two tasks differ, in the degrees of their nodes and in attributes.

use super::{Figure, Kind};
use crate::colour::{FAINT, INK, style};
use crate::csv::{Csv, cell};
use crate::scale::Scale;
use crate::scene::marked;
use crate::svg::{Anchor, Svg, number};
use treering_eval::studies::{PairDifference, Study};

const WIDTH: f64 = 290.0;
const HEIGHT: f64 = 210.0;
const TOP: f64 = 76.0;

pub(super) fn figure(study: &Study, found: &PairDifference) -> Figure {
    let scene = marked(&study.data, study.synthetic);
    let [first, second] = &found.tasks;
    let title = format!("{first} and {second} of {scene}, seed {}", study.seed);
    let mut svg = Svg::new(2.0 * WIDTH + 110.0, &title);
    degrees(&mut svg, 46.0, found);
    attributes(&mut svg, WIDTH + 100.0, found);
    for (at, name) in found.tasks.iter().enumerate() {
        let (x, y) = (46.0 + at as f64 * 150.0, TOP + HEIGHT + 54.0);
        svg.line(
            (x, y - 4.0),
            (x + 22.0, y - 4.0),
            style(at, false).colour,
            "line wide",
        );
        svg.label(x + 28.0, y, Anchor::Start, name, 16);
    }
    let detail = format!("{first} and {second}, seed {}", study.seed);
    Figure::new(
        Kind::Pair,
        scene,
        detail,
        svg.finish(TOP + HEIGHT + 66.0, &title),
        csv(found),
    )
}

fn frame(svg: &mut Svg, left: f64, y: &Scale, words: [&str; 3]) {
    let [name, below, size] = words;
    svg.text(left, TOP - 28.0, Anchor::Start, name);
    svg.text(left, TOP - 12.0, Anchor::Start, size);
    for (value, text) in y.ticks(4) {
        let at = y.place(value);
        svg.line((left, at), (left + WIDTH, at), FAINT, "grid");
        svg.text(left - 6.0, at + 4.0, Anchor::End, &text);
    }
    svg.text(
        left + WIDTH / 2.0,
        TOP + HEIGHT + 32.0,
        Anchor::Middle,
        below,
    );
}

fn degrees(svg: &mut Svg, left: f64, found: &PairDifference) {
    let both = [&found.degrees.first, &found.degrees.second];
    let high = both
        .iter()
        .flat_map(|values| values.iter())
        .copied()
        .fold(0.0, f64::max);
    let y = Scale::straight((0.0, high), (TOP + HEIGHT, TOP));
    let size = format!("norm of the difference: {:.2}", found.structure);
    frame(
        svg,
        left,
        &y,
        ["root of degree", "share of nodes in %", &size],
    );
    let x = Scale::straight((0.0, 100.0), (left, left + WIDTH));
    for (value, text) in x.ticks(5) {
        svg.text(x.place(value), TOP + HEIGHT + 16.0, Anchor::Middle, &text);
    }
    for (at, values) in both.into_iter().enumerate() {
        let last = (values.len() - 1).max(1) as f64;
        let place = |(at, &value): (usize, &f64)| {
            format!(
                "{} {}",
                number(x.place(100.0 * at as f64 / last)),
                number(y.place(value))
            )
        };
        let points: Vec<String> = values.iter().enumerate().map(place).collect();
        svg.raw(&format!(
            "<path class=\"line\" d=\"M{}\" stroke=\"{}\" stroke-width=\"2\" fill=\"none\"/>",
            points.join("L"),
            style(at, false).colour
        ));
    }
}

/// The means' difference, column by column, from the largest down.
fn attributes(svg: &mut Svg, left: f64, found: &PairDifference) {
    let means = &found.attributes;
    let mut differences: Vec<f64> = means
        .first
        .iter()
        .zip(&means.second)
        .map(|(a, b)| a - b)
        .collect();
    differences.sort_by(|a, b| b.total_cmp(a));
    let most = differences
        .iter()
        .fold(0.0f64, |most, value| most.max(value.abs()));
    let y = Scale::straight((-most, most), (TOP + HEIGHT, TOP));
    let below = format!("{} attributes that differ most", differences.len());
    let size = format!("norm of the difference: {:.2}", found.attribute);
    frame(
        svg,
        left,
        &y,
        [
            "mean in the first task less that in the second",
            &below,
            &size,
        ],
    );
    let x = Scale::straight((0.0, differences.len().max(1) as f64), (left, left + WIDTH));
    let zero = number(y.place(0.0));
    for (sign, at) in [(1.0, 0), (-1.0, 1)] {
        let bars = differences
            .iter()
            .enumerate()
            .filter(|(_, value)| **value * sign > 0.0);
        let path: String = bars
            .map(|(at, value)| {
                format!(
                    "M{} {zero}V{}",
                    number(x.place(at as f64 + 0.5)),
                    number(y.place(*value))
                )
            })
            .collect();
        if !path.is_empty() {
            let stroke = (0.8 * WIDTH / differences.len() as f64).clamp(0.8, 14.0);
            let colour = style(at, false).colour;
            svg.raw(&format!(
                "<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"{}\"/>",
                number(stroke)
            ));
        }
    }
    svg.line(
        (left, y.place(0.0)),
        (left + WIDTH, y.place(0.0)),
        INK,
        "axis",
    );
}

fn csv(found: &PairDifference) -> String {
    let mut csv = Csv::new(&["what", "at", "first", "second"]);
    let degrees = found.degrees.first.iter().zip(&found.degrees.second);
    for (at, (&first, &second)) in degrees.enumerate() {
        csv.row([
            "quantile of root of degree".to_owned(),
            at.to_string(),
            cell(first),
            cell(second),
        ]);
    }
    let means = &found.attributes;
    for ((column, first), second) in means.columns.iter().zip(&means.first).zip(&means.second) {
        let exact = |value: &f64| value.to_string();
        csv.row([
            "mean of attribute".to_owned(),
            column.to_string(),
            exact(first),
            exact(second),
        ]);
    }
    csv.text()
}
