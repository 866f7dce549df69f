//! What is written is OpenSM's form, and what is read back is what was written.

use super::*;
use crate::ids::SlId;
use crate::routing::conformance::{engine, options, proof};
use crate::routing::test_graphs::{grid, irregular, tree};
use crate::routing::{LaneBudget, Tables, VerifyOptions, verify};
use std::path::Path;

#[test]
fn tables_are_dumped_as_opensm_does() {
    let graph = grid(&[2], false, 1);
    let (tables, _) = proof(&graph, "MinHop()", 1);
    let mut text = String::new();
    write_lfts(&graph, &tables, &mut text).unwrap();
    let first: Vec<_> = text.lines().take(3).collect();
    assert_eq!(
        first,
        [
            "Unicast lids [0-4] of switch Lid 2 guid 0x0000000000200000 ('S0'):",
            "0x0001 003 # Channel Adapter portguid 0x0000000000100001: 'H0'",
            "0x0004 001 # Channel Adapter portguid 0x0000000000100003: 'H1'",
        ]
    );
}

#[test]
fn exported_tables_come_back_as_they_were() {
    let cases = [
        (grid(&[5, 4], true, 2), "DimensionOrder()", 8, 1),
        (grid(&[5, 4], true, 2), "OpenSmLash()", 8, 2),
        (irregular(12, 4, 5), "Dfsssp(spread: true)", 8, 2),
        (tree(3, 3), "Dfsssp()", 1, 1),
    ];
    for (graph, text, lanes, service_levels) in cases {
        let budget = LaneBudget {
            lanes,
            service_levels,
        };
        let tables = engine(text).route(&graph, budget, 1).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        let mut texts = [const { String::new() }; 5];
        let [lfts, fdbs, sl2vl, guid2lid, path_sl] = &mut texts;
        write_lfts(&graph, &tables, lfts).unwrap();
        write_fdbs(&graph, &tables, fdbs).unwrap();
        write_sl2vl(&graph, &tables, sl2vl).unwrap();
        write_guid2lid(&graph, guid2lid).unwrap();
        write_path_sl(&graph, &tables, path_sl).unwrap();
        for (name, text) in ["lfts", "fdbs", "sl2vl", "guid2lid", "path-sl"]
            .iter()
            .zip(texts)
        {
            write(name, text);
        }
        for arguments in [
            "(lfts: \"lfts\", sl2vl: \"sl2vl\", path_sl: \"path-sl\")",
            "(lfts: \"fdbs\", guid2lid: \"guid2lid\", sl2vl: \"sl2vl\", path_sl: \"path-sl\")",
        ] {
            let import = engine(&format!("TableImport{arguments}"));
            let back = import.route_from(&graph, budget, 1, folder.path()).unwrap();
            assert_eq!(back.next, tables.next, "{text}");
            for source in graph.host_ids() {
                for destination in graph.host_ids().filter(|&d| d != source) {
                    for sl in (0..service_levels).map(SlId) {
                        let path = |tables: &Tables| tables.path(&graph, source, destination, sl);
                        assert_eq!(path(&back), path(&tables), "{text} {source} {destination}");
                    }
                }
            }
        }
    }
}

#[test]
fn dumps_of_the_subnet_manager_are_taken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opensm/import");
    let graph = grid(&[8], true, 1);
    let text = "TableImport(lfts: \"opensm-lfts.dump\", guid2lid: \"guid2lid\", \
                sl2vl: \"opensm-sl2vl.dump\")";
    let import = engine(text);
    let budget = LaneBudget {
        lanes: 8,
        service_levels: 1,
    };
    let tables = import.route_from(&graph, budget, 1, &folder).unwrap();
    let own = engine("OpenSmMinHop()").route(&graph, budget, 1).unwrap();
    assert_eq!(tables.next, own.next);
    // the rules of the file: service level 0 is lane 0
    assert!(
        !verify(&graph, &tables, &options_of(&[SlId(0)]))
            .unwrap()
            .acyclic
    );
}

fn options_of(levels: &[SlId]) -> VerifyOptions<'_> {
    VerifyOptions {
        service_levels: levels,
        ..options(8)
    }
}
