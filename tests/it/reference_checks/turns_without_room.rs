//! The reference model's turns at outputs whose lanes lack room (D6, D20), computed by hand.

use super::turns::{deliveries, options};
use super::{backlogged, plan, timing};
use crate::reference::{Routing, simulate};
use virtlane::ids::{HostId, SwitchId};
use virtlane::plan::SwitchOptions;
use virtlane::routing::adaptive::{AdaptiveRouting, Candidate, Course, Selection};
use virtlane::topology::{Endpoint, GraphBuilder};

/// (flow, cycle of the grant) at the channel between two switches, of the flows (host, lane, packets): hosts 0 and 1
/// are at the first switch, the destination is at the second one. With room for one flit in a lane its credit is back
/// three cycles after a grant, and a host's next packet of the lane requests three cycles after the last one left.
fn turns_by_credits(flows: &[(u32, u8, Option<u64>)]) -> Vec<(u16, u64)> {
    let mut builder = GraphBuilder::new();
    let switches = [(0, 3), (1, 2)]
        .map(|(number, ports)| builder.add_switch(format!("S{number}"), number, ports));
    let hosts = [0, 1, 2].map(|number| builder.add_host(format!("H{number}"), number));
    let port = |switch: usize, port| Endpoint::Switch(switches[switch], port);
    for (from, to) in [
        (Endpoint::Host(hosts[0]), port(0, 1)),
        (Endpoint::Host(hosts[1]), port(0, 2)),
        (port(0, 3), port(1, 1)),
        (port(1, 2), Endpoint::Host(hosts[2])),
    ] {
        let joined = builder.connect(from, to, timing(1, 1));
        joined.expect("well-formed");
    }
    let graph = builder.build().expect("well-formed");
    let tables = super::tables(&graph, vec![1, 2, 3, 1, 1, 2], 2);
    let classes = flows.iter().map(|&(host, lane, packets)| {
        let mut class = backlogged(&[host], 2, 1, lane);
        class.packets_per_host = packets;
        class
    });
    let options = SwitchOptions {
        lane_capacity: 1,
        ..options(2)
    };
    let outcome = simulate(&plan(classes.collect(), options), &graph, &tables, 100);
    let mut found = deliveries(&outcome);
    found.sort_by_key(|&(_, delivered)| delivered);
    // the second switch grants two cycles later
    found.iter().map(|&(flow, now)| (flow, now - 3)).collect()
}

/// From 3 on a request for the other lane never fits. By inputs, host 0 would always find lane 0's credit, host 1 that
/// of lane 1; by lanes, each lane goes to the hosts in turn, from the first of them: 2 was a turn by inputs.
#[test]
fn no_request_starves_when_the_credits_of_lanes_alternate() {
    let flows = [(0, 0, None), (0, 1, None), (1, 0, None), (1, 1, None)];
    let found = turns_by_credits(&flows);
    let expected = [[0, 1], [0, 3]].into_iter();
    let expected = expected.chain([[2, 1], [0, 3]].into_iter().cycle());
    let expected: Vec<(u16, u64)> = expected
        .zip(0..14)
        .flat_map(|(pair, time)| [(pair[0], 3 * time + 2), (pair[1], 3 * time + 3)])
        .collect();
    assert_eq!(found[..28], expected);
}

/// In 3 host 1 goes by lanes, as its lane 0 has no credit. In 5 all fit, and by inputs it is still host 1's turn.
#[test]
fn turns_by_lanes_move_no_pointer_over_inputs() {
    let found = turns_by_credits(&[(0, 0, None), (1, 0, None), (1, 1, Some(1))]);
    assert_eq!(found[..5], [(0, 2), (2, 3), (1, 5), (0, 8), (1, 11)]);
}

/// Two switches, a host each; at the first one a head may take both lanes of the only way.
#[derive(Debug)]
struct TwoLanes;

impl AdaptiveRouting for TwoLanes {
    fn width(&self) -> u8 {
        2
    }

    fn selection(&self) -> Selection {
        Selection::Open
    }

    fn candidates(&self, at: SwitchId, _: HostId, _: Course, found: &mut Vec<Candidate>) {
        let lanes = if at == SwitchId(0) { 0..2 } else { 0..1 };
        *found = lanes
            .map(|lane| Candidate {
                port: 2,
                lane,
                escape: false,
            })
            .collect();
    }
}

/// Packets of 2, 2 and 4 flits request in 2, 4 and 6. The first two take a lane each, the third finds none with room
/// for it until the first one's credits are back: flits that leave the second switch in 4 and 5 count 20 later.
#[test]
fn a_head_for_several_lanes_of_an_output_gets_them_by_turns() {
    let mut builder = GraphBuilder::new();
    let switches = [0, 1].map(|number| builder.add_switch(format!("S{number}"), number, 2));
    let hosts = [0, 1].map(|number| builder.add_host(format!("H{number}"), number));
    let short = timing(1, 1);
    let port = |switch: usize, port| Endpoint::Switch(switches[switch], port);
    for (from, to, back) in [
        (port(0, 2), port(1, 1), timing(1, 20)),
        (Endpoint::Host(hosts[0]), port(0, 1), short),
        (port(1, 2), Endpoint::Host(hosts[1]), short),
    ] {
        let timings = [short, back];
        builder
            .connect_with(from, to, timings)
            .expect("well-formed");
    }
    let graph = builder.build().expect("well-formed");
    let class = |size, count| {
        let mut class = backlogged(&[0], 1, size, 0);
        class.packets_per_host = Some(count);
        class
    };
    let options = SwitchOptions {
        lanes: 2,
        lane_capacity: 4,
        ..SwitchOptions::default()
    };
    let plan = plan(vec![class(2, 2), class(4, 1)], options);
    let outcome = simulate(&plan, &graph, Routing::Adaptive(&TwoLanes), 100);
    assert_eq!(
        deliveries(&outcome),
        [(0, 2 + 4), (0, 4 + 4), (1, 4 + 1 + 20 + 6)]
    );
}
