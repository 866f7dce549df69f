//! Pairs of hosts without a way: the engine with what a scenario resolves to, the reference model with the pattern as
//! written, drawn again until the tables have a path (D24).

use super::{differences, engine};
use crate::random_fabric::{Case, Way};
use crate::reference::simulate;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use virtlane::ids::{HostId, SlId};
use virtlane::rng::{Purpose, Stream, stream};
use virtlane::routing::Tables;
use virtlane::scenario::{Document, Parts, Resolved, resolve};
use virtlane::topology::Graph;
use virtlane::traffic::{Pattern, Share};

/// Three parts: a ring of three switches, two switches, a ring of four with a tail.
const PARTS: &str = "EdgeList(hosts_per_switch: 2, links: [(0, 1), (1, 2), (2, 0), (3, 4), (5, 6), (6, 7), (7, 8), \
                     (8, 5), (8, 9)])";

/// A pattern drawn again until there is a path.
#[derive(Debug)]
struct Again {
    pattern: Arc<dyn Pattern>,
    pairs: BTreeSet<(HostId, HostId)>,
}

impl Pattern for Again {
    fn destination(&self, source: HostId, rng: &mut Stream) -> Option<HostId> {
        loop {
            let drawn = self.pattern.destination(source, rng)?;
            if self.pairs.contains(&(source, drawn)) {
                return Some(drawn);
            }
        }
    }

    fn sends(&self, source: HostId) -> bool {
        let mut rng = stream(1, Purpose::Destinations, 0);
        let drawn = |_| self.pattern.destination(source, &mut rng);
        let mut drawn = (0..1000).filter_map(drawn);
        self.pattern.sends(source) && drawn.any(|to| self.pairs.contains(&(source, to)))
    }

    fn shares(&self, _: HostId) -> Vec<Share<'_>> {
        unreachable!("the reference model draws")
    }

    fn is_fixed(&self) -> bool {
        self.pattern.is_fixed()
    }
}

fn text(topology: &str, routing: &str, more: &str) -> String {
    format!(
        "Scenario(title: \"parts\", seed: 3, fabric: (topology: {topology}, link: (rate: \"100 Gbit/s\", latency: \
         \"10 ns\"), switch: (lanes: 4, lane_capacity: \"2 KiB\")), routing: {routing}, traffic: [\
         (name: \"even\", pattern: Uniform, process: Bernoulli(load: 0.3), size: \"256 B\"), \
         (name: \"pairs\", pattern: RandomPermutation, process: Poisson(load: 0.2), size: \"128 B\"), \
         (name: \"hot\", pattern: HotSpot(targets: [1, 7], fraction: 0.4), process: Bernoulli(load: 0.2), \
         size: \"64 B\")], phases: (warmup: \"300 cycles\", measure: \"1500 cycles\"), allow_deadlock: true{more})"
    )
}

fn paths(graph: &Graph, tables: &Tables) -> BTreeSet<(HostId, HostId)> {
    let pairs = graph
        .host_ids()
        .flat_map(|from| graph.host_ids().map(move |to| (from, to)));
    pairs
        .filter(|&(from, to)| tables.path(graph, from, to, SlId(0)).is_some())
        .collect()
}

fn resolved(text: &str) -> Resolved {
    let document = Document::parse("parts.ron", text, Path::new(".")).expect("RON");
    let resolved = document.resolve(&Parts::registered());
    resolved.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
#[allow(clippy::too_many_lines, reason = "one case from text to comparison")]
fn hosts_send_to_those_they_have_a_way_to() {
    let cut = "Mesh(radix: [4, 3], hosts_per_switch: 1)";
    let faults = ", faults: (links: Count(9), keep_connected: false, seed: 5)";
    for (number, (topology, routing, more)) in [
        (PARTS, "UpDown()", ""),
        (PARTS, "UpDown(lookup: Input)", ""),
        (PARTS, "Lash()", ""),
        (PARTS, "Dfsssp()", ""),
        (PARTS, "OpenSmLash()", ""),
        (PARTS, "OpenSmUpDown(root: [0, 2, 3, 6])", ""),
        (cut, "UpDown()", faults),
        (cut, "SegmentRouting(start: Auto)", faults),
    ]
    .into_iter()
    .enumerate()
    {
        let text = text(
            topology,
            routing,
            &format!("{more}, allow_unreachable: true"),
        );
        let Resolved {
            scenario,
            layout,
            plan,
            routes,
            proof,
        } = resolved(&text);
        let tables = routes.tables().expect("tables").clone();
        let pairs = paths(&layout.graph, &tables);
        let hosts = layout.graph.hosts().len() as u64;
        let others = pairs.iter().filter(|(from, to)| from != to).count() as u64;
        assert_eq!(proof.reachable_pairs, others, "{text}");
        assert_eq!(proof.unreachable_pairs, hosts * (hosts - 1) - others);
        assert!(proof.unreachable_pairs > 0, "{text}");
        let parts = Parts::registered();
        let written = resolve::stages::plan(&scenario, &parts, &layout, Path::new("."));
        let mut naive = written.unwrap_or_else(|mistake| panic!("{mistake:?}"));
        for class in &mut naive.classes {
            class.pattern = Arc::new(Again {
                pattern: Arc::clone(&class.pattern),
                pairs: pairs.clone(),
            });
        }
        let cycles = 2500;
        let expected = simulate(&naive, &layout.graph, &tables, cycles);
        let case = Case {
            plan,
            graph: layout.graph,
            routing: tables,
            cycles,
            fork: None,
            way: Way {
                shards: 1 + number % 3,
                threads: 1 + number % 2,
                resume: None,
                stops: Vec::new(),
            },
        };
        let found = engine::run(&case, &routes);
        assert_eq!(differences(&expected, &found), None, "{text}");
        let mut sent = expected.deliveries.iter();
        assert!(sent.all(|packet| pairs.contains(&(packet.source, packet.destination))));
        assert!(expected.deliveries.len() > 1000, "{text}");
        for class in &case.plan.classes {
            for &host in &class.hosts {
                let parts: f64 = class
                    .pattern
                    .shares(host)
                    .iter()
                    .map(|share| share.part)
                    .sum();
                let whole = if class.pattern.sends(host) { 1.0 } else { 0.0 };
                assert!((parts - whole).abs() < 1e-12, "{parts} {whole}");
            }
        }
    }
}

/// What a pattern's shares say is what it draws, with destinations left out.
#[test]
fn shares_without_some_destinations_are_what_is_drawn() {
    let scenario = resolved(&text(PARTS, "UpDown()", ", allow_unreachable: true"));
    let draws = 200_000;
    for class in &scenario.plan.classes {
        for host in [HostId(0), HostId(8), HostId(15)] {
            let mut counts = vec![0u32; scenario.layout.graph.hosts().len()];
            let mut rng = stream(9, Purpose::Destinations, u64::from(host.0));
            for _ in 0..draws {
                if let Some(to) = class.pattern.destination(host, &mut rng) {
                    counts[to.index()] += 1;
                }
            }
            let mut demand = vec![0.0; counts.len()];
            for share in class.pattern.shares(host) {
                use virtlane::traffic::Receivers;
                let (members, own) = match share.to {
                    Receivers::One(to) => {
                        demand[to.index()] += share.part;
                        continue;
                    }
                    Receivers::Each(members) => (members, None),
                    Receivers::Others(members) => (members, Some(host)),
                };
                let all = (0..members.len()).map(|at| members.host(at));
                let all: Vec<_> = all.filter(|&to| Some(to) != own).collect();
                for to in &all {
                    demand[to.index()] += share.part / all.len() as f64;
                }
            }
            for (count, part) in counts.iter().zip(demand) {
                let found = f64::from(*count) / f64::from(draws);
                assert!(
                    (found - part).abs() < 0.006,
                    "{}: {found} {part}",
                    class.name
                );
            }
        }
    }
}

/// Without leave, the message names parts and way out; traffic that could not be sent is refused with it, too.
#[test]
fn what_cannot_be_sent_is_refused() {
    let refusal = |topology: &str, routing: &str, more: &str| {
        let document = Document::parse("parts.ron", &text(topology, routing, more), Path::new("."));
        let resolved = document.expect("RON").resolve(&Parts::registered());
        resolved.expect_err("no way").to_string()
    };
    let message = refusal(PARTS, "UpDown()", "");
    for words in [
        "no path from S0 to H6: the fabric has 3 parts without a link between them",
        "S0 is in one, S3 in another; `allow_unreachable: true` leaves such pairs out",
    ] {
        assert!(message.contains(words), "{message}");
    }
    let message = refusal(PARTS, "MinimalAdaptive()", ", allow_unreachable: true");
    assert!(message.contains("needs a way for every pair"), "{message}");
}
