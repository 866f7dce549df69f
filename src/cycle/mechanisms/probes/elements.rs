//! Elements of switches and hosts, and copies of broadcasts between them (D68).

use super::network::{Network, Site};
use crate::control::{Agent, Algorithm, Element, Payload};
use crate::cycle::state::parcel::{Content, Parcel};
use crate::fabric::components::NONE;
use crate::fabric::rows::{HostRow, PortRow};
use crate::plan::{Broadcast, OutOfBand};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Elements of a class in a shard; none of a class without.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Elements {
    /// Of the switches, then of the hosts.
    rows: Vec<Element>,
    /// What those of the hosts said after the last cycle.
    said: Vec<u32>,
    /// Hosts whose elements were told something in this cycle.
    #[serde(skip)]
    told: Vec<HostRow>,
}

impl Elements {
    /// Before cycle 0; of an algorithm that has them.
    pub(super) fn new(algorithm: &Algorithm, switches: usize, hosts: usize) -> Self {
        let of_hosts = [(false, switches), (true, hosts)];
        let rows = of_hosts.iter().flat_map(|&(is_host, count)| {
            let element = algorithm.element(is_host);
            element.into_iter().cycle().take(count)
        });
        let rows: Vec<Element> = rows.collect();
        let said = rows[switches..].iter();
        Self {
            said: said.map(|element| algorithm.says(element)).collect(),
            rows,
            told: Vec::new(),
        }
    }

    fn first_host(&self) -> u32 {
        (self.rows.len() - self.said.len()) as u32
    }

    /// The element in a row, which is told something.
    #[inline]
    fn of(&mut self, row: u32) -> &mut Element {
        if let Some(host) = row.checked_sub(self.first_host()) {
            self.told.push(HostRow(host));
        }
        &mut self.rows[row as usize]
    }

    /// A control packet takes the channel of an agent, which leaves the switch or host of the element in a row.
    #[inline]
    pub(super) fn visit(
        &mut self,
        algorithm: &Algorithm,
        (agent, row): (&mut Agent, u32),
        now: u64,
        payload: &mut Payload,
    ) {
        if self.rows.is_empty() {
            algorithm.visit(agent, now, payload);
        } else {
            algorithm.pass(agent, self.of(row), now, payload);
        }
    }

    /// A probe is delivered at a host; what that broadcasts.
    pub(super) fn arrive(
        &mut self,
        algorithm: &Algorithm,
        host: HostRow,
        now: u64,
        payload: Payload,
    ) -> Option<u32> {
        if self.rows.is_empty() {
            return None;
        }
        let row = self.first_host() + host.0;
        algorithm.arrive(self.of(row), now, payload)
    }

    /// Whether an element of a host may say something else than after the last cycle.
    #[inline]
    pub(super) fn may_say(&self) -> bool {
        !self.told.is_empty()
    }

    /// What the element in a row says.
    #[cfg(test)]
    pub(super) fn says(&self, algorithm: &Algorithm, row: usize) -> u32 {
        algorithm.says(&self.rows[row])
    }

    /// At the end of a cycle: calls `tell` with each host whose element says something else now, and what.
    pub(super) fn say(&mut self, algorithm: &Algorithm, mut tell: impl FnMut(HostRow, u32)) {
        let first = self.first_host();
        for host in self.told.drain(..) {
            let word = algorithm.says(&self.rows[(first + host.0) as usize]);
            let said = &mut self.said[host.0 as usize];
            if std::mem::replace(said, word) != word {
                tell(host, word);
            }
        }
    }
}

/// Copies of broadcasts in a shard, and what was counted of them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Copies {
    /// End of the last processing, by port row of the input; of a class without elements none.
    inputs: Vec<u64>,
    /// Come to the hosts with these ports in this cycle.
    #[serde(skip)]
    pub(super) at_hosts: Vec<(PortRow, Parcel)>,
    /// Joined the queue of a channel, since cycle 0.
    pub(super) joined: u64,
    /// Heard, since cycle 0.
    pub(super) heard: u64,
}

impl Copies {
    /// With so many ports.
    pub(super) fn new(ports: usize) -> Self {
        Self {
            inputs: vec![0; ports],
            ..Self::default()
        }
    }

    /// One comes to the input of a port in cycle `at`; when it is heard.
    pub(super) fn process(&mut self, (at, input): (u64, PortRow), times: OutOfBand) -> u64 {
        let free = &mut self.inputs[input.0 as usize];
        let processing = times.broadcast.map_or(0, |broadcast| broadcast.processing);
        *free = at.max(*free) + u64::from(processing);
        *free
    }
}

impl Parcel {
    /// A copy of a broadcast, which is no flow's.
    pub(super) fn copy(content: Content) -> Self {
        Self {
            flow: NONE,
            destination: NONE,
            created: 0,
            place: NONE,
            content,
        }
    }
}

impl Site<'_> {
    /// The element in a row hears a copy; whether it sends it on.
    fn hear(&mut self, row: u32, copy: &Parcel) -> bool {
        let word = copy.content.payload[0];
        let element = self.elements.of(row);
        self.algorithm.hear(element, self.now, word)
    }
}

impl Network {
    /// A copy joins the queue of a port in cycle `now`.
    pub(super) fn copy(&mut self, port: PortRow, now: u64, times: Broadcast, copy: Parcel) {
        self.copies.joined += 1;
        self.serve(port, now..now + u64::from(times.serialisation), copy);
    }

    /// A copy is heard at the switch to which it has come by the input of a port.
    pub(super) fn spread(&mut self, site: &mut Site<'_>, input: PortRow, copy: Parcel) {
        self.copies.heard += 1;
        let station = site.stations[input.0 as usize];
        let Some(times) = site.times.broadcast else {
            return;
        };
        if site.hear(station.element, &copy) {
            let outputs = station.first.0..station.end.0;
            for output in outputs.filter(|&output| output != input.0) {
                self.copy(PortRow(output), site.now, times, copy);
            }
        }
    }

    /// The copies that have come to hosts in this cycle are heard.
    pub(super) fn hear_at_hosts(&mut self, site: &mut Site<'_>) {
        self.copies.heard += self.copies.at_hosts.len() as u64;
        for (host, copy) in self.copies.at_hosts.drain(..) {
            site.hear(site.stations[host.0 as usize].element, &copy);
        }
    }

    /// Copies under way in the shard.
    pub(super) fn copies_under_way(&self) -> u64 {
        let events = self.events.iter();
        events
            .filter(|Reverse((.., parcel))| parcel.is_copy())
            .count() as u64
    }
}
