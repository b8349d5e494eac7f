//! What every long piece of work is handed: how much memory it may take, and whom to tell how far it is.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Fault, Result};

/// Hears how far the work is. The command line draws a bar; libraries and tests use [`Silent`].
pub trait Progress: Sync {
    /// A new phase begins; `total` is in the unit that [`Progress::advance`] counts, 0 where nobody knows.
    fn begin(&self, what: &str, total: u64);
    /// Some more is done.
    fn advance(&self, by: u64);
    /// So much of the phase was done before it began, as far as time is concerned.
    fn resume(&self, at: u64) {
        self.advance(at);
    }
    /// The phase is over.
    fn end(&self);
}

/// Tells nobody.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}

/// The memory limit and the listener of one piece of work.
pub struct Context<'a> {
    /// Whom to tell.
    pub progress: &'a dyn Progress,
    limit: u64,
    taken: AtomicU64,
}

impl<'a> Context<'a> {
    /// Work that may hold `limit` bytes of data.
    pub fn new(progress: &'a dyn Progress, limit: u64) -> Self {
        Context {
            progress,
            limit,
            taken: AtomicU64::new(0),
        }
    }

    /// Work that may hold three quarters of the memory that is free now.
    pub fn with_free_memory(progress: &'a dyn Progress) -> Self {
        Self::new(progress, free_memory() / 4 * 3)
    }

    /// Work within this work, with a limit of the same size and nobody to tell.
    pub(crate) fn quiet(&self) -> Context<'static> {
        Context::new(&Silent, self.limit)
    }

    /// What it may hold.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Asks for memory before it is filled. Sizes that a file merely claims go through here before anything is
    /// allocated, so a header cannot make the program eat the machine.
    ///
    /// # Errors
    /// [`Fault::TooLarge`] when all requests of this piece of work together exceed its limit.
    pub fn take(&self, file: &Path, bytes: u64) -> Result<()> {
        let before = self.taken.fetch_add(bytes, Ordering::Relaxed);
        let bytes = before.saturating_add(bytes);
        if bytes > self.limit {
            // Leave room for other work to go on under the same context.
            self.taken.store(before, Ordering::Relaxed);
            return Err(Fault::TooLarge {
                bytes,
                limit: self.limit,
            }
            .at(file));
        }
        Ok(())
    }

    /// Gives back what [`Context::take`] took, once the memory is free again.
    pub fn give_back(&self, bytes: u64) {
        let _ = self
            .taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                Some(taken.saturating_sub(bytes))
            });
    }
}

/// What the system says is available; 8 GB where it says nothing.
fn free_memory() -> u64 {
    const UNKNOWN: u64 = 8_000_000_000;
    let Ok(text) = std::fs::read_to_string("/proc/meminfo") else {
        return UNKNOWN;
    };
    text.lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map_or(UNKNOWN, |kibibytes| kibibytes * 1024)
}
