//! Adaptive choices by load are no slower than choices by chance, and no run exceeds the bounds of its routing and its credits.

use crate::runs::{resolve, run};
use virtlane::routing::loads::bound::{Inner, Place};
use virtlane::scenario::bounds::Bounds;
use virtlane::scenario::credit_loops;

/// Cycles in which a random permutation of messages is done, all starting at once.
fn permutation(topology: &str, [packet, lane]: [&str; 2], choose: &str, seed: u64) -> u64 {
    let text = format!(
        r#"Scenario(
            title: "permutation", seed: {seed},
            fabric: (topology: {topology}, flit: "64 B", link: (rate: "100 Gbit/s", latency: "200 ns"),
                     switch: (lanes: 1, lane_capacity: "{lane}")),
            routing: AdaptiveAscent(choose: {choose}),
            traffic: [(name: "all", flows: [(pairs: Permutations(), bytes: "100 kB")], size: "{packet}")],
            phases: (warmup: "0 cycles", measure: Flows(at_most: "100000 cycles")),
        )"#
    );
    run(&resolve(&text, &[]), [1, 1]).cycles.measure
}

#[test]
fn heads_that_choose_by_load_do_not_fall_into_step() {
    let trees = [
        "LeafSpine(leaves: 8, spines: 8, hosts_per_leaf: 8)",
        "KAryNTree(k: 4, n: 3)",
    ];
    let sizes = [["1 KiB", "128 flits"], ["64 B", "64 flits"]];
    for topology in trees {
        for size in sizes {
            let cycles = |choose| -> u64 {
                let seeds = 1..=3;
                seeds
                    .map(|seed| permutation(topology, size, choose, seed))
                    .sum()
            };
            let [by_load, by_chance] = ["LeastLoad", "Random"].map(cycles);
            // packets of one flit tell little of what waits: a draw more or less
            let more = if size[0] == "64 B" { 2 } else { 0 };
            assert!(
                by_load * 100 <= by_chance * (100 + more),
                "{topology}, {size:?}: {by_load} cycles by load, {by_chance} by chance"
            );
        }
    }
}

/// Uniform traffic, or that of every group to the next, on a small dragonfly: mean latency and what is delivered of what is created.
fn dragonfly(routing: &str, pattern: &str, load: f64) -> (f64, f64) {
    let text = format!(
        r#"Scenario(
            title: "dragonfly", seed: 1,
            fabric: (topology: Dragonfly(p: 2, a: 4, h: 2), flit: "64 B", link: (rate: "100 Gbit/s", latency: "20 cycles"),
                     switch: (lanes: 3, lane_capacity: "128 flits")),
            routing: {routing},
            traffic: [(name: "all", pattern: {pattern}, process: Bernoulli(load: {load}), size: "256 B")],
            phases: (warmup: "4000 cycles", measure: "10000 cycles", drain: "2000 cycles"),
        )"#
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    let class = &outcome.records.classes[0];
    let delivered = class.delivered_flits as f64 / class.created_flits as f64;
    (
        class.network.summary().mean.expect("packets arrive"),
        delivered,
    )
}

#[test]
fn ugal_takes_detours_where_they_help() {
    let (straight, _) = dragonfly("DragonflyMinimal()", "Uniform", 0.2);
    let (ugal, _) = dragonfly("Ugal()", "Uniform", 0.2);
    assert!(ugal < 1.05 * straight, "{ugal} cycles, {straight} straight");
    // one link carries all that the eight hosts of a group send to the next one: an eighth of their rate
    let (_, straight) = dragonfly("DragonflyMinimal()", "Shift(by: 8)", 0.25);
    let (_, ugal) = dragonfly("Ugal()", "Shift(by: 8)", 0.25);
    assert!(straight < 0.6, "{straight} straight");
    assert!(ugal > 0.97, "{ugal} with detours");
}

/// Uniform traffic on a mesh whose two halves are linked by six channels each way.
const MESH: &str = r#"Scenario(
    title: "mesh", seed: 1,
    fabric: (topology: Mesh(radix: [6, 6]), flit: "64 B", link: (rate: "100 Gbit/s", latency: "1 cycles"),
             switch: (lanes: 4, lane_capacity: "8 flits")),
    routing: XyYx(),
    traffic: [(name: "all", pattern: Uniform, process: Bernoulli(load: 0.3), size: "64 B")],
    phases: (warmup: "1000 cycles", measure: "1000 cycles"),
)"#;

#[test]
fn bounds_of_routing_functions_are_known_or_hold_for_any_ways() {
    // each of 18 hosts sends 18 of 35 flits to the other half
    let half = 6.0 / (18.0 * 18.0 / 35.0);
    let of = |routing: &str| {
        let resolved = resolve(MESH, &[&format!("routing={routing}")]);
        Bounds::of(&resolved)
    };
    let engines = [
        ("XyYx()", Inner::Expected, Place::Inner),
        ("XyYx(choose: LeastLoad)", Inner::AnyWays, Place::Cut),
        ("PlanarAdaptive()", Inner::AnyWays, Place::Cut),
        ("MinimalAdaptive()", Inner::AnyWays, Place::Cut),
        ("Goal()", Inner::AnyWays, Place::Cut),
    ];
    for (engine, inner, place) in engines {
        let bounds = of(engine);
        assert_eq!(bounds.inner, inner, "{engine}");
        for bound in [bounds.uniform, Some(bounds.classes[0].1)] {
            let bound = bound.expect("there is traffic");
            assert!((bound.load - half).abs() < 1e-9, "{engine}: {bound:?}");
            assert_eq!(bound.place, place, "{engine}");
            assert_eq!(bound.channels, if place == Place::Cut { 6 } else { 1 });
        }
    }
    // four hosts of a leaf send 12 of 15 flits over two channels up
    let tree = "fabric.topology=LeafSpine(leaves: 4, spines: 2, hosts_per_leaf: 4)";
    for (choose, inner, place) in [
        ("Random", Inner::Expected, Place::Inner),
        ("LeastLoad", Inner::AnyWays, Place::Cut),
    ] {
        let routing = format!("routing=AdaptiveAscent(choose: {choose})");
        let bounds = Bounds::of(&resolve(MESH, &[tree, &routing]));
        let bound = bounds.uniform.expect("there is traffic");
        assert!((bound.load - 2.0 / 3.2).abs() < 1e-9, "{choose}: {bound:?}");
        assert_eq!((bounds.inner, bound.place), (inner, place), "{choose}");
    }
    // a hash does not share the channels in halves
    let pair = of("XyYx(choose: Pair)");
    assert_eq!(pair.inner, Inner::Expected);
    assert!(pair.uniform.expect("there is traffic").load < half);
}

#[test]
fn a_lane_carries_what_its_credits_let_through() {
    const LOOP: &str = r#"Scenario(
        title: "loop", seed: 1,
        fabric: (topology: EdgeList(links: [(0, 1)], hosts_per_switch: 2), flit: "64 B",
                 link: (rate: "100 Gbit/s", latency: "1 us"), switch: (lanes: 1, lane_capacity: "64 flits")),
        routing: UpDown(),
        traffic: [(name: "all", pattern: Pairs(pairs: [(0, 2)]), hosts: List([0]), process: Bernoulli(load: 0.9), size: "1 KiB")],
        phases: (warmup: "10000 cycles", measure: "80000 cycles"),
    )"#;
    let forms: [(&[&str], f64); 6] = [
        (&[], 64.0 / 406.0),
        (&["fabric.switch.lane_capacity=72 flits"], 64.0 / 398.0),
        (&["fabric.switch.lane_capacity=31 flits"], 16.0 / 391.0),
        (&["fabric.switch.routing_delay=9 cycles"], 64.0 / 414.0),
        (&["fabric.switch.crossbar_delay=5 cycles"], 64.0 / 411.0),
        (&["fabric.switch.forwarding=StoreAndForward"], 64.0 / 421.0),
    ];
    for (changes, expected) in forms {
        let resolved = resolve(LOOP, changes);
        let bound = Bounds::of(&resolved).classes[0].1;
        assert!(
            (bound.load / expected - 1.0).abs() < 1e-9,
            "{changes:?}: {bound:?}"
        );
        assert!(bound.credit_loop.is_some());
        let kinds = credit_loops::of_kinds(&resolved);
        let kinds: Vec<Place> = kinds.iter().map(|found| found.place).collect();
        assert_eq!(kinds, [Place::Sender, Place::Receiver, Place::Inner]);
        let outcome = run(&resolved, [1, 1]);
        let accepted = outcome.records.classes[0].delivered_flits as f64 / 80_000.0;
        assert!(
            (accepted / expected - 1.0).abs() < 5e-3,
            "{changes:?}: {accepted}, not {expected}"
        );
        let reason = &outcome.reason;
        assert!(reason.contains("per credit round trip of"), "{reason}");
    }
}
