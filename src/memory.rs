//! How much memory there is, and whether something that is about to be made fits: told before it is made, in place of an end
//! by the system in the middle.
//!
//! What is asked for are least sizes, the largest parts only: what passes may still be too much, what is refused surely is.

use std::path::Path;

/// Something that is about to be made.
#[derive(Clone, Debug)]
pub struct Demand {
    /// How many.
    pub count: u64,
    /// What they are, in the plural.
    pub what: &'static str,
    /// Least size of one \[bytes\].
    pub each: u64,
}

impl Demand {
    fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.each)
    }
}

/// Whether all of them fit into the memory that is there; where the system does not tell, they do.
///
/// # Errors
/// What they need and what there is, in words.
pub fn require(demands: &[Demand]) -> Result<(), String> {
    available().map_or(Ok(()), |there| fits(demands, there))
}

fn fits(demands: &[Demand], there: u64) -> Result<(), String> {
    let needed = demands
        .iter()
        .fold(0, |sum: u64, demand| sum.saturating_add(demand.bytes()));
    if needed <= there {
        return Ok(());
    }
    let parts = demands.iter().filter(|demand| demand.bytes() > 0);
    let parts = parts.map(|demand| format!("{} {}", demand.count, demand.what));
    let parts: Vec<String> = parts.collect();
    Err(format!(
        "{} take at least {} of memory, and {} are there",
        parts.join(" and "),
        size(needed),
        size(there)
    ))
}

/// A size in the largest unit that leaves a number of 1 or more, rounded down to a tenth.
fn size(bytes: u64) -> String {
    let units = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")];
    let (unit, name) = units
        .into_iter()
        .find(|&(unit, _)| bytes >= unit)
        .unwrap_or((1 << 10, "KiB"));
    let tenths = u128::from(bytes) * 10 / u128::from(unit);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// Memory that could be used without swapping, and that the job or container may use \[bytes\]; `None` where the
/// system does not tell.
pub fn available() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limit = group_limit(Path::new("/sys/fs/cgroup"), &groups);
    let limits = [limit, address_space()].into_iter().flatten();
    Some(limits.fold(free_memory()?, u64::min))
}

/// What is left of the address space that the process may have \[bytes\]; `None`: it has no limit.
fn address_space() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let number = |text: &str, name: &str, place: usize| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(place)?.parse().ok()
    };
    let limit = number(&limits, "Max address space", 0)?;
    Some(limit.saturating_sub(number(&status, "VmSize:", 0)? * 1024))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told_with_what_there_is() {
        let demands = |runs| {
            let table = Demand {
                count: 3 << 20,
                what: "entries",
                each: 1,
            };
            let runs = Demand {
                count: runs,
                what: "runs",
                each: 1 << 10,
            };
            [table, runs]
        };
        assert_eq!(fits(&demands(1 << 10), 4 << 20), Ok(()), "just so");
        let told = fits(&demands((1 << 10) + 1), 4 << 20);
        let words =
            "3145728 entries and 1025 runs take at least 4.0 MiB of memory, and 4.0 MiB are there";
        assert_eq!(told, Err(String::from(words)));
        let told = fits(&demands(u64::MAX), (5 << 30) + (1 << 29));
        let words = "3145728 entries and 18446744073709551615 runs take at least 16777215.9 TiB of memory, and 5.5 GiB are there";
        assert_eq!(told, Err(String::from(words)));
        assert_eq!(size(2048), "2.0 KiB");
    }

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
