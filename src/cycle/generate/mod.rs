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
//! 5. A class that sends messages makes the next packet of its released ones (D21, [`replay`]).
//!
//! # Deviations
//! None.

pub mod replay;
pub mod sources;

use super::view::View;
use crate::fabric::source_queue::Waiting;
use crate::traffic::Gap;

/// Runs the stage.
#[inline]
pub fn run<const W: usize, const P: bool>(view: &mut View<'_, W, P>) {
    let class_count = view.shared.classes.len() as u32;
    view.work.sources.collect(view.now, class_count > 1);
    let mut due = std::mem::take(&mut view.work.sources.due);
    if let Some(replay) = &mut view.work.replay {
        replay.collect(view.now, &mut due);
        due.sort_unstable();
    }
    for row in due.drain(..) {
        create(view, row, class_count);
    }
    view.work.sources.due = due;
    if let Some(replay) = &mut view.work.replay {
        replay.settle();
    }
}

#[inline]
fn create<const W: usize, const P: bool>(view: &mut View<'_, W, P>, row: u32, class_count: u32) {
    let shared = view.shared;
    let (host, class_number) = match class_count {
        1 => (row, 0),
        several => (row / several, row % several),
    };
    let class = &shared.classes[class_number as usize];
    let source = view.work.sources.source(row);
    let (made, gap) = match &mut view.work.replay {
        Some(replay) if class.messages.is_some() => {
            source.count();
            (replay.create(row, class), Gap::Never)
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
        shared.management_key
    } else {
        let layer = if shared.path_layer.is_empty() {
            0
        } else {
            let from = view.work.host_ids[host as usize];
            let from = shared.host_switch[from as usize] as usize;
            shared.path_layer[from * shared.host_count + creation.destination.index()]
        };
        creation.sl.0 * shared.layers + layer
    };
    let rejected = enqueue(view, host, class_number as u16, &creation, key);
    match gap {
        Gap::After(cycles) => view.work.sources.insert(row, view.now + cycles),
        Gap::WhenSent if rejected => view.work.sources.insert(row, view.now + 1),
        Gap::WhenSent | Gap::Never => {}
    }
}

/// Puts the packet into its host's queue, unless that is full; returns whether it was rejected.
#[inline]
fn enqueue<const W: usize, const P: bool>(
    view: &mut View<'_, W, P>,
    host: u32,
    class: u16,
    creation: &crate::traffic::Creation,
    key: u8,
) -> bool {
    view.work
        .records
        .created(view.now, class, host, creation.destination, creation.size);
    if let Some(limit) = view.shared.source_queue {
        let waiting = &mut view.work.class_waiting
            [host as usize * view.shared.classes.len() + usize::from(class)];
        if *waiting >= limit {
            view.work.records.rejected(view.now, class);
            return true;
        }
        *waiting += 1;
    }
    let out = view.work.first_host_port + host;
    let port = &mut view.outs[out as usize];
    let lane = match view.shared.adaptation() {
        Some(adaptation) => adaptation.injection_lane(key, creation.sequence),
        None => view.shared.profiles[(port.profile + u32::from(key)) as usize],
    };
    port.request_lanes |= 1 << lane;
    if !port.visited {
        port.visited = true;
        view.work.host_visits.push(out);
    }
    let queue = ((host << view.shared.lane_shift) + u32::from(lane)) as usize;
    let packet = Waiting {
        created: view.now,
        destination: creation.destination.0,
        sequence: creation.sequence as u32,
        class,
        size: creation.size,
        key,
    };
    view.work.source_queues.push(queue, packet);
    false
}
