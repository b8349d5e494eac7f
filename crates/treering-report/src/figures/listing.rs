//! Figures with one line for every learner: which rows they show, and the column of names at their left.

use crate::summary::Row;
use crate::svg::{Anchor, Svg, width};

/// Where the first line begins.
pub(super) const TOP: f64 = 54.0;
/// Longer names are cut.
const SIGNS: usize = 26;

/// The rows of a figure.
pub(super) struct Listing<'a> {
    pub(super) rows: Vec<&'a Row>,
    /// Where the panels begin.
    pub(super) left: f64,
    /// The height of a line.
    line: f64,
}

impl<'a> Listing<'a> {
    /// Rows that have something to show; none where no row has.
    pub(super) fn new(rows: &[&'a Row], line: f64, shows: fn(&Row) -> bool) -> Option<Self> {
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| shows(row)).collect();
        let signs = rows.iter().map(|row| row.label.chars().count()).max()?;
        Some(Listing {
            rows,
            left: width(signs.min(SIGNS)).max(60.0) + 16.0,
            line,
        })
    }

    /// The middle of a line.
    pub(super) fn middle(&self, at: usize) -> f64 {
        TOP + self.line * (at as f64 + 0.5)
    }

    /// Below the last line.
    pub(super) fn bottom(&self) -> f64 {
        TOP + self.line * self.rows.len() as f64
    }

    /// Writes the names, so far from the panels.
    pub(super) fn name(&self, svg: &mut Svg, gap: f64) {
        for (at, row) in self.rows.iter().enumerate() {
            let y = self.middle(at) + 4.0;
            svg.label(self.left - gap, y, Anchor::End, &row.label, SIGNS);
        }
    }
}
