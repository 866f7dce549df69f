//! A flow as algorithms that calculate rates know it: when it joins, when it ends, and what it may send.
//!
//! It joins with its first packet: the cycles of later phases and of flows that wait are not known before (D50, D63), and
//! what has sent nothing takes no part of a link. It ends with its last one, or with its stop.

use super::probe::{Payload, Probe};
use super::{Actions, Limit, ONE_FLIT_PER_CYCLE, WHOLE_LINK};
use serde::{Deserialize, Serialize};

/// Largest weight: what leaves room for the sums of a million flows.
pub(super) const LARGEST_WEIGHT: u64 = 1 << 40;

/// What all of them guarantee of links.
pub(super) const OF_LINKS: &str = "the rates of all flows of classes with this algorithm are together no more than a link, less `fluid.reserved`, once all \
                                   flows on it know theirs; flows without it and control packets in band come on top (`virtlane check` names them)";

/// Where a flow is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Nothing has started.
    Silent,
    /// It has its part of the links.
    Joined,
    /// Nothing will start any more.
    Over,
    /// And all links know it.
    Gone,
}

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its weight.
    pub weight: u64,
    /// What it may send \[2^-32 flits per cycle\].
    pub rate: u64,
    pub(super) stage: Stage,
    /// Whether a control packet of it is under way.
    pub(super) waits: bool,
    /// Whether it knows what it may send.
    knows: bool,
    /// Whether it sends nothing for now.
    holds: bool,
    /// Cycle in which it looks again.
    wakes: Option<u64>,
    /// What the timer is set to.
    timer: Option<u64>,
    /// What is to start \[flits\].
    left: Option<u64>,
    stop: Option<u64>,
    /// Least rate that lets its largest packet go in fewer than 2^31 cycles (D30).
    least: u64,
}

impl Member {
    /// One whose largest packet has so many flits, before it knows more.
    pub(super) fn new(largest: u16) -> Self {
        Self {
            weight: 1,
            rate: 0,
            stage: Stage::Silent,
            waits: false,
            knows: false,
            holds: false,
            wakes: None,
            timer: None,
            left: None,
            stop: None,
            least: 2 * u64::from(largest) + 1,
        }
    }

    /// Learns what it is.
    pub(super) fn know(&mut self, weight: u64, flits: Option<u64>, stop: Option<u64>) {
        self.weight = weight.clamp(1, LARGEST_WEIGHT);
        (self.left, self.stop) = (flits, stop);
    }

    /// A packet started; whether the flow joins with it. Until its rate is known it sends no more. One packet alone
    /// joins nothing.
    pub(super) fn started(&mut self, flits: u16, actions: &mut Actions) -> bool {
        self.left = self.left.map(|left| left.saturating_sub(flits.into()));
        let joins = self.stage == Stage::Silent;
        if self.left == Some(0) {
            self.end();
            return false;
        }
        if joins {
            self.stage = Stage::Joined;
            actions.limit = Some(Limit::Rate(0));
        }
        joins
    }

    /// The timer; whether it is time to look again.
    pub(super) fn rings(&mut self, now: u64) -> bool {
        self.timer = None;
        if self.stop.is_some_and(|stop| stop <= now) {
            self.end();
        }
        let looks = self.wakes == Some(now);
        self.wakes = self.wakes.filter(|_| !looks);
        looks && self.takes_part()
    }

    fn end(&mut self) {
        (self.left, self.stop, self.wakes) = (None, None, None);
        self.stage = match self.stage {
            Stage::Silent | Stage::Gone => Stage::Gone,
            Stage::Joined | Stage::Over => Stage::Over,
        };
    }

    /// Whether it has its part of the links.
    pub(super) fn takes_part(&self) -> bool {
        self.stage == Stage::Joined
    }

    /// Whether the links are to be told now that it has ended: once, and not while a control packet is under way.
    pub(super) fn leaves(&mut self) -> bool {
        let leaves = self.stage == Stage::Over && !self.waits;
        if leaves {
            self.stage = Stage::Gone;
        }
        leaves
    }

    /// Another rate, or the first \[2^-32 flits per cycle\].
    pub(super) fn set_rate(&mut self, rate: u64, actions: &mut Actions) {
        if rate != self.rate || !self.knows || self.holds {
            (self.rate, self.knows, self.holds) = (rate, true, false);
            actions.log = true;
            let limit = rate.max(self.least).min(ONE_FLIT_PER_CYCLE);
            actions.limit = Some(Limit::Rate(limit));
        }
    }

    /// Sends nothing until it has another rate: at the least rate a scheduler that shares by rates might let one packet go, and
    /// would count it as so much time.
    pub(super) fn hold(&mut self, actions: &mut Actions) {
        if self.holds {
            return;
        }
        actions.log |= self.rate != 0 || !self.knows;
        (self.rate, self.knows, self.holds) = (0, true, true);
        actions.limit = Some(Limit::Rate(0));
    }

    /// Sends a control packet.
    pub(super) fn send(&mut self, payload: Payload, actions: &mut Actions) {
        self.waits = true;
        actions.send = Some(Probe { payload, after: 1 });
    }

    /// Sends a control packet, if the flow goes on.
    pub(super) fn go_on(&mut self, payload: Payload, actions: &mut Actions) {
        if self.takes_part() {
            self.send(payload, actions);
        }
    }

    /// Looks again in a later cycle, if the flow goes on.
    pub(super) fn rest(&mut self, until: u64) {
        if self.takes_part() {
            self.wakes = Some(until);
        }
    }

    /// The timer for what is to come.
    pub(super) fn set_timer(&mut self, actions: &mut Actions) {
        let next = self.wakes.into_iter().chain(self.stop).min();
        if next != self.timer {
            self.timer = next;
            actions.timer = Some(next);
        }
    }

    /// Its part of what rates may take of a link \[`WHOLE_LINK`\] whose flows have this weight together, times the cycles per
    /// flit \[2^-32 flits per cycle\], rounded down: all of them together are no more than that.
    pub(super) fn part_of(&self, link: u32, all: u128) -> u64 {
        let part = u128::from(self.weight) * u128::from(whole(link)) / all.max(1);
        part.min(ONE_FLIT_PER_CYCLE.into()) as u64
    }
}

/// What so many parts of a link are that takes a flit per cycle \[2^-32 flits per cycle\].
pub(super) const fn whole(link: u32) -> u64 {
    link as u64 * (ONE_FLIT_PER_CYCLE / WHOLE_LINK as u64)
}

/// A payload of these values in as many bits each, from the lowest bit on; all 128 bits at most.
pub(super) fn packed<const N: usize>(values: [u128; N], bits: [u32; N]) -> Payload {
    let mut all = 0;
    let mut from = 0;
    for (value, bits) in values.into_iter().zip(bits) {
        debug_assert!(value >> bits == 0, "{value} in {bits} bits");
        all |= value << from;
        from += bits;
    }
    debug_assert!(from <= 128, "{from} bits");
    [all, all >> 32, all >> 64, all >> 96].map(|word| word as u32)
}

/// The fields of a payload, as many bits each.
pub(super) fn unpacked<const N: usize>(payload: Payload, bits: [u32; N]) -> [u128; N] {
    let words = payload.iter().rev();
    let mut all = words.fold(0u128, |all, &word| all << 32 | u128::from(word));
    bits.map(|bits| {
        let value = all & ((1 << bits) - 1);
        all >>= bits;
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back() {
        let payload = packed([5, 1, 0, u64::MAX.into()], [3, 1, 60, 64]);
        assert_eq!(payload[0], 5 | 1 << 3);
        assert_eq!(payload[2..], [u32::MAX; 2]);
        assert_eq!(
            unpacked(payload, [3, 1, 60, 64]),
            [5, 1, 0, u64::MAX.into()]
        );
    }

    #[test]
    fn a_flow_of_one_packet_joins_nothing() {
        let mut actions = Actions::default();
        let mut flow = Member::new(8);
        flow.know(3, Some(8), Some(90));
        flow.set_timer(&mut actions);
        assert_eq!(actions.timer, Some(Some(90)));
        assert!(!flow.started(8, &mut actions));
        assert!(!flow.leaves());
        flow.set_timer(&mut actions);
        assert_eq!((actions.timer, actions.limit), (Some(None), None));
    }

    #[test]
    fn a_flow_leaves_once_and_not_while_a_packet_is_under_way() {
        let mut actions = Actions::default();
        let mut flow = Member::new(8);
        flow.know(3, None, Some(90));
        assert!(flow.started(8, &mut actions));
        assert_eq!(actions.limit, Some(Limit::Rate(0)));
        flow.send([0; 4], &mut actions);
        assert!(!flow.rings(90) && !flow.leaves());
        flow.waits = false;
        flow.rest(100);
        assert!(flow.leaves() && !flow.leaves());
        flow.set_timer(&mut actions);
        assert_eq!(actions.timer, None);
    }

    /// The least that D30 allows packets of 8 flits: 2^31 - 1 cycles from one to the next.
    #[test]
    fn rates_are_rounded_down_and_never_too_low() {
        let mut flow = Member::new(8);
        flow.know(2, None, None);
        assert_eq!(flow.part_of(WHOLE_LINK, 3), (2 << 32) / 3);
        assert_eq!(flow.part_of(WHOLE_LINK, 1), ONE_FLIT_PER_CYCLE);
        assert_eq!(flow.part_of(WHOLE_LINK / 4 * 3, 3), 1 << 31);
        for (rate, limit) in [(0, 17), (5, 17), (99, 99)] {
            let mut actions = Actions::default();
            flow.set_rate(rate, &mut actions);
            assert_eq!(actions.limit, Some(Limit::Rate(limit)));
            assert!(actions.log && flow.rate == rate);
            let mut actions = Actions::default();
            flow.set_rate(rate, &mut actions);
            assert_eq!(actions, Actions::default());
        }
    }

    #[test]
    fn a_flow_on_hold_has_no_rate_at_all() {
        let mut flow = Member::new(8);
        for (rate, limit) in [(99, 99), (0, 17)] {
            let mut actions = Actions::default();
            flow.hold(&mut actions);
            assert_eq!((actions.limit, actions.log), (Some(Limit::Rate(0)), true));
            let mut actions = Actions::default();
            flow.hold(&mut actions);
            assert_eq!(actions, Actions::default(), "it holds already");
            flow.set_rate(rate, &mut actions);
            assert_eq!(actions.limit, Some(Limit::Rate(limit)));
        }
    }
}
