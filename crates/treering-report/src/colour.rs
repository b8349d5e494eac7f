//! Colours that people with colour-blindness can tell apart, and one scale of even steps.

/// The colours of Okabe and Ito, without yellow, which is lost on white paper. The last one is the ink itself.
const CATEGORIES: [&str; 7] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", INK,
];

/// Text and axes.
pub(crate) const INK: &str = "#222222";
/// Grid lines.
pub(crate) const FAINT: &str = "#dddddd";

/// Where strokes are interrupted, so that more series can be told apart than there are colours.
const DASHES: [&str; 6] = ["", "6 3", "2 3", "8 3 2 3", "14 4", "14 3 2 3 2 3"];

/// How one series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) colour: &'static str,
    pub(crate) dash: &'static str,
}

/// The style of the `at`-th series. `second` interrupts the stroke: what belongs together has one colour.
pub(crate) fn style(at: usize, second: bool) -> Style {
    let round = at / CATEGORIES.len();
    Style {
        colour: CATEGORIES[at % CATEGORIES.len()],
        dash: DASHES[(2 * round + usize::from(second)) % DASHES.len()],
    }
}

/// Points that viridis goes through: even steps of lightness for every kind of eye.
const VIRIDIS: [[f64; 3]; 9] = [
    [68.0, 1.0, 84.0],
    [71.0, 44.0, 122.0],
    [59.0, 81.0, 139.0],
    [44.0, 113.0, 142.0],
    [33.0, 144.0, 141.0],
    [39.0, 173.0, 129.0],
    [92.0, 200.0, 99.0],
    [170.0, 220.0, 50.0],
    [253.0, 231.0, 37.0],
];

/// The colour of a share from 0 to 1.
pub(crate) fn heat(share: f64) -> String {
    let at = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let low = (at.floor() as usize).min(VIRIDIS.len() - 2);
    let part = at - low as f64;
    let mix = |channel: usize| {
        let (from, to) = (VIRIDIS[low][channel], VIRIDIS[low + 1][channel]);
        (from + (to - from) * part).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// What can be read on the colour of a share.
pub(crate) fn on_heat(share: f64) -> &'static str {
    if share < 0.55 { "#ffffff" } else { "#000000" }
}

/// The colours of 0 to 100 %, for the page's script.
pub(crate) fn table() -> Vec<String> {
    (0..=100)
        .map(|percent| heat(f64::from(percent) / 100.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_starts_and_ends_where_viridis_does() {
        assert_eq!(
            (heat(-1.0), heat(2.0)),
            ("#440154".into(), "#fde725".into())
        );
        assert_eq!(heat(f64::NAN).len(), 7);
    }

    #[test]
    fn forty_two_series_look_different() {
        let mut styles: Vec<_> = (0..21)
            .flat_map(|at| [style(at, false), style(at, true)])
            .map(|style| (style.colour, style.dash))
            .collect();
        styles.sort_unstable();
        styles.dedup();
        assert_eq!(styles.len(), 42);
    }
}
