//! A panic of the engine is a bug, which Python gets as one line instead of a report on standard error.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    /// What the last panic of this thread said and where, left by the hook for [`caught`].
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes panics note their place and message instead of printing them. This module has its own copy of Rust's
/// runtime, so other extension modules keep their hooks.
pub fn install_hook() {
    panic::set_hook(Box::new(|info| {
        let text = info.to_string().replace('\n', " ");
        LAST.with(|last| *last.borrow_mut() = text);
    }));
}

/// Does `work`; the note of its panic is the error.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // What `work` leaves behind is dropped with the error, so a broken invariant in it is never seen.
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| LAST.with(RefCell::take))
}
