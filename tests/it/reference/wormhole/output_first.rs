//! Output-first matching of single flits: outputs pick, inputs accept (*Turns* of D65, rounds of D77, places of D78, headers that
//! several outputs pick, of D76 and D82).

use super::ready::{Ready, ready, requests, winner};
use super::switch::{Pick, one_flit};
use crate::reference::Setting;
use crate::reference::grant_kind::GrantKind;
use crate::reference::lane_choice::LaneChoice;
use crate::reference::link::Link;
use crate::reference::packet::Packet;
use crate::reference::request::{Request, of};
use crate::reference::switch::Switch;
use std::collections::BTreeSet;
use virtlane::plan::{InputSpeedup, SwitchOptions};

/// One round; returns what passes.
pub(super) fn output_first(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &[Link],
    packets: &[Packet],
    (is_first, now): (bool, u64),
) -> Vec<Pick> {
    let options = &setting.plan.switch;
    let mut picks = Vec::new();
    let requests = requests(setting, switch, packets, now);
    for output in 0..switch.outputs.len() {
        let asked = of(&requests, |request| request.way.output == output);
        picks.extend(pick(setting, switch, links, (&asked, output), now));
    }
    let accepted = match options.input_speedup {
        // no output has picked what another one has
        InputSpeedup::Unlimited if !setting.routing.is_open() => picks,
        _ => accept(setting, switch, links, &picks, now),
    };
    for (pick, choice) in &accepted {
        if is_first {
            move_pointers(options, switch, pick);
        }
        let output = switch.outputs[pick.output].as_mut().expect("connected");
        output.chooser.accepted(*choice, one_flit(setting));
    }
    accepted.into_iter().map(|(pick, _)| pick).collect()
}

/// What a free output picks among its ready lanes; `asked`: all headers that request it.
fn pick(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &[Link],
    (asked, output): (&[Request], usize),
    now: u64,
) -> Option<(Pick, LaneChoice)> {
    let options = &setting.plan.switch;
    let is_free = switch.outputs[output].as_ref()?.is_open(now, options);
    if !is_free {
        return None;
    }
    let lanes = 0..usize::from(options.lane_count());
    let all: Vec<Ready> = lanes
        .map(|lane| ready(setting, switch, links, (asked, output, lane), now))
        .collect();
    let is_ready: Vec<bool> = all.iter().map(Ready::is_it).collect();
    let state = switch.outputs[output].as_mut().expect("connected");
    let choice = state.chooser.choose(&is_ready)?;
    let next = match &all[choice.lane] {
        Ready::Held(next) => *next,
        Ready::Requested(requests) => {
            let winner = winner(options, state, choice.lane, requests);
            switch.header(&winner)
        }
    };
    let lane = choice.lane;
    let pick = Pick { output, lane, next };
    Some((pick, choice))
}

/// Every input accepts of the outputs that have picked it as many as it has places left (D78), in the order in which it accepts them:
/// by the kind of the pick (D71), with open engines by where it leads (D76), then round robin over outputs. A header is accepted once
/// (D82).
fn accept(
    setting: Setting<'_>,
    switch: &Switch,
    links: &[Link],
    picks: &[(Pick, LaneChoice)],
    now: u64,
) -> Vec<(Pick, LaneChoice)> {
    let (options, outputs) = (&setting.plan.switch, switch.outputs.len());
    let preference = |pick: &Pick| {
        let output = switch.outputs[pick.output].as_ref().expect("connected");
        // an output that picks has passed no flit of this cycle
        let downstream = links[output.channel].downstream(pick.lane);
        let is_open = setting.routing.is_open();
        is_open.then_some((pick.next.asks_escape, downstream))
    };
    let mut accepted = Vec::new();
    for (number, input) in switch.inputs.iter().enumerate() {
        let Some(input) = input else { continue };
        let mine = picks.iter().filter(|(pick, _)| pick.next.input == number);
        let mut mine: Vec<(Pick, LaneChoice)> = mine.copied().collect();
        mine.sort_by_key(|(pick, _)| {
            let turn = (pick.output + outputs - input.accept_pointer) % outputs;
            let kind = GrantKind::of(options, pick.lane);
            (kind, preference(pick), turn)
        });
        let mut queues = BTreeSet::new();
        // one packet at a time leaves a queue: two picks of one queue are of one header
        mine.retain(|(pick, _)| queues.insert(pick.next.queue));
        mine.truncate(switch.ports.places_left(options, number, now));
        accepted.extend(mine);
    }
    accepted
}

/// D77: pointers that move in the first round only, the input's with every flit, the lane's with the first one of a packet.
fn move_pointers(options: &SwitchOptions, switch: &mut Switch, pick: &Pick) {
    let (next, lane) = (&pick.next, pick.lane);
    let input = switch.inputs[next.input].as_mut().expect("connected");
    input.accept_pointer = pick.output + 1;
    let input_lane = input.queues[next.queue].lane;
    if next.flit.index == 0 {
        let output = switch.outputs[pick.output].as_mut().expect("connected");
        let lanes = usize::from(options.lane_count());
        output.request_pointers[lane] = next.input * lanes + input_lane + 1;
    }
}
