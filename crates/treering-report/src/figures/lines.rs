//! Lines with bands: what learning curves, group sizes and prompt sizes share.

use std::fmt::Write;

use crate::colour::{FAINT, INK, Style};
use crate::csv::{Csv, cell};
use crate::scale::{Scale, round_step};
use crate::summary::Spread;
use crate::svg::{Anchor, Svg, escape, number, width};

const WIDTH: f64 = 680.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 40.0;
const HEIGHT: f64 = 250.0;
const LEGEND: f64 = 18.0;

/// A plot of lines over places that have names.
pub(super) struct Lines {
    pub(super) title: String,
    /// What x is, and the name of each place.
    pub(super) x: (String, Vec<String>),
    /// What y is; in percent.
    pub(super) y: &'static str,
    pub(super) series: Vec<Series>,
}

/// One line.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) style: Style,
    /// One for every place of x.
    pub(super) points: Vec<Option<Spread>>,
}

impl Lines {
    pub(super) fn svg(&self) -> String {
        let mut svg = Svg::new(WIDTH, &self.title);
        let x = Scale::straight(
            (0.0, self.x.1.len().saturating_sub(1) as f64),
            (LEFT + 10.0, WIDTH - RIGHT - 10.0),
        );
        let y = Scale::straight(self.range(), (TOP + HEIGHT, TOP));
        self.axes(&mut svg, &x, &y);
        for (at, series) in self.series.iter().enumerate() {
            svg.raw(&series.svg(at, &x, &y, &self.x.1));
        }
        let top = TOP + HEIGHT + 52.0;
        let lines = self.legend(&mut svg, top);
        svg.finish(top + LEGEND * lines as f64 + 6.0, &self.title)
    }

    /// From a round number below all values to 100.
    fn range(&self) -> (f64, f64) {
        let points = self
            .series
            .iter()
            .flat_map(|series| series.points.iter().flatten());
        let low = points
            .map(|point| point.mean - point.std.unwrap_or(0.0))
            .fold(100.0, f64::min);
        let step = round_step((100.0 - low) / 5.0);
        let low = ((low / step).floor() * step).max(0.0);
        (if low < 40.0 { 0.0 } else { low }, 100.0)
    }

    fn axes(&self, svg: &mut Svg, x: &Scale, y: &Scale) {
        let bottom = TOP + HEIGHT;
        for (value, text) in y.ticks(5) {
            let at = y.place(value);
            svg.line((LEFT, at), (WIDTH - RIGHT, at), FAINT, "grid");
            svg.text(LEFT - 6.0, at + 4.0, Anchor::End, &text);
        }
        let widest = self
            .x
            .1
            .iter()
            .map(|name| name.chars().count())
            .max()
            .unwrap_or(1);
        let room = (WIDTH - LEFT - RIGHT) / (width(widest) + 10.0);
        let step = self.x.1.len().div_ceil((room as usize).max(1)).max(1);
        for (at, name) in self.x.1.iter().enumerate().step_by(step) {
            svg.text(x.place(at as f64), bottom + 17.0, Anchor::Middle, name);
        }
        svg.line((LEFT, bottom), (WIDTH - RIGHT, bottom), INK, "axis");
        svg.text(
            (LEFT + WIDTH - RIGHT) / 2.0,
            bottom + 36.0,
            Anchor::Middle,
            &self.x.0,
        );
        svg.raw(&format!(
            "<text x=\"0\" y=\"0\" transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\" fill=\"{INK}\">{}</text>",
            number(TOP + HEIGHT / 2.0),
            escape(self.y)
        ));
    }

    /// As many columns as fit; how many lines it takes.
    fn legend(&self, svg: &mut Svg, top: f64) -> usize {
        let widest = self
            .series
            .iter()
            .map(|series| series.name.chars().count())
            .max()
            .unwrap_or(1)
            .min(40);
        let column = width(widest) + 48.0;
        let columns = (((WIDTH - 16.0) / column) as usize).clamp(1, self.series.len().max(1));
        for (at, series) in self.series.iter().enumerate() {
            let (x, y) = (
                8.0 + column * (at % columns) as f64,
                top + LEGEND * (at / columns) as f64,
            );
            svg.raw(&format!("<g class=\"key\" data-s=\"{at}\">"));
            svg.raw(&format!(
                "<rect class=\"hit\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{LEGEND}\" fill=\"none\"/>",
                number(x - 4.0),
                number(y - 9.0),
                number(column - 6.0)
            ));
            svg.raw(&stroke(
                &format!("M{} {}h26", number(x), number(y)),
                series.style,
            ));
            svg.label(x + 32.0, y + 4.0, Anchor::Start, &series.name, 40);
            svg.raw("</g>");
        }
        self.series.len().div_ceil(columns)
    }

    pub(super) fn csv(&self, x: &str) -> String {
        let mut csv = Csv::new(&["series", x, "mean", "std", "runs"]);
        for series in &self.series {
            for (place, point) in self.x.1.iter().zip(&series.points) {
                let Some(point) = point else { continue };
                csv.row([
                    series.name.clone(),
                    place.clone(),
                    cell(point.mean),
                    cell(point.std),
                    point.count.to_string(),
                ]);
            }
        }
        csv.text()
    }
}

/// Ink is marked, so that a dark page can turn it.
fn stroke(path: &str, style: Style) -> String {
    let class = if style.colour == INK {
        "line ink"
    } else {
        "line"
    };
    let dash = match style.dash {
        "" => String::new(),
        dash => format!(" stroke-dasharray=\"{dash}\""),
    };
    format!(
        "<path class=\"{class}\" d=\"{path}\" stroke=\"{}\" stroke-width=\"2\" fill=\"none\"{dash}/>",
        style.colour
    )
}

impl Series {
    fn svg(&self, at: usize, x: &Scale, y: &Scale, places: &[String]) -> String {
        let known = || {
            self.points
                .iter()
                .enumerate()
                .filter_map(|(at, point)| Some((at, (*point)?)))
        };
        let mut text = format!("<g class=\"series\" data-s=\"{at}\">");
        let class = if self.style.colour == INK {
            "band ink"
        } else {
            "band"
        };
        if known().count() > 1 && known().any(|(_, point)| point.std.is_some()) {
            let edge = |(at, point): (usize, Spread), sign: f64| {
                let value = point.mean + sign * point.std.unwrap_or(0.0);
                format!("{} {}", number(x.place(at as f64)), number(y.place(value)))
            };
            let upper = known().map(|point| edge(point, 1.0));
            let lower: Vec<_> = known().collect();
            let lower = lower.into_iter().rev().map(|point| edge(point, -1.0));
            let points: Vec<String> = upper.chain(lower).collect();
            let colour = self.style.colour;
            let _ = write!(
                text,
                "<path class=\"{class}\" d=\"M{}Z\" fill=\"{colour}\" fill-opacity=\"0.13\"/>",
                points.join("L")
            );
        }
        let points: Vec<String> = known()
            .map(|(at, point)| {
                format!(
                    "{} {}",
                    number(x.place(at as f64)),
                    number(y.place(point.mean))
                )
            })
            .collect();
        text.push_str(&stroke(&format!("M{}", points.join("L")), self.style));
        if places.len() <= 12 {
            for (at, point) in known() {
                let _ = write!(
                    text,
                    "<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"3.5\" fill=\"{}\"><title>{}, {}: {}</title></circle>",
                    number(x.place(at as f64)),
                    number(y.place(point.mean)),
                    self.style.colour,
                    escape(&self.name),
                    escape(&places[at]),
                    point.text(1)
                );
            }
        }
        text + "</g>"
    }
}
