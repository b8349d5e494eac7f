//! What jobs hand to each other: plain numbers in files, little-endian as they lie in memory. Seals say that they are whole.

use std::fs::File;
use std::io::Read;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytemuck::Pod;

use crate::failure::Failure;
use crate::jobs::at;

/// A file of numbers.
pub(crate) struct Numbers<T> {
    path: PathBuf,
    file: File,
    count: usize,
    kind: PhantomData<T>,
}

impl<T: Pod> Numbers<T> {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let told = |error| at(path, error);
        let file = File::open(path).map_err(told)?;
        let bytes = file.metadata().map_err(told)?.len();
        Ok(Numbers {
            path: path.to_owned(),
            file,
            count: bytes as usize / size_of::<T>(),
            kind: PhantomData,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Some of them.
    pub(crate) fn read(&self, some: Range<usize>) -> Result<Vec<T>, Failure> {
        use std::io::{Seek, SeekFrom};
        let mut numbers = vec![T::zeroed(); some.len()];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut numbers);
        let mut file = &self.file;
        let from = (some.start * size_of::<T>()) as u64;
        file.seek(SeekFrom::Start(from))
            .and_then(|_| file.read_exact(bytes))
            .map_err(|error| at(&self.path, error))?;
        Ok(numbers)
    }
}

/// 0 to `count` in so many pieces of nearly the same size.
pub(crate) fn cut(count: usize, pieces: usize) -> Vec<Range<usize>> {
    let pieces = pieces.clamp(1, count.max(1));
    let at = |piece: usize| piece * count / pieces;
    (0..pieces).map(|piece| at(piece)..at(piece + 1)).collect()
}

/// A range as in 3..7.
pub(crate) fn span(text: &str) -> Result<Range<usize>, String> {
    let both = text.split_once("..");
    let both = both.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match both {
        Some((start, end)) if start <= end => Ok(start..end),
        _ => Err("a range looks like 3..7".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_all_of_it_once() {
        for (count, pieces) in [(10, 3), (2, 5), (7, 7), (100, 1), (0, 4)] {
            let all: Vec<usize> = cut(count, pieces).into_iter().flatten().collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
        assert_eq!(span("3..7"), Ok(3..7));
        assert!(span("7..3").is_err() && span("x").is_err());
    }

    #[test]
    fn numbers_come_back() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("x");
        let numbers = [1.5f64, -2.0, 0.1];
        std::fs::write(&path, bytemuck::cast_slice(&numbers)).expect("written");
        let found = Numbers::<f64>::open(&path).map(|found| found.read(1..3).ok());
        assert_eq!(found.ok().flatten(), Some(vec![-2.0, 0.1]));
        let cut_short = Numbers::<f64>::open(&path).and_then(|found| found.read(2..4));
        assert!(cut_short.is_err());
    }
}
