//! A field of coloured cells with its scale.

use std::fmt::Write;

use crate::colour::{INK, heat, on_heat};
use crate::svg::{Anchor, Svg, number};

/// Cells up to so many columns carry their value.
const WRITTEN: usize = 12;
const LEFT: f64 = 64.0;
const TOP: f64 = 66.0;

/// What is drawn.
pub(super) struct Heat<'a> {
    pub(super) title: &'a str,
    /// What rows and columns are.
    pub(super) axes: (&'static str, &'static str),
    /// How many columns; rows may be shorter, and as many rows as there are.
    pub(super) columns: usize,
    pub(super) cells: &'a [Vec<Option<f64>>],
    /// The values at the ends of the scale, and what they are.
    pub(super) range: (f64, f64),
    pub(super) unit: &'static str,
    pub(super) decimals: usize,
}

impl Heat<'_> {
    pub(super) fn svg(&self) -> String {
        let side = match self.columns {
            ..=WRITTEN => 46.0,
            columns => (560.0 / columns as f64).max(6.0),
        };
        let field = side * self.columns as f64;
        let mut svg = Svg::new((LEFT + field + 96.0).max(420.0), self.title);
        svg.text(LEFT, TOP - 24.0, Anchor::Start, self.axes.1);
        svg.raw(&format!(
            "<text x=\"0\" y=\"0\" transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\" fill=\"{INK}\">{}</text>",
            number(TOP + field.max(60.0) / 2.0),
            self.axes.0
        ));
        let step = ((20.0 / side).ceil() as usize).max(1);
        for at in (0..self.columns).step_by(step) {
            let middle = side * (at as f64 + 0.5);
            let name = (at + 1).to_string();
            svg.text(LEFT + middle, TOP - 6.0, Anchor::Middle, &name);
            svg.text(LEFT - 6.0, TOP + middle + 4.0, Anchor::End, &name);
        }
        for (row, cells) in self.cells.iter().enumerate() {
            for (column, &value) in cells.iter().enumerate() {
                let place = (LEFT + side * column as f64, TOP + side * row as f64);
                svg.raw(&self.cell(place, side, value));
            }
        }
        self.key(&mut svg, LEFT + field + 22.0);
        svg.finish(TOP + field.max(120.0) + 14.0, self.title)
    }

    /// In thousandths: as fine as the page's script has it, so that both paint the same.
    fn share(&self, value: f64) -> f64 {
        let share = (value - self.range.0) / (self.range.1 - self.range.0).max(1e-12);
        (share * 1000.0).round()
    }

    fn cell(&self, (x, y): (f64, f64), side: f64, value: Option<f64>) -> String {
        let fill = value.map_or("none".to_owned(), |value| {
            heat((self.share(value) / 10.0).round() / 100.0)
        });
        let mut text = format!(
            "<rect class=\"c\" x=\"{}\" y=\"{}\" width=\"{s}\" height=\"{s}\" fill=\"{fill}\"/>",
            number(x),
            number(y),
            s = number((side - 1.0).max(side * 0.9))
        );
        if self.columns <= WRITTEN {
            let written = value.map_or(String::new(), |value| format!("{value:.*}", self.decimals));
            let _ = write!(
                text,
                "<text class=\"v\" x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">{written}</text>",
                number(x + side / 2.0),
                number(y + side / 2.0 + 4.0),
                on_heat(value.map_or(1.0, |value| self.share(value) / 1000.0))
            );
        }
        text
    }

    /// The scale beside the field.
    fn key(&self, svg: &mut Svg, x: f64) {
        let (steps, height) = (20, 5.0);
        for at in 0..steps {
            let share = 1.0 - (f64::from(at) + 0.5) / f64::from(steps);
            svg.raw(&format!(
                "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"{height}\" fill=\"{}\"/>",
                number(x),
                number(TOP + f64::from(at) * height),
                heat(share)
            ));
        }
        let (low, high) = self.range;
        let text = |value: f64| format!("{value:.*}{}", self.decimals.min(1), self.unit);
        svg.text(x + 18.0, TOP + 9.0, Anchor::Start, &text(high));
        svg.text(
            x + 18.0,
            TOP + f64::from(steps) * height,
            Anchor::Start,
            &text(low),
        );
    }
}
