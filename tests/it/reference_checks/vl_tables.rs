//! VL tables of the reference model (D54, D70, D71) where packets travel as units, computed by hand: units, the cycles that legacy
//! rules lose, tables at inputs and channels, inputs that accept by priority. Those of single flits are in `wormhole`.

use super::turns::{Flow, all, contest, options};
use super::{backlogged, chain, plan, star, timing};
use crate::reference::simulate;
use virtlane::plan::{InputSpeedup, Matching, SwitchOptions};
use virtlane::qos::VlArbitrationTables;
use virtlane::qos::vl_arbitration::{Accept, HighPriorityLimit, Places, Rules, Unit};

/// A table with so many packets for each lane, in the order of their numbers.
fn in_packets(rules: Rules, weights: &[u8]) -> VlArbitrationTables {
    VlArbitrationTables {
        high: (0..).zip(weights.iter().copied()).collect(),
        limit: HighPriorityLimit::Unlimited,
        unit: Unit::Packets,
        rules,
        ..VlArbitrationTables::default()
    }
}

/// One lane, with legacy rules.
fn alone(matching: Matching, tables: VlArbitrationTables) -> SwitchOptions {
    SwitchOptions {
        matching,
        vl_arbitration: Some(VlArbitrationTables {
            rules: Rules::Legacy,
            ..tables
        }),
        ..options(1)
    }
}

/// The blocker has taken one of the three packets; a lost cycle, in which the table is reloaded, comes after every third.
#[test]
fn a_lane_alone_loses_a_cycle_after_its_weight() {
    let options = alone(Matching::OutputFirst, in_packets(Rules::Legacy, &[3]));
    let turns = "a0 a0 -- a0 a0 a0 -- a0 a0 a0";
    assert_eq!(contest(&all(1, 1, 1), &options, 10), [turns]);
    // that of the table, not of an input
    let turns = "a0 b0 -- a0 b0 a0 -- b0 a0 b0";
    assert_eq!(contest(&all(2, 1, 1), &options, 10), [turns]);
}

/// The blocker comes by another input, so that all three packets are left.
#[test]
fn an_input_proposes_nothing_in_a_lost_cycle() {
    let options = alone(Matching::InputFirst, in_packets(Rules::Legacy, &[3]));
    let turns = "a0 a0 a0 -- a0 a0 a0 -- a0 a0";
    assert_eq!(contest(&all(1, 1, 1), &options, 10), [turns]);
    // it takes the outputs in turn, and neither of them in the fourth and the eighth cycle
    let turns = ["a0 -- a0 -- -- a0 -- -- a0", "-- a0 -- -- a0 -- a0 -- --"];
    assert_eq!(contest(&all(1, 1, 2), &options, 9), turns);
    // an input has lost its cycle while it was the turn of the other one
    let turns = "a0 b0 a0 b0 a0 b0 a0 b0 a0 b0";
    let options = alone(Matching::InputFirst, in_packets(Rules::Legacy, &[2]));
    assert_eq!(contest(&all(2, 1, 1), &options, 10), [turns]);
}

/// Two packets of two flits, then a lost cycle: the last one of three flits may be overdrawn. The host loses 4, 9, 14. The third
/// packet is there in 6 and requests in 7, which the switch loses, as it is not asked in 6; then 12, 17.
#[test]
fn every_place_of_the_tables_loses_its_cycles() {
    use Matching::{InputFirst, OutputFirst};
    let one = [
        (0, 4),
        (2, 6),
        (5, 10),
        (7, 12),
        (10, 15),
        (12, 17),
        (15, 20),
    ];
    // the third packet is in the output lane in 8, where the channel loses this cycle and grants in 9 and 11; the fifth one in 13
    let both = [
        (0, 4),
        (2, 6),
        (5, 11),
        (7, 13),
        (10, 16),
        (12, 18),
        (15, 21),
    ];
    for (matching, output_lane_buffer, places, expected) in [
        (OutputFirst, 0, Places::One, one),
        (OutputFirst, 16, Places::One, one),
        (InputFirst, 0, Places::One, one),
        (InputFirst, 16, Places::One, one),
        (InputFirst, 16, Places::InputsAndChannels, both),
    ] {
        for (unit, weight) in [(Unit::Blocks64, 3), (Unit::Flits, 3), (Unit::Packets, 2)] {
            let options = SwitchOptions {
                output_lane_buffer,
                ..alone(
                    matching,
                    VlArbitrationTables {
                        unit,
                        places,
                        ..in_packets(Rules::Legacy, &[weight])
                    },
                )
            };
            let (graph, tables) = chain(&[timing(1, 1), timing(1, 1)]);
            let plan = plan(vec![backlogged(&[0], 1, 2, 0)], options);
            let outcome = simulate(&plan, &graph, &tables, 100);
            let times = outcome.deliveries.iter();
            let times: Vec<(u64, u64)> = times.map(|d| (d.injected, d.delivered)).collect();
            assert_eq!(times[..7], expected, "{:?}", plan.switch);
        }
    }
}

/// Crossbar grants of lane 0 in 2, 4, 6, ..., of lane 1 in 3, 5, 7, ..., channel grants in 2, 4, 6, .... The first is of lane 0,
/// in whose input no other lane is: tables at inputs change nothing. With them at channels it has had its only packet.
#[test]
fn channels_behind_inputs_with_tables_have_a_choice_of_their_own() {
    let (graph, tables) = star(3, 2);
    for (places, expected) in [
        (Places::One, [0, 1, 0, 1, 0, 1, 0]),
        (Places::InputsAndChannels, [0, 1, 1, 0, 1, 1, 0]),
    ] {
        let options = SwitchOptions {
            matching: Matching::InputFirst,
            output_lane_buffer: 16,
            vl_arbitration: Some(VlArbitrationTables {
                places,
                ..in_packets(Rules::InfiniBand, &[1, 2])
            }),
            ..options(2)
        };
        let classes = vec![backlogged(&[0], 2, 2, 0), backlogged(&[1], 2, 2, 1)];
        let outcome = simulate(&plan(classes, options), &graph, &tables, 100);
        let mut found: Vec<(u64, u16)> = (outcome.deliveries.iter())
            .map(|delivery| (delivery.delivered, delivery.class))
            .collect();
        found.sort_unstable();
        let expected: Vec<(u64, u16)> = (4..).step_by(2).zip(expected).collect();
        assert_eq!(found[..7], expected, "{places:?}");
    }
}

/// Turns of so many outputs, which one input has packets for, each on a lane of its own: output 1 on lane 0, which is high, output
/// 0 on lane 1 and output 2 on lane 2. The input has accepted nothing before.
fn turns_of_one_input(accept: Accept, places: u16, outputs: u8, cycles: u64) -> Vec<String> {
    let flows: Vec<Flow> = (0..outputs)
        .zip([1, 0, 2])
        .map(|(output, lane)| Flow {
            contestant: 0,
            lane,
            output,
        })
        .collect();
    let options = SwitchOptions {
        input_speedup: InputSpeedup::Limited(places),
        vl_arbitration: Some(VlArbitrationTables {
            // without a weight lane 1 is low; one packet of lane 0 goes as a high one, the next one as a low one
            high: vec![(1, 0), (0, 1)],
            low: (0..outputs).map(|lane| (lane, 1)).collect(),
            accept,
            ..VlArbitrationTables::default()
        }),
        ..options(outputs)
    };
    contest(&flows, &options, cycles)
}

/// Two outputs want the input in the first cycle, and the one that is not accepted still does in the next one.
#[test]
fn an_input_accepts_its_high_lane_first() {
    let found = turns_of_one_input(Accept::InTurn, 1, 2, 6);
    assert_eq!(found, ["a1 -- a1 -- a1 --", "-- a0 -- a0 -- a0"]);
    let found = turns_of_one_input(Accept::HighFirst, 1, 2, 6);
    assert_eq!(found, ["-- -- -- -- -- --", "a0 a0 a0 a0 a0 a0"]);
}

/// Two of three grants in a cycle: in turn those of outputs 0 and 1, 2 and 0, 1 and 2. With the high one of output 1 first the
/// others share the second place: their turns go from the pointer of the cycle before, which moves past the one accepted last.
#[test]
fn an_input_with_two_places_accepts_its_high_lane_and_one_of_the_others_in_turn() {
    let found = turns_of_one_input(Accept::InTurn, 2, 3, 4);
    assert_eq!(found, ["a1 a1 -- a1", "a0 -- a0 a0", "-- a2 a2 --"]);
    let found = turns_of_one_input(Accept::HighFirst, 2, 3, 4);
    assert_eq!(found, ["a1 -- a1 --", "a0 a0 a0 a0", "-- a2 -- a2"]);
}

/// Packets of two and of six flits: of six packets for each lane or of six flits, three packets and one.
#[test]
fn lanes_share_by_packets_or_by_flits() {
    let (graph, tables) = star(3, 2);
    for rules in [Rules::InfiniBand, Rules::Legacy] {
        for (unit, share) in [
            (Unit::Packets, 0.5),
            (Unit::Flits, 0.75),
            (Unit::Blocks64, 0.75),
        ] {
            let options = SwitchOptions {
                vl_arbitration: Some(VlArbitrationTables {
                    unit,
                    ..in_packets(rules, &[6, 6])
                }),
                ..options(2)
            };
            let classes = vec![backlogged(&[0], 2, 2, 0), backlogged(&[1], 2, 6, 1)];
            let outcome = simulate(&plan(classes, options), &graph, &tables, 4_000);
            let of_lane_0 = outcome.deliveries.iter().filter(|d| d.class == 0).count();
            let found = of_lane_0 as f64 / outcome.deliveries.len() as f64;
            assert!((found - share).abs() < 0.01, "{rules:?} {unit:?} {found}");
        }
    }
}
