//! The two principal components of some rows.

use faer::{Mat, Side};

/// Every row's place on the two axes of largest variance, and the share of variance that each axis has. Axes point to where their largest entry is positive, so
/// that the same rows give the same picture.
pub(super) fn plane(rows: &[f32], count: usize) -> (Vec<[f64; 2]>, [f64; 2]) {
    let width = rows.len() / count.max(1);
    if width == 0 {
        return (vec![[0.0; 2]; count], [0.0; 2]);
    }
    let row = |at: usize| &rows[at * width..(at + 1) * width];
    let mut mean = vec![0.0; width];
    for at in 0..count {
        for (sum, &value) in mean.iter_mut().zip(row(at)) {
            *sum += f64::from(value) / count as f64;
        }
    }
    let centred = Mat::from_fn(count, width, |at, column| {
        f64::from(row(at)[column]) - mean[column]
    });
    let scatter = centred.transpose() * &centred;
    // Only numbers that are not finite have no such axes; they give a picture of one point.
    let Ok(found) = scatter.self_adjoint_eigen(Side::Lower) else {
        return (vec![[0.0; 2]; count], [0.0; 2]);
    };
    let total: f64 = (0..width).map(|at| scatter[(at, at)]).sum();
    let axis = |from_last: usize| -> Vec<f64> {
        let Some(place) = width.checked_sub(1 + from_last) else {
            return vec![0.0; width];
        };
        let axis: Vec<f64> = (0..width).map(|at| found.U()[(at, place)]).collect();
        let largest = axis.iter().copied().fold(0.0, |most: f64, value| {
            if value.abs() > most.abs() {
                value
            } else {
                most
            }
        });
        axis.into_iter()
            .map(|value| value * largest.signum())
            .collect()
    };
    let axes = [axis(0), axis(1)];
    let along = |at: usize, axis: &[f64]| -> f64 {
        (0..width)
            .map(|column| centred[(at, column)] * axis[column])
            .sum()
    };
    let points: Vec<[f64; 2]> = (0..count)
        .map(|at| [along(at, &axes[0]), along(at, &axes[1])])
        .collect();
    let share = [0, 1].map(|axis| {
        let variance: f64 = points.iter().map(|point| point[axis].powi(2)).sum();
        if total > 0.0 { variance / total } else { 0.0 }
    });
    (points, share)
}

#[cfg(test)]
mod tests {
    use super::plane;

    #[test]
    fn points_on_a_line_have_all_variance_on_the_first_axis() {
        // (1, 2), (2, 4), (6, 12): the mean is (3, 6), the line's direction (1, 2) / sqrt(5).
        let (points, share) = plane(&[1.0, 2.0, 2.0, 4.0, 6.0, 12.0], 3);
        let root = 5f64.sqrt();
        for (point, expected) in points.iter().zip([-2.0 * root, -root, 3.0 * root]) {
            assert!((point[0] - expected).abs() < 1e-9, "{points:?}");
            assert!(point[1].abs() < 1e-9, "{points:?}");
        }
        assert!((share[0] - 1.0).abs() < 1e-12 && share[1].abs() < 1e-12);
    }

    #[test]
    fn the_wider_axis_comes_first() {
        let (points, share) = plane(&[3.0, 0.0, -3.0, 0.0, 0.0, 1.0, 0.0, -1.0], 4);
        assert_eq!(points[0].map(f64::round), [3.0, 0.0]);
        assert_eq!(points[2].map(f64::round), [0.0, 1.0]);
        assert!((share[0] - 0.9).abs() < 1e-12 && (share[1] - 0.1).abs() < 1e-12);
    }

    #[test]
    fn one_column_and_equal_rows_are_no_obstacle() {
        assert_eq!(plane(&[2.0, 2.0], 2), (vec![[0.0; 2]; 2], [0.0; 2]));
        assert_eq!(plane(&[], 0).0, Vec::<[f64; 2]>::new());
    }
}
