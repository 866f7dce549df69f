//! Where fuzz targets and tests build networks: a folder for files, links, and topologies by name.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use virtlane::registry::Arguments;
use virtlane::topology::{BuildContext, ChannelTiming, TOPOLOGIES, Topology};
use virtlane::units::Clock;

/// Rate of links without one of their own \[bit/s\].
pub(super) const RATE: u64 = 10_000_000_000;

/// Folder of the files this process writes its input to; it stays behind.
pub(super) static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let shared_memory = Path::new("/dev/shm");
    let parent = if shared_memory.is_dir() {
        shared_memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    let folder = parent.join(format!("virtlane-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    folder
});

/// Links of [`RATE`], the reference rate; files from `base`.
pub(super) fn context(base: &Path) -> BuildContext<'_> {
    BuildContext {
        seed: 1,
        clock: Clock {
            flit_bytes: 64,
            reference_rate: RATE,
        },
        switch_link: ChannelTiming::default(),
        host_link: ChannelTiming::default(),
        base,
    }
}

/// A topology by name and arguments.
pub(super) fn topology(name: &str, text: &str) -> Box<dyn Topology> {
    let entry = TOPOLOGIES.find(name).expect("registered");
    (entry.build)(Arguments { text }).expect("arguments fit")
}
