//! Flows, their senders and answers as they are shown between two cycles.

use crate::fabric::source_queue::{SourceQueues, Waiting};
use crate::measure::flow_counts::{Amount, FlowSent};
use crate::plan::Limit;
use bevy_ecs::world::World;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A flow between two cycles. Limit, window and what is outstanding are those of its group, if it is in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowState {
    /// Lane of its host's channel.
    pub lane: u8,
    /// Start cycle; `None`: not known yet.
    pub start: Option<u64>,
    /// Stop cycle.
    pub stop: Option<u64>,
    /// Flits that it may still make; `None` = without end.
    pub unmade: Option<u64>,
    /// Whether it is in a group.
    pub is_grouped: bool,
    /// Limit.
    pub limit: Limit,
    /// First cycle in which the limit lets a packet go; `None` = never.
    pub eligible: Option<u64>,
    /// Packets that may be on their way at once; `None` = any number.
    pub window: Option<u32>,
    /// Those that are.
    pub outstanding: u32,
    /// Packets in its own queue; `None`: it makes them when they go.
    pub queued: Option<u64>,
    /// Packets in the FIFO of its lane, where there is one.
    pub entered: Option<u64>,
    /// Size of its next packet \[flits\].
    pub next_flits: u16,
    /// Whether lanes have ticks, which hold flows in place of their limits.
    pub has_ticks: bool,
    /// First cycle in which its lane lets flows go, where it has a tick and flows that could.
    pub tick: Option<u64>,
    /// What it sent.
    pub sent: FlowSent,
}

/// What a lane would send next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// The head of its source queue.
    Queue,
    /// A packet of this flow (id).
    Flow(u32),
}

/// A packet of a flow that waits at its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its flow (id).
    pub flow: u32,
    /// The packet.
    pub packet: Waiting,
    /// Packets before it, in the queue of its flow or in the FIFO of its lane.
    pub ahead: u64,
}

/// The flows that begin in a shard, by their rows.
pub trait FlowsShown {
    /// The flow in this row.
    fn state(&self, row: u32) -> FlowState;

    /// What the flow in this row sent.
    fn sent(&self, row: u32) -> FlowSent;

    /// Packets of the flow in this row that were rejected.
    fn rejected(&self, row: u32) -> Amount;

    /// Packets that a host (row) has made in a class for its flows.
    fn made(&self, host: u32, class: u16) -> u32;

    /// What a lane would send in cycle `now`, by its source queue, credits aside.
    fn picked(&self, queues: &SourceQueues, queue: usize, now: u64) -> Option<Picked>;

    /// Packets of flows that wait for the lane of a source queue, in the queues of the flows and in its FIFO.
    fn waiting_at(&self, queue: usize) -> Vec<Held>;
}

/// A sender between two cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderState {
    /// What it is about, in the words of its algorithm.
    pub words: String,
    /// Cycle that its timer is set to.
    pub timer: Option<u64>,
    /// Events logged.
    pub logged: u64,
}

/// The senders of a shard, by the rows of their flows.
#[derive(Clone, Copy, Debug)]
pub struct Senders {
    /// What the sender of a flow is about; `None`: it has none.
    pub state: fn(&World, u32) -> Option<SenderState>,
    /// Counts what the sender of a flow was told and has logged.
    pub count: fn(&World, u32, &mut FlowSent),
}

/// An answer in a control queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Queued {
    /// The packet.
    pub packet: Waiting,
    /// Its flow (global id).
    pub flow: u32,
    /// What it says.
    pub value: u32,
}

/// Control packets of the hosts of a shard that have not started.
pub trait AnswersShown {
    /// Packets that a host (row) has made in a class of control packets.
    fn made(&self, host: u32, class: u16) -> u32;

    /// What waits in the control queue beside a source queue.
    fn queued(&self, queue: usize) -> &VecDeque<Queued>;
}
