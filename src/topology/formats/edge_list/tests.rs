//! Explicit networks: ports, timing, files and impossible entries.

use super::*;
use crate::registry::Arguments;
use crate::topology::tests::context;

fn list(text: &str) -> EdgeList {
    Arguments { text }.parse().unwrap()
}

fn error(text: &str) -> String {
    list(text).build(&context()).unwrap_err().to_string()
}

#[test]
fn entries_take_the_next_free_ports() {
    let graph = list(
        "(switches: 3, links: [(0, 1), (1, 0), \"1 2:1 2cycles\"], hosts: [0, (\"login\", 2), \"2:9\"])",
    )
    .build(&context())
    .unwrap();
    let ends: Vec<String> = graph
        .channels()
        .iter()
        .step_by(2)
        .map(|channel| {
            [channel.from, channel.to]
                .map(|end| graph.endpoint_name(end))
                .join(" - ")
        })
        .collect();
    assert_eq!(
        ends,
        [
            "H0 - S0 port 1",
            "login - S2 port 2",
            "H2 - S2 port 9",
            "S0 port 2 - S1 port 1",
            "S1 port 2 - S0 port 3",
            "S1 port 3 - S2 port 1",
        ]
    );
    assert_eq!(graph.channels()[10].timing.latency, 2);
    assert_eq!(graph.switches()[2].port_count, 9);
}

#[test]
fn each_direction_may_have_its_own_timing() {
    let text = "(links: [(0, 1, \"5 Gbit/s\", \"/\", \"30 cycles\")], hosts_per_switch: 2)";
    let graph = list(text).build(&context()).unwrap();
    let timing: Vec<_> = graph
        .channels()
        .iter()
        .map(|channel| channel.timing)
        .collect();
    assert_eq!(graph.hosts().len(), 4);
    assert_eq!((timing[8].cycles_per_flit, timing[8].latency), (2, 1));
    assert_eq!((timing[9].cycles_per_flit, timing[9].latency), (1, 30));
    let rates = list(text).own_rates(Path::new("."));
    assert_eq!(rates, Ok(vec![BitRate(5_000_000_000)]));
}

#[test]
fn a_file_says_the_same_as_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let text = "switches 3\n0 1\n1 2 # last\nhost 0\nhost login 2\n";
    std::fs::write(folder.path().join("net.edges"), text).unwrap();
    let context = BuildContext {
        base: folder.path(),
        ..context()
    };
    let from_file = list("(file: \"net.edges\")").build(&context).unwrap();
    let inline = "(switches: 3, links: [(0, 1), (1, 2)], hosts: [0, (\"login\", 2)])";
    assert_eq!(from_file, list(inline).build(&context).unwrap());
    let message = |text: &str| {
        std::fs::write(folder.path().join("net.edges"), text).unwrap();
        let error = list("(file: \"net.edges\")").build(&context).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        message("0 1\n1 2 7Gbit/s\n"),
        "net.edges:2: link rate 7 Gbit/s is not a whole fraction of the reference rate 10 Gbit/s, expected \
         a reference rate such as 70 Gbit/s"
    );
    assert_eq!(
        message("switches 2\n0 1\n1 2\n"),
        "net.edges:3: switch 2 does not exist, there are 2 (from 0)"
    );
    assert_eq!(
        message("0:1 1\n1 0:1\n"),
        "net.edges:2: port 1 of switch 0 is already in use"
    );
    assert_eq!(
        message("0 1\nhost a 0\nhost a 1\n"),
        "net.edges:3: name `a` is used twice, expected different names"
    );
    assert_eq!(message(""), "the topology has no switch");
}

#[test]
fn impossible_entries_are_refused() {
    assert_eq!(
        error("(links: [(0, 1), (1, 1)])"),
        "`links`: entry 2: switch 1 is linked to itself; if that is meant, give both ports: `1:1 1:2`"
    );
    assert_eq!(
        error("(switches: 2, hosts: [2])"),
        "`hosts`: entry 1: switch 2 does not exist, there are 2 (from 0)"
    );
    assert_eq!(
        error("(switches: 1, hosts: [\"0:255\"])"),
        "`hosts`: entry 1: port 255 of switch 0, expected 1..=254"
    );
    assert_eq!(
        error("(switches: 1, hosts_per_switch: 255)"),
        "`hosts_per_switch`: switch 0 has no port left, expected at most 254"
    );
    assert_eq!(
        error("(links: [(0, 4294967295)])"),
        "`switches`: this makes 4294967296 switches, expected at most 1000000"
    );
    assert_eq!(
        error("(file: \"x\", hosts: [0])"),
        "`file`: given together with `links` or `hosts`, expected one or the other"
    );
    let unknown = Arguments {
        text: "(edges: [])",
    };
    assert!(unknown.parse::<EdgeList>().is_err());
}
