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
//! [`Mechanism`]: `Transmit`, `Mark` and input-first allocation are systems of mechanisms. Within a stage the order of
//! entities does not matter: switches read other switches' state only through events of earlier cycles and credit
//! ramps that start later than now.

#![expect(
    clippy::inline_always,
    reason = "small steps of a hop with two or three call sites; measured"
)]

mod columns;
pub mod counts;
pub mod executor;
pub mod ledger;
pub mod look;
pub mod mechanism;
pub mod mechanisms;
pub mod profile;
pub mod records;
pub mod rules;
pub mod schedule;
pub mod slot;
pub mod snapshot;
pub mod stages;
pub mod state;
pub mod view;
pub mod wake;

pub use look::Columns;
pub use mechanism::{Mechanism, ShardBuilder, Site};
pub use schedule::{Cycle, CycleBuilder, Stage};
pub use slot::Slot;
pub use view::View;

use self::stages::{
    arbitrate, consume, credits, cross, deliver, forget, generate, inject, post, route,
};
use self::view::{Arbiters, Choosing, Crossing, Events, Optional, Room, Routing};
use self::view::{Channels, Fabric, Heads, Inputs};
use crate::plan::Matching;

/// Adds the stages of the core and those of the mechanisms that the plan asks for.
pub fn build<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
    mechanism::build_all(shard);
    let site = shard.site();
    if site.shared.is_plain() {
        plain_stages(shard);
    } else {
        general_stages(shard);
    }
    shard.system(Slot::Consume, "consume", consume::system);
    if site.has_border() {
        shard.last_system(Slot::Consume, "post", post::system);
    }
    if shard.keeps_facts() {
        shard.last_system(Slot::Observe, "forget", forget::system);
    }
}

/// The stages where every option has its default: compiled for these.
fn plain_stages<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
    shard.system(Slot::Credits, "credits", credits_plain::<W>);
    shard.system(Slot::Deliver, "deliver", deliver_plain::<W>);
    shard.system(Slot::Route, "route", route_plain::<W>);
    shard.system(Slot::Arbitrate, "arbitrate", arbitrate_plain::<W>);
    shard.system(Slot::Cross, "cross", cross_plain::<W>);
    shard.system(Slot::Generate, "generate", generate::system::<true>);
    shard.system(Slot::Inject, "inject", inject::plain::<W>);
}

/// The stages under any options.
fn general_stages<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
    shard.system(Slot::Credits, "credits", credits_general::<W>);
    shard.system(Slot::Deliver, "deliver", deliver_general::<W>);
    shard.system(Slot::Route, "route", route_general::<W>);
    if shard.site().shared.switch.matching == Matching::OutputFirst {
        shard.system(Slot::Arbitrate, "arbitrate", arbitrate_general::<W>);
    }
    shard.system(Slot::Cross, "cross", cross_general::<W>);
    shard.system(Slot::Generate, "generate", generate::system::<false>);
    shard.system(Slot::Inject, "inject", inject::general::<W>);
}

/// The systems of a stage, for plain fabrics and for others: they fetch columns and run the stage when it has work.
macro_rules! systems {
    ($plain:ident, $general:ident: $stage:path, $columns:ident, $optional:ident, |$events:ident| $due:expr) => {
        fn $plain<const W: usize>(mut columns: $columns<'_, '_, W>) {
            let $events: &Events<'_> = &columns.events;
            if $due {
                $stage(&mut columns.view::<true>(Optional::default()));
            }
        }

        fn $general<const W: usize>(
            mut columns: $columns<'_, '_, W>,
            mut optional: $optional<'_, '_>,
        ) {
            let $events: &Events<'_> = &columns.events;
            if $due {
                $stage(&mut columns.view::<false>(optional.columns()));
            }
        }
    };
}

systems!(
    credits_plain, credits_general: credits::run, Channels, Room,
    |events| events.calendar().is_busy(events.now())
);
systems!(
    deliver_plain, deliver_general: deliver::run, Inputs, Choosing,
    |events| events.calendar().is_busy(events.now())
);
systems!(
    route_plain, route_general: route::run, Heads, Routing,
    |events| events.lists().has_arrivals()
);
systems!(
    arbitrate_plain, arbitrate_general: arbitrate::run, Fabric, Arbiters,
    |events| !events.lists().visits.is_empty()
);
systems!(
    cross_plain, cross_general: cross::run, Fabric, Crossing,
    |events| !events.lists().grants.is_empty()
);
