//! Switches: buffers, allocation, delays.

use crate::ids::SlId;
use crate::qos::VlArbitrationTables;
use serde::{Deserialize, Serialize};

/// What a switch buffers per input port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Queues {
    /// One FIFO per lane: a blocked head blocks the packets behind it.
    Fifo,
    /// One queue per (lane, output) in the lane's shared space: packets to other outputs pass.
    Voq,
}

/// Who shares buffer space at an input port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BufferSharing {
    /// `lane_capacity` flits for each lane.
    PerLane,
    /// One pool of `lane_capacity` flits for all lanes of the port.
    PortPool,
}

/// Packets that may leave one input port at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputSpeedup {
    /// At most this many, from different queues; at least 1.
    Limited(u16),
    /// One per queue; there is no accept step.
    Unlimited,
}

/// Order of the separable allocation and the place of VL arbitration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Matching {
    /// Each free output picks lane and request, each input accepts (VL arbitration at the output port).
    OutputFirst,
    /// Each free input picks a lane, each output picks an input (VL arbitration at the input port).
    InputFirst,
}

/// How an output chooses among the requests of one of its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutputArbitration {
    /// Round robin over (input, input lane).
    RoundRobin,
    /// Smallest request cycle first; ties by (input, input lane).
    FirstComeFirstServed,
    /// Smallest creation cycle first; ties by (input, input lane).
    OldestFirst,
    /// Uniformly at random from the output's own stream.
    Random,
}

/// When a packet may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Forwarding {
    /// As soon as the header is routed and no flit can run dry.
    CutThrough,
    /// After the tail has arrived.
    StoreAndForward,
    /// Flit by flit: packets may stop half-way, lanes take turns with flits (D65).
    Wormhole,
}

/// With what the lanes of an input port take turns in the crossbar where packets go flit by flit (D65).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InputTurns {
    /// Flits.
    Flits,
    /// Packets: one keeps the port from its first flit to its last.
    Packets,
}

/// Which packets that are granted for an output lane get the FECN bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Marking {
    /// While at least so many flits of other requests stand (D16).
    Requests(u32),
    /// InfiniBand's (D37).
    InfiniBand {
        /// From 0, off, to 15, early.
        threshold: u8,
        /// How far the fill has to fall below the threshold until an output lane is not congested any more \[flits\].
        hysteresis: u32,
        /// Smallest packet that is marked \[flits\].
        packet: u16,
        /// Packets left out between two that are marked.
        rate: u16,
        /// Where it is not a root that marks.
        victims: Victims,
    },
    /// RoCE's, at random between two fills (D38).
    Ecn {
        /// Up to this fill none is marked \[flits\].
        least: u32,
        /// From this fill on all are \[flits\].
        most: u32,
        /// Probability just below that \[2^-32\], at most 2^32.
        probability: u64,
    },
}

/// Outputs that mark though they lack credits and not the rate of their link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Victims {
    /// None.
    None,
    /// Those to hosts.
    Hosts,
    /// All.
    All,
}

/// When switches drop packets, and of which service levels (D58).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropping {
    /// Ascending, at least one.
    pub service_levels: Vec<SlId>,
    /// When.
    pub rule: DropRule,
}

/// When a packet is dropped that comes to a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DropRule {
    /// When it first requests and does not fit the credits of its output lane: flow control would hold it.
    Held,
    /// When it comes to join its queue and at least so many flits wait for its output lane, at least 1.
    Threshold(u32),
}

/// How often outputs and inputs are matched, and what goes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// Rounds per cycle, at least 1.
    pub iterations: u8,
    /// From look to look at how long heads have waited, at least 1 \[cycles\]; those that have waited for longer are served
    /// before all others (D72). `None` = nobody looks.
    pub claims: Option<u64>,
}

impl Allocation {
    /// So many rounds per cycle, and nothing before them.
    pub fn rounds(iterations: u8) -> Self {
        Self {
            iterations,
            claims: None,
        }
    }
}

/// The default switch and its options (model section 2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchOptions {
    /// Data lanes per channel, 1..=32; with VL15 at most 31.
    pub lanes: u8,
    /// Whether VL15 exists as one more lane.
    pub management_lane: bool,
    /// Space of a lane, or of the port's pool \[flits\].
    pub lane_capacity: u32,
    /// Queueing inside that space.
    pub queues: Queues,
    /// Who shares that space.
    pub sharing: BufferSharing,
    /// Packets that may leave an input port at the same time.
    pub input_speedup: InputSpeedup,
    /// Output buffer \[flits\]; 0 = none.
    pub output_buffer: u32,
    /// Buffer of each output lane, a second queueing stage with VL arbitration behind it \[flits\]; 0 = none.
    pub output_lane_buffer: u32,
    /// Separable allocation order.
    pub matching: Matching,
    /// Rounds of the allocation, and heads that go before all others.
    pub allocation: Allocation,
    /// Choice among requests of one output lane.
    pub output_arbitration: OutputArbitration,
    /// A round-robin winner that does not fit the credits keeps its turn instead of being overtaken.
    pub reserve: bool,
    /// Cut-through, store-and-forward or wormhole.
    pub forwarding: Forwarding,
    /// With what inputs take turns, with wormhole switching only.
    pub input_turns: InputTurns,
    /// Route computation \[cycles\]: from header arrival to request.
    pub routing_delay: u32,
    /// Allocation pipeline \[cycles\]: added to the routing delay.
    pub allocation_delay: u32,
    /// Crossbar \[cycles\]: from grant to the channel; adds to the latency of the outgoing channel only.
    pub crossbar_delay: u32,
    /// Credit return \[cycles\]; `None` = latency of the opposite channel.
    pub credit_latency: Option<u32>,
    /// VL arbitration tables; `None` = round robin over lanes.
    pub vl_arbitration: Option<VlArbitrationTables>,
    /// Which packets get the FECN bit; `None` = none.
    pub marking: Option<Marking>,
    /// Which packets are dropped; `None` = none.
    pub drop: Option<Dropping>,
}

impl SwitchOptions {
    /// What the crossbar adds to the latency of a switch's outgoing channel \[cycles\]: with output lanes it
    /// delays the channel grant instead (D18).
    pub fn crossbar_latency(&self) -> u32 {
        if self.output_lane_buffer == 0 {
            self.crossbar_delay
        } else {
            0
        }
    }

    /// Fill from which on InfiniBand's marking takes an output lane as congested (D37) \[flits\]; `None` = never.
    pub fn infiniband_limit(&self, threshold: u8) -> Option<u32> {
        let sixteenths = (16 - u64::from(threshold)) * u64::from(self.lane_capacity);
        (threshold > 0).then(|| sixteenths.div_ceil(16).max(1) as u32)
    }

    /// Whether what stops one lane of an input may stop the others: they share a pool, or packets keep their inputs.
    pub fn joins_lanes(&self) -> bool {
        self.sharing == BufferSharing::PortPool || self.input_turns == InputTurns::Packets
    }

    /// Lanes of every channel, VL15 included.
    pub fn lane_count(&self) -> u8 {
        self.lanes + u8::from(self.management_lane)
    }
}
