//! One array type for memory that we own and memory that belongs to a mapped file.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A read-only array, cheap to clone, whoever owns the memory behind it.
///
/// Graphs are built once and then only read. So a graph from a mapped file and one built in memory differ
/// in nothing but the owner of their arrays, and no code above this line has to know.
pub struct Buffer<T>(Arc<dyn AsRef<[T]> + Send + Sync>);

impl<T> Buffer<T> {
    /// An array that keeps `owner` alive and reads what `owner` lends.
    pub fn shared(owner: Arc<dyn AsRef<[T]> + Send + Sync>) -> Self {
        Buffer(owner)
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
        (*self.0).as_ref()
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
