//! A control network beside the data network (D49).

use super::Probes;
use super::content::Content;
use crate::control::{Agent, Algorithm};
use crate::cycle::mechanisms::own_routes::OwnRoutes;
use crate::cycle::state::{Forwarding, Mail, Outbox};
use crate::fabric::rows::PortRow;
use crate::plan::OutOfBand;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// A control packet out of band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Parcel {
    /// Its flow (global id).
    pub(super) flow: u32,
    /// Host it goes to (global id).
    pub(super) destination: u32,
    /// Creation cycle.
    pub(super) created: u64,
    /// Place on a route of its own, `NONE` where it goes by the tables.
    pub(super) place: u32,
    pub(super) content: Content,
}

/// What happens to a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Step {
    /// Its service ends at an output.
    Served,
    /// It has come by an input and joins the queue of an output of the switch.
    Joins,
    /// It is delivered to a host.
    Delivered,
}

/// Cycle, what happens, at which port; no two are alike in these.
type Event = (u64, Step, PortRow, Parcel);

/// Far end of a port's channel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Far {
    /// A host.
    Host,
    /// An input of a switch of this shard.
    Switch(PortRow),
    /// An input of a switch of another shard.
    Border(u32, PortRow),
}

/// A port, as control networks see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Station {
    pub(super) to: Far,
    /// Row of the forwarding table for what comes in here.
    pub(super) table_row: u32,
    /// First port of the switch.
    pub(super) first: PortRow,
}

/// The control packets of a class that are under way, and what was counted of them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Network {
    /// End of the last service, by port row.
    free: Vec<u64>,
    events: BinaryHeap<Reverse<Event>>,
    /// Delivered in this cycle.
    #[serde(skip)]
    pub(super) delivered: Vec<Parcel>,
    /// Created, since cycle 0.
    pub(super) created: u64,
    /// Delivered, since cycle 0.
    pub(super) received: u64,
    /// Sum of the times from creation to delivery \[cycles\].
    pub(super) latency: u64,
    /// Longest of them \[cycles\].
    pub(super) longest: u64,
}

/// What leads parcels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leads<'a> {
    pub(super) tables: &'a Forwarding,
    pub(super) own_routes: Option<&'a OwnRoutes>,
}

/// What a network works with.
struct Site<'a> {
    now: u64,
    times: OutOfBand,
    stations: &'a [Station],
    algorithm: &'a Algorithm,
    agents: &'a mut [Agent],
    visits: &'a mut u64,
}

impl Network {
    /// One with so many ports.
    pub(super) fn new(ports: usize) -> Self {
        Self {
            free: vec![0; ports],
            ..Self::default()
        }
    }

    /// First cycle in which something happens.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.events.peek().map_or(u64::MAX, |Reverse((at, ..))| *at)
    }

    /// Parcels under way in the shard.
    pub(super) fn under_way(&self) -> u64 {
        self.events.len() as u64
    }

    /// A parcel is created at a host; `service`: from its joining to the end of its service if nothing is ahead.
    pub(super) fn create(&mut self, port: PortRow, service: Range<u64>, parcel: Parcel) {
        self.created += 1;
        self.serve(port, service, parcel);
    }

    /// A parcel will join a queue of the switch that it comes to by the input of a port.
    pub(super) fn join(&mut self, at: u64, port: PortRow, parcel: Parcel) {
        self.events.push(Reverse((at, Step::Joins, port, parcel)));
    }

    fn serve(&mut self, port: PortRow, service: Range<u64>, parcel: Parcel) {
        let free = &mut self.free[port.0 as usize];
        *free = service.start.max(*free) + (service.end - service.start);
        let event = (*free, Step::Served, port, parcel);
        self.events.push(Reverse(event));
    }

    /// Its service at an output ends: the visit, and on to the next queue or the host.
    fn leave(&mut self, site: &mut Site<'_>, port: PortRow, mut parcel: Parcel) -> Option<Leaves> {
        if parcel.content.visits {
            let agent = &mut site.agents[port.0 as usize];
            let payload = &mut parcel.content.payload;
            site.algorithm.visit(agent, site.now, payload);
            *site.visits += 1;
        }
        match site.stations[port.0 as usize].to {
            Far::Host => {
                let at = site.now + u64::from(site.times.propagation);
                self.events
                    .push(Reverse((at, Step::Delivered, port, parcel)));
            }
            Far::Switch(input) => self.join(site.now + site.times.hop(), input, parcel),
            Far::Border(shard, port) => {
                let at = site.now + site.times.hop();
                return Some(Leaves {
                    shard,
                    at,
                    port,
                    parcel,
                });
            }
        }
        None
    }

    /// It joins the queue of the output that its route or the tables give.
    fn enter(&mut self, site: &Site<'_>, leads: Leads<'_>, input: PortRow, mut parcel: Parcel) {
        let station = site.stations[input.0 as usize];
        let tables = leads.tables;
        let own = leads.own_routes;
        parcel.place = own.map_or(parcel.place, |routes| routes.behind(parcel.place));
        let output = own.and_then(|routes| routes.output_at(parcel.place));
        let output = output.unwrap_or_else(|| {
            let row = station.table_row as usize * tables.host_count;
            tables.next[row + parcel.destination as usize]
        });
        let out = station.first.plus(output.into());
        let mut time = u64::from(site.times.serialisation);
        if parcel.content.visits {
            time += u64::from(site.times.processing);
        }
        self.serve(out, site.now..site.now + time, parcel);
    }

    fn deliver(&mut self, now: u64, parcel: Parcel) {
        let latency = now - parcel.created;
        self.received += 1;
        self.latency += latency;
        self.longest = self.longest.max(latency);
        self.delivered.push(parcel);
    }
}

/// A parcel for another shard.
struct Leaves {
    shard: u32,
    at: u64,
    port: PortRow,
    parcel: Parcel,
}

impl Probes {
    /// What happens out of band in cycle `now`.
    pub(super) fn run_networks(&mut self, now: u64, leads: Leads<'_>, outbox: &mut Outbox) {
        let given = &self.given;
        for (number, network) in self.networks.iter_mut().enumerate() {
            let (Some(times), Some(algorithm)) = (given.times[number], &given.algorithms[number])
            else {
                continue;
            };
            let mut site = Site {
                now,
                times,
                stations: &given.stations,
                algorithm,
                agents: &mut self.agents[number],
                visits: &mut self.visits,
            };
            while network.next() <= now {
                let Some(Reverse((_, step, port, parcel))) = network.events.pop() else {
                    break;
                };
                match step {
                    Step::Joins => network.enter(&site, leads, port, parcel),
                    Step::Delivered => network.deliver(now, parcel),
                    Step::Served => {
                        if let Some(left) = network.leave(&mut site, port, parcel) {
                            outbox.0[left.shard as usize].push(Mail::Parcel {
                                network: number as u16,
                                port: left.port,
                                at: left.at,
                                parcel: left.parcel,
                            });
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::content::Kind;
    use super::*;
    use crate::control::erratic::Erratic;
    use crate::control::probe::Place;
    use crate::fabric::components::NONE;

    const TIMES: OutOfBand = OutOfBand {
        serialisation: 3,
        routing: 10,
        processing: 6,
        propagation: 2,
    };

    /// Two switches: ports 0 (from host 0), 1 (from host 1), 2 (to port 3), then 3 and 4 (to host 2); 5 to 7 are the
    /// hosts'. Row 0 of the table is that of the first switch, row 1 that of the second, whose first port is 3.
    fn stations() -> Vec<Station> {
        let station = |to, table_row, first| Station {
            to,
            table_row,
            first: PortRow(first),
        };
        vec![
            station(Far::Host, 0, 0),
            station(Far::Host, 0, 0),
            station(Far::Switch(PortRow(3)), 0, 0),
            station(Far::Switch(PortRow(2)), 1, 3),
            station(Far::Host, 1, 3),
            station(Far::Switch(PortRow(0)), 0, 0),
            station(Far::Switch(PortRow(1)), 0, 0),
            station(Far::Switch(PortRow(4)), 0, 0),
        ]
    }

    /// Runs parcels (port of the host, flow, creation, visits) to host 2; returns (flow, delivery) in order, and the visits.
    fn run(parcels: &[(u32, u32, u64, bool)]) -> (Vec<(u32, u64)>, u64) {
        let stations = stations();
        let tables = Forwarding {
            next: vec![0, 1, 2, 0, 0, 1],
            host_count: 3,
            ..Forwarding::default()
        };
        let machines = Erratic {
            seed: 1,
            probes: 100,
            ..Erratic::default()
        };
        let algorithm = Algorithm::Erratic(machines);
        let place = Place {
            pace: 1,
            from_host: false,
            to_host: false,
        };
        let agent = algorithm.agent(place).expect("it probes");
        let mut probes = Probes {
            networks: vec![Network::new(stations.len())],
            agents: vec![vec![agent; stations.len()]],
            ..Probes::default()
        };
        probes.given.times = vec![Some(TIMES)];
        probes.given.algorithms = vec![Some(algorithm)];
        probes.given.stations = stations;
        let leads = Leads {
            tables: &tables,
            own_routes: None,
        };
        let (mut delivered, mut outbox) = (Vec::new(), Outbox::default());
        for now in 0..200 {
            probes.run_networks(now, leads, &mut outbox);
            let arrived = probes.networks[0].delivered.drain(..);
            delivered.extend(arrived.map(|parcel| (parcel.flow, now)));
            for &(port, flow, created, visits) in parcels.iter().filter(|parcel| parcel.2 == now) {
                let content = Content {
                    kind: if visits { Kind::Probe } else { Kind::Reply },
                    visits,
                    payload: [flow; 4],
                };
                let parcel = Parcel {
                    flow,
                    destination: 2,
                    created,
                    place: NONE,
                    content,
                };
                let service = now..now + u64::from(TIMES.serialisation);
                probes.networks[0].create(PortRow(port), service, parcel);
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
}
