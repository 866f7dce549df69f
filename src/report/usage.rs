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
        peak_rss_bytes: own_peak().unwrap_or(usage.max_rss() as u64 * unit),
    }
}

/// Largest resident set of this program \[bytes\], where `/proc` tells it: `getrusage` goes on counting where the program that
/// this one replaced had ended, as `cargo run` does.
fn own_peak() -> Option<u64> {
    peak_of(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// The same in the text of `/proc/self/status`.
fn peak_of(status: &str) -> Option<u64> {
    let peak = (status.lines()).find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = peak.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Processor time of the calling thread \[s\]; 0 where the system does not tell.
pub fn thread_cpu_seconds() -> f64 {
    let time = ClockId::CLOCK_THREAD_CPUTIME_ID.now();
    time.map_or(0.0, |time| {
        time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_found_among_other_lines() {
        let status = "Name:\tvirtlane\nVmPeak:\t  300 kB\nVmHWM:\t   1234 kB\nVmRSS:\t  7 kB\n";
        assert_eq!(peak_of(status), Some(1234 * 1024));
        for other in ["", "VmRSS:\t7 kB", "VmHWM:\t12 MB", "VmHWM:\tmany kB"] {
            assert_eq!(peak_of(other), None, "{other}");
        }
    }

    #[test]
    fn the_process_has_used_something() {
        let held = vec![1u8; 64 << 20];
        let used = usage();
        assert!(used.peak_rss_bytes >= held.len() as u64, "{used:?}");
    }
}
