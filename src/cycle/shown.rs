//! What mechanisms show of a shard to who looks on between two cycles: functions that lookers ask without knowing whose they
//! are. What no mechanism shows is as in a fabric that has none.

use crate::fabric::rows::{HostRow, LaneRow, QueueRow};
use crate::measure::flow_counts::Amount;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;

/// Gives what tells the output lanes that the head of a queue requests.
pub type Requests = for<'a> fn(&'a World) -> Box<dyn Fn(QueueRow) -> Vec<LaneRow> + 'a>;

/// Claim cycle of the head of a queue, and the output lane that it claims (D72); `None`: it claims none.
pub type Claim = fn(&World, QueueRow) -> Option<(u64, LaneRow)>;

/// Whether the sink of a host takes nothing for want of room (D57).
pub type Holding = fn(&World, HostRow) -> bool;

/// Largest packet that an output lane of a switch is open for in a cycle, before its channel takes one in it.
pub type Open = fn(&World, LaneRow, u64) -> u32;

/// What a shard has dropped (D58).
#[derive(Clone, Copy, Debug)]
pub struct Losses {
    /// Packets in the measurement that would have left by an output lane.
    pub at: fn(&World, LaneRow) -> u64,
    /// Packets of a flow (global id) since cycle 0.
    pub of_flow: fn(&World, usize) -> Amount,
}

/// All of it.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct Shown {
    /// Where heads may request several lanes.
    pub requests: Option<Requests>,
    /// Where heads may claim outputs.
    pub claim: Option<Claim>,
    /// Where sinks may lack room.
    pub holding: Option<Holding>,
    /// Where packets wait behind the crossbar, lane by lane.
    pub open: Option<Open>,
    /// Where switches drop packets.
    pub losses: Option<Losses>,
}

impl Shown {
    /// Packets of a flow that a shard has dropped.
    pub fn lost(world: &World, flow: usize) -> Amount {
        let losses = world.resource::<Self>().losses;
        losses.map_or(Amount::default(), |losses| (losses.of_flow)(world, flow))
    }
}
