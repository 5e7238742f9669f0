//! Processor time of this thread and of child processes, and peak memory.

use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};

/// Processor time that this thread has used, s.
pub fn thread_cpu_s() -> nix::Result<f64> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.num_nanoseconds() as f64 * 1e-9)
}

/// Processor time of `work` on this thread, s, with its result.
pub fn timed<T>(work: impl FnOnce() -> T) -> nix::Result<(f64, T)> {
    let start_s = thread_cpu_s()?;
    let result = work();
    Ok((thread_cpu_s()? - start_s, result))
}

/// User time of all child processes that have ended, s.
pub fn children_user_s() -> nix::Result<f64> {
    Ok(getrusage(UsageWho::RUSAGE_CHILDREN)?.user_time().num_microseconds() as f64 * 1e-6)
}

/// Peak resident memory of this process, KiB; `None` if the kernel does not report it.
///
/// `getrusage` does not work here: its peak survives `exec`, so a child would report its parent's.
pub fn peak_kib() -> Option<u64> {
    peak_of(&fs::read_to_string("/proc/self/status").ok()?)
}

fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_the_kernels_words() {
        assert_eq!(peak_of("Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t    5360 kB\nVmRSS:\t 1 kB\n"), Some(5360));
        assert_eq!(peak_of("Name:\tx\n"), None);
    }

    #[test]
    fn work_takes_time() {
        let (spent_s, sum) =
            timed(|| (0..2_000_000_u64).fold(0, |sum, x| sum ^ x.wrapping_mul(sum | 1))).expect("clock");
        assert!(spent_s > 0.0, "{sum}");
    }
}
