//! Keeps count of what a growing table takes, so that the shared counter is asked once a megabyte, not once a row.

use std::path::Path;

use crate::{Context, Result};

/// The memory of one table.
pub(super) struct Ledger<'a> {
    context: &'a Context<'a>,
    file: &'a Path,
    pending: u64,
    taken: u64,
}

impl<'a> Ledger<'a> {
    const STEP: u64 = 1 << 20;

    pub(super) fn new(context: &'a Context<'a>, file: &'a Path) -> Self {
        Ledger {
            context,
            file,
            pending: 0,
            taken: 0,
        }
    }

    /// Some more bytes are about to be held.
    pub(super) fn add(&mut self, bytes: usize) -> Result<()> {
        self.pending += bytes as u64;
        if self.pending < Self::STEP {
            return Ok(());
        }
        self.context.take(self.file, self.pending)?;
        self.taken += std::mem::take(&mut self.pending);
        Ok(())
    }

    /// Everything that was counted here is free again.
    pub(super) fn give_back(self) {
        self.context.give_back(self.taken);
    }
}
