//! Any text as a dump of tables: rows or an error with a line, never a panic.
//!
//! What is read is also given to a small fabric; tables that come out are checked by the proof.

#![no_main]

#[path = "../context.rs"]
mod context;

use context::{FOLDER, context, topology};
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::LazyLock;
use virtlane::ids::SlId;
use virtlane::registry::Arguments;
use virtlane::routing::dump::{read_guid2lid, read_lfts, read_path_sl, read_sl2vl};
use virtlane::routing::{ENGINES, LaneBudget, Routes, VerifyOptions, verify};
use virtlane::topology::Graph;

/// Two switches in a row, a host each; the folder holds tables for it.
static GRAPH: LazyLock<Graph> = LazyLock::new(|| {
    let tables = include_str!("../seeds/tables/small.lfts");
    std::fs::write(FOLDER.join("sound"), tables).expect("tables can be written");
    let mesh = topology("Mesh", "(radix: [2])").build(&context(Path::new(".")));
    mesh.expect("a mesh of two switches")
});

fuzz_target!(|text: &str| {
    let graph: &Graph = &GRAPH;
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
        if let Ok(Routes::Tables(tables)) = import.route(graph, budget, 1, &FOLDER) {
            let _ = verify(graph, &tables, &VerifyOptions::new(&[SlId(0)], 8));
        }
    }
});
