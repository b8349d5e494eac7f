//! Smoothing of sparse features into sparse features.

use std::ops::Range;

use rayon::prelude::*;

use crate::Sparse;
use crate::propagate::{Propagation, Scaled, Side};

/// Rows worked on by one thread at a time; fixed, so that pieces are the same for any number of threads.
const BLOCK: usize = 256;

/// The rows of one block, and where each of them ends.
struct Block {
    ends: Vec<u64>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

/// A dense row to add up in, and the columns touched so far.
struct Row {
    sums: Vec<f32>,
    used: Vec<bool>,
    columns: Vec<u32>,
}

impl Propagation<'_> {
    /// S^steps X with X sparse.
    ///
    /// # Complexity
    /// O(sum over arcs of the non-zeros of the source's row) per step. The result fills up with every step; beyond
    /// two or three it is often dense in all but name.
    pub fn smooth_sparse(&self, features: &Sparse, steps: usize) -> Sparse {
        assert_eq!(features.rows(), self.nodes(), "one row per node");
        let root = &f32::scales(self).root;
        let mut smooth = features.clone();
        for _ in 0..steps {
            smooth = self.sparse_step(&smooth, root);
        }
        smooth
    }

    fn sparse_step(&self, x: &Sparse, root: &[f32]) -> Sparse {
        let blocks: Vec<Block> = (0..self.nodes().div_ceil(BLOCK))
            .into_par_iter()
            .map_init(
                || Row::new(x.columns()),
                |row, block| {
                    let rows = block * BLOCK..((block + 1) * BLOCK).min(self.nodes());
                    self.sparse_block(x, root, rows, row)
                },
            )
            .collect();
        let mut offsets = Vec::with_capacity(self.nodes() + 1);
        offsets.push(0u64);
        let total: usize = blocks.iter().map(|block| block.indices.len()).sum();
        let (mut indices, mut values) = (Vec::with_capacity(total), Vec::with_capacity(total));
        for block in blocks {
            let base = indices.len() as u64;
            offsets.extend(block.ends.iter().map(|end| base + end));
            indices.extend(block.indices);
            values.extend(block.values);
        }
        match Sparse::new(x.columns(), offsets.into(), indices.into(), values.into()) {
            Ok(smooth) => smooth,
            Err(error) => unreachable!("rows made here are sorted: {error}"),
        }
    }

    fn sparse_block(&self, x: &Sparse, root: &[f32], rows: Range<usize>, row: &mut Row) -> Block {
        let arcs = self.arcs(Side::Forward);
        let mut block = Block {
            ends: Vec::with_capacity(rows.len()),
            indices: Vec::new(),
            values: Vec::new(),
        };
        for target in rows {
            row.add(root[target], x.row(target));
            for at in arcs.row(target) {
                let source = arcs.sources()[at] as usize;
                let weight = arcs.weights().map_or(1.0, |w| w[at]);
                row.add(weight * root[source], x.row(source));
            }
            row.drain_into(root[target], &mut block);
        }
        block
    }
}

impl Row {
    fn new(columns: usize) -> Self {
        Row {
            sums: vec![0.0; columns],
            used: vec![false; columns],
            columns: Vec::new(),
        }
    }

    fn add(&mut self, factor: f32, (indices, values): (&[u32], &[f32])) {
        for (&column, &value) in indices.iter().zip(values) {
            let at = column as usize;
            if !self.used[at] {
                self.used[at] = true;
                self.columns.push(column);
            }
            self.sums[at] += factor * value;
        }
    }

    fn drain_into(&mut self, scale: f32, block: &mut Block) {
        self.columns.sort_unstable();
        for column in self.columns.drain(..) {
            let at = column as usize;
            block.indices.push(column);
            block.values.push(scale * self.sums[at]);
            self.sums[at] = 0.0;
            self.used[at] = false;
        }
        block.ends.push(block.indices.len() as u64);
    }
}
