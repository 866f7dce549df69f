//! Jobs: what a class has to deliver in all, its messages or its flows with a size, and how far it is at the end of a run.
//!
//! A flow is complete when its last data packet is delivered. It is lost when it is not, and a packet of it was dropped or
//! rejected: nothing is sent twice. One that waits for what never comes is never complete ([`dead`](super::dead)). One that has stopped before it has made all it has to send is never complete. What the program makes (answers, probes) belongs to its parent and is no job.

use super::dead::{Dead, dead};
use crate::measure::outcome::{ClassVerdict, Verdict};
use crate::measure::{ClassRecords, FlowCounts, Records};
use crate::plan::{ClassPlan, FlowPlan, Until};
use crate::scenario::Resolved;
use crate::topology::Endpoint;
use crate::units::Clock;
use std::fmt::Write as _;

/// Flows that are named, of the lost ones and of those that stopped too soon.
const NAMED: usize = 3;

/// The job of a class.
#[derive(Clone, Debug)]
struct Job {
    /// Number of the class.
    class: usize,
    name: String,
    /// Messages, else flows with a size.
    is_of_messages: bool,
    /// Messages or flows in all.
    all: u64,
    /// Flows without a size beside them: nothing of them decides.
    endless: u64,
    /// Those that are complete.
    complete: u64,
    /// Those that can still become complete.
    open: u64,
    /// Latest delivery of a complete one \[cycle\].
    last: u64,
    /// What was lost, in words.
    lost: Vec<String>,
    /// Packets that were lost.
    lost_packets: u64,
    /// Flows that stopped too soon, in words.
    stopped: Vec<String>,
    /// Flows that wait for what will never come, in words.
    waiting: Vec<String>,
}

/// All of a run.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    all: Vec<Job>,
    /// What the end of the measurement waits for.
    until: Option<Until>,
    /// First cycle of the measurement.
    warm: u64,
    clock: Clock,
}

impl Job {
    /// The messages of a class; without any flows may be added.
    fn of_messages(number: usize, class: &ClassPlan, records: &ClassRecords) -> Self {
        let messages = records.messages.as_deref();
        let delivered = messages.map_or(0, |messages| messages.delivered);
        let all = class.messages.unwrap_or_default();
        let lost_packets = records.lost.packets + records.rejected;
        Self {
            class: number,
            name: class.name.clone(),
            is_of_messages: class.messages.is_some(),
            all,
            endless: 0,
            complete: delivered,
            open: all - delivered,
            last: messages.map_or(0, |messages| messages.last_delivery),
            lost: Vec::new(),
            lost_packets: class.messages.map_or(0, |_| lost_packets),
            stopped: Vec::new(),
            waiting: Vec::new(),
        }
    }

    fn is_complete(&self) -> bool {
        self.complete == self.all
    }

    /// Whether nothing more can become of it, though it is not complete.
    fn is_lost(&self) -> bool {
        self.open == 0 && !self.is_complete()
    }

    /// Enters a flow with a size, as it stands in cycle `now`.
    fn add(
        &mut self,
        (flow, counts): (&FlowPlan, &FlowCounts),
        dead: Option<Dead>,
        now: u64,
        name: impl Fn() -> String,
    ) {
        let (sent, arrived) = (&counts.sent, &counts.arrived);
        let flits = flow.flits.unwrap_or_default();
        self.all += 1;
        if arrived.delivered.flits >= flits {
            self.complete += 1;
            self.last = self.last.max(arrived.last_delivery.unwrap_or_default());
            return;
        }
        let lost = counts.dropped.packets + sent.rejected.packets;
        let made = sent.created.flits;
        let stop = flow.stop.filter(|stop| *stop <= now && made < flits);
        self.open += u64::from(dead.is_none());
        self.lost_packets += lost;
        if dead == Some(Dead::Waits) {
            self.waiting.push(name());
        } else if lost > 0 {
            self.lost.push(name());
        } else if let Some(Dead::Closed(closed)) = dead {
            self.stopped.push(format!(
                "{}, limited to 0 for good from cycle {closed} on, after {} of {flits} flits",
                name(),
                sent.started.flits
            ));
        } else if let Some(stop) = stop {
            let name = name();
            self.stopped.push(format!(
                "{name} in cycle {stop} after {made} of {flits} flits"
            ));
        }
    }

    /// How far it is, in words.
    fn words(&self, jobs: &Jobs) -> String {
        let Self { all, complete, .. } = self;
        let mut text = if self.is_of_messages {
            format!("{complete} of {all} messages delivered")
        } else {
            format!("{complete} of {all} flows with a size complete")
        };
        if self.endless > 0 {
            let _ = write!(text, " ({} without a size not counted)", self.endless);
        }
        if *complete > 0 {
            let (last, time) = (self.last, jobs.clock.time(self.last));
            let _ = write!(text, ", the last in cycle {last} ({time})");
            if self.is_complete() && last < jobs.warm {
                let _ = write!(
                    text,
                    ", before the measurement began in cycle {}",
                    jobs.warm
                );
            }
        }
        text + &self.losses() + &self.stops()
    }

    /// What stopped before its size was made, or never starts, in words; empty where nothing did.
    fn stops(&self) -> String {
        let stopped = match &self.stopped[..] {
            [] => String::new(),
            [one] => format!("; stopped before its size: flow {one}"),
            some => format!("; stopped before their size: flows {}", named(some)),
        };
        let waiting = match &self.waiting[..] {
            [] => String::new(),
            [one] => format!("; never to start, since what it waits for never comes: flow {one}"),
            some => format!(
                "; never to start, since what they wait for never comes: flows {}",
                named(some)
            ),
        };
        stopped + &waiting
    }

    /// What is lost, in words; empty where nothing is.
    fn losses(&self) -> String {
        let packets = match self.lost_packets {
            0 => return String::new(),
            1 => "1 packet".to_owned(),
            many => format!("{many} packets"),
        };
        if self.lost.is_empty() {
            return format!("; {packets} of them were lost");
        }
        let flows = if self.lost.len() == 1 {
            "flow"
        } else {
            "flows"
        };
        let named = named(&self.lost);
        format!("; lost: {flows} {named}, of which {packets} were dropped or rejected")
    }
}

/// The first of some names, and how many there are beside these.
fn named(all: &[String]) -> String {
    let named = &all[..all.len().min(NAMED)];
    let more = match all.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    named.join(", ") + &more
}

impl Jobs {
    /// Those of all classes, by their records and what the flows did; the measurement began in cycle `warm`, it is cycle `now`.
    pub(super) fn of(
        resolved: &Resolved,
        records: &Records,
        counts: &[FlowCounts],
        [warm, now]: [u64; 2],
    ) -> Self {
        let (plan, graph) = (&resolved.plan, &resolved.layout.graph);
        let classes = plan.classes.iter().zip(&records.classes).enumerate();
        let job = |(number, (class, records))| Job::of_messages(number, class, records);
        let mut all: Vec<Job> = classes.map(job).collect();
        let dead = dead(plan, counts, now);
        for (id, (flow, counts)) in plan.flows.iter().zip(counts).enumerate() {
            if plan.is_of_probes(flow.class) {
                continue;
            }
            let job = &mut all[usize::from(flow.class)];
            if flow.flits.is_none() {
                job.endless += 1;
                continue;
            }
            let name = || {
                let ends = [flow.source, flow.destination];
                let [from, to] = ends.map(|host| graph.endpoint_name(Endpoint::Host(host)));
                format!("{id} ({from} to {to})")
            };
            job.add((flow, counts), dead[id], now, name);
        }
        all.retain(|job| job.all > 0);
        Self {
            all,
            until: plan.phases.until,
            warm,
            clock: resolved.layout.clock,
        }
    }

    /// Those that decide: what the measurement waits for, else all.
    fn decisive(&self) -> impl Iterator<Item = &Job> {
        let is_meant = |job: &&Job| match self.until {
            Some(until) => job.is_of_messages == (until == Until::Messages),
            None => true,
        };
        self.all.iter().filter(is_meant)
    }

    /// Verdict and reason, where jobs decide: all are complete, or one that is waited for is not, or cannot be any more.
    pub(super) fn verdict(&self) -> Option<(Verdict, String)> {
        let missing = || self.decisive().filter(|job| !job.is_complete());
        self.decisive().next()?;
        if missing().next().is_none() {
            return Some((Verdict::Complete, self.words()));
        }
        if missing().all(Job::is_lost) {
            return Some((Verdict::Incomplete, self.words()));
        }
        self.until?;
        let words = self.words();
        let reason = format!("the bound of the measurement came first: {words}");
        Some((Verdict::Incomplete, reason))
    }

    /// What was lost, and what stopped before its size, in words; empty where nothing did.
    pub(super) fn missing(&self) -> String {
        let words = |job: &Job| job.losses() + &job.stops();
        self.all.iter().map(words).collect()
    }

    /// Whether all that is missing are flows with a size that go on.
    pub(super) fn may_be_complete(&self) -> bool {
        let goes_on = |job: &Job| !job.is_of_messages && job.complete + job.open == job.all;
        self.all.iter().all(goes_on)
    }

    /// How far they are, in words.
    pub(super) fn words(&self) -> String {
        let words = |job: &Job| match self.all.len() {
            1 => job.words(self),
            _ => format!("{}: {}", job.name, job.words(self)),
        };
        let words: Vec<String> = self.all.iter().map(words).collect();
        words.join("; ")
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What is told of a class that has a job.
    pub(super) fn of_class(&self, class: usize) -> Option<ClassVerdict> {
        let job = self.all.iter().find(|job| job.class == class)?;
        let verdict = if job.is_complete() {
            Verdict::Complete
        } else {
            Verdict::Incomplete
        };
        Some(ClassVerdict {
            verdict,
            reason: job.words(self),
        })
    }
}
