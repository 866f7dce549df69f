//! The reference model with queues by output, InfiniBand's marking and bounded queues of answers with wormhole switching (D78), in
//! cases computed by hand.
//!
//! A flit that starts in cycle t on a link of latency 1 may leave the switch in t + 1, a header of default delays in t + 2; a flit
//! that a switch passes in t is at its host in t + 1.

use super::control::flow;
use super::groups::{controlled, named};
use super::marking::{infiniband, marks};
use super::wormhole::{delivered, options};
use super::{backlogged, plan, star_of, timing};
use crate::reference::{Outcome, simulate};
use virtlane::ids::SlId;
use virtlane::plan::{FlowPlan, InputSpeedup, InputTurns, Plan, Queues, SwitchOptions, Victims};
use virtlane::topology::ChannelTiming;

/// Host 0 sends six flits to host 2, which pass in 2 to 7. Host 1 has four for host 2, and behind them in the same lane four for host
/// 3, which are here in 5 to 8.
const ONE_LANE: [(u32, u32, u16, u8); 3] = [(0, 2, 6, 0), (1, 2, 4, 0), (1, 3, 4, 0)];

/// In one queue the last packet is routed in 12, behind the one in front, which passes in 8 to 11: 13 to 16.
/// In a queue of its own its header requests and passes in 6, the next flit in 7. In 8 both outputs pick the input, which has accepted
/// output 3 last: output 2 in 8, 3 in 9, 2 in 10, the last flit to 3 in 11, then 2 in 12 and 13.
/// With two places both go side by side, in 8 to 11 and 6 to 9. A packet that keeps the input passes in 6 to 9, the other one in 10 to
/// 13.
#[test]
fn packets_of_one_lane_take_turns_over_a_place() {
    let one = InputSpeedup::Limited(1);
    for (queues, input_speedup, input_turns, expected) in [
        (Queues::Fifo, one, InputTurns::Flits, [8, 12, 17]),
        (Queues::Voq, one, InputTurns::Flits, [8, 14, 12]),
        (Queues::Voq, one, InputTurns::Packets, [8, 14, 10]),
        (
            Queues::Voq,
            InputSpeedup::Limited(2),
            InputTurns::Flits,
            [8, 12, 10],
        ),
        (
            Queues::Voq,
            InputSpeedup::Unlimited,
            InputTurns::Flits,
            [8, 12, 10],
        ),
    ] {
        let options = SwitchOptions {
            queues,
            input_speedup,
            input_turns,
            ..options(1, 32)
        };
        let times = delivered(&star_of(&[timing(1, 1); 4], 1), &ONE_LANE, options);
        assert_eq!(
            times, expected,
            "{queues:?} {input_speedup:?} {input_turns:?}"
        );
    }
}

/// The queues share the slots of the lane. With six of them host 1 starts six flits in 0 to 5. Those that leave in 6 and 7 give their
/// credits back in 7 and 8, in which the last two start, to be here in 8 and 9, before their turns in 9 and 11: as with more room.
/// With four slots the packet for host 2 has all of them until its first flit passes in 8. The header behind it starts in 9 and
/// requests in 11, when the other packet has passed 8, 9 and 10: output 3 is next, then output 2 for the last flit in 12, and the rest
/// goes in 13, 14 and 15.
#[test]
fn queues_share_the_slots_of_their_lane() {
    let of = |lane_capacity| SwitchOptions {
        queues: Queues::Voq,
        ..options(1, lane_capacity)
    };
    let network = star_of(&[timing(1, 1); 4], 1);
    assert_eq!(delivered(&network, &ONE_LANE, of(6)), [8, 14, 12]);
    assert_eq!(delivered(&network, &ONE_LANE, of(4)), [8, 13, 16]);
}

/// Host 0 sends two flits each to hosts 1, 2 and 1. Headers may leave in 1, 3 and 5, with a delay of flits of two cycles in 3, 5 and 7.
/// A routing delay of three cycles counts from then: the first two pass in 4, 5 and 6, 7. The third is routed from 6 on, when it is
/// the first of its queue, and passes in 9 and 10. With the delay of flits 6, 7 and 8, 9, then routed from 8 on: 11, 12.
/// In one queue each is routed behind the one before it: 4, 5, then from 6 on 9, 10, from 11 on 14, 15.
#[test]
fn a_header_is_routed_when_it_is_the_first_of_its_queue() {
    let network = star_of(&[timing(1, 1); 3], 1);
    let packets = [(0, 1, 2, 0), (0, 2, 2, 0), (0, 1, 2, 0)];
    for (queues, routing_delay, allocation_delay, expected) in [
        (Queues::Voq, 0, 0, [3, 5, 7]),
        (Queues::Fifo, 3, 0, [6, 11, 16]),
        (Queues::Voq, 3, 0, [6, 8, 11]),
        (Queues::Voq, 3, 2, [8, 10, 13]),
    ] {
        let options = SwitchOptions {
            queues,
            routing_delay,
            allocation_delay,
            ..options(1, 32)
        };
        let times = delivered(&network, &packets, options);
        assert_eq!(
            times, expected,
            "{queues:?} {routing_delay} {allocation_delay}"
        );
    }
}

/// Marks of three packets each from hosts 0 and 1 to host 2 on a link of this pace, without a routing delay.
fn marked(size: u16, pace: u32, victims: Victims) -> String {
    let mut links: [ChannelTiming; 3] = [timing(1, 1); 3];
    links[2] = timing(pace, 1);
    let (graph, tables) = star_of(&links, 1);
    let mut class = backlogged(&[0, 1], 2, size, 0);
    class.packets_per_host = Some(3);
    let options = SwitchOptions {
        routing_delay: 0,
        allocation_delay: 1,
        marking: Some(infiniband(15, victims)),
        ..options(1, 32)
    };
    marks(&simulate(&plan(vec![class], options), &graph, &tables, 200))
}

/// Flits of packets of four pass in 2 to 25, the headers in 2, 6, 10, 14, 18 and 22. Before the first flit the output has idled for two
/// cycles, 16 eighths; each flit takes one: after those of the headers there are 15, 11, 7, 3 and 0 left. F is two flits: a whole packet
/// waits at each header but the last.
/// On a channel of three cycles packets of two pass in 2, 5, 8 and so on, headers in 2, 8, 14, 20, 26 and 32, each flit for three
/// eighths: 13, 7, 1, 0 and 0 are left.
#[test]
fn idle_time_is_counted_in_eighths() {
    assert_eq!(marked(4, 1, Victims::All), "mmmmm-");
    assert_eq!(marked(4, 1, Victims::None), "----m-");
    assert_eq!(marked(2, 3, Victims::All), "mmmmm-");
    assert_eq!(marked(2, 3, Victims::None), "---mm-");
}

/// Requests of four flits, and room for the answers to so many of them at each host; an answer is made 20 cycles after its request.
fn requests(queue: u32, outstanding: u32, flows: Vec<FlowPlan>) -> Plan {
    let arguments = format!("(outstanding: {outstanding}, server: \"20 cycles\")");
    let mut plan = controlled(named("RequestReply", &arguments), flows);
    let control = plan.classes[0].control.as_mut();
    control.expect("a class with control").queue = Some(queue);
    plan.switch = options(2, 32);
    plan
}

fn run(plan: &Plan, cycles: u64) -> Outcome {
    let (graph, tables) = star_of(&[timing(1, 1); 3], 2);
    simulate(plan, &graph, &tables, cycles)
}

/// Delivery cycles of requests.
fn served(outcome: &Outcome) -> Vec<u64> {
    let requests = outcome.deliveries.iter().filter(|d| d.class == 0);
    let mut cycles: Vec<u64> = requests.map(|delivery| delivery.delivered).collect();
    cycles.sort_unstable();
    cycles
}

/// Requests pass in 2 to 5, 7 to 10 and 12 to 15, and are at their host a cycle later. The first flit of the second one is there in 8,
/// and held until the answer to the first has started in 26: it is taken in 27, the others in 28 to 30. The third is held from 31 to
/// 50, the fourth from 55 on.
#[test]
fn a_first_flit_without_room_is_held() {
    let plan = requests(1, 3, vec![flow(0, 1)]);
    let outcome = run(&plan, 60);
    assert_eq!(served(&outcome), [6, 30, 54]);
    assert_eq!(outcome.held, 19 + 20 + 5);
    assert_eq!(run(&plan, 12).held, 4);
}

/// The flits of two requests pass in turn, those on lane 0 in 2, 4, 6 and 8, those on lane 1 in 3, 5, 7 and 9. That on lane 0 has the
/// only place from 3 on. In 4 lane 1 is passed by, and in 5, 7 and 9 as well, where lane 0 goes on; in 4, 6, 8 and from 10 to 29, when
/// the answer made in 29 starts, nothing else is there. Then lane 1 goes in 30 to 33.
/// With two places all flits are taken as they come.
#[test]
fn a_lane_without_room_is_passed_by_and_one_that_has_begun_goes_on() {
    let flows = [(0, 0), (2, 1)].map(|(source, level)| FlowPlan {
        level: SlId(level),
        ..flow(source, 1)
    });
    for (queue, expected, held) in [(1, [9, 33], 3 + 20), (2, [9, 10], 0)] {
        let mut plan = requests(queue, 1, flows.to_vec());
        plan.classes[0].service_levels = vec![SlId(0), SlId(1)];
        let outcome = run(&plan, 34);
        assert_eq!(served(&outcome), expected, "{queue}");
        assert_eq!(outcome.held, held, "{queue}");
    }
}
