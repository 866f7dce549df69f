//! Timelines of single packets, cycle by cycle: credits, blocked hops, back-pressure.

use crate::random_fabric::Saturating;
use std::path::Path;
use std::sync::Arc;
use virtlane::measure::Delivery;
use virtlane::plan::Forwarding;
use virtlane::rng::Stream;
use virtlane::scenario::{Document, Parts, Resolved};
use virtlane::traffic::{Gap, Process, ProcessState};

/// The first packet in this cycle.
#[derive(Debug)]
struct At(u64);

impl Process for At {
    fn start(&self, _: &mut Stream) -> ProcessState {
        ProcessState::default()
    }

    fn gap(&self, _: &mut ProcessState, _: &mut Stream) -> Gap {
        Gap::After(self.0)
    }
}

/// One class: a host that sends packets of `flits` to another.
fn class(name: &str, (from, to): (u32, u32), flits: u16, sl: u8) -> String {
    format!(
        "(name: \"{name}\", hosts: List([{from}]), pattern: AllTo(target: {to}), process: Saturating,
          size: \"{flits} flits\", sl: {sl})"
    )
}

/// A scenario of these classes; `fabric` holds the topology and the switch.
fn resolve(fabric: &str, classes: &[String]) -> Resolved {
    let traffic = classes.join(", ");
    let text = format!(
        "Scenario(
            fabric: (flit: \"64 B\", {fabric}),
            routing: UpDown(),
            traffic: [{traffic}],
            phases: (warmup: \"0 cycles\", measure: \"100 cycles\"),
        )"
    );
    let document = Document::parse("timeline.ron", &text, Path::new("")).expect("well-formed");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}"))
}

/// Lets a class send one packet, made in `cycle`.
fn once(resolved: &mut Resolved, class: usize, cycle: u64) {
    let class = &mut resolved.plan.classes[class];
    class.process = Arc::new(At(cycle));
    class.packets_per_host = Some(1);
}

/// Lets a class send as fast as it can, `packets` in all.
fn backlog(resolved: &mut Resolved, class: usize, packets: Option<u64>) {
    let class = &mut resolved.plan.classes[class];
    class.process = Arc::new(Saturating);
    class.packets_per_host = packets;
}

/// All deliveries of a class, in order.
fn deliveries(resolved: &Resolved, cycles: u64, class: u16) -> Vec<Delivery> {
    let mut all = super::deliveries(resolved, cycles);
    all.retain(|packet| packet.class == class);
    all.sort_by_key(|packet| packet.sequence);
    all
}

/// Seed 000, A-05 (figure 2.4): lane 0 uses its last credit in cycle 1, gets the next in cycle 9 and stalls between them;
/// another lane has these slots. A packet of 8 flits takes all credits of lane 0; its last flit returns its credit 8 cycles
/// after it has crossed: 3 for the link, 1 in the switch, 4 back. Cycle 1 of the figure is the eighth cycle here.
#[test]
fn a_lane_without_credit_stalls_and_the_others_use_its_slots() {
    let injected = |capacity: u32| -> [Vec<u64>; 2] {
        let fabric = format!(
            "topology: EdgeList(switches: 1, hosts_per_switch: 3),
             link: (rate: \"10 Gbit/s\", latency: \"3 cycles\"),
             switch: (lanes: 2, lane_capacity: \"{capacity} flits\", credit_latency: \"4 cycles\")"
        );
        let classes = [class("lane 0", (0, 1), 8, 0), class("lane 1", (0, 2), 1, 1)];
        let mut resolved = resolve(&fabric, &classes);
        backlog(&mut resolved, 0, Some(4));
        backlog(&mut resolved, 1, None);
        [0, 1].map(|class| {
            let packets = deliveries(&resolved, 100, class);
            let started = packets.iter().map(|packet| packet.injected);
            started.filter(|&cycle| cycle < 45).collect()
        })
    };
    let of_the_other =
        |free: [u64; 3]| -> Vec<u64> { free.iter().flat_map(|&first| first..first + 7).collect() };
    // cycle 7 is the figure's cycle 1, cycle 15 its cycle 9; lane 1 sends in each of 8 to 14
    let [first, second] = injected(8);
    assert_eq!(first, [0, 15, 30]);
    assert_eq!(second, of_the_other([8, 23, 38]));
    // with credits for the way there and back nobody stalls: packets of both lanes by turns
    let [first, second] = injected(16);
    assert_eq!(first[..3], [0, 9, 18]);
    assert_eq!(second[..3], [8, 17, 26]);
}

/// A row of switches: host 0 at the first sends to host 1 at the last. At every switch one host sends one packet over the
/// output that this packet needs, to a host of the next switch (at the last one to host 1).
fn row(switches: u32, latency: u64, flits: u16) -> Resolved {
    let last = switches - 1;
    let mut hosts = vec![0, last];
    let mut classes = vec![class("watched", (0, 1), flits, 0)];
    for switch in 0..switches {
        let from = hosts.len() as u32;
        hosts.push(switch);
        let to = if switch == last { 1 } else { from + 1 };
        if switch < last {
            hosts.push(switch + 1);
        }
        classes.push(class(&format!("at {switch}"), (from, to), flits, 0));
    }
    let links: Vec<_> = (0..last).map(|switch| (switch, switch + 1)).collect();
    let links = if links.is_empty() {
        "switches: 1".to_owned()
    } else {
        format!("links: {links:?}")
    };
    let fabric = format!(
        "topology: EdgeList({links}, hosts: {hosts:?}),
         link: (rate: \"10 Gbit/s\", latency: \"{latency} cycles\"),
         switch: (lane_capacity: \"128 flits\")"
    );
    resolve(&fabric, &classes)
}

/// Seed 000, A-07: a packet that every switch holds back until all of it has come is as slow with cut-through as with
/// store-and-forward. The output it needs is taken one cycle before its header asks and free again when its tail is there.
#[test]
fn cut_through_that_is_blocked_at_every_hop_is_store_and_forward() {
    const START: u64 = 10;
    for (switches, latency, flits) in [(1, 1, 2), (2, 1, 8), (3, 3, 8), (4, 1, 32), (5, 4, 17)] {
        let n = u64::from(flits);
        let delivered = |forwarding, is_blocked: bool| {
            let mut resolved = row(switches, latency, flits);
            resolved.plan.switch.forwarding = forwarding;
            once(&mut resolved, 0, START);
            for hop in 0..switches as usize {
                // the tail is at switch `hop` in time for a grant in this cycle
                let grant = START + (hop as u64 + 1) * (latency + n);
                let made = grant - n - 1 - latency;
                once(
                    &mut resolved,
                    hop + 1,
                    if is_blocked { made } else { 10_000 },
                );
            }
            let found = deliveries(&resolved, 2000, 0);
            assert_eq!(found.len(), 1);
            found[0].delivered - found[0].injected
        };
        let stored = delivered(Forwarding::StoreAndForward, false);
        let hops = u64::from(switches);
        assert_eq!(stored, (hops + 1) * latency + hops * n + n - 1);
        assert_eq!(delivered(Forwarding::CutThrough, true), stored);
        let free = delivered(Forwarding::CutThrough, false);
        assert_eq!(free, (hops + 1) * latency + hops + n - 1);
        assert!(free < stored);
        // long packets reach the last host before their tail leaves the first, or not even the next switch
        if flits == 32 {
            assert!(free - (n - 1) < n - 1);
            assert!(stored - (n - 1) > n - 1);
        }
    }
}

/// Seed 003, C7 (figure 2.3): the way of the victim is free, but a slow receiver has filled a lane on it. The victim waits
/// if it takes that lane over the link in common, and only then.
#[test]
fn a_victim_waits_only_in_the_lane_that_is_blocked() {
    // hosts 0, 1, 4 and 2, 3 at the ends of one link; the receiver needs 64 cycles per flit
    let fabric = "topology: EdgeList(links: [(0, 1)], hosts: [0, 0, 1, 1, 0]),
         link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"), host: (sink_rate: \"156.25 Mbit/s\"),
         switch: (lanes: 2, lane_capacity: \"16 flits\")";
    let latency = |to: u32, sl: u8, is_blocked: bool| {
        let classes = [class("hot", (0, 2), 16, 0), class("victim", (1, to), 1, sl)];
        let mut resolved = resolve(fabric, &classes);
        backlog(&mut resolved, 0, Some(10));
        if !is_blocked {
            once(&mut resolved, 0, 20_000);
        }
        once(&mut resolved, 1, 300);
        let found = deliveries(&resolved, 20_000, 1);
        assert_eq!(found.len(), 1);
        found[0].delivered - found[0].created
    };
    // two switches on the way to host 3, one on the way to host 4
    assert_eq!(latency(3, 0, false), 5);
    assert_eq!(latency(3, 1, true), 5);
    assert_eq!(latency(4, 0, true), 3);
    // the packet in front leaves when the receiver has taken the one before it, 15 * 64 cycles after its header came
    let delivered = 300 + latency(3, 0, true);
    assert!((965..965 + 64).contains(&delivered), "{delivered}");
}
