//! Files mapped into memory: those that are read, and those that hold arrays too large for memory.
//!
//! # Safety
//! This is the one module of the crate with `unsafe`. Mapping a file is unsafe because another process could
//! change or cut the file while it is mapped. Our own writers never do that: they write a new file and rename it over the old one,
//! and a mapping keeps the old one alive. What is read from a mapping was checked once when it was
//! opened; an outside program that rewrites a file in place while it is in use can make results
//! meaningless. That is noticed: a page that is gone reads as zeros instead of ending the program (`guard.rs`), and [`check_mapped`] says which file
//! is no longer what it was. Whoever gives a result away asks it first.
#![allow(unsafe_code)]

mod guard;
mod large;

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::{Mmap, UncheckedAdvice};
use treering_graph::{Buffer, Lender};

pub use guard::check_mapped;
pub use large::{Large, give_freed_memory_back, memory_limit, memory_window, set_memory_limit};

use guard::Guarded;

/// A whole file in memory, read-only.
#[derive(Clone)]
pub(crate) struct Mapping(Arc<Mapped>);

struct Mapped {
    // Dropped first: the place is no longer watched when the memory goes.
    _guard: Guarded,
    map: Mmap,
    /// Where memory is short, pages that were read are given back, so many bytes at a time.
    window: Option<usize>,
}

impl Mapping {
    /// # Arguments
    /// * `limit`: what the program may hold; a file of more than a quarter of it is given back page by page as it is read.
    pub(crate) fn open(file: &File, path: &Path, limit: u64) -> io::Result<Mapping> {
        // SAFETY: see the head of this file.
        let map = unsafe { Mmap::map(file)? };
        let guard = Guarded::new(map.as_ptr_range(), path, Some(file))?;
        Ok(Mapping(Arc::new(Mapped {
            _guard: guard,
            window: (map.len() as u64 > limit / 4).then(|| window(limit)),
            map,
        })))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0.map
    }

    /// A part of the file as an array; `None` where it is out of range, out of line or not a whole number of
    /// elements.
    pub(crate) fn array<T: Pod + Send + Sync>(&self, range: Range<usize>) -> Option<Buffer<T>> {
        let bytes = self.bytes().get(range.clone())?;
        bytemuck::try_cast_slice::<u8, T>(bytes).ok()?;
        Some(Buffer::shared(Arc::new(View {
            map: self.clone(),
            range,
            element: PhantomData::<T>,
        })))
    }
}

struct View<T> {
    map: Mapping,
    range: Range<usize>,
    element: PhantomData<T>,
}

impl<T: Pod + Send + Sync> Lender<T> for View<T> {
    fn items(&self) -> &[T] {
        // Range and alignment were checked by `Mapping::array`, and a mapping does not move.
        bytemuck::cast_slice(&self.map.bytes()[self.range.clone()])
    }

    fn release(&self, items: Range<usize>) {
        if self.map.0.window.is_some() {
            let at = |item: usize| self.range.start + item * size_of::<T>();
            let map = &self.map.0.map;
            give_back(at(items.start)..at(items.end), map.len(), |from, length| {
                // SAFETY: the mapping is read-only and of a file, so a page that was given back is read from the file again.
                unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, from, length) }
            });
        }
    }

    fn window(&self) -> Option<usize> {
        self.map.0.window
    }
}

/// Bytes of a file that are looked at before they are given back: enough to keep threads busy, little beside the limit.
pub(crate) fn window(limit: u64) -> usize {
    (limit / 64).clamp(1 << 20, 32 << 20) as usize
}

/// Gives whole pages back; those that are only in part in the range stay.
fn give_back(bytes: Range<usize>, end: usize, advise: impl FnOnce(usize, usize) -> io::Result<()>) {
    const PAGE: usize = 1 << 16;
    let from = bytes.start.next_multiple_of(PAGE);
    // The last page of a file ends with the file.
    let to = if bytes.end == end {
        end
    } else {
        bytes.end / PAGE * PAGE
    };
    if from < to {
        // A system that does not take advice keeps the pages.
        let _ = advise(from, to - from);
    }
}
