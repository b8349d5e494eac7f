//! Node features, dense or sparse, one row a node.

use std::ops::Range;

use crate::arcs::check_offsets;
use crate::parallel::first_wrong;
use crate::{Buffer, GraphError, NodeId};
use rayon::prelude::*;

/// Rows picked out of a file before their memory is given back. Few, because each may lie on pages of its own, and the system brings their neighbours along.
pub(crate) const PICKED: usize = 512;

/// A matrix with every entry stored, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    columns: usize,
    rows: usize,
    values: Buffer<f32>,
}

impl Dense {
    /// Takes `rows * columns` values, row by row.
    ///
    /// # Errors
    /// When the number of values is another one.
    pub fn new(rows: usize, columns: usize, values: Buffer<f32>) -> Result<Self, GraphError> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(GraphError::Length {
                what: "feature values",
                found: values.len() as u64,
                nodes: rows as u64,
            });
        }
        Ok(Dense {
            columns,
            rows,
            values,
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The array that holds them.
    pub fn buffer(&self) -> &Buffer<f32> {
        &self.values
    }

    /// One row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.columns..(index + 1) * self.columns]
    }
}

/// A matrix with only its non-zero entries stored, in compressed rows with ascending columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    columns: usize,
    offsets: Buffer<u64>,
    indices: Buffer<u32>,
    values: Buffer<f32>,
}

impl Sparse {
    /// Takes compressed rows and checks them. Rows whose columns do not ascend are refused: see
    /// [`Sparse::from_unsorted`].
    ///
    /// # Errors
    /// Offsets that do not fit, a column outside, columns that do not ascend.
    pub fn new(
        columns: usize,
        offsets: Buffer<u64>,
        indices: Buffer<u32>,
        values: Buffer<f32>,
    ) -> Result<Self, GraphError> {
        let sparse = Self::unchecked_order(columns, offsets, indices, values)?;
        for row in 0..sparse.rows() {
            if sparse.row(row).0.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(GraphError::BadOffsets {
                    what: "features",
                    row: row as u64,
                    why: "its columns do not ascend",
                });
            }
        }
        Ok(sparse)
    }

    /// Takes compressed rows in any order; repeated columns of a row are added up, as scipy does.
    ///
    /// # Errors
    /// Offsets that do not fit, a column outside.
    pub fn from_unsorted(
        columns: usize,
        offsets: Buffer<u64>,
        indices: Buffer<u32>,
        values: Buffer<f32>,
    ) -> Result<Self, GraphError> {
        let given = Self::unchecked_order(columns, offsets, indices, values)?;
        let sorted = |row| given.row(row).0.windows(2).all(|pair| pair[0] < pair[1]);
        if (0..given.rows()).all(sorted) {
            return Ok(given);
        }
        let mut offsets = vec![0u64];
        let (mut indices, mut values) = (Vec::new(), Vec::<f32>::new());
        let mut entries: Vec<(u32, f32)> = Vec::new();
        for row in 0..given.rows() {
            let (columns, numbers) = given.row(row);
            entries.clear();
            entries.extend(columns.iter().copied().zip(numbers.iter().copied()));
            entries.sort_by_key(|entry| entry.0);
            for same in entries.chunk_by(|a, b| a.0 == b.0) {
                indices.push(same[0].0);
                values.push(same.iter().map(|entry| entry.1).sum());
            }
            offsets.push(indices.len() as u64);
        }
        Self::unchecked_order(columns, offsets.into(), indices.into(), values.into())
    }

    fn unchecked_order(
        columns: usize,
        offsets: Buffer<u64>,
        indices: Buffer<u32>,
        values: Buffer<f32>,
    ) -> Result<Self, GraphError> {
        check_offsets("features", &offsets, indices.len())?;
        if indices.len() != values.len() {
            return Err(GraphError::Length {
                what: "feature values (against feature columns)",
                found: values.len() as u64,
                nodes: indices.len() as u64,
            });
        }
        if let Some(at) = first_wrong(&indices, |&c| c as usize >= columns) {
            return Err(GraphError::ColumnOutside {
                row: offsets.partition_point(|&start| start <= at as u64) as u64 - 1,
                column: u64::from(indices[at]),
                columns: columns as u64,
            });
        }
        Ok(Sparse {
            columns,
            offsets,
            indices,
            values,
        })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The columns and values of one row.
    pub fn row(&self, index: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[index] as usize..self.offsets[index + 1] as usize;
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Where each row starts; one entry more than there are rows.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// The column of every stored entry.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// Every stored value.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

/// The features of a graph's nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Features {
    /// Every entry stored.
    Dense(Dense),
    /// Only non-zero entries stored; stays sparse through everything that allows it.
    Sparse(Sparse),
}

impl Features {
    /// The number of rows, which is the number of nodes.
    pub fn rows(&self) -> usize {
        match self {
            Features::Dense(dense) => dense.rows(),
            Features::Sparse(sparse) => sparse.rows(),
        }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Features::Dense(dense) => dense.columns(),
            Features::Sparse(sparse) => sparse.columns(),
        }
    }

    /// The number of entries that are not 0.
    pub fn non_zeros(&self) -> usize {
        let values = match self {
            Features::Dense(dense) => dense.values(),
            Features::Sparse(sparse) => sparse.values(),
        };
        values.par_iter().filter(|&&value| value != 0.0).count()
    }

    /// Looks at all rows in order, some at a time. Where they lie in a file and memory is short, what was looked at is given back before the next are; else all
    /// come at once.
    pub fn visit(&self, mut look: impl FnMut(Range<usize>)) {
        let rows = self.rows();
        let numbers = match self {
            Features::Dense(dense) => dense.values.len(),
            Features::Sparse(sparse) => 2 * sparse.values.len(),
        };
        let each = (size_of::<f32>() * numbers.div_ceil(rows.max(1))).max(1);
        let step = self.window().map_or(rows, |window| window / each).max(1);
        for start in (0..rows).step_by(step) {
            let some = start..rows.min(start + step);
            look(some.clone());
            self.release(some);
        }
    }

    /// As [`Buffer::window`].
    pub fn window(&self) -> Option<usize> {
        match self {
            Features::Dense(dense) => dense.values.window(),
            Features::Sparse(sparse) => sparse.values.window(),
        }
    }

    /// As [`Buffer::release`], for rows.
    pub fn release(&self, rows: Range<usize>) {
        match self {
            Features::Dense(dense) => dense.values.release(self.entries(rows)),
            Features::Sparse(sparse) => {
                sparse.indices.release(self.entries(rows.clone()));
                sparse.values.release(self.entries(rows));
            }
        }
    }

    /// The rows of `nodes`, in that order.
    pub fn select(&self, nodes: &[NodeId]) -> Features {
        match self {
            Features::Dense(dense) => {
                let mut values = Vec::with_capacity(nodes.len() * dense.columns);
                for some in nodes.chunks(PICKED) {
                    for node in some {
                        values.extend_from_slice(dense.row(node.index()));
                    }
                    self.release(0..dense.rows);
                }
                Features::Dense(Dense {
                    columns: dense.columns,
                    rows: nodes.len(),
                    values: values.into(),
                })
            }
            Features::Sparse(sparse) => {
                let mut offsets = vec![0u64];
                let (mut indices, mut values) = (Vec::new(), Vec::new());
                for some in nodes.chunks(PICKED) {
                    for node in some {
                        let (row_indices, row_values) = sparse.row(node.index());
                        indices.extend_from_slice(row_indices);
                        values.extend_from_slice(row_values);
                        offsets.push(indices.len() as u64);
                    }
                    self.release(0..sparse.rows());
                }
                Features::Sparse(Sparse {
                    columns: sparse.columns,
                    offsets: offsets.into(),
                    indices: indices.into(),
                    values: values.into(),
                })
            }
        }
    }

    /// These rows and then `more`. Sparse only where both are.
    ///
    /// # Panics
    /// When they have different numbers of columns.
    ///
    /// # Example
    /// ```
    /// use treering_graph::{Dense, Features, NodeId};
    /// let rows = Features::Dense(Dense::new(2, 1, vec![5.0, 6.0].into())?);
    /// let again = rows.followed_by(&rows.select(&[NodeId(0)]));
    /// assert_eq!(again.to_dense().values(), [5.0, 6.0, 5.0]);
    /// # Ok::<(), treering_graph::GraphError>(())
    /// ```
    pub fn followed_by(&self, more: &Features) -> Features {
        let columns = self.columns();
        assert_eq!(columns, more.columns(), "rows of one width");
        if let (Features::Sparse(first), Features::Sparse(more)) = (self, more) {
            let end = first.values.len() as u64;
            let offsets = more.offsets[1..].iter().map(|offset| end + offset);
            let offsets: Vec<u64> = first.offsets.iter().copied().chain(offsets).collect();
            return Features::Sparse(Sparse {
                columns,
                offsets: offsets.into(),
                indices: [first.indices(), more.indices()].concat().into(),
                values: [first.values(), more.values()].concat().into(),
            });
        }
        let (first, more) = (self.to_dense(), more.to_dense());
        Features::Dense(Dense {
            rows: first.rows + more.rows,
            columns,
            values: [first.values(), more.values()].concat().into(),
        })
    }

    /// The numbers that are stored: every entry of dense features, the stored entries of sparse ones.
    pub fn numbers(&self) -> usize {
        match self {
            Features::Dense(dense) => dense.values().len(),
            Features::Sparse(sparse) => sparse.values().len(),
        }
    }

    /// The same numbers with every entry stored.
    pub fn to_dense(&self) -> Dense {
        match self {
            Features::Dense(dense) => dense.clone(),
            Features::Sparse(sparse) => {
                let mut values = vec![0f32; sparse.rows() * sparse.columns];
                for row in 0..sparse.rows() {
                    let (indices, numbers) = sparse.row(row);
                    for (&column, &number) in indices.iter().zip(numbers) {
                        values[row * sparse.columns + column as usize] = number;
                    }
                }
                Dense {
                    columns: sparse.columns,
                    rows: sparse.rows(),
                    values: values.into(),
                }
            }
        }
    }

    /// Where the stored numbers of some rows are.
    fn entries(&self, rows: Range<usize>) -> Range<usize> {
        match self {
            Features::Dense(dense) => rows.start * dense.columns..rows.end * dense.columns,
            Features::Sparse(sparse) => {
                sparse.offsets[rows.start] as usize..sparse.offsets[rows.end] as usize
            }
        }
    }

    /// Looks for NaN and infinities, in parallel.
    ///
    /// # Errors
    /// Names the first entry that is not finite.
    pub fn check_finite(&self) -> Result<(), GraphError> {
        let values = match self {
            Features::Dense(dense) => dense.values(),
            Features::Sparse(sparse) => sparse.values(),
        };
        let mut wrong = None;
        self.visit(|rows| {
            let some = self.entries(rows);
            let found = || first_wrong(&values[some.clone()], |value| !value.is_finite());
            wrong = wrong.or_else(|| found().map(|at| some.start + at));
        });
        let Some(at) = wrong else {
            return Ok(());
        };
        let (row, column) = match self {
            Features::Dense(dense) => (at / dense.columns, at % dense.columns),
            Features::Sparse(sparse) => (
                sparse.offsets.partition_point(|&start| start <= at as u64) - 1,
                sparse.indices[at] as usize,
            ),
        };
        Err(GraphError::NotFinite {
            row: row as u64,
            column: column as u64,
            value: values[at],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Dense, Features, Sparse};

    #[test]
    fn rows_follow_each_other_in_every_mix_of_kinds() {
        let sparse = |rows: &[&[(u32, f32)]]| {
            let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
            for row in rows {
                indices.extend(row.iter().map(|entry| entry.0));
                values.extend(row.iter().map(|entry| entry.1));
                offsets.push(indices.len() as u64);
            }
            Features::Sparse(Sparse::new(3, offsets.into(), indices.into(), values.into()).unwrap())
        };
        let first = sparse(&[&[(0, 1.0), (2, 2.0)], &[]]);
        let more = sparse(&[&[], &[(1, 3.0)]]);
        let right = [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0];
        let dense = |features: &Features| Features::Dense(features.to_dense());
        for (first, more, numbers) in [
            (first.clone(), more.clone(), 3),
            (dense(&first), more.clone(), 12),
            (first.clone(), dense(&more), 12),
            (dense(&first), dense(&more), 12),
        ] {
            let both = first.followed_by(&more);
            assert_eq!(
                both.to_dense(),
                Dense::new(4, 3, right.to_vec().into()).unwrap()
            );
            assert_eq!(both.numbers(), numbers);
        }
    }
}
