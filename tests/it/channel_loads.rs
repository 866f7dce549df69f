//! Loads of channels (D22): a flit counts in the cycle in which it crosses, also where its packet was granted before an edge
//! of a window, in every cycle of random cases and by hand.

use crate::random_fabric::{Case, adaptive_case, case, shipped_case};
use crate::reference::Retry;
use crate::runs::{resolve, run};
use std::collections::VecDeque;
use virtlane::cycle::Columns;
use virtlane::cycle::Inspect;
use virtlane::cycle::ledger::Channels;
use virtlane::ids::{ChannelId, HostId};
use virtlane::plan::Plan;
use virtlane::report::RunResult;
use virtlane::routing::Routes;
use virtlane::run::inspect::crossed;
use virtlane::run::{Options, Simulation};
use virtlane::scenario::Resolved;
use virtlane::topology::Graph;

/// Flits granted to all lanes, `[channel * lanes + lane]`.
struct Granted<'a> {
    channels: &'a [Vec<ChannelId>],
    shard: usize,
    lanes: usize,
    flits: Vec<u64>,
}

impl Inspect for Granted<'_> {
    fn look(&mut self, view: &dyn Columns) {
        let numbering = view.shared().numbering;
        for (port, channel) in Channels::new(&self.channels[self.shard]).enumerate() {
            for lane in 0..self.lanes {
                let sent = view.sent(numbering.lane(port, lane as u32));
                self.flits[channel.index() * self.lanes + lane] = sent.into();
            }
        }
        self.shard += 1;
    }
}

fn granted(simulation: &Simulation, channels: usize, lanes: usize) -> Vec<u64> {
    let mut all = Granted {
        channels: simulation.port_channels(),
        shard: 0,
        lanes,
        flits: vec![0; channels * lanes],
    };
    simulation.inspect(&mut all);
    all.flits
}

/// What was seen of edges in the middle of something.
#[derive(Debug, Default)]
struct Seen {
    packets: u64,
    /// A packet of several flits over a channel of several cycles per flit.
    slow: u64,
    /// Packets of several lanes booked ahead in an output buffer.
    booked: u64,
    /// Behind output lanes.
    behind_lanes: u64,
    /// Of VL15, without an output buffer.
    management: u64,
    /// With a delay of the crossbar and a buffer behind it.
    delayed: u64,
    /// Transmissions that were repeated.
    repeats: u64,
    resumed: u64,
}

/// The rule, flit by flit: when the flits of grants cross.
struct Recount<'a> {
    plan: &'a Plan,
    graph: &'a Graph,
    lanes: usize,
    /// Cycle and lane of flits that have not crossed, by channel.
    coming: Vec<VecDeque<(u64, usize)>>,
    /// First cycle in which the channel behind an output buffer is free, the crossbar's delay included.
    free: Vec<u64>,
    /// What channels repeat.
    retries: Vec<Option<Retry>>,
    /// Flits that have crossed, `[channel * lanes + lane]`.
    crossed: Vec<u64>,
}

impl Recount<'_> {
    /// A channel was granted so many flits of a lane in cycle `now`.
    fn grant(&mut self, (channel, lane): (usize, usize), now: u64, flits: u64, seen: &mut Seen) {
        let ends = self.graph.channel(ChannelId::from(channel));
        let pace = u64::from(ends.timing.cycles_per_flit);
        let delay = u64::from(self.plan.switch.crossbar_delay);
        let retry = self.retries[channel].as_mut();
        let (repeats, behind) = retry.map_or((0, 0), |retry| retry.transmit(flits as u16));
        seen.repeats += repeats;
        let first = if ends.from.switch().is_some() && self.plan.switch.output_buffer > 0 {
            let first = now.max(self.free[channel].saturating_sub(delay));
            self.free[channel] = (now + delay).max(self.free[channel]) + flits * pace + behind;
            first
        } else {
            now
        };
        let coming = &mut self.coming[channel];
        let room = coming.back().is_none_or(|&(last, _)| last + pace <= first);
        assert!(room, "two flits cross channel {channel} at once");
        coming.extend((0..flits).map(|flit| (first + flit * pace, lane)));
    }

    /// Cycle `now` begins: what has crossed before it.
    fn pass(&mut self, now: u64, seen: &mut Seen) -> &[u64] {
        for (channel, coming) in self.coming.iter_mut().enumerate() {
            while let Some(&(cycle, lane)) = coming.front()
                && cycle < now
            {
                self.crossed[channel * self.lanes + lane] += 1;
                coming.pop_front();
            }
            let (Some(first), Some(last)) = (coming.front(), coming.back()) else {
                continue;
            };
            let ends = self.graph.channel(ChannelId::from(channel));
            let (switch, at_switch) = (&self.plan.switch, ends.from.switch().is_some());
            let buffered = at_switch && switch.output_buffer > 0;
            let several = coming.iter().any(|flit| flit.1 != last.1);
            seen.packets += 1;
            seen.slow += u64::from(ends.timing.cycles_per_flit > 1);
            seen.booked += u64::from(buffered && several);
            seen.delayed += u64::from(buffered && switch.crossbar_delay > 0);
            seen.behind_lanes += u64::from(at_switch && switch.output_lane_buffer > 0);
            let is_managed = switch.management_lane && first.1 + 1 == self.lanes;
            seen.management += u64::from(!buffered && is_managed);
        }
        &self.crossed
    }
}

/// A case, cycle by cycle, stopped and gone on with where it is drawn: what has crossed is what the rule says of the grants.
fn follow<R>(case: &Case<R>, routes: &Routes, seen: &mut Seen) {
    let (plan, graph) = (&case.plan, &case.graph);
    let lanes = usize::from(plan.switch.lane_count());
    let channels = graph.channels().len();
    let options = || Options {
        shards: case.way.shards,
        ..Options::default()
    };
    let new = || Simulation::new(plan, graph, routes, options()).expect("it can be built");
    let mut simulation = new();
    let mut recount = Recount {
        plan,
        graph,
        lanes,
        coming: vec![VecDeque::new(); channels],
        free: vec![0; channels],
        retries: (graph.channel_ids())
            .map(|channel| Retry::new(plan, graph, channel))
            .collect(),
        crossed: vec![0; channels * lanes],
    };
    let mut before = vec![0; channels * lanes];
    for now in 1..=case.cycles.min(400) {
        simulation.run_until(now).expect("it runs");
        if case.way.resume.is_some_and(|(cycle, _)| cycle == now) {
            let states = simulation.save().expect("it can be saved");
            simulation = new();
            let restored = simulation.restore(now, &states, false);
            restored.expect("it fits");
            seen.resumed += 1;
        }
        let after = granted(&simulation, channels, lanes);
        for (row, (before, after)) in before.iter().zip(&after).enumerate() {
            if after > before {
                let place = (row / lanes, row % lanes);
                recount.grant(place, now - 1, after - before, seen);
            }
        }
        let found = crossed(&simulation, lanes, after.clone());
        let expected = recount.pass(now, seen);
        assert_eq!(found, expected, "{}, before cycle {now}", plan.title);
        before = after;
    }
    // what was granted has crossed or is coming
    let coming: usize = recount.coming.iter().map(VecDeque::len).sum();
    let (granted, crossed): (u64, u64) = (before.iter().sum(), recount.crossed.iter().sum());
    assert_eq!(granted, crossed + coming as u64);
}

#[test]
fn flits_count_in_the_cycle_in_which_they_cross() {
    let mut seen = Seen::default();
    for seed in 0..500 {
        let case = case(seed);
        let routes = Routes::Tables(case.routing.clone());
        follow(&case, &routes, &mut seen);
    }
    for seed in 0..100 {
        let case = adaptive_case(seed);
        follow(&case, &case.routing.routes(), &mut seen);
    }
    for seed in 0..100 {
        let case = shipped_case(seed);
        follow(&case, &case.routing, &mut seen);
    }
    let all = [
        seen.packets,
        seen.slow,
        seen.booked,
        seen.behind_lanes,
        seen.management,
        seen.delayed,
        seen.repeats,
        seen.resumed,
    ];
    assert!(all.iter().all(|&count| count > 100), "{seen:?}");
}

fn result(resolved: &Resolved) -> RunResult {
    RunResult::new(resolved, run(resolved, [1, 1]), String::new())
}

/// One switch whose first three hosts send a packet of four flits each to the fourth in cycle 0, 20, 40 and so on; the second
/// of them on lane 1.
const MEETING: &str = r#"Scenario(
    title: "meeting", seed: 1,
    fabric: (topology: EdgeList(switches: 1, hosts_per_switch: 4), flit: "64 B",
             link: (rate: "10 Gbit/s", latency: "1 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits", routing_delay: "1 cycles", crossbar_delay: "3 cycles")),
    routing: UpDown(),
    traffic: [
        (name: "a", pattern: Pairs([(0, 3)]), process: ConstantRate(load: 0.2, phase: Zero), size: "256 B", sl: 0),
        (name: "b", pattern: Pairs([(1, 3)]), process: ConstantRate(load: 0.2, phase: Zero), size: "256 B", sl: 1),
        (name: "c", pattern: Pairs([(2, 3)]), process: ConstantRate(load: 0.2, phase: Zero), size: "256 B", sl: 0),
    ],
    phases: (warmup: "20 cycles", measure: "20 cycles"),
)"#;

/// Cycles in which flits of each lane of the output to host 3 cross, modulo 20.
fn crossings(firsts: [&[u64]; 2], pace: u64) -> [Vec<u64>; 2] {
    let all = |&first: &u64| (0..4).map(move |flit| first + flit * pace);
    firsts.map(|firsts| firsts.iter().flat_map(all).collect())
}

/// The lanes of a channel in windows with every edge.
fn assert_crossings(
    text: &str,
    changes: &[&str],
    period: u64,
    channel: impl Fn(&Graph) -> ChannelId,
    expected: &[Vec<u64>; 2],
) {
    for edge in period..2 * period {
        for length in [1, 3, period / 2 + 1, period + 5] {
            let edges = [
                format!("phases.warmup={edge} cycles"),
                format!("phases.measure={length} cycles"),
            ];
            let mut all = changes.to_vec();
            all.extend(edges.iter().map(String::as_str));
            let resolved = resolve(text, &all);
            let channel = channel(&resolved.layout.graph);
            let run = result(&resolved);
            let found = run.records.channels.lanes(channel);
            let window = edge..edge + length;
            let expected = expected.each_ref().map(|cycles| {
                let each = |cycle: u64| (0..5).map(move |turn| cycle + turn * period);
                let all = cycles.iter().flat_map(|&cycle| each(cycle));
                all.filter(|cycle| window.contains(cycle)).count() as u64
            });
            assert_eq!(found, expected, "{changes:?}, {window:?}");
        }
    }
}

fn to_host_3(graph: &Graph) -> ChannelId {
    graph.host_channel(HostId(3)).reverse()
}

/// The three headers arrive in cycle 1 and request in cycle 2. Without a buffer the grants are at 2, 6 and 10. With a buffer of 8
/// flits they are at 2, 3 and 5 (13 - 8, where the channel is free at 9, then at 13): flits cross from 2, 6 and 10 on, the delay
/// of 3 left out. With output lanes the crossbar grants at 2, 3 and 6, the channel at 5, 9 and 13.
#[test]
fn edges_in_the_middle_of_packets_at_pace_1() {
    let back_to_back = crossings([&[2, 10], &[6]], 1);
    for changes in [
        &[][..],
        &["fabric.switch.crossbar_delay=0 cycles"],
        &["fabric.switch.output_buffer=8 flits"],
        &[
            "fabric.switch.output_buffer=16 flits",
            "fabric.switch.crossbar_delay=0 cycles",
        ],
    ] {
        assert_crossings(MEETING, changes, 20, to_host_3, &back_to_back);
    }
    let lanes = ["fabric.switch.output_lane_buffer=8 flits"];
    assert_crossings(
        MEETING,
        &lanes,
        20,
        to_host_3,
        &crossings([&[5, 13], &[9]], 1),
    );
    let of_a_host = |graph: &Graph| graph.host_channel(HostId(0));
    assert_crossings(MEETING, &[], 20, of_a_host, &crossings([&[0], &[]], 1));
}

/// Links of hosts of half the reference rate: packets every 40 cycles, requests at 2; a packet takes 8 cycles. With a buffer of 8
/// flits, 16 cycles of the channel, grants are at 2, 3 and 5, and flits cross from 2, 10 and 18 on.
#[test]
fn edges_in_the_middle_of_packets_at_pace_2() {
    let slow = ["fabric.host_link=(rate: \"5 Gbit/s\", latency: \"1 cycles\")"];
    let buffered = [slow[0], "fabric.switch.output_buffer=8 flits"];
    let expected = crossings([&[2, 18], &[10]], 2);
    for changes in [&slow[..], &buffered] {
        assert_crossings(MEETING, changes, 40, to_host_3, &expected);
    }
    let of_a_host = |graph: &Graph| graph.host_channel(HostId(0));
    assert_crossings(MEETING, &slow, 40, of_a_host, &crossings([&[0], &[]], 2));
}

/// VL15, the last lane, goes first at the host: its packet crosses the host's channel from 0 on, the other from 4 on; the
/// switch grants them at 2 and 6.
#[test]
fn edges_in_the_middle_of_packets_of_vl15() {
    let text = r#"Scenario(
        title: "management", seed: 1,
        fabric: (topology: EdgeList(switches: 1, hosts_per_switch: 2), flit: "64 B",
                 link: (rate: "10 Gbit/s", latency: "1 cycles"),
                 switch: (lanes: 1, lane_capacity: "32 flits", routing_delay: "1 cycles")),
        qos: (management_lane: true),
        routing: UpDown(),
        traffic: [
            (name: "data", pattern: Pairs([(0, 1)]), process: ConstantRate(load: 0.2, phase: Zero), size: "256 B", sl: 0),
            (name: "manage", pattern: Pairs([(0, 1)]), process: ConstantRate(load: 0.2, phase: Zero), size: "256 B",
             sl: Management),
        ],
        phases: (warmup: "20 cycles", measure: "20 cycles"),
    )"#;
    let of_the_host = |graph: &Graph| graph.host_channel(HostId(0));
    assert_crossings(text, &[], 20, of_the_host, &crossings([&[4], &[0]], 1));
    let of_the_switch = |graph: &Graph| graph.host_channel(HostId(1)).reverse();
    assert_crossings(text, &[], 20, of_the_switch, &crossings([&[6], &[2]], 1));
}

/// Hosts that always have a packet send to one: its channel is busy all the time, in a window of no whole number of packets too,
/// and no channel more than that.
#[test]
fn no_channel_is_busy_for_more_than_the_time() {
    const FULL: &str = r#"Scenario(
        title: "full", seed: 1,
        fabric: (topology: Star(leaves: 3, hosts_per_leaf: 2), flit: "64 B",
                 link: (rate: "400 Gbit/s", latency: "20 ns"), switch: (lanes: 2, lane_capacity: "64 KiB")),
        routing: MinHop(),
        traffic: [(name: "a", pattern: AllTo(target: 0), process: Saturating(), size: "4 KiB")],
        phases: (warmup: "1001 cycles", measure: "2002 cycles"),
    )"#;
    for change in [
        "fabric.switch.crossbar_delay=0 cycles",
        "fabric.switch.output_buffer=4 KiB",
        "fabric.switch.output_buffer=32 KiB",
        "fabric.switch.output_lane_buffer=8 KiB",
        "fabric.switch.output_lane_buffer=64 B",
        "fabric.switch.queues=Voq",
        "fabric.switch.forwarding=StoreAndForward",
        "fabric.switch.forwarding=Wormhole",
        "fabric.host_link=(rate: \"100 Gbit/s\")",
        "fabric.link.rate=100 Gbit/s",
    ] {
        let run = result(&resolve(FULL, &[change]));
        let used = |channel: usize| {
            let pace = u64::from(run.channels[channel].cycles_per_flit);
            (
                run.records.channels.flits(ChannelId::from(channel)) * pace,
                pace,
            )
        };
        for channel in 0..run.channels.len() {
            let (busy, pace) = used(channel);
            assert!(busy < 2002 + pace, "{change}: {busy} on channel {channel}");
        }
        let values = serde_json::Value::Object(virtlane::metrics::values(&run));
        let most = values.pointer("/channels/utilisation/max");
        let most = most.and_then(serde_json::Value::as_f64).expect("a number");
        assert!((0.9..=1.0).contains(&most), "{change}: {most}");
    }
}
