//! The threads that work is done by.
//!
//! A child that was forked has none of its parent's threads, and the parent's pool would wait for them forever. So the pool belongs to a process, and a new one is
//! made where the process is another.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::{Failure, Outcome};

static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool of this process. To be called with the interpreter attached: then no fork can happen while the lock is held.
pub(crate) fn shared() -> Outcome<Arc<ThreadPool>> {
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let here = process::id();
    if let Some((owner, pool)) = &*slot
        && *owner == here
    {
        return Ok(pool.clone());
    }
    let pool = own()?;
    // A parent's pool is left alone: to end it would be to speak to threads that are not here.
    std::mem::forget(slot.replace((here, pool.clone())));
    Ok(pool)
}

/// A pool for one piece of work that calls back into Python, which may ask for more work: that must never wait for this one.
pub(crate) fn own() -> Outcome<Arc<ThreadPool>> {
    let pool = ThreadPoolBuilder::new().build().map_err(Failure::system)?;
    Ok(Arc::new(pool))
}
