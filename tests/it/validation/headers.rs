//! Headers of wormhole packets, routed one behind the other: what a lane passes at most, in verdicts and bounds.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;
use virtlane::scenario::bounds::Bounds;
use virtlane::scenario::credit_loops::{self, words};

/// Three switches in a line; a packet of 8 flits takes 9 cycles of a lane.
const LINE: &str = r#"Scenario(title: "line", seed: 3,
    fabric: (topology: Mesh(radix: [3]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 1, lane_capacity: "64 flits", forwarding: Wormhole)),
    routing: DimensionOrder(),
    traffic: [(name: "a", TRAFFIC, size: "8 flits")],
    phases: (warmup: "500 cycles", measure: "2000 cycles", drain: "1000 cycles"))"#;

fn told(traffic: &str, cycles: u64, changes: &[&str]) -> (Verdict, String) {
    let measure = format!("phases.measure={cycles} cycles");
    let changes = [&[&*measure], changes].concat();
    let outcome = run(
        &resolve(&LINE.replace("TRAFFIC", traffic), &changes),
        [1, 1],
    );
    (outcome.verdict, outcome.reason)
}

fn limited(rate: f64) -> String {
    format!("flows: [(pairs: List(pairs: [(0, 2)]), limit: Rate({rate}))]")
}

const WORDS: &str =
    "8 flits in 9 cycles, since a lane routes a header behind the last flit before it";

#[test]
fn limits_beyond_what_a_lane_routes_saturate_it_at_any_length() {
    for cycles in [1000, 2000, 4000, 20_000] {
        for rate in [0.9, 0.95, 0.97, 0.98] {
            let (verdict, reason) = told(&limited(rate), cycles, &[]);
            assert_eq!(verdict, Verdict::Saturated, "{rate}, {cycles}: {reason}");
            assert!(reason.contains(WORDS), "{rate}, {cycles}: {reason}");
        }
        let (verdict, reason) = told(&limited(0.88), cycles, &[]);
        assert_eq!(verdict, Verdict::Steady, "{cycles}: {reason}");
    }
}

/// Patterns and processes that ask for more, at any length, also where a lane has a queue for every output and packets go by one; and no
/// header waits where routing takes no time, or packets go as a whole.
#[test]
fn expected_loads_know_what_a_lane_routes() {
    let pattern = |load: f64| {
        format!(
            "hosts: List([0]), pattern: Pairs(pairs: [(0, 2)]), process: ConstantRate(load: {load})"
        )
    };
    let process = "flows: [(pairs: List(pairs: [(0, 2)]), process: ConstantRate(load: 0.9))]";
    for cycles in [1000, 20_000] {
        for traffic in [&*pattern(0.9), process] {
            let (verdict, reason) = told(traffic, cycles, &[]);
            assert_eq!(verdict, Verdict::Saturated, "{traffic}: {reason}");
            let asked = "for 1.012 of what the buffer behind it lets through, ";
            assert!(reason.contains(asked) && reason.contains(WORDS), "{reason}");
        }
        assert_eq!(told(&pattern(0.87), cycles, &[]).0, Verdict::Steady);
        let queues = told(&pattern(0.9), cycles, &["fabric.switch.queues=Voq"]);
        assert_eq!(queues.0, Verdict::Saturated, "{}", queues.1);
    }
    for changes in [
        &[
            "fabric.switch.allocation_delay=1 cycles",
            "fabric.switch.routing_delay=0 cycles",
        ][..],
        &["fabric.switch.forwarding=CutThrough"],
    ] {
        let resolved = resolve(&LINE.replace("TRAFFIC", &pattern(0.5)), changes);
        assert_eq!(credit_loops::of_kinds(&resolved), [], "{changes:?}");
    }
}

/// Of packets without end the bound is what is reached, in lanes and queues of several paces and sizes.
#[test]
fn a_lane_carries_what_its_headers_let_through() {
    let saturating = "hosts: List([0]), pattern: Pairs(pairs: [(0, 2)]), process: Saturating";
    for (changes, bound) in [
        (&[][..], 8.0 / 9.0),
        (&["traffic.a.size=1 flits"], 0.5),
        (
            &[
                "traffic.a.size=3 flits",
                "fabric.switch.routing_delay=4 cycles",
            ],
            3.0 / 7.0,
        ),
        (
            &[
                "traffic.a.size=3 flits",
                "fabric.switch.output_buffer=8 flits",
            ],
            0.75,
        ),
    ] {
        let resolved = resolve(&LINE.replace("TRAFFIC", saturating), changes);
        let bounds = Bounds::of(&resolved);
        let found = bounds.classes[0].1;
        assert!((found.load - bound).abs() < 1e-9, "{changes:?}: {found:?}");
        let credit_loop = found.credit_loop.expect("headers are routed");
        assert!(words(&credit_loop).contains("routes a header"));
        let outcome = run(&resolved, [1, 1]);
        let flits = outcome.records.classes[0].delivered_flits as f64;
        assert!(
            (flits / 2000.0 - bound).abs() < 0.01,
            "{changes:?}: {flits}"
        );
    }
}
