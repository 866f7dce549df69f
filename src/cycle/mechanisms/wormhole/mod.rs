//! Wormhole switching: outputs and hosts pass single flits (D65, D76 to D78 of the model).
//!
//! Stages: the end of `Slot::Route` (flits that may leave), `Slot::Arbitrate` (outputs pass flits), `Slot::Inject`
//! (hosts pass flits), in place of those of the core; only where packets go flit by flit
//! Reads: requests, credits, flits in input lanes
//! Writes: queues, credits, holders of lanes, the calendar; what is under way flit by flit is in its own
//! Cost: O(1) per flit and hop, O(lanes) per output that passes one; an output whose lanes wait costs nothing
//!
//! # Rules
//! 1. With its first flit a packet leaves its queue and is on the way to the next one; what follows is counted: flits
//!    in the lane that it leaves, flits that are left to the lane that it holds.
//! 2. Every flit is in the ring of [`Flits`] from the cycle in which it is passed to the one in which it may leave the
//!    next switch: latency and allocation delay. Flits for another shard are notices.
//! 3. An output is looked at again in the cycle in which it is free, as long as a lane of it is held or requested; one
//!    that finds nothing sleeps until a flit, a credit, an input or a request comes.
//! 4. With adaptive routing requests are those of `adaptive`; a header that has a lane withdraws the others, whose outputs forget them when
//!    they are looked at. One that needs an empty lane waits for all its credits.
//! 5. In later rounds outputs look again whose picks were refused: who found nothing finds nothing, since inputs and credits only get fewer.
//! 6. A queue whose packet is dropped gives its flits up, one per cycle; the packet behind it waits for the last of them as
//!    for one that leaves. Flits of a packet that is dropped before it joins a queue are taken out as they come.
//! 7. With output lanes flits that have passed wait in them for the channel, with their credits in hand (`behind`).
//!
//! # Deviations
//! None. References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) chapter 13 (wormhole flow control, virtual channels)

mod accept;
mod arrive;
mod behind;
mod crossed;
mod flits;
mod hosts;
mod input_first;
mod law;
mod lost;
mod outputs;
mod passing;
mod places;
mod ready;
mod sinks;
mod swallow;
mod tails;

pub use self::crossed::Crossed;
pub use self::flits::Flits;
pub use self::lost::Swallowing;
pub use self::places::Places;
pub use self::tails::Tails;

use crate::cycle::columns::{Age, Discarded, Held, LaneQueue, Present};
use crate::cycle::mechanism::{Mechanism, ShardBuilder, Site};
use crate::cycle::mechanisms::dropping;
use crate::cycle::slot::Slot;
use crate::cycle::state::Fact;
use crate::fabric::rows::{LaneRow, QueueRow, Row as _};
use crate::fabric::{Group, OutLane, Queue};
use crate::plan::{Matching, OutputArbitration};

/// Whether outputs choose among proposals by when packets have requested, or are created.
fn asks_for_ages(rule: OutputArbitration) -> bool {
    use OutputArbitration::{FirstComeFirstServed, OldestFirst};
    matches!(rule, FirstComeFirstServed | OldestFirst)
}

/// Wormhole switching as a mechanism.
pub struct Wormhole {
    /// Cycles from the passing of a flit to the one in which it may leave, at most.
    farthest: u64,
    /// Whether switches drop packets.
    drops: bool,
    /// Whether they drop some before these join a queue.
    discards: bool,
    /// Whether a flow waits for another.
    waits: bool,
    /// Places of inputs that let several flits pass at a time.
    places: Option<Places>,
    /// What waits behind the crossbar.
    crossed: Option<Crossed>,
}

impl Mechanism for Wormhole {
    fn of(site: &Site<'_>) -> Option<Self> {
        let switch = &site.shared.switch;
        let ports = site.placement.first_host_port[site.number].index();
        let each = usize::from(switch.flit_places);
        let buffer = switch.output_lane_buffer;
        // one for each output, with room behind the crossbar one in each cycle
        let has_room = buffer > 0 || switch.output_buffer > 0;
        let paces = site.graph.channels().iter();
        let slowest = paces.map(|channel| channel.timing.cycles_per_flit).max();
        let each_output = slowest.filter(|_| has_room).unwrap_or(1);
        let most = site.shared.outputs as usize * each_output as usize;
        switch.single_flits.then(|| Self {
            farthest: site.plan.event_horizon(site.graph),
            drops: site.plan.switch.drop.is_some(),
            discards: dropping::discards(site),
            waits: site.plan.flows.iter().any(|flow| !flow.after.is_empty()),
            places: (each > 1).then(|| Places::new(ports, each, most)),
            crossed: (buffer > 0).then(|| Crossed::new(site.shared.numbering.rows(ports), buffer)),
        })
    }

    fn build<const W: usize>(self, shard: &mut ShardBuilder<'_, W>) {
        let receiver = shard.receiver(|world, row, at| {
            world.resource_mut::<Flits>().push(at, LaneRow(row));
        });
        shard.column::<Group<Queue>, Group<Present>>(Group::default());
        shard.column::<Group<OutLane<W>>, Group<Held>>(Group::of(Held::NONE));
        shard.resource(Flits::new(self.farthest, receiver));
        shard.alarm(|world, from| world.resource::<Flits>().next(from));
        shard.ledger(law::enter::<W>);
        if !shard.site().shared.switch.classifier.is_lane() {
            shard.subscribe(Fact::Arrived);
            let queue = QueueRow::NONE;
            shard.column::<Group<OutLane<W>>, Group<LaneQueue>>(Group::of(LaneQueue { queue }));
        }
        shard.last_system(Slot::Route, "flits", arrive::system::<W>);
        if shard.site().shared.switch.sink_step > 0 {
            shard.last_system(Slot::Route, "sink_flits", sinks::system::<W>);
        }
        let options = &shard.site().plan.switch;
        if options.matching == Matching::OutputFirst {
            shard.system(Slot::Arbitrate, "pass_flits", outputs::system::<W>);
        } else {
            if asks_for_ages(options.output_arbitration) {
                shard.column::<Group<OutLane<W>>, Group<Age>>(Group::default());
            }
            shard.system(Slot::Arbitrate, "pass_flits", input_first::system::<W>);
        }
        shard.system(Slot::Inject, "inject_flits", hosts::system::<W>);
        if let Some(places) = self.places {
            shard.resource(places);
        }
        if let Some(crossed) = self.crossed {
            shard.resource(crossed);
            shard.ledger(behind::enter);
            shard.system(Slot::Transmit, "transmit_flits", behind::system::<W>);
        }
        if self.waits {
            shard.resource(Tails::default());
        }
        if self.discards {
            shard.column::<Group<OutLane<W>>, Group<Discarded>>(Group::default());
        }
        if self.drops {
            shard.resource(Swallowing::default());
            shard.last_system(Slot::Deliver, "flit_heads", arrive::note_heads);
            shard.system(Slot::Cross, "swallow_flits", swallow::system::<W>);
            shard.alarm(|world, from| {
                let waits = !world.resource::<Swallowing>().is_empty();
                if waits { from } else { u64::MAX }
            });
        }
    }
}
