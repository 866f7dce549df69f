//! Flows that always have a packet: held back by the fabric they saturate it, by themselves they do not.

use crate::runs::{resolve, run};
use virtlane::run::outcome::Verdict;

/// Two switches with two hosts each and a cable of 195 cycles, over which credits let 64 flits per 406 cycles through.
const FAR: &str = "topology: EdgeList(links: [(0, 1, \"1 us\")], hosts_per_switch: 2), switch: (lanes: 1, lane_capacity: \"64 flits\")";
/// One switch with four hosts.
const NEAR: &str = "topology: EdgeList(switches: 1, hosts_per_switch: 4), switch: (lanes: 1, lane_capacity: \"256 flits\")";

fn told(fabric: &str, flows: &str, of_class: &str) -> (Verdict, String) {
    routed(fabric, "UpDown()", flows, of_class)
}

fn routed(fabric: &str, engine: &str, flows: &str, of_class: &str) -> (Verdict, String) {
    let text = format!(
        "Scenario(title: \"held\", seed: 1,
         fabric: ({fabric}, flit: \"64 B\", link: (rate: \"100 Gbit/s\", latency: \"10 ns\")),
         routing: {engine},
         traffic: [(name: \"f\", flows: [{flows}], size: \"1 KiB\"{of_class})],
         phases: (warmup: \"20000 cycles\", measure: \"100000 cycles\"))"
    );
    let outcome = run(&resolve(&text, &[]), [1, 1]);
    (outcome.verdict, outcome.reason)
}

fn flow(pair: &str, rest: &str) -> String {
    format!("(pairs: List(pairs: [{pair}]){rest})")
}

#[test]
fn credits_that_hold_a_flow_back_saturate_the_fabric() {
    let credits = "let no more through than 64 flits per credit round trip of 406 cycles";
    for (limit, words) in [
        (
            "",
            "flow 0 (H0 to H2) always has a packet and gets 0.158 of its link",
        ),
        (
            ", limit: Rate(0.3)",
            "flow 0 (H0 to H2) gets 0.158 of its link where its limit is 0.300",
        ),
        // four times the time of a packet after each
        (
            ", limit: Delay(3, 0)",
            "gets 0.158 of its link where its limit is 0.250",
        ),
        (
            ", changes: [(\"50000 cycles\", Rate(0.3))]",
            "gets 0.158 of its link where its limit is",
        ),
    ] {
        let (verdict, reason) = told(FAR, &flow("(0, 2)", limit), "");
        assert_eq!(verdict, Verdict::Saturated, "{limit}: {reason}");
        assert!(
            reason.starts_with("flow 0 (H0 to H2) ") && reason.contains(words),
            "{reason}"
        );
        assert!(
            reason.contains("the credits of channel S0 port 3 to S1 port 3, ")
                && reason.contains(credits),
            "{reason}"
        );
    }
}

#[test]
fn a_channel_that_is_full_is_named() {
    let two = [("(0, 2)", 0.6), ("(1, 2)", 0.8)];
    let two = two.map(|(pair, rate)| flow(pair, &format!(", limit: Rate({rate})")));
    let (verdict, reason) = told(NEAR, &two.join(", "), "");
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    let words = "flow 1 (H1 to H2) gets 0.500 of its link where its limit is 0.800: channel S0 port 3 to H2 carries 1.000 of what \
                 it can; 1 more flow is held back";
    assert!(reason.contains(words), "{reason}");
}

/// The second flow gets half of what its host sends: nobody knows whether it is the fabric that holds it back.
#[test]
fn a_flow_whose_turns_others_take_is_not_told() {
    let flows = flow("(0, 2)", "") + ", " + &flow("(0, 1)", ", limit: Rate(0.6)");
    let (verdict, reason) = told(FAR, &flows, "");
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    let is_alone = reason.starts_with("flow 0 (H0 to H2) ") && !reason.contains("more flow");
    assert!(is_alone, "{reason}");
}

/// What paces itself, or has all that its link can give, is not held back.
#[test]
fn flows_that_get_what_they_may_send_are_steady() {
    let answers = ", control: Window(window: 2), answers: (size: \"1 flits\", sl: 0)";
    for (fabric, flows, of_class) in [
        (NEAR, flow("(0, 2)", ""), ""),
        (NEAR, flow("(0, 2)", "") + ", " + &flow("(0, 3)", ""), ""),
        (NEAR, flow("(0, 2)", ", limit: Rate(0.3)"), ""),
        (
            NEAR,
            flow(
                "(0, 2)",
                ", limit: Rate(0.3), changes: [(\"200000 cycles\", Rate(0.1))]",
            ),
            "",
        ),
        (FAR, flow("(0, 2)", ", limit: Rate(0.15)"), ""),
        (
            FAR,
            flow(
                "(0, 2)",
                ", start: \"60000 cycles\", stop: \"90000 cycles\", limit: Rate(0.15)",
            ),
            "",
        ),
        (FAR, flow("(0, 2)", ", window: 2"), ""),
        (FAR, flow("(0, 2)", ""), answers),
    ] {
        let (verdict, reason) = told(fabric, &flows, of_class);
        assert_eq!(verdict, Verdict::Steady, "{flows}{of_class}: {reason}");
    }
}

/// Fifteen flows that may send 0.07 of a link each ask the link of the host that they go to for 1.05 of what it carries.
#[test]
fn limits_that_ask_a_channel_for_too_much_together_saturate_it() {
    let fifteen = |rate: f64| {
        let sixteen = NEAR.replace("hosts_per_switch: 4", "hosts_per_switch: 16");
        let sixteen = sixteen.replace("256 flits", "64 flits");
        let flows = format!("(pairs: Incast(to: 0), limit: Rate({rate}))");
        told(&format!("{sixteen}, host: (scheduler: Paced)"), &flows, "")
    };
    let (verdict, reason) = fifteen(0.07);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    let words = "the limits of 15 flows ask channel S0 port 1 to H0 for 1.050 of what it carries";
    assert!(reason.contains(words), "{reason}");
    // rates that fill the link exactly are what an algorithm of rates gives
    let (verdict, reason) = fifteen(1.0 / 15.0);
    assert_ne!(verdict, Verdict::Saturated, "{reason}");
}

/// What is missing is less than an overload of 10 % leaves behind, for ever: of a flow that is alone at its host it is the fabric's.
#[test]
fn a_little_that_is_missing_for_ever_saturates_the_fabric() {
    let slow = format!("{NEAR}, host: (sink_rate: \"50 Gbit/s\")");
    let forwarding = NEAR.replace("256 flits\"", "16 flits\", forwarding: StoreAndForward");
    let pair = |rate: f64| flow("(0, 1), (1, 2)", &format!(", limit: Rate({rate})"));
    let both = |rate: f64| flow("(0, 2), (1, 2)", &format!(", limit: Rate({rate})"));
    let sink = "for 1.080 of what the sink behind it takes";
    for (fabric, too_much, enough, cause) in [
        (&*slow, pair(0.54), pair(0.49), sink),
        (&*slow, both(0.27), both(0.24), sink),
        (
            FAR,
            flow("(0, 2)", ", limit: Rate(0.168)"),
            flow("(0, 2)", ", limit: Rate(0.157)"),
            "credits",
        ),
        (&*forwarding, pair(0.5), pair(0.4), "credits"),
    ] {
        let (verdict, reason) = told(fabric, &too_much, "");
        assert_eq!(verdict, Verdict::Saturated, "{too_much}: {reason}");
        assert!(reason.contains(cause), "{too_much}: {reason}");
        let (verdict, reason) = told(fabric, &enough, "");
        assert_eq!(verdict, Verdict::Steady, "{enough}: {reason}");
    }
}

/// Which way a packet takes is not known, but that all ways lead over full channels is: both uplinks of a leaf, or the shortest way
/// round a ring, the other one of which is idle.
#[test]
fn adaptive_routes_cannot_go_round_all_full_channels() {
    let leaf_spine = "topology: LeafSpine(leaves: 2, spines: 2, hosts_per_leaf: 4), switch: (lanes: 1, lane_capacity: \"64 flits\")";
    let ring = "topology: Ring(switches: 4, hosts_per_switch: 4), switch: (lanes: 4, lane_capacity: \"64 flits\")";
    for (fabric, engine, rates, words) in [
        (
            leaf_spine,
            "AdaptiveAscent()",
            [0.53, 0.49],
            "all its shortest ways need channel leaf0 port 5 to spine0 port 1 or another that carry ",
        ),
        (ring, "MinimalAdaptive()", [0.27, 0.24], "channel S0 port "),
    ] {
        let [too_much, enough] = rates.map(|rate| {
            let pairs = flow(
                "(0, 4), (1, 5), (2, 6), (3, 7)",
                &format!(", limit: Rate({rate})"),
            );
            routed(fabric, engine, &pairs, "")
        });
        assert_eq!(too_much.0, Verdict::Saturated, "{engine}: {}", too_much.1);
        assert!(too_much.1.contains(words), "{engine}: {}", too_much.1);
        assert_eq!(enough.0, Verdict::Steady, "{engine}: {}", enough.1);
    }
}

/// `Ugal()` may go round, by ways that cross the same channel here: two flows of one host and one of another share the one global
/// link between their groups.
#[test]
fn engines_that_may_go_round_are_held_back_where_they_do_not() {
    let dragonfly =
        "topology: Dragonfly(p: 2, a: 2, h: 1), switch: (lanes: 4, lane_capacity: \"64 flits\")";
    let at = |rate: f64| {
        let flows = flow("(8, 3), (9, 1), (9, 2)", &format!(", limit: Rate({rate})"));
        routed(dragonfly, "Ugal()", &flows, "")
    };
    let (verdict, reason) = at(0.5);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    assert!(reason.contains("carries 1.000 of what it can"), "{reason}");
    let (verdict, reason) = at(0.3);
    assert_eq!(verdict, Verdict::Steady, "{reason}");
}

/// A window that is never full changes nothing, and no verdict.
#[test]
fn windows_with_room_change_no_verdict() {
    let incast = |rest: &str| told(NEAR, &flow("(0, 3), (1, 3), (2, 3)", rest), "");
    for limit in ["", ", limit: Rate(0.6)"] {
        let without = incast(limit);
        assert_eq!(without.0, Verdict::Saturated, "{limit}: {}", without.1);
        assert_eq!(
            incast(&format!("{limit}, window: 1000")),
            without,
            "{limit}"
        );
    }
    // it is full all the time, and paces the flow
    let (verdict, reason) = incast(", window: 1");
    assert_eq!(verdict, Verdict::Steady, "{reason}");
}

/// Flows of one host with windows of one packet: the turns of one make room in the window of the other, and the link idles while both
/// are full. What the fabric keeps from leaving, too, is told all the same.
#[test]
fn windows_that_keep_a_link_idle_are_not_the_fabric() {
    let of = |fabric: &str, pairs: &str, rest: &str, size: &str| {
        let text = format!(
            "Scenario(title: \"windows\", seed: 1,
             fabric: ({fabric}, flit: \"64 B\", link: (rate: \"100 Gbit/s\", latency: \"10 ns\")),
             routing: MinHop(),
             traffic: [(name: \"f\", flows: [{}], size: {size})],
             phases: (warmup: \"1000 cycles\", measure: \"20000 cycles\"))",
            flow(pairs, rest)
        );
        let outcome = run(&resolve(&text, &[]), [1, 1]);
        (outcome.verdict, outcome.reason)
    };
    let two = "topology: Complete(switches: 2, hosts_per_switch: 4), switch: (lane_capacity: \"64 flits\")";
    let mixed = "Mixed([(\"2 flits\", 1), (\"32 flits\", 1)])";
    for (pairs, size) in [
        ("(0, 1), (0, 5)", "\"8 flits\""),
        ("(0, 1), (0, 5)", mixed),
        ("(0, 1), (0, 2)", mixed),
    ] {
        let (verdict, reason) = of(two, pairs, ", window: 1", size);
        assert_eq!(verdict, Verdict::Steady, "{pairs}, {size}: {reason}");
    }
    // a sink with three hosts before it, and two flows at each that it holds back
    let incast = "(0, 3), (1, 3), (2, 3), (0, 3), (1, 3), (2, 3)";
    let (verdict, reason) = of(NEAR, incast, ", window: 1000", "\"8 flits\"");
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    assert!(reason.contains("carries 1.000 of what it can"), "{reason}");
}

/// A time without limit lets a flow send as one at the rate of its link does: the verdict is the same.
#[test]
fn a_time_without_limit_is_one_at_the_rate_of_the_link() {
    let incast = |rest: &str| told(NEAR, &flow("(0, 3), (1, 3), (2, 3)", rest), "");
    for (first, then) in [
        (", limit: Rate(0.2)", "30000 cycles"),
        (", limit: Delay(0, 0)", "60000 cycles"),
    ] {
        let of = |limit: &str| incast(&format!("{first}, changes: [(\"{then}\", {limit})]"));
        let (free, full) = (of("None"), of("Rate(1)"));
        assert_eq!(free.0, Verdict::Saturated, "{first}: {}", free.1);
        assert_eq!(free, full, "{first}");
    }
    let of = |limit: &str| {
        let rest = format!(", limit: {limit}, changes: [(\"60000 cycles\", Rate(0.2))]");
        incast(&rest)
    };
    assert_eq!(of("None").0, Verdict::Saturated);
    assert_eq!(of("None"), of("Rate(1)"));
    // what a window of its own paces, and what fills the fabric when the limit is gone, is not held back
    let rest = ", limit: Rate(0.01), changes: [(\"60000 cycles\", None)]";
    for (flows, rest) in [
        ("(0, 2)", &*format!("{rest}, window: 1")),
        ("(0, 2)", rest),
        ("(0, 2), (0, 3)", rest),
    ] {
        let (verdict, reason) = told(NEAR, &flow(flows, rest), "");
        assert_eq!(verdict, Verdict::Steady, "{flows}{rest}: {reason}");
    }
}

/// Beside other flows of its host only what the link of that lacks is the fabric's.
#[test]
fn a_time_without_limit_beside_other_flows_is_told_by_the_link() {
    let change = ", limit: Rate(0.2), changes: [(\"30000 cycles\", None)]";
    let (verdict, reason) = told(NEAR, &flow("(0, 3), (0, 3), (1, 3), (2, 3)", change), "");
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    assert!(reason.contains("more flows are held back"), "{reason}");
    let (verdict, reason) = told(NEAR, &flow("(0, 2), (0, 3), (0, 1)", change), "");
    assert_eq!(verdict, Verdict::Steady, "{reason}");
}

/// The cause of a flow that no full channel and no credits hold back is named with the fullest channel of its way.
#[test]
fn packets_ahead_are_told_with_a_channel() {
    let text = "Scenario(title: \"ahead\", seed: 1,
         fabric: (topology: Complete(switches: 2, hosts_per_switch: 4), flit: \"64 B\",
                  link: (rate: \"100 Gbit/s\", latency: \"10 ns\"), switch: (lane_capacity: \"64 flits\")),
         routing: MinHop(),
         traffic: [(name: \"f\", flows: [(pairs: AllToAll)], size: \"16 flits\")],
         phases: (warmup: \"1000 cycles\", measure: \"20000 cycles\"))";
    let outcome = run(&resolve(text, &[]), [1, 1]);
    assert_eq!(outcome.verdict, Verdict::Saturated, "{}", outcome.reason);
    let known = "packets ahead of its own wait on their way, of whose channels S";
    assert!(outcome.reason.contains(known), "{}", outcome.reason);
}

/// The first packets of its window wait for ever: it is not the window that holds the flow back.
#[test]
fn a_window_whose_packets_never_arrive_excuses_nothing() {
    let of = |claims: &str, warmup: u32| {
        let text = format!(
            "Scenario(title: \"starved\", seed: 2,
             fabric: (topology: EdgeList(switches: 2, links: [(0, 1)], hosts: [(\"a\", 0), (\"v\", 0), (\"p\", 1), (\"q\", 1), (\"x\", 1), (\"y\", 1)]),
                      flit: \"64 B\", link: (rate: \"20 Gbit/s\", latency: \"2 cycles\"),
                      switch: (lane_capacity: \"256 flits\", queues: Voq, claims: {claims})),
             routing: UpDown(),
             traffic: [(name: \"hot\", hosts: List([0, 2, 3]), flows: [(pairs: Incast(to: 4), window: 1)], size: \"2 KiB\"),
                       (name: \"victim\", hosts: List([1]), flows: [(pairs: List(pairs: [(1, 5)]), window: 8)], size: \"2 KiB\")],
             phases: (warmup: \"{warmup} cycles\", measure: \"20000 cycles\", drain: \"0 cycles\"))"
        );
        let outcome = run(&resolve(&text, &[]), [1, 1]);
        (outcome.verdict, outcome.reason)
    };
    for warmup in [0, 2000] {
        let (verdict, reason) = of("Off", warmup);
        assert_eq!(verdict, Verdict::Saturated, "{warmup}: {reason}");
        for words in [
            "gets 0.000 of its link",
            "a's packet 0 of class hot to x has waited for ",
        ] {
            assert!(reason.contains(words), "{warmup}: {reason}");
        }
    }
    let (verdict, reason) = of("Every(\"100 cycles\")", 2000);
    assert_eq!(verdict, Verdict::Steady, "{reason}");
}

/// Two flows and two classes ask a channel between switches for 1.04 of what it carries.
#[test]
fn limits_beside_other_loads_saturate_a_channel() {
    let of_rate = |rate: f64| {
        let text = format!(
            "Scenario(title: \"beside\", seed: 1,
             fabric: (topology: LeafSpine(leaves: 2, spines: 1, hosts_per_leaf: 4), flit: \"64 B\",
                      link: (rate: \"10 Gbit/s\", latency: \"1 cycles\"), switch: (lanes: 1, lane_capacity: \"64 flits\")),
             routing: UpDown(),
             traffic: [(name: \"a\", hosts: Range(0, 1), pattern: Pairs(pairs: [(0, 4), (1, 5)]), process: ConstantRate(load: 0.25), size: \"8 flits\"),
                       (name: \"f\", flows: [(pairs: List(pairs: [(2, 6), (3, 7)]), limit: Rate({rate}))], size: \"8 flits\")],
             phases: (warmup: \"1000 cycles\", measure: \"200000 cycles\"))"
        );
        let outcome = run(&resolve(&text, &[]), [1, 1]);
        (outcome.verdict, outcome.reason)
    };
    let (verdict, reason) = of_rate(0.27);
    assert_eq!(verdict, Verdict::Saturated, "{reason}");
    assert!(
        reason.contains("leaf0 port 5 to spine0 port 1 for 1.040 of what it carries"),
        "{reason}"
    );
    let (verdict, reason) = of_rate(0.24);
    assert_eq!(verdict, Verdict::Steady, "{reason}");
}

#[test]
fn a_steady_run_with_a_full_channel_names_it() {
    let (verdict, reason) = told(NEAR, &flow("(0, 2)", ""), "");
    assert_eq!(verdict, Verdict::Steady, "{reason}");
    let words = "nothing grows and accepted load follows offered load; channel ";
    assert!(
        reason.starts_with(words) && reason.contains(" carries 1.000 of what it can"),
        "{reason}"
    );
}
