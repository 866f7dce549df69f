//! What a shard's stages share beside the component columns: tables, calendar, worklists.

use super::adaptive::{Adaptation, Choices};
use super::calendar::Calendar;
use super::generate::replay::Replay;
use super::generate::sources::Sources;
use crate::cycle::output_lanes::buffers::OutputLanes;
use crate::cycle::records::Records;
use crate::fabric::source_queue::SourceQueues;
use crate::fabric::{Packet, PacketRecord};
use crate::plan::{
    ClassPlan, Forwarding, InputSpeedup, Matching, OutputArbitration, SwitchOptions,
};
use crate::qos::{VlArbiter, VlArbitrationTables, vl_arbitration::VlChoice};
use crate::rng::Stream;
use bevy_ecs::resource::Resource;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Read-only tables and options, one copy for all shards.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent options of a fabric"
)]
pub struct Shared {
    /// Output index (position among connected ports) of `[table row][host]`.
    pub next: Vec<u8>,
    /// Layer added at `[table row][host]`; empty when no hop has one.
    pub hop_layer: Vec<u8>,
    /// Path layer of `[source switch][destination host]`; empty when all are 0.
    pub path_layer: Vec<u8>,
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
    /// All channels and sinks run at the same pace: no cut-through packet ever waits for slow flits.
    pub uniform_pace: bool,
    /// Traffic classes.
    pub classes: Vec<ClassPlan>,
    /// Which classes are always backlogged.
    pub saturating: Vec<bool>,
    /// Number of lanes as a power of two, and the mask of a row's lane.
    pub lane_shift: u32,
    /// `(1 << lane_shift) - 1`.
    pub lane_mask: u32,
    /// Mask of the VL15 lane, 0 without one.
    pub management: u16,
    /// Largest packet \[flits\].
    pub largest: u16,
    /// Flit size \[bytes\].
    pub flit_bytes: u32,
    /// Cycles from header arrival to the earliest request.
    pub request_delay: u64,
    /// Crossbar delay \[cycles\].
    pub crossbar_delay: u64,
    /// Whether packets wait for their tail.
    pub store_and_forward: bool,
    /// Packets that may leave one input at a time; `u16::MAX` = unlimited.
    pub speedup: u16,
    /// Output buffer \[flits\].
    pub output_buffer: u32,
    /// Buffer of each output lane \[flits\].
    pub output_lane_buffer: u32,
    /// VOQ: queues per lane; 0 = FIFO.
    pub voq_stride: u32,
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
    /// VL arbitration tables.
    pub tables: Option<VlArbitrationTables>,
    /// Marking threshold \[flits\]; `None` = no marking.
    pub marking_threshold: Option<u32>,
    /// Sink pace \[cycles per flit\]; 0 = as flits arrive.
    pub sink_step: u16,
    /// Packets of a class that may wait at a host.
    pub source_queue: Option<u32>,
    /// Adaptive routing; then there are no forwarding tables.
    pub adaptation: Option<Adaptation>,
    /// Heads request all their candidates.
    pub open: bool,
}

impl Shared {
    /// Service level of every key; `None` = VL15.
    pub fn service_levels(&self) -> Vec<Option<u8>> {
        let level = |key: u8| {
            let is_management = self.management != 0 && key == self.management_key;
            (!is_management).then(|| key / self.layers)
        };
        (0..=u8::MAX).map(level).collect()
    }

    /// Copies the options that the stages read.
    pub fn set_options(&mut self, options: &SwitchOptions) {
        self.request_delay = u64::from(options.routing_delay) + u64::from(options.allocation_delay);
        self.crossbar_delay = u64::from(options.crossbar_delay);
        self.store_and_forward = options.forwarding == Forwarding::StoreAndForward;
        self.speedup = match options.input_speedup {
            InputSpeedup::Limited(packets) => packets.clamp(1, u16::MAX - 1),
            InputSpeedup::Unlimited => u16::MAX,
        };
        self.output_buffer = options.output_buffer;
        self.output_lane_buffer = options.output_lane_buffer;
        self.output_arbitration = options.output_arbitration;
        self.matching = options.matching;
        self.iterations = options.iterations;
        self.reserve = options.reserve;
        self.tables.clone_from(&options.vl_arbitration);
        self.marking_threshold = options.marking_threshold;
    }
}

/// A proposed, then accepted, transfer of one packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Grant {
    /// Output port row.
    pub out: u32,
    /// Output lane row.
    pub lane: u32,
    /// Queue row.
    pub queue: u32,
    /// Input port row.
    pub input: u32,
    /// Input lane bit within the switch.
    pub bit: u16,
    /// Whether the input accepted.
    pub accepted: bool,
    /// The output took its turn by inputs.
    pub by_inputs: bool,
    /// What VL arbitration chose.
    pub choice: Option<VlChoice>,
    /// The packet, once it is carried out.
    pub packet: u32,
}

/// A message to another shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Message {
    /// A packet that may request from cycle `at` on.
    Head {
        /// Receiving lane row there.
        lane: u32,
        /// Cycle.
        at: u64,
        /// The packet.
        packet: Packet,
        /// Its record.
        record: PacketRecord,
    },
    /// Credits that count from cycle `at` on.
    Ramp {
        /// Sending lane row there.
        lane: u32,
        /// Cycle.
        at: u64,
        /// Credits.
        flits: u16,
        /// Cycles between two.
        step: u16,
    },
}

/// Far end of a channel that crosses the shard's border.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Border {
    /// Shard there.
    pub shard: u32,
    /// Port row there.
    pub port: u32,
    /// Global id of the switch there.
    pub switch: u32,
    /// Row of the forwarding table that its packets are looked up in there.
    pub table_row: u32,
}

/// State of arbitration that only some options need, one entry per port row when needed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ArbiterState {
    /// VL arbiters of outputs (hosts included), or of inputs when VL arbitration acts there.
    pub vl: Vec<VlArbiter>,
    /// Streams of random arbitration, per output.
    pub streams: Vec<Stream>,
    /// Cycle in which the channel behind an output buffer is free.
    pub channel_free: Vec<u64>,
    /// Turns by inputs: pointers over the lanes of an input, per (output, input) of a switch.
    pub lane_turns: Vec<u8>,
    /// Input-first: lane pointer per input.
    pub input_lane: Vec<u8>,
    /// Input-first VOQ: output pointer per lane row.
    pub input_output: Vec<u16>,
    /// Input-first: request pointer per output.
    pub output_pointer: Vec<u16>,
}

/// Slow sinks: state per local host.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Sink {
    /// First cycle in which the sink can take a packet.
    pub free_at: u64,
    /// Lane asked first.
    pub pointer: u8,
}

/// Mutable state of one shard beside the columns.
#[derive(Debug, Serialize, Deserialize)]
pub struct Work {
    /// Timed events.
    pub calendar: Calendar,
    /// Queues whose head must be routed and raise a request.
    pub heads: Vec<u32>,
    /// Packets that arrived and must be put into a queue: (lane row, packet).
    pub arrived: Vec<(u32, u32)>,
    /// Outputs to arbitrate in this cycle.
    pub visits: Vec<u32>,
    /// Grants of this cycle.
    pub grants: Vec<Grant>,
    /// An input that sends one packet at a time has refused a grant of this cycle.
    pub refused: bool,
    /// Grants of this cycle that have been carried out.
    pub settled: usize,
    /// Hosts that may inject in this cycle (host port rows).
    pub host_visits: Vec<u32>,
    /// Packets whose tail is at its host in this cycle.
    pub consumed: Vec<u32>,
    /// Slow sinks to look at in this cycle (host port rows).
    pub sink_visits: Vec<u32>,
    /// Inputs to look at (input-first matching).
    pub input_visits: Vec<u32>,
    /// Packet rows in all.
    pub pool_size: u32,
    /// Unused packet rows.
    pub free_packets: Vec<u32>,
    /// Packets in this shard's pool that are in use.
    pub packets_in_use: u64,
    /// Traffic sources of the local hosts.
    pub sources: Sources,
    /// Messages of the local hosts, when some class sends any.
    pub replay: Option<Box<Replay>>,
    /// Their queues.
    pub source_queues: SourceQueues,
    /// Packets of `[host][class]` that wait, when source queues are bounded.
    pub class_waiting: Vec<u32>,
    /// Messages to other shards, per shard.
    pub outbox: Vec<Vec<Message>>,
    /// Channels that leave the shard.
    pub border: Vec<Border>,
    /// State of optional arbiters.
    pub arbiters: ArbiterState,
    /// Packets behind the crossbar, with `output_lane_buffer`.
    pub output_lanes: OutputLanes,
    /// Adaptive routing.
    pub choices: Choices,
    /// Slow sinks, per local host.
    pub sinks: Vec<Sink>,
    /// Statistics.
    pub records: Records,
    /// First port row of a host: rows from here on belong to hosts.
    pub first_host_port: u32,
    /// First global id of each local host row.
    pub host_ids: Vec<u32>,
}

impl Work {
    /// First cycle from `from` on in which the calendar or a source has something; `u64::MAX` = never.
    #[inline]
    pub fn next_event(&self, from: u64) -> u64 {
        if self.calendar.is_busy(from) || self.sources.is_busy(from) {
            return from;
        }
        let event = self.calendar.next_busy(from).unwrap_or(u64::MAX);
        let source = self.sources.next_busy(from).unwrap_or(u64::MAX);
        let message = self.replay.as_ref().map(|replay| replay.next(from));
        event.min(source).min(message.unwrap_or(u64::MAX))
    }

    /// Whether packets may be made in cycle `now`.
    #[inline]
    pub fn creates(&self, now: u64) -> bool {
        let replay = self.replay.as_ref();
        self.sources.is_busy(now) || replay.is_some_and(|replay| replay.next(now) == now)
    }

    /// Goes on in cycle `now` with the sources, random choices and measurement of `built`. Sources of classes
    /// that are always backlogged wait for their packets as before.
    pub fn branch(&mut self, built: Self, now: u64, saturating: &[bool]) {
        self.sources.replace(built.sources, now, saturating);
        self.arbiters.streams = built.arbiters.streams;
        self.choices.streams = built.choices.streams;
        self.records.branch(built.records);
    }

    /// Gives a packet row back to the pool.
    #[inline]
    pub fn release_packet(&mut self, row: u32) {
        self.free_packets.push(row);
        self.packets_in_use -= 1;
    }

    /// Takes a packet row from the pool.
    ///
    /// # Panics
    /// When the pool is empty: the shard fills it up between cycles.
    #[inline]
    pub fn claim_packet(&mut self) -> u32 {
        self.packets_in_use += 1;
        self.free_packets
            .pop()
            .expect("the pool is filled up between cycles")
    }
}

/// Everything a stage needs beside the columns.
#[derive(Resource, Debug)]
pub struct ShardState {
    /// The current cycle.
    pub now: u64,
    /// Read-only tables and options.
    pub shared: Arc<Shared>,
    /// Mutable state.
    pub work: Work,
}

impl ShardState {
    /// As [`Work::next_event`].
    #[inline]
    pub fn next_event(&self, from: u64) -> u64 {
        self.work.next_event(from)
    }
}
