//! Flits of packets that switches drop (D58): they leave their buffer one by one, over no crossbar and no channel.
//!
//! Stage: `Slot::Cross`, only where switches drop
//! Reads: queues with a dropped packet whose next flit may leave
//! Writes: flits in input lanes, credits back to the sender; the queue's next head, a cycle after the last flit
//! Cost: O(flits that leave)

use super::Swallowing;
use super::arrive::next_head;
use crate::cycle::columns::Present;
use crate::cycle::rules::Any;
use crate::cycle::stages::cross::return_credits;
use crate::cycle::view::{Inputs, Optional, column};
use crate::fabric::Group;
use crate::fabric::rows::{QueueRow, Rows};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, ResMut};

/// The system.
pub(super) fn system<const W: usize>(
    mut inputs: Inputs<'_, '_, W>,
    mut present: Query<'_, '_, &mut Group<Present>>,
    mut swallowing: ResMut<'_, Swallowing>,
) {
    if swallowing.is_empty() {
        return;
    }
    let mut present: Rows<'_, QueueRow, Present> = Rows::new(column!(present));
    let view = &mut inputs.view::<Any>(Optional::default());
    let queues = &mut swallowing.bypass_change_detection().queues;
    queues.retain(|&queue| {
        let row = &mut present[queue];
        row.flits -= 1;
        row.lost -= 1;
        let goes_on = row.lost > 0 && row.flits > 0;
        let (input, now) = (view.queue_port(queue), view.now);
        if row.lost == 0 {
            let at = next_head(view, queue);
            view.calendar.at(at).frees.push(queue.into());
        }
        return_credits(view, queue, input, now, 1, 1);
        goes_on
    });
}
