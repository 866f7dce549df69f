//! What a scenario says, value by value, before any name is looked up or any unit converted.

use super::expectation::Expectation;
use super::syntax::{At, Part};
use crate::measure::Sample;
use crate::plan::{
    BufferSharing, Forwarding, InputSpeedup, Matching, OutputArbitration, Precision, Queues,
};
use crate::qos::VlArbitrationTables;
use crate::topology::LinkKind;
use crate::units::{Amount, BitRate, Time};

/// One complete study as written.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Title.
    pub title: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Topology, links, switches, hosts.
    pub fabric: Fabric,
    /// What fails; `None` = nothing.
    pub faults: Option<Faults>,
    /// VL arbitration tables; `None` = round robin.
    pub vl_arbitration: Option<At<VlArbitrationTables>>,
    /// Whether VL15 exists.
    pub management_lane: At<bool>,
    /// Routing engine.
    pub routing: Part,
    /// Traffic classes.
    pub traffic: Vec<Class>,
    /// Phases.
    pub phases: Phases,
    /// Run without a proof.
    pub allow_deadlock: bool,
    /// Leave out pairs of hosts without a way.
    pub allow_unreachable: bool,
    /// Records of packets and flows.
    pub observe: Option<Observe>,
    /// Values to vary.
    pub sweep: Option<Sweep>,
    /// Claims about the results.
    pub expect: Vec<Expectation>,
}

/// Section `fabric`.
#[derive(Clone, Debug)]
pub struct Fabric {
    /// Topology.
    pub topology: Part,
    /// Size of a flit \[bytes\].
    pub flit_bytes: u32,
    /// Links between switches.
    pub link: Link,
    /// Links between switches that differ from `link`, by their kind.
    pub except: Vec<LinkException>,
    /// Links of hosts.
    pub host_link: Link,
    /// Switch options.
    pub switch: Switch,
    /// Sink rate; `None` = as fast as flits arrive.
    pub sink_rate: Option<At<BitRate>>,
    /// Packets a source queue holds.
    pub source_queue: Option<u32>,
}

/// Rate and length of links.
#[derive(Clone, Debug)]
pub struct Link {
    /// Data rate.
    pub rate: At<BitRate>,
    /// Propagation.
    pub latency: At<Time>,
}

/// Links of one kind that differ.
#[derive(Clone, Debug)]
pub struct LinkException {
    /// Which links.
    pub on: At<LinkKind>,
    /// Rate and length.
    pub link: Link,
}

/// Section `fabric.switch`.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Data lanes.
    pub lanes: At<u8>,
    /// Space of a lane or pool.
    pub lane_capacity: At<Amount>,
    /// Queueing.
    pub queues: At<Queues>,
    /// Who shares the space.
    pub sharing: At<BufferSharing>,
    /// Packets leaving an input at a time.
    pub input_speedup: At<InputSpeedup>,
    /// Output buffer.
    pub output_buffer: At<Amount>,
    /// Buffer of each output lane.
    pub output_lane_buffer: At<Amount>,
    /// Allocation order.
    pub matching: At<Matching>,
    /// Allocation rounds.
    pub iterations: u8,
    /// Choice among requests.
    pub output_arbitration: At<OutputArbitration>,
    /// Whether winners keep their turn.
    pub reserve: At<bool>,
    /// Cut-through or store-and-forward.
    pub forwarding: Forwarding,
    /// Route computation.
    pub routing_delay: At<Time>,
    /// Allocation pipeline.
    pub allocation_delay: At<Time>,
    /// Crossbar.
    pub crossbar_delay: At<Time>,
    /// Credit return; `None` = automatic.
    pub credit_latency: Option<At<Time>>,
    /// Marking threshold.
    pub marking_threshold: Option<At<Amount>>,
}

/// A host or switch by number or name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Member {
    /// Number, from 0.
    Number(u32),
    /// Name.
    Name(String),
}

/// Which things of one kind fail.
#[derive(Clone, Debug, PartialEq)]
pub enum Failures<T> {
    /// None of them.
    None,
    /// So many, at random.
    Count(u32),
    /// This fraction of them, at random.
    Fraction(f64),
    /// These.
    List(Vec<T>),
}

/// A link of a list of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailedLink {
    /// The link at the lowest port between two switches that is not listed yet.
    Between(At<Member>, At<Member>),
    /// The link of a switch at a port.
    Port(At<Member>, u16),
}

/// Section `faults`.
#[derive(Clone, Debug)]
pub struct Faults {
    /// Switches.
    pub switches: At<Failures<At<Member>>>,
    /// Links.
    pub links: At<Failures<At<FailedLink>>>,
    /// Whether the fabric must stay connected.
    pub keep_connected: bool,
    /// Seed of the choice; `None` = that of the scenario.
    pub seed: Option<u64>,
}

/// Which hosts send a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostSet {
    /// All of them.
    All,
    /// First to last number, both included.
    Range(u32, u32),
    /// These.
    List(Vec<At<Member>>),
    /// Every n-th from an offset on.
    EveryNth(u32, u32),
    /// All hosts at these switches.
    Switches(Vec<At<Member>>),
}

/// How long packets are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    /// One size.
    Fixed(At<Amount>),
    /// Sizes with weights.
    Mixed(Vec<(At<Amount>, u32)>),
}

/// Service levels of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceLevels {
    /// One of these per packet.
    Data(Vec<u8>),
    /// VL15.
    Management,
}

/// What makes a class send.
#[derive(Clone, Debug)]
pub enum Demand {
    /// Packets at the times of a process, to the destinations of a pattern.
    Packets {
        /// Where packets go.
        pattern: Part,
        /// When they are made.
        process: Part,
    },
    /// Messages of a source.
    Messages(Part),
}

/// One traffic class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Name.
    pub name: At<String>,
    /// Senders.
    pub hosts: At<HostSet>,
    /// What makes it send.
    pub demand: Demand,
    /// Packet size.
    pub size: At<Size>,
    /// Service levels.
    pub service_levels: At<ServiceLevels>,
    /// Packets per host.
    pub packets: Option<u64>,
}

/// Length of the warm-up.
#[derive(Clone, Debug)]
pub struct Warmup {
    /// Length, or the longest when it is found in the run.
    pub time: At<Time>,
    /// Whether its end is found in the run.
    pub is_automatic: bool,
}

/// Length of the measurement.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Length, or the longest when the run stops by precision.
    pub time: At<Time>,
    /// The precision it stops at; `None` = none.
    pub precision: Option<Precision>,
    /// Whether it stops when every message is delivered.
    pub until_messages: bool,
    /// Time on the clock after which the run is interrupted.
    pub wall_time: Option<At<Time>>,
}

/// Section `phases`.
#[derive(Clone, Debug)]
pub struct Phases {
    /// Before measurement.
    pub warmup: Warmup,
    /// Measurement.
    pub measure: Measure,
    /// Drain limit; `None` = automatic.
    pub drain: Option<At<Time>>,
    /// Watchdog.
    pub watchdog: At<Time>,
}

/// Section `observe`.
#[derive(Clone, Debug)]
pub struct Observe {
    /// Packets that are recorded one by one.
    pub packets: Sample,
    /// Whether flows are recorded.
    pub flows: bool,
    /// Names of the classes of both; `None` = all.
    pub classes: Option<Vec<At<String>>>,
}

/// One axis of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Key path, as for `--set`.
    pub path: At<String>,
    /// Values as RON text.
    pub values: Vec<At<String>>,
}

/// Section `sweep`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// Groups of axes; every combination of groups is run. The axes of a group have the same number of values
    /// and advance together; most groups have one axis.
    pub axes: Vec<Vec<Axis>>,
    /// Seeds per combination.
    pub seeds: u32,
}
