//! Arrays that may be larger than memory. Up to a share of the limit they are plain memory; beyond it they lie in a file without a name, which goes with them,
//! and the system keeps as much of them in memory as there is room for. Their numbers are the same either way.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;
use memmap2::{MmapMut, UncheckedAdvice};
use treering_graph::{Buffer, Lender};

use super::guard::Guarded;
use super::{give_back, window};
use crate::{DataError, Fault, Result, human_bytes};

/// What the program may hold. One for the whole process, as the number of threads is: results do not depend on it.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Arrays of more than this share of the limit lie in files.
const SHARE: u64 = 16;

/// Sets how much memory the program may hold; [`u64::MAX`] is no limit, as at the beginning.
pub fn set_memory_limit(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// Has arrays that are freed go back to the system at once, instead of being kept for the next ones. That takes a little longer, and pays where memory is limited.
pub fn give_freed_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: sets a number of the allocator, which is allowed at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
    }
}

/// How much memory the program may hold.
pub fn memory_limit() -> u64 {
    LIMIT.load(Ordering::Relaxed)
}

/// How much of an array in a file is in memory at a time.
pub fn memory_window() -> usize {
    window(memory_limit())
}

/// An array of numbers, in memory or in a file.
pub struct Large<T>(Kind<T>);

enum Kind<T> {
    Here(Vec<T>),
    OnDisk(Filed<T>),
}

struct Filed<T> {
    // Dropped first: the place is no longer watched when the memory goes.
    _guard: Guarded,
    map: MmapMut,
    length: usize,
    element: PhantomData<T>,
}

impl<T: Pod + Send + Sync> Large<T> {
    /// So many zeros.
    ///
    /// # Errors
    /// No file can be made, or the disk is full.
    pub fn zeros(length: usize) -> Result<Self> {
        match Self::is_filed(length) {
            false => Ok(Large(Kind::Here(vec![T::zeroed(); length]))),
            true => Filed::new(length).map(|filed| Large(Kind::OnDisk(filed))),
        }
    }

    /// Whether an array of so many numbers lies in a file.
    pub fn is_filed(length: usize) -> bool {
        (length as u64).saturating_mul(size_of::<T>() as u64) > memory_limit() / SHARE
    }

    /// As [`Buffer::release`].
    pub fn release(&self, items: Range<usize>) {
        if let Kind::OnDisk(filed) = &self.0 {
            filed.release(items);
        }
    }

    /// Writes all rows in order, some at a time; what was written is given back where memory is short.
    ///
    /// # Arguments
    /// * `width`: numbers in a row.
    /// * `write`: is given rows and their place in the array.
    pub fn fill(&mut self, width: usize, mut write: impl FnMut(Range<usize>, &mut [T])) {
        let each = (width * size_of::<T>()).max(1);
        let rows = self.len() / width.max(1);
        let step = match self.0 {
            Kind::Here(_) => rows.max(1),
            Kind::OnDisk(_) => (memory_window() / each).max(1),
        };
        for start in (0..rows).step_by(step) {
            let some = start..rows.min(start + step);
            write(
                some.clone(),
                &mut self[some.start * width..some.end * width],
            );
            self.release(some.start * width..some.end * width);
        }
    }
}

impl<T: Pod> Filed<T> {
    fn new(length: usize) -> Result<Self> {
        let folder = scratch_folder();
        let told = |error| cannot_hold(&folder, length * size_of::<T>(), error);
        let file = unnamed(&folder).map_err(told)?;
        let bytes = (length * size_of::<T>()) as u64;
        // Taken now: a disk that fills up later could only be told by a signal.
        reserve(&file, bytes).map_err(told)?;
        // SAFETY: the file has no name, so nobody else can change or cut it.
        let map = unsafe { MmapMut::map_mut(&file) }.map_err(told)?;
        let memory = map.as_ptr_range();
        let guard = Guarded::new(memory, &folder, None).map_err(told)?;
        Ok(Filed {
            _guard: guard,
            map,
            length,
            element: PhantomData,
        })
    }

    fn release(&self, items: Range<usize>) {
        let bytes = items.start * size_of::<T>()..items.end * size_of::<T>();
        let map = &self.map;
        give_back(bytes, map.len(), |from, length| {
            // SAFETY: the mapping is shared with its file, which keeps what was written; a page that was given back is read from there again.
            unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, from, length) }
        });
    }
}

/// Where files without a name are made: a folder on a disk. /tmp may be memory itself.
fn scratch_folder() -> PathBuf {
    match std::env::var_os("TMPDIR") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ if Path::new("/var/tmp").is_dir() => "/var/tmp".into(),
        _ => std::env::temp_dir(),
    }
}

/// A file that nobody can open by a name, and that goes when it is closed.
fn unnamed(folder: &Path) -> io::Result<File> {
    let name = format!("treering-{}-{:x}", std::process::id(), number());
    let path = folder.join(name);
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    file.set_len(bytes)?;
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(error) if error == rustix::io::Errno::OPNOTSUPP => Ok(()),
        other => Ok(other?),
    }
}

#[cfg(not(target_os = "linux"))]
fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    file.set_len(bytes)
}

fn cannot_hold(folder: &Path, bytes: usize, error: io::Error) -> DataError {
    let bytes = human_bytes(bytes as u64);
    let why = format!(
        "{error}, while an array of {bytes} was to be put there because of the limit of memory. Set TMPDIR to a folder with room for it, or raise --memory"
    );
    Fault::Io(io::Error::new(error.kind(), why)).at(folder)
}

impl<T: Pod> Deref for Large<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Kind::Here(items) => items,
            Kind::OnDisk(filed) => &bytemuck::cast_slice(&filed.map)[..filed.length],
        }
    }
}

impl<T: Pod> DerefMut for Large<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Kind::Here(items) => items,
            Kind::OnDisk(filed) => {
                let length = filed.length;
                &mut bytemuck::cast_slice_mut(&mut filed.map)[..length]
            }
        }
    }
}

impl<T: Pod + Send + Sync> Lender<T> for Large<T> {
    fn items(&self) -> &[T] {
        self
    }

    fn release(&self, items: Range<usize>) {
        Large::release(self, items);
    }

    fn window(&self) -> Option<usize> {
        matches!(self.0, Kind::OnDisk(_)).then(memory_window)
    }
}

impl<T: Pod + Send + Sync> From<Large<T>> for Buffer<T> {
    fn from(array: Large<T>) -> Self {
        match array.0 {
            Kind::Here(items) => items.into(),
            kind => Buffer::shared(Arc::new(Large(kind))),
        }
    }
}

impl<T> From<Vec<T>> for Large<T> {
    fn from(items: Vec<T>) -> Self {
        Large(Kind::Here(items))
    }
}
