//! Values that follow from the routes alone, for claims that no run is needed for.

use super::{Entry, Metric, Of, find, metric};

/// What `virtlane routes` says of a scenario, as numbers.
#[derive(Clone, Debug)]
pub struct RouteValues {
    /// What follows from tables; `None` for adaptive routing, whose loads depend on the traffic.
    pub tables: Option<TableValues>,
    /// Channels between switches that some path takes.
    pub channels_used: u64,
    /// Hops of a path, mean over all pairs of hosts.
    pub mean_hops: f64,
    /// Pairs of hosts, `[hops]`; empty for adaptive routing, whose hops depend on the traffic.
    pub pairs: Vec<u64>,
}

/// What follows from forwarding tables.
#[derive(Clone, Debug)]
pub struct TableValues {
    /// Bound of uniform traffic \[fraction of each host's link rate\].
    pub uniform: Option<f64>,
    /// Bounds of the classes by their names, each as if it were alone; likewise.
    pub classes: Vec<(String, f64)>,
    /// Bound of all classes, loads in proportion; likewise.
    pub together: Option<f64>,
    /// Paths over the busiest channel between switches.
    pub most_paths: f64,
    /// Paths over a channel between switches, mean.
    pub mean_paths: f64,
    /// Longest wait behind other packets \[cycles\].
    pub longest_wait: Option<f64>,
    /// Parts of a saturated channel by the names of classes; none without VL arbitration.
    pub shares: Vec<(String, f64)>,
}

impl RouteValues {
    /// A value by its metric; `None` when it is none of these, or there is none with this routing.
    pub fn get(&self, path: &str) -> Option<f64> {
        let metric = find(path).ok()?;
        let Of::Routes(of) = metric.of else {
            return None;
        };
        of(self, metric.class_in(path)).filter(|value| value.is_finite())
    }
}

const fn of_routes(
    path: &'static str,
    unit: &'static str,
    summary: &'static str,
    of: fn(&RouteValues, &str) -> Option<f64>,
) -> Metric {
    metric(path, unit, summary, Of::Routes(of))
}

pub(super) const ENTRIES: &[Entry] = &[
    of_routes(
        "routes.throughput_bound",
        "fraction of each host's link rate",
        "Load at which the first channel or credit loop is full, uniform traffic; as `virtlane routes`, not in summary.json",
        |routes, _| routes.tables.as_ref()?.uniform,
    )
    .entry(),
    of_routes(
        "routes.throughput_bound.classes.NAME",
        "fraction of each host's link rate",
        "The same for the traffic of a class, as if it were alone; not in summary.json",
        |routes, name| {
            let mut classes = routes.tables.as_ref()?.classes.iter();
            Some(classes.find(|(class, _)| class == name)?.1)
        },
    )
    .entry(),
    of_routes(
        "routes.throughput_bound.together",
        "fraction of each host's link rate",
        "The same for all classes, loads in proportion: the load of the class with most; not in summary.json",
        |routes, _| routes.tables.as_ref()?.together,
    )
    .entry(),
    of_routes(
        "routes.channel_load.max",
        "paths",
        "Paths between hosts over the busiest channel between switches; not in summary.json",
        |routes, _| Some(routes.tables.as_ref()?.most_paths),
    )
    .entry(),
    of_routes(
        "routes.channel_load.mean",
        "paths",
        "Paths between hosts over a channel between switches, mean; not in summary.json",
        |routes, _| Some(routes.tables.as_ref()?.mean_paths),
    )
    .entry(),
    of_routes(
        "routes.worst_case_latency",
        "cycles",
        "Longest wait behind other packets of a pair, with one lane and buffers of one packet; not in summary.json",
        |routes, _| routes.tables.as_ref()?.longest_wait,
    )
    .entry(),
    of_routes(
        "routes.guaranteed_share.classes.NAME",
        "fraction of the channel",
        "What the service levels of a class get of a channel on which all lanes have packets; not in summary.json",
        |routes, name| {
            let mut classes = routes.tables.as_ref()?.shares.iter();
            Some(classes.find(|(class, _)| class == name)?.1)
        },
    )
    .entry(),
    of_routes(
        "routes.channels_used",
        "channels",
        "Channels between switches that some path takes; not in summary.json",
        |routes, _| Some(routes.channels_used as f64),
    )
    .entry(),
    of_routes(
        "routes.mean_hops",
        "channels",
        "Inter-switch channels of a path, mean over all pairs of hosts; not in summary.json",
        |routes, _| Some(routes.mean_hops),
    )
    .entry(),
    of_routes(
        "routes.path_share.HOPS",
        "fraction of the pairs",
        "Pairs of hosts with HOPS inter-switch channels on their path; not in summary.json",
        |routes, hops| {
            let pairs: u64 = routes.pairs.iter().sum();
            let own = routes.pairs.get(hops.parse::<usize>().ok()?).copied();
            (pairs > 0).then(|| own.unwrap_or(0) as f64 / pairs as f64)
        },
    )
    .entry(),
];
