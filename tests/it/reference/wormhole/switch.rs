//! Stages Arbitrate and Cross of a switch that passes single flits (D65), each of them a transmission (D74); rounds and output
//! buffers (D77), input speed-up and VL15 (D78).

use crate::reference::Setting;
use crate::reference::grant_kind::GrantKind;
use crate::reference::lane_choice::LaneChoice;
use crate::reference::legacy_tables::Size;
use crate::reference::link::{Link, Moving};
use crate::reference::output::Output;
use crate::reference::packet::{Flit, Packet, PacketId};
use crate::reference::switch::{Grant, Switch};
use crate::reference::wormhole::check_succession;
use crate::reference::wormhole::ready::{Next, Ready, ready, winner};
use virtlane::plan::{InputSpeedup, InputTurns, SwitchOptions};

/// The packet that holds an output lane.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: PacketId,
    input: usize,
    /// That it is the first packet of, at that input.
    queue: usize,
    /// Flits of it that this output has passed.
    passed: u16,
}

/// State of a switch that packets as units do not have.
#[derive(Debug)]
pub(in crate::reference) struct Ports {
    /// What holds the lanes of outputs, by port and lane.
    outputs: Vec<Vec<Option<Held>>>,
    /// Places of inputs that flits keep (D78), each until the cycle in which it is free again, by port.
    kept_until: Vec<Vec<u64>>,
    /// Last flit that has left an input, by port; read by an assertion only.
    last_left: Vec<Option<Flit>>,
}

/// What an output has picked.
#[derive(Clone, Copy, Debug)]
struct Pick {
    output: usize,
    choice: LaneChoice,
    next: Next,
}

/// From its arrival in a buffer to the first cycle in which a flit may leave it.
fn delay(options: &SwitchOptions) -> u64 {
    options.allocation_delay.into()
}

/// Whether a flit is in the buffer behind a link and has been there long enough.
pub(in crate::reference) fn may_leave(
    options: &SwitchOptions,
    link: &Link,
    flit: Flit,
    now: u64,
) -> bool {
    let stored = link.buffer.iter().find(|stored| stored.flit == flit);
    stored.is_some_and(|stored| stored.since + delay(options) <= now)
}

impl Ports {
    /// Whether a packet holds a lane of an output.
    pub(in crate::reference) fn is_held(&self, output: usize, lane: usize) -> bool {
        self.outputs[output][lane].is_some()
    }

    pub(in crate::reference) fn new(options: &SwitchOptions, ports: usize) -> Self {
        let lanes = usize::from(options.lane_count());
        Self {
            outputs: vec![vec![None; lanes]; ports],
            kept_until: vec![Vec::new(); ports],
            last_left: vec![None; ports],
        }
    }

    /// Output, lane, and of the packet that holds it its input, its queue there and its next flit.
    pub(in crate::reference) fn holders(
        &self,
    ) -> impl Iterator<Item = (usize, usize, (usize, usize, Flit))> {
        let outputs = self.outputs.iter().enumerate();
        outputs.flat_map(|(output, lanes)| {
            let lanes = lanes.iter().enumerate();
            lanes.filter_map(move |(lane, held)| {
                let held = held.as_ref()?;
                let (packet, index) = (held.packet, held.passed);
                let next = (held.input, held.queue, Flit { packet, index });
                Some((output, lane, next))
            })
        })
    }

    /// What holds lanes.
    fn all_held(&self) -> impl Iterator<Item = &Held> {
        self.outputs.iter().flatten().flatten()
    }

    /// The next flit of the packet that holds a lane of an output.
    pub(super) fn held(&self, output: usize, lane: usize) -> Option<Next> {
        let held = self.outputs[output][lane]?;
        let (packet, index) = (held.packet, held.passed);
        Some(Next {
            input: held.input,
            queue: held.queue,
            flit: Flit { packet, index },
            asks_escape: false,
        })
    }

    /// Places of an input that are left (D78).
    fn places_left(&self, options: &SwitchOptions, input: usize, now: u64) -> usize {
        let InputSpeedup::Limited(places) = options.input_speedup else {
            return usize::MAX;
        };
        let kept = self.kept_until[input].iter().filter(|&&until| until > now);
        let left = usize::from(places).checked_sub(kept.count());
        left.expect("D78: a place for each flit")
    }

    /// Whether an input is free for this packet of it.
    pub(super) fn is_free(
        &self,
        options: &SwitchOptions,
        (input, packet): (usize, PacketId),
        now: u64,
    ) -> bool {
        // a packet that has passed some of its flits, and not all, is one that holds a lane
        let is_other = |held: &Held| held.input == input && held.packet != packet;
        let is_kept = options.input_turns == InputTurns::Packets && self.all_held().any(is_other);
        self.places_left(options, input, now) > 0 && !is_kept
    }

    /// The packets that hold lanes with their inputs, each of them the first of its queue, with a flit passed and one to pass; where
    /// packets keep their inputs, no two of one input.
    pub(super) fn check_held(
        &self,
        options: &SwitchOptions,
        switch: &Switch,
        packets: &[Packet],
    ) -> Vec<(PacketId, usize)> {
        if options.input_turns == InputTurns::Packets {
            for input in 0..self.kept_until.len() {
                let keepers = self.all_held().filter(|held| held.input == input);
                assert!(keepers.count() <= 1, "an input that two packets keep");
            }
        }
        let check = |held: &Held| {
            assert!((1..packets[held.packet].size).contains(&held.passed));
            let input = switch.inputs[held.input].as_ref().expect("connected");
            let queue = &input.queues[held.queue];
            assert!(queue.leaving);
            assert_eq!(queue.packets[0].packet, held.packet);
            (held.packet, held.input)
        };
        self.all_held().map(check).collect()
    }
}

/// One cycle of a switch, all rounds (D77); returns what has passed a first flit.
pub(in crate::reference) fn pass_flits(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &mut [Link],
    packets: &[Packet],
    now: u64,
) -> Vec<Grant> {
    let rounds = setting.plan.switch.allocation.iterations;
    (0..rounds)
        .flat_map(|round| one_round(setting, switch, links, packets, (round == 0, now)))
        .collect()
}

/// Outputs pick, inputs accept, and what is accepted passes; the next round sees what that leaves.
fn one_round(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &mut [Link],
    packets: &[Packet],
    (is_first, now): (bool, u64),
) -> Vec<Grant> {
    let options = &setting.plan.switch;
    let mut picks = Vec::new();
    for output in 0..switch.outputs.len() {
        picks.extend(pick(setting, switch, links, (packets, output), now));
    }
    let accepted = match options.input_speedup {
        InputSpeedup::Unlimited => picks,
        InputSpeedup::Limited(_) => accept(setting, switch, links, &picks, now),
    };
    let mut first = Vec::new();
    for pick in accepted {
        if options.input_turns == InputTurns::Packets {
            let last = &mut switch.ports.last_left[pick.next.input];
            check_succession(last, pick.next.flit, packets);
        }
        if is_first {
            move_pointers(options, switch, &pick);
        }
        pass(setting, switch, links, (pick, packets), now);
        if pick.next.flit.index == 0 {
            first.push(Grant {
                packet: pick.next.flit.packet,
                output: pick.output,
                lane: pick.choice.lane,
                takes_channel: now,
            });
        }
    }
    first
}

/// What a free output picks among its ready lanes.
fn pick(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &[Link],
    (packets, output): (&[Packet], usize),
    now: u64,
) -> Option<Pick> {
    let options = &setting.plan.switch;
    let is_free = switch.outputs[output].as_ref()?.is_open(now, options);
    if !is_free {
        return None;
    }
    let lanes = 0..usize::from(options.lane_count());
    let all: Vec<Ready> = lanes
        .map(|lane| ready(setting, switch, links, (packets, output, lane), now))
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
    Some(Pick {
        output,
        choice,
        next,
    })
}

/// Every input accepts of the outputs that have picked it as many as it has places left (D78), in the order in which it accepts them:
/// by the kind of the pick (D71), with open engines by where it leads (D76), then round robin over outputs.
fn accept(
    setting: Setting<'_>,
    switch: &Switch,
    links: &[Link],
    picks: &[Pick],
    now: u64,
) -> Vec<Pick> {
    let (options, outputs) = (&setting.plan.switch, switch.outputs.len());
    let preference = |pick: &Pick| {
        let output = switch.outputs[pick.output].as_ref().expect("connected");
        // an output that picks has passed no flit of this cycle
        let downstream = links[output.channel].downstream(pick.choice.lane);
        let is_open = setting.routing.is_open();
        is_open.then_some((pick.next.asks_escape, downstream))
    };
    let mut accepted = Vec::new();
    for (number, input) in switch.inputs.iter().enumerate() {
        let Some(input) = input else { continue };
        let mine = picks.iter().filter(|pick| pick.next.input == number);
        let mut mine: Vec<Pick> = mine.copied().collect();
        mine.sort_by_key(|pick| {
            let turn = (pick.output + outputs - input.accept_pointer) % outputs;
            let kind = GrantKind::of(options, pick.choice.lane);
            (kind, preference(pick), turn)
        });
        mine.truncate(switch.ports.places_left(options, number, now));
        accepted.extend(mine);
    }
    accepted
}

/// D77: pointers that move in the first round only, the input's with every flit, the lane's with the first one of a packet.
fn move_pointers(options: &SwitchOptions, switch: &mut Switch, pick: &Pick) {
    let (next, lane) = (&pick.next, pick.choice.lane);
    let input = switch.inputs[next.input].as_mut().expect("connected");
    input.accept_pointer = pick.output + 1;
    let input_lane = input.queues[next.queue].lane;
    if next.flit.index == 0 {
        let output = switch.outputs[pick.output].as_mut().expect("connected");
        let lanes = usize::from(options.lane_count());
        output.request_pointers[lane] = next.input * lanes + input_lane + 1;
    }
}

/// A flit goes: from its buffer to the channel, for a credit.
fn pass(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &mut [Link],
    (pick, packets): (Pick, &[Packet]),
    now: u64,
) {
    let options = &setting.plan.switch;
    let Pick {
        output,
        choice,
        next,
    } = pick;
    let (flit, lane) = (next.flit, choice.lane);
    let is_last = flit.index + 1 == packets[flit.packet].size;
    let input = switch.inputs[next.input].as_mut().expect("connected");
    let state = switch.outputs[output].as_mut().expect("connected");
    let since = links[input.channel].remove(flit, now);
    assert!(since + delay(options) <= now, "a flit skips the pipeline");
    let past_crossbar = now + u64::from(options.crossbar_delay);
    assert!(state.is_open(now, options), "two flits of one output");
    let link = &mut links[state.channel];
    let delay = link.take_for_flit(lane, now);
    // rule 2, D10: as a packet of one flit
    let start = state.grant(options, lane, (flit.packet, 1), delay, now);
    let start = start.expect("D65: no output lanes");
    link.hand_over(Moving {
        flit,
        lane,
        past_crossbar,
        crosses: start,
        late: delay,
    });
    mark_time(setting, state, (now, start));

    if options.input_speedup != InputSpeedup::Unlimited {
        let left = switch.ports.places_left(options, next.input, now);
        assert!(left > 0, "more flits of one input than it has places");
        let kept = &mut switch.ports.kept_until[next.input];
        kept.retain(|&until| until > now);
        kept.push(now + state.cycles_per_flit);
    }
    let held = &mut switch.ports.outputs[output][lane];
    let before = held.map(|held| (held.packet, held.passed));
    let expected = (flit.index > 0).then_some((flit.packet, flit.index));
    assert_eq!(before, expected, "a lane changes hands in mid-packet");
    *held = (!is_last).then_some(Held {
        packet: flit.packet,
        input: next.input,
        queue: next.queue,
        passed: flit.index + 1,
    });

    let taken = Size::new(1, setting.plan.flit_bytes);
    state.chooser.accepted(choice, taken);
    let queue = &mut input.queues[next.queue];
    if flit.index == 0 {
        let (_, since) = queue.request(now).expect("a header goes once");
        switch.waits.push((now, now - since));
        queue.leaving = true;
    }
    assert!(queue.leaving && queue.packets[0].packet == flit.packet);

    if is_last {
        switch.free_queue((next.input, next.queue), flit.packet, now + 1);
    }
}

/// D37, D78: a flit passed in `now` takes the channel then, behind an output buffer in the cycle of its start.
fn mark_time(setting: Setting<'_>, output: &mut Output, (now, start): (u64, u64)) {
    let is_buffered = setting.plan.switch.output_buffer > 0;
    let takes_channel = if is_buffered { start } else { now };
    let largest = setting.plan.largest_packet().into();
    let pace = output.cycles_per_flit;
    output.marks.take_flit(takes_channel, pace, largest);
}

impl Link {
    /// A single flit takes its credit and is transmitted; returns what it comes late by (D74).
    pub(super) fn take_for_flit(&mut self, lane: usize, now: u64) -> u64 {
        self.take_credits(lane, 1);
        self.start(lane, 1, now)
    }
}
