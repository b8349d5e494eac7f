//! From values to places, and where the ticks are.

/// A straight or logarithmic axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
}

impl Scale {
    /// An axis from `low` at the place `from` to `high` at `to`.
    pub(crate) fn straight(range: (f64, f64), places: (f64, f64)) -> Self {
        let (low, high) = range;
        let high = if high > low { high } else { low + 1.0 };
        Scale {
            low,
            high,
            from: places.0,
            to: places.1,
            log: false,
        }
    }

    /// A logarithmic axis over whole decades that hold all values above 0.
    pub(crate) fn decades(values: impl Iterator<Item = f64> + Clone, places: (f64, f64)) -> Self {
        let known = values.filter(|value| *value > 0.0);
        let low = known.clone().fold(f64::INFINITY, f64::min);
        let high = known.fold(0.0, f64::max);
        let (low, high) = match low <= high && low.is_finite() && high.is_finite() {
            true => (low.log10().floor(), high.log10().ceil()),
            false => (0.0, 1.0),
        };
        Scale {
            low,
            high: high.max(low + 1.0),
            from: places.0,
            to: places.1,
            log: true,
        }
    }

    /// The place of a value, inside the axis.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let value = if self.log {
            value.max(1e-300).log10()
        } else {
            value
        };
        let share = (value - self.low) / (self.high - self.low);
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// Round values along the axis, about `most` of them, with their texts.
    pub(crate) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        if self.log {
            let decades = (self.high - self.low) as usize;
            let step = decades.div_ceil(most.max(1)).max(1);
            let exponents = (0..=decades).step_by(step).map(|at| self.low + at as f64);
            return exponents.map(|at| (10f64.powf(at), power(at))).collect();
        }
        let step = round_step((self.high - self.low) / most.max(1) as f64);
        let (first, last) = (
            (self.low / step).ceil() as i64,
            (self.high / step).floor() as i64,
        );
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        (first..=last)
            .take(50)
            .map(|at| at as f64 * step)
            .map(|value| (value, format!("{:.decimals$}", value + 0.0)))
            .collect()
    }
}

/// 0.01, 1, 100 as they are, larger ones with a letter.
fn power(exponent: f64) -> String {
    let letters = ["", "k", "M", "G", "T", "P"];
    match exponent as i32 {
        at @ ..0 => format!("{:.*}", at.unsigned_abs().min(12) as usize, 10f64.powi(at)),
        at if (at as usize) / 3 < letters.len() => {
            format!("{}{}", 10u32.pow(at as u32 % 3), letters[at as usize / 3])
        }
        at => format!("1e{at}"),
    }
}

/// The next of 1, 2, 5, 10, ... from `step` on.
pub(crate) fn round_step(step: f64) -> f64 {
    let step = if step.is_finite() && step > 0.0 {
        step
    } else {
        1.0
    };
    let decade = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|factor| factor * decade)
        .find(|round| *round >= step * 0.999)
        .unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, most: usize) -> Vec<String> {
        scale.ticks(most).into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_round() {
        let percent = Scale::straight((0.0, 100.0), (0.0, 10.0));
        assert_eq!(texts(percent, 5), ["0", "20", "40", "60", "80", "100"]);
        let small = Scale::straight((-0.31, 0.0), (0.0, 1.0));
        assert_eq!(texts(small, 4), ["-0.3", "-0.2", "-0.1", "0.0"]);
        let decades = Scale::decades([0.02, 0.0, 3e3].into_iter(), (0.0, 1.0));
        assert_eq!(
            texts(decades, 9),
            ["0.01", "0.1", "1", "10", "100", "1k", "10k"]
        );
    }

    #[test]
    fn values_have_a_place_on_the_axis_whatever_they_are() {
        let scale = Scale::straight((0.0, 100.0), (10.0, 20.0));
        assert_eq!(
            [-5.0, 50.0, 500.0].map(|value| scale.place(value)),
            [10.0, 15.0, 20.0]
        );
        let nothing = Scale::decades([].into_iter(), (0.0, 1.0));
        assert!(nothing.place(0.0).is_finite());
        assert!(
            Scale::straight((5.0, 5.0), (0.0, 1.0))
                .place(5.0)
                .is_finite()
        );
    }
}
