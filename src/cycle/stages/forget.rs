//! Ends the facts of a cycle that somebody subscribed to.
//!
//! Stage: the last of `Slot::Observe`
//! Reads, writes: facts, packet pool
//! Cost: O(facts); not there when nobody subscribed

use super::consume::release;
use crate::cycle::state::{PacketPool, Worklists};
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::ResMut;

/// The system.
pub fn system(mut lists: ResMut<'_, Worklists>, mut pool: ResMut<'_, PacketPool>) {
    let pool = pool.bypass_change_detection();
    run(lists.bypass_change_detection(), pool);
}

/// Runs the stage.
pub(in crate::cycle) fn run(lists: &mut Worklists, pool: &mut PacketPool) {
    lists.grants.clear();
    lists.arrived.clear();
    lists.created.clear();
    lists.dropped.clear();
    lists.sent.clear();
    if lists.facts.delivered {
        release(lists, pool);
    }
}
