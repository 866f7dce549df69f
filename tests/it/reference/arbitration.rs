//! Who is granted in one cycle at one switch: rounds of matching.
//!
//! Model rules 7 (matching), 8 (state moves on accepted grants only), 9 (unlimited input speed-up), D3 (accept), D5
//! (iterations; which pointers move in which round), D8 (input-first), D20 and D71 (which grant an input accepts). Which
//! request an output picks is in `turns`.

use super::Setting;
use super::claims::{Walked, walk};
use super::grant_kind::GrantKind;
use super::input::Input;
use super::lane_choice::LaneChoice;
use super::link::Link;
use super::packet::Packet;
use super::request::{Request, of, places_left, requests};
use super::switch::{Grant, Switch};
use super::turns::{Turn, deterministic_winner, draw, move_on, output_picks};
use virtlane::plan::{InputSpeedup, Matching, OutputArbitration, SwitchOptions};

/// A request that an input proposes (input-first), with the choice of its lane.
type Proposal = (Request, LaneChoice);

/// Stage Arbitrate of one switch: the walk of its claims, and all rounds; returns the grants.
pub(super) fn arbitrate(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &mut [Link],
    packets: &[Packet],
    now: u64,
) -> Vec<Grant> {
    let options = &setting.plan.switch;
    let mut walked = walk(setting, switch, links, packets, now);
    let mut grants = std::mem::take(&mut walked.grants);
    for round in 0..options.allocation.iterations {
        let is_first = round == 0;
        let requests = requests(setting, switch, links, packets, &walked, now);
        let accepted = match options.matching {
            Matching::OutputFirst => output_first(setting, switch, &walked, &requests, is_first),
            Matching::InputFirst => input_first(setting, switch, &requests, is_first),
        };
        for request in accepted {
            grants.push(switch.grant(options, links, packets, &request, now));
        }
    }
    grants
}

/// Rule 7, output-first: outputs pick, inputs accept; returns the accepted requests.
fn output_first(
    setting: Setting<'_>,
    switch: &mut Switch,
    walked: &Walked,
    requests: &[Request],
    is_first: bool,
) -> Vec<Request> {
    let (options, is_open) = (&setting.plan.switch, setting.routing.is_open());
    let mut turns = Vec::new();
    for output in 0..switch.outputs.len() {
        let mine: Vec<Request> = of(requests, |request| request.way.output == output);
        let Some(state) = switch.outputs[output].as_mut() else {
            assert!(mine.is_empty(), "a request for nothing");
            continue;
        };
        turns.extend(output_picks(options, state, &mine));
    }
    let accepted = match options.input_speedup {
        InputSpeedup::Unlimited if !is_open => turns,
        _ => inputs_accept(options, switch, walked, &turns, is_first),
    };
    for turn in &accepted {
        let output = &mut switch.outputs[turn.request.way.output];
        let state = output.as_mut().expect("connected");
        move_on(options, state, turn, is_first);
    }
    accepted.into_iter().map(|turn| turn.request).collect()
}

/// D3: each input accepts as many grants as it has places, by their kind (D71), then by preference (D20), then round robin
/// over outputs from where its pointer was before the round. It moves with each of them, in the first round only (D5). One
/// grant of a head is accepted, through whichever queue it comes (D84), and with unlimited speed-up one of each head (D80).
fn inputs_accept(
    options: &SwitchOptions,
    switch: &mut Switch,
    walked: &Walked,
    turns: &[Turn],
    is_first: bool,
) -> Vec<Turn> {
    let outputs = switch.outputs.len();
    let mut accepted = Vec::new();
    for index in 0..switch.inputs.len() {
        let places = places_left(options, switch, walked, index);
        let Some(input) = switch.inputs[index].as_mut() else {
            continue;
        };
        let places = places.unwrap_or(input.queues.len());
        let mine = turns.iter().filter(|turn| turn.request.input == index);
        let mut mine: Vec<&Turn> = mine.collect();
        let pointer = input.accept_pointer;
        for _ in 0..places {
            let key = |request: &Request| {
                let kind = GrantKind::of(options, request.way.lane);
                let turn = (request.way.output + outputs - pointer) % outputs;
                (kind, request.preference, turn)
            };
            let next = (0..mine.len()).min_by_key(|&index| key(&mine[index].request));
            let Some(next) = next else { break };
            let turn = mine.remove(next);
            mine.retain(|other| other.request.packet != turn.request.packet);
            if is_first {
                input.accept_pointer = turn.request.way.output + 1;
            }
            accepted.push(turn.clone());
        }
    }
    accepted
}

/// D8, input-first: inputs propose, outputs pick; returns the picked requests.
fn input_first(
    setting: Setting<'_>,
    switch: &mut Switch,
    requests: &[Request],
    is_first: bool,
) -> Vec<Request> {
    let (options, is_open) = (&setting.plan.switch, setting.routing.is_open());
    assert_ne!(options.input_speedup, InputSpeedup::Unlimited, "D8");
    assert!(!options.reserve, "D9");
    let lanes = usize::from(options.lane_count());
    let outputs = switch.outputs.len();
    let inputs = switch.inputs.iter_mut().enumerate();
    let proposals: Vec<Proposal> = inputs
        .filter_map(|(number, input)| {
            let mine = of(requests, |request| request.input == number && request.fits);
            input_proposes(input.as_mut()?, &mine, (lanes, outputs), is_open)
        })
        .collect();
    let mut picked = Vec::new();
    for output in 0..outputs {
        let Some(state) = switch.outputs[output].as_mut() else {
            continue;
        };
        let mine = proposals.iter().filter(|p| p.0.way.output == output);
        let mine: Vec<Request> = mine.map(|p| p.0.clone()).collect();
        let winner = if options.output_arbitration == OutputArbitration::Random {
            draw(&mut state.stream, &mine)
        } else {
            deterministic_winner(options, state.proposal_pointer, &mine)
        };
        let Some(winner) = winner else { continue };
        let (_, choice) = proposals
            .iter()
            .find(|p| p.0.input == winner.input)
            .expect("one proposal per input");
        let input = switch.inputs[winner.input].as_mut().expect("connected");
        input.chooser.accepted(*choice, winner.size);
        input.output_pointers[winner.input_lane] = (output + 1) % outputs;
        input.request_pointers[winner.input_lane] = place_of(&winner, outputs) + 1;
        if is_first {
            state.proposal_pointer = winner.place(lanes) + 1;
        }
        picked.push(winner);
    }
    picked
}

/// D80, D82: place of a request in a round robin over (output lane, output).
pub(super) fn place_of(request: &Request, outputs: usize) -> usize {
    request.way.lane * outputs + request.way.output
}

/// The one proposal of an input with these eligible requests: a lane, then (VOQ) an output by round robin, or of the head of an open
/// engine one of its requests (D80), with VOQ of all heads of the lane (D84). With D54 it moves its tables here, whoever is picked then, and proposes nothing in a bubble.
fn input_proposes(
    input: &mut Input,
    mine: &[Request],
    (lanes, outputs): (usize, usize),
    is_open: bool,
) -> Option<Proposal> {
    let eligible: Vec<bool> = (0..lanes)
        .map(|lane| mine.iter().any(|request| request.input_lane == lane))
        .collect();
    let choice = input.chooser.choose(&eligible)?;
    let mine = of(mine, |request| request.input_lane == choice.lane);
    if is_open {
        let pointer = input.request_pointers[choice.lane];
        let key = |request: &&Request| {
            let place = place_of(request, outputs);
            (request.preference, place < pointer, place)
        };
        return Some((mine.iter().min_by_key(key)?.clone(), choice));
    }
    let pointer = input.output_pointers[choice.lane];
    let request = (0..outputs)
        .map(|step| (pointer + step) % outputs)
        .find_map(|output| mine.iter().find(|request| request.way.output == output))?;
    Some((request.clone(), choice))
}
