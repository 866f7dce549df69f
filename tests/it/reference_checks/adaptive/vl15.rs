//! Packets of VL15, which go by tables of their own (D83): here those that lead over B.

use super::{
    A, TwoWays, deliveries, deliveries_of, draw, draws, graph, packets, to, two_ways, way,
};
use crate::reference::Delivery;
use crate::reference_checks::{plan, tables, timing};
use std::sync::Arc;
use virtlane::plan::{ClassPlan, Forwarding, Matching, Queues, SwitchOptions};
use virtlane::routing::adaptive::{Candidate, Selection};
use virtlane::topology::Graph;

/// The same as other packets on VL15.
fn on_vl15(class: ClassPlan) -> ClassPlan {
    ClassPlan {
        management: true,
        ..class
    }
}

/// Deliveries by (source, class, sequence) with VL15.
fn with_vl15(
    graph: &Graph,
    routing: &TwoWays,
    options: &SwitchOptions,
    classes: Vec<ClassPlan>,
    seed: u64,
) -> Vec<Delivery> {
    let options = SwitchOptions {
        management_lane: true,
        ..options.clone()
    };
    let over_b: [[u8; 6]; 4] = [
        [1, 2, 3, 5, 5, 5],
        [1, 1, 1, 2, 2, 2],
        [1, 1, 1, 2, 2, 2],
        [5, 5, 5, 1, 2, 3],
    ];
    let mut plan = plan(classes, options);
    plan.seed = seed;
    plan.management_tables = Some(Arc::new(tables(graph, over_b.concat(), 1)));
    deliveries_of(&plan, graph, routing)
}

/// All requests are in 2, of host 0 for A, or for both ways, of which it takes A, of host 1 for what the tables say.
#[test]
fn the_way_is_that_of_the_tables_whatever_others_choose() {
    let graph = graph(timing(1, 1), timing(1, 1));
    for forwarding in [Forwarding::CutThrough, Forwarding::Wormhole] {
        for (selection, queues) in [
            (Selection::First, Queues::Fifo),
            (Selection::First, Queues::Voq),
            (Selection::Open, Queues::Fifo),
        ] {
            let options = SwitchOptions {
                forwarding,
                queues,
                ..SwitchOptions::default()
            };
            let classes = vec![packets(0, 3, 1, 1), on_vl15(packets(1, 3, 1, 1))];
            let found = with_vl15(&graph, &two_ways(selection), &options, classes, 1);
            let found: String = found.iter().map(way).collect();
            assert_eq!(found, "AB", "{forwarding:?} {selection:?} {queues:?}");
        }
    }
}

/// Three packets of VL15 leave host 0 before eight others, and S0 over B. What the others draw, and with what waits all draw, is as
/// without.
#[test]
fn it_takes_no_draws_and_nobody_looks_at_it() {
    let graph = graph(timing(1, 1), timing(1, 1));
    for (selection, seed) in [
        (Selection::Random, 1),
        (Selection::Random, 2),
        (Selection::LeastLoad, 3),
        (Selection::LeastLoad, 4),
    ] {
        let mut stream = draws(seed, 0);
        let expected: String = (0..8).map(|_| draw(&mut stream)).collect();
        let classes = vec![packets(0, 3, 1, 8), on_vl15(packets(0, 5, 1, 3))];
        let options = SwitchOptions::default();
        let found = with_vl15(&graph, &two_ways(selection), &options, classes, seed);
        let (others, first) = found.split_at(8);
        assert!(first.iter().all(|d| d.injected == d.sequence));
        assert!(others.iter().all(|d| d.injected == 3 + d.sequence));
        assert_eq!(first.iter().map(way).collect::<String>(), "BBB");
        assert_eq!(others.iter().map(way).collect::<String>(), expected);
    }
}

/// Two packets of one flit over B. On VL15 the second header leaves S0 in 4, two cycles after the first one, S2 in 6 and S3 in 17. Of an
/// open engine it needs empty lanes: it leaves S0 in 5, S2 in 16, when the credit of the first one is back, and S3 in 27.
#[test]
fn a_header_on_it_needs_no_empty_lane() {
    let open = two_ways(Selection::Open);
    let graph = graph(timing(1, 1), timing(1, 1));
    for matching in [Matching::OutputFirst, Matching::InputFirst] {
        let options = SwitchOptions {
            forwarding: Forwarding::Wormhole,
            matching,
            ..SwitchOptions::default()
        };
        let times = |found: Vec<Delivery>| found.iter().map(|d| d.delivered).collect::<Vec<u64>>();
        let others = deliveries(&graph, &open, &options, vec![packets(0, 5, 1, 2)], 1);
        assert_eq!(times(others), [16, 28], "{matching:?}");
        let classes = vec![on_vl15(packets(0, 5, 1, 2))];
        let mine = with_vl15(&graph, &open, &options, classes, 1);
        assert_eq!(times(mine), [16, 18], "{matching:?}");
    }
}

/// Hosts 1 and 2 have A, and VL15 on B, from 2 to 13, with two flits downstream of each in 14. Host 0's packet on VL15 requests B from 4
/// on, its other one A from 5 on; its input accepts A, whose turn it is, but not if that is an escape.
#[test]
fn where_inputs_choose_it_is_no_escape() {
    let graph = graph(timing(1, 3), timing(1, 1));
    let mut open = two_ways(Selection::Open);
    for (is_escape, expected) in [(false, [14 + 5, 15 + 14]), (true, [15 + 5, 14 + 14])] {
        open.first = |_, _| vec![to(A)];
        if is_escape {
            open.first = |_, _| {
                let escape = true;
                vec![Candidate { escape, ..to(A) }]
            };
        }
        let classes = vec![
            packets(0, 3, 1, 1),
            on_vl15(packets(0, 5, 1, 1)),
            packets(1, 4, 12, 1),
            on_vl15(packets(2, 5, 12, 1)),
        ];
        let options = SwitchOptions::default();
        let found = with_vl15(&graph, &open, &options, classes, 1);
        let found = [found[0].delivered, found[1].delivered];
        assert_eq!(found, expected, "{is_escape}");
    }
}
