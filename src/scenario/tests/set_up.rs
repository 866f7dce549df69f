//! Classes whose flows have their routes set up: connections of the plan, and what they do not go with.

use super::{refusals, resolve_registered as resolve};
use crate::control::set_up::{ANY_HOPS, Connections, Release};
use crate::scenario::{Parts, print};

const SETTING_UP: &str = r#"
Scenario(
    seed: 4,
    fabric: (
        topology: EnrichedTree(k: 3, n: 2, width: 1),
        link: (rate: "100 Gbit/s", latency: "3 cycles"),
        switch: (lanes: 3, lane_capacity: "32 flits"),
    ),
    routing: FatTree(),
    traffic: [
        (name: "pairs", size: "8 flits", flows: [(pairs: List(pairs: [(0, 3), (1, 4)]), copies: 2, bytes: "1 KiB"),
         (pairs: List(pairs: [(0, 3)]), bytes: "1 KiB", start: "9 cycles")],
         control: SetUp(connections: Pairs, hops: None, cache: 4), answers: (sl: 1)),
        (name: "flows", size: "8 flits", flows: [(pairs: List(pairs: [(0, 3), (0, 3)]), bytes: "1 KiB")],
         control: AdaptiveFlowRouting(free: true, release: AtOnce)),
        (name: "told", size: "8 flits", sl: 1, flows: [(pairs: Permutations(count: 1))], control: RequestReply()),
    ],
    phases: (warmup: "100 cycles", measure: "1000 cycles"),
)
"#;

#[test]
fn connections_are_those_of_flows_or_of_pairs() {
    let resolved = resolve(SETTING_UP);
    let plan = &resolved.plan;
    let set_up = |class: usize| plan.classes[class].set_up();
    let (pairs, flows) = (set_up(0).unwrap(), set_up(1).unwrap());
    assert_eq!((pairs.hops, pairs.cache, pairs.free), (ANY_HOPS, 4, false));
    assert_eq!((flows.hops, flows.cache, flows.free), (8, u32::MAX, true));
    let kinds = (pairs.connections, flows.connections);
    assert_eq!(kinds, (Connections::Pairs, Connections::Flows));
    let releases = (pairs.release, flows.release);
    assert_eq!(releases, (Release::Acknowledged, Release::AtOnce));
    assert!(set_up(2).is_none() && plan.sets_up());
    assert!(plan.classes[0].begins() && !plan.classes[2].begins());
    let connections = plan.connections().unwrap();
    let of = (0..7).map(|flow| connections.of(flow).map(|one| (one.id, one.next)));
    let of: Vec<_> = of.collect();
    // copies of a flow follow each other
    let expected = [
        (0, Some(1)),
        (0, Some(4)),
        (2, Some(3)),
        (2, None),
        (0, None),
        (5, None),
        (6, None),
    ];
    assert_eq!(of, expected.map(Some));
    assert_eq!(connections.of(7), None);
    assert!(connections.is_later(1) && !connections.is_later(0) && !connections.is_later(7));
    let printed = print::plan(&resolved, &Parts::registered());
    let again = resolve(&printed);
    assert_eq!(format!("{:?}", again.plan), format!("{plan:?}"));
}

#[test]
fn what_does_not_go_with_set_ups_is_refused() {
    let list = refusals(
        "set_up.ron",
        SETTING_UP,
        &[
            ("free: true", "hops: 2147483649"),
            ("cache: 4", "cache: -1"),
            (", bytes: \"1 KiB\", start", ", start"),
            ("start: \"9 cycles\"", "stop: \"9 cycles\""),
            ("start: \"9 cycles\"", "process: Bernoulli(load: 0.1)"),
            ("start: \"9 cycles\"", "phase: (\"a\", 0)"),
            (
                "answers: (sl: 1)),",
                "answers: (sl: 1), slots: (ticks: Bernoulli(load: 0.1), count: 9)),",
            ),
            (
                "answers: (sl: 1)),",
                "answers: (sl: 1), requests: (peak: 0.1)),",
            ),
            (
                "answers: (sl: 1)),",
                "answers: (transport: OutOfBand(serialisation: \"1 cycles\", processing: \"0 cycles\", routing: \"0 cycles\", \
                 propagation: \"1 cycles\"))),",
            ),
            ("answers: (sl: 1)),", "answers: (sl: 1, queue: 3)),"),
            (
                "control: RequestReply()",
                "control: RequestReply(), answers: (queue: 3, sl: 2)",
            ),
            (
                "control: RequestReply()",
                "control: Inc(interval: \"100 cycles\", few: 9)",
            ),
            (
                "EnrichedTree(k: 3, n: 2, width: 1)",
                "LeafSpine(leaves: 3, spines: 3, hosts_per_leaf: 3)",
            ),
            (
                "latency: \"3 cycles\"),",
                "latency: \"3 cycles\"), host_link: (rate: \"50 Gbit/s\"),",
            ),
            ("routing: FatTree()", "routing: AdaptiveAscent()"),
            ("routing: FatTree()", "routing: UpDown(trees: 2)"),
            (
                "phases: (",
                "fluid: (policy: ForcedDir(), carry: Routes),\n    phases: (",
            ),
        ],
    );
    insta::assert_snapshot!(list);
}
