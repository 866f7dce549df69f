//! Creates the packets that are due in this cycle.
//!
//! Stage: `Slot::Generate`
//! Reads: injection wheel, released messages
//! Writes: source queues, wheel, host visit list
//! Cost: O(packets created)
//!
//! # Rules
//! 1. One draw gives the next creation; then destination, service level, size, from the source's own streams
//!    (model rule 12). At most one packet per class, host and cycle.
//! 2. A packet created in `t` may enter its channel in `t` (rule 11): this stage comes before `inject`.
//! 3. A saturating source makes its next packet in the cycle after the previous one has started (D11).
//! 4. With bounded source queues a packet that finds its class's queue full is rejected (D11).
//! 5. A class that sends messages makes the next packet of its released ones (D21, [`replay`](crate::cycle::mechanisms::replay)).
//!
//! # Deviations
//! None.

pub mod sources;

use self::sources::Sources;
use crate::cycle::joints::{Bounds as _, Joints, Messages as _};
use crate::cycle::records::Records;
use crate::cycle::rules::{RuleSet, Rules};
use crate::cycle::state::worklists::Created;
use crate::cycle::state::{Calendar, Place, Worklists};
use crate::cycle::view::column;
use crate::fabric::rows::{HostRow, PortRow, Rows, Seen};
use crate::fabric::source_queue::{SourceQueues, Waiting};
use crate::fabric::{Host, OutPort};
use crate::ids::HostId;
use crate::traffic::{Creation, Gap};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Local, Query, Res, ResMut};
use bevy_ecs::system::SystemParam;

/// System parameter: hosts, their sources and queues.
#[derive(SystemParam)]
pub struct Making<'w, 's, J: Joints> {
    place: Local<'s, Place>,
    calendar: Res<'w, Calendar>,
    lists: ResMut<'w, Worklists>,
    sources: ResMut<'w, Sources>,
    queues: ResMut<'w, SourceQueues>,
    records: ResMut<'w, Records>,
    messages: Option<ResMut<'w, <J as Joints>::Messages>>,
    bounds: Option<ResMut<'w, <J as Joints>::Bounds>>,
    hosts: Query<'w, 's, &'static Host>,
    outs: Query<'w, 's, &'static mut OutPort>,
}

/// What the stage works on.
pub(in crate::cycle) struct Hosts<'a, P: RuleSet, J: Joints> {
    pub(in crate::cycle) now: u64,
    pub(in crate::cycle) shared: Rules<'a, P>,
    pub(in crate::cycle) place: &'a Place,
    pub(in crate::cycle) lists: &'a mut Worklists,
    pub(in crate::cycle) sources: &'a mut Sources,
    pub(in crate::cycle) queues: &'a mut SourceQueues,
    pub(in crate::cycle) records: &'a mut Records,
    pub(in crate::cycle) messages: Option<&'a mut J::Messages>,
    pub(in crate::cycle) bounds: Option<&'a mut J::Bounds>,
    pub(in crate::cycle) ids: Seen<'a, HostRow, Host>,
    pub(in crate::cycle) outs: Rows<'a, PortRow, OutPort>,
}

/// The system.
pub fn system<P: RuleSet, J: Joints>(mut making: Making<'_, '_, J>) {
    let now = making.calendar.now();
    let messages = making.messages.as_deref();
    if !making.sources.is_busy(now) && messages.is_none_or(|messages| messages.next(now) != now) {
        return;
    }
    let hosts = making.hosts.contiguous_iter().into_iter().flatten().next();
    run(&mut Hosts::<P, J> {
        now,
        shared: Rules::new(&making.place.shared),
        place: &making.place,
        lists: making.lists.bypass_change_detection(),
        sources: making.sources.bypass_change_detection(),
        queues: making.queues.bypass_change_detection(),
        records: making.records.bypass_change_detection(),
        messages: making.messages.as_deref_mut(),
        bounds: making.bounds.as_deref_mut(),
        ids: Seen::new(hosts.unwrap_or_default()),
        outs: Rows::new(column!(making.outs)),
    });
}

/// Runs the stage.
#[inline(never)]
pub(in crate::cycle) fn run<P: RuleSet, J: Joints>(hosts: &mut Hosts<'_, P, J>) {
    let class_count = hosts.shared.traffic.classes.len() as u32;
    hosts.sources.collect(hosts.now, class_count > 1);
    let mut due = std::mem::take(&mut hosts.sources.due);
    if let Some(messages) = &mut hosts.messages {
        messages.collect(hosts.now, &mut due);
        due.sort_unstable();
    }
    for part in due.chunks(hosts.place.group(due.len())) {
        if hosts.place.prefetches {
            hosts.prefetch(part, class_count);
        }
        for &row in part {
            create(hosts, row, class_count);
        }
    }
    due.clear();
    hosts.sources.due = due;
    if let Some(messages) = &mut hosts.messages {
        messages.settle();
    }
}

#[inline]
fn create<P: RuleSet, J: Joints>(hosts: &mut Hosts<'_, P, J>, row: u32, class_count: u32) {
    let shared = hosts.shared;
    let (host, class_number) = match class_count {
        1 => (row, 0),
        several => (row / several, row % several),
    };
    let host = HostRow(host);
    let class = &shared.traffic.classes[class_number as usize];
    let source = hosts.sources.source(row);
    let (made, gap) = match &mut hosts.messages {
        Some(messages) if class.messages.is_some() => {
            source.count();
            (messages.create(row, class), Gap::Never)
        }
        _ => match source.create(class) {
            Some(creation) => (Some(creation), source.next_gap(class)),
            None => (None, Gap::Never),
        },
    };
    let Some(creation) = made else {
        return;
    };
    let key = if class.management {
        shared.forwarding.management_key
    } else {
        shared.key(hosts.ids[host].id, creation.destination.0, creation.sl)
    };
    let rejected = enqueue(hosts, host, class_number as u16, &creation, key);
    match gap {
        Gap::After(cycles) => hosts.sources.insert(row, hosts.now + cycles),
        Gap::WhenSent if rejected => hosts.sources.insert(row, hosts.now + 1),
        Gap::WhenSent | Gap::Never => {}
    }
}

/// Puts the packet into its host's queue, unless that is full; returns whether it was rejected.
#[inline]
fn enqueue<P: RuleSet, J: Joints>(
    hosts: &mut Hosts<'_, P, J>,
    host: HostRow,
    class: u16,
    creation: &Creation,
    key: u8,
) -> bool {
    let ends = [HostId(hosts.ids[host].id), creation.destination];
    hosts.records.created(hosts.now, class, ends, creation.size);
    if let Some(bounds) = &mut hosts.bounds
        && !bounds.admit(host, class)
    {
        hosts.records.rejected(hosts.now, class);
        return true;
    }
    if hosts.lists.facts.created {
        hosts.lists.created.push(Created {
            host,
            class,
            size: creation.size,
            destination: creation.destination.0,
            sequence: creation.sequence as u32,
        });
    }
    let out = hosts.place.port(host);
    let port = &mut hosts.outs[out];
    let lane = match hosts.shared.adaptation() {
        Some(adaptation) => adaptation.injection_lane(key, creation.sequence),
        None => hosts.shared.forwarding.profiles[(port.profile + u32::from(key)) as usize],
    };
    port.request_lanes.insert(u32::from(lane));
    if !port.visited {
        port.visited = true;
        hosts.lists.host_visits.push(out);
    }
    let queue = (hosts.shared.numbering).source_queue(host, u32::from(lane));
    let packet = Waiting {
        created: hosts.now,
        destination: creation.destination.0,
        sequence: creation.sequence as u32,
        class,
        size: creation.size,
        key,
    };
    hosts.queues.push(queue, packet);
    false
}
