//! Jobs: when what a class has to deliver in all was delivered, its messages or its flows with a size, application by
//! application where its flows belong to some.
//!
//! The completion of flows counts from the first start of one, that of messages from cycle 0.

use super::{Entry, Metric, Of, OneClass, metric};
use crate::measure::{FlowResult, RunResult};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) const ENTRIES: &[Entry] = &[Entry::Fact("jobs", |run| {
    let jobs = list(run);
    (!jobs.is_empty()).then(|| jobs.into())
})];

/// The completion of a class, among its own values.
pub(super) const COMPLETION: Metric = metric(
    "classes.NAME.completion",
    "cycles",
    "When the last message of the class was delivered, or from the first start of its flows with a size to the last delivery of \
     one, when all are",
    Of::SomeClass(|class| {
        let end = match class.info.messages {
            Some(count) => Job::of_messages(class, count).completion(),
            None => of_flows(class).completion(),
        };
        end.map(Value::from)
    }),
);

/// Messages, or flows with a size, that are complete together.
#[derive(Clone, Debug, Default)]
struct Job<'a> {
    all: u64,
    complete: u64,
    /// Those that lost packets and are not complete; not known of messages.
    lost: Option<u64>,
    /// First start \[cycle\].
    first: Option<u64>,
    /// Latest delivery of a complete one \[cycle\].
    last: Option<u64>,
    /// The complete flow that took longest, by its id.
    slowest: Option<(usize, &'a FlowResult, u64)>,
}

impl<'a> Job<'a> {
    fn of_messages(class: &OneClass<'_>, count: u64) -> Self {
        let records = class.records.messages.as_deref();
        Self {
            all: count,
            complete: records.map_or(0, |records| records.delivered),
            first: Some(0),
            last: records.map(|records| records.last_delivery),
            ..Self::default()
        }
    }

    fn add(&mut self, id: usize, flow: &'a FlowResult) {
        let counts = &flow.counts;
        self.all += 1;
        if let Some(start) = counts.sent.start {
            self.first = Some(self.first.map_or(start, |first| first.min(start)));
        }
        let lost = self.lost.get_or_insert(0);
        let Some(completion) = flow.completion() else {
            *lost += u64::from(counts.dropped.packets + counts.sent.rejected.packets > 0);
            return;
        };
        self.complete += 1;
        self.last = self.last.max(counts.arrived.last_delivery);
        if self.slowest.is_none_or(|(.., most)| completion > most) {
            self.slowest = Some((id, flow, completion));
        }
    }

    /// From its start to its end \[cycles\], when all is complete.
    fn completion(&self) -> Option<u64> {
        let is_complete = self.all > 0 && self.complete == self.all;
        self.last?.checked_sub(self.first?).filter(|_| is_complete)
    }

    fn value(&self, run: &RunResult, of: &str, names: [(&str, Option<&str>); 2]) -> Value {
        let microseconds =
            |cycles: Option<u64>| cycles.map(|cycles| cycles as f64 * run.scenario.cycle_ns / 1e3);
        let mut value = Map::new();
        for (key, name) in names {
            if let Some(name) = name {
                value.insert(key.into(), name.into());
            }
        }
        let completion = self.completion();
        value.insert("of".into(), of.into());
        value.insert("count".into(), self.all.into());
        value.insert("complete".into(), self.complete.into());
        if let Some(lost) = self.lost {
            value.insert("lost".into(), lost.into());
        }
        value.insert("first_start".into(), self.first.into());
        value.insert("last_delivery".into(), self.last.into());
        value.insert("completion".into(), completion.into());
        value.insert("completion_us".into(), microseconds(completion).into());
        if let Some((id, flow, cycles)) = self.slowest {
            let name = |host: u32| run.hosts[host as usize].name.as_str();
            let slowest = json!({
                "flow": id,
                "from": name(flow.source),
                "to": name(flow.destination),
                "completion": cycles,
                "completion_us": microseconds(Some(cycles)),
            });
            value.insert("slowest".into(), slowest);
        }
        value.into()
    }
}

/// The flows with a size of a class, by their ids.
fn sized<'a>(class: &OneClass<'a>) -> impl Iterator<Item = (usize, &'a FlowResult)> {
    let (run, number): (&'a RunResult, u16) = (class.result, class.number);
    let flows = run.flow_results.iter().enumerate();
    flows.filter(move |(_, flow)| flow.class == number && flow.flits.is_some())
}

fn of_flows<'a>(class: &OneClass<'a>) -> Job<'a> {
    let mut job = Job::default();
    sized(class).for_each(|(id, flow)| job.add(id, flow));
    job
}

/// Name of the application of a flow: of the one whose phase it is in, or the number its generator gives it.
fn application(run: &RunResult, flow: &FlowResult) -> Option<(u64, String)> {
    if let Some(phase) = flow.phase {
        let name = &run.app_phases[phase as usize].application;
        return Some((0, name.clone()));
    }
    let number = flow.application?;
    Some((u64::from(number), number.to_string()))
}

/// All jobs: of each class, then of its applications.
fn list(run: &RunResult) -> Vec<Value> {
    let mut list = Vec::new();
    for class in OneClass::all(run) {
        let name = Some(class.info.name.as_str());
        let own = [("class", name), ("application", None)];
        if let Some(count @ 1..) = class.info.messages {
            let job = Job::of_messages(&class, count);
            list.push(job.value(run, "messages", own));
            continue;
        }
        let job = of_flows(&class);
        if job.all == 0 {
            continue;
        }
        list.push(job.value(run, "flows", own));
        let mut applications: BTreeMap<(u64, String), Job<'_>> = BTreeMap::new();
        for (id, flow) in sized(&class) {
            if let Some(application) = application(run, flow) {
                applications.entry(application).or_default().add(id, flow);
            }
        }
        for ((_, application), job) in applications {
            let names = [("class", name), ("application", Some(application.as_str()))];
            list.push(job.value(run, "flows", names));
        }
    }
    list
}
