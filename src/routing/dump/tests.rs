//! What is written is OpenSM's form, and what is read back is what was written.

use super::*;
use crate::ids::SlId;
use crate::routing::tests::conformance::{engine, options, proof};
use crate::routing::tests::graphs::{grid, irregular, tree};
use crate::routing::{LaneBudget, Tables, VerifyOptions, verify};
use crate::topology::tests::{built, context};
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn tables_are_dumped_as_opensm_does() {
    let graph = grid(&[2], false, 1);
    let (tables, _) = proof(&graph, "MinHop()", 1);
    let mut text = String::new();
    write_lfts(&graph, &tables, &management(&graph, &tables), &mut text).unwrap();
    let first: Vec<_> = text.lines().take(6).collect();
    assert_eq!(
        first,
        [
            "Unicast lids [0-4] of switch Lid 2 guid 0x0000000000200000 ('S0'):",
            "0x0001 003 # Channel Adapter portguid 0x0000000000100001: 'H0'",
            "0x0002 000 # Switch portguid 0x0000000000200000: 'S0'",
            "0x0003 001 # Switch portguid 0x0000000000200001: 'S1'",
            "0x0004 001 # Channel Adapter portguid 0x0000000000100003: 'H1'",
            "4 lids dumped",
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
        let switches = management(&graph, &tables);
        write_lfts(&graph, &tables, &switches, lfts).unwrap();
        write_fdbs(&graph, &tables, &switches, fdbs).unwrap();
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
fn lanes_beyond_infinibands_are_not_dumped() {
    let graph = grid(&[2], false, 1);
    let (mut tables, _) = proof(&graph, "MinHop()", 1);
    tables.lanes.profiles[0] = 15;
    let refused = write_sl2vl(&graph, &tables, &mut String::new());
    assert!(matches!(
        refused,
        Err(InexpressibleError::NoSuchLane { lane: 15 })
    ));
}

/// OpenSM's own dump of the ring, byte by byte.
#[test]
fn opensm_engines_dump_every_lid_as_opensm_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opensm");
    let mut here = context();
    here.clock.reference_rate = 8_000_000_000;
    let graph = built(
        &format!("Ibsim(file: {:?})", folder.join("ring_8/ring_8.net")),
        &here,
    );
    let engine = engine("OpenSmMinHop()");
    let budget = LaneBudget {
        lanes: 1,
        service_levels: 1,
    };
    let tables = engine.route(&graph, budget, 1).unwrap();
    let switches = engine.management(&graph, Path::new("")).unwrap();
    let mut text = String::new();
    write_lfts(&graph, &tables, &switches, &mut text).unwrap();
    let known = std::fs::read_to_string(folder.join("import/opensm-lfts.dump")).unwrap();
    assert_eq!(text, known);
}

/// Ways to switches lead there, also to those without hosts.
#[test]
fn every_engine_has_ways_to_switches() {
    for (graph, name) in [
        (tree(3, 3), "Dfsssp()"),
        (tree(3, 3), "OpenSmFatTree()"),
        (grid(&[4, 3], true, 1), "OpenSmTorus2Qos()"),
        (grid(&[4, 3], true, 1), "OpenSmLash()"),
        (irregular(12, 4, 5), "OpenSmUpDown(root: 0)"),
        (irregular(12, 4, 5), "UpDown()"),
    ] {
        let budget = LaneBudget {
            lanes: 8,
            service_levels: 1,
        };
        let engine = engine(name);
        let tables = engine.route(&graph, budget, 1).unwrap();
        let own = engine.management(&graph, Path::new(""));
        assert_eq!(own.is_some(), name.starts_with("OpenSm"), "{name}");
        let ports = own.unwrap_or_else(|| management(&graph, &tables));
        let mut text = String::new();
        write_fdbs(&graph, &tables, &ports, &mut text).unwrap();
        // OpenSM's ftree has no ways from one root to another
        assert_eq!(
            text.contains("UNREACHABLE"),
            name == "OpenSmFatTree()",
            "{name}"
        );
        let nodes = graph.switches().len() + graph.hosts().len();
        assert_eq!(text.lines().count(), graph.switches().len() * (nodes + 2));
    }
}

/// What `dump_lfts.sh` and `dump_fts` of the diagnostic tools print of a real fabric, with its own LIDs.
#[test]
fn dumps_of_the_diagnostic_tools_are_taken() {
    let mut here = context();
    here.clock.reference_rate = 32_000_000_000;
    let graph = built(
        "Ibnetdiscover(file: \"assets/fabrics/psmn_x5.ibnetdiscover\")",
        &here,
    );
    let budget = LaneBudget {
        lanes: 1,
        service_levels: 1,
    };
    let own = engine("OpenSmMinHop()");
    let tables = own.route(&graph, budget, 1).unwrap();
    let mut text = String::new();
    let switches = own.management(&graph, Path::new("")).unwrap();
    write_lfts(&graph, &tables, &switches, &mut text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut tool = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("Unicast lids ") {
            let (_, guid) = rest.split_once(" guid ").unwrap();
            let guid = guid.split(' ').next().unwrap();
            let _ = writeln!(
                tool,
                "Unicast lids [0x0-0x66] of switch DR path slid 0; dlid 0; 0,1 guid {guid} (a switch):"
            );
            tool += "  Lid  Out   Destination\n       Port     Info \n";
        } else if let Some((entry, comment)) = line.split_once(" # ") {
            let _ = writeln!(tool, "{entry} : ({comment})");
        } else {
            tool += &line.replace("lids dumped", "valid lids dumped \n");
        }
    }
    // without owners the LIDs of the fabric file count
    let bare: String = text
        .lines()
        .map(|line| line.split(" # ").next().unwrap().to_owned() + "\n")
        .collect();
    for (form, text) in [("tool", &tool), ("bare", &bare)] {
        std::fs::write(folder.path().join("lfts"), text).unwrap();
        let import = engine("TableImport(lfts: \"lfts\")");
        let back = import.route_from(&graph, budget, 1, folder.path()).unwrap();
        assert_eq!(back.next, tables.next, "{form}");
        assert_eq!(
            import.management(&graph, folder.path()),
            Some(switches.clone()),
            "{form}"
        );
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
