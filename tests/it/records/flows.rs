//! Records of packets of flows: each names its flow, as does each answer.

use super::{Packet, packets};
use assert_cmd::Command;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Flows under a window by answers, a flow without control, and packets that no flow sends.
const MIXED: &str = r#"Scenario(
    title: "whose packet", seed: 7,
    fabric: (topology: Mesh(radix: [2, 2]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits", routing_delay: "1 cycles")),
    routing: DimensionOrder(),
    traffic: [
        (name: "plain", pattern: Uniform, process: Poisson(load: 0.1), size: "4 flits", sl: 0),
        (name: "held", flows: [(pairs: AllToAll())], size: "8 flits", sl: 0,
         control: Window(window: 2), answers: (size: "1 flits", sl: 1)),
        (name: "free", flows: [(pairs: List(pairs: [(0, 3), (0, 3)]), limit: Rate(0.1))], size: "2 flits", sl: 1),
    ],
    phases: (warmup: "500 cycles", measure: "4000 cycles", drain: Auto),
)"#;

/// Runs it in `folder` with every packet recorded.
pub(super) fn run(folder: &Path) {
    fs::write(folder.join("mixed.ron"), MIXED).expect("it can be written");
    let mut command = Command::cargo_bin("virtlane").expect("it is built");
    let records = "observe.packets=All";
    let arguments = [
        "run",
        "mixed.ron",
        "--quiet",
        "--set",
        records,
        "--out",
        "run",
    ];
    command.current_dir(folder).args(arguments).unwrap();
}

/// A row of flows.csv.
#[derive(Debug, serde::Deserialize)]
struct Flow {
    #[serde(rename = "flow")]
    id: u64,
    class: String,
    source: u32,
    destination: u32,
    #[serde(rename = "tagged_delivered [packets]")]
    tagged: u64,
    #[serde(rename = "network_latency_max [cycles]")]
    latency: Option<u64>,
}

#[test]
fn a_packet_of_a_flow_and_its_answer_name_it() {
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path());
    let mut of: BTreeMap<u64, [Vec<Packet>; 2]> = BTreeMap::new();
    let mut plain = 0;
    for packet in packets(&folder.path().join("run/packets.csv")) {
        if let Some(flow) = packet.flow {
            let is_answer = packet.class == "held answers";
            of.entry(flow).or_default()[usize::from(is_answer)].push(packet);
        } else {
            assert_eq!(packet.class, "plain");
            plain += 1;
        }
    }
    assert!(plain > 50, "{plain}");
    let mut reader = csv::Reader::from_path(folder.path().join("run/flows.csv")).expect("a table");
    let flows = reader.deserialize().collect::<Result<Vec<Flow>, _>>();
    let flows = flows.expect("flows");
    assert_eq!(flows.len(), 4 * 3 + 2);
    for flow in flows {
        let [own, answers] = of.remove(&flow.id).expect("every flow sends");
        let (from, to) = (flow.source, flow.destination);
        assert_eq!(own.len() as u64, flow.tagged, "{flow:?}");
        assert_eq!(own.iter().map(|packet| packet.network).max(), flow.latency);
        let is_its = |packet: &Packet| (packet.source, packet.destination) == (from, to);
        assert!(
            own.iter()
                .all(|packet| packet.class == flow.class && is_its(packet))
        );
        assert_eq!(answers.is_empty(), flow.class == "free", "{flow:?}");
        let is_back = |packet: &Packet| (packet.source, packet.destination) == (to, from);
        assert!(answers.iter().all(is_back), "{flow:?}");
    }
    assert!(of.is_empty(), "no other flow is named: {of:?}");
}
