//! Fabric files: foreign attributes, speeds, parts that are not connected, marks at the beginning of texts.

use super::{UNIFORM, resolve_in};
use std::fmt::Write as _;
use std::path::Path;
use virtlane::ids::ChannelId;
use virtlane::scenario::Resolved;

fn graph_ml(name: &str, more: &str) -> Result<Resolved, String> {
    let topology = format!("GraphMl(file: \"{name}.graphml\", hosts_per_switch: 1{more})");
    resolve_in(Path::new("tests/outside"), &topology, UNIFORM, 1)
}

fn names(resolved: &Resolved) -> Vec<&str> {
    let switches = resolved.layout.graph.switches().iter();
    switches.map(|switch| &*switch.name).collect()
}

/// Rates of the links between switches, in their order \[Mbit/s\].
fn rates(resolved: &Resolved) -> Vec<u64> {
    let graph = &resolved.layout.graph;
    let reference = resolved.layout.clock.reference_rate;
    let links = (0..graph.link_count()).map(virtlane::ids::LinkId::from);
    let inner = links.filter(|&link| {
        graph
            .link_ends(link)
            .iter()
            .all(|end| end.switch().is_some())
    });
    let rate = |link: virtlane::ids::LinkId| {
        let channel = graph
            .channel_ids()
            .find(|channel: &ChannelId| channel.link() == link);
        let timing = graph.channel(channel.expect("a link has channels")).timing;
        reference / u64::from(timing.cycles_per_flit) / 1_000_000
    };
    inner.map(rate).collect()
}

#[test]
fn foreign_attributes_are_skipped_and_labels_are_names() {
    let first = graph_ml("foreign_type_1", "").unwrap();
    assert_eq!(names(&first), ["Ahr", "Bode", "Carl"]);
    let notes = first.layout.graph.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].starts_with(
            "foreign_type_1.graphml:7: 2 values of `type` skipped: `Edge Site` is no kind of node"
        ),
        "{notes:?}"
    );

    let second = graph_ml("foreign_type_2", "").unwrap();
    assert_eq!(names(&second), ["a", "c"]);
    assert_eq!(
        second.layout.graph.hosts().len(),
        3,
        "b is a host, two more are at the switches"
    );

    let third = graph_ml("foreign_type_3", "").unwrap();
    assert_eq!(names(&third), ["East (x)", "East (y)", "z"]);
}

#[test]
fn link_speeds_of_the_file_are_read() {
    assert_eq!(
        rates(&graph_ml("speeds_1", "").unwrap()),
        [10_000, 2500, 10_000]
    );
    let error = graph_ml("speeds_2", "").unwrap_err();
    assert!(error.contains("have no common multiple"), "{error}");
    let whose = "; those of \"speeds_2.graphml\" in `fabric.topology` are `0.155 Gbit/s`, `0.622 Gbit/s`, `10 Gbit/s`";
    assert!(error.ends_with(whose), "{error}");
    let scenario = graph_ml("speeds_2", ", speeds: Scenario").unwrap();
    assert_eq!(rates(&scenario), [10_000; 3]);
    let replaced = ", speeds: Replace({\"0.622 Gbit/s\": \"625 Mbit/s\", \"0.155 Gbit/s\": \"156.25 Mbit/s\"})";
    let replaced = graph_ml("speeds_2", replaced);
    assert_eq!(rates(&replaced.unwrap()), [625, 156, 10_000]);
    let error = graph_ml(
        "speeds_2",
        ", speeds: Replace({\"1 Gbit/s\": \"2 Gbit/s\"})",
    )
    .unwrap_err();
    assert!(
        error.contains("no link has the speed `1 Gbit/s`"),
        "{error}"
    );

    let third = graph_ml("speeds_3", "").unwrap();
    assert_eq!(rates(&third), [40_000, 10_000, 10_000]);
    let notes = third.layout.graph.notes();
    assert!(
        notes[0].starts_with(
            "speeds_3.graphml:12: 2 values of `LinkSpeed` skipped: `<10` `G` is no rate"
        ),
        "{notes:?}"
    );
}

#[test]
fn parts_that_are_not_connected_are_told() {
    for name in ["disconnected_1", "disconnected_2", "disconnected_3"] {
        let error = graph_ml(name, "").unwrap_err();
        assert!(error.contains("routing"), "{name}: {error}");
    }
}

/// Two leaves and a spine; `speeds` stand behind the lines of switch ports and of adapter ports.
fn discovered([at_switch, at_adapter]: [&str; 2]) -> String {
    let mut text = String::new();
    for (leaf, host) in [(1, 3), (2, 4)] {
        let _ = write!(
            text,
            "Switch 2 \"S-000000000000000{leaf}\" # \"leaf{leaf}\" base port 0 lid {leaf} lmc 0\n\
             [1] \"H-000000000000000{host}\"[1] # \"h{host}\" lid {host}{at_switch}\n\
             [2] \"S-0000000000000009\"[{leaf}] # \"spine\" lid 9{at_adapter}\n\n\
             Ca 1 \"H-000000000000000{host}\" # \"h{host}\"\n\
             [1](a{host}) \"S-000000000000000{leaf}\"[1] # lid {host} lmc 0 \"leaf{leaf}\" lid {leaf}{at_adapter}\n\n"
        );
    }
    text + &format!(
        "Switch 2 \"S-0000000000000009\" # \"spine\" base port 0 lid 9 lmc 0\n\
         [1] \"S-0000000000000001\"[2] # \"leaf1\" lid 1{at_switch}\n\
         [2] \"S-0000000000000002\"[2] # \"leaf2\" lid 2{at_switch}\n"
    )
}

#[test]
fn a_link_takes_the_speed_of_its_far_end_then_of_speeds_then_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let read = |speeds: [&str; 2], more: &str| {
        std::fs::write(folder.path().join("net"), discovered(speeds)).unwrap();
        let topology = format!("Ibnetdiscover(file: \"net\"{more})");
        let resolved = resolve_in(folder.path(), &topology, UNIFORM, 1).unwrap();
        (rates(&resolved), resolved.layout.graph.notes().to_vec())
    };
    assert_eq!(read(["", " 4xQDR"], ""), (vec![32_000; 2], Vec::new()));
    assert_eq!(read([" 4xSDR", ""], ""), (vec![8_000; 2], Vec::new()));
    assert_eq!(read(["", " 4xQDR"], ", speeds: Scenario").0, [10_000; 2]);
    let replaced = ", speeds: Replace({\"unknown\": \"20 Gbit/s\"})";
    assert_eq!(read(["", ""], replaced), (vec![20_000; 2], Vec::new()));
    assert_eq!(
        read(["", ""], ", speeds: Scenario"),
        (vec![10_000; 2], Vec::new())
    );
    let (rates, notes) = read(["", " 4x???"], "");
    assert_eq!(rates, [10_000; 2]);
    assert!(
        notes[0].starts_with("4 of 4 links have no speed in the file"),
        "{notes:?}"
    );
}

#[test]
fn a_mark_before_a_text_is_skipped() {
    const MARK: &str = "\u{feff}";
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), format!("{MARK}{text}")).unwrap();
    };
    let read = |topology: &str, class: &str| {
        let resolved = resolve_in(folder.path(), topology, class, 1);
        resolved.unwrap_or_else(|error| panic!("{topology} {class}: {error}"))
    };
    write("edges", "0 1\n");
    write(
        "net.graphml",
        "<graphml><graph><node id='a'/><node id='b'/><edge source='a' target='b'/></graph></graphml>",
    );
    write("net", &discovered([" 4xQDR", " 4xQDR"]));
    for topology in [
        "EdgeList(file: \"edges\", hosts_per_switch: 2)",
        "GraphMl(file: \"net.graphml\", hosts_per_switch: 2)",
        "Ibnetdiscover(file: \"net\")",
    ] {
        read(topology, UNIFORM);
    }
    write(
        "t.csv",
        "time [cycles],source,destination,bytes\n0,0,1,64\n",
    );
    write(
        "s.goal",
        "num_ranks 2 rank 0 { send 64b to 1 } rank 1 { recv 64b from 0 }",
    );
    write("flows.csv", "source,destination\n0,1\n");
    write("matrix.csv", "0,1\n1,0\n");
    for class in [
        "messages: Trace(file: \"t.csv\")",
        "messages: Goal(file: \"s.goal\")",
        "flows: [(pairs: Csv(file: \"flows.csv\"))]",
        "flows: [(pairs: Matrix(file: \"matrix.csv\", entries: Weights))]",
    ] {
        read("EdgeList(switches: 1, hosts_per_switch: 2)", class);
    }
    write(
        "scenario.ron",
        &virtlane::scenario::Document::embedded().to_text(),
    );
    assert!(virtlane::scenario::Document::read(&folder.path().join("scenario.ron")).is_ok());
}

/// A fabric of a file with these bytes.
fn of_bytes(bytes: &[u8], topology: &str) -> Result<Resolved, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("net"), bytes).expect("writable");
    resolve_in(folder.path(), topology, UNIFORM, 1)
}

#[test]
fn graph_ml_is_read_in_the_encoding_that_it_declares() {
    let body = "<!DOCTYPE graphml>\n<graphml><graph><node id='K\u{f6}ln'/><node id='Bonn'/>\
                <edge source='Bonn' target='K\u{f6}ln'/></graph></graphml>";
    let text = |encoding: &str| format!("<?xml version='1.0' encoding='{encoding}'?>\n{body}");
    let latin: Vec<u8> = text("ISO-8859-1").chars().map(|c| c as u8).collect();
    let words = std::iter::once(0xFEFF).chain(text("UTF-16").encode_utf16().collect::<Vec<_>>());
    let wide: Vec<u8> = words.flat_map(u16::to_be_bytes).collect();
    for bytes in [text("UTF-8").into_bytes(), latin, wide] {
        let resolved = of_bytes(&bytes, "GraphMl(file: \"net\", hosts_per_switch: 1)").unwrap();
        assert_eq!(names(&resolved), ["K\u{f6}ln", "Bonn"]);
    }
}

#[test]
fn speeds_of_no_known_name_matter_where_they_are_taken_only() {
    let text = "Switch 2 \"S-1\"\n[1] \"H-1\"[1] # \"h\" lid 1 4xZZZ\n[2] \"H-2\"[1] # \"h\" lid 2 4xEDR\n\n\
                Ca 1 \"H-1\"\n[1] \"S-1\"[1] # \"s\" lid 3 4xZZZ\n\nCa 1 \"H-2\"\n[1] \"S-1\"[2] # \"s\" lid 3 4xEDR\n\n\
                something unexpected 5\n";
    let of = |speeds: &str| {
        let topology = format!("Ibnetdiscover(file: \"net\", speeds: {speeds})");
        of_bytes(text.as_bytes(), &topology)
    };
    let error = of("File").unwrap_err();
    assert!(
        error.contains("net:2: unknown link speed `4xZZZ`, expected a width"),
        "{error}"
    );
    let own = of("Scenario").unwrap();
    let note = "net: 1 line is skipped, neither comment nor node, port or `name=value`: the first is line 11, \
                `something unexpected 5`";
    assert_eq!(own.layout.graph.notes(), [note]);
    let replaced = of("Replace({\"4xZZZ\": \"10 Gbit/s\"})").unwrap();
    let paces = replaced.layout.graph.channels().iter();
    let paces: Vec<u32> = paces
        .map(|channel| channel.timing.cycles_per_flit)
        .collect();
    assert_eq!(paces, [10, 10, 1, 1]);
}
