//! Memory that is used again. Training asks for the same dozen arrays every epoch; handed back to the system in between, clearing their
//! pages again would take a seventh of the time.

use std::sync::{Mutex, PoisonError};

use super::number::Number;

/// Arrays that nobody uses now.
#[derive(Default)]
pub struct Spare<T>(Mutex<Vec<Vec<T>>>);

impl<T: Number> Spare<T> {
    /// Nothing spare yet.
    pub fn new() -> Self {
        Spare(Mutex::new(Vec::new()))
    }

    /// `length` numbers of any value.
    pub fn any(&self, length: usize) -> Vec<T> {
        let mut found = self.smallest_for(length).unwrap_or_default();
        found.resize(length, T::ZERO);
        found
    }

    /// `length` zeros.
    pub fn zeros(&self, length: usize) -> Vec<T> {
        let mut found = self.any(length);
        found.fill(T::ZERO);
        found
    }

    fn smallest_for(&self, length: usize) -> Option<Vec<T>> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = spare
            .iter()
            .enumerate()
            .filter(|(_, array)| array.capacity() >= length);
        let (at, _) = fits.min_by_key(|(_, array)| array.capacity())?;
        Some(spare.swap_remove(at))
    }

    /// Takes arrays back.
    pub fn keep(&self, arrays: impl IntoIterator<Item = Vec<T>>) {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        spare.extend(arrays.into_iter().filter(|array| array.capacity() > 0));
    }
}
