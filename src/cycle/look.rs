//! Read-only look at a shard between windows, without its mask width: for checks, reports and statistics.

use super::shown::Shown;
use super::stages::route::next_hop;
use super::state::{Calendar, Place, Shared};
use crate::fabric::Group;
use crate::fabric::components::{InPort, OutLane, OutPort, Packet, PacketRecord, Queue, Switch};
use crate::fabric::rows::{HostRow, LaneRow, PacketRow, PortRow, QueueRow, Row, Seen, SwitchRow};
use bevy_ecs::component::Component;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;

/// A component of all entities of a kind, in row order; empty when no entity has it.
pub fn column<C: Component>(world: &World) -> &[C] {
    let Some(state) = world.try_query::<&C>() else {
        return &[];
    };
    let query = state.query_manual(world);
    let mut tables = query.contiguous_iter_inner().into_iter().flatten();
    let column = tables.next().unwrap_or_default();
    debug_assert!(tables.next().is_none(), "rows of a kind are in one table");
    column
}

/// A component of all entities that hold rows in groups, in row order.
pub fn grouped<C: Send + Sync + 'static>(world: &World) -> &[C] {
    Group::rows(column(world))
}

/// Calls `act` for every packet in the input queues of switches and hosts, once, with its lane.
pub fn each_queued(world: &World, mut act: impl FnMut(LaneRow, PacketRow)) {
    let place: &Place = world.resource();
    let (classifier, numbering) = (place.shared.switch.classifier, place.shared.numbering);
    let packets: Seen<'_, PacketRow, Packet> = Seen::new(grouped(world));
    let queues: Seen<'_, QueueRow, Queue> = Seen::new(grouped(world));
    let standing = Shown::of(world).standing;
    for (row, queue) in queues.enumerate() {
        let lane = classifier.lane(row);
        match standing.filter(|_| !place.is_host(numbering.port(lane))) {
            None => queue.packets(packets).for_each(|packet| act(lane, packet)),
            // what stands at a lane is in several of its queues
            Some(stands) if classifier.behind(lane, 0) == row => {
                let all = stands(world, lane);
                let each = all.chunk_by(|one, next| one.packet == next.packet);
                each.for_each(|of_packet| act(lane, of_packet[0].packet));
            }
            Some(_) => {}
        }
    }
}

/// Rows of ports that stand in groups: those behind the last one belong to no port.
pub trait Grouped: Row {
    /// How many there are in a shard of so many ports.
    fn count(shared: &Shared, ports: usize) -> usize;
}

impl Grouped for LaneRow {
    fn count(shared: &Shared, ports: usize) -> usize {
        shared.numbering.rows(ports)
    }
}

impl Grouped for QueueRow {
    fn count(shared: &Shared, ports: usize) -> usize {
        LaneRow::count(shared, ports) * shared.switch.classifier.queues_per_lane() as usize
    }
}

/// The columns and resources of a shard.
pub trait Columns {
    /// The world behind them.
    fn world(&self) -> &World;
    /// Sending sides of ports.
    fn outs(&self) -> Seen<'_, PortRow, OutPort>;
    /// Receiving sides of ports.
    fn ins(&self) -> Seen<'_, PortRow, InPort>;
    /// Queues.
    fn queues(&self) -> Seen<'_, QueueRow, Queue>;
    /// Packet pool.
    fn packets(&self) -> Seen<'_, PacketRow, Packet>;
    /// Records of the packet pool.
    fn records(&self) -> Seen<'_, PacketRow, PacketRecord>;
    /// Credits a lane has or will have by the running ramp.
    fn held(&self, lane: LaneRow) -> u64;
    /// The same, and those that count now.
    fn credits(&self, lane: LaneRow) -> (u32, u32);
    /// Credits of a lane that count in `cycle`, which is not before the current one.
    fn credits_in(&self, lane: LaneRow, cycle: u64) -> u32;
    /// Request of a lane that is asked first, by its bit (D7).
    fn pointer(&self, lane: LaneRow) -> u16;
    /// Flits a lane has sent since the start of the run, modulo 2^32.
    fn sent(&self, lane: LaneRow) -> u32;
    /// Global id of a switch.
    fn switch_id(&self, row: SwitchRow) -> u32;
    /// Output lane that a packet at an input of a switch is forwarded to, wherever it stands in its queue; not with
    /// adaptive routing.
    fn next_hop(&self, input: PortRow, packet: PacketRow) -> LaneRow;
}

impl dyn Columns + '_ {
    /// A resource; `None` when no mechanism of the shard has it.
    pub fn resource<R: Resource>(&self) -> Option<&R> {
        self.world().get_resource::<R>()
    }

    /// A component of all entities of a kind, by their rows; empty when no mechanism of the shard has it.
    pub fn column<R: Row, C: Component>(&self) -> Seen<'_, R, C> {
        Seen::new(column(self.world()))
    }

    /// The same of lanes or queues, which stand in groups.
    pub fn grouped<R: Grouped, C: Send + Sync + 'static>(&self) -> Seen<'_, R, C> {
        let rows: &[C] = grouped(self.world());
        let count = R::count(self.shared(), self.outs().len());
        Seen::new(&rows[..count.min(rows.len())])
    }

    /// Tables and options.
    pub fn shared(&self) -> &Shared {
        &self.place().shared
    }

    /// Where the rows belong.
    pub fn place(&self) -> &Place {
        self.world().resource()
    }

    /// What mechanisms show of it.
    pub fn shown(&self) -> &Shown {
        self.world().resource()
    }

    /// Tells the output lanes that the heads of queues request, of one that does.
    pub fn requests(&self) -> impl Fn(QueueRow) -> Vec<LaneRow> {
        let several = self.shown().requests.map(|tell| tell(self.world()));
        move |row| {
            if let Some(several) = &several {
                return several(row);
            }
            let queue = &self.queues()[row];
            let numbering = self.shared().numbering;
            vec![numbering.lane(queue.out, u32::from(queue.out_lane))]
        }
    }

    /// Whether the sink of a host takes nothing for want of room.
    pub fn is_holding(&self, host: HostRow) -> bool {
        let holding = self.shown().holding;
        holding.is_some_and(|is_holding| is_holding(self.world(), host))
    }

    /// What takes time.
    pub fn calendar(&self) -> &Calendar {
        self.world().resource()
    }
}

/// A look at the columns of a shard that does not depend on the mask width.
pub trait Inspect {
    /// Called once per shard.
    fn look(&mut self, view: &dyn Columns);
}

/// A shard with request masks of `W` words.
pub struct Look<'a, const W: usize> {
    world: &'a World,
    switches: Seen<'a, SwitchRow, Switch<W>>,
    outs: Seen<'a, PortRow, OutPort>,
    ins: Seen<'a, PortRow, InPort>,
    lanes: Seen<'a, LaneRow, OutLane<W>>,
    queues: Seen<'a, QueueRow, Queue>,
    packets: Seen<'a, PacketRow, Packet>,
    records: Seen<'a, PacketRow, PacketRecord>,
}

impl<'a, const W: usize> Look<'a, W> {
    /// All columns of a shard.
    pub fn new(world: &'a World) -> Self {
        let (outs, queues) = (column(world), grouped(world));
        let count = QueueRow::count(&world.resource::<Place>().shared, outs.len());
        Self {
            world,
            switches: Seen::new(column(world)),
            outs: Seen::new(outs),
            ins: Seen::new(column(world)),
            lanes: Seen::new(grouped(world)),
            queues: Seen::new(&queues[..count]),
            packets: Seen::new(grouped(world)),
            records: Seen::new(grouped(world)),
        }
    }

    fn now(&self) -> u64 {
        self.world.resource::<Calendar>().now()
    }
}

impl<const W: usize> Columns for Look<'_, W> {
    fn world(&self) -> &World {
        self.world
    }
    fn outs(&self) -> Seen<'_, PortRow, OutPort> {
        self.outs
    }
    fn ins(&self) -> Seen<'_, PortRow, InPort> {
        self.ins
    }
    fn queues(&self) -> Seen<'_, QueueRow, Queue> {
        self.queues
    }
    fn packets(&self) -> Seen<'_, PacketRow, Packet> {
        self.packets
    }
    fn records(&self) -> Seen<'_, PacketRow, PacketRecord> {
        self.records
    }
    fn held(&self, lane: LaneRow) -> u64 {
        let row = &self.lanes[lane];
        u64::from(row.credits) + u64::from(row.ramp_flits)
    }
    fn credits(&self, lane: LaneRow) -> (u32, u32) {
        let row = &self.lanes[lane];
        let all = row.credits + u32::from(row.ramp_flits);
        (all, row.available(self.now()))
    }
    fn credits_in(&self, lane: LaneRow, cycle: u64) -> u32 {
        self.lanes[lane].available(cycle)
    }
    fn pointer(&self, lane: LaneRow) -> u16 {
        self.lanes[lane].pointer
    }
    fn sent(&self, lane: LaneRow) -> u32 {
        self.lanes[lane].sent
    }
    fn switch_id(&self, row: SwitchRow) -> u32 {
        self.switches[row].global
    }
    fn next_hop(&self, input: PortRow, packet: PacketRow) -> LaneRow {
        let (shared, port) = (&self.world.resource::<Place>().shared, &self.ins[input]);
        let first = self.switches[port.owner].first_port;
        let own = shared.own_routes.as_ref();
        let own = own.and_then(|routes| routes.output(&self.records[packet]));
        let packet = &self.packets[packet];
        let (out, lane) = if shared.sorts() {
            packet.chosen(first)
        } else {
            next_hop(&shared.forwarding, port, first, (packet, own), &self.outs)
        };
        shared.numbering.lane(out, u32::from(lane))
    }
}
