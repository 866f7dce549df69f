//! Messages (D21): looked at one by one in every cycle, against the packets that were made and what became of them.

use super::Setting;
use super::packet::{Packet, PacketId};
use virtlane::ids::{HostId, SlId};
use virtlane::traffic::messages::Message;

/// A message and its packets so far.
#[derive(Debug)]
struct Entry {
    /// Source of the message, and its number there.
    name: (usize, u64),
    message: Message,
    flits: u64,
    /// Number of its first packet within host and class.
    first: u64,
    /// D81.
    level: SlId,
    packets: Vec<PacketId>,
}

/// The next packet of a class at a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    entry: usize,
    pub(super) destination: HostId,
    pub(super) size: u16,
    pub(super) sequence: u64,
    pub(super) level: SlId,
}

/// All messages of a run.
#[derive(Debug)]
pub(super) struct Messages {
    entries: Vec<Entry>,
}

impl Messages {
    pub(super) fn new(setting: Setting<'_>) -> Self {
        let plan = setting.plan;
        let mut entries: Vec<Entry> = Vec::new();
        for (index, workload) in plan.workloads.iter().enumerate() {
            let messages = workload.source.messages().expect("readable");
            for (number, message) in (0..).zip(messages) {
                let message = message.expect("readable");
                let size = u64::from(plan.classes[usize::from(message.class)].size.largest());
                let of_line = |entry: &&Entry| {
                    (entry.message.source, entry.message.class) == (message.source, message.class)
                };
                let earlier: Vec<&Entry> = entries.iter().filter(of_line).collect();
                let levels = &plan.classes[usize::from(message.class)].service_levels;
                let level = levels[earlier.len() % levels.len()];
                let packets = earlier.iter().map(|entry| entry.flits.div_ceil(size));
                let first = packets.sum();
                entries.push(Entry {
                    name: (index, number),
                    flits: message.bytes.div_ceil(plan.flit_bytes.into()).max(1),
                    first,
                    level,
                    packets: Vec::new(),
                    message,
                });
            }
        }
        Self { entries }
    }

    /// The next packet of a class at a host, if one is due.
    pub(super) fn next(
        &self,
        setting: Setting<'_>,
        packets: &[Packet],
        (host, class): (HostId, usize),
        now: u64,
    ) -> Option<Made> {
        let mut due = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            let message = &entry.message;
            let is_made = made(entry, packets) == entry.flits;
            if message.source != host || usize::from(message.class) != class || is_made {
                continue;
            }
            if let Some(release) = self.release(packets, entry)
                && release <= now
            {
                due.push((release, entry.name, index));
            }
        }
        let &(.., index) = due.iter().min()?;
        let entry = &self.entries[index];
        let largest = u64::from(setting.plan.classes[class].size.largest());
        let size = largest.min(entry.flits - made(entry, packets));
        Some(Made {
            entry: index,
            destination: entry.message.destination,
            size: size as u16,
            sequence: entry.first + entry.packets.len() as u64,
            level: entry.level,
        })
    }

    /// The packet exists.
    pub(super) fn make(&mut self, made: Made, packet: PacketId) {
        self.entries[made.entry].packets.push(packet);
    }

    /// Cycle in which a message is released; `None` = it waits for something.
    fn release(&self, packets: &[Packet], entry: &Entry) -> Option<u64> {
        let mut release = entry.message.time;
        for after in &entry.message.after {
            let name = (entry.name.0, after.message);
            let other = self.entries.iter().find(|other| other.name == name)?;
            let complete = if other.message.source == entry.message.source {
                sent(packets, other)?
            } else {
                assert_eq!(other.message.destination, entry.message.source);
                received(packets, other)? + 1
            };
            release = release.max(complete + after.delay);
        }
        Some(release)
    }

    /// Messages that are delivered.
    pub(super) fn delivered(&self, packets: &[Packet]) -> u64 {
        self.complete(packets).count() as u64
    }

    /// Messages that are delivered: class, creation of the first packet, delivery of the last.
    pub(super) fn complete<'a>(
        &'a self,
        packets: &'a [Packet],
    ) -> impl Iterator<Item = (u16, u64, u64)> + 'a {
        self.entries.iter().filter_map(|entry| {
            let created = packets[*entry.packets.first()?].created;
            Some((entry.message.class, created, received(packets, entry)?))
        })
    }
}

/// Flits of an entry that are in packets.
fn made(entry: &Entry, packets: &[Packet]) -> u64 {
    let sizes = entry.packets.iter().map(|&id| u64::from(packets[id].size));
    sizes.sum()
}

/// First cycle in which the first channel is free of all its packets (D74, D78).
fn sent(packets: &[Packet], entry: &Entry) -> Option<u64> {
    let mut last = None;
    for &id in &entry.packets {
        last = last.max(Some(packets[id].through?.free));
    }
    last.filter(|_| made(entry, packets) == entry.flits)
}

/// Cycle in which the last packet was delivered.
fn received(packets: &[Packet], entry: &Entry) -> Option<u64> {
    let mut last = None;
    for &id in &entry.packets {
        last = last.max(Some(packets[id].delivered?));
    }
    last.filter(|_| made(entry, packets) == entry.flits)
}
