//! Stages Arbitrate and Cross of a switch that passes single flits (D65), each of them a transmission (D74); rounds and output
//! buffers (D77). Who passes is in `output_first` and `input_first`, what holds and what leaves in `ports`.

use super::input_first::input_first;
use super::output_first::output_first;
use super::ready::Next;
use crate::reference::Setting;
use crate::reference::legacy_tables::Size;
use crate::reference::link::{Link, Moving};
use crate::reference::output::Output;
use crate::reference::packet::{Flit, Packet};
use crate::reference::switch::{Grant, Switch};
use virtlane::plan::{Matching, SwitchOptions};

/// What passes: the next flit of a lane of an output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick {
    pub(super) output: usize,
    pub(super) lane: usize,
    pub(super) next: Next,
}

/// What tables take for a flit (D65).
pub(super) fn one_flit(setting: Setting<'_>) -> Size {
    Size::new(1, setting.plan.flit_bytes)
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

/// One cycle of a switch, all rounds (D77); returns what has passed a first flit.
pub(in crate::reference) fn pass_flits(
    setting: Setting<'_>,
    switch: &mut Switch,
    links: &mut [Link],
    packets: &[Packet],
    now: u64,
) -> Vec<Grant> {
    let options = &setting.plan.switch;
    let mut first = Vec::new();
    for round in 0..options.allocation.iterations {
        let when = (round == 0, now);
        // the next round sees what this one leaves
        let picks = match options.matching {
            Matching::OutputFirst => output_first(setting, switch, links, packets, when),
            Matching::InputFirst => input_first(setting, switch, links, packets, when),
        };
        for pick in picks {
            pass(setting, switch, links, (pick, packets), now);
            if pick.next.flit.index == 0 {
                first.push(Grant {
                    packet: pick.next.flit.packet,
                    output: pick.output,
                    lane: pick.lane,
                    takes_channel: now,
                });
            }
        }
    }
    first
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
    let Pick { output, lane, next } = pick;
    let (flit, size) = (next.flit, packets[next.flit.packet].size);
    let input = switch.inputs[next.input].as_mut().expect("connected");
    let state = switch.outputs[output].as_mut().expect("connected");
    let since = links[input.channel].remove(flit, now);
    assert!(since + delay(options) <= now, "a flit skips the pipeline");
    assert!(state.is_open(now, options), "two flits of one output");
    let link = &mut links[state.channel];
    if state.flit_lanes.is_some() {
        link.take_credits(lane, 1);
        state.store_flit(lane, flit, now);
    } else {
        start(setting, state, link, (lane, flit), now);
    }

    let pace = state.cycles_per_flit;
    switch.ports.leave(options, (next, pace), packets, now);
    switch.ports.hold((output, lane), next, size);
    let queue = &mut input.queues[next.queue];
    if flit.index == 0 {
        let (_, since) = queue.request(now).expect("a header goes once");
        assert_eq!(since, next.requested);
        switch.waits.push((now, now - since));
        queue.leaving = true;
    }
    assert!(queue.leaving && queue.packets[0].packet == flit.packet);
    if flit.index + 1 == size {
        switch.free_queue((next.input, next.queue), flit.packet, now + 1);
    }
}

/// A flit that passes starts on the channel, or joins what waits in the output buffer.
fn start(
    setting: Setting<'_>,
    output: &mut Output,
    link: &mut Link,
    (lane, flit): (usize, Flit),
    now: u64,
) {
    let options = &setting.plan.switch;
    let delay = link.take_for_flit(lane, now);
    // rule 2, D10: as a packet of one flit
    let start = output.grant(options, lane, (flit.packet, 1), delay, now);
    let start = start.expect("no output lanes");
    link.hand_over(Moving {
        flit,
        lane,
        past_crossbar: now + u64::from(options.crossbar_delay),
        crosses: start,
        late: delay,
    });
    mark_time(setting, output, (now, start));
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
