//! Every key of a scenario: type, default and meaning, for reading, messages and `virtlane describe`.
//!
//! A key has a default only where the standard or the literature has one; the others must be given.

pub use fabric::{EXCEPT, FABRIC, HOST, HOST_LINK, LINK, MARKING, SWITCH};
pub use study::{EXPECT, OBSERVE, SWEEP};

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

mod fabric;
mod study;

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
            "faults",
            "section",
            "None",
            "Switches and links that fail before the run"
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
            "allow_unreachable",
            "true | false",
            "false",
            "Leave out pairs of hosts without a way; each connected part is routed by itself"
        ),
        with(
            "observe",
            "section",
            "()",
            "Records of single packets and of flows, beside the counters"
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
    FAULTS,
    "faults",
    "faults",
    "Switches and links that fail before the run: taken out of the topology before it is routed.",
    [
        with(
            "switches",
            "None | Count(n) | Fraction(f) | List([switches])",
            "None",
            "Failed switches, by number from 0 or by name; their hosts and links disappear, and hosts are numbered \
             anew"
        ),
        with(
            "links",
            "None | Count(n) | Fraction(f) | List([(switch, switch), Port(switch, port)])",
            "None",
            "Failed links, after the switches; random ones are between switches, a fraction is rounded. A pair of \
             switches names one link, given again the next parallel one; a host goes with its link"
        ),
        with(
            "keep_connected",
            "true | false",
            "true",
            "Whether random faults that would cut the fabric in two are drawn again, and listed ones refused"
        ),
        with(
            "seed",
            "None | integer >= 0",
            "None",
            "Seed of random faults; None = that of the scenario"
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
        with(
            "pattern",
            "traffic pattern",
            "None",
            "Where packets go; needed without `messages`"
        ),
        with(
            "process",
            "arrival process",
            "None",
            "When packets are made; needed without `messages`"
        ),
        with(
            "messages",
            "message source",
            "None",
            "Who sends what to whom, when and after what, in place of pattern and process; classes that name the same \
             source share it"
        ),
        need(
            "size",
            "size | Mixed([(size, weight)])",
            "Packet size, 1..=65535 flits; messages are split into packets of at most this size"
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
        need(
            "warmup",
            "time | Auto(at_most: time)",
            "Simulated before measurement; Auto = until the packets present are stationary, see section auto_warmup"
        ),
        need(
            "measure",
            "time, at least 1 cycle | Auto(at_most: time, ...) | Messages(at_most: time)",
            "Packets created in it are tagged and measured; Auto = until precise enough, see section auto_measure; \
             Messages = until all are delivered"
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
    AUTO_WARMUP,
    "auto_warmup",
    "phases.warmup: Auto(...)",
    "A warm-up that ends when MSER-5 finds the packets present stationary.",
    [need(
        "at_most",
        "time",
        "Longest warm-up; the measurement starts then in any case, and the summary says so"
    )]
);

section!(
    AUTO_MEASURE,
    "auto_measure",
    "phases.measure: Auto(...)",
    "A measurement that ends when mean packet latency and accepted load are precise enough, at two looks in a row.",
    [
        need("at_most", "time, at least 1 cycle", "Longest measurement"),
        with(
            "confidence",
            "number between 0 and 1",
            "0.95",
            "Level of the confidence intervals (batch means)"
        ),
        with(
            "half_width",
            "number between 0 and 1",
            "0.02",
            "Half-width of the intervals, as a fraction of the mean, that is narrow enough"
        ),
        with(
            "wall_time",
            "None | time on the clock",
            "None",
            "The run is interrupted after this time; only then does a result depend on the machine"
        ),
    ]
);

section!(
    UNTIL_MESSAGES,
    "until_messages",
    "phases.measure: Messages(...)",
    "A measurement that ends when every message is delivered, at most 256 cycles after it.",
    [need(
        "at_most",
        "time, at least 1 cycle",
        "Longest measurement; when it comes first, the verdict is incomplete"
    )]
);

/// All sections in the order of a scenario.
pub static SECTIONS: &[&Section] = &[
    &SCENARIO,
    &FABRIC,
    &LINK,
    &EXCEPT,
    &HOST_LINK,
    &SWITCH,
    &MARKING,
    &HOST,
    &FAULTS,
    &QOS,
    &VL_ARBITRATION,
    &CLASS,
    &PHASES,
    &AUTO_WARMUP,
    &AUTO_MEASURE,
    &UNTIL_MESSAGES,
    &OBSERVE,
    &SWEEP,
    &EXPECT,
];
