//! Cycles of control networks, worked out by hand.

use super::elements::Elements;
use super::network::{Far, Leads, Network, Station};
use super::{Probes, Way};
use crate::control::erratic::Erratic;
use crate::control::probe::Place;
use crate::control::{ALGORITHMS, Algorithm, ControlContext, Reply, WHOLE_LINK};
use crate::cycle::state::parcel::{Content, Kind, Parcel};
use crate::cycle::state::{Forwarding, Outbox, Outputs};
use crate::fabric::components::NONE;
use crate::fabric::rows::{HostRow, PortRow};
use crate::plan::{Broadcast, OutOfBand};
use crate::registry::Arguments;
use crate::routing::entries::Entries;
use crate::units::Clock;

const TIMES: OutOfBand = OutOfBand {
    serialisation: 3,
    routing: 10,
    processing: 6,
    propagation: 2,
    broadcast: None,
};

const COPIES: Broadcast = Broadcast {
    serialisation: 4,
    processing: 5,
};

/// Two switches: ports 0 (to host 0), 1 (to host 1), 2 (to port 3), then 3 and 4 (to host 2); 5 to 7 are the hosts'. Row 0
/// of the table is that of the first switch, row 1 that of the second, whose first port is 3.
fn stations() -> Vec<Station> {
    let station = |to, switch: u32| Station {
        to,
        table_start: switch,
        first: PortRow([0, 3][switch as usize]),
        end: PortRow([3, 5][switch as usize]),
        element: switch,
    };
    let host = |to, number: u32| Station {
        to: Far::Switch(PortRow(to)),
        table_start: 0,
        first: PortRow(0),
        end: PortRow(0),
        element: 2 + number,
    };
    vec![
        station(Far::Host(PortRow(5)), 0),
        station(Far::Host(PortRow(6)), 0),
        station(Far::Switch(PortRow(3)), 0),
        station(Far::Switch(PortRow(2)), 1),
        station(Far::Host(PortRow(7)), 1),
        host(0, 0),
        host(1, 1),
        host(4, 2),
    ]
}

/// The network with one class of these machines.
fn probes(algorithm: Algorithm, times: OutOfBand) -> Probes {
    let stations = stations();
    let place = Place {
        pace: 1,
        drain: 1,
        from_host: false,
        to_host: false,
    };
    let agent = algorithm.agent(place).expect("it probes");
    let elements = if algorithm.has_elements() {
        Elements::new(&algorithm, 2, 3)
    } else {
        Elements::default()
    };
    let mut probes = Probes {
        networks: vec![Network::new(stations.len(), algorithm.has_elements())],
        agents: vec![vec![agent; stations.len()]],
        elements: vec![elements],
        ..Probes::default()
    };
    probes.given.times = vec![Some(times)];
    probes.given.common = vec![0];
    probes.given.algorithms = vec![Some(algorithm)];
    probes.given.stations = stations;
    probes
}

fn tables() -> Forwarding {
    Forwarding {
        next: Outputs {
            entries: Entries::new(&[0, 1, 2, 0, 0, 1], 3),
            before: 0,
        },
        host_count: 3,
        ..Forwarding::default()
    }
}

fn content(kind: Kind, word: u32) -> Content {
    Content {
        kind,
        visits: kind == Kind::Probe,
        payload: [word; 4],
    }
}

/// A control packet of a flow to host 2.
fn packet(flow: u32, created: u64, visits: bool) -> Parcel {
    Parcel {
        flow,
        destination: 2,
        created,
        place: NONE,
        content: content(if visits { Kind::Probe } else { Kind::Reply }, flow),
    }
}

impl Probes {
    /// What happens in a cycle; returns (flow, cycle) of what is delivered.
    fn cycle(&mut self, now: u64, tables: &Forwarding) -> Vec<(u32, u64)> {
        let leads = Leads {
            tables,
            own_routes: None,
        };
        self.run_networks(now, leads, &mut Outbox::default());
        let arrived = self.networks[0].delivered.drain(..);
        arrived.map(|parcel| (parcel.flow, now)).collect()
    }

    fn create(&mut self, port: u32, parcel: Parcel) {
        let now = parcel.created;
        let service = now..now + u64::from(TIMES.serialisation);
        self.networks[0].create(PortRow(port), service, parcel);
    }
}

/// Runs parcels (port of the host, flow, creation, visits) to host 2; returns (flow, delivery) in order, and the visits.
fn run(parcels: &[(u32, u32, u64, bool)]) -> (Vec<(u32, u64)>, u64) {
    let machines = Erratic {
        seed: 1,
        probes: 100,
        ..Erratic::default()
    };
    let mut probes = probes(Algorithm::Erratic(machines), TIMES);
    let tables = tables();
    let mut delivered = Vec::new();
    for now in 0..200 {
        delivered.extend(probes.cycle(now, &tables));
        for &(port, flow, created, visits) in parcels.iter().filter(|parcel| parcel.2 == now) {
            probes.create(port, packet(flow, created, visits));
        }
    }
    let network = &probes.networks[0];
    assert_eq!(network.created, network.received + network.under_way());
    (delivered, probes.visits)
}

/// Created in 5: served at the host to 8, joins at the first switch in 20, served to 29, joins at the second in 41, served
/// to 50, delivered in 52 = 5 + s + g + 2 (r + s + p + g). Without visits 6 less at each switch.
#[test]
fn one_alone_takes_the_sum_of_its_times() {
    assert_eq!(run(&[(5, 7, 5, true)]), (vec![(7, 52)], 3));
    assert_eq!(run(&[(5, 7, 5, false)]), (vec![(7, 40)], 0));
}

/// Both join the queue of port 2 in 20: first that by port 0, served to 29, then that by port 1, served to 38; each is at
/// the second switch 12 later, where the server is free again when the second comes. In whatever order they are made.
#[test]
fn of_two_in_one_cycle_the_smaller_port_goes_first() {
    let expected = (vec![(1, 52), (2, 61)], 6);
    assert_eq!(run(&[(5, 1, 5, true), (6, 2, 5, true)]), expected);
    assert_eq!(run(&[(6, 2, 5, true), (5, 1, 5, true)]), expected);
    // a cycle later is later
    assert_eq!(
        run(&[(5, 1, 6, true), (6, 2, 5, true)]),
        (vec![(2, 52), (1, 61)], 6)
    );
}

/// Three of one host: served there to 8, 11, 14; at the first switch from 20 (to 29), 29 and 38 on.
#[test]
fn a_host_sends_in_the_order_of_creation() {
    let parcels = [(5, 3, 5, true), (5, 1, 5, true), (5, 2, 5, true)];
    assert_eq!(run(&parcels), (vec![(3, 52), (1, 61), (2, 70)], 9));
}

/// What a flood does: (cycle, element, round) of every change, copies joined and heard, deliveries of control packets.
type Flood = (Vec<(u64, usize, u32)>, [u64; 2], Vec<(u32, u64)>);

/// Rounds of DFFA that hosts (port) broadcast, wanted in 5, beside control packets (port, flow, creation). Elements 0 and 1
/// are the switches', 2 to 4 the hosts'.
fn flood(begun: &[(u32, u32)], parcels: &[(u32, u32, u64)]) -> Flood {
    let context = ControlContext {
        clock: Clock {
            flit_bytes: 64,
            reference_rate: 100_000_000_000,
        },
        smallest: 1,
        largest: 1,
        answer: 1,
        peak: None,
        link: WHOLE_LINK,
    };
    let build = ALGORITHMS.find("DffaRounds").expect("its name").build;
    let algorithm = build(Arguments { text: "()" }, context).expect("it needs nothing");
    let times = OutOfBand {
        broadcast: Some(COPIES),
        ..TIMES
    };
    let mut probes = probes(algorithm.clone(), times);
    let (tables, mut changes, mut delivered) = (tables(), Vec::new(), Vec::new());
    let mut rounds = [0; 5];
    for now in 0..200 {
        delivered.extend(probes.cycle(now, &tables));
        for &(port, word) in begun.iter().filter(|_| now == 6) {
            let copy = Parcel::copy(content(Kind::Copy, word));
            probes.networks[0].copy(PortRow(port), now, COPIES, copy);
        }
        for &(port, flow, created) in parcels.iter().filter(|parcel| parcel.2 == now) {
            probes.create(port, packet(flow, created, false));
        }
        for (element, round) in rounds.iter_mut().enumerate() {
            let says = probes.elements[0].says(&algorithm, element);
            if std::mem::replace(round, says) != says {
                changes.push((now, element, says));
            }
        }
        let network = &probes.networks[0];
        let copies = &network.copies;
        assert_eq!(copies.joined, copies.heard + network.copies_under_way());
        assert_eq!(network.created, network.received + network.under_way());
    }
    let copies = &probes.networks[0].copies;
    (changes, [copies.joined, copies.heard], delivered)
}

/// Of host 2: joins in 6, served to 10, at the input of the second switch in 22, heard in 27; on by port 3, served to 31, at
/// the first switch in 43, heard in 48; on by ports 0 and 1, served to 52, heard by their hosts in 54.
#[test]
fn a_broadcast_is_heard_everywhere_but_where_it_came_from() {
    let expected = vec![(27, 1, 1), (48, 0, 1), (54, 2, 1), (54, 3, 1)];
    assert_eq!(flood(&[(7, 1)], &[]), (expected, [4, 4], vec![]));
}

/// Of hosts 0 and 1, both heard at the first switch in 27, first that by port 0. If it is the older round, both go on: the
/// older by ports 1 and 2, the newer by 0 and 2, there served to 31 and 35, at the input of the second switch in 43 and 47,
/// where that is free again in 48: heard in 48 and 53, by host 2 in 54 and 59. Else the older one is not sent on.
#[test]
fn inputs_hear_in_the_order_of_ports_and_one_by_one() {
    let expected = vec![
        (27, 0, 2),
        (33, 2, 2),
        (33, 3, 1),
        (48, 1, 1),
        (53, 1, 2),
        (54, 4, 1),
        (59, 4, 2),
    ];
    let found = flood(&[(6, 2), (5, 1)], &[]);
    assert_eq!(found, (expected, [8, 8], vec![]));
    let expected = vec![(27, 0, 2), (33, 3, 2), (48, 1, 2), (54, 4, 2)];
    let found = flood(&[(6, 1), (5, 2)], &[]);
    assert_eq!(found, (expected, [5, 5], vec![]));
}

/// A control packet of host 0 made in 12 joins the queue of port 2 in 27, when the broadcast of host 1 is heard there, and
/// goes first: served to 30, delivered in 47. The copy is served to 34, heard at the second switch in 51, by host 2 in 57.
/// The other copy is at host 0 in 33.
#[test]
fn control_packets_join_before_copies() {
    let expected = vec![(27, 0, 1), (33, 2, 1), (51, 1, 1), (57, 4, 1)];
    let found = flood(&[(6, 1)], &[(5, 9, 12)]);
    assert_eq!(found, (expected, [4, 4], vec![(9, 47)]));
}

/// Control packets that are made in the cycle after a broadcast was wanted come behind it, whenever they were wanted.
#[test]
fn a_broadcast_begins_before_what_is_made_in_its_cycle() {
    let way = Way {
        host: HostRow(3),
        source: 0,
        destination: 1,
        flow: 0,
        class: 0,
        size: 1,
        packets: 1,
        key: 0,
        lane: 0,
    };
    let mut probes = probes(
        Algorithm::Erratic(Erratic {
            probes: 100,
            ..Erratic::default()
        }),
        TIMES,
    );
    for (now, after) in [(0, 6), (4, 2), (4, 1)] {
        let reply = Reply {
            payload: [0; 4],
            after,
            visits: false,
        };
        probes.reply(now, (&way, 0), reply);
    }
    probes.broadcast(5, &way, 7);
    assert_eq!(probes.next_due(), 5);
    let order = std::iter::from_fn(|| probes.due.pop()).map(|std::cmp::Reverse(due)| due);
    let order: Vec<_> = order.map(|due| (due.at, due.kind)).collect();
    let expected = [
        (5, Kind::Reply),
        (6, Kind::Copy),
        (6, Kind::Reply),
        (6, Kind::Reply),
    ];
    assert_eq!(order, expected);
}
