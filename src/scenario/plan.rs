//! The plan: a scenario with every name looked up, every default filled in and every unit converted.
//!
//! Everything behind this point (graph, tables, engine, reference model) reads the plan only. Times are
//! cycles, sizes are flits; one cycle is the time of one flit on the reference link.

use crate::ids::{HostId, SlId};
use crate::measure::Observe;
use crate::qos::VlArbitrationTables;
use crate::topology::{ChannelTiming, Graph};
use crate::traffic::messages::Workload;
use crate::traffic::{Pattern, Process, SizeDistribution};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a switch buffers per input port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Queues {
    /// One FIFO per lane: a blocked head blocks the packets behind it.
    #[default]
    Fifo,
    /// One queue per (lane, output) in the lane's shared space: packets to other outputs pass.
    Voq,
}

/// Who shares buffer space at an input port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BufferSharing {
    /// `lane_capacity` flits for each lane.
    #[default]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Matching {
    /// Each free output picks lane and request, each input accepts (VL arbitration at the output port).
    #[default]
    OutputFirst,
    /// Each free input picks a lane, each output picks an input (VL arbitration at the input port).
    InputFirst,
}

/// How an output chooses among the requests of one of its lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutputArbitration {
    /// Round robin over (input, input lane).
    #[default]
    RoundRobin,
    /// Smallest request cycle first; ties by (input, input lane).
    FirstComeFirstServed,
    /// Smallest creation cycle first; ties by (input, input lane).
    OldestFirst,
    /// Uniformly at random from the output's own stream.
    Random,
}

/// When a packet may leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Forwarding {
    /// As soon as the header is routed and no flit can run dry.
    #[default]
    CutThrough,
    /// After the tail has arrived.
    StoreAndForward,
}

/// The default switch and its options (model section 2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchOptions {
    /// Data lanes per channel, 1..=15.
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
    /// Rounds of the allocation per cycle, at least 1.
    pub iterations: u8,
    /// Choice among requests of one output lane.
    pub output_arbitration: OutputArbitration,
    /// A round-robin winner that does not fit the credits keeps its turn instead of being overtaken.
    pub reserve: bool,
    /// Cut-through or store-and-forward.
    pub forwarding: Forwarding,
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
    /// A packet granted while at least this many flits of other requests stand for its output lane gets
    /// the FECN bit \[flits\]; `None` = no marking.
    pub marking_threshold: Option<u32>,
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
}

impl Default for SwitchOptions {
    fn default() -> Self {
        Self {
            lanes: 1,
            management_lane: false,
            lane_capacity: 16,
            queues: Queues::Fifo,
            sharing: BufferSharing::PerLane,
            input_speedup: InputSpeedup::Limited(1),
            output_buffer: 0,
            output_lane_buffer: 0,
            matching: Matching::OutputFirst,
            iterations: 1,
            output_arbitration: OutputArbitration::RoundRobin,
            reserve: false,
            forwarding: Forwarding::CutThrough,
            routing_delay: 1,
            allocation_delay: 0,
            crossbar_delay: 0,
            credit_latency: None,
            vl_arbitration: None,
            marking_threshold: None,
        }
    }
}

impl SwitchOptions {
    /// Lanes of every channel, VL15 included.
    pub fn lane_count(&self) -> u8 {
        self.lanes + u8::from(self.management_lane)
    }
}

/// Host options (rule 11 of the model).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostOptions {
    /// Sink speed \[cycles per flit\]; `None` = as fast as flits arrive.
    pub sink_cycles_per_flit: Option<u32>,
    /// Packets a source queue of one (class, lane) holds; `None` = unbounded. Further ones are rejected.
    pub source_queue: Option<u32>,
}

/// Hosts (ascending) whose links have a speed of their own, and their process.
pub type OtherProcess = (Vec<HostId>, Arc<dyn Process>);

/// One traffic class.
#[derive(Clone, Debug)]
pub struct ClassPlan {
    /// Name shown in tables.
    pub name: String,
    /// Hosts that send this class, ascending.
    pub hosts: Vec<HostId>,
    /// Where packets go.
    pub pattern: Arc<dyn Pattern>,
    /// When packets are made, at hosts whose link has the speed of the first host's.
    pub process: Arc<dyn Process>,
    /// The same load at hosts whose link has another speed: (hosts, ascending, and their process).
    pub other_processes: Vec<OtherProcess>,
    /// How long packets are.
    pub size: SizeDistribution,
    /// Service levels, one drawn uniformly per packet (no draw when there is one).
    pub service_levels: Vec<SlId>,
    /// Sent on VL15, before everything else; `service_levels` does not matter then.
    pub management: bool,
    /// Offered load, fraction of the host's link rate; 1.0 for a saturating process, 0.0 for messages.
    pub load: f64,
    /// Packets each host sends in all; `None` = without end.
    pub packets_per_host: Option<u64>,
    /// Messages it sends in all, in place of pattern and process.
    pub messages: Option<u64>,
}

impl ClassPlan {
    /// Number of the process of `host`: 0 = [`Self::process`], else 1 + the index of the other process.
    pub fn process_number(&self, host: HostId) -> u8 {
        let others = self.other_processes.iter();
        let found = others
            .take(usize::from(u8::MAX))
            .position(|(hosts, _)| hosts.binary_search(&host).is_ok());
        found.map_or(0, |index| index as u8 + 1)
    }

    /// Whether its sources always have a packet waiting: asked of the process, on a scratch stream.
    pub fn is_backlogged(&self) -> bool {
        let mut rng = crate::rng::stream(0, crate::rng::Purpose::Pattern, 0);
        let mut state = self.process.start(&mut rng);
        (0..2).any(|_| self.process.gap(&mut state, &mut rng) == crate::traffic::Gap::WhenSent)
    }

    /// The process of that number.
    pub fn numbered_process(&self, number: u8) -> &dyn Process {
        match usize::from(number).checked_sub(1) {
            None => &*self.process,
            Some(index) => &*self.other_processes[index].1,
        }
    }
}

/// When a measurement is long enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// Level of the confidence interval.
    pub confidence: f64,
    /// Half of its width, as a fraction of the mean, that is narrow enough.
    pub half_width: f64,
}

/// Length of the phases of a run \[cycles\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Cycles before measurement; the most when [`Self::find_warmup`] is set.
    pub warmup: u64,
    /// The run finds the end of the warm-up.
    pub find_warmup: bool,
    /// Cycles in which created packets are tagged and deliveries counted; the most when [`Self::precision`] or
    /// [`Self::until_messages`] is set.
    pub measure: u64,
    /// The measurement ends when this is reached.
    pub precision: Option<Precision>,
    /// The measurement ends when every message is delivered.
    pub until_messages: bool,
    /// Time on the clock after which the run is interrupted \[s\].
    pub wall_seconds: Option<f64>,
    /// Most cycles to wait for tagged packets afterwards.
    pub drain_limit: u64,
    /// Cycles without progress, with packets in flight, that count as a deadlock.
    pub watchdog: u64,
}

impl Phases {
    /// Whether both phases have a length given beforehand.
    pub fn is_fixed(&self) -> bool {
        !self.find_warmup && self.precision.is_none() && !self.until_messages
    }
}

/// What the engine needs beside graph and tables.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Title of the scenario.
    pub title: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Payload of one flit \[bytes\].
    pub flit_bytes: u32,
    /// Rate of the reference link \[bit/s\].
    pub reference_rate: u64,
    /// Switch options.
    pub switch: SwitchOptions,
    /// Host options.
    pub host: HostOptions,
    /// Traffic classes.
    pub classes: Vec<ClassPlan>,
    /// Where the classes that send messages get them from.
    pub workloads: Vec<Workload>,
    /// Phases.
    pub phases: Phases,
    /// Run although the tables are not proved free of deadlock.
    pub allow_deadlock: bool,
    /// Whether pairs of hosts may have no way; they are not offered.
    pub allow_unreachable: bool,
    /// What is recorded beside the counters; changes nothing in a run.
    pub observe: Observe,
}

impl Plan {
    /// Largest packet of any class \[flits\].
    pub fn largest_packet(&self) -> u16 {
        self.classes
            .iter()
            .map(|class| class.size.largest())
            .max()
            .unwrap_or(1)
    }

    /// Farthest that an event can lie ahead \[cycles\]: what the engine's calendar must span.
    pub fn event_horizon(&self, graph: &Graph) -> u64 {
        let most = |value: fn(&ChannelTiming) -> u32| {
            let values = graph
                .channels()
                .iter()
                .map(|channel| u64::from(value(&channel.timing)));
            values.max().unwrap_or(1)
        };
        let (step, latency) = (
            most(|timing| timing.cycles_per_flit),
            most(|timing| timing.latency),
        );
        let pace = step.max(u64::from(self.host.sink_cycles_per_flit.unwrap_or(1)));
        let switch = &self.switch;
        let delays = [
            switch.routing_delay,
            switch.allocation_delay,
            switch.crossbar_delay,
        ];
        let credit = u64::from(switch.credit_latency.unwrap_or(0)).max(latency);
        let packet = u64::from(self.largest_packet()) * pace;
        let delays: u64 = delays.map(u64::from).iter().sum();
        2 * (packet + latency + credit) + delays + u64::from(switch.output_buffer) * step
    }

    /// Service levels in use: the highest one + 1, at least 1.
    pub fn service_level_count(&self) -> u8 {
        let data = self.classes.iter().filter(|class| !class.management);
        data.flat_map(|class| &class.service_levels)
            .map(|sl| sl.0 + 1)
            .max()
            .unwrap_or(1)
    }
}
