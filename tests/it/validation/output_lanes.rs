//! Output lanes (D18): hand-computed cycles, weights behind the buffers, laws and digests over random options.

use super::{assert_close, note, run, scenario, share};
use crate::random_fabric::{Case, Saturating, ToOne, case};
use std::path::Path;
use std::sync::Arc;
use virtlane::cycle::Wanted;
use virtlane::cycle::ledger::Ledger;
use virtlane::cycle::mechanisms::packet_records::PacketRecords;
use virtlane::cycle::state::{Calendar, PacketPool, Place};
use virtlane::fabric::rows::PortRow;
use virtlane::fabric::source_queue::SourceQueues;
use virtlane::ids::{HostId, SlId};
use virtlane::plan::{BufferSharing, Forwarding, Marking};
use virtlane::routing::Routes;
use virtlane::run::{Options, Simulation};
use virtlane::scenario::{Document, Parts, Resolved};
use virtlane::traffic::SizeDistribution;

/// One switch with links of one cycle whose hosts send to the last one in cycle 0.
fn star(hosts: u16, flits: u16, buffer: u32, crossbar_delay: u32) -> Resolved {
    let text = format!(
        "Scenario(
            fabric: (
                topology: EdgeList(switches: 1, hosts_per_switch: {hosts}),
                link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"),
                switch: (
                    lane_capacity: \"32 flits\",
                    crossbar_delay: \"{crossbar_delay} cycles\",
                    output_lane_buffer: \"{buffer} flits\",
                ),
            ),
            routing: UpDown(),
            traffic: [(name: \"all\", pattern: Uniform, process: Saturating, size: \"{flits} flits\")],
            phases: (warmup: \"0 cycles\", measure: \"100 cycles\"),
        )"
    );
    let document = Document::parse("star.ron", &text, Path::new("")).expect("well-formed");
    let resolved = document.resolve(&Parts::registered());
    let mut resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
    let class = &mut resolved.plan.classes[0];
    let receiver = HostId(u32::from(hosts) - 1);
    class.hosts.retain(|&host| host != receiver);
    class.pattern = Arc::new(ToOne(receiver));
    class.process = Arc::new(Saturating);
    class.size = SizeDistribution::fixed(flits);
    class.service_levels = vec![SlId(0)];
    class.packets_per_host = Some(1);
    resolved
}

/// Injection and delivery cycle of every packet, in the order of delivery.
fn times(resolved: &Resolved) -> Vec<(u64, u64)> {
    let deliveries = super::deliveries(resolved, 200).into_iter();
    let mut times: Vec<_> = deliveries
        .map(|delivery| (delivery.injected, delivery.delivered))
        .collect();
    times.sort_by_key(|&(_, delivered)| delivered);
    times
}

fn delivered(resolved: &Resolved) -> Vec<u64> {
    times(resolved).into_iter().map(|times| times.1).collect()
}

/// Two inputs, a packet each for one lane, both requesting in cycle 2: t = 2, then t = H. With X + 1 flits of
/// buffer the second is there when the channel has sent the first, as without output lanes.
#[test]
fn packets_larger_than_the_buffer_pass_a_free_channel_without_a_stop() {
    for (delay, flits, buffers) in [(0, 4, 0..5), (1, 4, 2..5), (3, 4, 4..6), (3, 8, 4..9)] {
        let first = 2 + u64::from(delay) + u64::from(flits);
        let expected = [first, first + u64::from(flits)];
        assert_eq!(delivered(&star(3, flits, 0, delay)), expected);
        for buffer in buffers {
            let found = delivered(&star(3, flits, buffer, delay));
            assert_eq!(found, expected, "delay {delay}, buffer {buffer}");
        }
    }
}

/// Three inputs, a packet of 2 flits each. Buffer of 2: the lane opens for the next in the cycle after the
/// channel took the previous one: t = 2, 6, 10. Buffer of 4: the second enters beside the first in cycle 4; in cycle 6
/// the second waits and the first has a flit left, 4 - 2 - 1 < 2; the third enters in cycle 7.
#[test]
fn a_lane_opens_with_the_flits_that_leave() {
    assert_eq!(delivered(&star(4, 2, 2, 3)), [7, 11, 15]);
    assert_eq!(delivered(&star(4, 2, 4, 3)), [7, 9, 12]);
}

/// One switch, crossbar delay 1, packets of 4 flits: hosts 0 and 1 send one each to host 3, on lanes of their own, and
/// host 1 has a second one behind it, for host 2. With output lanes the crossbar grants are in cycles 2 and 3, the
/// channel grants in 3 and 7; so the packet of host 1 leaves its input in cycles 3, 4, 8, 9 with a buffer of 2 flits, in 3,
/// 4, 5, 8 with one of 3, in 3 to 6 with one of 4. Without output lanes its grant is in cycle 6.
fn crossing(buffer: u32) -> Resolved {
    let class = |host: u8, target: u8, sl: u8| {
        format!(
            "(name: \"{host} to {target}\", hosts: List([{host}]), pattern: AllTo(target: {target}),
              process: Saturating, size: \"4 flits\", sl: {sl})"
        )
    };
    let classes = [class(0, 3, 0), class(1, 3, 1), class(1, 2, 1)].join(", ");
    let text = format!(
        "Scenario(
            fabric: (
                topology: EdgeList(switches: 1, hosts_per_switch: 4),
                link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"),
                switch: (
                    lanes: 2,
                    lane_capacity: \"32 flits\",
                    crossbar_delay: \"1 cycles\",
                    output_lane_buffer: \"{buffer} flits\",
                ),
            ),
            routing: UpDown(),
            traffic: [{classes}],
            phases: (warmup: \"0 cycles\", measure: \"100 cycles\"),
        )"
    );
    let document = Document::parse("crossing.ron", &text, Path::new("")).expect("well-formed");
    let resolved = document.resolve(&Parts::registered());
    let mut resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
    for class in &mut resolved.plan.classes {
        class.packets_per_host = Some(1);
    }
    resolved
}

/// The second packet of host 1 is granted when the first has left the input, in cycle H.
#[test]
fn a_packet_that_stalls_half_way_holds_its_input() {
    for (buffer, held) in [(0, 10), (2, 10), (3, 9), (4, 7), (5, 7)] {
        let mut expected = [7, 11, held + 5];
        expected.sort_unstable();
        assert_eq!(delivered(&crossing(buffer)), expected, "buffer {buffer}");
    }
}

/// With lanes of 4 flits host 1 starts its second packet when the last slot of the first is free again.
#[test]
fn slots_of_a_stalled_packet_come_free_when_it_moves_on() {
    for (buffer, second) in [(0, 10), (2, 10), (3, 9), (4, 7), (5, 7)] {
        let mut resolved = crossing(buffer);
        resolved.plan.switch.lane_capacity = 4;
        resolved.plan.classes.truncate(2);
        resolved.plan.classes[1].packets_per_host = Some(2);
        let injected: Vec<_> = times(&resolved).into_iter().map(|times| times.0).collect();
        assert_eq!(injected, [0, 0, second], "buffer {buffer}");
    }
}

/// Both lanes always have a packet behind the crossbar, so the channel alone divides the link.
#[test]
fn weights_divide_the_link_behind_the_buffers() {
    for (buffer, size) in [(2, 2), (8, 8), (16, 8), (40, 16)] {
        let changes = [
            format!("fabric.switch.output_lane_buffer={buffer} flits"),
            format!("traffic.0.size={size} flits"),
            format!("traffic.1.size={size} flits"),
            String::from("qos.vl_arbitration.high=[(0, 64), (1, 96)]"),
            String::from("phases.measure=33000 cycles"),
        ];
        let resolved = scenario(
            "validation/vl_weights.ron",
            &changes.each_ref().map(String::as_str),
        );
        let outcome = run(&resolved);
        let found = [share(&outcome, 0), share(&outcome, 1)];
        note(&format!(
            "buffer {buffer}, packets of {size} flits: {found:.5?}"
        ));
        assert_close(found[0], 0.4, 0.004);
        assert_close(found[1], 0.6, 0.006);
    }
}

/// A random case with output lanes.
fn with_output_lanes(seed: u64) -> Case {
    let mut case = case(seed);
    case.plan.switch.output_buffer = 0;
    let mut buffer = [1, 2, 5, 16, 40][seed as usize % 5];
    if buffer < u32::from(case.plan.largest_packet()) {
        buffer = buffer.max(case.plan.switch.crossbar_delay + 1);
    }
    case.plan.switch.output_lane_buffer = buffer;
    // D65
    if case.plan.switch.forwarding == Forwarding::Wormhole {
        let largest = u32::from(case.plan.largest_packet());
        let switch = &mut case.plan.switch;
        switch.forwarding = Forwarding::CutThrough;
        switch.lane_capacity = switch.lane_capacity.max(largest);
    }
    // D37
    if let Some(Marking::InfiniBand { .. }) = case.plan.switch.marking {
        case.plan.switch.marking = Some(Marking::Requests(buffer));
    }
    case
}

pub(super) fn simulation(case: &Case, shards: usize) -> Simulation {
    let options = Options {
        shards,
        wanted: Wanted {
            deliveries: true,
            order: true,
        },
        ..Options::default()
    };
    let routes = Routes::Tables(case.routing.clone());
    Simulation::new(&case.plan, &case.graph, &routes, options).expect("threads can be started")
}

/// Every delivery in words, in the order of sources and numbers.
fn deliveries(simulation: &Simulation) -> Vec<String> {
    let records = simulation.each::<PacketRecords>();
    let all = records.flat_map(PacketRecords::deliveries);
    let mut all: Vec<_> = all.map(|delivery| format!("{delivery:?}")).collect();
    all.sort();
    all
}

#[test]
fn laws_hold_and_neither_shards_nor_visits_change_a_result() {
    let mut total = 0;
    for seed in 0..250 {
        let case = with_output_lanes(seed);
        let mut whole = simulation(&case, 1);
        check_laws(&mut whole, &case, case.cycles, &format!("case {seed}"));
        let expected = deliveries(&whole);
        total += expected.len();
        for shards in [2, 7] {
            let mut cut = simulation(&case, shards);
            check_laws(
                &mut cut,
                &case,
                case.cycles,
                &format!("case {seed}, {shards} shards"),
            );
            assert!(deliveries(&cut) == expected, "case {seed}: {shards} shards");
        }
        let visited = visited_everywhere(&case);
        assert!(
            deliveries(&visited) == expected,
            "case {seed}: a wake-up is missing, {:?}",
            case.plan.switch
        );
    }
    assert!(total > 1000, "the cases hardly deliver anything: {total}");
}

/// A run in which every output of switches is visited in every cycle: a visit without a reason changes nothing, so where the
/// results are the same none with a reason was left out.
pub(super) fn visited_everywhere(case: &Case) -> Simulation {
    let mut visited = simulation(case, 1);
    for cycle in 0..case.cycles {
        let hosts = visited.each::<Place>().map(|place| place.first_host_port);
        let outputs: Vec<_> = hosts.map(|first| (0..first.0).map(PortRow)).collect();
        for (mut calendar, outputs) in visited.each_mut::<Calendar>().zip(outputs) {
            calendar.at(cycle).wakes.extend(outputs);
        }
        visited.run_until(cycle + 1).expect("messages are readable");
    }
    visited
}

/// Runs to `end` with a look at the laws every few cycles.
pub(super) fn check_laws(simulation: &mut Simulation, case: &Case, end: u64, what: &str) {
    let switch = &case.plan.switch;
    let lanes = usize::from(switch.lane_count()).next_power_of_two();
    while simulation.now() < end {
        let next = (simulation.now() + 17).min(end);
        simulation.run_until(next).expect("there are no messages");
        let ledger = simulation.ledger(Ledger::new(case.graph.channels().len(), lanes));
        let settled = ledger.settle(switch.lane_capacity, |channel| format!("{channel:?}"));
        settled.unwrap_or_else(|law| panic!("{what}, cycle {next}: {law}\n{switch:?}"));
    }
}

#[test]
fn nothing_stays_behind() {
    for seed in 0..60 {
        let mut case = with_output_lanes(seed);
        for class in &mut case.plan.classes {
            class.packets_per_host = Some(20);
        }
        // flows without a size never end
        case.plan.flows.clear();
        // lanes that share a pool may deadlock
        case.plan.switch.sharing = BufferSharing::PerLane;
        let mut simulation = simulation(&case, 1 + seed as usize % 3);
        simulation
            .run_until(400_000)
            .expect("there are no messages");
        for pool in simulation.each::<PacketPool>() {
            assert_eq!(pool.in_use(), 0, "case {seed}");
        }
        for queues in simulation.each::<SourceQueues>() {
            assert_eq!(queues.waiting(), 0, "case {seed}");
        }
    }
}
