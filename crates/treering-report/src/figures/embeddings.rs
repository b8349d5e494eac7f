//! Study: a task's embeddings in two dimensions, before and after its prompt.

use super::{Figure, Kind};
use crate::colour::{FAINT, INK, style};
use crate::csv::{Csv, cell};
use crate::scale::Scale;
use crate::scene::marked;
use crate::svg::{Anchor, Svg, number};
use treering_eval::studies::{Embeddings, Study};

const SIDE: f64 = 290.0;
const TOP: f64 = 56.0;

type Points = [(f64, f64, usize)];

pub(super) fn figure(study: &Study, found: &Embeddings) -> Figure {
    let scene = marked(&study.data, study.synthetic);
    let title = format!(
        "Embeddings of task {} of {scene}, seed {}",
        found.task + 1,
        study.seed
    );
    let mut svg = Svg::new(2.0 * SIDE + 60.0, &title);
    let classes = found.classes.len();
    panel(
        &mut svg,
        16.0,
        "before the prompt",
        found.share.before,
        &found.before,
        classes,
    );
    panel(
        &mut svg,
        SIDE + 44.0,
        "after the prompt",
        found.share.after,
        &found.after,
        classes,
    );
    let top = TOP + SIDE + 40.0;
    for (at, name) in found.classes.iter().enumerate() {
        let (x, y) = (16.0 + (at % 3) as f64 * 205.0, top + (at / 3) as f64 * 18.0);
        svg.raw(&cloud(
            &format!("M{} {}h.1", number(x + 4.0), number(y - 4.0)),
            at,
            8.0,
        ));
        svg.label(x + 14.0, y, Anchor::Start, name, 24);
    }
    let height = top + found.classes.len().div_ceil(3) as f64 * 18.0;
    let mut csv = Csv::new(&["prompt", "x", "y", "class"]);
    for (when, points) in [("before", &found.before), ("after", &found.after)] {
        for &(x, y, class) in points {
            csv.row([
                when.to_owned(),
                cell(x),
                cell(y),
                found.classes[class].clone(),
            ]);
        }
    }
    let detail = format!("task {}, seed {}", found.task + 1, study.seed);
    Figure::new(
        Kind::Embeddings,
        scene,
        detail,
        svg.finish(height, &title),
        csv.text(),
    )
}

fn panel(svg: &mut Svg, left: f64, name: &str, share: [f64; 2], points: &Points, classes: usize) {
    svg.text(left, TOP - 10.0, Anchor::Start, name);
    svg.raw(&format!(
        "<rect class=\"grid\" x=\"{}\" y=\"{}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"{FAINT}\"/>",
        number(left),
        number(TOP)
    ));
    let percent = share.map(|share| format!("{:.0} %", 100.0 * share));
    let words = format!(
        "components 1 and 2: {} and {} of variance",
        percent[0], percent[1]
    );
    svg.text(left, TOP + SIDE + 16.0, Anchor::Start, &words);
    let x = Scale::straight(
        range(points, |point| point.0),
        (left + 8.0, left + SIDE - 8.0),
    );
    let y = Scale::straight(
        range(points, |point| point.1),
        (TOP + SIDE - 8.0, TOP + 8.0),
    );
    for class in 0..classes {
        let of_class = points.iter().filter(|point| point.2 == class);
        let dots: String = of_class
            .map(|point| {
                format!(
                    "M{} {}h.1",
                    number(x.place(point.0)),
                    number(y.place(point.1))
                )
            })
            .collect();
        if !dots.is_empty() {
            svg.raw(&cloud(&dots, class, 5.0));
        }
    }
}

/// Many points as one path: strokes of no length with round ends.
fn cloud(path: &str, class: usize, size: f64) -> String {
    let colour = style(class, false).colour;
    let ink = if colour == INK { " ink" } else { "" };
    format!(
        "<path class=\"line{ink}\" d=\"{path}\" stroke=\"{colour}\" stroke-width=\"{size}\" stroke-linecap=\"round\" stroke-opacity=\"0.7\"/>"
    )
}

fn range(points: &Points, of: fn(&(f64, f64, usize)) -> f64) -> (f64, f64) {
    let values = || points.iter().map(of);
    (
        values().fold(f64::INFINITY, f64::min),
        values().fold(f64::NEG_INFINITY, f64::max),
    )
}
