//! The handle through which another thread watches and ends a run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between a run and what watches it. Watching never changes the run's results.
#[derive(Debug, Default)]
pub struct Control {
    cancel: AtomicBool,
    reached_ps: AtomicU64,
}

impl Control {
    /// Asks the run to end; it does so within some thousand events.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to end.
    pub fn is_canceled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Simulated time that the run has reached, ps.
    pub fn reached_ps(&self) -> u64 {
        self.reached_ps.load(Ordering::Relaxed)
    }

    pub(crate) fn report(&self, reached_ps: u64) {
        self.reached_ps.store(reached_ps, Ordering::Relaxed);
    }
}
