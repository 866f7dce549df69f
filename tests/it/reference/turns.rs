//! Whose turn it is at one output.
//!
//! D6 (by inputs or by lanes, VL15 first), D7 (the request within an output lane), D9 (`reserve`), D5 (which of these
//! pointers move in which round).

use super::lane_choice::LaneChoice;
use super::output::Output;
use super::request::{Request, of};
use virtlane::rng::{Stream, below};
use virtlane::scenario::plan::{OutputArbitration, SwitchOptions};

/// A request that an output (output-first) or an input (input-first) has picked, with the choice of the output lane
/// (output-first) or input lane (input-first).
pub(super) type Proposal = (Request, LaneChoice);

/// D6: the request that an output picks among its requests, with the choice of the output lane.
pub(super) fn output_picks(
    options: &SwitchOptions,
    output: &mut Output,
    requests: &[Request],
) -> Option<Proposal> {
    if turns_by_inputs(options) {
        picks_by_inputs(options, output, requests)
    } else {
        picks_by_lanes(options, output, requests)
    }
}

/// D6: whether outputs take their turns by inputs, not by lanes.
fn turns_by_inputs(options: &SwitchOptions) -> bool {
    let tables_act_here = options.vl_arbitration.is_some() && options.output_lane_buffer == 0;
    options.output_arbitration == OutputArbitration::RoundRobin
        && !options.reserve
        && !tables_act_here
}

/// Whether a request is one for VL15.
fn is_management(options: &SwitchOptions, request: &Request) -> bool {
    request.way.lane == usize::from(options.lanes)
}

/// D6, by inputs: VL15 first; then an input, one of its lanes, and of what its head requests the output lane.
fn picks_by_inputs(
    options: &SwitchOptions,
    output: &Output,
    requests: &[Request],
) -> Option<Proposal> {
    let lanes = usize::from(options.lane_count());
    let eligible = of(requests, |request| request.fits);
    let management = of(&eligible, |request| is_management(options, request));
    let mine = if management.is_empty() {
        let inputs: Vec<usize> = eligible.iter().map(|request| request.input).collect();
        let input = first_from(output.input_pointer, &inputs)?;
        let mine = of(&eligible, |request| request.input == input);
        let input_lanes: Vec<usize> = mine.iter().map(|request| request.input_lane).collect();
        let input_lane = first_from(output.input_lane_pointers[input], &input_lanes)?;
        of(&mine, |request| request.input_lane == input_lane)
    } else {
        let pointer = output.request_pointers[usize::from(options.lanes)];
        vec![deterministic_winner(options, pointer, &management)?]
    };
    let queue = mine[0].queue;
    assert!(mine.iter().all(|request| request.queue == queue), "D4");
    let requested: Vec<bool> = (0..lanes)
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

/// D6, by lanes, with D7 and D9: the output lane, then the request within it.
fn picks_by_lanes(
    options: &SwitchOptions,
    output: &mut Output,
    requests: &[Request],
) -> Option<Proposal> {
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

/// D5, D6, D7: what an accepted grant moves at its output: over lanes in every round, over inputs in the first.
pub(super) fn move_on(
    options: &SwitchOptions,
    output: &mut Output,
    request: &Request,
    choice: LaneChoice,
    is_first: bool,
) {
    output.chooser.accepted(choice, request.bytes);
    if turns_by_inputs(options) && !is_management(options, request) {
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
