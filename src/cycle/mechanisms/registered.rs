//! The mechanisms of a cycle: a new one is its file and a line here.
//!
//! Nothing but the list knows all of them, so that they know the core and the core does not know them.
//!
//! Cost: once per shard.

use crate::cycle::mechanism::ShardBuilder;

/// The mechanisms, in the order in which they are built.
macro_rules! mechanisms {
    ($($mechanism:path),* $(,)?) => {
        /// Adds every mechanism that the site asks for.
        pub fn build_all<const W: usize>(shard: &mut ShardBuilder<'_, W>) {
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
