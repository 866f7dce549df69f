//! The mechanisms of a cycle: a new one is its file and a line here.
//!
//! Nothing but the list knows all of them, so that they know the core and the core does not know them. Those whose work the pass does
//! itself have a line in the second list, too.
//!
//! Cost: once per shard; of riders, once per window for what they work on and a question per cycle for one that is not used.

use super::congestion::FillingAboard;
use super::congestion::requests::MarkingAboard;
use super::control::ControlAboard;
use super::flows::FlowsAboard;
use super::joined::Joined;
use super::occupancy::OccupancyAboard;

use crate::cycle::mechanism::{Fetched, Rider, ShardBuilder};
use crate::cycle::rules::{RuleSet, with_rules};
use crate::cycle::slot::Slot;
use crate::cycle::stages::inject::Start;
use crate::cycle::systems;
use bevy_ecs::system::SystemParam;

/// Adds the mechanisms that the plan asks for, and the stages of the core.
pub fn build<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
    build_all(shard);
    let options = shard.site().shared;
    with_rules!(options, W, Set => systems::stages::<W, Set, Joined, Riders<'static, 'static>>(shard));
}

/// The mechanisms, in the order in which they are built.
macro_rules! mechanisms {
    ($($mechanism:path),* $(,)?) => {
        /// Adds every mechanism that the site asks for.
        fn build_all<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
            $(shard.add::<$mechanism>();)*
        }
    };
}

mechanisms![
    super::adaptive::Adapting,
    super::ahead::Booking,
    super::answer_rooms::Bounding,
    crate::cycle::stages::arbitrate::OutputStreams,
    crate::cycle::stages::arbitrate::input_first::InputFirst,
    super::barriers::Barriers,
    super::bounded_queues::Bounding,
    crate::cycle::stages::cross::OutputBuffers,
    super::flows::Flowing,
    super::control::Controlling,
    super::probes::Probing,
    super::set_up::SettingUp,
    super::congestion::requests::Marking,
    super::congestion::Filling,
    super::dropping::Dropping,
    super::meters::Meters,
    super::occupancy::Occupancy,
    super::output_lanes::OutputLanes,
    super::packet_records::Recording,
    super::replay::Replaying,
    super::retry::Retrying,
    super::sink::Sinks,
    super::trials::Counters,
    super::vl_tables::LaneArbiters,
    super::waits::Waits,
    super::wormhole::Wormhole,
    super::claims::Claiming,
];

/// Those that ride in the pass, in the order in which they have their turn within a slot.
macro_rules! riders {
    ($($rider:ident: $type:ty),* $(,)?) => {
        /// System parameter: what mechanisms that ride in the pass work on.
        #[derive(SystemParam)]
        pub(in crate::cycle) struct Riders<'w, 's> {
            $($rider: $type,)*
        }

        impl Rider<Joined> for Riders<'_, '_> {
            #[inline]
            fn next(&self, start: &Start<'_, Joined>) -> u64 {
                let mut next = u64::MAX;
                $(next = next.min(self.$rider.next(start));)*
                next
            }

            #[inline(always)]
            fn run<const W: usize, P: RuleSet>(
                &mut self,
                slot: Slot,
                on: &mut Fetched<'_, '_, '_, W, P, Joined>,
            ) {
                $(self.$rider.run(slot, on);)*
            }
        }
    };
}

riders! {
    marking: MarkingAboard<'w>,
    filling: FillingAboard<'w, 's>,
    flows: FlowsAboard<'w>,
    control: ControlAboard<'w>,
    occupancy: OccupancyAboard<'w, 's>,
}
