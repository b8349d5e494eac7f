//! Decoding that may panic, without the panic's message on the screen.
//!
//! The Parquet decoder answers most damaged files with an error, but some with a panic, and a damaged file is no
//! reason to stop the program. The hook that prints panics belongs to the whole process, so it is wrapped once,
//! for good, in one that first looks at a flag of the panicking thread: whatever panics elsewhere, or later, is
//! reported as before.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; a panic comes back as its message. What `work` was changing must not be used again after one.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static WRAP: Once = Once::new();
    WRAP.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    let outer = QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(outer);
    result.map_err(message)
}

fn message(payload: Box<dyn Any + Send>) -> String {
    match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "the decoder gave up".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(guarded(|| 3), Ok(3));
        let empty: Vec<u8> = Vec::new();
        let told = guarded(|| empty[1]).map_err(|why| why.contains("out of bounds"));
        assert_eq!(told, Err(true));
    }
}
