//! The reference model's claims (D72) on one switch, worked out by hand.
//!
//! Through one switch of default delays a packet that starts in cycle t may request in t + 2; what it grants in t arrives from
//! t + 1 on, and its credits count from t + 2 on.

use super::{backlogged, plan, star};
use crate::reference::{Outcome, simulate};
use virtlane::ids::HostId;
use virtlane::plan::{
    Allocation, BufferSharing, ClassPlan, Forwarding, InputSpeedup, Matching, OutputArbitration,
    Queues, SwitchOptions,
};

/// Classes on one switch with so many hosts.
struct Scene {
    hosts: u8,
    classes: Vec<ClassPlan>,
    switch: SwitchOptions,
}

impl Scene {
    /// Runs for so many cycles, all of them measured.
    fn run(&self, cycles: u64) -> Outcome {
        self.measured(0, cycles)
    }

    /// Runs up to a cycle and measures from another one on.
    fn measured(&self, from: u64, to: u64) -> Outcome {
        let (graph, tables) = star(self.hosts, self.switch.lanes);
        let mut plan = plan(self.classes.clone(), self.switch.clone());
        plan.phases.warmup = from;
        plan.phases.measure = to - from;
        simulate(&plan, &graph, &tables, to)
    }

    /// The same with looks after every so many cycles.
    fn with(mut self, every: u64) -> Self {
        self.switch.allocation.claims = Some(every);
        self
    }
}

/// One packet.
fn one(from: u32, to: u32, size: u16, lane: u8) -> ClassPlan {
    ClassPlan {
        packets_per_host: Some(1),
        ..backlogged(&[from], to, size, lane)
    }
}

/// Cycles in which packets of a class are delivered.
fn delivered(outcome: &Outcome, class: u16) -> Vec<u64> {
    let mine = outcome.deliveries.iter().filter(|d| d.class == class);
    let mut cycles: Vec<u64> = mine.map(|d| d.delivered).collect();
    cycles.sort_unstable();
    cycles
}

/// Packets of one flit take every credit that comes back, so that one of 8 never has the 8 that it needs: it requests in 5. The
/// credits of what is granted in 19 are back in 21.
fn starved(lane: u8, switch: SwitchOptions) -> Scene {
    Scene {
        hosts: 4,
        classes: vec![
            one(0, 3, 1, 0),
            one(0, 2, 8, 0),
            backlogged(&[1], 2, 1, lane),
        ],
        switch: SwitchOptions {
            lane_capacity: 8,
            ..switch
        },
    }
}

#[test]
fn without_claims_small_packets_starve_a_large_one() {
    let outcome = starved(0, SwitchOptions::default()).run(300);
    assert!(delivered(&outcome, 1).is_empty());
    assert_eq!(delivered(&outcome, 2), (3..300).collect::<Vec<_>>());
    assert_eq!(outcome.claims.made, 0);
    assert_eq!(outcome.claims.longest_wait, 300 - 5);
}

/// The look in 10 is at what requested before 0, that in 20 at what requested before 10. From 20 on the lane is barred, and
/// the large packet is granted in 21; the next small one waits from 20 to 29.
#[test]
fn a_claim_bars_its_lane_until_its_packet_fits() {
    use OutputArbitration::{FirstComeFirstServed, OldestFirst, Random};
    let default = SwitchOptions::default;
    let random = |output_arbitration| SwitchOptions {
        output_arbitration,
        ..default()
    };
    let pool = SwitchOptions {
        lanes: 2,
        sharing: BufferSharing::PortPool,
        ..default()
    };
    let unlimited = SwitchOptions {
        input_speedup: InputSpeedup::Unlimited,
        ..default()
    };
    let input_first = SwitchOptions {
        matching: Matching::InputFirst,
        ..default()
    };
    let voq = SwitchOptions {
        queues: Queues::Voq,
        ..default()
    };
    let buffer = SwitchOptions {
        output_buffer: 4,
        ..default()
    };
    let lanes = SwitchOptions {
        output_lane_buffer: 8,
        ..default()
    };
    let rounds = SwitchOptions {
        allocation: Allocation::rounds(3),
        ..default()
    };
    for (lane, switch) in [
        (0, default()),
        (0, random(FirstComeFirstServed)),
        (0, random(OldestFirst)),
        (0, random(Random)),
        // the small ones come on the other lane, whose space is the same
        (1, pool),
        (0, unlimited),
        (0, input_first),
        (0, voq),
        (0, buffer),
        (0, lanes),
        (0, rounds),
    ] {
        let text = format!("{switch:?}");
        let outcome = starved(lane, switch).with(10).run(40);
        assert_eq!(delivered(&outcome, 1), [21 + 8], "{text}");
        let small = (3..21).chain(30..40);
        assert_eq!(delivered(&outcome, 2), small.collect::<Vec<_>>(), "{text}");
        assert_eq!(outcome.claims.lives, [(20, Some(21))], "{text}");
        assert_eq!(outcome.claims.longest_wait, 21 - 5, "{text}");
    }
}

/// A look is at heads that requested before its cycle less T, strictly, and is the last thing of a run that ends there.
#[test]
fn looks_come_between_two_cycles() {
    for (every, claim) in [(1, 7), (2, 8), (3, 9), (4, 12), (5, 15), (6, 12), (20, 40)] {
        let scene = || starved(0, SwitchOptions::default()).with(every);
        assert_eq!(scene().run(claim - 1).claims.made, 0, "{every}");
        let outcome = scene().run(claim);
        assert_eq!(outcome.claims.lives, [(claim, None)], "{every}");
        let outcome = scene().run(claim + 20);
        // whoever waits for the large packet may claim, too
        let mut lives = outcome.claims.lives.clone();
        lives.sort_unstable();
        assert_eq!(lives[0], (claim, Some(claim + 1)), "{every}");
        assert_eq!(delivered(&outcome, 1), [claim + 9], "{every}");
    }
}

/// Looks after every 3 cycles: the head of the small packets waits from 9 to 18 and claims in 15, which changes nothing.
#[test]
fn who_waits_for_a_claimant_claims_in_turn() {
    let outcome = starved(0, SwitchOptions::default()).with(3).run(40);
    assert_eq!(outcome.claims.lives, [(9, Some(10)), (15, Some(18))]);
    let small = (3..10).chain(19..40);
    assert_eq!(delivered(&outcome, 2), small.collect::<Vec<_>>());
}

/// Hosts 2 and 3 send packets of 2 flits to hosts 4 and 5 from 26 and 27 on, when blockers have passed: so host 5 is never
/// free when input 2 is, though both are in every other cycle, and one packet from host 2 to host 5, on lane 1, which requests
/// in 4, waits for ever.
fn crossed(switch: SwitchOptions) -> Scene {
    Scene {
        hosts: 6,
        classes: vec![
            one(0, 4, 24, 0),
            one(1, 5, 25, 0),
            backlogged(&[2], 4, 2, 0),
            one(2, 5, 2, switch.lanes - 1),
            backlogged(&[3], 5, 2, 0),
        ],
        switch: SwitchOptions {
            lane_capacity: 32,
            ..switch
        },
    }
}

/// Of output buffers there are none: they let an output be granted in other cycles.
fn crossed_options() -> [SwitchOptions; 4] {
    let two = SwitchOptions {
        lanes: 2,
        ..SwitchOptions::default()
    };
    [
        two.clone(),
        SwitchOptions {
            matching: Matching::InputFirst,
            ..two.clone()
        },
        SwitchOptions {
            allocation: Allocation::rounds(2),
            ..two
        },
        // on one lane
        SwitchOptions {
            queues: Queues::Voq,
            ..SwitchOptions::default()
        },
    ]
}

#[test]
fn without_claims_an_output_is_never_free_when_an_input_is() {
    for switch in crossed_options() {
        let text = format!("{switch:?}");
        let outcome = crossed(switch).run(200);
        assert!(delivered(&outcome, 3).is_empty(), "{text}");
        let every_other = |first: u64| (first..200).step_by(2).collect::<Vec<_>>();
        assert_eq!(delivered(&outcome, 2), every_other(26 + 2), "{text}");
        assert_eq!(delivered(&outcome, 4), every_other(27 + 2), "{text}");
        assert_eq!(outcome.claims.longest_wait, 200 - 4, "{text}");
    }
}

/// It claims in 32, when its input is free and its output is not: both wait until 33, in which both streams are kept. From 35
/// on both outputs are free in the same cycles.
#[test]
fn a_claim_keeps_output_and_place_until_both_are_free() {
    for switch in crossed_options() {
        let text = format!("{switch:?}");
        let scene = crossed(switch).with(16);
        let outcome = scene.run(60);
        assert_eq!(delivered(&outcome, 3), [33 + 2], "{text}");
        let (a, b) = (delivered(&outcome, 2), delivered(&outcome, 4));
        assert_eq!(a[..5], [28, 30, 32, 37, 39], "{text}");
        assert_eq!(b[..5], [29, 31, 33, 37, 39], "{text}");
        assert_eq!(outcome.claims.lives, [(32, Some(33))], "{text}");
        assert_eq!(outcome.claims.met.kept, 1, "{text}");
        // granted: from 2 to 26 and 27, from 4 to 33, from 32 to 35; standing: from 2 on in 27, from 4 on in 30 and 33
        for (window, longest) in [
            (0..60, 29),
            (0..33, 29),
            (0..34, 29),
            (0..30, 26),
            (0..27, 25),
            (33..34, 29),
            (34..60, 3),
            (36..60, 0),
        ] {
            let waits = scene.measured(window.start, window.end).claims.longest_wait;
            assert_eq!(waits, longest, "{window:?} {text}");
        }
    }
}

/// Looks after every 7 cycles: in 14 three heads claim, in this order: to host 4, to host 5 of the same input, to host 5 of the
/// other one. The second one keeps host 5 in 27, when its input is not free yet; so the third one waits until 30.
#[test]
fn claims_of_one_cycle_go_in_the_order_of_inputs_and_their_lanes() {
    for switch in crossed_options() {
        let text = format!("{switch:?}");
        let outcome = crossed(switch).with(7).run(44);
        let lives = [(14, Some(26)), (14, Some(28)), (14, Some(30))];
        assert_eq!(outcome.claims.lives, lives, "{text}");
        assert_eq!(delivered(&outcome, 2)[..3], [28, 32, 34], "{text}");
        assert_eq!(delivered(&outcome, 3), [30], "{text}");
        assert_eq!(delivered(&outcome, 4)[..3], [32, 34, 36], "{text}");
    }
}

/// An input with two places has heads for hosts 4, 5 and 6, which blockers hold until 40, 30 and 20. Those for hosts 4 and 5
/// requested in 2 and 6 and claim in 20: they keep both places from the third head, which could go in 20. It claims in 30,
/// when the second one goes, and goes in 34, when that has left the input.
#[test]
fn claims_keep_as_many_places_as_an_input_has() {
    let scene = |places| Scene {
        hosts: 7,
        classes: vec![
            one(0, 4, 38, 0),
            one(1, 5, 28, 1),
            one(2, 6, 18, 2),
            one(3, 4, 4, 0),
            one(3, 5, 4, 1),
            one(3, 6, 4, 2),
        ],
        switch: SwitchOptions {
            lanes: 3,
            lane_capacity: 64,
            input_speedup: places,
            ..SwitchOptions::default()
        },
    };
    let of = |outcome: &Outcome| [3, 4, 5].map(|class| delivered(outcome, class)[0]);
    for places in [1, 2, 3] {
        let outcome = scene(InputSpeedup::Limited(places)).run(60);
        assert_eq!(of(&outcome), [44, 34, 24], "{places}");
    }
    let outcome = scene(InputSpeedup::Limited(2)).with(10).run(60);
    assert_eq!(of(&outcome), [44, 34, 38]);
    let lives = [(20, Some(30)), (30, Some(34)), (20, Some(40))];
    assert_eq!(outcome.claims.lives, lives);
    // one place: kept for the first claim alone
    let outcome = scene(InputSpeedup::Limited(1)).with(10).run(60);
    assert_eq!(of(&outcome), [44, 48, 52]);
    // a place for each
    for places in [InputSpeedup::Limited(3), InputSpeedup::Unlimited] {
        let outcome = scene(places).with(10).run(60);
        assert_eq!(of(&outcome), [44, 34, 24], "{places:?}");
    }
}

/// Input 5 has two heads that claim in 20: one for host 7, which is held for long, on lane 0, and one for host 6 on lane 1. The
/// first one keeps the only place of the input, and the second one bars lane 1 of host 6 all the same. So input 4, on lane 1,
/// waits, and host 6, which is held until 24, takes turns by lanes: first input 1, though the pointer over inputs is behind
/// the blocker of input 2.
#[test]
fn a_barred_request_makes_turns_by_lanes() {
    let scene = || Scene {
        hosts: 11,
        classes: vec![
            one(0, 7, 60, 0),
            one(1, 8, 16, 0),
            one(2, 6, 22, 0),
            one(3, 9, 16, 0),
            one(4, 10, 16, 0),
            one(5, 7, 1, 0),
            one(5, 6, 1, 1),
            backlogged(&[1], 6, 1, 0),
            backlogged(&[3], 6, 1, 0),
            backlogged(&[4], 6, 1, 1),
        ],
        switch: SwitchOptions {
            lanes: 2,
            lane_capacity: 64,
            ..SwitchOptions::default()
        },
    };
    let sources = |outcome: &Outcome| {
        let source = |cycle: u64| {
            let mut found = outcome.deliveries.iter();
            let found = found.find(|d| d.delivered == cycle && d.destination == HostId(6));
            found.map(|delivery| delivery.source.0)
        };
        (25..33)
            .map(|cycle| source(cycle).unwrap_or(99))
            .collect::<Vec<_>>()
    };
    let outcome = scene().run(40);
    assert_eq!(sources(&outcome), [3, 4, 5, 1, 3, 4, 1, 3]);
    let outcome = scene().with(10).run(40);
    assert_eq!(sources(&outcome), [1, 3, 1, 3, 1, 3, 1, 3]);
    // that of input 4, which requested in 18, claims in 30
    let mut lives = outcome.claims.lives;
    lives.sort_unstable();
    assert_eq!(lives, [(20, None), (20, None), (30, None)]);
}

/// Input 1 has a head for host 3 on lane 0, held by a blocker until 10, and a packet of 30 flits on its way until 33. It claims
/// in 16 and keeps host 3. Input 2 has a head for host 3 on lane 1, which requests in 18, and one for host 5 on lane 0, which
/// requests in 19: it proposes that one, though lane 1 has its turn.
#[test]
fn nobody_proposes_what_a_claim_has_taken() {
    for matching in [Matching::InputFirst, Matching::OutputFirst] {
        let scene = Scene {
            hosts: 7,
            classes: vec![
                one(0, 3, 8, 0),
                one(1, 3, 1, 0),
                one(1, 4, 30, 1),
                one(2, 6, 16, 0),
                one(2, 3, 1, 1),
                one(2, 5, 1, 0),
            ],
            switch: SwitchOptions {
                lanes: 2,
                lane_capacity: 64,
                matching,
                ..SwitchOptions::default()
            },
        };
        let scene = scene.with(8);
        let outcome = scene.run(60);
        let [claimant, other, third] = [1, 4, 5].map(|class| delivered(&outcome, class)[0]);
        assert_eq!((claimant, other, third), (34, 35, 20), "{matching:?}");
        let lives = [(16, Some(33)), (32, Some(34))];
        assert_eq!(outcome.claims.lives, lives, "{matching:?}");
    }
}

/// With store-and-forward the tail's arrival and the delay come first: a request in 12.
#[test]
fn a_wait_begins_with_the_request() {
    let switch = SwitchOptions {
        forwarding: Forwarding::StoreAndForward,
        ..SwitchOptions::default()
    };
    let outcome = starved(0, switch).run(60);
    assert_eq!(outcome.claims.longest_wait, 60 - 12);
}
