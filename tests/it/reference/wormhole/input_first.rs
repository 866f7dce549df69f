//! Input-first matching of single flits (D79): every input proposes one, of a header that requests several outputs for one of them
//! (D82); outputs pick among the proposals.

use super::may_leave;
use super::ready::{Next, has_room, is_open};
use super::switch::{Pick, one_flit};
use crate::reference::Setting;
use crate::reference::arbitration::place_of;
use crate::reference::lane_choice::LaneChoice;
use crate::reference::link::Link;
use crate::reference::packet::{Flit, Packet};
use crate::reference::request::{Request, of};
use crate::reference::switch::{Switch, Way};
use crate::reference::turns::{deterministic_winner, draw};
use virtlane::plan::{InputSpeedup, OutputArbitration};

/// What an input proposes, with the choice of its lane.
#[derive(Clone, Debug)]
struct Proposal {
    request: Request,
    next: Next,
    choice: LaneChoice,
}

/// One round; returns what passes: what outputs have picked.
pub(super) fn input_first(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &[Link],
    packets: &[Packet],
    (is_first, now): (bool, u64),
) -> Vec<Pick> {
    let options = &setting.plan.switch;
    assert_ne!(options.input_speedup, InputSpeedup::Unlimited, "D8");
    assert!(!options.reserve, "D9");
    let mut proposals = Vec::new();
    for input in 0..switch.inputs.len() {
        proposals.extend(propose(setting, switch, links, (packets, input), now));
    }
    let mut picks = Vec::new();
    for output in 0..switch.outputs.len() {
        let mine = proposals.iter().map(|proposal| &proposal.request);
        let mine: Vec<Request> = mine.cloned().collect();
        let mine = of(&mine, |request| request.way.output == output);
        let Some(state) = switch.outputs[output].as_mut() else {
            assert!(mine.is_empty(), "a proposal to nothing");
            continue;
        };
        let winner = if options.output_arbitration == OutputArbitration::Random {
            draw(&mut state.stream, &mine)
        } else {
            deterministic_winner(options, state.proposal_pointer, &mine)
        };
        let Some(winner) = winner else { continue };
        let mut all = proposals.iter();
        let picked = all.find(|proposal| proposal.request.input == winner.input);
        let picked = picked.expect("one proposal of each input");
        move_pointers(setting, switch, picked, is_first);
        picks.push(Pick {
            output,
            lane: winner.way.lane,
            next: picked.next,
        });
    }
    picks
}

/// The proposal of an input: a lane of it, then with VOQ an output, or of an open header one of its requests (D82).
fn propose(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &[Link],
    (packets, number): (&[Packet], usize),
    now: u64,
) -> Option<Proposal> {
    let queues = switch.inputs[number].as_ref()?.queues.len();
    let eligible: Vec<(Request, Next)> = (0..queues)
        .flat_map(|queue| eligible(setting, switch, links, (packets, number, queue), now))
        .collect();
    let lanes = 0..usize::from(setting.plan.switch.lane_count());
    let has_some = |lane| eligible.iter().any(|(one, _)| one.input_lane == lane);
    let lanes: Vec<bool> = lanes.map(has_some).collect();
    let outputs = switch.outputs.len();
    let input = switch.inputs[number].as_mut().expect("connected");
    let choice = input.chooser.choose(&lanes)?;
    let mine = eligible
        .into_iter()
        .filter(|(one, _)| one.input_lane == choice.lane);
    let next = if setting.routing.is_open() {
        let pointer = input.request_pointers[choice.lane];
        // those before the pointer come after all others
        mine.min_by_key(|(one, _)| {
            let place = place_of(one, outputs);
            (one.preference, place < pointer, place)
        })
    } else {
        let pointer = input.output_pointers[choice.lane];
        mine.min_by_key(|(one, _)| (one.way.output + outputs - pointer) % outputs)
    };
    let (request, next) = next.expect("an eligible queue");
    Some(Proposal {
        request,
        next,
        choice,
    })
}

/// What a queue of an input could pass now: the next flit of a packet that holds an output lane, or its header, once for each request
/// that is eligible.
fn eligible(
    setting: Setting<'_>,
    switch: &Switch,
    links: &[Link],
    (packets, number, index): (&[Packet], usize, usize),
    now: u64,
) -> Vec<(Request, Next)> {
    let input = switch.inputs[number].as_ref().expect("connected");
    let queue = &input.queues[index];
    if queue.packets.is_empty() {
        // what holds an output lane is the first of its queue
        return Vec::new();
    }
    let holder = switch.ports.held_from(number, index);
    let flits: Vec<(Way, Next)> = match (holder, queue.request(now)) {
        (Some(passing), requests) => {
            assert!(requests.is_none(), "one packet of a queue at a time");
            vec![passing]
        }
        (None, Some((head, since))) => {
            assert!(!head.ways.is_empty(), "a header without a way");
            let header = |&way: &Way| {
                let flit = Flit {
                    packet: head.packet,
                    index: 0,
                };
                let next = Next {
                    input: number,
                    queue: index,
                    flit,
                    requested: since,
                    asks_escape: way.escape,
                };
                (way, next)
            };
            head.ways.iter().map(header).collect()
        }
        (None, None) => Vec::new(),
    };
    let flits = flits.into_iter();
    let flits = flits.filter(|flit| may_go(setting, switch, links, flit, now));
    flits
        .map(|(way, next)| {
            let output = switch.outputs[way.output].as_ref().expect("connected");
            // an output that is proposed to has passed no flit of this cycle
            let downstream = links[output.channel].downstream(way.lane);
            let request = Request {
                input: number,
                queue: index,
                packet: next.flit.packet,
                way,
                input_lane: queue.lane,
                size: one_flit(setting),
                requested: next.requested,
                created: packets[next.flit.packet].created,
                fits: true,
                preference: if setting.routing.is_open() {
                    (way.escape, downstream)
                } else {
                    (false, 0)
                },
            };
            (request, next)
        })
        .collect()
}

/// Whether a flit could pass now: that of a packet which holds the output lane, or a header that requests it.
fn may_go(
    setting: Setting<'_>,
    switch: &Switch,
    links: &[Link],
    (way, next): &(Way, Next),
    now: u64,
) -> bool {
    let (options, ports) = (&setting.plan.switch, &switch.ports);
    let input = switch.inputs[next.input].as_ref().expect("connected");
    let output = switch.outputs[way.output].as_ref().expect("connected");
    let has_lane = if next.flit.index > 0 {
        links[output.channel].fits(way.lane, 1)
    } else {
        !ports.is_held(way.output, way.lane) && has_room(setting, switch, links, way)
    };
    has_lane
        && output.is_open(now, options)
        && is_open(output, way.lane, now)
        && may_leave(options, &links[input.channel], next.flit, now)
        && ports.is_free(options, (next.input, next.flit.packet), now)
}

/// What a flit that passes moves, header or not; the pointer over requests with a header only.
fn move_pointers(setting: Setting<'_>, switch: &mut Switch, picked: &Proposal, is_first: bool) {
    let Request {
        input: number,
        input_lane,
        way: Way { output, .. },
        ..
    } = picked.request;
    let outputs = switch.outputs.len();
    let input = switch.inputs[number].as_mut().expect("connected");
    input.chooser.accepted(picked.choice, one_flit(setting));
    input.output_pointers[input_lane] = (output + 1) % outputs;
    // of one request there is nothing to choose (D83)
    if picked.next.flit.index == 0 && input_lane < usize::from(setting.plan.switch.lanes) {
        input.request_pointers[input_lane] = place_of(&picked.request, outputs) + 1;
    }
    if is_first {
        let lanes = usize::from(setting.plan.switch.lane_count());
        let state = switch.outputs[output].as_mut().expect("connected");
        state.proposal_pointer = picked.request.place(lanes) + 1;
    }
}
