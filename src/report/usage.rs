//! What the process has used: processor time and memory, from the operating system.

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::ClockId;
use std::path::Path;

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

/// Memory that could be used without swapping, and that the job or container may use \[bytes\]; `None` where the
/// system does not tell.
pub fn available_memory() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limit = group_limit(Path::new("/sys/fs/cgroup"), &groups);
    Some(free_memory()?.min(limit.unwrap_or(u64::MAX)))
}

/// Memory of the machine that could be used without swapping \[bytes\].
fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Least memory limit of the control groups in `groups` (lines of `/proc/self/cgroup`) and of those around them, below
/// the folder `root` \[bytes\].
fn group_limit(root: &Path, groups: &str) -> Option<u64> {
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next().unwrap_or_default();
        let group = parts.next().unwrap_or_default().trim_start_matches('/');
        let (folder, file) = if controllers.is_empty() {
            (root.to_owned(), "memory.max")
        } else if controllers.split(',').any(|name| name == "memory") {
            (root.join("memory"), "memory.limit_in_bytes")
        } else {
            return Vec::new();
        };
        let around = Path::new(group).ancestors();
        let limit = |group: &Path| {
            let text = std::fs::read_to_string(folder.join(group).join(file)).ok()?;
            text.trim().parse().ok()
        };
        around.filter_map(limit).collect()
    });
    limits.min()
}

/// Name of the machine; `unknown` where the system does not tell.
pub fn host_name() -> String {
    let name = nix::unistd::gethostname().ok();
    name.and_then(|name| name.into_string().ok())
        .unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_control_group_limits_memory() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("jobs/job_7/memory.max", "4000\n");
        write("jobs/job_7/step/memory.max", "max\n");
        write("jobs/memory.max", "9000\n");
        write("memory/old/memory.limit_in_bytes", "3000\n");
        let limit = |groups| group_limit(root.path(), groups);
        assert_eq!(limit("0::/jobs/job_7/step\n"), Some(4000));
        assert_eq!(limit("0::/jobs\n"), Some(9000));
        assert_eq!(
            limit("4:cpu,cpuacct:/old\n5:memory:/old\n0::/jobs\n"),
            Some(3000)
        );
        assert_eq!(limit("0::/elsewhere\n"), None);
        assert_eq!(limit(""), None);
    }
}
