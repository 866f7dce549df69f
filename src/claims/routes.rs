//! Values that follow from the routes alone, for claims that no run is needed for.

use crate::metrics::routes::{RouteValues, TableValues};
use crate::routing::loads::ChannelLoads;
use crate::scenario::Resolved;
use crate::scenario::bounds::Bounds;
use crate::scenario::service::Service;

/// The values of a scenario. Cost: that of [`ChannelLoads::uniform`] and of [`Bounds::of`].
pub(super) fn values(resolved: &Resolved) -> RouteValues {
    let tables = resolved.routes.ports().map(|tables| {
        let loads = ChannelLoads::uniform(&resolved.layout.graph, tables);
        let bounds = Bounds::of(resolved);
        let classes = bounds.classes.into_iter();
        let service = Service::of(resolved);
        let longest = service.as_ref().and_then(Service::longest);
        let shares = service.as_ref().and_then(|service| service.shares.clone());
        TableValues {
            uniform: bounds.uniform.map(|bound| bound.load),
            classes: classes.map(|(name, bound)| (name, bound.load)).collect(),
            together: bounds.together.map(|together| together.bound.load),
            most_paths: loads.max() as f64,
            mean_paths: loads.mean(),
            longest_wait: longest.map(|(_, cycles)| cycles as f64),
            shares: shares.map_or(Vec::new(), |shares| shares.classes),
        }
    });
    let is_fixed = resolved.routes.tables().is_some();
    let pairs = &resolved.proof.hop_histogram;
    RouteValues {
        pairs: if is_fixed { pairs.clone() } else { Vec::new() },
        tables,
        channels_used: resolved.proof.channels_used as u64,
        mean_hops: resolved.proof.mean_hops,
    }
}

#[cfg(test)]
mod tests {
    use super::values;
    use crate::metrics;
    use crate::scenario::{Document, Parts};

    #[test]
    fn every_metric_of_routes_has_a_value() {
        let mut document = Document::embedded();
        let two = r#"[
            (name: "all", pattern: Uniform(), process: Bernoulli(load: 0.3), size: "4 flits"),
            (name: "hot", pattern: AllTo(7), process: Bernoulli(load: 0.1), size: "4 flits"),
        ]"#;
        document.assign("traffic", two).unwrap();
        let tables = "(high: [(0, 4)], low: [(1, 1)], limit_of_high_priority: Packets(32))";
        document.assign("qos.vl_arbitration", tables).unwrap();
        let resolved = document.resolve(&Parts::registered()).unwrap();
        let found = values(&resolved);
        let metrics: Vec<_> = metrics::all()
            .filter(|metric| metric.is_of_routes())
            .collect();
        assert!(metrics.len() >= 10);
        for metric in metrics {
            let path = metric.path.replace("NAME", "hot").replace("HOPS", "4");
            assert!(found.get(&path).is_some(), "{path}");
        }
        assert_eq!(found.get("routes.throughput_bound.classes.cold"), None);
        let is = |metric: &str, expected: f64| {
            let value = found.get(metric).unwrap();
            assert!((value - expected).abs() < 1e-9, "{metric}: {value}");
        };
        // a full tree carries all that its hosts send; one of 1000 hosts takes what 999 send, and of the uniform class
        // as much as each host sends
        is("routes.throughput_bound", 1.0);
        is("routes.throughput_bound.classes.all", 1.0);
        is("routes.throughput_bound.classes.hot", 1.0 / 999.0);
        is("routes.throughput_bound.together", 0.3 / (0.3 + 99.9));
        is("routes.guaranteed_share.classes.all", 32.0 / 33.0);
        // all but the 9 others at the switch of a host and the 90 one level up
        is("routes.path_share.4", 900.0 / 999.0);
        // over switches of 20, 20, 10, 20 and 20 links, packets of 4 flits
        is("routes.worst_case_latency", 4.0 * 889_398.0);
    }
}
