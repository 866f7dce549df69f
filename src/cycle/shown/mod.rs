//! What mechanisms show of a shard to who looks on between two cycles: functions that lookers ask without knowing whose they
//! are. What no mechanism shows is as in a fabric that has none.

mod flows;

pub use flows::{AnswersShown, FlowState, FlowsShown, Held, Picked, Queued, SenderState, Senders};

use super::columns::Stand;
use crate::fabric::rows::{HostRow, LaneRow, QueueRow};
use crate::measure::flow_counts::{Amount, FlowReceived};
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;

/// Gives what tells the output lanes that the head of a queue requests.
pub type Requests = for<'a> fn(&'a World) -> Box<dyn Fn(QueueRow) -> Vec<LaneRow> + 'a>;

/// What stands at an input lane, packets in the order in which they came (D84).
pub type Stands = for<'a> fn(&'a World, LaneRow) -> &'a [Stand];

/// Whether the head of a queue takes an output lane that it requests only when the buffer behind that is empty (D76).
pub type Empty = fn(&World, QueueRow, LaneRow) -> bool;

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
    /// Where packets stand in several queues, of which each has its head alone.
    pub standing: Option<Stands>,
    /// Where they may need empty lanes.
    pub empty: Option<Empty>,
    /// Where heads may claim outputs.
    pub claim: Option<Claim>,
    /// Where sinks may lack room.
    pub holding: Option<Holding>,
    /// Where packets wait behind the crossbar, lane by lane.
    pub open: Option<Open>,
    /// Where switches drop packets.
    pub losses: Option<Losses>,
    /// Where flows begin.
    pub flows: Option<for<'a> fn(&'a World) -> &'a dyn FlowsShown>,
    /// Where flows end: what arrived of the one in a row.
    pub arrived: Option<fn(&World, u32) -> FlowReceived>,
    /// Where flows that wait for others begin: start cycle of the one in a row that waits for nothing any more.
    pub release: Option<fn(&World, u32) -> Option<u64>>,
    /// Where flows have senders.
    pub senders: Option<Senders>,
    /// Where hosts answer.
    pub answers: Option<for<'a> fn(&'a World) -> &'a dyn AnswersShown>,
    /// Where hosts have bounds for answers: all the room for answers to a class, and what one packet takes of it, if it takes any.
    pub demand: Option<fn(&World, u16) -> Option<(u32, u32)>>,
}

impl Shown {
    /// Packets of a flow that a shard has dropped.
    pub fn lost(world: &World, flow: usize) -> Amount {
        let losses = world.resource::<Self>().losses;
        losses.map_or(Amount::default(), |losses| (losses.of_flow)(world, flow))
    }

    /// What a shard shows.
    pub fn of(world: &World) -> &Self {
        world.resource()
    }

    /// The flows that begin in a shard.
    pub fn flows(world: &World) -> Option<&dyn FlowsShown> {
        Self::of(world).flows.map(|flows| flows(world))
    }

    /// What arrived of a flow that ends in a shard, by its row there.
    pub fn arrived(world: &World, tail: u32) -> FlowReceived {
        let arrived = Self::of(world).arrived;
        arrived.map_or(FlowReceived::default(), |arrived| arrived(world, tail))
    }

    /// The control packets that wait at the hosts of a shard.
    pub fn answers(world: &World) -> Option<&dyn AnswersShown> {
        Self::of(world).answers.map(|answers| answers(world))
    }
}
