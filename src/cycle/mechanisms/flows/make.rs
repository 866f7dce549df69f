//! What is due for flows: packets of their processes, acknowledgements, limits that change, flows that may go.
//!
//! Stage: `Slot::Admit`
//! Reads: the heap of what is due
//! Writes: flows, their queues, visit lists of hosts
//! Cost: O(log flows of the shard) for everything that is due

use super::Flows;
use super::flow::Made;
use crate::cycle::records::Records;
use crate::cycle::state::worklists::Created;
use crate::cycle::state::{Calendar, Worklists};
use crate::cycle::view::column;
use crate::fabric::components::NONE;
use crate::fabric::rows::{HostRow, PortRow, Rows, Seen};
use crate::fabric::{Host, OutPort};
use crate::ids::HostId;
use crate::traffic::Gap;
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, Res, ResMut};

/// What is due for a flow or a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wake {
    /// The flow of this row has another limit: number of the change.
    Change(u32, u32),
    /// Packets of the flow or group count as acknowledged: how many.
    Acknowledged(u32, u32),
    /// The flow with a slot starts or stops.
    Hold(u32),
    /// The flow's process makes a packet.
    Make(u32),
    /// The session of a probe flow makes a packet.
    Probe(u32),
    /// A slot clock ticks.
    Tick(u32),
    /// The flow may become a contender, or end.
    Look(u32),
    /// The lane's flows may go.
    Lane(u32),
    /// The flow may enter a packet: after all others of a cycle.
    Enter(u32),
}

impl Wake {
    /// Its code on the wheel, in the order of the variants: the kind, what is named, an amount.
    #[inline]
    pub(super) fn code(self) -> u128 {
        let (kind, name, amount) = match self {
            Self::Change(row, number) => (0, row, number),
            Self::Acknowledged(row, packets) => (1, row, packets),
            Self::Hold(row) => (2, row, 0),
            Self::Make(row) => (3, row, 0),
            Self::Probe(row) => (4, row, 0),
            Self::Tick(number) => (5, number, 0),
            Self::Look(row) => (6, row, 0),
            Self::Lane(number) => (7, number, 0),
            Self::Enter(row) => (8, row, 0),
        };
        kind << 64 | u128::from(u64::from(name) << 32 | u64::from(amount))
    }

    /// Of this code.
    #[inline]
    pub(super) fn of(code: u128) -> Self {
        let (name, amount) = ((code >> 32) as u32, code as u32);
        match code >> 64 {
            0 => Self::Change(name, amount),
            1 => Self::Acknowledged(name, amount),
            2 => Self::Hold(name),
            3 => Self::Make(name),
            4 => Self::Probe(name),
            5 => Self::Tick(name),
            6 => Self::Look(name),
            7 => Self::Lane(name),
            _ => Self::Enter(name),
        }
    }
}

/// The system.
pub(super) fn system(
    calendar: Res<'_, Calendar>,
    mut flows: ResMut<'_, Flows>,
    mut lists: ResMut<'_, Worklists>,
    mut records: ResMut<'_, Records>,
    hosts: Query<'_, '_, &Host>,
    mut outs: Query<'_, '_, &mut OutPort>,
) {
    let now = calendar.now();
    if flows.next() > now {
        return;
    }
    let hosts = hosts.contiguous_iter().into_iter().flatten().next();
    let making = Making {
        now,
        hosts: Seen::new(hosts.unwrap_or_default()),
        records: records.bypass_change_detection(),
        lists: lists.bypass_change_detection(),
    };
    run(
        flows.bypass_change_detection(),
        making,
        Rows::new(column!(outs)),
    );
}

/// Runs the stage, when something is due.
#[inline(never)]
pub(super) fn run(flows: &mut Flows, mut making: Making<'_>, mut outs: Rows<'_, PortRow, OutPort>) {
    while let Some(code) = flows.wakes.due(making.now) {
        flows.due(Wake::of(code), &mut making);
    }
    for number in flows.asks.drain(..) {
        let lane = &flows.lanes[number as usize];
        let port = &mut outs[lane.port];
        port.request_lanes.insert(lane.number.into());
        if !port.visited {
            port.visited = true;
            making.lists.host_visits.push(lane.port);
        }
    }
}

/// What packets that are made are told to.
pub(super) struct Making<'a> {
    pub(super) now: u64,
    pub(super) hosts: Seen<'a, HostRow, Host>,
    pub(super) records: &'a mut Records,
    pub(super) lists: &'a mut Worklists,
}

impl Flows {
    fn due(&mut self, wake: Wake, making: &mut Making<'_>) {
        let now = making.now;
        match wake {
            Wake::Hold(row) => self.hold(row, now),
            Wake::Make(row) => self.make_next(row, making),
            Wake::Probe(row) => self.probe(row, making),
            Wake::Tick(number) => self.tick(number, making),
            Wake::Acknowledged(row, packets) => self.lower(row, packets, now),
            Wake::Change(row, number) => {
                let limit = self.given.limits[number as usize];
                self.rows[row as usize].set_limit(limit);
                self.refresh(row, now);
            }
            Wake::Look(row) => {
                let flow = &mut self.rows[row as usize];
                if flow.wake <= now {
                    flow.wake = u64::MAX;
                }
                self.refresh(row, now);
            }
            Wake::Enter(row) => self.enter(row, making),
            Wake::Lane(number) => {
                let lane = &mut self.lanes[number as usize];
                if lane.wake <= now {
                    lane.wake = u64::MAX;
                }
                if lane.group != NONE {
                    self.asks.push(number);
                }
                match lane.tick(self.given.scheduler) {
                    Some(tick) if tick > now => self.wake_lane(number, tick),
                    Some(_) => self.asks.push(number),
                    None => {}
                }
            }
        }
    }

    /// A process makes a packet, and says when the next is due.
    fn make_next(&mut self, row: u32, making: &mut Making<'_>) {
        let now = making.now;
        let flow = &self.rows[row as usize];
        if now >= flow.active.1 || flow.left == 0 {
            return;
        }
        let maker = &mut self.makers[flow.maker as usize];
        if let Some(process) = &self.given.processes[flow.maker as usize]
            && let Gap::After(cycles) = process.gap(&mut maker.state, &mut maker.arrivals)
        {
            self.wakes.push(now + cycles, Wake::Make(row).code());
        }
        self.make(row, making);
    }

    /// A packet of a flow is made and joins its queue, or is rejected.
    pub(super) fn make(&mut self, row: u32, making: &mut Making<'_>) {
        self.make_within(row, self.given.bound, making);
    }

    /// The same, rejected if `bound` packets wait.
    pub(super) fn make_within(&mut self, row: u32, bound: Option<u32>, making: &mut Making<'_>) {
        let now = making.now;
        let flow = &mut self.rows[row as usize];
        let class = flow.class;
        let maker = &mut self.makers[flow.maker as usize];
        let size = self.given.sizes[usize::from(class)].draw(&mut maker.sizes);
        let size = flow.take(size);
        maker.created.add(size);
        let mut queued = maker.queue.len() as u32;
        let clock = self.slot_clocks.get_mut(maker.clock as usize);
        if let Some(clock) = &clock {
            queued = clock.queued;
        }
        let is_full = bound.is_some_and(|bound| queued >= bound);
        if is_full {
            maker.rejected.add(size);
        }
        if let Some(clock) = clock {
            clock.queued += u32::from(!is_full);
            clock.able -= u32::from(flow.left == 0);
        }
        let (destination, lane) = (flow.destination, flow.lane);
        let sequence = self.number(row);
        let host = HostRow(self.host_of(lane) as u32);
        making.created(host, class, destination, size, sequence, is_full);
        if !is_full {
            let maker = &mut self.makers[self.rows[row as usize].maker as usize];
            self.waiting += 1;
            maker.flits += u64::from(size);
            maker.queue.push_back(Made {
                created: now,
                sequence,
                size,
            });
        }
        self.refresh(row, now);
    }
}

impl Making<'_> {
    pub(super) fn created(
        &mut self,
        host: HostRow,
        class: u16,
        destination: u32,
        size: u16,
        sequence: u32,
        is_rejected: bool,
    ) {
        let ends = [HostId(self.hosts[host].id), HostId(destination)];
        self.records.created(self.now, class, ends, size);
        if is_rejected {
            self.records.rejected(self.now, class);
        } else if self.lists.facts.created {
            self.lists.created.push(Created {
                host,
                class,
                size,
                destination,
                sequence,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::state::wheel::CODE_BITS;

    #[test]
    fn codes_have_the_order_of_the_variants() {
        let in_order = [
            Wake::Change(1, 0),
            Wake::Change(1, u32::MAX),
            Wake::Acknowledged(0, 3),
            Wake::Acknowledged(u32::MAX, 1),
            Wake::Hold(u32::MAX),
            Wake::Make(2),
            Wake::Make(u32::MAX),
            Wake::Probe(0),
            Wake::Tick(7),
            Wake::Look(9),
            Wake::Lane(0),
            Wake::Enter(5),
        ];
        assert!(in_order.is_sorted());
        let codes = in_order.map(Wake::code);
        assert!(codes.is_sorted());
        assert!(codes.iter().all(|code| code >> CODE_BITS == 0));
        assert_eq!(codes.map(Wake::of), in_order);
    }
}
