//! One source: a traffic class at one host, with its own random streams.
//!
//! Draw order (part of the result contract): one gap from the arrivals stream; then, at creation, the
//! destination from the destinations stream, the service level and the size from the packets stream.

use super::{Gap, ProcessState};
use crate::ids::{HostId, SlId};
use crate::plan::ClassPlan;
use crate::rng::{Purpose, Stream, below, source_id, stream};
use serde::{Deserialize, Serialize};

/// A source of packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Source {
    host: HostId,
    process: u8,
    state: ProcessState,
    remaining: u64,
    created: u64,
    arrivals: Stream,
    destinations: Stream,
    packets: Stream,
}

/// A packet at the moment of its creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Creation {
    /// Where it goes.
    pub destination: HostId,
    /// Its service level.
    pub sl: SlId,
    /// Its size \[flits\].
    pub size: u16,
    /// Number of the packet within its source, from 0.
    pub sequence: u64,
}

impl Source {
    /// The source of `class` (the `class_index`-th) at `host`.
    pub fn new(seed: u64, class_index: usize, class: &ClassPlan, host: HostId) -> Self {
        let id = source_id(class_index, host.0);
        let mut arrivals = stream(seed, Purpose::Arrivals, id);
        let process = class.process_number(host);
        let state = class.numbered_process(process).start(&mut arrivals);
        Self {
            host,
            process,
            state,
            remaining: if class.pattern.sends(host) {
                class.packets_per_host.unwrap_or(u64::MAX)
            } else {
                0
            },
            created: 0,
            arrivals,
            destinations: stream(seed, Purpose::Destinations, id),
            packets: stream(seed, Purpose::Packets, id),
        }
    }

    /// When the next packet is made, counted from the previous creation (first call: from cycle 0).
    pub fn next_gap(&mut self, class: &ClassPlan) -> Gap {
        if self.remaining == 0 {
            return Gap::Never;
        }
        class
            .numbered_process(self.process)
            .gap(&mut self.state, &mut self.arrivals)
    }

    /// Makes a packet. To be called once per gap.
    pub fn create(&mut self, class: &ClassPlan) -> Option<Creation> {
        let destination = class
            .pattern
            .destination(self.host, &mut self.destinations)?;
        let sl = match class.service_levels[..] {
            [only] => only,
            ref several => several[below(&mut self.packets, several.len() as u32) as usize],
        };
        let size = class.size.draw(&mut self.packets);
        let sequence = self.created;
        self.created += 1;
        self.remaining -= 1;
        Some(Creation {
            destination,
            sl,
            size,
            sequence,
        })
    }

    /// Numbers the packets on from those of `earlier`, which count as made by this source.
    pub fn number_after(&mut self, earlier: &Self) {
        self.remaining = self.remaining.saturating_sub(earlier.created);
        self.created = earlier.created;
    }

    /// Makes the source never send: the class does not use this host.
    pub fn silence(&mut self) {
        self.remaining = 0;
    }

    /// Whether it has made all its packets.
    pub fn is_done(&self) -> bool {
        self.remaining == 0
    }

    /// Counts a packet of a message, which is not drawn.
    pub fn count(&mut self) {
        self.created += 1;
    }

    /// Packets made so far.
    pub fn made(&self) -> u64 {
        self.created
    }

    /// The host this source sends from.
    pub fn host(&self) -> HostId {
        self.host
    }
}
