//! Values that follow from the routes alone, for claims that no run is needed for.

use crate::routing::loads::ChannelLoads;
use crate::scenario::Resolved;

/// What `virtlane routes` says of a scenario, as numbers.
#[derive(Clone, Copy, Debug)]
pub struct RouteValues {
    /// Busiest channel, mean, bound; `None` for adaptive routing, whose loads depend on the traffic.
    loads: Option<(u64, f64, f64)>,
    channels_used: u64,
    mean_hops: f64,
}

impl RouteValues {
    /// The values of a scenario. Cost: that of [`ChannelLoads::uniform`].
    pub fn of(resolved: &Resolved) -> Self {
        let graph = &resolved.layout.graph;
        let loads = resolved.routes.tables().map(|tables| {
            let loads = ChannelLoads::uniform(graph, tables);
            let bound = loads.throughput_bound(graph);
            let bound = bound.map_or(f64::NAN, |bound| bound.of_host_link);
            (loads.max(), loads.mean(), bound)
        });
        Self {
            loads,
            channels_used: resolved.proof.channels_used as u64,
            mean_hops: resolved.proof.mean_hops,
        }
    }

    /// A value by its metric; `None` when it is none of these, or there is none with this routing.
    pub fn get(&self, metric: &str) -> Option<f64> {
        let (max, mean, bound) = self.loads.map_or((None, None, None), |(max, mean, bound)| {
            (Some(max as f64), Some(mean), Some(bound))
        });
        let found = match metric {
            "routes.throughput_bound" => bound,
            "routes.channel_load.max" => max,
            "routes.channel_load.mean" => mean,
            "routes.channels_used" => Some(self.channels_used as f64),
            "routes.mean_hops" => Some(self.mean_hops),
            _ => None,
        };
        found.filter(|value| value.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::metrics::METRICS;
    use crate::scenario::{Document, Parts};

    #[test]
    fn every_metric_of_routes_has_a_value() {
        let resolved = Document::embedded().resolve(&Parts::registered()).unwrap();
        let values = RouteValues::of(&resolved);
        let metrics: Vec<_> = METRICS
            .iter()
            .filter(|metric| metric.is_of_routes())
            .collect();
        assert!(metrics.len() >= 5);
        for metric in metrics {
            assert!(values.get(metric.path).is_some(), "{}", metric.path);
        }
        // a full tree carries all that its hosts send
        let bound = values.get("routes.throughput_bound").unwrap();
        assert!((bound - 1.0).abs() < 1e-12, "{bound}");
    }
}
