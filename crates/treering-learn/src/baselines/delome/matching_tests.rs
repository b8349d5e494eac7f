//! The gradient of the matching against finite differences in f64 and against autodiff in f32.

use candle_core::{D, DType, Device, Tensor};

use super::{Desk, Matching, Net};
use crate::baselines::condense::Real;
use crate::baselines::delome::Loss;
use crate::checks::{assert_close, var};
use crate::network::inputs::Inputs;
use crate::network::number::Number;
use crate::network::source::Source;

const COLUMNS: usize = 5;
const HIDDEN: usize = 6;
const OUTPUTS: usize = 3;
const ROWS: usize = 4;
const REAL: usize = 7;
const LABEL: usize = 1;
const WEIGHT: f64 = 0.6;

/// Numbers without pattern: sums of regular ones would be exactly zero here and there, where a ReLU has no slope.
fn numbers(count: usize, salt: usize) -> Vec<f64> {
    (0..count)
        .map(|i| ((i * i + 3 * i) as f64 * 0.37 + salt as f64 * 1.3).sin())
        .collect()
}

fn small(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

struct Case {
    x: Vec<f64>,
    /// Real rows have no column 2.
    real: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

fn case() -> Case {
    Case {
        x: numbers(ROWS * COLUMNS, 1),
        real: numbers(REAL * (COLUMNS - 1), 2),
        first: numbers(COLUMNS * HIDDEN, 3),
        second: numbers(OUTPUTS * HIDDEN, 4),
    }
}

fn found<T: Number>(case: &Case, loss: Loss) -> (f64, Vec<T>) {
    let number = |values: &[f64]| -> Vec<T> { values.iter().map(|&v| T::from_f64(v)).collect() };
    let inputs = Inputs::dense_of(REAL, vec![0, 1, 3, 4], number(&case.real));
    let mut real = Real::new(Source::from_inputs(inputs), &[0, 1, 2, 3, 4]);
    let (first, second) = (number(&case.first), number(&case.second));
    let mut gradient = vec![T::ONE; ROWS * COLUMNS];
    let value = Matching {
        values: &number(&case.x),
        rows: ROWS,
        net: Net {
            first: &first,
            second: &second,
            hidden: HIDDEN,
        },
        label: LABEL,
        loss,
        weight: WEIGHT,
    }
    .gradient(&mut real, &mut Desk::default(), &mut gradient);
    (value, gradient)
}

fn real_rows(case: &Case) -> Vec<f64> {
    case.real
        .chunks(COLUMNS - 1)
        .flat_map(|row| [row[0], row[1], 0.0, row[2], row[3]])
        .collect()
}

/// The mean loss of some rows, one number at a time.
fn mean_loss(x: &[f64], first: &[f64], second: &[f64], loss: Loss) -> f64 {
    let row_loss = |x: &[f64]| {
        let h: Vec<f64> = (0..HIDDEN)
            .map(|j| {
                (0..COLUMNS)
                    .map(|c| x[c] * first[c * HIDDEN + j])
                    .sum::<f64>()
            })
            .map(|pre| pre.max(0.0))
            .collect();
        let logits: Vec<f64> = second
            .chunks(HIDDEN)
            .map(|row| row.iter().zip(&h).map(|(w, h)| w * h).sum())
            .collect();
        let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
        match loss {
            Loss::CrossEntropy => total.ln() - logits[LABEL],
            Loss::RawLogits => -logits[LABEL],
        }
    };
    let rows = x.len() / COLUMNS;
    x.chunks(COLUMNS).map(row_loss).sum::<f64>() / rows as f64
}

/// The gradient of the mean loss by every weight, itself by finite differences.
fn weight_gradient(x: &[f64], case: &Case, loss: Loss) -> Vec<f64> {
    let weights = [&case.first[..], &case.second[..]].concat();
    let split = case.first.len();
    (0..weights.len())
        .map(|at| {
            let moved = |by: f64| {
                let mut weights = weights.clone();
                weights[at] += by;
                mean_loss(x, &weights[..split], &weights[split..], loss)
            };
            (moved(1e-4) - moved(-1e-4)) / 2e-4
        })
        .collect()
}

fn objective(x: &[f64], case: &Case, loss: Loss) -> f64 {
    let own = weight_gradient(x, case, loss);
    let real = weight_gradient(&real_rows(case), case, loss);
    WEIGHT
        * own
            .iter()
            .zip(real)
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f64>()
}

#[test]
fn slopes_are_those_of_finite_differences() {
    let case = case();
    for loss in [Loss::CrossEntropy, Loss::RawLogits] {
        let (value, gradient) = found::<f64>(&case, loss);
        let right = objective(&case.x, &case, loss);
        assert!((value - right).abs() < 1e-6 * right, "{value} {right}");
        let largest = gradient.iter().fold(0f64, |a, b| a.max(b.abs()));
        assert!(largest > 1e-3);
        for at in 0..gradient.len() {
            let moved = |by: f64| {
                let mut x = case.x.clone();
                x[at] += by;
                objective(&x, &case, loss)
            };
            let right = (moved(1e-3) - moved(-1e-3)) / 2e-3;
            assert!(
                (gradient[at] - right).abs() < 1e-4 * largest,
                "{loss:?} {at}: {} {right}",
                gradient[at]
            );
        }
    }
}

/// Autodiff cannot go through a gradient twice, so both weight gradients are written out, and their slopes by the rows are its own.
#[test]
fn slopes_are_those_of_autodiff() -> candle_core::Result<()> {
    let case = case();
    let tensor = |values: &[f64], shape: (usize, usize)| {
        Tensor::from_slice(&small(values), shape, &Device::Cpu)
    };
    let w1 = tensor(&case.first, (COLUMNS, HIDDEN))?;
    let w2 = tensor(&case.second, (OUTPUTS, HIDDEN))?;
    let right: Vec<f32> = (0..OUTPUTS)
        .map(|c| f32::from(u8::from(c == LABEL)))
        .collect();
    let right = Tensor::from_slice(&right, (1, OUTPUTS), &Device::Cpu)?;
    for loss in [Loss::CrossEntropy, Loss::RawLogits] {
        let by_weights = |x: &Tensor| -> candle_core::Result<(Tensor, Tensor)> {
            let pre = x.matmul(&w1)?;
            let open = pre.gt(0f32)?.to_dtype(DType::F32)?;
            let h = pre.relu()?;
            let e = h.matmul(&w2.t()?)?.exp()?;
            let p = e.broadcast_div(&e.sum_keepdim(D::Minus1)?)?;
            let p = match loss {
                Loss::CrossEntropy => p,
                Loss::RawLogits => p.zeros_like()?,
            };
            let delta = (p.broadcast_sub(&right)? / x.dim(0)? as f64)?;
            let back = (delta.matmul(&w2)? * open)?;
            Ok((x.t()?.matmul(&back)?, delta.t()?.matmul(&h)?))
        };
        let x = var(&small(&case.x), (ROWS, COLUMNS))?;
        let own = by_weights(&x)?;
        let real = by_weights(&tensor(&real_rows(&case), (REAL, COLUMNS))?)?;
        let first = (own.0 - real.0)?.sqr()?.sum_all()?;
        let second = (own.1 - real.1)?.sqr()?.sum_all()?;
        let objective = ((first + second)? * WEIGHT)?;
        let (value, gradient) = found::<f32>(&case, loss);
        let right = f64::from(objective.to_scalar::<f32>()?);
        assert!((value - right).abs() < 1e-5 * right, "{value} {right}");
        assert_close(&objective.backward()?, &x, &gradient, "synthetic rows")?;
    }
    Ok(())
}
