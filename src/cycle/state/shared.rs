//! Read-only tables and options, one copy for all shards.

use super::{Adaptation, FlowEnd, OwnRoutes};
use crate::fabric::Classifier;
use crate::fabric::bit_errors::Errors;
use crate::fabric::mask::LaneMask;
use crate::fabric::numbering::Numbering;
use crate::fabric::rows::LaneRow;
use crate::ids::SlId;
use crate::plan::{
    ClassPlan, Forwarding as PacketForwarding, InputSpeedup, InputTurns, Matching,
    OutputArbitration, SwitchOptions,
};
use crate::qos::VlArbitrationTables;
use crate::qos::vl_arbitration::{Places, Rules};
use crate::routing::entries::Entries;
use std::sync::Arc;

/// All of them.
#[derive(Debug)]
pub struct Shared {
    /// Which lanes belong to which port.
    pub numbering: Numbering,
    /// Where packets go.
    pub forwarding: Forwarding,
    /// What hosts send.
    pub traffic: Traffic,
    /// Options.
    pub switch: SwitchRules,
    /// Outputs of the widest switch.
    pub outputs: u32,
    /// VL arbitration tables.
    pub tables: Option<VlArbitrationTables>,
    /// Adaptive routing; then there are no forwarding tables.
    pub adaptation: Option<Adaptation>,
    /// Routes that flows have of their own.
    pub own_routes: Option<OwnRoutes>,
    /// Errors of channels.
    pub errors: Option<Errors>,
    /// Both ends of every flow, by id.
    pub flow_ends: Arc<[FlowEnd]>,
}

/// Forwarding tables and lane maps.
#[derive(Debug, Default)]
pub struct Forwarding {
    /// Output of `[table row][host]`.
    pub next: Outputs,
    /// Layer added at `[table row][host]`; empty when no hop has one.
    pub hop_layer: Entries,
    /// Path layer of `[source switch][destination host]`; empty when all are 0.
    pub path_layer: Entries,
    /// Lane profiles, `[profile][key]`.
    pub profiles: Vec<u8>,
    /// Keys of one service level.
    pub layers: u8,
    /// Key of VL15.
    pub management_key: u8,
    /// Hosts of the fabric.
    pub host_count: usize,
    /// Switch a host is attached to (global id).
    pub host_switch: Vec<u32>,
    /// First output of each switch in `output_step`.
    pub output_first: Vec<u32>,
    /// Cycles per flit of every switch output.
    pub output_step: Vec<u16>,
}

/// Output indices (positions among connected ports) by table row and host.
#[derive(Debug, Default)]
pub struct Outputs {
    /// What follows from the entries of the routes, which are shared where a subtraction makes indices of their ports.
    pub entries: Entries,
    /// What is subtracted.
    pub before: u8,
}

impl Outputs {
    /// The index for a host in the row that starts here.
    #[inline(always)]
    pub fn at(&self, start: u32, host: u32) -> u8 {
        self.entries.at(start, host).wrapping_sub(self.before)
    }
}

impl Forwarding {
    /// Whether every packet asks for the lane with the number that it has had since it left its host: all lane maps are one, and no hop
    /// changes the layer.
    pub fn keeps_lanes(&self) -> bool {
        let mut profiles = self.profiles.chunks(usize::from(self.management_key) + 1);
        let first = profiles.next();
        self.hop_layer.is_empty() && profiles.all(|profile| Some(profile) == first)
    }
}

/// Traffic classes and sizes.
#[derive(Debug)]
pub struct Traffic {
    /// Traffic classes.
    pub classes: Vec<ClassPlan>,
    /// Which classes are always backlogged.
    pub saturating: Vec<bool>,
    /// Largest packet \[flits\].
    pub largest: u16,
    /// Flit size \[bytes\].
    pub flit_bytes: u32,
}

/// Options of switches and sinks as the stages read them.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent options of a fabric"
)]
pub struct SwitchRules {
    /// The VL15 lane, none without one.
    pub management: LaneMask,
    /// All channels and sinks run at the same pace: no cut-through packet ever waits for slow flits.
    pub uniform_pace: bool,
    /// Cycles from header arrival to the earliest request.
    pub request_delay: u64,
    /// From becoming the first of its queue to a packet's request, where outputs pass single flits (D65) \[cycles\].
    pub head_delay: u64,
    /// Crossbar delay \[cycles\].
    pub crossbar_delay: u64,
    /// Whether packets wait for their tail.
    pub store_and_forward: bool,
    /// Whether outputs and hosts pass single flits (D65). Inputs let the packets of all their lanes go then, and are asked
    /// for every flit.
    pub single_flits: bool,
    /// Flits that may leave one input at a time where outputs pass single flits (D65, D78); `u16::MAX` = unlimited.
    pub flit_places: u16,
    /// Whether a packet keeps its input port from its first flit to its last (D65).
    pub kept_inputs: bool,
    /// Packets that may leave one input at a time; `u16::MAX` = unlimited.
    pub speedup: u16,
    /// Output buffer \[flits\].
    pub output_buffer: u32,
    /// Buffer of each output lane \[flits\].
    pub output_lane_buffer: u32,
    /// How packets of a lane are sorted into queues.
    pub classifier: Classifier,
    /// One pool per port: credits live in lane 0.
    pub pool: bool,
    /// Ramps can overlap, so credits come back one by one.
    pub stepped_credits: bool,
    /// Choice among the requests of a lane.
    pub output_arbitration: OutputArbitration,
    /// Allocation order.
    pub matching: Matching,
    /// Rounds per cycle.
    pub iterations: u8,
    /// The winner keeps its turn.
    pub reserve: bool,
    /// Sink pace \[cycles per flit\]; 0 = as flits arrive, [`Self::AS_LINK`] = a sink, as fast as flits arrive.
    pub sink_step: u16,
    /// Heads request all their candidates.
    pub open: bool,
    /// VL arbitration loses a cycle with every reload (D54).
    pub legacy_arbitration: bool,
    /// VL tables act at inputs and at the channels behind output lanes (D70).
    pub tables_twice: bool,
    /// Lanes of the high table, whose grants inputs accept first (D71); none without `accept: HighFirst`.
    pub accepted_first: Option<LaneMask>,
}

impl SwitchRules {
    /// Sinks have the pace of the channel to their host: more than that of any channel, so that flits never run dry.
    pub const AS_LINK: u16 = u16::MAX;

    /// The options of a plan's switches. Queues per lane, pace and sinks follow from the fabric and are set by its
    /// lowering.
    pub fn new(options: &SwitchOptions) -> Self {
        let (routing, allocation) = (
            u64::from(options.routing_delay),
            u64::from(options.allocation_delay),
        );
        let (request_delay, head_delay) = match options.forwarding {
            PacketForwarding::Wormhole => (allocation, routing),
            _ => (allocation + routing, 0),
        };
        let places = match options.input_speedup {
            InputSpeedup::Limited(places) => places.clamp(1, u16::MAX - 1),
            InputSpeedup::Unlimited => u16::MAX,
        };
        let is_legacy = |tables: &VlArbitrationTables| tables.rules == Rules::Legacy;
        let are_twice = |tables: &VlArbitrationTables| tables.places != Places::One;
        Self {
            management: if options.management_lane {
                LaneMask::only(options.lanes.into())
            } else {
                LaneMask::EMPTY
            },
            uniform_pace: true,
            request_delay,
            head_delay,
            crossbar_delay: u64::from(options.crossbar_delay),
            store_and_forward: options.forwarding == PacketForwarding::StoreAndForward,
            single_flits: options.forwarding == PacketForwarding::Wormhole,
            flit_places: places,
            kept_inputs: options.input_turns == InputTurns::Packets,
            speedup: match options.forwarding {
                PacketForwarding::Wormhole => u16::MAX,
                _ => places,
            },
            output_buffer: options.output_buffer,
            output_lane_buffer: options.output_lane_buffer,
            classifier: Classifier::Lane,
            pool: options.sharing == crate::plan::BufferSharing::PortPool,
            stepped_credits: false,
            output_arbitration: options.output_arbitration,
            matching: options.matching,
            iterations: options.allocation.iterations,
            // all requests of a lane need one flit there (D78)
            reserve: options.reserve && options.forwarding != PacketForwarding::Wormhole,
            sink_step: 0,
            open: false,
            legacy_arbitration: options.vl_arbitration.as_ref().is_some_and(is_legacy),
            tables_twice: options.vl_arbitration.as_ref().is_some_and(are_twice),
            accepted_first: options
                .vl_arbitration
                .as_ref()
                .and_then(|tables| tables.accepted_first().map(Iterator::collect)),
        }
    }
}

impl Shared {
    /// Service level of every key; `None` = VL15.
    pub fn service_levels(&self) -> Vec<Option<u8>> {
        let level = |key: u8| {
            let is_management =
                !self.switch.management.is_empty() && key == self.forwarding.management_key;
            (!is_management).then(|| key / self.forwarding.layers)
        };
        (0..=u8::MAX).map(level).collect()
    }

    /// Key of the lane map of a data packet from one host to another (global ids).
    #[inline]
    pub fn key(&self, source: u32, destination: u32, level: SlId) -> u8 {
        let tables = &self.forwarding;
        let layer = if tables.path_layer.is_empty() {
            0
        } else {
            let from = tables.host_switch[source as usize] as usize;
            tables.path_layer.get(from, destination as usize)
        };
        level.0 * tables.layers + layer
    }

    /// Whether packets choose when they come and are sorted then: adaptive routing with VOQ (D75).
    #[inline]
    pub fn sorts(&self) -> bool {
        self.adaptation.is_some() && !self.switch.classifier.is_lane()
    }

    /// Lane whose credit count `lane` draws from.
    #[inline]
    pub fn credit_lane(&self, lane: LaneRow) -> LaneRow {
        if self.switch.pool {
            self.numbering.first_beside(lane)
        } else {
            lane
        }
    }
}
