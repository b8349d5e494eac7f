//! A task's features as a network reads them: X, and X^T beside it where X is sparse.
//!
//! Columns that are zero on the whole task are left out. Their weights get no gradient but the decay, so training
//! touches only what the task has; on bag-of-words features that is a sixth of all columns or less.

use faer::MatRef;
use rayon::prelude::*;
use treering_graph::{Buffer, Features, Sparse};

use super::dense::{Into, product, row_blocks, view};
use super::kernels::{DEPTH, FEW, add_rows_scaled, add_scaled, few_columns, few_sums};
use super::lanes::LANES;
use super::number::Number;

/// Rows or columns that one thread works on at a time.
const PIECE: usize = 64;

/// The features of one task.
pub struct Inputs<T> {
    rows: usize,
    /// The columns that are not zero everywhere, ascending.
    present: Vec<u32>,
    stored: Stored<T>,
}

enum Stored<T> {
    /// Row by row, every column present.
    Dense(Buffer<T>),
    /// By rows and by columns; columns counted among those present.
    Sparse { rows: Lists<T>, columns: Lists<T> },
}

/// Compressed lists of (index, value).
struct Lists<T> {
    offsets: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
}

impl<T: Copy> Lists<T> {
    fn list(&self, list: usize) -> (&[u32], &[T]) {
        let range = self.offsets[list]..self.offsets[list + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    fn of(&self, list: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        let (indices, values) = self.list(list);
        let indices = indices.iter().map(|&index| index as usize);
        indices.zip(values.iter().copied())
    }
}

impl<T: Number> Inputs<T> {
    /// Takes what is present of a task's features.
    pub fn new(features: &Features) -> Self {
        match features {
            Features::Dense(dense) => Inputs {
                rows: dense.rows(),
                present: (0..dense.columns() as u32).collect(),
                stored: Stored::Dense(T::of_features(dense.buffer())),
            },
            Features::Sparse(sparse) => Self::sparse(sparse),
        }
    }

    /// Takes values row by row, for the columns `present`, ascending.
    ///
    /// # Panics
    /// When the number of values does not fit.
    pub fn dense_of(rows: usize, present: Vec<u32>, values: Vec<T>) -> Self {
        assert_eq!(values.len(), rows * present.len(), "{rows} rows");
        Inputs {
            rows,
            present,
            stored: Stored::Dense(values.into()),
        }
    }

    /// Every value changed by `change`, which has to leave 0 as it is.
    pub fn map(&self, change: impl Fn(T) -> T) -> Self {
        let lists = |lists: &Lists<T>| Lists {
            offsets: lists.offsets.clone(),
            indices: lists.indices.clone(),
            values: lists.values.iter().map(|&value| change(value)).collect(),
        };
        Inputs {
            rows: self.rows,
            present: self.present.clone(),
            stored: match &self.stored {
                Stored::Dense(values) => {
                    let values: Vec<T> = values.iter().map(|&value| change(value)).collect();
                    Stored::Dense(values.into())
                }
                Stored::Sparse { rows, columns } => Stored::Sparse {
                    rows: lists(rows),
                    columns: lists(columns),
                },
            },
        }
    }

    fn sparse(sparse: &Sparse) -> Self {
        let mut counts = vec![0usize; sparse.columns()];
        for &column in sparse.indices() {
            counts[column as usize] += 1;
        }
        let present: Vec<u32> = (0..sparse.columns() as u32)
            .filter(|&column| counts[column as usize] > 0)
            .collect();
        let mut place = vec![0u32; sparse.columns()];
        let mut offsets = vec![0usize];
        for (at, &column) in present.iter().enumerate() {
            place[column as usize] = at as u32;
            offsets.push(offsets[at] + counts[column as usize]);
        }
        let mut next = offsets.clone();
        let mut columns = Lists {
            offsets,
            indices: vec![0; sparse.indices().len()],
            values: vec![T::ZERO; sparse.indices().len()],
        };
        let mut rows = Lists {
            offsets: vec![0],
            indices: Vec::with_capacity(sparse.indices().len()),
            values: Vec::with_capacity(sparse.indices().len()),
        };
        for row in 0..sparse.rows() {
            let (found, values) = sparse.row(row);
            for (&column, &value) in found.iter().zip(values) {
                let column = place[column as usize];
                let at = &mut next[column as usize];
                columns.indices[*at] = row as u32;
                columns.values[*at] = number(value);
                *at += 1;
                rows.indices.push(column);
                rows.values.push(number(value));
            }
            rows.offsets.push(rows.indices.len());
        }
        Inputs {
            rows: sparse.rows(),
            present,
            stored: Stored::Sparse { rows, columns },
        }
    }

    /// The number of nodes.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns that are not zero everywhere, ascending.
    pub fn present(&self) -> &[u32] {
        &self.present
    }

    /// Stored entries.
    pub fn entries(&self) -> usize {
        match &self.stored {
            Stored::Dense(values) => values.len(),
            Stored::Sparse { rows, .. } => rows.values.len(),
        }
    }

    /// The values row by row, where they are stored so.
    pub fn dense(&self) -> Option<&[T]> {
        match &self.stored {
            Stored::Dense(values) => Some(values),
            Stored::Sparse { .. } => None,
        }
    }

    /// out = X w, with `w` one row of `width` per present column. Columns whose `kept` is false count as zero.
    pub fn times(&self, w: &[T], width: usize, kept: Option<&[bool]>, out: &mut Vec<T>) {
        out.resize(self.rows * width, T::ZERO);
        match &self.stored {
            // A product adds up more columns in blocks, so its sums have another order.
            Stored::Dense(x)
                if kept.is_none()
                    && self.present.len() <= DEPTH
                    && is_few(self.present.len(), width) =>
            {
                few_times(x, w, width, out);
            }
            Stored::Dense(x) => {
                let masked = kept.map(|kept| mask_rows(w, width, kept));
                let columns = self.present.len();
                let w = view(masked.as_deref().unwrap_or(w), columns, width);
                // In blocks, so that features in a file need not be in memory all at once.
                for some in row_blocks(self.rows) {
                    let from = some.start * columns..some.end * columns;
                    let out = &mut out[some.start * width..some.end * width];
                    let x_part = view(&x[from.clone()], some.len(), columns);
                    product(out, Into::Replace, x_part, w);
                    x.release(from);
                }
            }
            Stored::Sparse { rows, .. } => {
                out.fill(T::ZERO);
                gather(rows, width, out, None, w, kept);
            }
        }
    }

    /// out (+)= X^T g, one row of `width` per present column. Columns whose `kept` is false count as zero.
    pub fn transposed_times(
        &self,
        g: &[T],
        width: usize,
        kept: Option<&[bool]>,
        into: Into,
        out: &mut Vec<T>,
    ) {
        out.resize(self.present.len() * width, T::ZERO);
        match &self.stored {
            Stored::Dense(x) if kept.is_none() && is_few(self.present.len(), width) => {
                match width {
                    2 => few_transposed::<T, 2>(x, g, into, out),
                    3 => few_transposed::<T, 3>(x, g, into, out),
                    _ => few_transposed::<T, FEW>(x, g, into, out),
                }
            }
            Stored::Dense(x) => {
                let x = view(x, self.rows, self.present.len());
                transposed_product(x, view(g, self.rows, width), kept, into, out);
            }
            Stored::Sparse { columns, .. } => {
                if into == Into::Replace {
                    out.fill(T::ZERO);
                }
                gather(columns, width, out, kept, g, None);
            }
        }
    }
}

/// Whether kernels for few columns have the same sums as a product; with one column it goes another way.
fn is_few(columns: usize, width: usize) -> bool {
    columns > 1 && (2..=FEW).contains(&width)
}

/// out = X w for dense X and few columns.
fn few_times<T: Number>(x: &Buffer<T>, w: &[T], width: usize, out: &mut [T]) {
    let columns = w.len() / width;
    let mut padded = vec![[T::ZERO; LANES]; columns];
    for (padded, row) in padded.iter_mut().zip(w.chunks_exact(width)) {
        padded[..width].copy_from_slice(row);
    }
    // In blocks, so that features in a file need not be in memory all at once.
    for some in row_blocks(out.len() / width) {
        let from = some.start * columns..some.end * columns;
        let pieces = out[some.start * width..some.end * width].par_chunks_mut(DEPTH * width);
        pieces
            .zip(x[from.clone()].par_chunks(DEPTH * columns))
            .for_each(|(out, x)| few_columns(x, &padded, width, out));
        x.release(from);
    }
}

/// out (+)= X^T g for dense X and `W` columns. Blocks of [`DEPTH`] rows are added up each for itself, and then in their order.
fn few_transposed<T: Number, const W: usize>(x: &Buffer<T>, g: &[T], into: Into, out: &mut [T]) {
    /// Blocks whose sums are held at a time, so that features in a file need not be in memory all at once.
    const BLOCKS: usize = 16;
    let columns = out.len() / W;
    let (g, _) = g.as_chunks::<W>();
    let mut replace = into == Into::Replace;
    if replace {
        out.fill(T::ZERO);
    }
    let mut held = vec![vec![T::ZERO; out.len()]; BLOCKS.min(g.len().div_ceil(DEPTH))];
    for (part, g) in g.chunks(BLOCKS * DEPTH).enumerate() {
        let start = part * BLOCKS * DEPTH;
        let from = start * columns..(start + g.len()) * columns;
        let blocks = held.par_iter_mut().zip(g.par_chunks(DEPTH));
        blocks
            .zip(x[from.clone()].par_chunks(DEPTH * columns))
            .for_each(|((sums, g), x)| few_sums(x, g, sums));
        x.release(from);
        for sums in &held[..g.len().div_ceil(DEPTH)] {
            for (column, out) in out.chunks_exact_mut(W).enumerate() {
                for (w, out) in out.iter_mut().enumerate() {
                    let sum = sums[w * columns + column];
                    *out = if replace { sum } else { *out + sum };
                }
            }
            replace = false;
        }
    }
}

/// Rows of `w` whose `kept` is false, zeroed.
fn mask_rows<T: Number>(w: &[T], width: usize, kept: &[bool]) -> Vec<T> {
    let mut masked = w.to_vec();
    for (row, _) in masked
        .chunks_mut(width)
        .zip(kept)
        .filter(|(_, kept)| !**kept)
    {
        row.fill(T::ZERO);
    }
    masked
}

fn number<T: Number>(value: f32) -> T {
    T::from_f64(f64::from(value))
}

/// out (+)= X^T g with rows of the result whose `kept` is false left out.
pub(super) fn transposed_product<T: Number>(
    x: MatRef<'_, T>,
    g: MatRef<'_, T>,
    kept: Option<&[bool]>,
    into: Into,
    out: &mut [T],
) {
    let Some(kept) = kept else {
        return product(out, into, x.transpose(), g);
    };
    let mut all = vec![T::ZERO; out.len()];
    product(&mut all, Into::Replace, x.transpose(), g);
    let rows = out.chunks_mut(g.ncols()).zip(all.chunks(g.ncols()));
    for ((out, row), &kept) in rows.zip(kept) {
        if into == Into::Replace {
            out.fill(T::ZERO);
        }
        if kept {
            add_scaled(out, T::ONE, row);
        }
    }
}

/// out_list += sum over the list's entries of value x row(index). Lists whose `wanted` is false stay as they are; rows whose `kept` is
/// false count as zero.
fn gather<T: Number>(
    lists: &Lists<T>,
    width: usize,
    out: &mut [T],
    wanted: Option<&[bool]>,
    rows: &[T],
    kept: Option<&[bool]>,
) {
    let pieces = out.par_chunks_mut(PIECE * width).enumerate();
    pieces.for_each(|(piece, out)| {
        for (at, out) in out.chunks_mut(width).enumerate() {
            let list = piece * PIECE + at;
            match (width, kept) {
                _ if wanted.is_some_and(|wanted| !wanted[list]) => {}
                (1, _) => gather_narrow::<T, 1>(lists, list, out, rows, kept),
                (2, _) => gather_narrow::<T, 2>(lists, list, out, rows, kept),
                (3, _) => gather_narrow::<T, 3>(lists, list, out, rows, kept),
                (4, _) => gather_narrow::<T, 4>(lists, list, out, rows, kept),
                (_, None) => {
                    let (indices, values) = lists.list(list);
                    add_rows_scaled(out, indices, values, rows);
                }
                (_, Some(kept)) => {
                    for (index, value) in lists.of(list).filter(|(index, _)| kept[*index]) {
                        add_scaled(out, value, &rows[index * width..]);
                    }
                }
            }
        }
    });
}

/// Sums that stay in registers.
fn gather_narrow<T: Number, const W: usize>(
    lists: &Lists<T>,
    list: usize,
    out: &mut [T],
    rows: &[T],
    kept: Option<&[bool]>,
) {
    let mut sums = [T::ZERO; W];
    sums.copy_from_slice(out);
    for (index, value) in lists.of(list) {
        let from = rows[index * W..].first_chunk::<W>();
        if let Some(from) = from.filter(|_| kept.is_none_or(|kept| kept[index])) {
            for lane in 0..W {
                sums[lane] += value * from[lane];
            }
        }
    }
    out.copy_from_slice(&sums);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use treering_graph::{Dense, Features, Sparse};

    use super::{Inputs, Into};

    fn matrix() -> impl Strategy<Value = (usize, usize, Vec<f32>)> {
        (1usize..90, 1usize..9).prop_flat_map(|(rows, columns)| {
            let entry = prop_oneof![3 => Just(0f32), 1 => -2f32..2.0];
            (
                Just(rows),
                Just(columns),
                proptest::collection::vec(entry, rows * columns),
            )
        })
    }

    /// Few columns go another way than many; more rows than are added up at a time, and columns that fill no vector.
    #[test]
    fn few_columns_give_what_many_give() {
        let (rows, columns) = (2 * super::DEPTH + 77, 45);
        let number = |i: usize| ((i * 7919) % 2003) as f32 / 1000.0 - 1.0;
        let x: Vec<f32> = (0..rows * columns).map(number).collect();
        let inputs = Inputs::<f32>::dense_of(rows, (0..columns as u32).collect(), x);
        for width in 2..=super::FEW {
            let wide = 2 * width + 1;
            let pad = |few: &[f32]| -> Vec<f32> {
                let row = |row: &[f32]| [row, &vec![0.5; wide - width]].concat();
                few.chunks(width).flat_map(row).collect()
            };
            let w: Vec<f32> = (0..columns * width).map(|i| number(i + 3)).collect();
            let g: Vec<f32> = (0..rows * width).map(|i| number(i + 8)).collect();
            let (mut few, mut many) = (Vec::new(), Vec::new());
            inputs.times(&w, width, None, &mut few);
            inputs.times(&pad(&w), wide, None, &mut many);
            let (mut few_back, mut many_back) = (Vec::new(), Vec::new());
            inputs.transposed_times(&g, width, None, Into::Replace, &mut few_back);
            inputs.transposed_times(&g, width, None, Into::Add, &mut few_back);
            inputs.transposed_times(&pad(&g), wide, None, Into::Replace, &mut many_back);
            inputs.transposed_times(&pad(&g), wide, None, Into::Add, &mut many_back);
            for (few, many) in [(few, many), (few_back, many_back)] {
                for (few, many) in few.chunks(width).zip(many.chunks(wide)) {
                    for (a, b) in few.iter().zip(many) {
                        assert!((a - b).abs() < 1e-3, "{a} {b}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn products_equal_the_dense_ones((rows, columns, x) in matrix(), width in prop_oneof![1usize..7, 60usize..140], mask in any::<u16>()) {
            let w: Vec<f64> = (0..columns * width).map(|i| (i % 7) as f64 - 3.0).collect();
            let g: Vec<f64> = (0..rows * width).map(|i| (i % 5) as f64 - 2.0).collect();
            let at = |r: usize, c: usize| f64::from(x[r * columns + c]);
            let x_of = at;
            let mut sparse = (vec![0u64], Vec::new(), Vec::new());
            for r in 0..rows {
                for c in (0..columns).filter(|c| x[r * columns + c] != 0.0) {
                    sparse.1.push(c as u32);
                    sparse.2.push(x[r * columns + c]);
                }
                sparse.0.push(sparse.1.len() as u64);
            }
            let sparse = Sparse::new(columns, sparse.0.into(), sparse.1.into(), sparse.2.into()).unwrap();
            let dense = Dense::new(rows, columns, x.clone().into()).unwrap();
            for features in [Features::Sparse(sparse), Features::Dense(dense)] {
                let inputs = Inputs::<f64>::new(&features);
                let present = inputs.present();
                let short: Vec<f64> = present.iter().flat_map(|&c| w[c as usize * width..][..width].to_vec()).collect();
                let kept: Vec<bool> = present.iter().map(|c| mask >> c & 1 == 1).collect();
                let mut out = Vec::new();
                inputs.times(&short, width, Some(&kept), &mut out);
                for r in 0..rows {
                    for j in 0..width {
                        let right: f64 = (0..columns).filter(|c| mask >> c & 1 == 1).map(|c| at(r, c) * w[c * width + j]).sum();
                        prop_assert!((out[r * width + j] - right).abs() < 1e-9);
                    }
                }
                let mut whole = Vec::new();
                inputs.times(&short, width, None, &mut whole);
                for (at, value) in whole.iter().enumerate() {
                    let (r, j) = (at / width, at % width);
                    let right: f64 = (0..columns).map(|c| x_of(r, c) * w[c * width + j]).sum();
                    prop_assert!((value - right).abs() < 1e-9);
                }
                let mut back = vec![1.0; present.len() * width];
                inputs.transposed_times(&g, width, None, Into::Add, &mut back);
                for (p, &c) in present.iter().enumerate() {
                    for j in 0..width {
                        let right: f64 = (0..rows).map(|r| at(r, c as usize) * g[r * width + j]).sum();
                        prop_assert!((back[p * width + j] - 1.0 - right).abs() < 1e-9);
                    }
                }
            }
        }
    }
}
