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
//! | `Consume` | host | a packet row would be reusable one stage earlier |
//!
//! `React`, `Admit`, `Notify` and `Observe` have no stage of the core. Within a stage the order of entities does not
//! matter: switches read other switches' state only through events of earlier cycles and credit ramps that start
//! later than now.

#![expect(
    clippy::inline_always,
    reason = "small steps of a hop with two or three call sites; measured"
)]

pub mod adaptive;
pub mod arbitrate;
pub mod calendar;
pub mod consume;
pub mod credits;
pub mod cross;
pub mod deliver;
pub mod executor;
pub mod generate;
pub mod inject;
pub mod mark;
pub mod output_lanes;
pub mod profile;
pub mod records;
pub mod route;
pub mod rules;
pub mod schedule;
pub mod sink;
pub mod slot;
pub mod state;
pub mod view;
pub mod wake;

use arbitrate::input_first;

pub use schedule::{Cycle, CycleBuilder, Stage};
pub use slot::Slot;
pub use state::{ShardState, Shared, Work};
pub use view::{Channels, Fabric, Injection, Inputs, Outputs, Pool, View};

use crate::fabric::{InPort, OutLane, OutPort, Packet, PacketRecord, Queue, Switch};
use crate::plan::Matching;

/// The stages of the core for masks of `W` words and the options of `shared`.
pub fn core<const W: usize>(shared: &Shared) -> CycleBuilder {
    if shared.is_plain() {
        stages::<W, true>(shared)
    } else {
        stages::<W, false>(shared)
    }
}

/// The stages; one that the options switch off is left out.
fn stages<const W: usize, const P: bool>(shared: &Shared) -> CycleBuilder {
    let mut cycle = CycleBuilder::new();
    cycle.name::<ShardState>();
    cycle.name::<Switch<W>>();
    cycle.name::<OutPort>();
    cycle.name::<InPort>();
    cycle.name::<OutLane<W>>();
    cycle.name::<Queue>();
    cycle.name::<Packet>();
    cycle.name::<PacketRecord>();
    cycle.add(Slot::Credits, "credits", credits_system::<W, P>);
    cycle.add(Slot::Deliver, "deliver", deliver_system::<W, P>);
    cycle.add(Slot::Route, "route", route_system::<W, P>);
    match shared.matching {
        Matching::OutputFirst => cycle.add(Slot::Arbitrate, "arbitrate", arbitrate_system::<W, P>),
        Matching::InputFirst => cycle.add(Slot::Arbitrate, "input_first", input_first_system::<W>),
    }
    cycle.add(Slot::Cross, "cross", cross_system::<W, P>);
    if shared.output_lane_buffer != 0 {
        cycle.add(Slot::Transmit, "transmit", transmit_system::<W>);
    }
    if shared.marking_threshold.is_some() {
        cycle.add(Slot::Mark, "mark", mark_system::<W>);
    }
    cycle.add(Slot::Generate, "generate", generate_system::<W, P>);
    cycle.add(Slot::Inject, "inject", inject_system::<W, P>);
    cycle.add(Slot::Consume, "consume", consume_system::<W>);
    cycle
}

/// A system that fetches columns and runs a stage when the stage has work.
macro_rules! system {
    ($name:ident, $columns:ident, $stage:path, |$state:ident| $due:expr) => {
        fn $name<const W: usize, const P: bool>(mut columns: $columns<'_, '_, W>) {
            let $state = columns.state();
            if $due {
                $stage(&mut columns.view::<P>());
            }
        }
    };
}

/// The same of a stage that is there only with options that the fast path does not know.
macro_rules! optional_system {
    ($name:ident, $columns:ident, $stage:path, |$state:ident| $due:expr) => {
        fn $name<const W: usize>(mut columns: $columns<'_, '_, W>) {
            let $state = columns.state();
            if $due {
                $stage(&mut columns.view());
            }
        }
    };
}

system!(credits_system, Channels, credits::run, |state| {
    state.work.calendar.is_busy(state.now)
});
system!(deliver_system, Inputs, deliver::run, |state| {
    state.work.calendar.is_busy(state.now)
});
system!(route_system, Fabric, route::run, |state| {
    !(state.work.heads.is_empty()
        && state.work.arrived.is_empty()
        && state.work.sink_visits.is_empty())
});
system!(arbitrate_system, Fabric, arbitrate::run, |state| !state
    .work
    .visits
    .is_empty());
optional_system!(input_first_system, Fabric, input_first::run, |state| {
    !state.work.visits.is_empty()
});
system!(cross_system, Fabric, cross::run, |state| {
    !state.work.grants.is_empty()
});
optional_system!(transmit_system, Fabric, output_lanes::run, |state| {
    state.work.output_lanes.is_due(state.now)
});
optional_system!(mark_system, Fabric, mark::run, |state| {
    !state.work.grants.is_empty()
});
system!(generate_system, Outputs, generate::run, |state| {
    state.work.creates(state.now)
});
system!(inject_system, Injection, inject::run, |state| {
    !state.work.host_visits.is_empty()
});
optional_system!(consume_system, Pool, consume::run, |state| {
    !state.work.consumed.is_empty()
});
