//! Packets of data and control packets out of band that visit in the same cycle, or are delivered in the same cycle (D69).

use super::super::probes::{Agents, SLOW};
use super::{NOTHING, Row, carrying, lets_go, machines, one_packet, started, woken};
use virtlane::control::erratic::Erratic;
use virtlane::control::{Algorithm, Arrival, Payload};

/// Machines whose packets carry, which send probes and reply to all.
fn probing_machines(seed: u64) -> Erratic {
    Erratic {
        probes: 100,
        ..machines(seed, 100)
    }
}

/// A flow of one packet whose first call sends a probe and sets no timer: its start cycle is so many after the creation of the
/// probe.
struct Together {
    machines: Erratic,
    algorithm: Algorithm,
    /// Of the probe.
    created: u64,
    probe: Payload,
    /// Of the flow.
    start: u64,
    /// What its packet carries.
    carried: Payload,
}

fn together(seeds: u64, later: u64) -> impl Iterator<Item = Together> {
    let all = (0..seeds).flat_map(|seed| (1..60).map(move |start| (seed, start)));
    all.filter_map(move |(seed, start)| {
        let machines = probing_machines(seed);
        let algorithm = Algorithm::Erratic(machines);
        let (sender, actions, timer) = started(&algorithm, 0, start);
        let next = woken(&algorithm, sender, timer);
        let probe = next.send?;
        let created = timer + probe.after;
        let goes = lets_go(&actions) && lets_go(&next) && next.timer.flatten().is_none();
        let is_first = start > timer && start == created + later;
        (goes && is_first).then(|| Together {
            machines,
            created,
            probe: probe.payload,
            start,
            carried: next.carry.or(actions.carry).unwrap_or(NOTHING),
            algorithm,
        })
    })
}

/// A probe out of band is at the agent of the host, or at that of the switch, in the cycle in which the packet takes the channel.
#[test]
fn of_one_cycle_the_control_packet_visits_first() {
    let row = Row::new(1);
    let out = row.way(0);
    let mut differ = 0;
    // 11 to be served at the host, 2 + 3 on the way, 11 + 6 at the switch
    for (channel, later) in [(0, 11), (1, 33 - 2)] {
        let mut met = 0;
        for case in together(300, later) {
            let Together { created, start, .. } = case;
            let seen = |control_first: bool| {
                let mut agents = Agents::new(&case.algorithm, &row.graph);
                let (mut probe, mut packet) = (case.probe, case.carried);
                agents.take(&out[..channel], &[created + 11][..channel], &mut probe);
                agents.take(&out[..channel], &[start][..channel], &mut packet);
                let mut both = [&mut probe, &mut packet];
                if !control_first {
                    both.reverse();
                }
                for payload in both {
                    agents.visit(out[channel], start + 2 * channel as u64, payload);
                }
                agents
            };
            met += 1;
            let agents = seen(true);
            let plan = carrying(case.machines, vec![one_packet(start)], Some(SLOW));
            let outcome = row.run(&plan, start + 2 * channel as u64 + 1);
            agents.check(&outcome);
            differ += u32::from(seen(false).state(out[channel]) != agents.state(out[channel]));
        }
        assert!(met > 5, "{channel}: {met}");
    }
    assert!(differ > 10, "{differ}");
}

/// The packet is delivered in s + 6, and in the same cycle the probe out of band that was created 35 cycles before: 11 + 2, and
/// 3 + 11 + 6 + 2. Both replies are wanted for one cycle; that to the packet is served first, and the other one behind it.
#[test]
fn the_reply_to_a_packet_comes_before_that_to_a_probe() {
    let row = Row::new(1);
    let (out, back) = (row.way(0), row.way(1)[0]);
    let mut met = [0; 3];
    for case in together(3_000, 35 - 6) {
        let mut agents = Agents::new(&case.algorithm, &row.graph);
        let (mut probe, mut packet) = (case.probe, case.carried);
        let (created, start) = (case.created, case.start);
        agents.visit(out[0], created + 11, &mut probe);
        // over the switch before the probe, which is processed there
        let delivered = row.go(&mut agents, start, &mut packet);
        agents.visit(out[1], created + 33, &mut probe);
        let mut receiver = case.algorithm.receiver();
        let arrival = Arrival {
            now: delivered,
            flits: 4,
            is_marked: false,
            latency: 6,
        };
        let first = case.algorithm.carried(&mut receiver, arrival, packet);
        let second = case.algorithm.received(&mut receiver, delivered, probe);
        let replies = [first, second].map(|reply| reply.expect("it replies to everything"));
        let after = replies[0].after;
        // what comes later is not to come between
        if replies[1].after != after || after > 5 {
            continue;
        }
        let visiting = replies.map(|reply| reply.visits);
        met[usize::from(visiting[0]) + usize::from(visiting[1])] += 1;
        let made = delivered + after;
        for (reply, served) in replies.into_iter().zip([made + 11, made + 22]) {
            let mut payload = reply.payload;
            if reply.visits {
                agents.visit(back, served, &mut payload);
            }
        }
        let plan = carrying(case.machines, vec![one_packet(start)], Some(SLOW));
        let runs = [11, 12, 22, 23].map(|later| row.run(&plan, made + later));
        let visits = runs
            .each_ref()
            .map(|outcome| outcome.control[0].visits[back.index()]);
        let [one, both] = [visiting[0], visiting[1]].map(u64::from);
        assert_eq!(visits, [0, one, one, one + both]);
        let state = &runs[3].control[0].agents[back.index()];
        assert_eq!(*state, agents.state(back));
    }
    assert!(met.iter().all(|&cases| cases > 3), "{met:?}");
}
