//! Real fabrics: mixed link rates, up*/down*, steady at a moderate load.

use super::{assert_close, run, scenario};
use std::collections::BTreeSet;
use virtlane::run::outcome::Verdict;

fn real_fabric_runs(file: &str, switches: usize, hosts: usize, rates: &[u32]) {
    let resolved = scenario(file, &[]);
    let graph = &resolved.layout.graph;
    assert_eq!(
        (graph.switches().len(), graph.hosts().len()),
        (switches, hosts)
    );
    let found: BTreeSet<_> = graph
        .channels()
        .iter()
        .map(|channel| channel.timing.cycles_per_flit)
        .collect();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), rates);
    assert!(resolved.proof.acyclic);
    let outcome = run(&resolved);
    assert_eq!(outcome.verdict, Verdict::Steady, "{}", outcome.reason);
    let capacity: f64 = graph
        .host_ids()
        .map(|host| {
            let rate = graph.channel(graph.host_channel(host)).timing;
            outcome.cycles.measure as f64 / f64::from(rate.cycles_per_flit)
        })
        .sum();
    let class = &outcome.records.classes[0];
    assert_close(class.delivered_flits as f64 / capacity, 0.3, 0.006);
    assert_eq!(class.tagged_created, class.tagged_delivered);
}

#[test]
fn psmn_x5_with_qdr_and_ddr() {
    real_fabric_runs("fabrics/psmn_x5.ron", 11, 89, &[1, 2]);
}

#[test]
fn loginoff_8sw_with_qdr_and_fdr10() {
    real_fabric_runs("fabrics/loginoff_8sw.ron", 8, 145, &[4, 5]);
}
