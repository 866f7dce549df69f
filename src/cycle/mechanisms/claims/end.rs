//! The rounds of a cycle are over: what was kept from them is given back, and what the walk has granted counts as theirs.

use super::Claims;
use crate::cycle::rules::Any;
use crate::cycle::view::{Crossing, Fabric};
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::ResMut;

/// The end of `Slot::Arbitrate`.
pub(super) fn system<const W: usize>(
    mut fabric: Fabric<'_, '_, W>,
    mut crossing: Crossing<'_, '_>,
    mut own: ResMut<'_, Claims>,
) {
    let own = own.bypass_change_detection();
    if own.kept.is_empty() {
        return;
    }
    let view = &mut fabric.view::<Any>(crossing.columns(fabric.events.rules::<Any>()));
    own.kept.reveal(view);
    if view.shared.open() {
        // a claimant may have been granted for another candidate
        for number in 0..view.lists.grants.len() {
            let grant = view.lists.grants[number];
            if grant.accepted {
                own.end(view, &grant);
            }
        }
    }
    // as those of a round that has been carried out
    view.lists.settled += own.grants.len();
    view.lists.grants.splice(0..0, own.grants.drain(..));
}
