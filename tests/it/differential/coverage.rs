//! What was drawn: every combination that matters has a name, and must have been met.

use super::engine::Found;
use crate::random_fabric::{Case, Mode};
use std::collections::BTreeMap;
use std::fmt;
use virtlane::routing::Routes;
use virtlane::routing::adaptive::Selection;
use virtlane::scenario::plan::{
    BufferSharing, Forwarding, InputSpeedup, Matching, OutputArbitration, Queues,
};
use virtlane::traffic::{PATTERNS, PROCESSES};

/// Cases by what they have.
#[derive(Default)]
pub(super) struct Coverage {
    cases: u64,
    deliveries: u64,
    messages: u64,
    met: BTreeMap<String, u64>,
}

/// Name of a form of the cycle.
fn form(mode: Mode) -> &'static str {
    if mode.fused { "fused" } else { "staged" }
}

impl Coverage {
    /// Enters a case.
    pub(super) fn add<R>(&mut self, case: &Case<R>, routes: &Routes, found: &Found) {
        self.cases += 1;
        self.deliveries += found.deliveries.len() as u64;
        let messages = found.records.classes.iter();
        let messages = messages.filter_map(|class| class.messages.as_ref());
        self.messages += messages.map(|messages| messages.delivered).sum::<u64>();
        let mut names = options(case, routes);
        names.extend(sizes(case));
        if case.way.resume.is_some() {
            let resumed = names.iter().map(|name| format!("resumed with {name}"));
            names.extend(resumed.collect::<Vec<_>>());
        }
        if case.fork.is_some() {
            names.push(String::from("fork"));
            names.extend(case.way.resume.map(|_| String::from("fork and resume")));
        }
        let plain = if found.plain { "plain" } else { "general" };
        names.push(plain.to_owned());
        names.push(format!("{} shards", found.shards));
        let modes = case.way.resume.iter().map(|(_, mode)| *mode);
        for mode in modes.chain([case.way.mode]) {
            let threads = mode.threads.min(found.shards);
            let words = found.mask_words;
            // wide masks run staged in any case
            let form = if words > 2 { "staged" } else { form(mode) };
            names.push(format!("{plain}, {form}"));
            names.push(format!("{plain}, {form}, {words} words"));
            names.push(format!("{plain}, {form}, {threads} threads"));
        }
        names.sort();
        names.dedup();
        for name in names {
            *self.met.entry(name).or_default() += 1;
        }
    }

    fn require(&self, names: impl IntoIterator<Item = impl AsRef<str>>, times: u64) {
        let names = names.into_iter();
        let met = |name: &str| self.met.get(name).copied().unwrap_or(0);
        let missing: Vec<String> = names
            .filter(|name| met(name.as_ref()) < times)
            .map(|name| format!("{}: {}", name.as_ref(), met(name.as_ref())))
            .collect();
        assert!(missing.is_empty(), "{missing:?} of {times}\n{self}");
    }

    /// What all kinds of routing have in common.
    pub(super) fn require_general(&self) {
        assert!(
            self.deliveries > 50 * self.cases && self.messages > self.cases,
            "the cases hardly deliver anything: {self}"
        );
        for words in [1, 2] {
            self.require([format!("general, fused, {words} words")], 1);
        }
        for words in [1, 2, 4, 8, 16, 64] {
            self.require([format!("general, staged, {words} words")], 1);
        }
        for threads in 1..=3 {
            for form in ["staged", "fused"] {
                self.require([format!("general, {form}, {threads} threads")], 1);
            }
        }
        let shards = (1..=7).map(|count| format!("{count} shards"));
        self.require(shards, 1);
        self.require(["fork", "long", "large packets", "far", "many hosts"], 1);
        self.require(
            ["fork and resume", "64 hosts", "huge flits with VL tables"],
            1,
        );
        self.require(STATEFUL.map(|name| format!("resumed with {name}")), 1);
        let patterns = PATTERNS.names().map(|name| format!("pattern {name}"));
        self.require(patterns, 1);
        let processes = PROCESSES.names().map(|name| format!("process {name}"));
        self.require(processes, 1);
    }

    /// What only tables have: the fast path, VOQ and VL15.
    pub(super) fn require_tables(&self) {
        let plain = self.met.get("plain").copied().unwrap_or(0);
        let share = plain as f64 / self.cases as f64;
        assert!(
            (0.4..0.6).contains(&share),
            "{share} of the cases are plain"
        );
        for form in ["staged", "fused"] {
            self.require([format!("plain, {form}, 1 words")], 1);
            for threads in 1..=3 {
                self.require([format!("plain, {form}, {threads} threads")], 1);
            }
        }
        self.require(TABLES_ONLY.map(|name| format!("resumed with {name}")), 1);
    }

    /// Engines that choose once, and those whose heads request all candidates.
    pub(super) fn require_adaptive(&self) {
        self.require(["resumed with open heads", "resumed with drawn choices"], 1);
    }

    /// Parts that scenarios name: tables and adaptive engines of both kinds.
    pub(super) fn require_shipped(&self) {
        self.require(
            [
                "plain, staged",
                "plain, fused",
                "general, staged",
                "general, fused",
            ],
            1,
        );
        self.require(["open heads", "drawn choices"], 1);
    }
}

/// Options and traffic that have state of their own.
const STATEFUL: [&str; 15] = [
    "VL tables at outputs",
    "VL tables at inputs",
    "VL tables at channels",
    "bounded source queues",
    "slow sinks",
    "output lanes",
    "output buffers",
    "random arbitration",
    "input-first",
    "several places",
    "unlimited places",
    "a pool",
    "marking",
    "messages",
    "saturating sources",
];

/// The same, of what adaptive routing excludes.
const TABLES_ONLY: [&str; 4] = ["VOQ", "input-first VOQ", "VL15", "store-and-forward"];

fn chosen(names: &[(&str, bool)]) -> Vec<String> {
    let chosen = names.iter().filter(|(_, is_met)| *is_met);
    chosen.map(|(name, _)| (*name).to_owned()).collect()
}

fn options<R>(case: &Case<R>, routes: &Routes) -> Vec<String> {
    let (plan, switch) = (&case.plan, &case.plan.switch);
    let tables = switch.vl_arbitration.is_some();
    let input_first = switch.matching == Matching::InputFirst;
    let lanes = switch.output_lane_buffer > 0;
    let places = switch.input_speedup;
    let voq = switch.queues == Queues::Voq;
    let selection = match routes {
        Routes::Adaptive(adaptive) => Some(adaptive.routing.selection()),
        Routes::Tables(_) => None,
    };
    let drawn = matches!(selection, Some(Selection::Random | Selection::LeastLoad));
    let random = switch.output_arbitration == OutputArbitration::Random;
    let mut names = chosen(&[
        ("VL tables at inputs", tables && input_first),
        ("VL tables at channels", tables && !input_first && lanes),
        ("VL tables at outputs", tables && !input_first && !lanes),
        ("bounded source queues", plan.host.source_queue.is_some()),
        ("slow sinks", plan.host.sink_cycles_per_flit.is_some()),
        ("output lanes", lanes),
        ("output buffers", switch.output_buffer > 0),
        ("random arbitration", random),
        ("input-first", input_first),
        ("input-first VOQ", input_first && voq),
        ("VOQ", voq),
        ("VL15", switch.management_lane),
        (
            "store-and-forward",
            switch.forwarding == Forwarding::StoreAndForward,
        ),
        (
            "several places",
            matches!(places, InputSpeedup::Limited(2..)),
        ),
        ("unlimited places", places == InputSpeedup::Unlimited),
        ("a pool", switch.sharing == BufferSharing::PortPool),
        ("marking", switch.marking_threshold.is_some()),
        ("messages", !plan.workloads.is_empty()),
        (
            "saturating sources",
            plan.classes
                .iter()
                .any(virtlane::scenario::plan::ClassPlan::is_backlogged),
        ),
        ("open heads", selection == Some(Selection::Open)),
        ("drawn choices", drawn),
        (
            "huge flits with VL tables",
            tables && plan.flit_bytes > 1 << 29,
        ),
    ]);
    for class in &plan.classes {
        // as `random_fabric::traffic` names its classes
        if let Some((_, parts)) = class.name.split_once(": ")
            && let Some((pattern, process)) = parts.split_once(", ")
        {
            names.push(format!("pattern {pattern}"));
            names.push(format!("process {process}"));
        }
    }
    names
}

fn sizes<R>(case: &Case<R>) -> Vec<String> {
    let hosts = case.graph.hosts().len();
    let channels = case.graph.channels();
    let latency = channels.iter().map(|channel| channel.timing.latency).max();
    chosen(&[
        ("long", case.cycles > 1500),
        ("large packets", case.plan.largest_packet() > 32),
        ("far", latency > Some(5)),
        ("many hosts", hosts > 14),
        ("64 hosts", hosts >= 64),
    ])
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} cases, {} packets and {} messages delivered",
            self.cases, self.deliveries, self.messages
        )?;
        for (name, count) in &self.met {
            writeln!(f, "{count:6} {name}")?;
        }
        Ok(())
    }
}
