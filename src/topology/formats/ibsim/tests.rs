//! Files of ibsim: what is read from them, and what is refused with its line.

use super::*;
use crate::ids::{HostId, SwitchId};
use crate::topology::formats::records::record_graph;
use crate::topology::tests::context;
use crate::units::Clock;

fn build(text: &str) -> Result<Graph, String> {
    let context = BuildContext {
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 32_000_000_000,
        },
        ..context()
    };
    let graph = parse(text).and_then(|records| {
        let cables = record_graph::cables(&records)?;
        record_graph::graph(&records, &cables, &Speeds::File, None, &context)
    });
    graph.map_err(|error| error.in_file("net").to_string())
}

const SMALL: &str = "# two switches\nHca\t1 \"H0\"\n[1]\t\"S0\"[1]\n\nswitchguid+16\nSwitch 4 \"S0\" # \"left one\"\n\
                     [1]\t\"H0\"[1]\n[3]\t\"S1\"[1]  w=2 s=4\n\nSwitch 4 \"S1\"\n[1] \"S0\"[3] w=2 s=4 # x\n\
                     [2] \"H1\"[1]\n\nHca 2 \"H1\"\n[1](10) \"S1\"[2]\n";

#[test]
fn nodes_links_and_options_are_read() {
    let graph = build(SMALL).unwrap();
    assert_eq!(graph.switches()[0].name, "left one");
    assert_eq!(graph.switches()[0].guid, 0x20_0010);
    assert_eq!(graph.switches()[1].guid, 0x20_0011);
    assert_eq!(graph.switches()[1].port_count, 4);
    let guids: Vec<u64> = graph.hosts().iter().map(|host| host.guid).collect();
    assert_eq!(guids, [0x10_0001, 0x10_0003]);
    assert_eq!(graph.attachment(HostId(1)), Some((SwitchId(1), 2)));
    let channel = graph.port_channel(SwitchId(0), 3).unwrap();
    assert_eq!(graph.channel(channel).timing.cycles_per_flit, 1);
    assert_eq!(graph.channel(channel).to.switch(), Some(SwitchId(1)));
}

#[test]
fn speeds_are_those_of_the_options() {
    let speed = |words: &str| {
        let mut options = Options::default();
        for word in words.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap();
            options.set(name, value).unwrap();
        }
        options.link_speed().map(|speed| speed.text)
    };
    assert_eq!(speed(""), None);
    assert_eq!(speed("w=1").as_deref(), Some("1xSDR"));
    assert_eq!(speed("s=2").as_deref(), Some("4xDDR"));
    assert_eq!(speed("w=8 s=4").as_deref(), Some("12xQDR"));
    assert_eq!(speed("w=2 s=4 e=2").as_deref(), Some("4xEDR"));
    assert_eq!(speed("w=16 e=8").as_deref(), Some("2xNDR"));
    assert_eq!(speed("w=3 s=7").as_deref(), Some("4xQDR"));
}

#[test]
fn malformed_files_are_told() {
    for (text, reason) in [
        (
            "[1] \"S0\"[1]\n",
            "net:1: port line outside a node, expected `Switch` or `Hca` before it",
        ),
        (
            "Switch 4 \"S0\"\n[5] \"S1\"[1]\n",
            "net:2: port 5 of `S0`, expected 1..=4",
        ),
        (
            "Switch 4 \"S0\"\n[1] S1\n",
            "net:2: malformed port, expected such as `[1] \"S0\"[2]`",
        ),
        (
            "Switch 4 \"S0\"\n[1] \"S1\"[1] w=32\n",
            "net:2: `w=32`: expected a sum of 1, 2, 4 and so on, 1 to 31",
        ),
        (
            "Switch 4 \"S0\"\n[1] \"S1\"[1] fast=1\n",
            "net:2: unknown option `fast=1`, expected `w=`, `s=` or `e=`",
        ),
        (
            "Switch 4 \"S0\"\n[1] \"S1\"[1] w=2 s=1 width=1\n",
            "net:2: `width=1` beside `w=2`, expected one of them",
        ),
        (
            "Switch \"S0\"\n",
            "net:1: malformed node, expected such as `Switch 4 \"S0\"`",
        ),
        (
            "Switch 4 \"S0\"\nSwitch 4 \"S0\"\n",
            "net:2: node `S0` is already on line 1",
        ),
        (
            "Switch 4 \"S0\"\n[1] \"S1\"[1]\n",
            "net:2: `S0` port 1 leads to `S1` port 1, which is not in the file",
        ),
        (
            "switchguid=x\n",
            "net:1: `switchguid=x` is not a GUID such as `0x200001`",
        ),
        (
            "do Link \"S0\"\n",
            "net:1: `do Link \"S0\"` is not supported: `include`, `do`, `module=` and aliases are about the \
             simulator, not the fabric; write out what they stand for",
        ),
    ] {
        assert_eq!(build(text).unwrap_err(), reason);
    }
    assert!(
        build("module=x\n")
            .unwrap_err()
            .starts_with("net:1: `module=x` is not supported")
    );
}

#[test]
fn what_ibsim_skips_is_skipped() {
    let records = SMALL
        .replace("\n\n", "\n----\n")
        .replace("w=2 s=4 # x", "w=2 s=4 fast # x")
        .replace("\"H0\"[1]", "\"H0\"");
    let text = format!("Topology of today\nnodeguid=5\n{records}");
    assert_eq!(build(&text).unwrap(), build(SMALL).unwrap());
}

#[test]
fn links_run_at_the_best_speed_both_ends_enable() {
    let pair = |one: &str, other: &str| {
        let text =
            format!("Switch 2 \"a\"\n[1] \"b\"[2] {one}\n\nSwitch 2 \"b\"\n[2] \"a\"[1] {other}\n");
        let graph = build(&text).unwrap();
        let cycles = graph.channels()[0].timing.cycles_per_flit;
        (cycles, graph.notes().len())
    };
    assert_eq!(pair("w=3 s=7", "w=2 s=4"), (1, 0));
    assert_eq!(pair("w=3 s=7", "w=1 s=6"), (4, 0));
    assert_eq!(pair("s=4 e=2", "s=4"), (1, 0));
    assert_eq!(pair("s=4", ""), (1, 0));
    // nothing in common: fatal to ibsim
    assert_eq!(pair("s=4", "s=2"), (2, 1));
}

#[test]
fn guids_are_those_that_ibsim_gives() {
    let text = "switchguid=32\nSwitch 2 \"a\"\n[1] \"b\"\nSwitch 2 \"b\"\n[1] \"a\"[1]\n\nswitchguid+5\n\
                Switch 1 \"c\"\n[1] \"b\"[2]\n";
    let text = text.replace("\nSwitch 2 \"b\"\n", "\nSwitch 2 \"b\"\n[2] \"c\"[1]\n");
    let graph = build(&text).unwrap();
    let guids: Vec<u64> = graph.switches().iter().map(|node| node.guid).collect();
    assert_eq!(guids, [32, 33, 37]);
}
