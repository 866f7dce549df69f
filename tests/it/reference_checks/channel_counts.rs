//! The reference model's counts of channels (D22), worked out by hand: a flit counts in the cycle in which it crosses, the
//! crossbar delay left out, and for the lane it takes there.
//!
//! Through one switch of default delays a packet that starts in cycle t may request in t + 2.

use super::{backlogged, chain, plan, star, timing};
use crate::reference::simulate;
use std::ops::Range;
use virtlane::ids::{HostId, SlId};
use virtlane::plan::{ClassPlan, Forwarding, Plan, SwitchOptions};
use virtlane::routing::Tables;
use virtlane::topology::{ChannelTiming, Graph};
use virtlane::traffic::SizeDistribution;

/// A plan on its fabric.
struct Run {
    graph: Graph,
    tables: Tables,
    plan: Plan,
}

impl Run {
    /// Flits that a channel counts in a window, by lane; the run ends behind it.
    fn sent(&self, channel: usize, window: Range<u64>) -> Vec<u64> {
        let mut plan = self.plan.clone();
        plan.phases.warmup = window.start;
        plan.phases.measure = window.end - window.start;
        let outcome = simulate(&plan, &self.graph, &self.tables, window.end);
        outcome.window.sent[channel].clone()
    }

    /// Cycles before 40 in which a lane of a channel counts a flit.
    fn cycles(&self, channel: usize, lane: usize) -> Vec<u64> {
        let counts = |cycle: &u64| {
            let flits = self.sent(channel, *cycle..*cycle + 1)[lane];
            assert!(flits <= 1, "two flits in cycle {cycle}");
            flits == 1
        };
        (0..40).filter(counts).collect()
    }

    /// Channel to a host.
    fn to(&self, host: u32) -> usize {
        self.graph.host_channel(HostId(host)).reverse().index()
    }

    /// Channel from a host.
    fn from(&self, host: u32) -> usize {
        self.graph.host_channel(HostId(host)).index()
    }
}

/// One packet of that size over a chain.
fn one(channels: &[ChannelTiming], size: u16, switch: SwitchOptions) -> Run {
    let (graph, tables) = chain(channels);
    let mut class = backlogged(&[0], 1, size, 0);
    class.packets_per_host = Some(1);
    Run {
        plan: plan(vec![class], switch),
        graph,
        tables,
    }
}

/// A packet each from hosts 0, 1, ... to the last one, host i with `sizes[i]` flits on lane `i % lanes`.
fn one_each(sizes: &[u16], last_link: ChannelTiming, switch: SwitchOptions) -> Run {
    let last = sizes.len() as u32;
    let mut links = vec![ChannelTiming::default(); sizes.len()];
    links.push(last_link);
    let (graph, tables) = super::star_of(&links, switch.lanes);
    let classes = (0..last).map(|host| {
        let lane = host as u8 % switch.lanes;
        let mut class = backlogged(&[host], last, sizes[host as usize], lane);
        class.packets_per_host = Some(1);
        class
    });
    Run {
        plan: plan(classes.collect(), switch.clone()),
        graph,
        tables,
    }
}

fn options() -> SwitchOptions {
    SwitchOptions {
        lane_capacity: 32,
        ..SwitchOptions::default()
    }
}

/// Sent in 0 and granted in 2, a flit per cycle: an edge in the middle leaves some of them on each side.
#[test]
fn an_edge_in_the_middle_of_a_packet_divides_it() {
    let run = one(&[timing(1, 1); 2], 4, options());
    assert_eq!(run.cycles(run.from(0), 0), [0, 1, 2, 3]);
    assert_eq!(run.cycles(run.to(1), 0), [2, 3, 4, 5]);
    for edge in 0..9 {
        let host = [
            run.sent(run.from(0), 0..edge),
            run.sent(run.from(0), edge..9),
        ];
        assert_eq!(host, [[edge.min(4)], [4 - edge.min(4)]]);
        let before = edge.clamp(2, 6) - 2;
        let output = [run.sent(run.to(1), 0..edge), run.sent(run.to(1), edge..9)];
        assert_eq!(output, [[before], [4 - before]]);
    }
}

/// At pace 2 a flit counts in every other cycle. From a slow to a fast channel a packet waits for 3 cycles more.
#[test]
fn flits_count_at_the_pace_of_their_channel() {
    let run = one(&[timing(2, 1); 2], 4, options());
    assert_eq!(run.cycles(run.from(0), 0), [0, 2, 4, 6]);
    assert_eq!(run.cycles(run.to(1), 0), [2, 4, 6, 8]);
    assert_eq!(run.sent(run.to(1), 3..7), [2]);
    assert_eq!(run.sent(run.to(1), 4..7), [2]);
    let run = one(&[timing(1, 1), timing(2, 1)], 4, options());
    assert_eq!(run.cycles(run.to(1), 0), [2, 4, 6, 8]);
    let run = one(&[timing(2, 1), timing(1, 1)], 4, options());
    assert_eq!(run.cycles(run.from(0), 0), [0, 2, 4, 6]);
    assert_eq!(run.cycles(run.to(1), 0), [5, 6, 7, 8]);
}

/// Two packets of 4 flits of one host, each granted behind the other: the channel is full, and no window counts more.
#[test]
fn a_busy_channel_counts_a_flit_in_every_cycle() {
    let (graph, tables) = star(2, 1);
    let classes = vec![backlogged(&[0], 1, 4, 0)];
    let run = Run {
        plan: plan(classes, options()),
        graph,
        tables,
    };
    for channel in [run.from(0), run.to(1)] {
        for start in 2..12 {
            assert_eq!(run.sent(channel, start..start + 9), [9], "from {start} on");
        }
    }
}

/// A crossbar delay of 3 moves the flits, and not their counts; a run that ends before they cross has counted them.
#[test]
fn the_crossbar_delay_is_left_out() {
    let run = |forwarding| {
        let switch = SwitchOptions {
            crossbar_delay: 3,
            forwarding,
            ..options()
        };
        one(&[timing(1, 1), timing(2, 1)], 3, switch)
    };
    let cut_through = run(Forwarding::CutThrough);
    assert_eq!(cut_through.cycles(cut_through.to(1), 0), [2, 4, 6]);
    let stored = run(Forwarding::StoreAndForward);
    assert_eq!(stored.cycles(stored.to(1), 0), [4, 6, 8]);
    // flit by flit, each as soon as its output is free
    let wormhole = run(Forwarding::Wormhole);
    assert_eq!(wormhole.cycles(wormhole.to(1), 0), [2, 4, 6]);
}

/// Room for 4 flits: granted in 2 and 3, and the second packet crosses behind the first, from 6 on. A third one is granted
/// when it may be booked 4 flits ahead, in 6, and crosses from 10 on.
#[test]
fn what_an_output_buffer_has_booked_ahead_counts_when_it_crosses() {
    let switch = SwitchOptions {
        output_buffer: 4,
        ..options()
    };
    let run = one_each(&[4, 4, 4], timing(1, 1), switch);
    assert_eq!(run.cycles(run.to(3), 0), (2..14).collect::<Vec<_>>());
    // in cycle 4 eight flits have been granted
    assert_eq!(run.sent(run.to(3), 0..4), [2]);
    assert_eq!(run.sent(run.to(3), 4..12), [8]);
}

/// Crossbar delay 3: the first packet crosses from 5 on, and counts from 2 on. The channel is free in 9 then; the second
/// one is granted in 5, is past the crossbar in 8, crosses from 9 on, and counts from 6 on.
#[test]
fn behind_an_output_buffer_the_crossbar_delay_is_left_out_too() {
    let switch = SwitchOptions {
        output_buffer: 4,
        crossbar_delay: 3,
        ..options()
    };
    let run = one_each(&[4, 4], timing(1, 1), switch.clone());
    assert_eq!(run.cycles(run.to(2), 0), (2..10).collect::<Vec<_>>());
    assert_eq!(run.sent(run.to(2), 0..5), [3]);
    // pace 2: from 5 on to 11, then, granted in 3 = 11 - 4 * 2, from 11 on
    let run = one_each(&[3, 2], timing(2, 1), switch);
    assert_eq!(run.cycles(run.to(2), 0), [2, 4, 6, 8, 10]);
}

/// A packet that finds the channel behind a buffer free in less than the crossbar delay counts from its grant on: the
/// channel is free in 7 and the packet, granted in 6, is past the crossbar in 9.
#[test]
fn a_packet_that_finds_the_channel_free_counts_from_its_grant_on() {
    let switch = SwitchOptions {
        output_buffer: 4,
        crossbar_delay: 3,
        ..options()
    };
    let mut run = one_each(&[2, 2], timing(1, 1), switch);
    // the host of the second packet sends one to another host before
    let first = ClassPlan {
        packets_per_host: Some(1),
        ..backlogged(&[1], 0, 4, 0)
    };
    run.plan.classes.insert(1, first);
    assert_eq!(run.cycles(run.from(1), 0), (0..6).collect::<Vec<_>>());
    assert_eq!(run.cycles(run.to(2), 0), [2, 3, 6, 7]);
}

/// Two lanes of a channel behind output lanes, crossbar delay 3: crossbar grants in 2 and 3, channel grants in 5 and 9, in
/// which the flits of each lane count. A lane with less room than its packet goes on from its channel grant on as well.
#[test]
fn flits_of_output_lanes_count_from_the_channel_grant_on() {
    let switch = |output_lane_buffer, crossbar_delay| SwitchOptions {
        lanes: 2,
        output_lane_buffer,
        crossbar_delay,
        ..options()
    };
    let run = one_each(&[4, 4], timing(1, 1), switch(8, 3));
    assert_eq!(run.cycles(run.to(2), 0), [5, 6, 7, 8]);
    assert_eq!(run.cycles(run.to(2), 1), [9, 10, 11, 12]);
    assert_eq!(run.sent(run.to(2), 7..11), [2, 2]);
    let run = one_each(&[6, 6], timing(1, 1), switch(2, 1));
    assert_eq!(run.cycles(run.to(2), 0), (3..9).collect::<Vec<_>>());
    assert_eq!(run.cycles(run.to(2), 1), (9..15).collect::<Vec<_>>());
    // pace 2
    let run = one_each(&[3, 2], timing(2, 1), switch(4, 0));
    assert_eq!(run.cycles(run.to(2), 0), [2, 4, 6]);
    assert_eq!(run.cycles(run.to(2), 1), [8, 10]);
}

/// VL15 goes first, on a lane of its own, and data on that of its service level.
#[test]
fn flits_count_for_their_lane() {
    let (graph, tables) = star(2, 2);
    let mut class = ClassPlan {
        service_levels: vec![SlId(1)],
        size: SizeDistribution::fixed(3),
        ..backlogged(&[0], 1, 3, 0)
    };
    class.packets_per_host = Some(1);
    let mut management = backlogged(&[0], 1, 1, 0);
    management.management = true;
    management.packets_per_host = Some(2);
    let switch = SwitchOptions {
        lanes: 2,
        management_lane: true,
        ..options()
    };
    let run = Run {
        plan: plan(vec![class, management], switch),
        graph,
        tables,
    };
    for (channel, first) in [(run.from(0), 0), (run.to(1), 2)] {
        assert_eq!(run.cycles(channel, 2), [first, first + 1]);
        assert_eq!(run.cycles(channel, 1), [first + 2, first + 3, first + 4]);
        assert!(run.cycles(channel, 0).is_empty());
    }
}
