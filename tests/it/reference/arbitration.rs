//! Who is granted in one cycle at one switch.
//!
//! Model rules 6 (eligibility), 7 (matching), 8 (state moves on accepted grants only), 9 (unlimited
//! input speed-up), D3 (accept), D5 (iterations), D6 and D7 (output-first), D8 (input-first), D9
//! (`reserve`), D18 (open output lanes), D20 (which grant an input accepts).

use super::Setting;
use super::lane_choice::LaneChoice;
use super::link::Link;
use super::packet::Packet;
use super::switch::{Grant, Switch, Way};
use virtlane::rng::below;
use virtlane::scenario::plan::{InputSpeedup, Matching, OutputArbitration, SwitchOptions};

/// A head that requests an open output and whose input has a place left; one for each way it requests.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) input: usize,
    pub(super) queue: usize,
    pub(super) way: Way,
    input_lane: usize,
    bytes: u64,
    requested: u64,
    created: u64,
    /// Whether it fits the credits of its output lane now, and the buffer of that lane is open for it (D18).
    fits: bool,
    /// What an input looks at before its round robin, the smallest accepted: of an open head's requests
    /// (D20) whether it is for escape and the load there, the same for all others.
    preference: (bool, u64),
}

impl Request {
    /// Place in a round robin over (input, input lane).
    fn place(&self, lanes: usize) -> usize {
        self.input * lanes + self.input_lane
    }
}

/// A request that an output (output-first) or an input (input-first) has picked, with the lane choice.
type Proposal = (Request, LaneChoice);

/// Stage Arbitrate of one switch: all rounds; returns the grants.
pub(super) fn arbitrate(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &mut [Link],
    packets: &[Packet],
    now: u64,
) -> Vec<Grant> {
    let options = &setting.plan.switch;
    let mut grants = Vec::new();
    for _ in 0..options.iterations {
        let requests = requests(setting, switch, links, packets, now);
        let accepted = match options.matching {
            Matching::OutputFirst => output_first(options, switch, &requests),
            Matching::InputFirst => input_first(options, switch, &requests),
        };
        for request in accepted {
            grants.push(switch.grant(options, links, packets, &request, now));
        }
    }
    grants
}

/// Packets that `input` can still start now; `None` = no limit.
fn places_left(options: &SwitchOptions, switch: &Switch, input: usize) -> Option<usize> {
    match options.input_speedup {
        InputSpeedup::Unlimited => None,
        InputSpeedup::Limited(places) => {
            let left = usize::from(places).checked_sub(switch.leaving(input));
            Some(left.expect("more packets leave an input than its speed-up allows"))
        }
    }
}

/// All requests of one round, by (input, input lane), those of one head in the engine's order.
fn requests(
    setting: Setting<'_>,
    switch: &Switch,
    links: &[Link],
    packets: &[Packet],
    now: u64,
) -> Vec<Request> {
    let options = &setting.plan.switch;
    let mut all = Vec::new();
    for (index, input) in switch.inputs.iter().enumerate() {
        let Some(input) = input else { continue };
        if places_left(options, switch, index) == Some(0) {
            continue;
        }
        for (queue_index, queue) in input.queues.iter().enumerate() {
            let Some((head, requested)) = queue.request(now) else {
                continue;
            };
            assert!(!head.ways.is_empty(), "a head without a way");
            for &way in &head.ways {
                let output = switch.outputs[way.output].as_ref().expect("connected");
                if !output.is_open(now, options) {
                    continue;
                }
                let (packet, link) = (&packets[head.packet], &links[output.channel]);
                all.push(Request {
                    input: index,
                    queue: queue_index,
                    way,
                    input_lane: queue.lane,
                    bytes: u64::from(packet.size) * u64::from(setting.plan.flit_bytes),
                    requested,
                    created: packet.created,
                    fits: link.fits(way.lane, packet.size) && output.takes(way.lane, packet.size),
                    preference: if setting.routing.is_open() {
                        // an open output had no grant in this cycle, so its credits are those before arbitration
                        (way.escape, link.load(way.lane))
                    } else {
                        (false, 0)
                    },
                });
            }
        }
    }
    all
}

/// Rule 7, output-first: outputs pick, inputs accept; returns the accepted requests.
fn output_first(
    options: &SwitchOptions,
    switch: &mut Switch,
    requests: &[Request],
) -> Vec<Request> {
    let lanes = usize::from(options.lane_count());
    let mut proposals = Vec::new();
    for output in 0..switch.outputs.len() {
        let mine: Vec<Request> = of(requests, |request| request.way.output == output);
        if !mine.is_empty() {
            proposals.extend(output_picks(options, switch, output, &mine));
        }
    }
    let accepted = match options.input_speedup {
        InputSpeedup::Unlimited => proposals,
        InputSpeedup::Limited(_) => inputs_accept(options, switch, &proposals),
    };
    for (request, choice) in &accepted {
        let output = switch.outputs[request.way.output]
            .as_mut()
            .expect("connected");
        output.chooser.accepted(*choice, request.bytes);
        output.request_pointers[request.way.lane] = request.place(lanes) + 1;
    }
    accepted.into_iter().map(|(request, _)| request).collect()
}

/// D6, D7, D9: the lane of an output, then the request within it.
fn output_picks(
    options: &SwitchOptions,
    switch: &mut Switch,
    output: usize,
    requests: &[Request],
) -> Option<Proposal> {
    let lanes = usize::from(options.lane_count());
    let state = switch.outputs[output].as_mut().expect("connected");
    // the requests among which the winner of each lane will be chosen
    let mut candidates: Vec<Vec<Request>> = (0..lanes)
        .map(|lane| of(requests, |request| request.way.lane == lane))
        .collect();
    if options.reserve {
        assert_ne!(options.output_arbitration, OutputArbitration::Random, "D9");
        for (lane, candidates) in candidates.iter_mut().enumerate() {
            let pointer = state.request_pointers[lane];
            let winner = deterministic_winner(options, pointer, candidates);
            *candidates = winner.into_iter().filter(|request| request.fits).collect();
        }
    } else {
        for candidates in &mut candidates {
            candidates.retain(|request| request.fits);
        }
    }
    let eligible: Vec<bool> = candidates.iter().map(|lane| !lane.is_empty()).collect();
    let choice = state.chooser.choose(&eligible)?;
    let candidates = &candidates[choice.lane];
    let winner = if options.output_arbitration == OutputArbitration::Random {
        draw(&mut state.stream, candidates)
    } else {
        deterministic_winner(options, state.request_pointers[choice.lane], candidates)
    };
    Some((winner?, choice))
}

/// D3: each input accepts as many proposals as it has places, round robin over outputs after preference (D20).
fn inputs_accept(
    options: &SwitchOptions,
    switch: &mut Switch,
    proposals: &[Proposal],
) -> Vec<Proposal> {
    let outputs = switch.outputs.len();
    let mut accepted = Vec::new();
    for index in 0..switch.inputs.len() {
        let places = places_left(options, switch, index).expect("limited");
        let Some(input) = switch.inputs[index].as_mut() else {
            continue;
        };
        let mut mine: Vec<&Proposal> = proposals.iter().filter(|p| p.0.input == index).collect();
        for _ in 0..places {
            let pointer = input.accept_pointer;
            let key = |request: &Request| {
                let turn = (request.way.output + outputs - pointer) % outputs;
                (request.preference, turn)
            };
            let next = (0..mine.len()).min_by_key(|&index| key(&mine[index].0));
            let Some(next) = next else { break };
            let proposal = mine.remove(next);
            input.accept_pointer = proposal.0.way.output + 1;
            accepted.push(proposal.clone());
        }
    }
    accepted
}

/// D8, input-first: inputs propose, outputs pick; returns the picked requests.
fn input_first(options: &SwitchOptions, switch: &mut Switch, requests: &[Request]) -> Vec<Request> {
    assert_ne!(options.input_speedup, InputSpeedup::Unlimited, "D8");
    assert!(!options.reserve, "D9");
    let lanes = usize::from(options.lane_count());
    let outputs = switch.outputs.len();
    let proposals: Vec<Proposal> = (0..switch.inputs.len())
        .filter_map(|input| input_proposes(lanes, switch, input, requests))
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
        state.proposal_pointer = winner.place(lanes) + 1;
        let (_, choice) = proposals
            .iter()
            .find(|p| p.0.input == winner.input)
            .expect("one proposal per input");
        let input = switch.inputs[winner.input].as_mut().expect("connected");
        input.chooser.accepted(*choice, winner.bytes);
        input.output_pointers[winner.input_lane] = (output + 1) % outputs;
        picked.push(winner);
    }
    picked
}

/// The one proposal of an input: a lane, then (VOQ) an output by round robin.
fn input_proposes(
    lanes: usize,
    switch: &Switch,
    index: usize,
    requests: &[Request],
) -> Option<Proposal> {
    let input = switch.inputs[index].as_ref()?;
    let mine = of(requests, |request| request.input == index && request.fits);
    let eligible: Vec<bool> = (0..lanes)
        .map(|lane| mine.iter().any(|request| request.input_lane == lane))
        .collect();
    let choice = input.chooser.choose(&eligible)?;
    let mine = of(&mine, |request| request.input_lane == choice.lane);
    let pointer = input.output_pointers[choice.lane];
    let outputs = switch.outputs.len();
    let request = (0..outputs)
        .map(|step| (pointer + step) % outputs)
        .find_map(|output| mine.iter().find(|request| request.way.output == output))?;
    Some((request.clone(), choice))
}

/// D7 without randomness: round robin from `pointer`, first come first served, or oldest first.
fn deterministic_winner(
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
fn draw(stream: &mut virtlane::rng::Stream, candidates: &[Request]) -> Option<Request> {
    match candidates {
        [] => None,
        [only] => Some(only.clone()),
        several => Some(several[below(stream, several.len() as u32) as usize].clone()),
    }
}

fn of(requests: &[Request], which: impl Fn(&Request) -> bool) -> Vec<Request> {
    let chosen = requests.iter().filter(|request| which(request));
    chosen.cloned().collect()
}
