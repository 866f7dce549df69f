//! State of a switch that passes single flits: what holds its outputs (D65), and what leaves its inputs (D78).

use super::check_succession;
use super::ready::Next;
use crate::reference::packet::{Flit, Packet, PacketId};
use crate::reference::switch::{Switch, Way};
use virtlane::plan::{InputSpeedup, InputTurns, SwitchOptions};

/// The packet that holds an output lane.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: PacketId,
    input: usize,
    /// That it is the first packet of, at that input.
    queue: usize,
    /// Cycle in which it requested the lane.
    requested: u64,
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
            requested: held.requested,
            asks_escape: false,
        })
    }

    /// The way of the packet of a queue that holds an output lane, and its next flit.
    pub(super) fn held_from(&self, input: usize, queue: usize) -> Option<(Way, Next)> {
        let all = self.holders();
        let mut mine = all.filter(|(.., holder)| (holder.0, holder.1) == (input, queue));
        let (output, lane, _) = mine.next()?;
        assert!(mine.next().is_none(), "a packet that holds two lanes");
        let way = Way {
            output,
            lane,
            escape: false,
        };
        Some((way, self.held(output, lane)?))
    }

    /// Places of an input that are left (D78).
    pub(super) fn places_left(&self, options: &SwitchOptions, input: usize, now: u64) -> usize {
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

    /// A flit leaves its input, which has a place for it, by an output of that pace.
    pub(super) fn leave(
        &mut self,
        options: &SwitchOptions,
        (next, pace): (Next, u64),
        packets: &[Packet],
        now: u64,
    ) {
        if options.input_turns == InputTurns::Packets {
            let last = &mut self.last_left[next.input];
            check_succession(last, next.flit, packets);
        }
        if options.input_speedup != InputSpeedup::Unlimited {
            let left = self.places_left(options, next.input, now);
            assert!(left > 0, "more flits of one input than it has places");
            let kept = &mut self.kept_until[next.input];
            kept.retain(|&until| until > now);
            kept.push(now + pace);
        }
    }

    /// A lane passes a flit: its packet holds it up to the last one.
    pub(super) fn hold(&mut self, (output, lane): (usize, usize), next: Next, size: u16) {
        let flit = next.flit;
        let held = &mut self.outputs[output][lane];
        let before = held.map(|held| (held.packet, held.passed));
        let expected = (flit.index > 0).then_some((flit.packet, flit.index));
        assert_eq!(before, expected, "a lane changes hands in mid-packet");
        let is_last = flit.index + 1 == size;
        *held = (!is_last).then_some(Held {
            packet: flit.packet,
            input: next.input,
            queue: next.queue,
            requested: next.requested,
            passed: flit.index + 1,
        });
    }
}
