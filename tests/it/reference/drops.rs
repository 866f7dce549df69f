//! Packets that switches drop (D58).

use super::Setting;
use super::input::Queue;
use super::link::Link;
use super::packet::{Drop, Flit, Packet, PacketId};
use super::routing::Routing;
use super::switch::{Switch, Waiting, Way};
use super::wormhole;
use virtlane::plan::{DropRule, Dropping, Queues};

/// Whether packets of queues are decided as heads, and leave as such: with a threshold those whose heads choose (D20).
fn are_heads(setting: Setting<'_>, rule: DropRule) -> bool {
    let chooses = matches!(setting.routing, Routing::Adaptive(_));
    rule == DropRule::Held || chooses && setting.plan.switch.queues == Queues::Fifo
}

/// A dropped packet whose flits leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    packet: PacketId,
    size: u16,
    input: usize,
    /// That it is head of, if it is.
    queue: Option<usize>,
    /// Cycle of the drop.
    start: u64,
    /// Cycles per flit of the channel it came by.
    pace: u64,
    left: u16,
    /// Cycle in which its last flit so far has left.
    gone: u64,
}

/// What D58 excludes.
pub(super) fn check_plan(setting: Setting<'_>) {
    let plan = setting.plan;
    let Some(dropping) = &plan.switch.drop else {
        return;
    };
    assert_ne!(dropping.rule, DropRule::Threshold(0), "D58");
    for class in plan.classes.iter().filter(|class| !class.management) {
        let mut levels = class.service_levels.iter();
        if levels.any(|level| dropping.service_levels.contains(level)) {
            assert!(class.messages.is_none() && class.control.is_none(), "D58");
            let answered = class
                .answers
                .map(|number| &plan.classes[usize::from(number)]);
            let control = answered.and_then(|class| class.control.as_ref());
            // D49: the service level says nothing out of band
            let is_in_band = control.is_some_and(|control| control.transport.is_none());
            assert!(!is_in_band, "D58: no answers are sent there");
        }
    }
    for flow in &plan.flows {
        let class = &plan.classes[usize::from(flow.class)];
        let mut levels = class.service_levels.iter();
        if levels.any(|level| dropping.service_levels.contains(level)) {
            assert!(flow.window.is_none() && flow.phase.is_none(), "D58");
        }
    }
}

/// An input, and the queue there; none of a packet that has come to stand (D84).
type Place = (usize, Option<usize>);

impl Queue {
    /// A packet is dropped: as a head it stays here until it has left, else it is in no queue any more. Returns the first way that it
    /// had.
    fn lose(&mut self, id: PacketId, is_head: bool) -> Way {
        let mut places = self.packets.iter();
        let position = places.position(|one| one.packet == id);
        let position = position.expect("in its queue");
        let way = self.packets[position].ways[0];
        if is_head {
            assert_eq!(position, 0, "the head");
            self.leaving = true;
        } else {
            self.packets.remove(position);
        }
        way
    }
}

impl Switch {
    /// After Route and before Arbitrate: every packet that first requests, or begins to wait, in this cycle is decided, all before
    /// any of them is dropped.
    pub(super) fn drop_packets(
        &mut self,
        setting: Setting<'_>,
        links: &[Link],
        packets: &mut [Packet],
        now: u64,
    ) {
        let Some(dropping) = &setting.plan.switch.drop else {
            return;
        };
        let of_heads = are_heads(setting, dropping.rule);
        let mut lost = Vec::new();
        for (from, decided) in self.decided(of_heads, now) {
            let packet = &packets[decided.packet];
            let is_named = dropping.service_levels.contains(&packet.sl);
            if !is_named || packet.management {
                continue;
            }
            if self.is_too_much((setting, dropping), links, packets, decided, now) {
                lost.push((from, decided.packet));
            }
        }
        for (from, packet) in lost {
            self.lose(links, packets, (from, packet), (of_heads, now));
        }
    }

    /// Packets whose cycle it is to be decided.
    fn decided(&self, of_heads: bool, now: u64) -> Vec<(Place, &Waiting)> {
        let mut all = Vec::new();
        for (index, input) in self.inputs.iter().enumerate() {
            let Some(input) = input else { continue };
            for (queue_index, queue) in input.queues.iter().enumerate() {
                let decided = if of_heads {
                    let head = queue.request(now).filter(|(_, since)| *since == now);
                    head.map(|(head, _)| head)
                } else {
                    queue.packets.iter().find(|one| one.ready == now)
                };
                all.extend(decided.map(|one| ((index, Some(queue_index)), one)));
            }
            // D84: in the cycle in which it comes
            let standing = input.standing.iter().map(|one| &one.waiting);
            let coming = standing.filter(|one| one.ready == now);
            all.extend(coming.map(|one| ((index, None), one)));
        }
        all
    }

    /// Whether the packet that is decided now is dropped.
    fn is_too_much(
        &self,
        (setting, dropping): (Setting<'_>, &Dropping),
        links: &[Link],
        packets: &[Packet],
        decided: &Waiting,
        now: u64,
    ) -> bool {
        assert!(!decided.ways.is_empty(), "it has chosen");
        let size = packets[decided.packet].size;
        decided.ways.iter().all(|way| match dropping.rule {
            DropRule::Held if wormhole::is_on(setting.plan) => {
                self.ports.is_held(way.output, way.lane)
                    || !wormhole::has_room(setting, self, links, way)
            }
            DropRule::Held => {
                let output = self.outputs[way.output].as_ref().expect("connected");
                !links[output.channel].fits(way.lane, size)
            }
            DropRule::Threshold(limit) => {
                // what was granted by the cycle before is leaving, what is dropped in no queue
                let before = now.checked_sub(1);
                let fill = before.map(|before| self.fill(packets, way.output, way.lane, before));
                fill.is_some_and(|fill| fill >= u64::from(limit))
            }
        })
    }

    /// A packet is dropped, with D84 before it stands.
    fn lose(
        &mut self,
        links: &[Link],
        packets: &mut [Packet],
        ((index, queue), id): (Place, PacketId),
        (is_head, now): (bool, u64),
    ) {
        let input = self.inputs[index].as_mut().expect("connected");
        let pace = links[input.channel].cycles_per_flit;
        let way = match queue {
            Some(queue) => input.queues[queue].lose(id, is_head),
            None => input.stop_standing(id).expect("it has come").waiting.ways[0],
        };
        let output = self.outputs[way.output].as_ref();
        let packet = &mut packets[id];
        assert_eq!((packet.dropped, packet.delivered), (None, None));
        packet.dropped = Some(Drop {
            cycle: now,
            channel: output.expect("connected").channel,
        });
        self.drops.push(Leaving {
            packet: id,
            size: packet.size,
            input: index,
            queue: queue.filter(|_| is_head),
            start: now,
            pace,
            left: 0,
            gone: now,
        });
    }

    /// Dropped packets that are at an input and in no queue.
    pub(super) fn lost_at(&self, input: usize) -> impl Iterator<Item = PacketId> {
        let lost = self.drops.iter();
        let lost = lost.filter(move |one| one.input == input && one.queue.is_none());
        lost.map(|one| one.packet)
    }

    /// The flits of dropped packets that are due leave their slots.
    pub(super) fn discard(
        &mut self,
        setting: Setting<'_>,
        links: &mut [Link],
        packets: &mut [Packet],
        now: u64,
    ) {
        for leaving in &mut self.drops {
            let input = self.inputs[leaving.input].as_ref().expect("connected");
            let link = &mut links[input.channel];
            let flit = Flit {
                packet: leaving.packet,
                index: leaving.left,
            };
            let is_due = if wormhole::is_on(setting.plan) {
                wormhole::may_leave(&setting.plan.switch, link, flit, now)
            } else {
                now == leaving.start + u64::from(leaving.left) * leaving.pace
            };
            if !is_due || leaving.left == leaving.size {
                continue;
            }
            link.remove(flit, now);
            leaving.left += 1;
            leaving.gone = now;
            packets[leaving.packet].flits_dropped += 1;
        }
    }

    /// Dropped packets whose time is over leave their queue.
    pub(super) fn retire_dropped(&mut self, setting: Setting<'_>, now: u64) {
        let single = wormhole::is_on(setting.plan);
        let is_over = |leaving: &&Leaving| {
            let step = if single { 1 } else { leaving.pace };
            leaving.left == leaving.size && leaving.gone + step == now
        };
        let (over, going): (Vec<Leaving>, Vec<Leaving>) = self.drops.iter().partition(is_over);
        self.drops = going;
        for leaving in over {
            if let Some(queue) = leaving.queue {
                self.free_queue((leaving.input, queue), leaving.packet, now);
            }
        }
    }
}
