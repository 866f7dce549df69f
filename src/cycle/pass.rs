//! One pass over the stages for as long as nothing but the core has something to do.
//!
//! The systems of a cycle are declared, ordered and checked one by one; fetching their columns and resources again in every
//! cycle costs more than what a quiet cycle does. Where all that stands in the schedule is the stages of the core, input-first
//! allocation and output lanes among them, mechanisms that sleep ([`Sleeper`](super::ties::Sleeper)) and mechanisms that ride
//! (`Rider`), the pass fetches everything once and runs the same functions in the same order, cycle after cycle, up to the end of
//! the window. A guest, a profile or another mechanism that is awake has the systems run slot by slot; what comes out is the same.
//!
//! Cost: nothing per cycle but the stages, and a look at the calendar and the sources for the next one.

use super::joints::{Behind as _, Joints};
use super::mechanism::{Fetched, Rider, ShardBuilder};
use super::rules::RuleSet;
use super::schedule::Pass;
use super::slot::Slot;
use super::stages::arbitrate::input_first;
use super::stages::consume::Taking;
use super::stages::generate::Hosts;
use super::stages::generate::sources::Sources;
use super::stages::inject::{Start, Starting};
use super::stages::post::Leaving;
use super::stages::receive::Receiving;
use super::stages::{self, consume, forget, generate, inject, post, receive};
use super::state::{Calendar, Mail, Outbox};
use super::view::{AllArbiters, Fabric, Optional, View};
use crate::plan::Matching;
use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::prelude::ResMut;
use bevy_ecs::system::{In, InMut, IntoSystem, StaticSystemParam, SystemParam, SystemParamItem};
use std::any::Any;

/// Systems that the pass of a shard stands for, in run order.
pub fn systems<const W: usize>(shard: &ShardBuilder<'_, W>) -> Vec<&'static str> {
    let site = shard.site();
    let switch = &site.shared.switch;
    let is_output_first = switch.matching == Matching::OutputFirst;
    let core = [
        (Slot::Credits, "credits", true),
        (Slot::Deliver, "deliver", true),
        (Slot::Route, "route", true),
        (Slot::Arbitrate, "arbitrate", is_output_first),
        (Slot::Arbitrate, "input_first", !is_output_first),
        (Slot::Cross, "cross", true),
        (Slot::Transmit, "transmit", switch.output_lane_buffer != 0),
        (Slot::Generate, "generate", true),
        (Slot::Inject, "inject", true),
        (Slot::Consume, "consume", true),
        (Slot::Consume, "post", site.has_border()),
    ];
    let present = core.into_iter().filter(|(.., is_there)| *is_there);
    let mut systems: Vec<_> = present.map(|(slot, name, _)| (slot, name)).collect();
    systems.extend(shard.riding());
    systems.extend(shard.keeps_facts().then_some((Slot::Observe, "forget")));
    systems.sort_by_key(|(slot, _)| *slot);
    systems.into_iter().map(|(_, name)| name).collect()
}

/// Whether something is to be done beside the stages of the core.
pub fn has_riders<const W: usize>(shard: &ShardBuilder<'_, W>) -> bool {
    shard.keeps_facts() || shard.riding().next().is_some()
}

/// The pass of a fabric without columns of mechanisms.
pub fn bare<const W: usize, P: RuleSet, J: Joints>() -> Pass {
    Box::new(IntoSystem::into_system(bare_system::<W, P, J>))
}

/// The pass with them, and with mechanisms that ride; `R`: what these work on, or nothing.
pub(in crate::cycle) fn whole<const W: usize, P: RuleSet, J: Joints, R>() -> Pass
where
    R: SystemParam + 'static,
    for<'w, 's> SystemParamItem<'w, 's, R>: Rider<J>,
{
    Box::new(IntoSystem::into_system(system::<W, P, J, R>))
}

fn bare_system<const W: usize, P: RuleSet, J: Joints>(
    (InMut(mail), In(window)): (InMut<'_, dyn Any>, In<[u64; 2]>),
    mut fabric: Fabric<'_, '_, W>,
    mut starting: Starting<'_, '_, J>,
    mut outbox: ResMut<'_, Outbox>,
) -> u64 {
    let view = &mut fabric.view::<P>(Optional::default());
    run(view, &mut starting, (mail, &mut outbox), window, &mut ())
}

fn system<const W: usize, P: RuleSet, J: Joints, R>(
    (InMut(mail), In(window)): (InMut<'_, dyn Any>, In<[u64; 2]>),
    mut fabric: Fabric<'_, '_, W>,
    mut arbiters: AllArbiters<'_, '_>,
    mut starting: Starting<'_, '_, J>,
    mut outbox: ResMut<'_, Outbox>,
    mut riders: StaticSystemParam<'_, '_, R>,
) -> u64
where
    R: SystemParam + 'static,
    for<'w, 's> SystemParamItem<'w, 's, R>: Rider<J>,
{
    let view = &mut fabric.view::<P>(arbiters.columns(fabric.events.rules::<P>()));
    let mail = (mail, &mut outbox);
    run(view, &mut starting, mail, window, &mut *riders)
}

fn run<const W: usize, P: RuleSet, J: Joints, R: Rider<J>>(
    view: &mut View<'_, W, P>,
    starting: &mut Starting<'_, '_, J>,
    (mail, outbox): (&mut dyn Any, &mut ResMut<'_, Outbox>),
    [from, to]: [u64; 2],
    riders: &mut R,
) -> u64 {
    let start = &mut starting.start();
    let inbox = mail.downcast_mut::<Vec<Mail>>();
    let inbox = inbox.expect("the shard hands its inbox over");
    let packets = inbox.iter().map(|mail| mail.packets().len());
    if start.pool.unused() < packets.sum() {
        return from;
    }
    start.receive(view, inbox);
    let on = &mut Fetched {
        view,
        start,
        outbox: outbox.bypass_change_detection(),
    };
    let mut now = next(on, riders, from);
    while now < to && !on.start.pool.is_low() {
        on.view.calendar.set_now(now);
        on.view.now = now;
        cycle(on, riders);
        now = next(on, riders, now + 1);
    }
    now
}

/// First cycle from `from` on in which something is to be done.
#[inline(always)]
fn next<const W: usize, P: RuleSet, J: Joints, R: Rider<J>>(
    on: &Fetched<'_, '_, '_, W, P, J>,
    riders: &R,
    from: u64,
) -> u64 {
    let own = next_event(on.view.calendar, on.start.sources, from);
    own.min(riders.next(on.start).max(from))
}

/// The stages of one cycle.
#[inline(always)]
fn cycle<const W: usize, P: RuleSet, J: Joints, R: Rider<J>>(
    on: &mut Fetched<'_, '_, '_, W, P, J>,
    riders: &mut R,
) {
    let view = &mut *on.view;
    if view.calendar.is_busy(view.now) {
        stages::credits::run(view);
        stages::deliver::run(view);
    }
    if view.lists.has_arrivals() {
        stages::route::run(view);
    }
    if !view.lists.visits.is_empty() {
        // the constant first: other sets have no copy
        if P::ARBITRATION && view.shared.matching() == Matching::InputFirst {
            input_first::run(view);
        } else {
            stages::arbitrate::run(view);
        }
    }
    if !view.lists.grants.is_empty() {
        stages::cross::run(view);
    }
    if const { P::LANES.is_possible() } && !view.lists.channel_visits.is_empty() {
        view.transmit();
    }
    riders.run(Slot::Mark, on);
    if on.start.sources.is_busy(on.view.now) {
        generate::run(&mut on.start.making(on.view));
    }
    riders.run(Slot::Admit, on);
    let (view, start) = (&mut *on.view, &mut *on.start);
    if !view.lists.host_visits.is_empty() {
        inject::run(view, start);
    }
    if !view.lists.consumed.is_empty() {
        consume::run(&mut start.taking(view));
    }
    if !view.lists.outgoing.is_empty() {
        post::run(&mut start.leaving(view, on.outbox));
    }
    riders.run(Slot::Notify, on);
    riders.run(Slot::Observe, on);
    if R::RIDES && on.view.lists.facts.any() {
        forget::run(on.view.lists, on.start.pool);
    }
}

impl<J: Joints> Start<'_, J> {
    /// Takes packets and credits of other shards out of their mail.
    fn receive<const W: usize, P: RuleSet>(
        &mut self,
        view: &mut View<'_, W, P>,
        inbox: &mut [Mail],
    ) {
        let mut receiving = Receiving {
            calendar: &mut *view.calendar,
            pool: &mut *self.pool,
            packets: view.packets.reborrow(),
            records: view.records.reborrow(),
        };
        for mail in inbox {
            let (packets, credits, _) = mail.open();
            receive::run(&mut receiving, packets, credits);
        }
    }

    /// What generation works on, beside a view.
    #[inline(always)]
    fn making<'b, const W: usize, P: RuleSet>(
        &'b mut self,
        view: &'b mut View<'_, W, P>,
    ) -> Hosts<'b, P, J> {
        Hosts {
            now: view.now,
            shared: view.shared,
            place: view.place,
            lists: &mut *view.lists,
            sources: &mut *self.sources,
            queues: &mut *self.queues,
            records: &mut *self.records,
            messages: self.messages.as_deref_mut(),
            bounds: self.bounds.as_deref_mut(),
            ids: self.hosts,
            outs: view.outs.reborrow(),
        }
    }

    /// What consumption works on, beside a view.
    #[inline(always)]
    fn taking<'b, const W: usize, P: RuleSet>(
        &'b mut self,
        view: &'b mut View<'_, W, P>,
    ) -> Taking<'b, J> {
        Taking {
            now: view.now,
            lists: &mut *view.lists,
            pool: &mut *self.pool,
            records: &mut *self.records,
            messages: self.messages.as_deref_mut(),
            packets: view.packets.seen(),
            packet_records: view.records.seen(),
        }
    }

    /// What leaves the shard, beside a view.
    #[inline(always)]
    fn leaving<'b, const W: usize, P: RuleSet>(
        &'b mut self,
        view: &'b mut View<'_, W, P>,
        outbox: &'b mut Outbox,
    ) -> Leaving<'b, J> {
        Leaving {
            place: view.place,
            lists: &mut *view.lists,
            pool: &mut *self.pool,
            outbox,
            contents: None,
            packets: view.packets.seen(),
            records: view.records.seen(),
        }
    }
}

/// First cycle from `from` on in which the calendar or a source has something; `u64::MAX` = never.
#[inline]
pub fn next_event(calendar: &Calendar, sources: &Sources, from: u64) -> u64 {
    if calendar.is_busy(from) || sources.is_busy(from) {
        return from;
    }
    let event = calendar.next_busy(from).unwrap_or(u64::MAX);
    let source = sources.next_busy(from).unwrap_or(u64::MAX);
    event.min(source)
}
