//! Control of flows: events that senders log; of classes apart visits of agents, broadcasts, routes that their packets set up,
//! and what went out of band.

use super::flows::{quantile, some_mean, sorted};
use super::loads::ratio;
use super::{Entry, count, counted};
use crate::measure::RunResult;
use crate::measure::flow_counts::FlowSent;
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    counted(
        "control.triggers",
        "events",
        "Events that senders of flows logged since cycle 0, as CCTI reaching the trigger threshold, with control",
        |run| count(run, "control.triggers").map(Value::from),
    )
    .column()
    .entry(),
    counted(
        "control.last_event.mean",
        "cycle",
        "Cycle of the last event that the sender of a flow logged, mean over the flows with one; where rates are \
         calculated, their last change",
        |run| some_mean(&of_last(run, |sent| sent.last_logged)),
    )
    .column()
    .entry(),
    counted(
        "control.last_event.max",
        "cycle",
        "The same, of the last one of all",
        |run| quantile(&of_last(run, |sent| sent.last_logged), 1000),
    )
    .column()
    .entry(),
    counted(
        "control.answers_to_last_event.mean",
        "answers",
        "Answers and replies that the sender of a flow was told up to the last event that it logged, mean over the flows \
         with one",
        |run| some_mean(&of_last(run, |sent| Some(sent.told_then))),
    )
    .entry(),
    counted(
        "control.answers_to_last_event.max",
        "answers",
        "The same, of the flow with most",
        |run| quantile(&of_last(run, |sent| Some(sent.told_then)), 1000),
    )
    .entry(),
    counted(
        "control.visits",
        "visits",
        "Visits of the agents of channels by control packets since cycle 0, with an algorithm that probes",
        |run| count(run, "control.visits").map(Value::from),
    )
    .entry(),
    counted(
        "control.broadcasts",
        "copies",
        "Copies of broadcasts that joined the queue of a channel since cycle 0, with an algorithm whose switches and hosts have \
         elements",
        |run| count(run, "control.broadcasts").map(Value::from),
    )
    .entry(),
    counted(
        "control.broadcasts_heard",
        "copies",
        "Copies of broadcasts that switches and hosts heard since cycle 0; the others are under way",
        |run| count(run, "control.broadcasts_heard").map(Value::from),
    )
    .entry(),
    counted(
        "control.held",
        "cycles",
        "Cycles since cycle 0, summed over hosts, in which hosts took none of the packets they had for want of room for \
         answers, with a bounded queue of answers",
        |run| count(run, "control.held").map(Value::from),
    )
    .column()
    .entry(),
    counted(
        "set_up.full",
        "choices",
        "Choices of outputs other than those of tables, since cycle 0, for which the cache of the input had no place",
        |run| count(run, "set_up.full").map(Value::from),
    )
    .column()
    .entry(),
    counted(
        "set_up.entries_most",
        "entries",
        "Most entries of the cache of an input at the end of a cycle",
        |run| count(run, "set_up.entries_most").map(Value::from),
    )
    .column()
    .entry(),
    counted(
        "set_up.entries",
        "entries",
        "Entries of all caches at the end; none are left when the routes of all flows are taken down",
        |run| count(run, "set_up.entries").map(Value::from),
    )
    .entry(),
    counted(
        "set_up.weight",
        "weight",
        "Weight of the flows over every output at the end, summed; 0 when the routes of all flows are taken down",
        |run| count(run, "set_up.weight").map(Value::from),
    )
    .entry(),
    counted(
        "out_of_band.created",
        "packets",
        "Control packets created out of band since cycle 0",
        |run| count(run, "out_of_band.created").map(Value::from),
    )
    .entry(),
    counted(
        "out_of_band.delivered",
        "packets",
        "Control packets delivered out of band since cycle 0; the others are under way",
        |run| count(run, "out_of_band.delivered").map(Value::from),
    )
    .entry(),
    counted(
        "out_of_band.latency.mean",
        "cycles",
        "Mean time from creation to delivery of control packets out of band",
        |run| {
            let cycles = count(run, "out_of_band.cycles")?;
            let delivered = count(run, "out_of_band.delivered")?;
            Some(ratio(cycles as f64, delivered as f64).into())
        },
    )
    .line("control", |mean| {
        format!("{mean:.1} cycles out of band, mean")
    })
    .entry(),
    counted(
        "out_of_band.latency.max",
        "cycles",
        "Longest time from creation to delivery of a control packet out of band",
        |run| count(run, "out_of_band.longest").map(Value::from),
    )
    .entry(),
];

/// Something of all flows whose senders logged an event, ascending.
fn of_last(run: &RunResult, value: fn(&FlowSent) -> Option<u64>) -> Vec<f64> {
    let sent = run.flow_results.iter().map(|flow| &flow.counts.sent);
    let logged = sent.filter(|sent| sent.last_logged.is_some());
    sorted(logged.filter_map(value).map(|value| value as f64))
}
