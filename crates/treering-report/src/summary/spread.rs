//! Mean and deviation.

use serde::Serialize;

/// Mean and standard deviation over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// Of the sample (n - 1); none for one value.
    pub std: Option<f64>,
    /// How many values.
    pub count: usize,
}

impl Spread {
    /// Of some values; none of none.
    ///
    /// # Example
    /// ```
    /// use treering_report::summary::Spread;
    /// let spread = Spread::of(&[1.0, 2.0, 3.0]).unwrap();
    /// assert_eq!((spread.mean, spread.std, spread.count), (2.0, Some(1.0), 3));
    /// ```
    pub fn of(values: &[f64]) -> Option<Spread> {
        let count = values.len() as f64;
        let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / count)?;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Spread {
            mean,
            std: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
            count: values.len(),
        })
    }

    /// `90.1 ± 0.5`, or `90.1` for one value.
    pub fn text(self, decimals: usize) -> String {
        // What rounds to nothing has no sign.
        let mean = format!("{:.decimals$}", self.mean);
        let nothing = mean.starts_with('-') && !mean.contains(|sign| ('1'..='9').contains(&sign));
        let mean = if nothing { &mean[1..] } else { &mean };
        match self.std {
            Some(std) => format!("{mean} ± {std:.decimals$}"),
            None => mean.to_owned(),
        }
    }
}
