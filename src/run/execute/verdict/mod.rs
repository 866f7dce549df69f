//! The verdict of a run: what its measurement proves, with stated error rates.
//!
//! # Algorithm
//! Two questions are asked, each with its own error rate, and what neither answers is *undecided*:
//!
//! 1. Is it certain that the fabric takes less than is offered? *Saturated*, when a channel is asked for more than it
//!    carries by the expected loads of routes, patterns and flows with a process ([`headroom`](crate::scenario::bounds::headroom), no chance in
//!    it), or such a flow is offered more than its limit or window lets through ([`offered`](crate::scenario::offered)), or at the level of 0.1 % each
//!    - the flits present (source queues and fabric) drift upwards, against the hypothesis of a random walk, the worst
//!      case of a stable queue ([`stationarity::is_growing`]), and a tenth of that at least in source queues, or
//!    - switches drop, or full source queues reject, more than 2 % of what a class makes ([`loss`]), or
//!    - a host falls short: of the flits created for it, or by it, fewer are delivered than chance and drops explain, corrected
//!      (Bonferroni) for all hosts, both ways.
//! 2. May an overload of 10 % be ruled out, being missed in at most 0.5 %? Only then *steady*. It may not, when
//!    - a channel is asked for 0.99 of what it carries by the expected loads, or a flow is offered 0.99 of its limit or of what its window
//!      lets through ([`windows`]); where these are not known (messages,
//!      limited numbers of packets, and between switches adaptive routing)
//!      - a host is asked to take or to send 0.99 of what its link (or sink) carries, or this is within the 99.5 %
//!        bound of its load below 1.1, by packets of classes that do not pace themselves ([`doubt`]),
//!      - a channel between switches is busy for 0.98 of the time, or within its 99.5 % bound below 1.1,
//!    - the flits present grow by a part of those created that an overload of 10 % would come to in more than 1 %, or by more than 2 %
//!      of them and 2.576 standard deviations of what chance does,
//!    - packets present or packet latency rise over the measurement by more than 5 % of their mean and beyond what
//!      chance does in 0.5 % of stationary series ([`stationarity::rise`]),
//!    - a class may lose more than 2 % of what it makes, or
//!    - measured packets were left over by a drain as long as the measurement.
//!
//! Chance means counts of flits with the dispersion that the created flits of all hosts show from batch to batch; one
//! packet at each edge of the measurement is allowed for, and the flits that fill a fabric that was not warmed up; of a single
//! host the flits under way at both edges, too, which vary with the destinations drawn however regular the sources are.
//! Before both, a measurement without data enough ([`data`]) is *undecided*, with the length that would do; but a channel that
//! is asked for too much in expectation is so whatever was measured.
//!
//! What switches drop or full source queues reject is not present any more, and not delivered either: it is a shortfall of its class,
//! which the reason names where it is too small for another verdict.
//!
//! Where sources always have a packet waiting the fabric is saturated by what is seen at once; so it is where a flow that always has a packet is held back ([`held`]).
//!
//! Jobs ([`jobs`](super::jobs)) come before any load. A run is *complete* when what its measurement waits for is delivered,
//! or all of its jobs where it waits for none; *incomplete* when what it waits for is not, or when nothing
//! more can be delivered of what is missing. In a measurement of another length jobs that go on are told beside the
//! verdict of the load, and loads beside jobs are told class by class ([`classes`]).
//!
//! # Deviations
//! Dally and Towles judge the curve of latency over load by eye. Arrivals of single hosts may be burstier than those
//! of all together; then the error rates of single hosts are higher than stated. Overload of a single flow that
//! fills no channel (too few buffers for the round trip) is told from noise only by growth, and may be missed more
//! often where fewer than about 1500 packets are measured.
//!
//! References: [`DALLY_TOWLES`](crate::references::DALLY_TOWLES) chapter 23,
//! [`LAW_KELTON`](crate::references::LAW_KELTON) chapter 9
//!
//! [`stationarity::is_growing`]: crate::measure::precision::stationarity::is_growing
//! [`stationarity::rise`]: crate::measure::precision::stationarity::rise

mod asked;
mod beside;
mod classes;
mod cut;
mod data;
mod doubt;
mod ever;
mod growth;
mod held;
mod length;
mod limits;
mod loss;
mod shares;
#[cfg(test)]
mod tests;
mod told;
mod window;
mod windows;

use doubt::Doubt;
pub(super) use ever::closed;
use held::Held;
use window::Window;

use super::Run;
use super::jobs::Jobs;
use crate::cycle::stages::generate::sources::Sources;
use crate::measure::outcome::ClassVerdict;
use crate::measure::{ClassRecords, Records};
use crate::plan::Plan;
use crate::run::outcome::Verdict;
use std::fmt;

/// What the drain left over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leftover {
    /// Measured packets that were not delivered.
    pub(super) packets: u64,
    /// Length of the drain \[cycles\].
    pub(super) drain: u64,
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packets, drain } = self;
        write!(
            f,
            "{packets} measured packets were not delivered within {drain} cycles of drain"
        )
    }
}

/// Verdict and reason of a run that was not ended early.
pub(super) fn judge(
    window: &Window<'_>,
    jobs: &Jobs,
    (classes, held): (&[Option<ClassVerdict>], &[Held]),
    leftover: Leftover,
) -> (Verdict, String) {
    if let Some((verdict, reason)) = jobs.verdict() {
        let beside = beside(window.plan(), classes);
        return (verdict, reason + &beside);
    }
    let (verdict, reason) = of_load(window, held, leftover);
    if jobs.is_empty() {
        return (verdict, reason);
    }
    let reason = format!("{reason}; at its end {}", jobs.words());
    let length = (verdict == Verdict::Undecided && jobs.may_be_complete())
        .then(|| window.length_of_jobs())
        .flatten();
    let Some(length) = length.filter(|length| *length > window.cycles()) else {
        return (verdict, reason);
    };
    let time = window.clock().time(length);
    let reason = format!("{reason}: measure at least {length} cycles ({time}) for all of them");
    (verdict, reason)
}

/// What is told of classes that have no job, in words.
fn beside(plan: &Plan, classes: &[Option<ClassVerdict>]) -> String {
    let told = plan.classes.iter().zip(classes);
    let told = told.filter_map(|(class, told)| Some((&class.name, told.as_ref()?)));
    let has_load =
        |told: &ClassVerdict| !matches!(told.verdict, Verdict::Complete | Verdict::Incomplete);
    let words =
        told.filter(|(_, told)| has_load(told))
            .map(|(name, ClassVerdict { verdict, reason })| {
                format!("; beside it {name} is {verdict}: {reason}")
            });
    words.collect::<Vec<_>>().concat()
}

/// Verdict and reason of the load.
fn of_load(window: &Window<'_>, held: &[Held], leftover: Leftover) -> (Verdict, String) {
    if let Some(reason) = window.asked_too_much() {
        return (Verdict::Saturated, reason);
    }
    if let Some(shortage) = window.shortage() {
        let reason = format!("too short a measurement: {shortage}");
        return (Verdict::Undecided, reason);
    }
    if let Some(reason) = window.overload() {
        return (Verdict::Saturated, reason);
    }
    if window.is_backlogged() {
        let reason = "saturating sources offer all the fabric takes";
        let reason = format!("{reason}: {}", window.loads());
        return (Verdict::Saturated, reason);
    }
    if let Some(held) = held::worst(held, None) {
        return (Verdict::Saturated, format!("{held}; {}", window.loads()));
    }
    let is_long = leftover.drain >= window.cycles();
    let late = (leftover.packets > 0).then(|| leftover.to_string());
    let is_late = || late.clone().filter(|_| is_long).map(Doubt::longer);
    let is_late = || {
        held::doubtful(held, None)
            .map(Doubt::longer)
            .or_else(is_late)
    };
    if let Some(Doubt { words, remedy }) = window.doubt().or_else(is_late) {
        let (cycles, loads) = (window.cycles(), window.loads());
        let reason = format!(
            "too close to the limit to tell in {cycles} cycles: {words}; {loads}; {remedy}"
        );
        return (Verdict::Undecided, reason);
    }
    (Verdict::Steady, why_steady(window, late))
}

/// Why a load is steady; `late` are packets that a drain left over.
fn why_steady(window: &Window<'_>, late: Option<String>) -> String {
    let (full, lost) = (window.full(), window.most_lost());
    let other = || window.draining().or_else(|| window.filling());
    let other = lost.is_none().then(other).flatten();
    let short = window.falls_short().filter(|_| other.is_none());
    let grows = match short {
        None => "nothing grows",
        Some(_) => "nothing grows beyond chance",
    };
    let nothing = match full {
        None => format!("{grows}, no channel is full"),
        Some(_) => grows.to_owned(),
    };
    let load = short.unwrap_or_else(|| "accepted load follows offered load".to_owned());
    let follows = match &lost {
        None => other.unwrap_or(load),
        Some(lost) => format!("{load}, but {lost}"),
    };
    let late = late.map(|late| format!("{late}, latencies are without them"));
    let words = [format!("{nothing} and {follows}")].into_iter();
    words.chain(full).chain(late).collect::<Vec<_>>().join("; ")
}

/// Whether a measurement may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing moves any more.
    Settled,
    /// The fabric is certainly saturated: no mean will settle.
    Saturated,
    /// Neither is certain.
    Moving,
}

/// How a measurement stands, and why.
pub(super) fn standing(window: &Window<'_>) -> (Standing, Option<String>) {
    let is_bounded = window.sum(|class: &ClassRecords| class.rejected) > 0;
    let is_backlogged = window.is_backlogged();
    let overload = window.overload().filter(|_| !is_bounded);
    if overload.is_some() {
        return (Standing::Saturated, overload);
    }
    // full queues are what is asked for: only what moves counts
    let doubt = window.shortage().or_else(|| {
        if is_bounded || is_backlogged {
            window.trend()
        } else {
            window.doubt().map(|doubt| doubt.words)
        }
    });
    match doubt {
        Some(_) => (Standing::Moving, doubt),
        None => (Standing::Settled, None),
    }
}

impl Run<'_> {
    /// What was measured up to now.
    pub(super) fn measured_so_far(&mut self) -> Records {
        let after = self.sent();
        let before = match self.driver.warm {
            Some(_) => self.driver.sent[0].clone(),
            None => after.clone(),
        };
        self.records(&before, after)
    }

    /// The measurement of so many cycles, for its verdict.
    pub(super) fn window<'r>(&'r self, records: &'r Records, cycles: u64) -> Window<'r> {
        let warmup = self.driver.warm.as_ref().map_or(0, |warm| warm.cycle);
        let (graph, plan) = (&self.resolved.layout.graph, &self.resolved.plan);
        let series = &self.driver.batches.series;
        Window::new(
            (graph, plan),
            (self.asked, self.done()),
            records,
            series,
            [warmup, cycles],
        )
    }

    /// Classes with limited numbers of packets whose sources have made all of them.
    fn done(&self) -> Vec<usize> {
        let classes = &self.resolved.plan.classes;
        let are_done = |class: usize| {
            let mut sources = self.simulation.each::<Sources>();
            sources.all(|sources| sources.are_done(class, classes.len()))
        };
        let limited = |class: &usize| classes[*class].packets_per_host.is_some();
        let numbers = (0..classes.len()).filter(limited);
        numbers.filter(|class| are_done(*class)).collect()
    }
}
