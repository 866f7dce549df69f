//! A control network beside the data network (D49, D68).

use super::Probes;
use super::elements::{Copies, Elements};
use crate::control::{Agent, Algorithm};
use crate::cycle::state::parcel::Parcel;
use crate::cycle::state::{Forwarding, Outbox, OwnRoutes};
use crate::fabric::rows::PortRow;
use crate::plan::OutOfBand;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// What happens to a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Step {
    /// Its service ends at an output.
    Served,
    /// It has come by an input and joins the queue of an output of the switch.
    Joins,
    /// A copy that has come by an input is heard at the switch.
    Heard,
    /// It comes to a host.
    Delivered,
}

/// Cycle, what happens, at which port; no two are alike in these.
type Event = (u64, Step, PortRow, Parcel);

/// Far end of a port's channel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Far {
    /// A host, with its port.
    Host(PortRow),
    /// An input of a switch of this shard.
    Switch(PortRow),
    /// An input of a switch of another shard.
    Border(u32, PortRow),
}

/// A port, as control networks see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Station {
    pub(super) to: Far,
    /// Start of the row of the forwarding table for what comes in here.
    pub(super) table_start: u32,
    /// Ports of the switch, from the first one to before the end.
    pub(super) first: PortRow,
    pub(super) end: PortRow,
    /// Row of the element of the switch or host, where a class has elements.
    pub(super) element: u32,
}

/// The control packets of a class that are under way, and what was counted of them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Network {
    /// End of the last service, by port row.
    free: Vec<u64>,
    pub(super) events: BinaryHeap<Reverse<Event>>,
    pub(super) copies: Copies,
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
pub(super) struct Site<'a> {
    pub(super) now: u64,
    pub(super) times: OutOfBand,
    pub(super) stations: &'a [Station],
    pub(super) algorithm: &'a Algorithm,
    pub(super) elements: &'a mut Elements,
    agents: &'a mut [Agent],
    visits: &'a mut u64,
}

impl Network {
    /// One with so many ports.
    pub(super) fn new(ports: usize, has_elements: bool) -> Self {
        Self {
            free: vec![0; ports],
            copies: Copies::new(if has_elements { ports } else { 0 }),
            ..Self::default()
        }
    }

    /// First cycle in which something happens.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.events.peek().map_or(u64::MAX, |Reverse((at, ..))| *at)
    }

    /// Control packets under way in the shard.
    pub(super) fn under_way(&self) -> u64 {
        self.events.len() as u64 - self.copies_under_way()
    }

    /// A parcel is created at a host; `service`: from its joining to the end of its service if nothing is ahead.
    pub(super) fn create(&mut self, port: PortRow, service: Range<u64>, parcel: Parcel) {
        self.created += 1;
        self.serve(port, service, parcel);
    }

    /// A parcel comes to a switch by the input of a port in cycle `at`: a control packet joins the queue of an output, a copy
    /// that of the input's server. Those of one input come in the order of cycles.
    pub(super) fn join(&mut self, times: OutOfBand, (at, port): (u64, PortRow), parcel: Parcel) {
        let (at, step) = if parcel.is_copy() {
            (self.copies.process((at, port), times), Step::Heard)
        } else {
            (at, Step::Joins)
        };
        self.events.push(Reverse((at, step, port, parcel)));
    }

    pub(super) fn serve(&mut self, port: PortRow, service: Range<u64>, parcel: Parcel) {
        let free = &mut self.free[port.0 as usize];
        *free = service.start.max(*free) + (service.end - service.start);
        let event = (*free, Step::Served, port, parcel);
        self.events.push(Reverse(event));
    }

    /// Its service at an output ends: the visit, and on to the next queue or the host.
    fn leave(&mut self, site: &mut Site<'_>, port: PortRow, mut parcel: Parcel) -> Option<Leaves> {
        if parcel.content.visits {
            let element = site.stations[port.0 as usize].element;
            let place = (&mut site.agents[port.0 as usize], element);
            let payload = &mut parcel.content.payload;
            (site.elements).visit(site.algorithm, place, site.now, payload);
            *site.visits += 1;
        }
        match site.stations[port.0 as usize].to {
            Far::Host(_) => {
                let at = site.now + u64::from(site.times.propagation);
                self.events
                    .push(Reverse((at, Step::Delivered, port, parcel)));
            }
            Far::Switch(input) => {
                let at = site.now + site.times.hop();
                self.join(site.times, (at, input), parcel);
            }
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
        let output =
            output.unwrap_or_else(|| tables.next.at(station.table_start, parcel.destination));
        let out = station.first.plus(output.into());
        let mut time = u64::from(site.times.serialisation);
        if parcel.content.visits {
            time += u64::from(site.times.processing);
        }
        self.serve(out, site.now..site.now + time, parcel);
    }

    /// It comes to the host at the far end of a port.
    fn deliver(&mut self, site: &Site<'_>, port: PortRow, parcel: Parcel) {
        if let Far::Host(host) = site.stations[port.0 as usize].to
            && parcel.is_copy()
        {
            self.copies.at_hosts.push((host, parcel));
            return;
        }
        let latency = site.now - parcel.created;
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
        for number in 0..self.networks.len() {
            self.run_network(number, now, leads, outbox);
        }
        for number in 0..self.networks.len() {
            if let Some((network, mut site)) = self.network_and_site(number, now) {
                network.hear_at_hosts(&mut site);
            }
        }
    }

    /// The network of a class, if it goes out of band, and what it works with.
    fn network_and_site(&mut self, number: usize, now: u64) -> Option<(&mut Network, Site<'_>)> {
        let given = &self.given;
        let common = usize::from(given.common[number]);
        let site = Site {
            now,
            times: given.times[number]?,
            stations: &given.stations,
            algorithm: given.algorithms[number].as_ref()?,
            elements: &mut self.elements[common],
            agents: &mut self.agents[common],
            visits: &mut self.visits,
        };
        Some((&mut self.networks[number], site))
    }

    fn run_network(&mut self, number: usize, now: u64, leads: Leads<'_>, outbox: &mut Outbox) {
        let Some((network, mut site)) = self.network_and_site(number, now) else {
            return;
        };
        while network.next() <= now {
            let Some(Reverse((_, step, port, parcel))) = network.events.pop() else {
                break;
            };
            match step {
                Step::Joins => network.enter(&site, leads, port, parcel),
                Step::Heard => network.spread(&mut site, port, parcel),
                Step::Delivered => network.deliver(&site, port, parcel),
                Step::Served => {
                    if let Some(left) = network.leave(&mut site, port, parcel) {
                        let mail = outbox.of(left.shard);
                        mail.add_parcel(number as u16, (left.at, left.port), left.parcel);
                    }
                }
            }
        }
    }
}
