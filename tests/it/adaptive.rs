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

/// Two hosts that send at a tenth of their link over one channel whose lane has a credit loop of 406 cycles.
const TRUNK: &str = r#"Scenario(
    title: "trunk", seed: 1,
    fabric: (topology: EdgeList(links: [(0, 1, "1 us")], hosts_per_switch: 2), flit: "64 B",
             link: (rate: "100 Gbit/s", latency: "10 ns"), switch: (lanes: 1, lane_capacity: "64 flits")),
    routing: UpDown(),
    traffic: [
        (name: "u", pattern: Pairs(pairs: [(0, 2)]), hosts: List([0]), process: Bernoulli(load: 0.1), size: "16 flits"),
        (name: "w", pattern: Pairs(pairs: [(1, 3)]), hosts: List([1]), process: Bernoulli(load: 0.1), size: "16 flits"),
    ],
    phases: (warmup: "20000 cycles", measure: "80000 cycles"),
)"#;

const TWO_LANES: [&str; 2] = ["fabric.switch.lanes=2", "traffic.w.sl=1"];

#[test]
fn classes_that_share_lanes_share_their_credits() {
    let alone = 64.0 / 406.0;
    let pool = [&TWO_LANES[..], &["fabric.switch.sharing=PortPool"]].concat();
    let forms = [
        (&[][..], alone / 2.0),
        (&pool[..], alone / 2.0),
        (&TWO_LANES[..], alone),
        // u may take both lanes, w one of them: together they have two
        (&["fabric.switch.lanes=2", "traffic.u.sl=[0, 1]"][..], alone),
    ];
    for (changes, expected) in forms {
        let resolved = resolve(TRUNK, changes);
        let together = Bounds::of(&resolved).together.expect("two classes");
        for (name, load) in &together.loads {
            assert!(
                (load / expected - 1.0).abs() < 1e-9,
                "{changes:?}: {name} {load}, not {expected}"
            );
        }
        assert!(together.bound.credit_loop.is_some(), "{changes:?}");
        let outcome = run(&resolved, [1, 1]);
        let reason = &outcome.reason;
        let told = "for 1.269 of what its credits let through, 64 flits per credit round trip of 406 cycles";
        let is_held = expected < 0.1;
        assert_eq!(reason.contains(told), is_held, "{changes:?}: {reason}");
        for class in &outcome.records.classes {
            let accepted = class.delivered_flits as f64 / 80_000.0;
            assert!(accepted <= expected * 1.005, "{changes:?}: {accepted}");
            assert!(
                !is_held || accepted >= expected * 0.99,
                "{changes:?}: {accepted}"
            );
        }
    }
}

#[test]
fn credit_loops_are_told_of_channels_that_a_class_goes_over() {
    let long = ["fabric.link.latency=1 us"];
    let resolved = resolve(TRUNK, &long);
    let graph = &resolved.layout.graph;
    let told = |found: &credit_loops::OfKind| {
        let channel = graph.channel(found.channel);
        let ends = [channel.from, channel.to].map(|end| graph.endpoint_name(end));
        (found.class.clone(), ends.join(" to "), found.beside.clone())
    };
    let found: Vec<_> = credit_loops::of_kinds(&resolved).iter().map(told).collect();
    let expected = [
        ("u", "H0 to S0 port 1", None),
        ("u", "S1 port 1 to H2", None),
        ("u", "S0 port 3 to S1 port 3", Some("w")),
        ("w", "H1 to S0 port 2", None),
        ("w", "S1 port 2 to H3", None),
        ("w", "S0 port 3 to S1 port 3", Some("u")),
    ];
    let expected = expected.map(|(class, ends, beside)| {
        let beside: Vec<String> = beside.into_iter().map(str::to_owned).collect();
        (class.to_owned(), ends.to_owned(), beside)
    });
    assert_eq!(found, expected);
}

#[test]
fn uniform_traffic_is_held_by_credit_loops_too() {
    // four hosts: two thirds of what the two at a switch send go over the channel
    let uniform = |changes: &[&str]| {
        let bound = Bounds::of(&resolve(TRUNK, changes)).uniform;
        bound.expect("every pair has a way").load
    };
    let one = 64.0 / 406.0 * 0.75;
    assert!((uniform(&[]) / one - 1.0).abs() < 1e-9);
    assert!((uniform(&TWO_LANES) / (2.0 * one) - 1.0).abs() < 1e-9);
}
