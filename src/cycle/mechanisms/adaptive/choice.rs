//! What a head requests: its course, the candidates on it, and which of these it takes.
//!
//! Part of `Slot::Route`.
//! Reads: the routing function, credits of the switch's outputs, what waits for them
//! Writes: course of the head, the stream of its input
//! Cost: O(candidates)
//!
//! # Exactness
//! Where the routing function keeps the ports of its candidates in a list they are the candidates, in that order: what is compared
//! and drawn is the same as after [`AdaptiveRouting::candidates`](crate::routing::adaptive::AdaptiveRouting::candidates).

use super::outputs::{Head, MOST, Outputs};
use crate::cycle::rules::RuleSet;
use crate::cycle::state::Adaptation;
use crate::cycle::view::View;
use crate::fabric::rows::{PacketRow, PortRow, QueueRow};
use crate::ids::{HostId, SwitchId};
use crate::routing::adaptive::{Candidate, Course, Local as _, Selection};

/// A packet at an input, of which `queue` has the stream.
pub(super) fn head_of<'a, const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    adaptation: &'a Adaptation,
    (queue, input): (QueueRow, PortRow),
    packet: PacketRow,
) -> Head<'a> {
    let switch = &view.switches[view.ins[input].owner];
    let key = view.packets[packet].key;
    Head {
        adaptation,
        queue,
        packet,
        switch: SwitchId(switch.global),
        indices: adaptation.indices(switch.global),
        first_port: switch.first_port,
        first_lane: adaptation.first_lane[usize::from(key)],
    }
}

/// The output and lane of a packet of VL15 (D83); `None`: it is none, and chooses.
#[inline]
pub(super) fn by_tables<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    head: Head<'_>,
) -> Option<Candidate> {
    head.adaptation.management.as_ref()?;
    let packet = &view.packets[head.packet];
    let is_management = packet.key == head.adaptation.management_key();
    let port = || (head.adaptation).management_port(head.switch.0, packet.destination);
    is_management.then(|| Candidate::at(port()))
}

/// Rule 1: its course.
#[inline(always)]
pub(super) fn set_out<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    head: Head<'_>,
) -> Course {
    let packet = &view.packets[head.packet];
    if packet.hops == 0 {
        return depart(view, head);
    }
    let record = &mut view.records[head.packet];
    let course = Course {
        via: record.via,
        word: record.word,
    };
    let routing = &head.adaptation.routing;
    let course = routing.advance(head.switch, HostId(packet.destination), course);
    (record.via, record.word) = (course.via, course.word);
    course
}

#[inline(never)]
fn depart<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, head: Head<'_>) -> Course {
    let destination = HostId(view.packets[head.packet].destination);
    let routing = &head.adaptation.routing;
    let course = routing.depart(head.switch, destination, &mut Outputs::new(view, head));
    let record = &mut view.records[head.packet];
    (record.via, record.word) = (course.via, course.word);
    course
}

/// Its candidates.
pub(super) fn list<const W: usize, P: RuleSet>(
    view: &View<'_, W, P>,
    head: Head<'_>,
    course: Course,
    found: &mut Vec<Candidate>,
) {
    let destination = HostId(view.packets[head.packet].destination);
    let routing = &head.adaptation.routing;
    routing.candidates(head.switch, destination, course, found);
}

/// Rules 1 and 2: the candidate to request.
#[inline(always)]
pub(super) fn choose<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    head: Head<'_>,
) -> Candidate {
    if let Some(only) = by_tables(view, head) {
        return only;
    }
    let course = set_out(view, head);
    let destination = HostId(view.packets[head.packet].destination);
    let routing = &head.adaptation.routing;
    match routing.ports(head.switch, destination, course) {
        Some(&[port]) => Candidate::at(port),
        Some(ports) if ports.len() <= MOST && head.adaptation.selection == Selection::LeastLoad => {
            let place = Outputs::new(view, head).least_port(ports);
            Candidate::at(ports[place])
        }
        _ => choose_listed(view, head, course),
    }
}

/// Rule 2 for candidates of any kind.
#[inline(never)]
fn choose_listed<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    head: Head<'_>,
    course: Course,
) -> Candidate {
    let mut found = std::mem::take(&mut view.lists.candidates);
    list(view, head, course, &mut found);
    let chosen = match head.adaptation.selection {
        _ if found.len() < 2 => 0,
        Selection::First => 0,
        Selection::Random => Outputs::new(view, head).below(found.len() as u32) as usize,
        Selection::LeastLoad | Selection::Open => Outputs::new(view, head).least(&found),
    };
    let chosen = found[chosen];
    view.lists.candidates = found;
    chosen
}
