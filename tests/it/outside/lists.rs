//! Lists of hosts, service levels, classes and points: kept as they stand, or refused.

use super::{UNIFORM, resolve_in};
use std::path::Path;
use virtlane::ids::HostId;
use virtlane::rng::{Purpose, stream};

const EIGHT: &str = "LeafSpine(leaves: 2, spines: 2, hosts_per_leaf: 4)";

/// Messages among ranks go between the hosts as they are listed.
#[test]
fn ranks_are_hosts_in_the_order_of_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.csv");
    std::fs::write(
        file,
        "time [cycles],source,destination,bytes\n0,0,1,64\n0,1,2,64\n",
    )
    .unwrap();
    for (hosts, expected) in [
        ("List([7, 0, 3])", [(7, 0), (0, 3)]),
        ("Switches([1, 0])", [(4, 5), (5, 6)]),
        ("Range(2, 5)", [(2, 3), (3, 4)]),
    ] {
        let class = format!("hosts: {hosts}, messages: Trace(file: \"t.csv\")");
        let plan = resolve_in(folder.path(), EIGHT, &class, 1).unwrap().plan;
        assert!(plan.classes[0].hosts.is_sorted());
        let messages = plan.workloads[0].source.messages().unwrap();
        let ends = messages.map(|message| message.map(|one| (one.source.0, one.destination.0)));
        assert_eq!(
            ends.collect::<Result<Vec<_>, _>>().unwrap(),
            expected,
            "{hosts}"
        );
    }
}

/// Flows of generators go by ranks, patterns that calculate with numbers too; patterns that draw do not.
#[test]
fn positions_are_ranks() {
    let resolve = |class: &str| resolve_in(Path::new("."), EIGHT, class, 1).unwrap().plan;
    let list = "hosts: List([6, 1, 4, 3])";
    let flows = resolve(&format!("{list}, flows: [(pairs: AllToAll())]")).flows;
    let first: Vec<_> = flows[..3]
        .iter()
        .map(|flow| (flow.source.0, flow.destination.0))
        .collect();
    assert_eq!(first, [(6, 1), (6, 4), (6, 3)]);
    let flows = resolve(&format!("{list}, flows: [(pairs: Incast(to: 0, from: 2))]")).flows;
    let sources: Vec<_> = flows.iter().map(|flow| flow.source.0).collect();
    assert_eq!(sources, [6, 1]);

    let to = |class: &str, host: u32| {
        let plan = resolve(class);
        let mut rng = stream(1, Purpose::Destinations, 5);
        let pattern = &plan.classes[0].pattern;
        let drawn = (0..20).map(|_| pattern.destination(HostId(host), &mut rng));
        drawn.map(|to| to.map(|to| to.0)).collect::<Vec<_>>()
    };
    let process = "process: Bernoulli(load: 0.1)";
    let shift = format!("{list}, pattern: Shift(by: 1, among: Senders), {process}");
    assert_eq!(
        [6, 1, 4, 3].map(|host| to(&shift, host)[0]),
        [Some(1), Some(4), Some(3), Some(6)]
    );
    let diagonal =
        format!("{list}, pattern: Diagonal(among: Senders, self_traffic: false), {process}");
    for (from, next) in [(6, 1), (1, 4), (4, 3), (3, 6)] {
        assert_eq!(to(&diagonal, from), [Some(next); 20], "{from}");
    }
    for pattern in ["Uniform", "RandomPermutation", "RandomPairs"] {
        let class = |hosts: &str| {
            format!("hosts: List({hosts}), pattern: {pattern}(among: Senders), {process}")
        };
        let [listed, sorted] = ["[6, 1, 4, 3]", "[1, 3, 4, 6]"].map(class);
        assert_eq!(to(&listed, 4), to(&sorted, 4), "{pattern}");
    }
}

#[test]
fn what_stands_twice_or_has_no_meaning_is_refused() {
    for (class, lanes, reason) in [
        (
            "hosts: List([0, 0, 1])",
            1,
            "host `H0` stands here twice, first as entry 0",
        ),
        ("hosts: List([5, \"H5\"])", 1, "host `H5` stands here twice"),
        ("hosts: Switches([0, 1, 0])", 1, "stands here twice"),
        (
            "sl: 1",
            1,
            "service level 1 of traffic[0] is beyond the lanes",
        ),
        (
            "sl: [0, 3]",
            2,
            "service level 3 of traffic[0] is beyond the lanes",
        ),
        ("sl: [1, 1]", 2, "service level 1 stands here twice"),
    ] {
        let text = format!("{class}, {UNIFORM}");
        let error = resolve_in(Path::new("."), EIGHT, &text, lanes).unwrap_err();
        assert!(error.contains(reason), "{class}: {error}");
    }
    for (flows, reason) in [
        ("bytes: \"0 flits\"", "expected 1 to"),
        ("acknowledgement: \"5 cycles\"", "and there is none"),
    ] {
        let text = format!("flows: [(pairs: AllToAll(), {flows})]");
        let error = resolve_in(Path::new("."), EIGHT, &text, 1).unwrap_err();
        assert!(error.contains(reason), "{flows}: {error}");
    }
}

/// Lists of other sections.
#[test]
fn points_and_classes_stand_once() {
    let text = |more: &str| {
        format!(
            r#"Scenario(
                fabric: (topology: {EIGHT}, link: (rate: "10 Gbit/s", latency: "100 ns"), switch: (lane_capacity: "64 flits")),
                routing: UpDown(), traffic: [(name: "a", size: "1 KiB", {UNIFORM})],
                phases: (warmup: "0 cycles", measure: "1000 cycles"), {more})"#
        )
    };
    let load = "\"traffic.a.process.load\"";
    for (more, reason) in [
        (
            format!("sweep: (axes: [({load}, [0.1, 0.2, 0.1])])"),
            "`0.1` stands here twice",
        ),
        (
            format!(
                "sweep: (axes: [({load}, [0.1, 0.2])], quick: (values: [({load}, [0.1]), ({load}, [0.2])]))"
            ),
            "stands here twice",
        ),
        (
            format!(
                "sweep: (axes: [({load}, [0.1, 0.2])], quick: (set: [(\"seed\", 1), (\"seed\", 2)]))"
            ),
            "`seed` stands here twice",
        ),
        (
            format!(
                "sweep: (axes: [({load}, [0.1, 0.2])]), expect: [(metric: \"load.accepted\", relation: AtLeast, value: 0, \
                 at: [({load}, 0.1), ({load}, 0.2)])]"
            ),
            "stands here twice",
        ),
        (
            "observe: (packets: All, classes: [\"a\", \"a\"])".into(),
            "the class `a` stands here twice",
        ),
        (
            "observe: (packets: All, classes: [])".into(),
            "the list is empty",
        ),
        ("observe: (classes: [\"a\"])".into(), "nothing is recorded"),
    ] {
        let parts = virtlane::scenario::Parts::registered();
        let document =
            virtlane::scenario::Document::parse("lists.ron", &text(&more), Path::new("."));
        let error = document.unwrap().resolve(&parts).unwrap_err().to_string();
        assert!(error.contains(reason), "{more}: {error}");
    }
}

/// Forwarding tables and lane maps of files, with a mark at their beginning: an entry that stands twice with another value is
/// told, and so are roots.
#[test]
fn entries_of_tables_stand_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), format!("\u{feff}{text}")).unwrap();
    };
    let table = |switch: u32, ports: [u32; 2]| {
        let entry = |host: usize| {
            let (lid, port) = (host + 1, ports[host]);
            format!(
                "0x{lid:04x} {port:03} # Channel Adapter portguid 0x{:016x}: 'H{host}'\n",
                lid + 0xb00
            )
        };
        format!(
            "Unicast lids [0-2] of switch Lid 9 guid 0x{:016x} ('S{switch}'):\n{}{}2 lids dumped\n",
            switch + 0xa00,
            entry(0),
            entry(1)
        )
    };
    let tables = table(0, [1, 2]) + &table(1, [2, 1]);
    write("lfts", &tables);
    write("twice", &tables.replacen("2 lids", "0x0001 002\n3 lids", 1));
    let lanes = format!("1 2 : {}\n", "0 ".repeat(16));
    write(
        "sl2vl",
        &format!("Switch 0x0000000000000a00 \"S0\"\n{lanes}{lanes}"),
    );
    let resolve = |routing: &str| {
        let text = format!(
            r#"Scenario(
                fabric: (topology: EdgeList(links: [(0, 1)], hosts_per_switch: 1), link: (rate: "10 Gbit/s", latency: "100 ns"),
                         switch: (lane_capacity: "64 flits")),
                routing: {routing}, traffic: [(name: "a", size: "1 KiB", {UNIFORM})],
                phases: (warmup: "0 cycles", measure: "1000 cycles"))"#
        );
        let document = virtlane::scenario::Document::parse("tables.ron", &text, folder.path());
        let resolved = document
            .unwrap()
            .resolve(&virtlane::scenario::Parts::registered());
        resolved.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(resolve("TableImport(lfts: \"lfts\")"), Ok(()));
    for (routing, reason) in [
        (
            "TableImport(lfts: \"twice\")",
            "H0 has port 1 before, and port 2 here",
        ),
        (
            "TableImport(lfts: \"lfts\", sl2vl: \"sl2vl\")",
            "ports 1 and 2 have their lanes on line 2 already",
        ),
        ("UpDown(root: [\"S0\", 0])", "root `S0` is there twice"),
    ] {
        let error = resolve(routing).unwrap_err();
        assert!(error.contains(reason), "{routing}: {error}");
    }
}
