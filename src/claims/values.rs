//! Values that follow from the routes alone, for claims that no run is needed for.

use crate::routing::loads::ChannelLoads;
use crate::scenario::Resolved;
use crate::scenario::bounds::Bounds;

/// What `virtlane routes` says of a scenario, as numbers.
#[derive(Clone, Debug)]
pub struct RouteValues {
    /// What follows from tables; `None` for adaptive routing, whose loads depend on the traffic.
    loads: Option<(ChannelLoads, Bounds)>,
    channels_used: u64,
    mean_hops: f64,
}

impl RouteValues {
    /// The values of a scenario. Cost: that of [`ChannelLoads::uniform`] and of [`Bounds::of`].
    pub fn of(resolved: &Resolved) -> Self {
        let loads = resolved.routes.ports().map(|tables| {
            let loads = ChannelLoads::uniform(&resolved.layout.graph, tables);
            (loads, Bounds::of(resolved))
        });
        Self {
            loads,
            channels_used: resolved.proof.channels_used as u64,
            mean_hops: resolved.proof.mean_hops,
        }
    }

    /// A value by its metric; `None` when it is none of these, or there is none with this routing.
    pub fn get(&self, metric: &str) -> Option<f64> {
        let loads = self.loads.as_ref();
        let found = match metric {
            "routes.throughput_bound" => Some(loads?.1.uniform?.load),
            "routes.throughput_bound.together" => Some(loads?.1.together.as_ref()?.bound.load),
            "routes.channel_load.max" => Some(loads?.0.max() as f64),
            "routes.channel_load.mean" => Some(loads?.0.mean()),
            "routes.channels_used" => Some(self.channels_used as f64),
            "routes.mean_hops" => Some(self.mean_hops),
            _ => {
                let name = metric.strip_prefix("routes.throughput_bound.classes.")?;
                let mut classes = loads?.1.classes.iter();
                Some(classes.find(|(class, _)| class == name)?.1.load)
            }
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
        let mut document = Document::embedded();
        let two = r#"[
            (name: "all", pattern: Uniform(), process: Bernoulli(load: 0.3), size: "4 flits"),
            (name: "hot", pattern: AllTo(7), process: Bernoulli(load: 0.1), size: "4 flits"),
        ]"#;
        document.assign("traffic", two).unwrap();
        let resolved = document.resolve(&Parts::registered()).unwrap();
        let values = RouteValues::of(&resolved);
        let metrics: Vec<_> = METRICS
            .iter()
            .filter(|metric| metric.is_of_routes())
            .collect();
        assert!(metrics.len() >= 7);
        for metric in metrics {
            let path = metric.path.replace("NAME", "hot");
            assert!(values.get(&path).is_some(), "{path}");
        }
        assert_eq!(values.get("routes.throughput_bound.classes.cold"), None);
        let is = |metric: &str, expected: f64| {
            let value = values.get(metric).unwrap();
            assert!((value - expected).abs() < 1e-9, "{metric}: {value}");
        };
        // a full tree carries all that its hosts send; one of 1000 hosts takes what 999 send, and of the uniform class
        // as much as each host sends
        is("routes.throughput_bound", 1.0);
        is("routes.throughput_bound.classes.all", 1.0);
        is("routes.throughput_bound.classes.hot", 1.0 / 999.0);
        is("routes.throughput_bound.together", 0.3 / (0.3 + 99.9));
    }
}
