//! The contrastive loss between two views, and its gradient.
//!
//! With u, v the rows of both views at length 1 and t the temperature,
//! l_i(u, v) = -u_i.v_i / t + ln( sum_j e^(u_i.v_j / t) + sum_{j != i} e^(u_i.u_j / t) ) and
//! L = 1/(2N) sum_i ( l_i(u, v) + l_i(v, u) ). With D1, D2 the two denominators, both gradients are products with
//! weighted similarities,
//!
//! 2 N t dL/du = -2 v + K v + U u with K_ij = e^(u_i.v_j / t) (1/D1_i + 1/D2_j) and U_ij = e^(u_i.u_j / t) (1/D1_i + 1/D1_j),
//!
//! and the other way round with K^T and 1/D2. U is symmetric, so half of it is worked out. Similarities are kept while there are
//! few enough, and worked out again strip by strip beyond that, so memory stays linear in the nodes.

use rayon::prelude::*;

use super::dense::{Into, product_here, view};
use super::kernels::{add_scaled, dot, exponentials};
use super::number::Number;
use super::spare::Spare;

/// Rows of similarities in a strip.
const STRIP: usize = 256;

/// Nodes up to which all similarities are kept: 135 MB for the three matrices in f32.
pub const KEPT: usize = 4096;

/// Two views of the same nodes, rows of length 1.
#[derive(Clone, Copy)]
pub struct Pair<'a, T> {
    /// One view.
    pub u: &'a [T],
    /// The other.
    pub v: &'a [T],
    /// Columns of both.
    pub width: usize,
}

/// The loss, and its gradient by both views.
pub struct Contrast<T> {
    /// L.
    pub loss: f64,
    /// dL/du.
    pub du: Vec<T>,
    /// dL/dv.
    pub dv: Vec<T>,
}

impl<T: Number> Pair<'_, T> {
    /// The loss and its gradient.
    ///
    /// # Complexity
    /// 12 N^2 width flops and at most [`KEPT`]^2 x 2 numbers kept; above [`KEPT`] nodes 28 N^2 width flops and memory linear in N.
    pub fn contrast(self, temperature: f64, spare: &Spare<T>) -> Contrast<T> {
        match self.nodes() <= KEPT {
            true => self.kept(temperature, STRIP, spare),
            false => self.again(temperature, STRIP, spare),
        }
    }

    fn nodes(self) -> usize {
        self.u.len() / self.width
    }

    /// Everything that is left once the products are known.
    fn finish(
        self,
        temperature: f64,
        sums: [Vec<f64>; 2],
        [mut du, mut dv]: [Vec<T>; 2],
    ) -> Contrast<T> {
        let nodes = self.nodes() as f64;
        let mut loss = 0.0;
        for (at, (d1, d2)) in sums[0].iter().zip(&sums[1]).enumerate() {
            let row = at * self.width..(at + 1) * self.width;
            let same = dot(&self.u[row.clone()], &self.v[row]).to_f64();
            loss += d1.ln() + d2.ln() - 2.0 * same / temperature;
        }
        let scale = T::from_f64(1.0 / (2.0 * nodes * temperature));
        let minus_two = T::from_f64(-2.0);
        for (gradient, other) in [(&mut du, self.v), (&mut dv, self.u)] {
            for (value, &other) in gradient.iter_mut().zip(other) {
                *value = (*value + minus_two * other) * scale;
            }
        }
        Contrast {
            loss: loss / (2.0 * nodes),
            du,
            dv,
        }
    }

    fn kept(self, temperature: f64, strip: usize, spare: &Spare<T>) -> Contrast<T> {
        let shape = Shape {
            nodes: self.nodes(),
            width: self.width,
            strip,
        };
        let scale = T::from_f64(1.0 / temperature);
        let ((mut uv, mut uu), mut vv) = rayon::join(
            || {
                (
                    Strips::between(shape, self.u, self.v, scale, spare),
                    Strips::within(shape, self.u, scale, spare),
                )
            },
            || Strips::within(shape, self.v, scale, spare),
        );
        let sums = [
            add(&uv.row_sums, &uu.symmetric_sums()),
            add(&uv.column_sums, &vv.symmetric_sums()),
        ];
        let one_over = |sums: &[f64]| {
            sums.iter()
                .map(|d| T::from_f64(1.0 / d))
                .collect::<Vec<T>>()
        };
        let (r1, r2) = (one_over(&sums[0]), one_over(&sums[1]));
        uv.weigh(&r1, &r2);
        uu.weigh(&r1, &r1);
        vv.weigh(&r2, &r2);
        let mut du = spare.zeros(self.u.len());
        let mut dv = spare.zeros(self.v.len());
        rayon::join(
            || {
                shape.each_piece(&mut du, |piece, out| {
                    uv.rows_times(piece, self.v, out);
                    uu.symmetric_times(piece, self.u, out);
                })
            },
            || {
                shape.each_piece(&mut dv, |piece, out| {
                    uv.columns_times(piece, self.u, out);
                    vv.symmetric_times(piece, self.v, out);
                })
            },
        );
        for strips in [uv, uu, vv] {
            spare.keep(strips.values);
        }
        self.finish(temperature, sums, [du, dv])
    }

    fn again(self, temperature: f64, strip: usize, spare: &Spare<T>) -> Contrast<T> {
        let shape = Shape {
            nodes: self.nodes(),
            width: self.width,
            strip,
        };
        let scale = T::from_f64(1.0 / temperature);
        let sums = [
            shape.denominators(self.u, self.v, scale),
            shape.denominators(self.v, self.u, scale),
        ];
        let one_over = |sums: &[f64]| {
            sums.iter()
                .map(|d| T::from_f64(1.0 / d))
                .collect::<Vec<T>>()
        };
        let (r1, r2) = (one_over(&sums[0]), one_over(&sums[1]));
        let du = shape.gradient([self.u, self.v], [&r1, &r2], scale, spare);
        let dv = shape.gradient([self.v, self.u], [&r2, &r1], scale, spare);
        self.finish(temperature, sums, [du, dv])
    }
}

fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// How rows are cut into strips.
#[derive(Clone, Copy)]
struct Shape {
    nodes: usize,
    width: usize,
    strip: usize,
}

impl Shape {
    fn strips(self) -> usize {
        self.nodes.div_ceil(self.strip)
    }

    fn rows(self, strip: usize) -> std::ops::Range<usize> {
        strip * self.strip..((strip + 1) * self.strip).min(self.nodes)
    }

    fn part<T>(self, values: &[T], rows: std::ops::Range<usize>) -> faer::MatRef<'_, T> {
        let count = rows.len();
        view(
            &values[rows.start * self.width..rows.end * self.width],
            count,
            self.width,
        )
    }

    fn each_piece<T: Number>(self, out: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
        out.par_chunks_mut(self.strip * self.width)
            .enumerate()
            .for_each(|(piece, out)| work(piece, out));
    }

    /// e^(a_I.b_J / t), one row after another; the diagonal 0 where both are the same view.
    fn block<T: Number>(
        self,
        a: (&[T], usize),
        b: (&[T], usize),
        same: bool,
        scale: T,
        block: &mut Vec<T>,
        mut sum: impl FnMut(usize, T),
    ) {
        let (rows, columns) = (self.rows(a.1), self.rows(b.1));
        block.resize(rows.len() * columns.len(), T::ZERO);
        product_here(
            block,
            Into::Replace,
            self.part(a.0, rows),
            self.part(b.0, columns.clone()).transpose(),
        );
        for (at, row) in block.chunks_mut(columns.len()).enumerate() {
            let mut total = exponentials(row, scale);
            if same && a.1 == b.1 {
                total -= row[at];
                row[at] = T::ZERO;
            }
            sum(at, total);
        }
    }

    /// sum_j e^(a_i.b_j / t) + sum_{j != i} e^(a_i.a_j / t), nothing kept.
    fn denominators<T: Number>(self, a: &[T], b: &[T], scale: T) -> Vec<f64> {
        let mut sums = vec![0f64; self.nodes];
        sums.par_chunks_mut(self.strip)
            .enumerate()
            .for_each(|(strip, sums)| {
                let mut block = Vec::new();
                for other in 0..self.strips() {
                    for (b, same) in [(b, false), (a, true)] {
                        self.block(
                            (a, strip),
                            (b, other),
                            same,
                            scale,
                            &mut block,
                            |at, total| {
                                sums[at] += total.to_f64();
                            },
                        );
                    }
                }
            });
        sums
    }

    /// The products of the gradient by `[0]` of two views, whose denominators' inverses are given; nothing kept.
    fn gradient<T: Number>(
        self,
        [a, b]: [&[T]; 2],
        [ra, rb]: [&[T]; 2],
        scale: T,
        spare: &Spare<T>,
    ) -> Vec<T> {
        let mut gradient = spare.zeros(a.len());
        self.each_piece(&mut gradient, |strip, out| {
            let mut block = Vec::new();
            for other in 0..self.strips() {
                for (b, rb, same) in [(b, rb, false), (a, ra, true)] {
                    self.block((a, strip), (b, other), same, scale, &mut block, |_, _| {});
                    let columns = self.rows(other);
                    weigh(&mut block, &ra[self.rows(strip)], &rb[columns.clone()]);
                    let block = view(&block, self.rows(strip).len(), columns.len());
                    product_here(out, Into::Add, block, self.part(b, columns));
                }
            }
        });
        gradient
    }
}

/// block_ij x (row_i + column_j).
fn weigh<T: Number>(block: &mut [T], rows: &[T], columns: &[T]) {
    for (row, &weight) in block.chunks_mut(columns.len()).zip(rows) {
        for (value, &other) in row.iter_mut().zip(columns) {
            *value *= weight + other;
        }
    }
}

/// Similarities that are kept, strip by strip. Within one view a strip starts at its own first column: what lies left of it is in
/// the strips above, transposed.
struct Strips<T> {
    shape: Shape,
    symmetric: bool,
    values: Vec<Vec<T>>,
    row_sums: Vec<f64>,
    column_sums: Vec<f64>,
}

impl<T: Number> Strips<T> {
    fn between(shape: Shape, a: &[T], b: &[T], scale: T, spare: &Spare<T>) -> Self {
        Self::new(shape, a, b, scale, false, spare)
    }

    fn within(shape: Shape, a: &[T], scale: T, spare: &Spare<T>) -> Self {
        Self::new(shape, a, a, scale, true, spare)
    }

    fn new(shape: Shape, a: &[T], b: &[T], scale: T, symmetric: bool, spare: &Spare<T>) -> Self {
        let strip = |strip: usize| {
            let rows = shape.rows(strip);
            let start = if symmetric { rows.start } else { 0 };
            let mut values = spare.any(rows.len() * (shape.nodes - start));
            let b = shape.part(b, start..shape.nodes);
            product_here(
                &mut values,
                Into::Replace,
                shape.part(a, rows.clone()),
                b.transpose(),
            );
            let mut columns = vec![T::ZERO; shape.nodes];
            let mut sums = Vec::with_capacity(rows.len());
            for (at, row) in values.chunks_mut(shape.nodes - start).enumerate() {
                let mut total = exponentials(row, scale);
                if symmetric {
                    total -= row[at];
                    row[at] = T::ZERO;
                }
                sums.push(total.to_f64());
                add_scaled(&mut columns[start..], T::ONE, row);
            }
            (values, sums, columns)
        };
        let made: Vec<_> = (0..shape.strips()).into_par_iter().map(strip).collect();
        let mut strips = Strips {
            shape,
            symmetric,
            values: Vec::new(),
            row_sums: Vec::new(),
            column_sums: vec![0.0; shape.nodes],
        };
        for (at, (values, sums, columns)) in made.into_iter().enumerate() {
            strips.values.push(values);
            strips.row_sums.extend(sums);
            // Within one view the square on the diagonal is whole, so its columns were counted as rows already.
            let from = if symmetric { shape.rows(at).end } else { 0 };
            for (sum, column) in strips.column_sums[from..].iter_mut().zip(&columns[from..]) {
                *sum += column.to_f64();
            }
        }
        strips
    }

    /// Sums of whole rows of the symmetric matrix.
    fn symmetric_sums(&self) -> Vec<f64> {
        add(&self.row_sums, &self.column_sums)
    }

    fn start(&self, strip: usize) -> usize {
        match self.symmetric {
            true => self.shape.rows(strip).start,
            false => 0,
        }
    }

    fn weigh(&mut self, rows: &[T], columns: &[T]) {
        let (shape, symmetric) = (self.shape, self.symmetric);
        self.values
            .par_iter_mut()
            .enumerate()
            .for_each(|(at, strip)| {
                let range = shape.rows(at);
                let start = if symmetric { range.start } else { 0 };
                weigh(strip, &rows[range], &columns[start..]);
            });
    }

    fn strip(&self, strip: usize) -> faer::MatRef<'_, T> {
        let columns = self.shape.nodes - self.start(strip);
        view(&self.values[strip], self.shape.rows(strip).len(), columns)
    }

    /// out += (these rows of the matrix) x.
    fn rows_times(&self, piece: usize, x: &[T], out: &mut [T]) {
        let columns = self.start(piece)..self.shape.nodes;
        product_here(
            out,
            Into::Add,
            self.strip(piece),
            self.shape.part(x, columns),
        );
    }

    /// out += (these columns of the matrix)^T x, from the first `strips` strips.
    fn columns_of(&self, piece: usize, strips: usize, x: &[T], out: &mut [T]) {
        let columns = self.shape.rows(piece);
        for strip in 0..strips {
            let start = self.start(strip);
            let block = self
                .strip(strip)
                .subcols(columns.start - start, columns.len());
            let x = self.shape.part(x, self.shape.rows(strip));
            product_here(out, Into::Add, block.transpose(), x);
        }
    }

    fn columns_times(&self, piece: usize, x: &[T], out: &mut [T]) {
        self.columns_of(piece, self.shape.strips(), x, out);
    }

    /// out += (these rows of the symmetric matrix) x.
    fn symmetric_times(&self, piece: usize, x: &[T], out: &mut [T]) {
        self.rows_times(piece, x, out);
        self.columns_of(piece, piece, x, out);
    }
}

#[cfg(test)]
mod tests {
    use super::{Pair, Spare};

    /// Straight from the definition.
    fn loss(u: &[f64], v: &[f64], width: usize, t: f64) -> f64 {
        let nodes = u.len() / width;
        let row = |x: &[f64], i: usize| x[i * width..(i + 1) * width].to_vec();
        let e =
            |a: Vec<f64>, b: Vec<f64>| (a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / t).exp();
        let one = |u: &[f64], v: &[f64], i: usize| {
            let across: f64 = (0..nodes).map(|j| e(row(u, i), row(v, j))).sum();
            let within: f64 = (0..nodes)
                .filter(|&j| j != i)
                .map(|j| e(row(u, i), row(u, j)))
                .sum();
            (across + within).ln() - e(row(u, i), row(v, i)).ln()
        };
        (0..nodes).map(|i| one(u, v, i) + one(v, u, i)).sum::<f64>() / (2.0 * nodes as f64)
    }

    #[test]
    fn loss_and_gradient_equal_definition_and_differences_whether_kept_or_not() {
        let (nodes, width, t) = (11, 3, 0.5);
        let unit = |salt: usize| -> Vec<f64> {
            let raw: Vec<f64> = (0..nodes * width)
                .map(|i| ((i * 37 + salt * 11) % 17) as f64 - 7.5)
                .collect();
            let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
            raw.chunks(width)
                .flat_map(|row| row.iter().map(|x| x / length(row)).collect::<Vec<_>>())
                .collect()
        };
        let (u, v) = (unit(1), unit(2));
        for strip in [2, 4, 100] {
            let pair = Pair {
                u: &u,
                v: &v,
                width,
            };
            for found in [
                pair.kept(t, strip, &Spare::new()),
                pair.again(t, strip, &Spare::new()),
            ] {
                assert!((found.loss - loss(&u, &v, width, t)).abs() < 1e-12);
                let h = 1e-5;
                for at in 0..u.len() {
                    let moved = |by: f64, first: bool| {
                        let (mut u, mut v) = (u.clone(), v.clone());
                        if first {
                            u[at] += by
                        } else {
                            v[at] += by
                        }
                        loss(&u, &v, width, t)
                    };
                    let (du, dv) = (
                        (moved(h, true) - moved(-h, true)) / (2.0 * h),
                        (moved(h, false) - moved(-h, false)) / (2.0 * h),
                    );
                    assert!((found.du[at] - du).abs() < 1e-8, "{} {du}", found.du[at]);
                    assert!((found.dv[at] - dv).abs() < 1e-8, "{} {dv}", found.dv[at]);
                }
            }
        }
    }
}
