//! The walk over the claims of a cycle: what they bar and take, and which are granted.
//!
//! Cost: O(claims * claims of the same switch + ports of their switches)

use super::kept::Kept;
use super::{Claim, Claims};
use crate::cycle::joints::Behind as _;
use crate::cycle::mechanisms::ahead::Booked;
use crate::cycle::rules::{Any, RuleSet};
use crate::cycle::stages::cross::carry_out;
use crate::cycle::state::Grant;
use crate::cycle::view::{Crossing, Fabric, View, column};
use crate::fabric::bit_errors::Retry;
use crate::fabric::rows::{PacketRow, PortRow, Row, SwitchRow};
use bevy_ecs::change_detection::{ContiguousMut, DetectChangesMut};
use bevy_ecs::prelude::{Query, ResMut};

/// The end of `Slot::Route`.
pub(super) fn system<const W: usize>(
    mut fabric: Fabric<'_, '_, W>,
    mut crossing: Crossing<'_, '_>,
    mut own: ResMut<'_, Claims>,
    mut booked: Query<'_, '_, &mut Booked>,
) {
    let own = own.bypass_change_detection();
    if own.is_idle() {
        return;
    }
    let view = &mut fabric.view::<Any>(crossing.columns(fabric.events.rules::<Any>()));
    run(view, own);
    // with output buffers all grants are booked behind the rounds
    if view.shared.output_buffer() > 0 {
        return;
    }
    let booked: &mut [Booked] = column!(booked);
    for grant in &own.grants {
        if let Some(booked) = booked.get_mut(grant.out.index()) {
            let lane = view.shared.numbering.number(grant.lane);
            let delay = Retry::late(view.optional.retries.seen(), grant.out);
            let end = view.outs[grant.out].free_at - delay;
            booked.add(view.now, end, (view.packets[grant.packet].size, lane));
        }
    }
}

fn run<const W: usize>(view: &mut View<'_, W, Any>, own: &mut Claims) {
    let mut switches = std::mem::take(&mut own.ended);
    for claim in &own.held {
        let out = view.shared.numbering.port(claim.lane);
        switches.push(view.outs[out].owner);
    }
    own.is_new = false;
    let claims = std::mem::take(&mut own.held);
    for claim in &claims {
        own.grants.extend(step(view, &mut own.kept, claim));
    }
    own.held = claims;
    for number in 0..own.grants.len() {
        let grant = own.grants[number];
        own.end(view, &grant);
    }
    own.kept.conceal(view);
    switches.sort_unstable();
    switches.dedup();
    for switch in switches {
        visit_all(view, switch);
    }
}

/// Looks at all outputs of a switch that may choose.
fn visit_all<const W: usize, P: RuleSet>(view: &mut View<'_, W, P>, switch: SwitchRow) {
    let mut out = view.switches[switch].first_port;
    while !view.place.is_host(out) && view.outs[out].owner == switch {
        let port = &view.outs[out];
        if port.free_at <= view.now && !port.request_lanes.is_empty() {
            view.visit(out);
        }
        out = out.plus(1);
    }
}

/// One claim of the walk; a grant has been carried out.
fn step<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    kept: &mut Kept,
    claim: &Claim,
) -> Option<Grant> {
    let shared = view.shared;
    let numbering = shared.numbering;
    let input_lane = shared.classifier().lane(claim.queue);
    let (input, out) = (numbering.port(input_lane), numbering.port(claim.lane));
    let flits = view.queues[claim.queue].size;
    if !kept.bar(claim.lane, shared.credit_row(claim.lane)) {
        return None;
    }
    if !view.outs[out].is_boundless() && view.room(claim.lane) < u32::from(flits) {
        kept.lacks(flits);
        return None;
    }
    let speedup = shared.speedup();
    let places_taken = kept.places(input);
    if kept.has_taken(out) || speedup != u16::MAX && places_taken.all >= speedup {
        return None;
    }
    let is_out_free = view.outs[out].free_at <= view.now;
    let has_place = match speedup {
        1 => view.ins[input].free_at <= view.now,
        u16::MAX => true,
        _ => view.ins[input].leaving + places_taken.waiting < speedup,
    };
    let is_granted = is_out_free && has_place;
    kept.take(out, input, is_granted);
    if !is_granted {
        wake_when_both_are_free(view, out, input, speedup == 1);
        return None;
    }
    let first_port = view.switches[view.ins[input].owner].first_port;
    let mut grant = Grant {
        out,
        lane: claim.lane,
        queue: claim.queue,
        input,
        bit: numbering.bit(first_port, input_lane),
        accepted: true,
        by_inputs: false,
        choice: None,
        packet: PacketRow::NONE,
    };
    let waited = view.queues[claim.queue].waited(view.now);
    let hops = &mut view.lists.hops;
    hops.packets += 1;
    hops.flits += u64::from(flits);
    hops.longest = hops.longest.max(waited);
    grant.packet = carry_out::<W, P, false>(view, &grant, false);
    Some(grant)
}

/// What a claim waits for that lacks nothing else; of inputs with several places the calendar knows every end.
fn wake_when_both_are_free<const W: usize, P: RuleSet>(
    view: &mut View<'_, W, P>,
    out: PortRow,
    input: PortRow,
    has_one_place: bool,
) {
    let now = view.now;
    if view.outs[out].free_at > now {
        view.outs[out].wake_when_free(out, view.calendar);
    }
    if has_one_place && view.ins[input].free_at > now {
        view.ins[input].wake_when_free(input, view.calendar);
    }
}
