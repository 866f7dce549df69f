//! What waits for each output lane (D36), and marking by it.

use super::ecn::Ecn;
use super::infiniband::InfiniBand;
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::slot::Slot;
use crate::cycle::snapshot::Persistent;
use crate::cycle::stages::cross::OutputBuffer;
use crate::cycle::stages::route::next_hop;
use crate::cycle::state::{Fact, Grant, Place, Worklists};
use crate::cycle::view::{Packets, column};
use crate::fabric::rows::{LaneRow, PacketRow, PortRow, Rows, Seen, SwitchRow};
use crate::fabric::{InPort, OutLane, OutPort, Packet, PacketRecord, Switch};
use crate::plan::{Marking, Plan};
use bevy_ecs::change_detection::ContiguousMut;
use bevy_ecs::component::Component;
use bevy_ecs::prelude::{Local, Query, Res, Resource};
use bevy_ecs::system::SystemParam;
use serde::{Deserialize, Serialize};

/// An output lane.
#[derive(Component, Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Fill {
    /// Flits of the packets that wait for it.
    pub(super) flits: u32,
    /// Eligible packets until the next one that InfiniBand's marking marks.
    pub(super) skip: u16,
    /// Whether InfiniBand's marking takes it as congested.
    pub(super) is_congested: bool,
}

impl Persistent for Fill {}

/// An output.
#[derive(Component, Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Pace {
    /// End of the last packet on its channel.
    pub(super) end: u64,
    /// Time that it has lost lately \[cycles\].
    pub(super) idle: u64,
}

impl Persistent for Pace {}

/// Which of the two.
#[derive(Resource, Debug)]
enum By {
    InfiniBand(InfiniBand),
    Ecn(Ecn),
}

/// Whose packets are marked.
#[derive(Resource, Debug)]
struct Markable {
    /// Classes from this one on are answers.
    answers: u16,
}

/// Marking by fill as a mechanism.
pub struct Filling(By);

impl Mechanism for Filling {
    fn of(site: &Site<'_>) -> Option<Self> {
        let plan: &Plan = site.plan;
        match plan.switch.marking? {
            Marking::Requests(_) => None,
            Marking::InfiniBand {
                threshold,
                hysteresis,
                packet,
                rate,
                victims,
            } => Some(Self(By::InfiniBand(InfiniBand::new(
                plan,
                (threshold, hysteresis),
                (packet, rate),
                victims,
            )))),
            Marking::Ecn {
                least,
                most,
                probability,
            } => Some(Self(By::Ecn(Ecn {
                least,
                most,
                probability,
            }))),
        }
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let site = shard.site();
        shard.subscribe(Fact::Granted);
        shard.column::<OutLane<W>, Fill>(Fill::default());
        shard.last_system(Slot::Deliver, "fill", arrivals::<W>);
        shard.constant(Markable {
            answers: site.plan.first_answers() as u16,
        });
        match &self.0 {
            By::InfiniBand(_) => {
                shard.column::<OutPort, Pace>(Pace::default());
                shard.system(Slot::Mark, "mark_infiniband", infiniband);
            }
            By::Ecn(_) => {
                super::ecn::streams(shard);
                shard.system(Slot::Mark, "mark_ecn", ecn);
            }
        }
        shard.constant(self.0);
    }
}

/// System parameter: what packets that leave are marked by.
#[derive(SystemParam)]
struct Marks<'w, 's> {
    place: Local<'s, Place>,
    lists: Res<'w, Worklists>,
    markable: Res<'w, Markable>,
    ports: Query<'w, 's, (&'static OutPort, &'static InPort)>,
    packets: Query<'w, 's, (&'static mut Packet, &'static mut PacketRecord)>,
    fills: Query<'w, 's, &'static mut Fill>,
}

/// A packet that was granted.
struct Granted<'a> {
    grant: &'a Grant,
    /// What waits for its output lane after it.
    fill: &'a mut Fill,
    flits: u16,
    out: &'a OutPort,
}

impl Marks<'_, '_> {
    /// Counts this cycle's drops and grants, and marks their packets: those of data on which `rule` decides so, in two steps, of which the
    /// first says that it may.
    #[inline(always)]
    fn mark(
        &mut self,
        mut may: impl FnMut(&mut Granted<'_>) -> bool,
        mut does: impl FnMut(&mut Granted<'_>) -> bool,
    ) {
        let ports = self.ports.contiguous_iter().into_iter().flatten().next();
        let (outs, _) = ports.unwrap_or_default();
        let outs: Seen<'_, PortRow, OutPort> = Seen::new(outs);
        let (packets, records) = column!(self.packets, pair);
        let mut packets: Rows<'_, PacketRow, Packet> = Rows::new(packets);
        let records: Rows<'_, PacketRow, PacketRecord> = Rows::new(records);
        let mut fills: Rows<'_, LaneRow, Fill> = Rows::new(column!(self.fills));
        let shared = &self.place.shared;
        for dropped in &self.lists.dropped {
            fills[dropped.lane].flits -= u32::from(dropped.flits);
        }
        // an output grants one packet in a cycle: no other of them changes the fill that one sees
        for grant in self.lists.grants.iter().filter(|grant| grant.accepted) {
            let packet = &mut packets[grant.packet];
            let fill = &mut fills[grant.lane];
            fill.flits -= u32::from(packet.size);
            let mut granted = Granted {
                grant,
                fill,
                flits: packet.size,
                out: &outs[grant.out],
            };
            // the record is looked at last: few get there, and it is far away
            let number = shared.numbering.number(grant.lane);
            if may(&mut granted)
                && !shared.switch.management.contains(number)
                && records[grant.packet].class < self.markable.answers
                && does(&mut granted)
            {
                packet.fecn = true;
            }
        }
    }
}

/// The system that counts arrivals: before they are routed, which looks up the same.
fn arrivals<const W: usize>(
    place: Local<'_, Place>,
    lists: Res<'_, Worklists>,
    switches: Query<'_, '_, &Switch<W>>,
    ports: Query<'_, '_, (&OutPort, &InPort)>,
    packets: Packets<'_, '_>,
    mut fills: Query<'_, '_, &mut Fill>,
) {
    if lists.arrived.is_empty() {
        return;
    }
    let switches = switches.contiguous_iter().into_iter().flatten().next();
    let switches: Seen<'_, SwitchRow, Switch<W>> = Seen::new(switches.unwrap_or_default());
    let ports = ports.contiguous_iter().into_iter().flatten().next();
    let (outs, ins) = ports.unwrap_or_default();
    let (outs, ins): (Seen<'_, PortRow, _>, Seen<'_, PortRow, _>) =
        (Seen::new(outs), Seen::new(ins));
    let (packets, _) = packets.rows();
    let mut fills: Rows<'_, LaneRow, Fill> = Rows::new(column!(fills));
    let shared = &place.shared;
    for &(lane, packet) in &lists.arrived {
        let input = shared.numbering.port(lane);
        if place.is_host(input) {
            continue;
        }
        let (port, packet) = (&ins[input], &packets[packet]);
        let first = switches[port.owner].first_port;
        let (out, number) = next_hop(&shared.forwarding, port, first, packet, &outs);
        let lane = shared.numbering.lane(out, number.into());
        fills[lane].flits += u32::from(packet.size);
    }
}

/// The system of InfiniBand's marking.
fn infiniband(
    mut marks: Marks<'_, '_>,
    by: Res<'_, By>,
    mut paces: Query<'_, '_, &mut Pace>,
    buffers: Query<'_, '_, &OutputBuffer>,
) {
    let By::InfiniBand(rule) = &*by else {
        return;
    };
    if marks.lists.grants.is_empty() && marks.lists.dropped.is_empty() {
        return;
    }
    let mut paces: Rows<'_, PortRow, Pace> = Rows::new(column!(paces));
    let buffers = buffers.contiguous_iter().into_iter().flatten().next();
    let buffers: Seen<'_, PortRow, OutputBuffer> = Seen::new(buffers.unwrap_or_default());
    marks.mark(
        |granted| {
            let (row, out) = (granted.grant.out, granted.out);
            let buffer = buffers.get(row);
            let end = buffer.map_or(out.free_at, OutputBuffer::channel_free);
            let pace = &mut paces[row];
            rule.advance(pace, end, granted.flits, out.step);
            rule.look(granted.fill);
            rule.may_mark(granted.fill, pace.idle == 0, out.peer, granted.flits)
        },
        |granted| rule.takes_turn(granted.fill),
    );
}

/// The system of RoCE's marking.
fn ecn(
    mut marks: Marks<'_, '_>,
    by: Res<'_, By>,
    mut streams: Query<'_, '_, &mut super::ecn::MarkStream>,
) {
    let By::Ecn(rule) = &*by else {
        return;
    };
    if marks.lists.grants.is_empty() && marks.lists.dropped.is_empty() {
        return;
    }
    let mut streams: Rows<'_, PortRow, super::ecn::MarkStream> = Rows::new(column!(streams));
    marks.mark(
        |granted| rule.may_mark(granted.fill.flits),
        |granted| rule.marks(granted.fill.flits, &mut streams[granted.grant.out]),
    );
}
