//! Latencies of a class by the inter-switch channels its packets crossed; of runs with `observe: (hops: true)`.

use super::paths::set;
use super::{Entry, Metric, Of, OneClass, all, metric};
use crate::measure::percentiles::Latencies;
use serde_json::{Map, Value};

pub(super) const ENTRIES: &[Entry] = &[
    of_hops(
        "classes.NAME.by_hops.HOPS.count",
        "packets",
        "Tagged packets of the class delivered over HOPS inter-switch channels",
        |latencies| latencies.count().into(),
    )
    .entry(),
    of_hops(
        "classes.NAME.by_hops.HOPS.mean",
        "cycles",
        "Their network latency, mean",
        |latencies| latencies.mean().into(),
    )
    .entry(),
    of_hops(
        "classes.NAME.by_hops.HOPS.std",
        "cycles",
        "The same, standard deviation",
        |latencies| latencies.std().into(),
    )
    .entry(),
    of_hops(
        "classes.NAME.by_hops.HOPS.p50",
        "cycles",
        "The same, which half of the packets do not exceed",
        |latencies| latencies.quantile(500).into(),
    )
    .entry(),
    of_hops(
        "classes.NAME.by_hops.HOPS.p95",
        "cycles",
        "The same, which 95 % of the packets do not exceed",
        |latencies| latencies.quantile(950).into(),
    )
    .entry(),
    of_hops(
        "classes.NAME.by_hops.HOPS.p99",
        "cycles",
        "The same, which 99 % of the packets do not exceed",
        |latencies| latencies.quantile(990).into(),
    )
    .entry(),
    of_hops(
        "classes.NAME.by_hops.HOPS.iqr",
        "cycles",
        "The same, interquartile range",
        |latencies| {
            let quartiles = latencies.quantile(250).zip(latencies.quantile(750));
            quartiles.map(|(first, third)| third - first).into()
        },
    )
    .entry(),
    of_hops(
        "classes.NAME.by_hops.HOPS.max",
        "cycles",
        "The same, of the slowest packet",
        |latencies| latencies.most().into(),
    )
    .entry(),
];

const fn of_hops(
    path: &'static str,
    unit: &'static str,
    summary: &'static str,
    of: fn(&Latencies) -> Value,
) -> Metric {
    metric(path, unit, summary, Of::Hops(of))
}

/// The values of a class by hops; `None` where the run did not record them.
pub(super) fn of_class(class: &OneClass<'_>) -> Option<Value> {
    let groups = class.result.hop_latencies.as_ref()?.iter();
    let own = groups.filter(|((number, _), _)| *number == class.number);
    let values = own.map(|(&(_, hops), both)| {
        let mut values = Map::new();
        for metric in all() {
            if let Of::Hops(of) = metric.of {
                set(&mut values, metric.place(), of(&both.network));
            }
        }
        (hops.to_string(), values.into())
    });
    let values: Map<String, Value> = values.collect();
    (!values.is_empty()).then(|| values.into())
}
