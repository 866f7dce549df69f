//! What is lost: packets that switches dropped, and the part of their packets that flows get through.
//!
//! Flows are asked for the packets they made in the measurement: those that a full queue rejected, that a switch dropped
//! and that are still under way at the end of the run are not delivered. So a run whose flows are judged by it has a drain
//! in which the last of them arrive.

use super::loads::ratio;
use super::{Entry, Metric, Of, OneClass, counted, metric};
use crate::measure::records::LossRecord;
use crate::measure::{FlowResult, RunResult};
use serde_json::Value;

pub(super) const ENTRIES: &[Entry] = &[
    counted(
        "dropped.packets",
        "packets",
        "Packets that switches dropped since cycle 0",
        |run| Some(all_lost(run)?.packets.into()),
    )
    .column()
    .entry(),
    counted(
        "dropped.flits",
        "flits",
        "Flits of packets that switches dropped since cycle 0",
        |run| Some(all_lost(run)?.flits.into()),
    )
    .entry(),
    counted(
        "dropped.share",
        "fraction",
        "Tagged packets that switches dropped, part of all tagged packets",
        |run| {
            let classes = run.records.classes.iter();
            let tagged = classes.map(|class| class.tagged_created).sum::<u64>();
            Some(ratio(all_lost(run)?.tagged as f64, tagged as f64).into())
        },
    )
    .column()
    .line("dropped", |share| format!("{:.3} % of the packets", share * 100.0))
    .entry(),
    counted(
        "dropped.hops.mean",
        "switches",
        "Switches that dropped packets had passed before, mean",
        |run| mean_hops(&all_lost(run)?),
    )
    .entry(),
    of_some_class(
        "classes.NAME.dropped.packets",
        "packets",
        "Packets of the class that switches dropped since cycle 0",
        |class| Some(lost(class)?.packets.into()),
    )
    .entry(),
    of_some_class(
        "classes.NAME.dropped.share",
        "fraction",
        "Tagged packets of the class that switches dropped, part of all its tagged packets",
        |class| {
            let tagged = class.records.tagged_created;
            Some(ratio(lost(class)?.tagged as f64, tagged as f64).into())
        },
    )
    .column()
    .entry(),
    of_some_class(
        "classes.NAME.dropped.hops.mean",
        "switches",
        "Switches that dropped packets of the class had passed before, mean",
        |class| mean_hops(&lost(class)?),
    )
    .entry(),
    counted(
        "flows.delivered.complete_share",
        "fraction of the flows",
        "Flows all of whose packets of the measurement were delivered, part of those that made any (rejected ones count as made)",
        |run| complete_share(&parts(&run.flow_results, None)),
    )
    .column()
    .entry(),
    counted(
        "flows.delivered.mean",
        "fraction of the packets",
        "Packets of the measurement that were delivered, part of those a flow made, mean over the flows",
        |run| mean(&parts(&run.flow_results, None)),
    )
    .entry(),
    counted(
        "flows.delivered.p5",
        "fraction of the packets",
        "The same, which 5 % of the flows do not exceed",
        |run| least(&parts(&run.flow_results, None), 50),
    )
    .entry(),
    counted(
        "flows.delivered.p50",
        "fraction of the packets",
        "The same, which half of the flows do not exceed",
        |run| least(&parts(&run.flow_results, None), 500),
    )
    .entry(),
    counted(
        "flows.delivered.min",
        "fraction of the packets",
        "The same, of the worst flow",
        |run| least(&parts(&run.flow_results, None), 0),
    )
    .column()
    .entry(),
    of_some_class(
        "classes.NAME.flows.delivered.complete_share",
        "fraction of the flows",
        "Flows of the class all of whose packets of the measurement were delivered, part of those that made any",
        |class| complete_share(&of_class(class)),
    )
    .column()
    .entry(),
    of_some_class(
        "classes.NAME.flows.delivered.mean",
        "fraction of the packets",
        "Packets of the measurement that were delivered, part of those a flow of the class made, mean over the flows",
        |class| mean(&of_class(class)),
    )
    .entry(),
    of_some_class(
        "classes.NAME.flows.delivered.p5",
        "fraction of the packets",
        "The same, which 5 % of the flows do not exceed",
        |class| least(&of_class(class), 50),
    )
    .entry(),
    of_some_class(
        "classes.NAME.flows.delivered.p50",
        "fraction of the packets",
        "The same, which half of the flows do not exceed",
        |class| least(&of_class(class), 500),
    )
    .entry(),
    of_some_class(
        "classes.NAME.flows.delivered.min",
        "fraction of the packets",
        "The same, of the worst flow",
        |class| least(&of_class(class), 0),
    )
    .column()
    .entry(),
];

/// A value that only some classes of some runs have.
const fn of_some_class(
    path: &'static str,
    unit: &'static str,
    summary: &'static str,
    of: fn(&OneClass<'_>) -> Option<Value>,
) -> Metric {
    metric(path, unit, summary, Of::SomeClass(of))
}

/// Whether switches drop.
fn drops(run: &RunResult) -> bool {
    run.records.counts.contains_key("dropped.packets")
}

/// What all classes lost; none where nothing drops.
fn all_lost(run: &RunResult) -> Option<LossRecord> {
    drops(run).then(|| {
        let mut sum = LossRecord::default();
        for class in &run.records.classes {
            sum.merge(&class.lost);
        }
        sum
    })
}

/// What a class lost; none where nothing drops.
fn lost(class: &OneClass<'_>) -> Option<LossRecord> {
    drops(class.result).then_some(class.records.lost)
}

fn mean_hops(lost: &LossRecord) -> Option<Value> {
    (lost.packets > 0).then(|| ratio(lost.hops as f64, lost.packets as f64).into())
}

/// Packets made in the measurement and those of them that were delivered, of each flow (of a class) that made any.
fn parts(flows: &[FlowResult], class: Option<u16>) -> Vec<(u64, u64)> {
    let of = |flow: &&FlowResult| class.is_none_or(|class| flow.class == class);
    let counts = flows.iter().filter(of).map(|flow| &flow.counts);
    let parts = counts.map(|counts| (counts.sent.attempted, counts.arrived.tagged));
    parts.filter(|(attempted, _)| *attempted > 0).collect()
}

fn of_class(class: &OneClass<'_>) -> Vec<(u64, u64)> {
    parts(&class.result.flow_results, Some(class.number))
}

pub(super) fn complete_share(parts: &[(u64, u64)]) -> Option<Value> {
    let complete = parts
        .iter()
        .filter(|(attempted, delivered)| delivered == attempted);
    (!parts.is_empty()).then(|| ratio(complete.count() as f64, parts.len() as f64).into())
}

/// Ascending.
fn fractions(parts: &[(u64, u64)]) -> Vec<f64> {
    let fractions = parts
        .iter()
        .map(|&(attempted, delivered)| delivered as f64 / attempted as f64);
    super::flows::sorted(fractions)
}

fn mean(parts: &[(u64, u64)]) -> Option<Value> {
    super::flows::some_mean(&fractions(parts))
}

/// The least fraction that so many of 1000 flows do not exceed; the least of all for 0.
fn least(parts: &[(u64, u64)], per_mille: usize) -> Option<Value> {
    let fractions = fractions(parts);
    if per_mille == 0 {
        return fractions.first().map(|&least| least.into());
    }
    super::flows::quantile(&fractions, per_mille)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::flow_counts::{FlowCounts, FlowReceived, FlowSent};

    fn flow(class: u16, attempted: u64, tagged: u64) -> FlowResult {
        FlowResult {
            class,
            source: 0,
            destination: 1,
            level: 0,
            phase: None,
            application: None,
            weight: 1,
            hops: None,
            flits: None,
            alone: None,
            fair: None,
            counts: FlowCounts {
                sent: FlowSent {
                    attempted,
                    ..FlowSent::default()
                },
                arrived: FlowReceived {
                    tagged,
                    ..FlowReceived::default()
                },
                ..FlowCounts::default()
            },
        }
    }

    /// Of four flows one sent nothing, two of the other three lost some.
    #[test]
    fn flows_that_made_nothing_do_not_count_and_one_packet_less_is_not_all() {
        let flows = [
            flow(0, 10, 10),
            flow(0, 0, 0),
            flow(0, 1000, 999),
            flow(0, 8, 2),
            flow(1, 4, 4),
        ];
        let of = parts(&flows, Some(0));
        assert_eq!(complete_share(&of), Some(Value::from(1.0 / 3.0)));
        assert_eq!(least(&of, 0), Some(Value::from(0.25)));
        assert_eq!(least(&of, 500), Some(Value::from(0.999)));
        assert_eq!(mean(&of), Some(Value::from((1.0 + 0.999 + 0.25) / 3.0)));
        assert_eq!(complete_share(&parts(&flows, None)), Some(Value::from(0.5)));
        let none = parts(&flows, Some(2));
        assert_eq!(
            (complete_share(&none), mean(&none), least(&none, 0)),
            (None, None, None)
        );
    }
}
