//! The cycle: every system that runs, in the order it runs.
//!
//! Each stage is one plain function over the shard's columns ([`View`]), wrapped in one system. The order
//! below is the model's (section 5); what swapping two neighbours would change:
//!
//! | stage | owner | after the next stage instead |
//! |---|---|---|
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
//! Within a stage the order of entities does not matter: switches read other switches' state only through
//! events of earlier cycles and credit ramps that start later than now.

#![expect(
    clippy::inline_always,
    reason = "small steps of a hop with two or three call sites; measured"
)]

pub mod adaptive;
pub mod arbitrate;
mod by_inputs;
pub mod calendar;
pub mod consume;
pub mod cross;
pub mod deliver;
pub mod executor;
pub mod generate;
pub mod inject;
pub mod input_first;
pub mod mark;
pub mod output_lanes;
pub mod profile;
pub mod records;
mod requests;
pub mod route;
pub mod rules;
pub mod sink;
pub mod state;
pub mod view;
pub mod wake;

pub use state::{ShardState, Shared, Work};
pub use view::{Fabric, Packets, Ports, View};

use crate::cycle::executor::Lean;
use crate::cycle::profile::StageClock;
use bevy_ecs::schedule::{
    IntoScheduleConfigs, LogLevel, Schedule, ScheduleBuildSettings, ScheduleLabel, SystemSet,
};
use std::sync::Arc;

/// The stages of a cycle; variant order is run order.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// End of link traversal: credits, freed inputs, arriving heads, wake-ups.
    Deliver,
    /// Route computation of new heads.
    Route,
    /// VL arbitration and switch allocation.
    Arbitrate,
    /// Switch traversal: granted packets move, credits return.
    Cross,
    /// Output lanes: waiting packets start on their channels.
    Transmit,
    /// Congestion marking.
    Mark,
    /// Traffic sources.
    Generate,
    /// Hosts start packets.
    Inject,
    /// Hosts take packets.
    Consume,
}

/// One line of the effective schedule.
#[derive(Clone, Copy, Debug)]
pub struct StageEntry {
    /// The stage.
    pub stage: Stage,
    /// Name of its system.
    pub name: &'static str,
    /// What it reads.
    pub reads: &'static str,
    /// What it writes.
    pub writes: &'static str,
}

/// The schedule as printed by `virtlane schedule`.
pub const STAGES: [StageEntry; 9] = [
    StageEntry {
        stage: Stage::Deliver,
        name: "deliver",
        reads: "calendar slot of this cycle",
        writes: "credits, free inputs, worklists",
    },
    StageEntry {
        stage: Stage::Route,
        name: "route",
        reads: "arrived packets, forwarding table, lane map",
        writes: "queues, route of the head, request masks, visit list",
    },
    StageEntry {
        stage: Stage::Arbitrate,
        name: "arbitrate",
        reads: "visit list, requests, credits, free inputs",
        writes: "grants, starved marks",
    },
    StageEntry {
        stage: Stage::Cross,
        name: "cross",
        reads: "accepted grants",
        writes: "queues, ports, credits, calendar, mail to other shards",
    },
    StageEntry {
        stage: Stage::Transmit,
        name: "transmit",
        reads: "channels due, packets in output lanes",
        writes: "output lanes, calendar, mail to other shards",
    },
    StageEntry {
        stage: Stage::Mark,
        name: "mark",
        reads: "grants, standing requests",
        writes: "FECN bit of granted packets",
    },
    StageEntry {
        stage: Stage::Generate,
        name: "generate",
        reads: "injection wheel, random streams, released messages",
        writes: "source queues, host visit list",
    },
    StageEntry {
        stage: Stage::Inject,
        name: "inject",
        reads: "source queues, credits of the first channel",
        writes: "host outputs, packet pool, calendar",
    },
    StageEntry {
        stage: Stage::Consume,
        name: "consume",
        reads: "packets whose tail is at its host",
        writes: "records, packet pool",
    },
];

/// Label of the per-cycle schedule.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cycle;

/// Builds the schedule of one cycle for masks of `W` words and the options of `shared`; a clock times
/// its systems.
pub fn build<const W: usize>(shared: &Shared, clock: Option<Arc<StageClock>>) -> Schedule {
    if shared.is_plain() {
        schedule::<W, true>(shared, clock)
    } else {
        schedule::<W, false>(shared, clock)
    }
}

/// The schedule; a stage that the options switch off is left out.
fn schedule<const W: usize, const P: bool>(
    shared: &Shared,
    clock: Option<Arc<StageClock>>,
) -> Schedule {
    use Stage::{Arbitrate, Consume, Cross, Deliver, Generate, Inject, Mark, Route, Transmit};
    let marks = shared.marking_threshold.is_some();
    let transmits = shared.output_lane_buffer != 0;
    let stages = (0..STAGES.len()).filter(|&stage| match STAGES[stage].stage {
        Mark => marks,
        Transmit => transmits,
        _ => true,
    });
    let mut cycle = Schedule::new(Cycle);
    cycle.set_executor(Lean::new(clock, stages.collect()));
    cycle.set_build_settings(ScheduleBuildSettings {
        ambiguity_detection: LogLevel::Error,
        auto_insert_apply_deferred: false,
        ..ScheduleBuildSettings::default()
    });
    cycle.configure_sets(
        (
            Deliver, Route, Arbitrate, Cross, Transmit, Mark, Generate, Inject, Consume,
        )
            .chain(),
    );
    cycle.add_systems(deliver_system::<W, P>.in_set(Deliver));
    cycle.add_systems(route_system::<W, P>.in_set(Route));
    cycle.add_systems(arbitrate_system::<W, P>.in_set(Arbitrate));
    cycle.add_systems(cross_system::<W, P>.in_set(Cross));
    if transmits {
        cycle.add_systems(transmit_system::<W, P>.in_set(Transmit));
    }
    if marks {
        cycle.add_systems(mark_system::<W, P>.in_set(Mark));
    }
    cycle.add_systems(generate_system::<W, P>.in_set(Generate));
    cycle.add_systems(inject_system::<W, P>.in_set(Inject));
    cycle.add_systems(consume_system::<W>.in_set(Consume));
    cycle
}

/// All stages on columns fetched once: the fused form of the same cycle.
#[inline]
pub fn fused<const W: usize, const P: bool>(view: &mut View<'_, W, P>) {
    deliver::run(view);
    route::run(view);
    arbitrate::run(view);
    cross::run(view);
    output_lanes::run(view);
    mark::run(view);
    generate::run(view);
    inject::run(view);
    consume::run(&mut view.general());
}

/// A system that fetches the columns and runs a stage when the stage has work.
macro_rules! system {
    ($name:ident, $stage:path, |$state:ident| $due:expr) => {
        fn $name<const W: usize, const P: bool>(mut fabric: Fabric<'_, '_, W>) {
            let $state = fabric.state();
            if $due {
                $stage(&mut fabric.view::<P>());
            }
        }
    };
}

system!(deliver_system, deliver::run, |state| state
    .work
    .calendar
    .is_busy(state.now));
system!(route_system, route::run, |state| {
    !(state.work.heads.is_empty()
        && state.work.arrived.is_empty()
        && state.work.sink_visits.is_empty())
});
system!(arbitrate_system, arbitrate::run, |state| !state
    .work
    .visits
    .is_empty());
system!(cross_system, cross::run, |state| !state
    .work
    .grants
    .is_empty());
system!(transmit_system, output_lanes::run, |state| state
    .work
    .output_lanes
    .is_due(state.now));
system!(mark_system, mark::run, |state| !state
    .work
    .grants
    .is_empty());
system!(inject_system, inject::run, |state| !state
    .work
    .host_visits
    .is_empty());

fn generate_system<const W: usize, const P: bool>(mut ports: Ports<'_, '_>) {
    let state = ports.state();
    if state.work.creates(state.now) {
        generate::run(&mut ports.view::<W, P>());
    }
}

fn consume_system<const W: usize>(mut packets: Packets<'_, '_>) {
    if !packets.state().work.consumed.is_empty() {
        consume::run(&mut packets.view::<W, false>());
    }
}
