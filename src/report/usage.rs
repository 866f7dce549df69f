//! What the process has used: processor time and memory, from the operating system.

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::ClockId;

pub use crate::machine::host_name;

/// Use of the process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// User and system time of all threads \[s\].
    pub cpu_seconds: f64,
    /// Largest resident set so far \[bytes\].
    pub peak_rss_bytes: u64,
}

/// Use of the process so far; zeros where the system does not tell.
pub fn usage() -> Usage {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else {
        return Usage::default();
    };
    let times = [usage.user_time(), usage.system_time()];
    // getrusage counts KiB everywhere but on macOS
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Usage {
        cpu_seconds: times
            .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
            .iter()
            .sum(),
        peak_rss_bytes: usage.max_rss() as u64 * unit,
    }
}

/// Processor time of the calling thread \[s\]; 0 where the system does not tell.
pub fn thread_cpu_seconds() -> f64 {
    let time = ClockId::CLOCK_THREAD_CPUTIME_ID.now();
    time.map_or(0.0, |time| {
        time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9
    })
}
