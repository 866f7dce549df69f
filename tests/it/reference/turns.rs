//! Whose turn it is at one output.
//!
//! D6 (by inputs or by lanes, VL15 first), D7 (the request within an output lane), D9 (`reserve`), D5 (which of these
//! pointers move in which round).

use super::lane_choice::LaneChoice;
use super::output::Output;
use super::request::{Request, of};
use virtlane::plan::{OutputArbitration, SwitchOptions};
use virtlane::rng::{Stream, below};

/// What an output picks in one round of output-first matching.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) request: Request,
    /// The choice of the output lane.
    choice: LaneChoice,
    /// Whether it was picked by inputs, not by lanes (D6).
    by_inputs: bool,
}

/// D6: what an output picks among all requests for it.
pub(super) fn output_picks(
    options: &SwitchOptions,
    output: &mut Output,
    requests: &[Request],
) -> Option<Turn> {
    let by_inputs = turns_by_inputs(options, requests);
    let (request, choice) = if by_inputs {
        picks_by_inputs(options, output, requests)?
    } else {
        picks_by_lanes(options, output, requests)?
    };
    Some(Turn {
        request,
        choice,
        by_inputs,
    })
}

/// D6: whether the output takes this turn by inputs. VL15, when it goes, is a turn by lanes: its lane is the first.
fn turns_by_inputs(options: &SwitchOptions, requests: &[Request]) -> bool {
    let tables_act_here = options.vl_arbitration.is_some() && options.output_lane_buffer == 0;
    options.output_arbitration == OutputArbitration::RoundRobin
        && !options.reserve
        && !tables_act_here
        // all for data lanes are eligible, none for VL15 is
        && requests
            .iter()
            .all(|request| request.fits != is_management(options, request))
}

/// Whether a request is one for VL15.
fn is_management(options: &SwitchOptions, request: &Request) -> bool {
    request.way.lane == usize::from(options.lanes)
}

/// D6, by inputs: an input, one of its lanes, and of what its head requests the output lane.
fn picks_by_inputs(
    options: &SwitchOptions,
    output: &mut Output,
    requests: &[Request],
) -> Option<(Request, LaneChoice)> {
    let data = of(requests, |request| !is_management(options, request));
    let inputs: Vec<usize> = data.iter().map(|request| request.input).collect();
    let input = first_from(output.input_pointer, &inputs)?;
    let mine = of(&data, |request| request.input == input);
    let input_lanes: Vec<usize> = mine.iter().map(|request| request.input_lane).collect();
    let input_lane = first_from(output.input_lane_pointers[input], &input_lanes)?;
    let mine = of(&mine, |request| request.input_lane == input_lane);
    let queue = mine[0].queue;
    assert!(mine.iter().all(|request| request.queue == queue), "D4");
    let requested: Vec<bool> = (0..usize::from(options.lanes))
        .map(|lane| mine.iter().any(|request| request.way.lane == lane))
        .collect();
    let choice = output.chooser.choose(&requested)?;
    let winner = mine.into_iter().find(|r| r.way.lane == choice.lane);
    Some((winner.expect("chosen among its lanes"), choice))
}

/// Round robin: the smallest number that is not below the pointer, else the smallest.
fn first_from(pointer: usize, numbers: &[usize]) -> Option<usize> {
    let numbers = numbers.iter().copied();
    numbers.min_by_key(|&number| (number < pointer, number))
}

/// D6, by lanes (VL15 first), with D7 and D9: the output lane, then the request within it.
fn picks_by_lanes(
    options: &SwitchOptions,
    output: &mut Output,
    requests: &[Request],
) -> Option<(Request, LaneChoice)> {
    let lanes = usize::from(options.lane_count());
    // the requests among which the winner of each lane will be chosen
    let mut candidates: Vec<Vec<Request>> = (0..lanes)
        .map(|lane| of(requests, |request| request.way.lane == lane))
        .collect();
    if options.reserve {
        assert_ne!(options.output_arbitration, OutputArbitration::Random, "D9");
        for (lane, candidates) in candidates.iter_mut().enumerate() {
            let pointer = output.request_pointers[lane];
            let winner = deterministic_winner(options, pointer, candidates);
            *candidates = winner.into_iter().filter(|request| request.fits).collect();
        }
    } else {
        for candidates in &mut candidates {
            candidates.retain(|request| request.fits);
        }
    }
    let eligible: Vec<bool> = candidates.iter().map(|lane| !lane.is_empty()).collect();
    let choice = output.chooser.choose(&eligible)?;
    let candidates = &candidates[choice.lane];
    let winner = if options.output_arbitration == OutputArbitration::Random {
        draw(&mut output.stream, candidates)
    } else {
        deterministic_winner(options, output.request_pointers[choice.lane], candidates)
    };
    Some((winner?, choice))
}

/// D5, D6, D7: what an accepted grant moves at its output. Of the two forms only the one that has chosen moves its
/// pointers; those over inputs and those of D7 in the first round only, those over lanes in every round.
pub(super) fn move_on(options: &SwitchOptions, output: &mut Output, turn: &Turn, is_first: bool) {
    let request = &turn.request;
    output.chooser.accepted(turn.choice, request.size);
    if turn.by_inputs {
        output.input_lane_pointers[request.input] = request.input_lane + 1;
        if is_first {
            output.input_pointer = request.input + 1;
        }
    } else if is_first {
        let place = request.place(usize::from(options.lane_count()));
        output.request_pointers[request.way.lane] = place + 1;
    }
}

/// D7 without randomness: round robin from `pointer`, first come first served, or oldest first.
pub(super) fn deterministic_winner(
    options: &SwitchOptions,
    pointer: usize,
    candidates: &[Request],
) -> Option<Request> {
    let lanes = usize::from(options.lane_count());
    let key = |request: &Request| {
        let place = request.place(lanes);
        match options.output_arbitration {
            // those before the pointer come after all others
            OutputArbitration::RoundRobin => (u64::from(place < pointer), place),
            OutputArbitration::FirstComeFirstServed => (request.requested, place),
            OutputArbitration::OldestFirst => (request.created, place),
            OutputArbitration::Random => unreachable!("drawn"),
        }
    };
    candidates
        .iter()
        .min_by_key(|request| key(request))
        .cloned()
}

/// D7, random: one draw when there are two or more, in (input, lane) order.
pub(super) fn draw(stream: &mut Stream, candidates: &[Request]) -> Option<Request> {
    match candidates {
        [] => None,
        [only] => Some(only.clone()),
        several => Some(several[below(stream, several.len() as u32) as usize].clone()),
    }
}
