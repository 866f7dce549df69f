//! The systems of the core: every stage in its slot, and the pass that stands for all of them.

use super::joints::Joints;
use super::mechanism::{Rider, ShardBuilder};
use super::pass;
use super::rules::RuleSet;
use super::slot::Slot;
use super::stages::{self, consume, forget, generate, inject, post};
use super::view::{Arbiters, Choosing, Crossing, Events, Optional, Room};
use super::view::{Channels, Fabric, Heads, Inputs};
use crate::plan::Matching;
use bevy_ecs::system::{SystemParam, SystemParamItem};

/// Whether fabrics of a set may have columns of mechanisms.
const fn has_columns<P: RuleSet>() -> bool {
    let has_more = P::LANES.is_possible() || P::ADAPTIVE.is_possible();
    P::TABLES || P::ARBITRATION || P::BUFFERS || P::OTHER || has_more
}

/// Adds the stages of the core, compiled for the options of a set; `J`: who stands at the joints of hosts, `R`: what mechanisms that ride
/// work on.
pub(in crate::cycle) fn stages<const W: usize, P: RuleSet, J: Joints, R>(
    shard: &mut ShardBuilder<'_, W>,
) where
    R: SystemParam + 'static,
    for<'w, 's> SystemParamItem<'w, 's, R>: Rider<J>,
{
    let pass = if pass::has_riders(shard) {
        pass::whole::<W, P, J, R>()
    } else if const { has_columns::<P>() } {
        pass::whole::<W, P, J, ()>()
    } else {
        pass::bare::<W, P, J>()
    };
    shard.pass(pass, pass::systems(shard));
    if const { has_columns::<P>() } {
        shard.system(Slot::Credits, "credits", credits::<W, P>);
        shard.system(Slot::Deliver, "deliver", deliver::<W, P>);
        shard.system(Slot::Route, "route", route::<W, P>);
        let switch = &shard.site().shared.switch;
        let packets_go = !(P::OTHER && switch.single_flits);
        if packets_go && switch.matching == Matching::OutputFirst {
            shard.system(Slot::Arbitrate, "arbitrate", arbitrate::<W, P>);
        }
        if packets_go {
            shard.system(Slot::Cross, "cross", cross::<W, P>);
            shard.system(Slot::Inject, "inject", inject::system::<W, P, J>);
        }
    } else {
        shard.system(Slot::Credits, "credits", bare_credits::<W, P>);
        shard.system(Slot::Deliver, "deliver", bare_deliver::<W, P>);
        shard.system(Slot::Route, "route", bare_route::<W, P>);
        shard.system(Slot::Arbitrate, "arbitrate", bare_arbitrate::<W, P>);
        shard.system(Slot::Cross, "cross", bare_cross::<W, P>);
        shard.system(Slot::Inject, "inject", inject::bare::<W, P, J>);
    }
    shard.system(Slot::Generate, "generate", generate::system::<P, J>);
    shard.system(Slot::Consume, "consume", consume::system::<J>);
    if shard.site().has_border() {
        shard.last_system(Slot::Consume, "post", post::system::<J>);
    }
    if shard.keeps_facts() {
        shard.last_system(Slot::Observe, "forget", forget::system);
    }
}

/// The systems of a stage, without and with columns of mechanisms: they fetch columns and run the stage when it has
/// work.
macro_rules! systems {
    ($bare:ident, $system:ident: $stage:path, $columns:ident, $optional:ident, |$events:ident| $due:expr) => {
        fn $bare<const W: usize, P: RuleSet>(mut columns: $columns<'_, '_, W>) {
            let $events: &Events<'_, '_> = &columns.events;
            if $due {
                $stage(&mut columns.view::<P>(Optional::default()));
            }
        }

        fn $system<const W: usize, P: RuleSet>(
            mut columns: $columns<'_, '_, W>,
            mut optional: $optional<'_, '_>,
        ) {
            let $events: &Events<'_, '_> = &columns.events;
            if $due {
                $stage(&mut columns.view::<P>(optional.columns(columns.events.rules::<P>())));
            }
        }
    };
}

systems!(
    bare_credits, credits: stages::credits::run, Channels, Room,
    |events| events.calendar().is_busy(events.now())
);
systems!(
    bare_deliver, deliver: stages::deliver::run, Inputs, Choosing,
    |events| events.calendar().is_busy(events.now())
);
systems!(
    bare_route, route: stages::route::run, Heads, Choosing,
    |events| events.lists().has_arrivals()
);
systems!(
    bare_arbitrate, arbitrate: stages::arbitrate::run, Fabric, Arbiters,
    |events| !events.lists().visits.is_empty()
);
systems!(
    bare_cross, cross: stages::cross::run, Fabric, Crossing,
    |events| !events.lists().grants.is_empty()
);
