//! What happens when a mapped file is cut short while it is in use. Reading a page that the file no longer has raises SIGBUS, which ends a program.
//! Here it puts zeros in the place of that page and all after it, and remembers which mapping it was; the work goes on to its end, and
//! [`check_mapped`] turns its result into an error.
//!
//! # Safety
//! The handler does only what a handler may do: it reads and writes atomic numbers of a fixed table and calls `mmap`. It touches no memory but
//! that of a mapping of ours, which nobody else owns; a signal for any other address is left to whoever handled it before.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::{Fault, Result};

/// Mappings that can be watched at once.
const PLACES: usize = 4096;

/// A mapping as the handler sees it; nothing is mapped where the end is 0.
struct Place {
    start: AtomicUsize,
    end: AtomicUsize,
    hurt: AtomicBool,
}

static TABLE: [Place; PLACES] = [const {
    Place {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        hurt: AtomicBool::new(false),
    }
}; PLACES];

/// What the handler need not know: the files of the places that are taken.
static FILES: Mutex<Vec<(usize, Watched)>> = Mutex::new(Vec::new());

/// Files that were found to be changed when they were let go, and that nobody has heard of yet.
static LET_GO: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

struct Watched {
    path: PathBuf,
    /// Somebody has heard that it was changed.
    told: bool,
    /// The file as it was, where it has to stay so.
    file: Option<(File, Seen)>,
}

/// How a file is told from one that was changed.
#[derive(PartialEq)]
struct Seen {
    bytes: u64,
    changed: Option<std::time::SystemTime>,
}

impl Seen {
    fn of(file: &File) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        Some(Seen {
            bytes: metadata.len(),
            changed: metadata.modified().ok(),
        })
    }
}

/// A mapping that is watched for as long as this lives.
pub(super) struct Guarded(usize);

impl Guarded {
    /// # Arguments
    /// * `file`: the file, where nobody but us has a reason to change it.
    pub(super) fn new(
        memory: Range<*const u8>,
        path: &Path,
        file: Option<&File>,
    ) -> io::Result<Self> {
        listen()?;
        let file = match file {
            None => None,
            Some(file) => {
                let file = file.try_clone()?;
                Seen::of(&file).map(|seen| (file, seen))
            }
        };
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        let free = |place: &Place| place.end.load(Ordering::Acquire) == 0;
        let Some(at) = TABLE.iter().position(free) else {
            return Err(io::Error::other("too many files are in use at once"));
        };
        let watched = Watched {
            path: path.to_owned(),
            told: false,
            file,
        };
        files.push((at, watched));
        TABLE[at].hurt.store(false, Ordering::Release);
        TABLE[at]
            .start
            .store(memory.start as usize, Ordering::Release);
        TABLE[at].end.store(memory.end as usize, Ordering::Release);
        Ok(Guarded(at))
    }
}

impl Watched {
    fn is_changed(&self, place: &Place) -> bool {
        let same = |(file, seen): &(File, Seen)| Seen::of(file).as_ref() == Some(seen);
        place.hurt.load(Ordering::Acquire) || !self.file.as_ref().is_none_or(same)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        let place = &TABLE[self.0];
        let own = files.iter().position(|(at, _)| *at == self.0);
        if let Some((_, watched)) = own.map(|at| files.swap_remove(at))
            && !watched.told
            && watched.is_changed(place)
        {
            let mut let_go = LET_GO.lock().unwrap_or_else(PoisonError::into_inner);
            let_go.push(watched.path);
        }
        place.end.store(0, Ordering::Release);
    }
}

/// Whether every file that is mapped, or was since this was last asked, is still what it was when it was opened. What was worked out from one that is not means
/// nothing.
///
/// # Errors
/// Names the file.
pub fn check_mapped() -> Result<()> {
    let mut let_go = LET_GO.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = let_go.drain(..).next() {
        return Err(Fault::ChangedInUse.at(&path));
    }
    drop(let_go);
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    for (at, watched) in files.iter_mut() {
        if watched.is_changed(&TABLE[*at]) {
            watched.told = true;
            return Err(Fault::ChangedInUse.at(&watched.path));
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn listen() -> io::Result<()> {
    Ok(())
}

/// Handles SIGBUS from now on; once is enough.
#[cfg(unix)]
fn listen() -> io::Result<()> {
    static ONCE: Mutex<bool> = Mutex::new(false);
    let mut done = ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    if *done {
        return Ok(());
    }
    // SAFETY: both structs are plain data for which zeros are valid; the handler has the signature that SA_SIGINFO asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        libc::sigemptyset(&mut action.sa_mask);
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, &action, &mut before) != 0 {
            return Err(io::Error::last_os_error());
        }
        BEFORE.store(before.sa_sigaction, Ordering::Release);
        TAKES_INFO.store(before.sa_flags & libc::SA_SIGINFO != 0, Ordering::Release);
    }
    *done = true;
    Ok(())
}

/// Who handled the signal before, and how that is called.
#[cfg(unix)]
static BEFORE: AtomicUsize = AtomicUsize::new(0);
#[cfg(unix)]
static TAKES_INFO: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
extern "C" fn handle(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system hands a valid siginfo to a handler that asked for it.
    let address = unsafe { (*info).si_addr() } as usize;
    let ours = TABLE.iter().find(|place| {
        let end = place.end.load(Ordering::Acquire);
        end != 0 && (place.start.load(Ordering::Acquire)..end).contains(&address)
    });
    let Some(place) = ours else {
        return hand_on(signal, info, context);
    };
    place.hurt.store(true, Ordering::Release);
    let page = 1usize << 12;
    let from = address / page * page;
    let to = place.end.load(Ordering::Acquire).next_multiple_of(page);
    // SAFETY: the range lies within a mapping of ours, and what it held is gone. Zeros without memory behind them take its place.
    let put = unsafe {
        libc::mmap(
            from as *mut libc::c_void,
            to - from,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if put == libc::MAP_FAILED {
        hand_on(signal, info, context);
    }
}

/// Does what would have been done without us.
#[cfg(unix)]
fn hand_on(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.load(Ordering::Acquire);
    if before == libc::SIG_DFL || before == libc::SIG_IGN {
        // SAFETY: the default action takes over; the same access raises the signal again when we return.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
        return;
    }
    // SAFETY: the address is that of the handler that was there before, with the signature that its flags tell.
    unsafe {
        match TAKES_INFO.load(Ordering::Acquire) {
            true => {
                let call: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                    std::mem::transmute(before);
                call(signal, info, context);
            }
            false => {
                let call: extern "C" fn(i32) = std::mem::transmute(before);
                call(signal);
            }
        }
    }
}
