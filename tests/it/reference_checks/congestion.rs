//! The reference model's congestion trees (D43, D79), worked out by hand.

use super::marking::two_switches;
use super::{backlogged, plan};
use crate::reference::{Outcome, TreesSeen, simulate};
use virtlane::ids::HostId;
use virtlane::plan::{ClassPlan, Forwarding, SwitchOptions};

/// Two packets of eight flits, of hosts 0 and 1 at one switch, to host 2 at another one, whose sink takes a flit every four cycles.
fn run(options: SwitchOptions, cycles: u64) -> Outcome {
    let class = ClassPlan {
        packets_per_host: Some(1),
        ..backlogged(&[0, 1], 2, 8, 0)
    };
    let (graph, tables) = two_switches();
    let mut plan = plan(vec![class], options);
    plan.host.sink_cycles_per_flit = Some(4);
    plan.phases.measure = cycles;
    plan.observe.congestion = Some(4);
    simulate(&plan, &graph, &tables, cycles)
}

/// Size, depth and flits of trees, all of which have their root at host 2; victims, and those outside.
fn seen(looks: &[TreesSeen]) -> Vec<(u64, Vec<(usize, usize, u64)>, usize, usize)> {
    let (graph, _) = two_switches();
    let root = graph.host_channel(HostId(2)).reverse().index();
    let look = |look: &TreesSeen| {
        let trees = look.trees.iter().map(|tree| {
            assert_eq!(tree.root, (root, 0));
            (tree.size, tree.depth, tree.flits)
        });
        (look.cycle, trees.collect(), look.victims, look.outside)
    };
    looks.iter().map(look).collect()
}

/// Lanes of two flits, from which a flit may leave one cycle after it has come. The first packet passes the first switch in 2, 3, 5, 6, 8 and 11, the second one in 4, 5, 7 and 10, and the
/// channel between them has no credit after 3, 7 and 11. After 3 no header may leave the second switch. Then the packet that holds
/// the channel to the host comes from the buffer behind the other channel.
#[test]
fn a_packet_that_has_stopped_half_way_makes_a_tree() {
    let options = SwitchOptions {
        lane_capacity: 2,
        forwarding: Forwarding::Wormhole,
        routing_delay: 0,
        allocation_delay: 1,
        ..SwitchOptions::default()
    };
    let outcome = run(options, 12);
    assert_eq!(
        seen(&outcome.trees),
        [
            (4, vec![], 1, 1),
            (8, vec![(2, 2, 5 + 12)], 1, 0),
            (12, vec![(2, 2, 4 + 10)], 1, 0)
        ]
    );
}

/// Lanes of eight flits. The first packet leaves the first switch in 2 and the second one in 4, and the second one waits from 2 on;
/// it lacks credits.
#[test]
fn whole_packets_wait() {
    let options = SwitchOptions {
        lane_capacity: 8,
        ..SwitchOptions::default()
    };
    let outcome = run(options, 8);
    assert_eq!(seen(&outcome.trees), [(4, vec![], 1, 1), (8, vec![], 1, 1)]);
}
