//! What a flow that always has a packet may send, and gets.
//!
//! # Algorithm
//! Over the part of the measurement in which it is active and its limit is not 0,
//! - a flow with a limit may send what that gives it, its changes included, and no more than its host's link carries; what that link
//!   carries while there is no limit. It gets the flits that arrive;
//! - a flow whose host sends other things, too, and which has no limit all the time or for a part of it, gets all that the host's link
//!   carries, whoever's packets these are: in a time without limit that link idles only where the flow is kept from sending, and
//!   else it idles no more than the limit makes it. So does one that never has a limit.
//!
//! It gets less when what is missing is more than two packets, and what fills the fabric at the start or when the limit rises.
//!
//! A window (D33) has room when fewer than 0.9 of its packets are on their way in the mean, by Little's law: packets delivered per
//! cycle times their latency and the window's delay. One of which nothing arrives in more than twice that delay waits for no
//! acknowledgement. By the window alone a flow gets less only while that is full: so fewer than 0.9 of it times the part of the time
//! that is missing, and of the part in which its own packets leave, are on their way, or more than the window is the cause.

use super::window::{OVERLOAD, Window};
use crate::measure::FlowCounts;
use crate::plan::{FlowPlan, Limit, Window as FlowWindow};
use crate::scenario::offered::rate_of_limit;
use crate::traffic::SizeDistribution;

/// Part of a window from which on it may be full: packets on their way come in waves.
const HELD_BY_WINDOW: f64 = 0.9;

/// Part of what a limit lets a flow send that is missing where the fabric alone may be the cause; part of what a class makes that
/// switches drop from which on it is too much.
pub(super) const CLEARLY_LESS: f64 = 0.02;

/// What a flow may send, and gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    /// \[flits\]
    pub(super) may: f64,
    /// \[flits\]
    pub(super) gets: f64,
    /// What it may send of its host's link, where a limit says so.
    pub(super) limit: Option<f64>,
    /// What it gets of its host's link.
    pub(super) part: f64,
    /// Part of the time of its host's link that is missing.
    idle: f64,
    /// What is missing is what an overload of 10 % leaves behind.
    pub(super) is_far: bool,
}

/// What the limits of a flow let it send in some cycles.
#[derive(Clone, Copy, Debug, Default)]
struct Allowed {
    /// By limits \[flits\].
    limited: f64,
    /// While there is none \[flits\].
    free: f64,
    /// Whether there is a limit for any time.
    is_limited: bool,
    /// By how much the last rate is above the first \[flits/cycle\].
    rise: f64,
}

/// The limits of a flow from one cycle to another, each with its time \[cycles\].
pub(super) fn limits(flow: &FlowPlan, times: [u64; 2]) -> impl Iterator<Item = (Limit, u64)> {
    spans(flow, times).map(|(limit, [at, end])| (limit, end - at))
}

/// The same, each from one cycle to another.
pub(super) fn spans(
    flow: &FlowPlan,
    [from, to]: [u64; 2],
) -> impl Iterator<Item = (Limit, [u64; 2])> {
    let changes = flow.changes.iter().copied();
    let ends = flow.changes.iter().map(|change| change.0).chain([to]);
    let limits = [(0, flow.limit)].into_iter().chain(changes).zip(ends);
    limits.filter_map(move |((at, limit), end)| {
        let (at, end) = (at.max(from), end.min(to));
        (at < end).then_some((limit, [at, end]))
    })
}

/// What the limits of a flow let it send from one cycle to another, where a flit keeps its host's link for `pace` cycles.
fn allowed(flow: &FlowPlan, sizes: &SizeDistribution, pace: f64, [from, to]: [u64; 2]) -> Allowed {
    let mut allowed = Allowed::default();
    let mut first = None;
    for (limit, cycles) in limits(flow, [from, to]) {
        let (rate, cycles) = (rate_of_limit(limit, sizes, pace), cycles as f64);
        if limit == Limit::None {
            allowed.free += rate * cycles;
        } else {
            allowed.is_limited = true;
            allowed.limited += rate * cycles;
        }
        allowed.rise = rate - *first.get_or_insert(rate);
    }
    allowed
}

/// Packets of a flow with a window on their way in the mean, acknowledgements included, in so many cycles: Little's law.
fn on_their_way(window: FlowWindow, counts: &FlowCounts, cycles: f64) -> f64 {
    let arrived = &counts.arrived;
    let latencies = arrived.network.sum as f64 + arrived.tagged as f64 * window.delay as f64;
    latencies / cycles
}

impl Window<'_> {
    /// Sizes of the packets of a flow.
    pub(super) fn sizes(&self, flow: &FlowPlan) -> &SizeDistribution {
        &self.plan().classes[usize::from(flow.class)].size
    }

    /// The part of the measurement in which a flow is active, if there is one.
    pub(super) fn active(&self, flow: &FlowPlan, counts: &FlowCounts) -> Option<[u64; 2]> {
        let end = self.warmup() + self.cycles();
        let from = counts.sent.start?.max(self.warmup());
        let to = flow.stop.map_or(end, |stop| stop.min(end));
        (from < to).then_some([from, to])
    }

    /// Cycles of the measurement in which a flow is active and its limit not 0, if there are some.
    pub(super) fn open_cycles(&self, flow: &FlowPlan, counts: &FlowCounts) -> Option<u64> {
        let limits = limits(flow, self.active(flow, counts)?);
        let open = limits.filter(|(limit, _)| *limit != Limit::Rate(0));
        let cycles = open.map(|(_, cycles)| cycles).sum();
        (cycles > 0).then_some(cycles)
    }

    /// Whether the window of a flow, if it has one, keeps nothing from being sent.
    pub(super) fn has_room(&self, flow: &FlowPlan, counts: &FlowCounts) -> bool {
        let (Some(window), Some(cycles)) = (flow.window, self.open_cycles(flow, counts)) else {
            return flow.window.is_none();
        };
        let cycles = cycles as f64;
        if counts.arrived.received == 0 {
            // nothing came that it would have waited for: not even the first packets arrive
            return cycles > 2.0 * window.delay as f64;
        }
        let on_their_way = on_their_way(window, counts, cycles);
        counts.arrived.tagged > 0 && on_their_way < HELD_BY_WINDOW * f64::from(window.packets)
    }

    /// Whether more than the window of a flow, if it has one, keeps it from sending: by the window alone it is full for what is
    /// missing, and a packet of the flow is on its way while one leaves.
    pub(super) fn is_beyond_window(
        &self,
        flow: &FlowPlan,
        counts: &FlowCounts,
        shares: Shares,
    ) -> bool {
        let (Some(window), Some(cycles)) = (flow.window, self.open_cycles(flow, counts)) else {
            return true;
        };
        let by_window = f64::from(window.packets) * shares.idle + shares.part;
        on_their_way(window, counts, cycles as f64) < HELD_BY_WINDOW * by_window
    }

    /// Flits that its limits let a flow send in the measurement, times without limit included where its host sends nothing else,
    /// and whether it has any.
    pub(super) fn may_send(
        &self,
        flow: &FlowPlan,
        counts: &FlowCounts,
        is_lone: bool,
    ) -> Option<(f64, bool)> {
        let pace = self.time_of_flit(self.graph.host_channel(flow.source));
        let allowed = allowed(flow, self.sizes(flow), pace, self.active(flow, counts)?);
        let free = if is_lone { allowed.free } else { 0.0 };
        Some((allowed.limited + free, allowed.is_limited))
    }

    /// The same as if all of the measurement were as its last cycle, of flows that are active then.
    pub(super) fn may_send_at_end(
        &self,
        flow: &FlowPlan,
        counts: &FlowCounts,
        is_lone: bool,
    ) -> Option<(f64, bool)> {
        let end = self.warmup() + self.cycles();
        self.active(flow, counts).filter(|[_, to]| *to == end)?;
        let pace = self.time_of_flit(self.graph.host_channel(flow.source));
        let allowed = allowed(flow, self.sizes(flow), pace, [end - 1, end]);
        let free = if is_lone { allowed.free } else { 0.0 };
        let flits = (allowed.limited + free) * self.cycles() as f64;
        Some((flits, allowed.is_limited))
    }

    /// What a flow may send and gets, where that is markedly less; `is_lone` says that its host sends nothing else.
    pub(super) fn shares(
        &self,
        flow: &FlowPlan,
        counts: &FlowCounts,
        is_lone: bool,
    ) -> Option<Shares> {
        let start = counts.sent.start?;
        let [from, to] = self.active(flow, counts)?;
        let cycles = self.open_cycles(flow, counts)? as f64;
        let channel = self.graph.host_channel(flow.source);
        let pace = self.time_of_flit(channel);
        let allowed = allowed(flow, self.sizes(flow), pace, [from, to]);
        let is_by_limit = allowed.is_limited && (is_lone || allowed.free <= 0.0);
        let received = counts.arrived.received as f64;
        let may = allowed.limited + allowed.free;
        let gets = if is_by_limit {
            received
        } else {
            self.records.channels.flits(channel) as f64
        };
        // the first packets come when the fabric is filled, and a packet may be cut at each edge
        let largest = self.plan().classes[usize::from(flow.class)].size.largest();
        let latency = counts.arrived.network.sum as f64 / counts.arrived.tagged.max(1) as f64;
        let filling = (latency - from.saturating_sub(start) as f64).max(0.0);
        let filled = may / cycles * filling + allowed.rise.max(0.0) * latency;
        let missing = may - gets - 2.0 * f64::from(largest) - filled;
        let is_far = missing > (1.0 - 1.0 / OVERLOAD) * may;
        let is_less = is_far || is_by_limit && missing > CLEARLY_LESS * may;
        // in words, of the rate of the link, repeats or not
        let step = f64::from(self.graph.channel(channel).timing.cycles_per_flit);
        let of_link = |flits: f64| flits * step / cycles;
        is_less.then(|| Shares {
            may,
            gets,
            limit: is_by_limit.then(|| of_link(may)),
            part: of_link(received),
            idle: ((may - gets) * pace / cycles).max(0.0),
            is_far,
        })
    }
}
