//! The gradient of the matching against finite differences in f64 and against autodiff in f32, and the loss against its definition.

use candle_core::{D, Device, Tensor};

use super::{Desk, Matching, means};
use crate::checks::{assert_close, var};

const SIZES: [usize; 2] = [3, 2];
const COLUMNS: usize = 4;
const WIDTH: usize = 6;

/// Numbers without pattern: sums of regular ones would be exactly zero here and there, where a ReLU has no slope.
fn numbers(count: usize, salt: usize) -> Vec<f64> {
    (0..count)
        .map(|i| ((i * i + 3 * i) as f64 * 0.37 + salt as f64 * 1.3).sin())
        .collect()
}

/// The definition, one number at a time.
fn naive(x: &[f64], w: &[f64], real: &[f64], counts: &[f64]) -> f64 {
    let embedding = |row: &[f64]| -> Vec<f64> {
        let h: Vec<f64> = (0..WIDTH)
            .map(|j| (0..COLUMNS).map(|c| row[c] * w[c * WIDTH + j]).sum::<f64>())
            .map(|pre| pre.max(0.0))
            .collect();
        let length = h.iter().map(|h| h * h).sum::<f64>().sqrt();
        h.iter()
            .map(|h| if length > 0.0 { h / length } else { 0.0 })
            .collect()
    };
    let (mut loss, mut first) = (0.0, 0);
    for (class, &size) in SIZES.iter().enumerate() {
        let rows: Vec<Vec<f64>> = (first..first + size)
            .map(|row| embedding(&x[row * COLUMNS..][..COLUMNS]))
            .collect();
        for j in 0..WIDTH {
            let mean = rows.iter().map(|row| row[j]).sum::<f64>() / size as f64;
            loss += counts[class] * (mean - real[class * WIDTH + j]).powi(2);
        }
        first += size;
    }
    loss
}

fn inputs() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut x = numbers(5 * COLUMNS, 1);
    // A row of zeros has no embedding, and must not get a slope that is no number.
    x[4 * COLUMNS..].fill(0.0);
    let mut layer = numbers(2 * WIDTH, 3);
    (
        x,
        numbers(COLUMNS * WIDTH, 2),
        means(&mut layer, WIDTH, &[1, 1]),
    )
}

fn matching<'a>(
    (x, w, real): (&'a [f64], &'a [f64], &'a [f64]),
    counts: &'a [f64],
) -> (f64, Vec<f64>) {
    let mut gradient = Vec::new();
    let loss = Matching {
        values: x,
        sizes: &SIZES,
        weights: w,
        width: WIDTH,
        real,
        counts,
    }
    .gradient(&mut Desk::default(), &mut gradient);
    (loss, gradient)
}

#[test]
fn slopes_are_those_of_finite_differences() {
    let (x, w, real) = inputs();
    for counts in [[1.0, 1.0], [0.7, 0.3]] {
        let (loss, gradient) = matching((&x, &w, &real), &counts);
        assert!((loss - naive(&x, &w, &real, &counts)).abs() < 1e-12);
        for at in 0..4 * COLUMNS {
            let moved = |by: f64| {
                let mut x = x.clone();
                x[at] += by;
                naive(&x, &w, &real, &counts)
            };
            let right = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            assert!(
                (gradient[at] - right).abs() < 1e-7,
                "{at}: {} {right}",
                gradient[at]
            );
        }
        assert_eq!(
            gradient[4 * COLUMNS..],
            [0.0; COLUMNS],
            "nothing pulls at a row of zeros"
        );
    }
}

#[test]
fn slopes_are_those_of_autodiff() -> candle_core::Result<()> {
    let (x, w, real) = inputs();
    let small = |values: &[f64]| -> Vec<f32> { values.iter().map(|&v| v as f32).collect() };
    let (x, w, real) = (small(&x[..3 * COLUMNS]), small(&w), small(&real[..WIDTH]));
    let mut gradient = Vec::new();
    let loss = Matching {
        values: &x,
        sizes: &[3],
        weights: &w,
        width: WIDTH,
        real: &real,
        counts: &[1.0],
    }
    .gradient(&mut Desk::default(), &mut gradient);
    let rows = var(&x, (3, COLUMNS))?;
    let w = Tensor::from_slice(&w, (COLUMNS, WIDTH), &Device::Cpu)?;
    let h = rows.matmul(&w)?.relu()?;
    let length = h.sqr()?.sum_keepdim(D::Minus1)?.sqrt()?;
    let mean = h.broadcast_div(&length)?.mean(0)?;
    let right = (mean - Tensor::from_slice(&real, WIDTH, &Device::Cpu)?)?
        .sqr()?
        .sum_all()?;
    assert!((f64::from(right.to_scalar::<f32>()?) - loss).abs() < 1e-6);
    assert_close(&right.backward()?, &rows, &gradient, "synthetic rows")
}

#[test]
fn means_are_of_normalised_rows_class_by_class() {
    let mut layer = vec![
        3.0, 4.0, -1.0, 0.0, -5.0, 2.0, 1.0, -1.0, 0.0, -1.0, -1.0, -1.0,
    ];
    let found = means(&mut layer, 3, &[1, 3]);
    let right = [0.6, 0.8, 0.0, 1.0 / 3.0, 0.0, 1.0 / 3.0f64];
    for (found, right) in found.iter().zip(right) {
        assert!((found - right).abs() < 1e-12, "{found} {right}");
    }
}
