//! What a host's scheduler picks for one of its lanes (D29, D31, D32).

use super::flow::{Flow, Look};
use super::limit::{carry, cycles, debt};
use crate::reference::packet::PacketId;
use virtlane::plan::{Scheduler, Unit};

/// A place in the circle of a lane: 0 is the queue, place p > 0 the lane's flow p - 1.
pub(super) type Place = usize;

/// What a lane has to choose from.
#[derive(Debug)]
pub(super) struct Offers<'a> {
    /// First packet of its source queue.
    pub(super) head: Option<PacketId>,
    /// Its flows, in order.
    pub(super) flows: Vec<&'a Flow>,
    /// Which of them are contenders (D29, D44).
    pub(super) contend: Vec<bool>,
    /// D44: whether the gate of its flows' group is closed.
    pub(super) is_closed: bool,
}

/// State of the scheduler of one lane.
#[derive(Debug, Default)]
pub(super) struct LaneScheduler {
    /// Round robin: the place whose turn it is.
    pointer: Place,
    /// Weighted round robin: the current place.
    current: Option<Place>,
    /// Weighted round robin: what is left of its weight.
    credit: i64,
    /// V of D32 \[2^-32 cycles\].
    clock: u128,
    /// Last start of a packet of the lane's flows.
    last_start: Option<u64>,
    /// D of the lane (D32) \[2^-32 flits\].
    debt: u128,
}

impl LaneScheduler {
    /// The candidate of the lane among its queue and its flows.
    pub(super) fn pick(&self, look: Look<'_>, offers: &Offers<'_>) -> Option<Place> {
        let (head, flows) = (offers.head, &offers.flows);
        let queue = head.map(|_| 0);
        let places = flows.len() + 1;
        let ready = (1..places).filter(|&place| offers.contend[place - 1]);
        let ready: Vec<Place> = ready.collect();
        let contenders = queue.into_iter().chain(ready.iter().copied());
        let contends = |place: &Place| queue == Some(*place) || ready.contains(place);
        let from = |first: Place| (0..places).map(move |step| (first + step) % places);
        match look.setting.plan.host.scheduler {
            Scheduler::Fifo => {
                let since = |&place: &Place| match (place, head) {
                    (0, head) => look.packets[head.expect("contends")].created,
                    (place, _) => flows[place - 1].since(look),
                };
                contenders.min_by_key(|place| (since(place), *place))
            }
            Scheduler::RoundRobin => from(self.pointer).find(contends),
            Scheduler::WeightedRoundRobin(_) => self
                .stays(contends)
                .or_else(|| from(self.current.map_or(0, |current| current + 1)).find(contends)),
            Scheduler::ShortestRemaining => {
                let key = |&place: &Place| match place {
                    0 => (2, 0, place),
                    _ => match flows[place - 1].remaining(look) {
                        Some(flits) => (0, flits, place),
                        None => (1, 0, place),
                    },
                };
                contenders.min_by_key(key)
            }
            Scheduler::LeakyBucket => panic!("D46: a lane has a FIFO"),
            Scheduler::VirtualClock => self.first_key(flows, &ready).or(queue),
            Scheduler::Paced => {
                let sendable = sendable(look, flows);
                let sum = sum_of_rates(look, flows);
                let is_time = !sendable.is_empty() && self.tick(sum) <= look.now;
                let flow = self.first_key(flows, &sendable).filter(|_| is_time);
                flow.or(queue)
            }
        }
    }

    /// Weighted round robin: the current place, if it goes on.
    fn stays(&self, contends: impl Fn(&Place) -> bool) -> Option<Place> {
        self.current
            .filter(|place| contends(place) && self.credit > 0)
    }

    /// D32: the smallest key, then the lower id.
    fn first_key(&self, flows: &[&Flow], places: &[Place]) -> Option<Place> {
        let key = |&place: &Place| (self.key(flows[place - 1]), place);
        places.iter().copied().min_by_key(key)
    }

    fn key(&self, flow: &Flow) -> u128 {
        flow.clock.max(self.clock)
    }

    /// D32: from this cycle on a flow may go, at the given sum of rates.
    fn tick(&self, sum: u128) -> u64 {
        let last = self.last_start;
        last.map_or(0, |start| start + cycles(self.debt, sum))
    }

    /// A packet of so many flits of what was picked starts: moves the state of the lane; returns the new clock of the
    /// flow when it has one. Flows are as before the start.
    pub(super) fn start(
        &mut self,
        look: Look<'_>,
        offers: &Offers<'_>,
        (place, size): (Place, u16),
    ) -> Option<u128> {
        assert_eq!(self.pick(look, offers), Some(place));
        let flows = &offers.flows;
        let scheduler = look.setting.plan.host.scheduler;
        let flow = place.checked_sub(1).map(|index| flows[index]);
        match scheduler {
            Scheduler::Fifo | Scheduler::ShortestRemaining | Scheduler::LeakyBucket => None,
            Scheduler::RoundRobin | Scheduler::WeightedRoundRobin(_)
                if place == 0 && offers.is_closed =>
            {
                None
            }
            Scheduler::RoundRobin => {
                self.pointer = (place + 1) % (flows.len() + 1);
                None
            }
            Scheduler::WeightedRoundRobin(unit) => {
                if self.current != Some(place) || self.credit <= 0 {
                    let weight = flow.map_or(1, |flow| flow.plan(look.setting).weight);
                    self.credit = weight.into();
                }
                self.current = Some(place);
                self.credit -= match unit {
                    Unit::Flits => i64::from(size),
                    Unit::Packets => 1,
                };
                None
            }
            Scheduler::VirtualClock | Scheduler::Paced => {
                let flow = flow?;
                if scheduler == Scheduler::Paced {
                    self.start_of_flows(look, flows, size);
                }
                let key = self.key(flow);
                self.clock = key;
                Some(key + (u128::from(size) << 64) / flow.rate(look))
            }
        }
    }

    /// D32: t0 and D of the lane.
    fn start_of_flows(&mut self, look: Look<'_>, flows: &[&Flow], size: u16) {
        let sum = sum_of_rates(look, flows);
        let carry = match self.last_start {
            Some(last) if self.tick(sum) == look.now => carry(look.now - last, sum, self.debt),
            _ => 0,
        };
        self.debt = debt(size, carry);
        self.last_start = Some(look.now);
    }
}

/// D32: places of the flows that are sendable.
fn sendable(look: Look<'_>, flows: &[&Flow]) -> Vec<Place> {
    let is_sendable =
        |place: &Place| flows[place - 1].is_sendable(look) && flows[place - 1].rate(look) > 0;
    (1..=flows.len()).filter(is_sendable).collect()
}

/// P of D32.
fn sum_of_rates(look: Look<'_>, flows: &[&Flow]) -> u128 {
    let places = sendable(look, flows).into_iter();
    places.map(|place| flows[place - 1].rate(look)).sum()
}
