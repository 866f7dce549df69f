//! Every key of a scenario: type, default and meaning, for reading, messages and `virtlane describe`.
//!
//! A key has a default only where the standard or the literature has one; the others must be given.

use crate::registry::Parameter;

/// The keys of one section.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Name for `virtlane describe section NAME`.
    pub name: &'static str,
    /// Key path of the section in a scenario.
    pub path: &'static str,
    /// What the section is about.
    pub summary: &'static str,
    /// Its keys.
    pub keys: &'static [Parameter],
}

const fn key(
    name: &'static str,
    kind: &'static str,
    default: Option<&'static str>,
    summary: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind,
        default,
        summary,
    }
}

const fn need(name: &'static str, kind: &'static str, summary: &'static str) -> Parameter {
    key(name, kind, None, summary)
}

const fn with(
    name: &'static str,
    kind: &'static str,
    default: &'static str,
    summary: &'static str,
) -> Parameter {
    key(name, kind, Some(default), summary)
}

macro_rules! section {
    ($name:ident, $title:literal, $path:literal, $summary:literal, [$($key:expr),* $(,)?]) => {
        #[doc = $summary]
        pub static $name: Section = Section {
            name: $title,
            path: $path,
            summary: $summary,
            keys: &[$($key),*],
        };
    };
}

section!(
    SCENARIO,
    "scenario",
    "",
    "One complete, self-describing study.",
    [
        with(
            "title",
            "text",
            "\"untitled\"",
            "Title shown in tables and reports"
        ),
        with("seed", "integer >= 0", "1", "Seed of all random streams"),
        need(
            "fabric",
            "section",
            "What is connected to what, and the switches"
        ),
        with(
            "qos",
            "section",
            "()",
            "Service levels, VL arbitration, management lane"
        ),
        need(
            "routing",
            "routing engine",
            "How forwarding tables are computed"
        ),
        need(
            "traffic",
            "list of traffic classes",
            "Who sends what to whom, and when"
        ),
        need(
            "phases",
            "section",
            "Length of warm-up, measurement and drain"
        ),
        with(
            "allow_deadlock",
            "true | false",
            "false",
            "Run although the forwarding tables are not proved free of deadlock"
        ),
        with(
            "sweep",
            "section",
            "None",
            "Values to vary, for `virtlane sweep`"
        ),
        with(
            "expect",
            "list of expectations",
            "[]",
            "What the results must be: exit code 1 when they are not"
        ),
    ]
);

section!(
    FABRIC,
    "fabric",
    "fabric",
    "Topology, links, switches and hosts.",
    [
        need(
            "topology",
            "topology",
            "How switches and hosts are connected"
        ),
        with(
            "flit",
            "size in bytes",
            "\"64 B\"",
            "Unit of flow control; the default is the credit unit of InfiniBand. Sizes in flits need it"
        ),
        need(
            "link",
            "section",
            "Links between switches; their rate defines the cycle: one flit per cycle"
        ),
        with(
            "host_link",
            "section",
            "as `link`",
            "Links between hosts and switches"
        ),
        need("switch", "section", "Switch options"),
        with("host", "section", "()", "Host options"),
    ]
);

section!(
    LINK,
    "link",
    "fabric.link",
    "Rate and length of links.",
    [
        need("rate", "rate", "Data rate of each direction"),
        need(
            "latency",
            "time, at least 1 cycle",
            "Propagation, from a flit's departure to its arrival"
        ),
    ]
);

section!(
    HOST_LINK,
    "host_link",
    "fabric.host_link",
    "Links of hosts, where they differ.",
    [
        with(
            "rate",
            "rate",
            "as `fabric.link`",
            "Data rate of each direction"
        ),
        with(
            "latency",
            "time, at least 1 cycle",
            "as `fabric.link`",
            "Propagation"
        ),
    ]
);

section!(
    SWITCH,
    "switch",
    "fabric.switch",
    "The switch: buffers, allocation, delays, flow control.",
    [
        with(
            "lanes",
            "integer 1..=15",
            "1",
            "Data lanes (virtual lanes) of every channel; InfiniBand requires 1"
        ),
        need(
            "lane_capacity",
            "size",
            "Buffer of a lane, or of the port's pool; must hold the largest packet"
        ),
        with(
            "queues",
            "Fifo | Voq",
            "Fifo",
            "One FIFO per lane, or one queue per (lane, output) in the same space"
        ),
        with(
            "sharing",
            "PerLane | PortPool",
            "PerLane",
            "Each lane has `lane_capacity`, or all lanes of a port share one pool of that size"
        ),
        with(
            "input_speedup",
            "integer >= 1 | Unlimited",
            "1",
            "Packets that may leave an input port at the same time"
        ),
        with(
            "output_buffer",
            "size",
            "\"0 flits\"",
            "Buffer of each output; 0 = none"
        ),
        with(
            "matching",
            "OutputFirst | InputFirst",
            "OutputFirst",
            "Who chooses first in the separable allocation; VL arbitration acts there"
        ),
        with(
            "iterations",
            "integer 1..=255",
            "1",
            "Rounds of the allocation per cycle"
        ),
        with(
            "output_arbitration",
            "RoundRobin | FirstComeFirstServed | OldestFirst | Random",
            "RoundRobin",
            "Choice among the requests of one output lane"
        ),
        with(
            "reserve",
            "true | false",
            "false",
            "A round-robin winner that does not fit the credits keeps its turn; without it small packets may overtake"
        ),
        with(
            "forwarding",
            "CutThrough | StoreAndForward",
            "CutThrough",
            "When a packet may leave"
        ),
        with(
            "routing_delay",
            "time",
            "\"1 cycles\"",
            "Route computation, from a header's arrival to its request"
        ),
        with(
            "allocation_delay",
            "time",
            "\"0 cycles\"",
            "Allocation pipeline, added to the routing delay"
        ),
        with(
            "crossbar_delay",
            "time",
            "\"0 cycles\"",
            "From grant to channel; the three delays add up to at least 1 cycle"
        ),
        with(
            "credit_latency",
            "Auto | time, at least 1 cycle",
            "Auto",
            "Credit return; Auto = latency of the opposite channel"
        ),
        with(
            "marking",
            "section",
            "None",
            "Congestion marking (FECN) at outputs"
        ),
    ]
);

section!(
    MARKING,
    "marking",
    "fabric.switch.marking",
    "Congestion marking.",
    [need(
        "threshold",
        "size, at least 1 flit",
        "Waiting flits for the same output lane from which on a packet is marked"
    ),]
);

section!(
    HOST,
    "host",
    "fabric.host",
    "Sources and sinks.",
    [
        with(
            "sink_rate",
            "rate",
            "as fast as flits arrive",
            "Rate at which a host consumes flits: a slow receiver"
        ),
        with(
            "source_queue",
            "integer >= 1",
            "None",
            "Packets of one class a host queues; further ones are rejected and counted. None = unbounded"
        ),
    ]
);

section!(
    QOS,
    "qos",
    "qos",
    "Quality of service.",
    [
        with(
            "vl_arbitration",
            "section",
            "None",
            "VL arbitration tables; None = round robin over lanes"
        ),
        with(
            "management_lane",
            "true | false",
            "false",
            "Whether VL15 exists; it goes before all other lanes"
        ),
    ]
);

section!(
    VL_ARBITRATION,
    "vl_arbitration",
    "qos.vl_arbitration",
    "InfiniBand's two weighted round-robin tables.",
    [
        with(
            "high",
            "list of (lane, weight)",
            "[]",
            "High-priority table; weight 0..=255 in units of 64 bytes"
        ),
        with("low", "list of (lane, weight)", "[]", "Low-priority table"),
        with(
            "limit_of_high_priority",
            "0..=255 | Packets(n) | Unlimited",
            "0",
            "High-priority data between two low packets, in units of 4096 bytes; 255 = Unlimited; the default is OpenSM's"
        ),
    ]
);

section!(
    CLASS,
    "traffic",
    "traffic[...]",
    "One traffic class.",
    [
        need(
            "name",
            "text",
            "Name shown in tables; classes have different names"
        ),
        with(
            "hosts",
            "All | Range(first, last) | List([hosts]) | EveryNth(n, offset) | Switches([switches])",
            "All",
            "Hosts that send; hosts and switches by number from 0 or by name, Range includes both ends"
        ),
        need("pattern", "traffic pattern", "Where packets go"),
        need("process", "arrival process", "When packets are made"),
        need(
            "size",
            "size | Mixed([(size, weight)])",
            "Packet size, 1..=65535 flits"
        ),
        with(
            "sl",
            "0..=15 | [service levels] | Management",
            "0",
            "Service level; of several, one is drawn per packet; Management = VL15"
        ),
        with(
            "packets",
            "None | integer >= 1",
            "None",
            "Packets each host sends in all; None = without end"
        ),
    ]
);

section!(
    PHASES,
    "phases",
    "phases",
    "Phases of a run.",
    [
        need("warmup", "time", "Simulated before measurement"),
        need(
            "measure",
            "time, at least 1 cycle",
            "Packets created in it are tagged and measured"
        ),
        with(
            "drain",
            "Auto | time",
            "Auto",
            "Most time to wait for tagged packets afterwards; Auto = as long as warm-up and measurement, at least 10000 cycles"
        ),
        with(
            "watchdog",
            "time, at least 1 cycle",
            "\"10000 cycles\"",
            "Time without progress, with packets in flight, that counts as a deadlock"
        ),
    ]
);

section!(
    SWEEP,
    "sweep",
    "sweep",
    "Values to vary, for `virtlane sweep`.",
    [
        need(
            "axes",
            "list of (key path, [values])",
            "Every combination is run"
        ),
        with(
            "seeds",
            "integer >= 1",
            "1",
            "Runs per combination, with seeds counted from `seed`"
        ),
    ]
);

section!(
    EXPECT,
    "expect",
    "expect[...]",
    "What a result must be: the claim a study reproduces.",
    [
        need(
            "metric",
            "metric",
            "Path of the value in summary.json; see `virtlane list metric`"
        ),
        need(
            "relation",
            "Equals | AtLeast | AtMost",
            "How the result relates to `value`"
        ),
        need("value", "number", "Published or expected value"),
        with(
            "tolerance",
            "number | Relative(number)",
            "0",
            "Deviation allowed, absolute or as a fraction of `value`"
        ),
        with("source", "text", "\"\"", "Where the value comes from"),
    ]
);

/// All sections in the order of a scenario.
pub static SECTIONS: &[&Section] = &[
    &SCENARIO,
    &FABRIC,
    &LINK,
    &HOST_LINK,
    &SWITCH,
    &MARKING,
    &HOST,
    &QOS,
    &VL_ARBITRATION,
    &CLASS,
    &PHASES,
    &SWEEP,
    &EXPECT,
];
