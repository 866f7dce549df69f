//! Heads that have waited for long go before all others (D72): nobody waits for ever, whatever arbitration is asked, and the
//! results are those of every number of threads and shards, and of a run that was stopped in between.

use crate::runs::{resolve, run, simulation};
use virtlane::measure::digest::Digest;
use virtlane::run::outcome::Verdict;
use virtlane::run::{Outcome, Simulation};

/// Hosts a and v share the link between the switches; a, p and q send to x, v to y. The input at S1 is kept busy by v, the output
/// to x by p and q: each is free again and again, both together never.
const STARVED: &str = r#"Scenario(
    title: "starved", seed: 2,
    fabric: (
        topology: EdgeList(switches: 2, links: [(0, 1)], hosts: [("a", 0), ("v", 0), ("p", 1), ("q", 1), ("x", 1), ("y", 1)]),
        flit: "64 B", link: (rate: "20 Gbit/s", latency: "2 cycles"),
        switch: (lane_capacity: "256 flits", queues: Voq),
    ),
    routing: UpDown(),
    traffic: [
        (name: "hot", hosts: List([0, 2, 3]), flows: [(pairs: Incast(to: 4), window: 1)], size: "2 KiB"),
        (name: "victim", hosts: List([1]), flows: [(pairs: List(pairs: [(1, 5)]), window: 8)], size: "2 KiB"),
    ],
    phases: (warmup: "3000 cycles", measure: "12000 cycles", drain: "0 cycles"),
)"#;

const CLAIMS: &str = "fabric.switch.claims=Every(\"500 cycles\")";

/// Ways of choosing that look at how long requests have waited, or ask again: none of them helps.
const CHOICES: [&[&str]; 7] = [
    &[],
    &["fabric.switch.output_arbitration=OldestFirst"],
    &["fabric.switch.output_arbitration=FirstComeFirstServed"],
    &["fabric.switch.output_arbitration=Random"],
    &["fabric.switch.iterations=2"],
    &["fabric.switch.matching=InputFirst"],
    &[
        "traffic.hot.flows=[(pairs: Incast(to: 4))]",
        "traffic.hot.control=Window(aimd: true, most: 8)",
    ],
];

/// Packets of the flow from host a that have arrived.
fn arrived(outcome: &Outcome) -> u64 {
    outcome.flow_counts[0].arrived.delivered.packets
}

fn count(outcome: &Outcome, name: &str) -> u64 {
    outcome.records.counts[name]
}

#[test]
fn a_head_whose_input_and_output_are_never_free_together_claims_them() {
    for choice in CHOICES {
        let alone = run(&resolve(STARVED, choice), [1, 1]);
        // where outputs draw some get through at first
        let drawn = choice.iter().any(|change| change.ends_with("Random"));
        let words = " of class hot to x has waited for 1";
        assert!(alone.reason.contains(words), "{choice:?}: {}", alone.reason);
        let first = alone.reason.contains("a's packet 0 of");
        assert!(first || drawn, "{choice:?}: {}", alone.reason);
        let words = "at S1 input port 5 lane 0 for output port 3";
        assert!(alone.reason.contains(words), "{choice:?}: {}", alone.reason);
        assert!(
            alone.reason.ends_with(", while others passed"),
            "{}",
            alone.reason
        );
        assert_eq!(arrived(&alone) > 0, drawn, "{choice:?}");
        assert!(count(&alone, "waits.longest") > 14_000, "{choice:?}");

        let changes: Vec<&str> = choice.iter().copied().chain([CLAIMS]).collect();
        let served = run(&resolve(STARVED, &changes), [1, 1]);
        assert!(
            !served.reason.contains("has waited"),
            "{choice:?}: {}",
            served.reason
        );
        assert!(arrived(&served) >= 8, "{choice:?}: {}", arrived(&served));
        assert!(count(&served, "claims.made") > 0, "{choice:?}");
        // at most two looks, and what leaves input and output when it claims them
        let longest = count(&served, "waits.longest");
        assert!(longest <= 2 * 500 + 64, "{choice:?}: {longest}");
        assert_ne!(served.verdict, Verdict::Deadlocked);
    }
}

/// Looks are 65,536 cycles apart where nobody says it.
#[test]
fn nobody_waits_for_ever_unless_asked() {
    let seen = |claims: &str| {
        let outcome = run(
            &resolve(STARVED, &["phases.measure=\"140000 cycles\"", claims]),
            [1, 1],
        );
        let made = outcome.records.counts.get("claims.made").copied();
        (arrived(&outcome) > 0, made.is_some_and(|made| made > 0))
    };
    assert_eq!(seen("fabric.switch.claims=Auto"), (true, true));
    assert_eq!(seen("fabric.switch.claims=Off"), (false, false));
    assert_eq!(seen("seed=2"), (true, true));
}

/// Packets of 32 flits: the first of host a may request at S1 before the look of cycle 500 and is a claimant from the next
/// on. Input and output are free within the 32 cycles of a packet, so that it is granted by 1032 and at its host 32 cycles and a
/// latency later.
#[test]
fn a_claimant_is_granted_within_the_time_of_a_packet() {
    let resolved = resolve(STARVED, &[CLAIMS]);
    let mut simulation = simulation(&resolved, [1, 1]);
    let mut seen = |until| {
        simulation.run_until(until).expect("there are no messages");
        (
            simulation.counts()["claims.made"],
            simulation.hops().longest,
        )
    };
    assert_eq!(seen(500).0, 0, "nobody has stood at a look before");
    let (made, longest) = seen(999);
    assert!(made == 0 && (1..200).contains(&longest), "{longest}");
    let (made, longest) = seen(1000);
    assert!(made == 1 && longest < 200, "{longest}");
    // it has waited since before cycle 100
    let (made, longest) = seen(1033);
    assert!(made == 1 && longest > 900, "{longest}");
    // no other packet has stood at two looks
    assert_eq!(seen(1499).0, 1);
}

/// Small packets of two hosts take every credit of the link that comes back, so that there are never enough for a large one.
const SMALL_BEFORE_LARGE: &str = r#"Scenario(
    fabric: (
        topology: EdgeList(switches: 2, links: [(0, 1)], hosts: [("large", 0), ("s", 0), ("t", 0), ("x", 1)]),
        flit: "64 B", link: (rate: "20 Gbit/s", latency: "3 cycles"),
        switch: (lane_capacity: "16 flits"),
    ),
    routing: UpDown(),
    traffic: [
        (name: "large", hosts: List([0]), flows: [(pairs: List(pairs: [(0, 3)]))], size: "16 flits"),
        (name: "small", hosts: List([1, 2]), flows: [(pairs: Incast(to: 3))], size: "1 flit"),
    ],
    phases: (warmup: "1000 cycles", measure: "8000 cycles", drain: "0 cycles"),
)"#;

#[test]
fn small_packets_do_not_take_the_credits_that_a_claimant_waits_for() {
    for more in [
        &[][..],
        &["fabric.switch.sharing=PortPool"],
        &["fabric.switch.matching=InputFirst"],
        &["fabric.switch.output_lane_buffer=16 flits"],
        &["fabric.switch.iterations=3", "fabric.switch.queues=Voq"],
    ] {
        let alone = run(&resolve(SMALL_BEFORE_LARGE, more), [1, 1]);
        // the first comes before all small ones
        assert!(arrived(&alone) <= 1, "{more:?}");
        assert!(
            alone.reason.contains(" of class large to x has waited for"),
            "{}",
            alone.reason
        );
        let changes: Vec<&str> = more.iter().copied().chain([CLAIMS]).collect();
        let served = run(&resolve(SMALL_BEFORE_LARGE, &changes), [1, 1]);
        assert!(arrived(&served) >= 5, "{more:?}: {}", arrived(&served));
        // two looks, the credits of a lane that come back, and the packet on the output
        let longest = count(&served, "waits.longest");
        assert!(longest <= 1000 + 2 * 16 + 16, "{more:?}: {longest}");
    }
}

/// The second large packet has the turn and waits for credits that take 400 cycles; the small one, which came after it, would fit.
/// Of two claims of one look that of the lower port goes first. Nothing else happens meanwhile.
#[test]
fn a_claim_is_granted_in_its_first_cycle_though_nothing_else_happens() {
    let text = r#"Scenario(
        fabric: (
            topology: EdgeList(links: [(0, 1, "200 cycles")], hosts: [("small", 0), ("large", 0), ("x", 1)]),
            flit: "64 B", link: (rate: "20 Gbit/s", latency: "2 cycles"),
            switch: (lane_capacity: "16 flits", reserve: true, output_arbitration: FirstComeFirstServed),
        ),
        routing: UpDown(),
        traffic: [
            (name: "large", flows: [(pairs: List(pairs: [(1, 2)]), bytes: "24 flits")], size: "12 flits"),
            (name: "small", flows: [(pairs: List(pairs: [(0, 2)]), bytes: "4 flits", start: "30 cycles")], size: "4 flits"),
        ],
        phases: (warmup: "0 cycles", measure: "1000 cycles", drain: "0 cycles"),
    )"#;
    let longest = |claims: &str, until| {
        let resolved = resolve(text, &[&format!("fabric.switch.claims={claims}")]);
        let mut simulation = simulation(&resolved, [1, 1]);
        simulation.run_until(until).expect("there are no messages");
        simulation.hops().longest
    };
    let every = "Every(\"60 cycles\")";
    assert!(longest(every, 120) < 10);
    // it has requested within 30 to 35
    assert!((85..=90).contains(&longest(every, 121)));
    assert!(longest("Off", 400) < 10);
}

/// Hot spots on a torus, packets of several sizes: heads wait everywhere.
const CROWDED: &str = r#"Scenario(
    seed: 11,
    fabric: (
        topology: Torus(radix: [4, 4]), flit: "64 B", link: (rate: "20 Gbit/s", latency: "3 cycles"),
        switch: (lanes: 4, lane_capacity: "24 flits"),
    ),
    routing: DimensionOrder(),
    traffic: [
        (name: "all", pattern: Uniform, process: Bernoulli(load: 0.5), size: Mixed([("2 flits", 3), ("12 flits", 1)]), sl: [0, 1]),
        (name: "hot", pattern: HotSpot(targets: [5], fraction: 0.5), process: Bernoulli(load: 0.3), size: "8 flits"),
    ],
    phases: (warmup: "100 cycles", measure: "1400 cycles", drain: "0 cycles"),
)"#;

const CROWDS: [&[&str]; 14] = [
    &[],
    &["fabric.switch.queues=Voq"],
    &[
        "fabric.switch.queues=Voq",
        "fabric.switch.input_speedup=2",
        "fabric.switch.iterations=2",
    ],
    &["fabric.switch.input_speedup=Unlimited"],
    &[
        "fabric.switch.matching=InputFirst",
        "fabric.switch.queues=Voq",
        "fabric.switch.iterations=2",
    ],
    &[
        "fabric.switch.matching=InputFirst",
        "fabric.switch.input_speedup=2",
        "fabric.switch.output_arbitration=Random",
    ],
    &["fabric.switch.reserve=true", "fabric.switch.iterations=3"],
    &[
        "fabric.switch.sharing=PortPool",
        "fabric.switch.queues=Voq",
        "fabric.switch.input_speedup=3",
    ],
    &[
        "fabric.switch.output_buffer=6 flits",
        "fabric.switch.output_arbitration=FirstComeFirstServed",
    ],
    &[
        "fabric.switch.output_lane_buffer=12 flits",
        "fabric.switch.output_arbitration=OldestFirst",
    ],
    &[
        "fabric.switch.marking=(threshold: \"8 flits\")",
        "fabric.switch.forwarding=StoreAndForward",
    ],
    &[
        "fabric.switch.drop=(sl: [1], rule: Threshold(\"6 flits\"))",
        "observe=(queues: true)",
    ],
    &["routing=Goal()"],
    &[
        "routing=Goal()",
        "fabric.switch.iterations=2",
        "fabric.switch.output_arbitration=Random",
    ],
];

/// What a simulation has done: packets delivered, claims, the longest wait.
fn done(simulation: &mut Simulation) -> (Digest, u64, u32) {
    let digest = crate::runs::digest(simulation);
    let made = simulation.counts()["claims.made"];
    (digest, made, simulation.hops().longest)
}

#[test]
fn claims_are_the_same_for_any_shards_and_threads() {
    for crowd in CROWDS {
        for every in ["1 cycles", "7 cycles", "60 cycles"] {
            let claims = format!("fabric.switch.claims=Every({every:?})");
            let changes: Vec<&str> = crowd.iter().copied().chain([claims.as_str()]).collect();
            let resolved = resolve(CROWDED, &changes);
            // the laws are checked on the way
            let outcome = run(&resolved, [1, 1]);
            assert_ne!(outcome.verdict, Verdict::Deadlocked, "{changes:?}");
            let made = count(&outcome, "claims.made");
            assert!(made > 20, "{changes:?}: {made} claims");
            let mut alone = simulation(&resolved, [1, 1]);
            alone.run_until(1500).expect("there are no messages");
            let expected = done(&mut alone);
            for shape in [[1, 3], [2, 16]] {
                let mut other = simulation(&resolved, shape);
                other.run_until(1500).expect("there are no messages");
                assert_eq!(done(&mut other), expected, "{changes:?} {shape:?}");
            }
        }
    }
}

#[test]
fn a_run_goes_on_in_the_middle_of_a_claim() {
    for crowd in [CROWDS[0], CROWDS[2], CROWDS[5], CROWDS[13]] {
        let changes: Vec<&str> = crowd
            .iter()
            .copied()
            .chain(["fabric.switch.claims=Every(\"20 cycles\")"])
            .collect();
        let resolved = resolve(CROWDED, &changes);
        let mut whole = simulation(&resolved, [1, 2]);
        let mut states = Vec::new();
        for at in (300..=420).step_by(5) {
            whole.run_until(at).expect("there are no messages");
            states.push((at, whole.save().expect("it can be saved")));
        }
        whole.run_until(600).expect("there are no messages");
        let expected = done(&mut whole);
        for (at, state) in states {
            let mut rest = simulation(&resolved, [2, 2]);
            rest.restore(at, &state, false).expect("it fits");
            rest.run_until(600).expect("there are no messages");
            assert_eq!(done(&mut rest), expected, "{changes:?} from {at}");
        }
    }
}

/// A fork takes the claims with it: the sources of another seed meet them.
#[test]
fn a_fork_keeps_claims() {
    let claims = "fabric.switch.claims=Every(\"20 cycles\")";
    let first = resolve(CROWDED, &[claims]);
    let mut warm = simulation(&first, [1, 1]);
    warm.run_until(400).expect("there are no messages");
    let (state, made) = (
        warm.save().expect("it can be saved"),
        warm.counts()["claims.made"],
    );
    let second = resolve(CROWDED, &[claims, "seed=12"]);
    let ends = [[1, 1], [2, 1]].map(|shape| {
        let mut fork = simulation(&second, shape);
        fork.restore(400, &state, true).expect("it fits");
        assert_eq!(fork.counts()["claims.made"], made);
        fork.run_until(900).expect("there are no messages");
        done(&mut fork)
    });
    assert_eq!(ends[0], ends[1]);
    assert!(ends[0].1 > made);
}

/// A fabric in which nobody becomes a claimant is as without.
#[test]
fn looks_alone_change_nothing() {
    let digest = |changes: &[&str]| {
        let outcome = run(&resolve(CROWDED, changes), [1, 2]);
        (
            outcome.records.digest,
            outcome.records.counts.get("claims.made").copied(),
        )
    };
    let (expected, none) = digest(&["fabric.switch.claims=Off"]);
    assert_eq!(none, None);
    let looked = digest(&["fabric.switch.claims=Every(\"1400 cycles\")"]);
    assert_eq!(looked, (expected, Some(0)));
}
