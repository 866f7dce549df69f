//! What was drawn: every combination that matters has a name, and must have been met.

mod demands;

use super::engine::Found;
use crate::random_fabric::{Case, features};
use crate::reference::{Outcome, Routing};
use std::collections::BTreeMap;
use std::fmt;
use virtlane::plan::{Forwarding, Marking, Plan};

/// What flows make and their queues do not hold.
const REJECTED: &str = "rejected packets of flows";

/// Packets that switches dropped, and others of the case that arrived.
const DROPPED: &str = "dropped packets";

/// Cases whose packets keep their lanes.
const LANES_KEPT: &str = "lanes kept";

/// Packets that hosts held, and others of the case that arrived.
const HELD: &str = "held packets";
/// The same, of single flits.
const HELD_FLITS: &str = "wormhole with held packets";
/// Flows that wait and begin, and flows that wait to the end.
const RELEASED: [&str; 2] = ["flows released", "flows not released"];

/// Routes set up: caches that were full, that held something, and that are empty again.
const FULL: &str = "full caches";
const ENTERED: &str = "caches with entries";
const EMPTIED: &str = "caches that are empty again";

/// Flows that are refused, and others that are admitted.
const SOME: &str = "admission of some";
/// Flows that are refused, for a while or for good.
const REFUSED: &str = "admission that refuses";
/// The same, by trials.
const REFUSED_BY_TRIAL: &str = "trials that refuse";
/// Flows that are admitted by trials.
const TRIED: &str = "trials that admit";
/// Flows that begin by reservations.
const BEGUN: &str = "reservations that begin";
/// Reservations that are refused, for a while or for good.
const NO_ROOM: &str = "reservations without room";
/// The same, by meters or loads.
const REFUSED_BY_MEASUREMENT: &str = "measurements that refuse";

/// What became of claims (D72).
const CLAIMED: [&str; 5] = [
    "claims for what is barred",
    "claims without room",
    "claims behind others",
    "claims that keep something",
    "claims granted",
];
/// Transmissions that were repeated.
const REPEATED: &str = "repeats";
/// Claimants that were granted another candidate.
const ELSEWHERE: &str = "claimants granted elsewhere";
/// Runs that go on in the middle of a claim, and forks there.
const RESUMED_IN_CLAIMS: &str = "resumed in a claim";
const FORKED_IN_CLAIMS: &str = "forked in a claim";

/// Flows of several service levels (D27), and what is sent for them on these.
const LEVELS: [&str; 2] = ["flows of several levels", "answers on the levels of flows"];

/// Sets of rules of fabrics with adaptive routing, but for those of one option.
pub(super) const ADAPTIVE_SETS: [&str; 3] = ["Adaptive", "Special", "Any"];
/// Sets of rules of fabrics with tables that do not have every default, but for those of one option.
pub(super) const SETS: [&str; 4] = ["Arbitrated", "SpedUp", "Switched", "Any"];

/// Cases by what they have.
#[derive(Default)]
pub(super) struct Coverage {
    cases: u64,
    deliveries: u64,
    messages: u64,
    met: BTreeMap<String, u64>,
}

impl Coverage {
    /// Enters a case with what both models make of it.
    pub(super) fn add<R>(&mut self, case: &Case<R>, expected: &Outcome, found: &Found)
    where
        for<'a> &'a R: Into<Routing<'a>>,
    {
        self.cases += 1;
        self.deliveries += found.deliveries.len() as u64;
        let messages = found.records.classes.iter();
        let messages = messages.filter_map(|class| class.messages.as_ref());
        self.messages += messages.map(|messages| messages.delivered).sum::<u64>();
        let mut names = features(case);
        if expected.flows.iter().any(|flow| flow.rejected.0 > 0) {
            names.push(String::from(REJECTED));
        }
        let mut classes = found.records.classes.iter();
        if classes.any(|class| class.lost.packets > 0) && !found.deliveries.is_empty() {
            names.push(String::from(DROPPED));
        }
        names.extend(released(case, expected).map(String::from));
        if expected.held > 0 && !found.deliveries.is_empty() {
            names.push(String::from(HELD));
            if case.plan.switch.forwarding == Forwarding::Wormhole {
                names.push(String::from(HELD_FLITS));
            }
        }
        if expected.repeats > 0 {
            names.push(String::from(REPEATED));
        }
        names.extend(kept(expected).map(String::from));
        if keeps_lanes(case) {
            names.push(String::from(LANES_KEPT));
        }
        names.extend(claimed(case, expected).map(String::from));
        names.extend(decided(case, expected, found, &names));
        if case.way.resume.is_some() {
            let resumed = names.iter().map(|name| format!("resumed with {name}"));
            names.extend(resumed.collect::<Vec<_>>());
        }
        // as `random_fabric::shipped` names its cases
        if let Some((engine, rest)) = case.plan.title.split_once(" on ")
            && let Some((topology, _)) = rest.split_once(',')
        {
            names.push(format!("engine {engine}"));
            names.push(format!("topology {topology}"));
        }
        let path = match found.rules {
            "Plain" => "plain",
            _ => "general",
        };
        names.push(path.to_owned());
        names.push(format!("rules {}", found.rules));
        names.extend(passed(case, found));
        names.push(format!("{} shards", found.shards));
        let resumed = case.way.resume.iter().map(|(_, threads)| *threads);
        for threads in resumed.chain([case.way.threads]) {
            let (words, threads) = (found.mask_words, threads.min(found.shards));
            names.push(format!("{path}, {words} words, {threads} threads"));
        }
        names.sort();
        names.dedup();
        for name in names {
            *self.met.entry(name).or_default() += 1;
        }
    }
}

/// Whether packets have one lane of several on all their ways (one for each path layer and service level): by tables, or since heads
/// choose among groups of one lane.
fn keeps_lanes<R>(case: &Case<R>) -> bool
where
    for<'a> &'a R: Into<Routing<'a>>,
{
    let is_kept = match (&case.routing).into() {
        Routing::Tables(tables) => {
            let mut maps = tables.lanes.profiles.chunks(tables.lanes.keys());
            let first = maps.next();
            tables.hop_layer.is_empty() && maps.all(|map| Some(map) == first)
        }
        Routing::Adaptive(function) => function.width() == 1,
    };
    case.plan.switch.lanes > 1 && is_kept
}

/// What became of flows that wait (D63).
fn released<R>(case: &Case<R>, expected: &Outcome) -> impl Iterator<Item = &'static str> {
    let flows = case.plan.flows.iter().zip(&expected.flows);
    let waiting: Vec<bool> = flows
        .filter(|(flow, _)| !flow.after.is_empty())
        .map(|(_, counts)| counts.start.is_some())
        .collect();
    let names = RELEASED.into_iter().zip([true, false]);
    names.filter_map(move |(name, begins)| waiting.contains(&begins).then_some(name))
}

/// What a case has whose stages run in one pass.
fn passed<R>(case: &Case<R>, found: &Found) -> Vec<String> {
    if !found.has_pass {
        return Vec::new();
    }
    let mut names = vec![String::from("pass"), format!("pass, rules {}", found.rules)];
    if case.way.resume.is_some() {
        names.push(String::from("pass, resumed"));
    }
    if found.shards > 1 {
        names.push(String::from("pass, several shards"));
    }
    names.extend(riding(&case.plan).map(|rider| format!("pass, {rider}")));
    names
}

/// Mechanisms that ride in the pass.
pub(super) const RIDERS: [&str; 6] = [
    "flows",
    "control",
    "marking by requests",
    "marking of InfiniBand",
    "marking of RoCE",
    "observed queues",
];

/// Those that a plan has.
pub(super) fn riding(plan: &Plan) -> impl Iterator<Item = &'static str> {
    let marking = plan.switch.marking;
    let has = [
        !plan.flows.is_empty(),
        plan.classes.iter().any(|class| class.control.is_some()),
        matches!(marking, Some(Marking::Requests(_))),
        matches!(marking, Some(Marking::InfiniBand { .. })),
        matches!(marking, Some(Marking::Ecn { .. })),
        plan.observe.queues,
    ];
    let riders = RIDERS.into_iter().zip(has);
    riders.filter_map(|(rider, is_there)| is_there.then_some(rider))
}

/// What became of claims (D72), and which were open when the run went on elsewhere.
fn claimed<R>(case: &Case<R>, expected: &Outcome) -> impl Iterator<Item = &'static str> {
    let claims = &expected.claims;
    let met = claims.met;
    let is_open = |cycle: u64| {
        let mut lives = claims.lives.iter();
        lives
            .any(|&(made, granted)| made <= cycle && granted.is_none_or(|granted| cycle <= granted))
    };
    let resumed = case.way.resume.map(|(cycle, _)| cycle);
    let forked = case.fork.as_ref().map(|fork| fork.cycle);
    let [barred, without_room, behind, kept, granted] = CLAIMED;
    let met = [
        (barred, met.barred > 0),
        (without_room, met.without_room > 0),
        (behind, met.behind > 0),
        (kept, met.kept > 0),
        (granted, met.granted > 0),
        (ELSEWHERE, met.elsewhere > 0),
        (RESUMED_IN_CLAIMS, resumed.is_some_and(is_open)),
        (FORKED_IN_CLAIMS, forked.is_some_and(is_open)),
    ];
    met.into_iter()
        .filter_map(|(name, is_met)| is_met.then_some(name))
}

/// What became of the entries of set-ups (D67).
fn kept(expected: &Outcome) -> impl Iterator<Item = &'static str> {
    let kept = expected.set_ups;
    let met = [
        (FULL, kept.full > 0),
        (ENTERED, kept.entries_most > 0),
        (EMPTIED, kept.entries_most > 0 && kept.entries == 0),
    ];
    met.into_iter()
        .filter_map(|(name, is_met)| is_met.then_some(name))
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

/// Classes whose flows are tried, with the hosts that may have one on trial.
fn tried<R>(case: &Case<R>) -> Vec<(u16, u64)> {
    let tried = case.plan.admission.iter().flat_map(|one| &one.tried);
    let hosts = case.graph.hosts().len() as u64;
    tried.map(|tried| (tried.class, hosts)).collect()
}

/// What was decided on requests (D53, D59, D60).
fn decided<R>(
    case: &Case<R>,
    expected: &Outcome,
    found: &Found,
    features: &[String],
) -> Vec<String> {
    let mut names = Vec::new();
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    let (requests, admitted) = (
        sum(&expected.admission.requests),
        sum(&expected.admission.admitted),
    );
    if admitted < requests {
        names.push(REFUSED);
        if admitted > 0 {
            names.push(SOME);
        }
        if features
            .iter()
            .any(|name| name == "meters" || name == "loads")
        {
            names.push(REFUSED_BY_MEASUREMENT);
        }
    }
    for (class, number) in tried(case) {
        let of_class = |name: &str| found.records.counts[&*format!("admission.{name}.{class}")];
        let (asked, admitted) = (of_class("requests"), of_class("admitted"));
        // a request may still be on trial
        if admitted + number < asked {
            names.push(REFUSED_BY_TRIAL);
        }
        if admitted > 0 {
            names.push(TRIED);
        }
    }
    let reserved = |name: &str| found.records.counts.get(name).copied().unwrap_or(0);
    let begun = reserved("reservation.begun");
    if begun > 0 {
        names.push(BEGUN);
    }
    if reserved("reservation.requests") > begun + case.plan.flows.len() as u64 {
        names.push(NO_ROOM);
    }
    names.into_iter().map(String::from).collect()
}
