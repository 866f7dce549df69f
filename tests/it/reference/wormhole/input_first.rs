//! Input-first matching of single flits (D79): every input proposes one, outputs pick among the proposals.

use super::may_leave;
use super::ready::{Next, is_open};
use super::switch::{Pick, one_flit};
use crate::reference::Setting;
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

/// The proposal of an input: a lane of it, and with VOQ an output.
fn propose(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &[Link],
    (packets, number): (&[Packet], usize),
    now: u64,
) -> Option<Proposal> {
    let queues = switch.inputs[number].as_ref()?.queues.len();
    let eligible: Vec<(Request, Next)> = (0..queues)
        .filter_map(|queue| eligible(setting, switch, links, (packets, number, queue), now))
        .collect();
    let lanes = 0..usize::from(setting.plan.switch.lane_count());
    let has_some = |lane| eligible.iter().any(|(one, _)| one.input_lane == lane);
    let lanes: Vec<bool> = lanes.map(has_some).collect();
    let outputs = switch.outputs.len();
    let input = switch.inputs[number].as_mut().expect("connected");
    let choice = input.chooser.choose(&lanes)?;
    let pointer = input.output_pointers[choice.lane];
    let mine = eligible
        .into_iter()
        .filter(|(one, _)| one.input_lane == choice.lane);
    let next = mine.min_by_key(|(one, _)| (one.way.output + outputs - pointer) % outputs);
    let (request, next) = next.expect("an eligible queue");
    Some(Proposal {
        request,
        next,
        choice,
    })
}

/// The flit that a queue of an input could pass now, with its output lane, if it is eligible.
fn eligible(
    setting: Setting<'_>,
    switch: &Switch,
    links: &[Link],
    (packets, number, index): (&[Packet], usize, usize),
    now: u64,
) -> Option<(Request, Next)> {
    let (options, ports) = (&setting.plan.switch, &switch.ports);
    let input = switch.inputs[number].as_ref().expect("connected");
    let queue = &input.queues[index];
    let held = ports.held_from(number, index);
    let (way, next) = match (held, queue.request(now)) {
        (Some(held), requests) => {
            assert!(requests.is_none(), "one packet of a queue at a time");
            held
        }
        (None, Some((head, requested))) => {
            let [way] = head.ways[..] else {
                panic!("D76: nothing that requests several outputs")
            };
            let next = Next {
                input: number,
                queue: index,
                flit: Flit {
                    packet: head.packet,
                    index: 0,
                },
                requested,
                asks_escape: way.escape,
            };
            (way, next)
        }
        (None, None) => return None,
    };
    let output = switch.outputs[way.output].as_ref().expect("connected");
    let may_go = (held.is_some() || !ports.is_held(way.output, way.lane))
        && output.is_open(now, options)
        && is_open(output, way.lane, now)
        && links[output.channel].fits(way.lane, 1)
        && may_leave(options, &links[input.channel], next.flit, now)
        && ports.is_free(options, (number, next.flit.packet), now);
    let request = Request {
        input: number,
        queue: index,
        way,
        input_lane: queue.lane,
        size: one_flit(setting),
        requested: next.requested,
        created: packets[next.flit.packet].created,
        fits: true,
        preference: (false, 0),
    };
    may_go.then_some((request, next))
}

/// What a flit that passes moves, header or not.
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
    if is_first {
        let lanes = usize::from(setting.plan.switch.lane_count());
        let state = switch.outputs[output].as_mut().expect("connected");
        state.proposal_pointer = picked.request.place(lanes) + 1;
    }
}
