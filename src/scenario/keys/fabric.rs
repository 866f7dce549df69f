//! Keys of section `fabric`: topology, links, switches, hosts.

use super::{Parameter, Section, need, with};

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

/// Keys of links that differ from `fabric.link`.
const RATE_AS_LINKS: Parameter = with(
    "rate",
    "rate",
    "as `fabric.link`",
    "Data rate of each direction",
);
const LATENCY_AS_LINKS: Parameter = with(
    "latency",
    "time, at least 1 cycle",
    "as `fabric.link`",
    "Propagation",
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
        with(
            "except",
            "list of sections",
            "[]",
            "Links between switches that differ, by their kind; a later one overrides an earlier one"
        ),
    ]
);

section!(
    EXCEPT,
    "except",
    "fabric.link.except",
    "Links of one kind that differ from `fabric.link`; also those that have a timing of their own in a file.",
    [
        need(
            "on",
            "Dimension(d) | Level(l) | Horizontal | Local | Global",
            "Links of dimension `d` (from 0); up from level `l` of a tree (leaves = 1); within a level; within or between groups of a dragonfly"
        ),
        RATE_AS_LINKS,
        LATENCY_AS_LINKS,
    ]
);

section!(
    HOST_LINK,
    "host_link",
    "fabric.host_link",
    "Links of hosts, where they differ.",
    [RATE_AS_LINKS, LATENCY_AS_LINKS,]
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
            "output_lane_buffer",
            "size",
            "\"0 flits\"",
            "Buffer of each lane of an output, with VL arbitration of the link behind it; 0 = none"
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
