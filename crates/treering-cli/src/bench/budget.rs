//! Memory that processes share: a job begins only while it and all that is under way are expected to fit.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use treering_eval::runs::{DataId, Record};

/// What the jobs under way may take together.
pub(super) struct Budget {
    limit: u64,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    taken: u64,
    running: usize,
    /// The most that a job on some data is known to take.
    known: HashMap<(String, String), u64>,
}

/// A job under way; gives back what it took when it ends, however it ends.
pub(super) struct Permit<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    pub(super) fn new(limit: u64) -> Self {
        Budget {
            limit,
            state: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns from a run that is done what jobs on its data take.
    pub(super) fn learn(&self, record: &Record) {
        let Some(measured) = &record.measured else {
            return;
        };
        let mut state = self.state();
        let known = state.known.entry(key(&record.spec.data)).or_default();
        *known = (*known).max(measured.peak_memory_bytes);
    }

    /// Waits until a job on some data fits, or nothing else is under way: a job that is too large for the limit is tried alone.
    ///
    /// # Arguments
    /// * `guess`: what it may take as long as nothing is known of such jobs.
    pub(super) fn begin(&self, data: &DataId, guess: u64) -> Permit<'_> {
        let mut state = self.state();
        loop {
            let known = state.known.get(&key(data));
            let bytes = known.copied().filter(|&bytes| bytes > 0).unwrap_or(guess);
            if state.running == 0 || state.taken.saturating_add(bytes) <= self.limit {
                state.running += 1;
                state.taken += bytes;
                return Permit {
                    budget: self,
                    bytes,
                };
            }
            let woken = self.freed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn key(data: &DataId) -> (String, String) {
    (data.name.clone(), data.checksum.clone())
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        state.running -= 1;
        state.taken -= self.bytes;
        drop(state);
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn data() -> DataId {
        DataId {
            name: "toy".into(),
            checksum: "00".into(),
        }
    }

    /// The most permits that were out at once, with four that want one.
    fn most_at_once(limit: u64, each: u64) -> usize {
        let budget = Budget::new(limit);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _permit = budget.begin(&data(), each);
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        most.load(Ordering::SeqCst)
    }

    #[test]
    fn no_more_begin_than_fit() {
        assert!(most_at_once(10, 5) <= 2);
        assert_eq!(most_at_once(10, 6), 1);
        // Too large for the limit, and yet done: alone.
        assert_eq!(most_at_once(10, 11), 1);
    }

    #[test]
    fn what_a_job_took_is_given_back() {
        let budget = Budget::new(10);
        drop(budget.begin(&data(), 10));
        let first = budget.begin(&data(), 4);
        let second = budget.begin(&data(), 6);
        assert_eq!(budget.state().taken, 10);
        drop((first, second));
        let state = budget.state();
        assert_eq!((state.taken, state.running), (0, 0));
    }
}
