//! Patterns that work on coordinates or groups, on fabrics in which these were found.

use super::mixed::{Mix, mixed};
use super::{dice, graph};
use std::sync::Arc;
use virtlane::ids::HostId;
use virtlane::registry::Arguments;
use virtlane::topology::Graph;
use virtlane::traffic::{PATTERNS, Pattern, PatternContext};

fn pattern(graph: &Graph, name: &str) -> Arc<dyn Pattern> {
    let hosts: Vec<HostId> = graph.host_ids().collect();
    let context = PatternContext {
        graph,
        hosts: &hosts,
        ranks: &hosts,
        seed: 1,
        class: 0,
    };
    let entry = PATTERNS.find(name).expect("registered");
    (entry.build)(Arguments { text: "()" }, &context).expect("fits")
}

#[test]
fn coordinates_that_were_found_are_used() {
    let model = graph("Torus(radix: [5, 6], hosts_per_switch: 2)");
    for (mix, seed) in [(Mix::All, 1), (Mix::Drop(1), 2)] {
        let fabric = mixed(&model, mix, seed).recognised();
        let first = fabric.structures().first().expect("found");
        let places = first.numbering();
        for name in ["Tornado", "Neighbor"] {
            let (own, built) = (pattern(&fabric, name), pattern(first.model(), name));
            for host in fabric.host_ids() {
                let to = own
                    .destination(host, &mut dice(1))
                    .map(|to| places.host(to));
                assert_eq!(
                    to,
                    built.destination(places.host(host), &mut dice(1)),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn groups_that_were_found_are_used() {
    let fabric = mixed(&graph("Dragonfly(p: 2, a: 4, h: 2)"), Mix::All, 1).recognised();
    let places = fabric.structures().first().expect("found").numbering();
    let own = pattern(&fabric, "BadDragon");
    let mut rng = dice(1);
    for host in fabric.host_ids() {
        let to = own.destination(host, &mut rng).expect("sends");
        let group = |host: HostId| places.host(host).0 / 8;
        assert_eq!(group(to), (group(host) + 1) % 9);
    }
}
