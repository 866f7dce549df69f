//! Bounded queues of answers: hosts hold requests back whose answers would have no room (D57 of the model).
//!
//! Part of `Slot::Route` (sinks look for room and take it) and `Slot::Notify` (room comes back); only where a class with
//! control bounds its answers.
//! Reads: heads at sinks, packets that started and packets that were delivered
//! Writes: its own state
//! Cost: O(lanes of a host) per packet at a sink; O(1) per answer that starts and per packet that is not answered
//!
//! # Rules
//! 1. A packet takes the room of a whole answer when it begins to drain, and gives it back when it is not answered; each
//!    packet of an answer gives its own back when it starts. What comes back counts from the next cycle on: nothing of this
//!    cycle comes after `Slot::Notify` that asks for it.
//! 2. A sink that holds all its heads back is looked at again when room comes back to its host, or another packet comes.
//!
//! # Deviations
//! None.

use crate::cycle::counts::{Count, Reduction};
use crate::cycle::ledger::{Channels, Ledger};
use crate::cycle::look::Columns;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::mechanisms::control::Answers;
use crate::cycle::snapshot::{Persistent, Resume};
use crate::fabric::Host;
use crate::fabric::rows::{HostRow, PacketRow, Row};
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What packets of a class have to do with a bound.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Number of the bound.
    bound: u16,
    /// Room that a packet takes or gives back \[packets\].
    packets: u32,
    /// They are answers: they give room back where they start, and take none where they arrive.
    is_answer: bool,
}

/// Room for answers at the hosts of a shard.
#[derive(Resource, Debug, Default, Serialize, Deserialize)]
pub struct AnswerRooms {
    /// By class; `None`: no bound has to do with its packets.
    #[serde(skip)]
    shares: Vec<Option<Share>>,
    /// By bound \[packets\].
    #[serde(skip)]
    bounds: Vec<u32>,
    /// Room left, `[host][bound]` \[packets\].
    rooms: Vec<u32>,
    /// First cycle since which the sink of a host takes nothing for want of room; `u64::MAX` = it does not want.
    held_since: Vec<u64>,
    /// Cycles of hosts that are over in which sinks took nothing for want of room.
    held: u64,
    /// Hosts whose sinks are to be looked at in the next cycle.
    freed: Vec<HostRow>,
}

impl Persistent for AnswerRooms {
    fn resume(&mut self, built: Self, _: &Resume<'_>) {
        (self.shares, self.bounds) = (built.shares, built.bounds);
    }
}

/// Bounded queues of answers as a mechanism. The sinks ask for room, the receivers and the control queues give it back.
pub struct Bounding;

impl Mechanism for Bounding {
    fn of(site: &Site<'_>) -> Option<Self> {
        site.plan.bounded().next().map(|_| Self)
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let site = shard.site();
        shard.resource(AnswerRooms::new(&site));
        shard.ledger(enter);
        shard.shown().holding =
            Some(|world, host| world.resource::<AnswerRooms>().is_holding(host));
        shard.shown().demand = Some(|world, class| world.resource::<AnswerRooms>().demand(class));
        shard.alarm(|world, from| match world.resource::<AnswerRooms>().freed {
            ref freed if freed.is_empty() => u64::MAX,
            _ => from,
        });
        shard.count(Count {
            name: "control.held",
            by: Reduction::Sum,
            value: |world, end| world.resource::<AnswerRooms>().held_until(end),
        });
    }
}

impl AnswerRooms {
    fn new(site: &Site<'_>) -> Self {
        let hosts = site.placement.hosts[site.number].len();
        let mut shares = vec![None; site.plan.classes.len()];
        let mut bounds = Vec::new();
        for (class, control, queue) in site.plan.bounded() {
            let bound = bounds.len() as u16;
            shares[usize::from(class)] = Some(Share {
                bound,
                packets: control.algorithm.packets_per_answer().into(),
                is_answer: false,
            });
            shares[usize::from(control.answers)] = Some(Share {
                bound,
                packets: 1,
                is_answer: true,
            });
            bounds.push(queue);
        }
        Self {
            rooms: bounds.repeat(hosts),
            held_since: vec![u64::MAX; hosts],
            shares,
            bounds,
            ..Self::default()
        }
    }

    #[inline]
    fn share(&self, class: u16) -> Option<Share> {
        self.shares[usize::from(class)]
    }

    /// The same of packets that are answered.
    #[inline]
    fn taken(&self, class: u16) -> Option<Share> {
        self.share(class).filter(|share| !share.is_answer)
    }

    #[inline]
    fn place(&self, host: HostRow, bound: u16) -> usize {
        host.index() * self.bounds.len() + usize::from(bound)
    }

    /// Whether the sink of a host may take a packet of a class.
    #[inline]
    pub fn has_room(&self, host: HostRow, class: u16) -> bool {
        self.taken(class)
            .is_none_or(|share| self.rooms[self.place(host, share.bound)] >= share.packets)
    }

    /// All the room for answers to a class at a host, and what one packet takes of it; `None`: it takes none.
    fn demand(&self, class: u16) -> Option<(u32, u32)> {
        let share = self.taken(class)?;
        Some((self.bounds[usize::from(share.bound)], share.packets))
    }

    /// The sink of a host takes something.
    #[inline]
    pub fn go_on(&mut self, host: HostRow, now: u64) {
        let since = std::mem::replace(&mut self.held_since[host.index()], u64::MAX);
        self.held += now - since.min(now);
    }

    /// It begins to take a packet of a class.
    #[inline]
    pub fn begin(&mut self, host: HostRow, class: u16) {
        if let Some(share) = self.taken(class) {
            let place = self.place(host, share.bound);
            self.rooms[place] -= share.packets;
        }
    }

    /// The sink of a host has packets, and none of them has room.
    #[inline]
    pub fn hold(&mut self, host: HostRow, now: u64) {
        let since = &mut self.held_since[host.index()];
        *since = now.min(*since);
    }

    /// Whether the sink of a host takes nothing for want of room.
    pub fn is_holding(&self, host: HostRow) -> bool {
        self.held_since[host.index()] != u64::MAX
    }

    /// Whether packets of a class take or give room.
    #[inline]
    pub fn concerns(&self, class: u16) -> bool {
        self.share(class).is_some()
    }

    /// A packet of a class was not answered, or one of its class of answers started.
    #[inline]
    pub fn give(&mut self, host: HostRow, class: u16) {
        let Some(share) = self.share(class) else {
            return;
        };
        let place = self.place(host, share.bound);
        self.rooms[place] += share.packets;
        if self.is_holding(host) {
            self.freed.push(host);
        }
    }

    /// Hosts whose sinks may have room again.
    #[inline]
    pub fn freed(&mut self) -> &mut Vec<HostRow> {
        &mut self.freed
    }

    /// Whether there are any.
    #[inline]
    pub fn has_freed(&self) -> bool {
        !self.freed.is_empty()
    }

    /// Cycles before `end`, over all hosts, in which sinks took nothing for want of room.
    fn held_until(&self, end: u64) -> u64 {
        let running = self.held_since.iter().map(|&since| end - since.min(end));
        self.held + running.sum::<u64>()
    }
}

/// Packets of which sinks have taken some flits and not all, where these go one by one (D78).
fn begun<'a>(
    view: &'a dyn Columns,
    rooms: &'a AnswerRooms,
) -> impl Iterator<Item = (HostRow, Share)> + 'a {
    let numbering = view.shared().numbering;
    view.queues().enumerate().filter_map(move |(row, queue)| {
        let port = numbering.port(view.shared().switch.classifier.lane(row));
        if queue.head == PacketRow::NONE || !view.place().is_host(port) {
            return None;
        }
        let has_begun = queue.size < view.packets()[queue.head].size;
        let share = rooms.taken(view.records()[queue.head].class)?;
        has_begun.then(|| (view.place().host(port), share))
    })
}

/// Room left + what drains, is to be created and waits = bound.
fn enter(view: &dyn Columns, _: Channels<'_>, ledger: &mut Ledger) {
    let (Some(rooms), Some(answers)) = (view.resource::<AnswerRooms>(), view.resource::<Answers>())
    else {
        return;
    };
    let hosts = view.column::<HostRow, Host>();
    let rows: BTreeMap<u32, HostRow> = hosts
        .enumerate()
        .map(|(row, host)| (host.id, row))
        .collect();
    // wide, so that room below none is no bound again
    let mut sums: Vec<u64> = rooms.rooms.iter().copied().map(u64::from).collect();
    let mut add = |host: HostRow, share: Share, packets: u32| {
        sums[rooms.place(host, share.bound)] += u64::from(packets);
    };
    for &row in view
        .calendar()
        .slots()
        .iter()
        .flat_map(|slot| &slot.deliveries)
    {
        let host = rows.get(&view.packets()[row].destination);
        let share = rooms.taken(view.records()[row].class);
        if let (Some(&host), Some(share)) = (host, share) {
            add(host, share, share.packets);
        }
    }
    if view.shared().switch.single_flits {
        for (row, share) in begun(view, rooms) {
            add(row, share, share.packets);
        }
    }
    answers.each(view.shared().numbering, |host, class, packets| {
        if let Some(share) = rooms.share(class) {
            add(host, share, packets);
        }
    });
    for (place, &sum) in sums.iter().enumerate() {
        let (host, bound) = (place / rooms.bounds.len(), place % rooms.bounds.len());
        let expected = rooms.bounds[bound];
        if sum != u64::from(expected) {
            ledger.breaks(format!(
                "room for answers at host {}: {} left + {} taken is not the bound {expected}",
                hosts[HostRow(host as u32)].id,
                rooms.rooms[place],
                sum - u64::from(rooms.rooms[place]),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::laws::halted::Halted;

    /// Three senders to one host that may have two answers waiting.
    fn bounded() -> Halted {
        let text = "Scenario(
            title: \"answers\", seed: 2,
            fabric: (topology: Complete(switches: 2, hosts_per_switch: 2), flit: \"64 B\",
                     link: (rate: \"100 Gbit/s\", latency: \"3 cycles\"),
                     switch: (lanes: 2, lane_capacity: \"32 flits\")),
            routing: MinHop(),
            traffic: [(name: \"all\", size: \"4 flits\", flows: [(pairs: List(pairs: [(0, 3), (1, 3), (2, 3)]))],
                       control: Window(window: 4), answers: (size: \"2 flits\", sl: 1, queue: 2))],
            phases: (warmup: \"0 cycles\", measure: \"2000 cycles\"),
        )";
        Halted::new(text, 600, 1)
    }

    #[test]
    fn room_for_answers_is_neither_made_nor_lost() {
        for change in [1, u32::MAX, 7, 0_u32.wrapping_sub(2)] {
            for place in 0..4 {
                let mut halted = bounded();
                halted.resource(|rooms: &mut AnswerRooms| {
                    rooms.rooms[place] = rooms.rooms[place].wrapping_add(change);
                });
                halted.breaks(&["room for answers at host", "taken is not the bound 2"]);
            }
        }
    }

    #[test]
    fn what_a_sink_takes_has_room() {
        let mut halted = bounded();
        halted.resource(|rooms: &mut AnswerRooms| rooms.give(HostRow(3), 0));
        halted.breaks(&["room for answers at host 3", "taken is not the bound 2"]);
    }
}
