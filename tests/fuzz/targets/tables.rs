//! Any text as a dump of tables: rows or an error with a line, never a panic.
//!
//! What is read is also given to a small fabric; tables that come out are checked by the proof.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use virtlane::ids::SlId;
use virtlane::registry::Arguments;
use virtlane::routing::dump::{read_guid2lid, read_lfts, read_path_sl, read_sl2vl};
use virtlane::routing::{ENGINES, LaneBudget, Routes, VerifyOptions, verify};
use virtlane::topology::{BuildContext, ChannelTiming, Graph, TOPOLOGIES};
use virtlane::units::Clock;

/// Folder of the one file this process writes its input to.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let shared_memory = Path::new("/dev/shm");
    let parent = if shared_memory.is_dir() {
        shared_memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    let folder = parent.join(format!("virtlane-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    let tables = include_str!("../seeds/tables/small.lfts");
    std::fs::write(folder.join("sound"), tables).expect("tables can be written");
    folder
});

/// Two switches in a row, a host each.
static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    let context = BuildContext {
        seed: 1,
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 10_000_000_000,
        },
        switch_link: ChannelTiming::default(),
        host_link: ChannelTiming::default(),
        base: Path::new("."),
    };
    let mesh = TOPOLOGIES.find("Mesh").expect("registered");
    let text = "(radix: [2])";
    let mesh = (mesh.build)(Arguments { text }).expect("arguments fit");
    mesh.build(&context).expect("a mesh of two switches")
});

fuzz_target!(|text: &str| {
    let _ = read_lfts(text);
    let _ = read_guid2lid(text);
    let _ = read_path_sl(text);
    let _ = read_sl2vl(text);
    std::fs::write(FOLDER.join("tables"), text).expect("the input can be written");
    for arguments in [
        r#"(lfts: "tables")"#,
        r#"(lfts: "sound", guid2lid: "tables")"#,
        r#"(lfts: "sound", path_sl: "tables")"#,
        r#"(lfts: "sound", sl2vl: "tables")"#,
    ] {
        let import = ENGINES.find("TableImport").expect("registered");
        let import = (import.build)(Arguments { text: arguments }).expect("arguments fit");
        let budget = LaneBudget {
            lanes: 8,
            service_levels: 1,
        };
        if let Ok(Routes::Tables(tables)) = import.route(&GRAPH, budget, 1, &FOLDER) {
            let options = VerifyOptions {
                service_levels: &[SlId(0)],
                lanes: 8,
                pool_shared: false,
                senders: None,
                receivers: None,
            };
            let _ = verify(&GRAPH, &tables, &options);
        }
    }
});
