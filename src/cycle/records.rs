//! Statistics of one shard: integer counters that merge by addition.

use crate::fabric::{Packet, PacketRecord};

/// One delivered packet, when a run is asked to keep them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delivery {
    /// Source host.
    pub source: u32,
    /// Traffic class.
    pub class: u16,
    /// Number within its source.
    pub sequence: u32,
    /// Destination host.
    pub destination: u32,
    /// Size [flits].
    pub size: u16,
    /// Creation cycle.
    pub created: u64,
    /// First flit on the first channel.
    pub injected: u64,
    /// Delivery cycle.
    pub delivered: u64,
    /// Congestion mark.
    pub fecn: bool,
}

/// Counters of a shard.
#[derive(Debug, Default)]
pub struct Records {
    /// Packets that passed a switch, summed over switches.
    pub packet_hops: u64,
    /// The same in flits.
    pub flit_hops: u64,
    /// Packets created (rejected ones included).
    pub created: u64,
    /// Packets rejected by full source queues.
    pub rejected: u64,
    /// Packets that entered their first channel.
    pub injected: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Every delivery, when asked for.
    pub deliveries: Option<Vec<Delivery>>,
}

impl Records {
    /// A packet is created.
    #[inline]
    pub fn created(&mut self, _now: u64, _class: u16, _host: u32, _size: u16) {
        self.created += 1;
    }

    /// A packet is rejected.
    #[inline]
    pub fn rejected(&mut self, _now: u64, _class: u16) {
        self.rejected += 1;
    }

    /// A packet is delivered.
    #[inline]
    pub fn delivered(&mut self, now: u64, packet: &Packet, record: &PacketRecord) {
        self.delivered += 1;
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.push(Delivery {
                source: record.source,
                class: record.class,
                sequence: record.sequence,
                destination: packet.destination,
                size: packet.size,
                created: record.created,
                injected: record.injected,
                delivered: now,
                fecn: packet.fecn,
            });
        }
    }
}
