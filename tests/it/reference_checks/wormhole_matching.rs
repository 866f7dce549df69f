//! The reference model with input-first matching of single flits (D79) in cases computed by hand.

use super::wormhole::{delivered, options};
use super::{star_of, timing};
use virtlane::plan::{Allocation, Matching, OutputArbitration, Queues, SwitchOptions};

fn input_first(lanes: u8, output_arbitration: OutputArbitration, rounds: u8) -> SwitchOptions {
    SwitchOptions {
        matching: Matching::InputFirst,
        output_arbitration,
        allocation: Allocation::rounds(rounds),
        ..options(lanes, 32)
    }
}

/// Headers may leave in 2 and 3. In turn the output passes host 0 in 2, 4, 6 and 8, host 1 in 3, 5, 7 and 9. By the order of requests
/// host 0 has all turns, also with the flits behind its header. All are as old: lower inputs first.
#[test]
fn outputs_pick_flits_as_they_pick_headers() {
    for (choice, expected) in [
        (OutputArbitration::RoundRobin, [9, 10]),
        (OutputArbitration::FirstComeFirstServed, [6, 10]),
        (OutputArbitration::OldestFirst, [6, 10]),
    ] {
        let links = [timing(1, 1), timing(1, 2), timing(1, 1)];
        let packets = [(0, 2, 4, 0), (1, 2, 4, 1)];
        let times = delivered(&star_of(&links, 2), &packets, input_first(2, choice, 1));
        assert_eq!(times, expected, "{choice:?}");
    }
}

/// On one lane the second packet waits for the whole first one.
#[test]
fn a_lane_that_is_held_is_not_proposed_to() {
    let links = [timing(1, 1); 3];
    let packets = [(0, 2, 2, 0), (1, 2, 4, 0)];
    let options = input_first(1, OutputArbitration::RoundRobin, 1);
    assert_eq!(delivered(&star_of(&links, 1), &packets, options), [4, 8]);
}

/// Host 0 has all turns of the output to host 2 from 2 to 5. Input 1 has lane 0 for it from 2 on, and lane 1 for the one to host 3
/// from 3 on. With one round it proposes lane 0 as long as that has not gone: in 6 and 8, with lane 1 in 7 and 9. With two it proposes
/// lane 1 in the second one, in 3 and 4, and lane 0 goes in 6 and 7.
#[test]
fn an_input_proposes_another_lane_in_the_next_round() {
    let links = [timing(1, 1); 4];
    let packets = [(0, 2, 4, 1), (1, 2, 2, 0), (1, 3, 2, 1)];
    for (rounds, expected) in [(1, [6, 9, 10]), (2, [6, 8, 5])] {
        let options = input_first(2, OutputArbitration::FirstComeFirstServed, rounds);
        let times = delivered(&star_of(&links, 2), &packets, options);
        assert_eq!(times, expected, "{rounds}");
    }
}

/// The same with two queues of a lane: host 0 has the output to host 2 from 2 to 7. The packet to host 3 may leave in 4 and 5. With one
/// round it goes in turn with the other one: in 9 and 11, that in 8 and 10.
#[test]
fn an_input_proposes_another_output_in_the_next_round() {
    let links = [timing(1, 1); 4];
    let packets = [(0, 2, 6, 1), (1, 2, 2, 0), (1, 3, 2, 0)];
    for (rounds, expected) in [(1, [8, 11, 12]), (2, [8, 10, 6])] {
        let options = SwitchOptions {
            queues: Queues::Voq,
            ..input_first(2, OutputArbitration::FirstComeFirstServed, rounds)
        };
        let times = delivered(&star_of(&links, 2), &packets, options);
        assert_eq!(times, expected, "{rounds}");
    }
}
