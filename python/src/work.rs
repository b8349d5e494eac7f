//! Long work: without the interpreter's lock, with progress, and to be stopped by Ctrl-C.
//!
//! The work runs in threads of its own. The caller waits in short steps, lets Python look at its signals between them, and shows how far the work is. On a
//! signal the caller leaves at once; the work stops the next time that it says how far it is.
//!
//! Threads live as long as one piece of work. In threads shared by all, one that waits within a piece of work takes up another piece meanwhile, and that one may
//! wait for a lock which the first holds: both for ever. And a forked child, which has none of its parent's threads, would wait for them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use treering_data::{Progress, check_mapped};

use crate::failure::{Failure, Outcome};

/// How long a signal may wait.
const STEP: Duration = Duration::from_millis(50);

/// How far the work is, and whether anybody still waits for it.
#[derive(Default)]
pub(crate) struct Listener {
    phase: Mutex<(String, u64, u64)>,
    abandoned: AtomicBool,
}

/// What unwinds out of work that nobody waits for.
struct Stopped;

impl Listener {
    /// Whether the caller has left.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::SeqCst)
    }

    /// Leaves the work, quietly, where nobody waits for it. Unwinding is the only way out of the middle of a training.
    fn stop_if_abandoned(&self) {
        if self.is_abandoned() {
            resume_unwind(Box::new(Stopped));
        }
    }

    fn change(&self, change: impl FnOnce(&mut (String, u64, u64))) {
        change(&mut self.phase.lock().unwrap_or_else(PoisonError::into_inner));
        self.stop_if_abandoned();
    }

    fn phase(&self) -> (String, u64, u64) {
        let phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        phase.clone()
    }
}

impl Progress for Listener {
    fn begin(&self, what: &str, total: u64) {
        self.change(|phase| *phase = (what.to_owned(), 0, total));
    }

    fn advance(&self, by: u64) {
        self.change(|phase| phase.1 += by);
    }

    fn end(&self) {
        self.change(|phase| phase.2 = phase.1);
    }
}

/// Does a piece of work.
///
/// # Arguments
/// * `painter`: a Python object that is called with what is done, how much of it, and of how much; `None` shows nothing.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    painter: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Listener) -> Outcome<T> + Send + 'static,
) -> Outcome<T> {
    let pool = ThreadPoolBuilder::new().build().map_err(Failure::system)?;
    let listener = Arc::new(Listener::default());
    let (sender, mut receiver) = sync_channel(1);
    let heard = listener.clone();
    let at_work = move || {
        let done = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&heard))));
        // Nobody listens any more where the caller has left.
        let _ = sender.send(done);
    };
    let started = thread::Builder::new()
        .name("treering".into())
        .spawn(at_work);
    started.map_err(Failure::system)?;
    loop {
        let (back, got) = py.detach(move || wait(receiver));
        receiver = back;
        match got {
            Ok(Ok(done)) => {
                close(painter)?;
                // What was worked out from a file that has changed meanwhile means nothing.
                check_mapped()?;
                return done;
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                close(painter)?;
                check_mapped()?;
                return Err(Failure::system(
                    "the work ended by a fault of the program, which is told above; please report it",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {
                let shown = py.check_signals().and_then(|()| match painter {
                    Some(painter) => painter.call1(listener.phase()).map(drop),
                    None => Ok(()),
                });
                if let Err(stop) = shown {
                    listener.abandoned.store(true, Ordering::SeqCst);
                    close(painter)?;
                    return Err(stop.into());
                }
            }
        }
    }
}

type Done<T> = thread::Result<Outcome<T>>;

/// Waits a step. The receiver goes in and out, because it may be used by one thread only.
fn wait<T>(receiver: Receiver<Done<T>>) -> (Receiver<Done<T>>, Result<Done<T>, RecvTimeoutError>) {
    let got = receiver.recv_timeout(STEP);
    (receiver, got)
}

fn close(painter: Option<&Bound<'_, PyAny>>) -> Outcome<()> {
    if let Some(painter) = painter {
        painter.call_method0("close")?;
    }
    Ok(())
}
