//! The cycle: every system that runs, in the order it runs.
//!
//! Each stage is one plain function over the shard's columns ([`View`]), wrapped in one system that stands in a
//! [`Slot`]. The order of the slots is the model's (section 4); what swapping two neighbours would change:
//!
//! | slot | owner | after the next stage instead |
//! |---|---|---|
//! | `Credits` | channel | a packet would wait one more cycle for credits that count now |
//! | `Deliver` | channel | every hop would take one more cycle |
//! | `Route` | switch | a head would wait one more cycle for its first arbitration |
//! | `Arbitrate` | switch | - |
//! | `Cross` | switch | a packet could not leave its output lane in the cycle of its grant |
//! | `Transmit` | switch | - (marks look at requests for the crossbar) |
//! | `Mark` | switch | heads that arrive in this cycle are counted either way |
//! | `Generate` | host | a packet could not start in the cycle of its creation |
//! | `Inject` | host | - |
//! | `Consume` | host | - (what leaves the shard is put into its mail; it is there for nobody in this cycle) |
//!
//! `React`, `Admit`, `Notify` and `Observe` have no stage of the core. What only some fabrics have is a
//! [`Mechanism`]: `Transmit`, `Mark`, input-first allocation and what passes single flits are systems of mechanisms. Within a stage the order of
//! entities does not matter: switches read other switches' state only through events of earlier cycles and credit
//! ramps that start later than now.

#![expect(
    clippy::inline_always,
    reason = "small steps of a hop with two or three call sites; measured"
)]

pub mod columns;
pub mod counts;
pub mod executor;
pub mod joints;
pub mod ledger;
pub mod look;
pub mod mechanism;
pub mod mechanisms;
pub mod pass;
pub mod prefetch;
pub mod profile;
pub mod records;
pub mod rules;
pub mod schedule;
pub mod shown;
pub mod slot;
pub mod snapshot;
pub mod stages;
pub mod state;
pub mod ties;
pub mod view;
pub mod wake;

pub use look::{Columns, Inspect};
pub use mechanism::{Mechanism, ShardBuilder, Site, Wanted};
pub use schedule::{Cycle, CycleBuilder, Stage};
pub use slot::Slot;
pub use view::View;

use self::rules::{RuleSet, with_rules};
use self::schedule::Pass;
use self::stages::{consume, forget, generate, inject, post};
use self::view::{Arbiters, Choosing, Crossing, Events, Optional, Room};
use self::view::{Channels, Fabric, Heads, Inputs};
use crate::plan::Matching;

/// Adds the stages of the core and those of the mechanisms that the plan asks for.
pub fn build<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
    mechanisms::registered::build_all(shard);
    let site = shard.site();
    with_rules!(site.shared, W, Set => stages::<W, Set>(shard));
    shard.system(Slot::Consume, "consume", consume::system);
    if site.has_border() {
        shard.last_system(Slot::Consume, "post", post::system);
    }
    if shard.keeps_facts() {
        shard.last_system(Slot::Observe, "forget", forget::system);
    }
}

/// The stages of switches and hosts, compiled for the options of a set.
fn stages<const W: usize, P: RuleSet>(shard: &mut ShardBuilder<'_, W>) {
    if P::ARBITRATION || P::BUFFERS || P::OTHER {
        shard.system(Slot::Credits, "credits", credits::<W, P>);
        add_pass::<W, P>(shard, pass::whole::<W, P, ()>);
        shard.system(Slot::Deliver, "deliver", deliver::<W, P>);
        shard.system(Slot::Route, "route", route::<W, P>);
        let switch = &shard.site().shared.switch;
        let packets_go = !(P::OTHER && switch.single_flits);
        if packets_go && switch.matching == Matching::OutputFirst {
            shard.system(Slot::Arbitrate, "arbitrate", arbitrate::<W, P>);
        }
        if packets_go {
            shard.system(Slot::Cross, "cross", cross::<W, P>);
            shard.system(Slot::Inject, "inject", inject::system::<W, P>);
        }
    } else {
        add_pass::<W, P>(shard, pass::bare::<W, P>);
        shard.system(Slot::Credits, "credits", bare_credits::<W, P>);
        shard.system(Slot::Deliver, "deliver", bare_deliver::<W, P>);
        shard.system(Slot::Route, "route", bare_route::<W, P>);
        shard.system(Slot::Arbitrate, "arbitrate", bare_arbitrate::<W, P>);
        shard.system(Slot::Cross, "cross", bare_cross::<W, P>);
        shard.system(Slot::Inject, "inject", inject::bare::<W, P>);
    }
    shard.system(Slot::Generate, "generate", generate::system::<P>);
}

/// The pass that stands for all systems: alone, or with mechanisms that ride.
fn add_pass<const W: usize, P: RuleSet>(shard: &mut ShardBuilder<'_, W>, alone: fn() -> Pass) {
    let pass = if pass::has_riders(shard) {
        pass::whole::<W, P, mechanisms::registered::Riders<'static, 'static>>
    } else {
        alone
    };
    shard.pass(pass(), pass::systems(shard));
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
