//! Hosts: which lane of a channel passes a flit, and what a packet that starts changes.

use super::tails::Tail;
use super::{Flits, Tails};
use crate::cycle::columns::{Held, Holder};
use crate::cycle::joints::{LaneChoice as _, Sending as _};
use crate::cycle::mechanisms::joined::Joined;
use crate::cycle::rules::Any;
use crate::cycle::stages::inject::{Start, Starting, enter, left};
use crate::cycle::view::{Injection, InjectionArbiters, View, column};
use crate::fabric::Group;
use crate::fabric::components::NONE;
use crate::fabric::mask::LaneMask;
use crate::fabric::rows::{LaneRow, PortRow, Rows};
use crate::qos::vl_arbitration::VlChoice;
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, ResMut};

/// What passing flits of hosts changes.
struct Injecting<'a, 'b, const W: usize> {
    view: View<'a, W>,
    hosts: Start<'b, Joined>,
    flits: &'a mut Flits,
    held: Rows<'a, LaneRow, Held>,
    tails: Option<&'a mut Tails>,
}

/// The system of `Slot::Inject`.
pub(super) fn system<const W: usize>(
    mut fabric: Injection<'_, '_, W>,
    mut arbiters: InjectionArbiters<'_, '_>,
    mut starting: Starting<'_, '_, Joined>,
    mut held: Query<'_, '_, &mut Group<Held>>,
    (mut flits, mut tails): (ResMut<'_, Flits>, Option<ResMut<'_, Tails>>),
) {
    if fabric.events.lists().host_visits.is_empty() {
        return;
    }
    let mut injecting = Injecting {
        view: fabric.view::<Any>(arbiters.columns(fabric.events.rules::<Any>())),
        hosts: starting.start(),
        flits: flits.bypass_change_detection(),
        held: Rows::new(column!(held)),
        tails: tails
            .as_mut()
            .map(DetectChangesMut::bypass_change_detection),
    };
    let mut visits = std::mem::take(&mut injecting.view.lists.host_visits);
    for out in visits.drain(..) {
        let port = &mut injecting.view.outs[out];
        port.visited = false;
        if port.request_lanes.is_empty() {
            continue;
        }
        if port.free_at > injecting.view.now {
            port.wake_when_free(out, injecting.view.calendar);
        } else if let Some((lane, choice)) = injecting.pick(out) {
            injecting.pass(out, lane, choice);
        }
    }
    injecting.view.lists.host_visits = visits;
}

impl<const W: usize> Injecting<'_, '_, W> {
    /// The lane whose turn it is, with the choice of the arbiter.
    fn pick(&mut self, out: PortRow) -> Option<(u32, Option<VlChoice>)> {
        let port = &self.view.outs[out];
        let (mut asked, pointer) = (port.request_lanes, port.lane_pointer);
        let mut ready = LaneMask::EMPTY;
        while !asked.is_empty() {
            let lane = self.view.shared.first_lane(asked, pointer);
            asked.remove(lane);
            if !self.is_ready(out, lane) {
                continue;
            }
            if self.view.shared.tables().is_none() {
                return Some((lane, None));
            }
            ready.insert(lane);
        }
        if ready.is_empty() {
            return None;
        }
        let choice = self.view.consult(out, ready);
        if choice.is_none() && self.view.shared.legacy_arbitration() {
            self.view.calendar.at(self.view.now + 1).wakes.push(out);
        }
        choice.map(|choice| (u32::from(choice.lane), Some(choice)))
    }

    /// Whether a lane would pass a flit in this cycle; one without anything to pass asks no longer.
    fn is_ready(&mut self, out: PortRow, lane: u32) -> bool {
        let view = &mut self.view;
        let row = view.shared.numbering.lane(out, lane);
        let queue = (view.shared.numbering).source_queue(view.place.host(out), lane);
        let is_held = self.held[row].left > 0;
        if !is_held && self.hosts.candidate(queue, view.now).is_none() {
            view.outs[out].request_lanes.remove(lane);
            return false;
        }
        view.lanes[row].need = 0;
        if view.credits(row) > 0 {
            return true;
        }
        view.starve(out, row, 1);
        false
    }

    /// A flit passes; with the first one its packet starts.
    fn pass(&mut self, out: PortRow, number: u32, choice: Option<VlChoice>) {
        let numbering = self.view.shared.numbering;
        let lane = numbering.lane(out, number);
        let delay = self.view.late(out, 1);
        if self.held[lane].left == 0 {
            let channel = (out, number);
            let Some(holder) = enter(&mut self.view, &mut self.hosts, channel, delay) else {
                return;
            };
            self.held[lane] = Held {
                left: holder.size,
                holder,
                ..Held::NONE
            };
        }
        self.held[lane].left -= 1;
        let view = &mut self.view;
        let port = &mut view.outs[out];
        if !view.shared.management().contains(number) {
            port.lane_pointer = numbering.after(number);
        }
        port.free_at = view.now + u64::from(port.step) + delay;
        // also a lane that has passed its last flit is asked again: it may have a candidate
        port.request_lanes.insert(number);
        port.wake_when_free(out, view.calendar);
        let arrival = view.now + delay + u64::from(port.latency);
        let at = arrival + view.shared.switch.request_delay;
        let to = numbering.lane(port.to.port(), number);
        let row = &mut view.lanes[lane];
        row.sent = row.sent.wrapping_add(1);
        view.lanes[lane].take(1, view.now);
        if let Some(choice) = choice {
            view.commit(out, choice, 1);
        }
        self.flits.push(at, to);
        if self.held[lane].left == 0 {
            self.leave(out, lane);
        }
    }

    /// The last flit of a packet has passed.
    fn leave(&mut self, out: PortRow, lane: LaneRow) {
        let Holder {
            class,
            sequence,
            flow,
            size,
            ..
        } = self.held[lane].holder;
        if flow == NONE {
            left(&self.view, &mut self.hosts, out, (class, sequence));
        } else if let Some(tails) = &mut self.tails {
            let free = self.view.outs[out].free_at;
            tails.push(Tail {
                flow,
                class,
                flits: size,
                free,
            });
        }
    }
}
