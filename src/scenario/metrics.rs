//! The values that expectations and `describe metric` can name: those of `summary.json`, and some that follow from
//! the routes alone.

use crate::registry::nearest;

/// One value.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Path in `summary.json`; `NAME` stands for a traffic class, `STATISTIC` for one of [`STATISTICS`].
    pub path: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// What it is.
    pub summary: &'static str,
}

/// What is given of a latency.
pub static STATISTICS: &[&str] = &["count", "mean", "std", "min", "p50", "p95", "p99", "max"];

/// The metric that tells whether a run ended in a deadlock.
pub const DEADLOCKED: &str = "run.deadlocked";

const FRACTION: &str = "flits per host per cycle = fraction of link rate";

macro_rules! metrics {
    ($(($path:literal, $unit:expr, $summary:literal)),* $(,)?) => {
        /// Every value, in the order of the file.
        pub static METRICS: &[Metric] = &[
            $(Metric { path: $path, unit: $unit, summary: $summary }),*
        ];
    };
}

metrics![
    ("fabric.switches", "switches", "Switches of the fabric"),
    ("fabric.hosts", "hosts", "Hosts of the fabric"),
    (
        "fabric.channels",
        "channels",
        "Channels: two per link, links of hosts included"
    ),
    (
        "fabric.diameter",
        "channels",
        "Longest shortest path between switches"
    ),
    (
        "routing.layers",
        "layers",
        "Layers the routing engine uses against deadlock"
    ),
    (
        "run.deadlocked",
        "0 or 1",
        "1 when the verdict is deadlocked; the verdict itself is in summary.json"
    ),
    ("run.cycles.warmup", "cycles", "Length of the warm-up"),
    ("run.cycles.measure", "cycles", "Length of the measurement"),
    (
        "run.cycles.drain",
        "cycles",
        "Time until the last tagged packet was delivered"
    ),
    ("run.cycles.total", "cycles", "Length of the run"),
    (
        "load.offered",
        FRACTION,
        "Flits of packets created in the measurement, rejected ones included"
    ),
    (
        "load.accepted",
        FRACTION,
        "Flits delivered in the measurement"
    ),
    (
        "load.accepted_min_host",
        FRACTION,
        "Accepted load of the sender that got least through"
    ),
    (
        "load.accepted_max_host",
        FRACTION,
        "Accepted load of the sender that got most through"
    ),
    (
        "load.backlog_growth",
        "fraction",
        "Growth of the source queues in the measurement, part of the packets created"
    ),
    (
        "load.present_growth",
        "fraction",
        "Growth of source queues and fabric in the measurement, part of the flits created"
    ),
    (
        "latency.network.STATISTIC",
        "cycles",
        "First flit on the first channel to last flit at the destination, of tagged packets"
    ),
    (
        "latency.packet.STATISTIC",
        "cycles",
        "Creation to last flit at the destination, of tagged packets"
    ),
    (
        "confidence.accepted.half_width",
        FRACTION,
        "Half-width of the interval of the accepted load, from batch means"
    ),
    (
        "confidence.network_latency.half_width",
        "cycles",
        "Half-width of the interval of the mean network latency, from batch means"
    ),
    (
        "confidence.packet_latency.half_width",
        "cycles",
        "Half-width of the interval of the mean packet latency, from batch means"
    ),
    ("hops.mean", "channels", "Inter-switch channels crossed"),
    (
        "routes.throughput_bound",
        "fraction of each host's link rate",
        "Load at which the first channel is full, uniform traffic; as `virtlane routes`, not in summary.json"
    ),
    (
        "routes.throughput_bound.classes.NAME",
        "fraction of each host's link rate",
        "The same for the traffic of a class, as if it were alone; not in summary.json"
    ),
    (
        "routes.throughput_bound.together",
        "fraction of each host's link rate",
        "The same for all classes, loads in proportion: the load of the class with most; not in summary.json"
    ),
    (
        "routes.channel_load.max",
        "paths",
        "Paths between hosts over the busiest channel between switches; not in summary.json"
    ),
    (
        "routes.channel_load.mean",
        "paths",
        "Paths between hosts over a channel between switches, mean; not in summary.json"
    ),
    (
        "routes.channels_used",
        "channels",
        "Channels between switches that some path takes; not in summary.json"
    ),
    (
        "routes.mean_hops",
        "channels",
        "Inter-switch channels of a path, mean over all pairs of hosts; not in summary.json"
    ),
    (
        "classes.NAME.offered",
        FRACTION,
        "Offered load of the class"
    ),
    (
        "classes.NAME.accepted",
        FRACTION,
        "Accepted load of the class"
    ),
    (
        "classes.NAME.rejected",
        "packets",
        "Packets of the class refused by full source queues"
    ),
    (
        "classes.NAME.latency.network.STATISTIC",
        "cycles",
        "Network latency of the class"
    ),
    (
        "classes.NAME.latency.packet.STATISTIC",
        "cycles",
        "Packet latency of the class"
    ),
    (
        "classes.NAME.jitter.max",
        "cycles",
        "Largest jitter of a flow of the class"
    ),
    (
        "classes.NAME.jitter.mean",
        "cycles",
        "Mean jitter of the flows of the class"
    ),
    (
        "classes.NAME.messages.count",
        "messages",
        "Messages of the class in all"
    ),
    (
        "classes.NAME.messages.delivered",
        "messages",
        "Messages of the class delivered in the run"
    ),
    (
        "classes.NAME.messages.last_delivery",
        "cycle",
        "When the last of these was delivered: the time the messages take"
    ),
    (
        "classes.NAME.messages.latency.STATISTIC",
        "cycles",
        "First packet of a message made to its last one delivered"
    ),
    (
        "channels.utilisation.mean",
        "fraction of time",
        "Time channels carry flits, mean over channels"
    ),
    (
        "channels.utilisation.max",
        "fraction of time",
        "Time the busiest channel carries flits"
    ),
    (
        "work.packet_hops",
        "packets",
        "Switch traversals of packets"
    ),
    ("work.flit_hops", "flits", "Switch traversals of flits"),
    (
        "work.wall_seconds",
        "s",
        "Wall time of the run, of all parts of one that was stopped and went on"
    ),
    (
        "work.cpu_seconds",
        "s",
        "Processor time of the run, likewise"
    ),
    (
        "work.flit_hops_per_cpu_second",
        "1/s",
        "Simulation speed per core"
    ),
    (
        "work.cycles_per_second",
        "1/s",
        "Simulation speed in wall time"
    ),
    ("work.peak_rss_bytes", "bytes", "Largest memory use"),
];

impl Metric {
    /// Whether it follows from the routes alone.
    pub fn is_of_routes(&self) -> bool {
        self.path.starts_with("routes.")
    }

    /// Whether it is a number of `summary.json`.
    pub fn is_in_summary(&self) -> bool {
        !self.is_of_routes() && self.path != DEADLOCKED
    }

    /// Whether `path` names this value.
    fn names(&self, path: &str) -> bool {
        let pattern: Vec<_> = self.path.split('.').collect();
        let given: Vec<_> = path.split('.').collect();
        pattern.len() == given.len()
            && pattern
                .iter()
                .zip(&given)
                .all(|(pattern, given)| match *pattern {
                    "NAME" => !given.is_empty(),
                    "STATISTIC" => *given == "STATISTIC" || STATISTICS.contains(given),
                    key => key == *given,
                })
    }
}

/// The metric of a path such as `latency.network.p99`.
///
/// # Errors
/// When there is none: what there is, and the nearest.
pub fn find(path: &str) -> Result<&'static Metric, String> {
    let metric = METRICS.iter().find(|metric| metric.names(path));
    metric.ok_or_else(|| {
        let near = nearest(path, METRICS.iter().map(|metric| metric.path));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        format!("unknown metric `{path}`: `virtlane list metric` shows them all{hint}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_classes_and_statistics_are_found() {
        assert_eq!(find("load.accepted").unwrap().unit, FRACTION);
        assert!(find("latency.network.p99").is_ok());
        assert!(find("classes.bulk.latency.packet.mean").is_ok());
        assert!(find("latency.network.p98").is_err());
        let message = find("load.acepted").unwrap_err();
        assert!(
            message.ends_with("did you mean `load.accepted`?"),
            "{message}"
        );
    }
}
