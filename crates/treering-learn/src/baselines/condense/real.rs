//! A task's own rows beside synthetic ones that may live on more columns.

use crate::network::dense::Into;
use crate::network::number::Number;
use crate::network::source::Source;

/// Rows, and where their columns are among those of the synthetic rows; none where they are the same.
pub struct Real<'a, T> {
    /// The rows.
    pub source: Source<'a, T>,
    places: Option<Vec<u32>>,
    room: Vec<T>,
}

impl<'a, T: Number> Real<'a, T> {
    /// Rows beside synthetic ones on `columns`, which have to hold all of theirs.
    pub fn new(source: Source<'a, T>, columns: &[u32]) -> Self {
        let places = (source.columns() != columns).then(|| {
            let place = |column: &u32| columns.partition_point(|other| other < column) as u32;
            source.columns().iter().map(place).collect()
        });
        Real {
            source,
            places,
            room: Vec::new(),
        }
    }

    /// out = rows W, with one row of `width` in `w` for every column of the synthetic rows.
    pub fn times(&mut self, w: &[T], width: usize, out: &mut Vec<T>) {
        let Some(places) = &self.places else {
            return self.source.times(w, width, out);
        };
        self.room.clear();
        for &place in places {
            self.room
                .extend_from_slice(&w[place as usize * width..][..width]);
        }
        self.source.times(&self.room, width, out);
    }

    /// out -= rows^T g, with one row of `width` in `out` for every column of the synthetic rows.
    pub fn subtract_transposed(&mut self, g: &[T], width: usize, out: &mut [T]) {
        self.source
            .transposed_times(g, width, Into::Replace, &mut self.room);
        let rows = self.room.chunks(width).enumerate();
        for (at, row) in rows {
            let place = self
                .places
                .as_ref()
                .map_or(at, |places| places[at] as usize);
            let into = out[place * width..][..width].iter_mut();
            into.zip(row).for_each(|(into, &value)| *into -= value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Real;
    use crate::network::inputs::Inputs;
    use crate::network::source::Source;

    #[test]
    fn columns_that_only_synthetic_rows_have_count_as_zero() {
        let values = vec![1.0, 2.0, 3.0, 4.0f64];
        let source = || Source::from_inputs(Inputs::dense_of(2, vec![1, 4], values.clone()));
        let mut wide = Real::new(source(), &[0, 1, 3, 4]);
        let (mut out, w) = (Vec::new(), [9.0, 10.0, 9.0, 1.0]);
        wide.times(&w, 1, &mut out);
        assert_eq!(out, [12.0, 34.0]);
        let mut back = [1.0; 4];
        wide.subtract_transposed(&[1.0, 2.0], 1, &mut back);
        assert_eq!(back, [1.0, 1.0 - 7.0, 1.0, 1.0 - 10.0]);
        let mut same = Real::new(source(), &[1, 4]);
        same.times(&w[1..3], 1, &mut out);
        assert_eq!(out, [28.0, 66.0]);
    }
}
