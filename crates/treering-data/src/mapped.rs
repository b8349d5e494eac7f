//! Files mapped into memory.
//!
//! # Safety
//! This is the one module of the crate with `unsafe`. Mapping a file is unsafe because another process could
//! change or cut the file while it is mapped. Our own writers never do that: they write a new file and rename it over the old one,
//! and a mapping keeps the old one alive. What is read from a mapping was checked once when it was
//! opened; an outside program that rewrites a file in place while it is in use can make results
//! meaningless or end the program, and the documentation of the native form says so.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;
use treering_graph::Buffer;

/// A whole file in memory, read-only.
#[derive(Clone)]
pub(crate) struct Mapping(Arc<Mmap>);

impl Mapping {
    pub(crate) fn open(file: &File) -> io::Result<Mapping> {
        // SAFETY: see the head of this file.
        let map = unsafe { Mmap::map(file)? };
        Ok(Mapping(Arc::new(map)))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// A part of the file as an array; `None` where it is out of range, out of line or not a whole number of
    /// elements.
    pub(crate) fn array<T: Pod + Send + Sync>(&self, range: Range<usize>) -> Option<Buffer<T>> {
        let bytes = self.0.get(range.clone())?;
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

impl<T: Pod> AsRef<[T]> for View<T> {
    fn as_ref(&self) -> &[T] {
        // Range and alignment were checked by `Mapping::array`, and a mapping does not move.
        bytemuck::cast_slice(&self.map.0[self.range.clone()])
    }
}
