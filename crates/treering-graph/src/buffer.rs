//! One array type for memory that we own and memory that belongs to a mapped file.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Lends an array.
pub trait Lender<T>: Send + Sync {
    /// The array; always the same memory.
    fn items(&self) -> &[T];

    /// Says that some items were read and will not be needed soon, so that memory of a mapped file can be given back. They can still be read.
    fn release(&self, _: Range<usize>) {}

    /// Bytes that may be looked at before they are [released](Lender::release); none where that does nothing.
    fn window(&self) -> Option<usize> {
        None
    }
}

impl<T: Send + Sync> Lender<T> for Vec<T> {
    fn items(&self) -> &[T] {
        self
    }
}

/// A read-only array, cheap to clone, whoever owns the memory behind it.
///
/// Graphs are built once and then only read. So a graph from a mapped file and one built in memory differ
/// in nothing but the owner of their arrays, and no code above this line has to know.
pub struct Buffer<T>(Arc<dyn Lender<T>>);

impl<T> Buffer<T> {
    /// An array that keeps `owner` alive and reads what `owner` lends.
    pub fn shared(owner: Arc<dyn Lender<T>>) -> Self {
        Buffer(owner)
    }

    /// As [`Lender::release`].
    pub fn release(&self, range: Range<usize>) {
        self.0.release(range);
    }

    /// As [`Lender::window`].
    pub fn window(&self) -> Option<usize> {
        self.0.window()
    }
}

impl<T: Send + Sync + 'static> From<Vec<T>> for Buffer<T> {
    fn from(items: Vec<T>) -> Self {
        Buffer(Arc::new(items))
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.items()
    }
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Buffer(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        write!(f, "{} items ", self.len())?;
        f.debug_list().entries(self.iter().take(SHOWN)).finish()
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
