//! Totals and counts of the measurement window: what differs.

use super::engine::Found;
use super::observed;
use crate::reference::{
    AdmissionCounts, ClaimCounts, ClassCounts, ControlCounts, FlowCounts, HostCounts, Outcome,
    ReservationCounts, SetUpCounts,
};
use std::collections::BTreeMap;
use std::fmt::Debug;
use virtlane::ids::ChannelId;
use virtlane::measure::records::{ClassRecords, HostRecord, LossRecord};
use virtlane::measure::{LatencyRecord, Records};

/// Collects what differs.
pub(super) struct Differences(Vec<String>);

impl Differences {
    pub(super) fn same<T: PartialEq + Debug>(&mut self, what: &str, expected: &T, found: &T) {
        if expected != found {
            let text = format!("{what}: reference {expected:?}, engine {found:?}");
            self.0.push(text);
        }
    }

    fn class(&mut self, number: usize, expected: &ClassCounts, found: &ClassRecords) {
        let name = |what: &str| format!("class {number}, {what}");
        for (what, expected, packets, flits) in [
            (
                "created",
                expected.created,
                found.created_packets,
                found.created_flits,
            ),
            (
                "injected",
                expected.injected,
                found.injected_packets,
                found.injected_flits,
            ),
            (
                "delivered",
                expected.delivered,
                found.delivered_packets,
                found.delivered_flits,
            ),
        ] {
            self.same(&name(what), &expected, &(packets, flits));
        }
        for (what, expected, found) in [
            ("rejected", expected.rejected, found.rejected),
            ("tagged", expected.tagged, found.tagged_created),
            (
                "tagged and delivered",
                expected.packet.len() as u64,
                found.tagged_delivered,
            ),
            ("marked", expected.marked, found.marked),
            ("last delivery", expected.last_delivery, found.last_delivery),
        ] {
            self.same(&name(what), &expected, &found);
        }
        self.same(
            &name("dropped"),
            &expected_lost(expected),
            &lost(&found.lost),
        );
        let hops = (0..).zip(&found.hops).filter(|(_, count)| **count > 0);
        let hops: BTreeMap<u16, u64> = hops.map(|(hops, count)| (hops, *count)).collect();
        self.same(&name("hops"), &expected.hops, &hops);
        let jitter = &expected.jitter;
        let jitter = (
            jitter.len() as u64,
            jitter.iter().map(|&value| u128::from(value)).sum(),
            jitter.iter().max().copied().unwrap_or(0),
        );
        let found_jitter = (found.jitter.count, found.jitter.sum, found.jitter.max);
        self.same(&name("jitter"), &jitter, &found_jitter);
        self.latency(&name("network latency"), &expected.network, &found.network);
        self.latency(&name("packet latency"), &expected.packet, &found.packet);
        let messages = found.messages.as_deref();
        let counts = messages.map_or((0, 0), |found| (found.delivered, found.last_delivery));
        self.same(&name("messages"), &expected.messages, &counts);
        let none = LatencyRecord::default();
        let latency = messages.map_or(&none, |found| &found.latency);
        self.latency(&name("message latency"), &expected.message, latency);
    }

    /// `expected` is ascending.
    fn latency(&mut self, what: &str, expected: &[u64], found: &LatencyRecord) {
        let sum: u128 = expected.iter().map(|&value| u128::from(value)).sum();
        let summary = found.summary();
        self.same(
            what,
            &(
                expected.len() as u64,
                sum,
                expected.first(),
                expected.last(),
            ),
            &(
                summary.count,
                found.sum(),
                summary.min.as_ref(),
                summary.max.as_ref(),
            ),
        );
        let mean = sum as f64 / expected.len() as f64;
        let squares = expected.iter().map(|&value| (value as f64 - mean).powi(2));
        let deviation = (squares.sum::<f64>() / expected.len() as f64).sqrt();
        let (mean_found, found_deviation) = (summary.mean, summary.std);
        for (name, expected, found) in [
            ("mean", mean, mean_found),
            ("deviation", deviation, found_deviation),
        ] {
            let is_close = |found: f64| (found - expected).abs() <= 1e-9 * (1.0 + mean);
            if found.map_or(!expected.is_nan(), |found| !is_close(found)) {
                self.0
                    .push(format!("{what}, {name}: {expected}, engine {found:?}"));
            }
        }
        for (percent, found) in [(50, summary.p50), (95, summary.p95), (99, summary.p99)] {
            // the smallest value that this share of all values does not exceed
            let place = (expected.len() * percent).div_ceil(100).max(1) - 1;
            let value = expected.get(place).copied();
            let is_right = match (value, found) {
                (Some(value), Some(found)) if value >= 2048 => {
                    value.abs_diff(found) * 1000 <= value
                }
                (value, found) => value == found,
            };
            if !is_right {
                self.0
                    .push(format!("{what}, p{percent}: {value:?}, engine {found:?}"));
            }
        }
    }

    fn host(&mut self, number: usize, expected: &HostCounts, found: &HostRecord) {
        let found = HostCounts {
            created: found.created_flits,
            accepted: found.accepted_flits,
            received: found.received_flits,
        };
        self.same(&format!("host {number} [flits]"), expected, &found);
    }

    /// D48, D49, D68: totals over all classes; where no class probes, goes out of band, or has elements, there are none of them.
    fn control(&mut self, expected: &[ControlCounts], found: &Records) {
        let sum = |of: fn(&ControlCounts) -> u64| expected.iter().map(of).sum();
        let longest = expected.iter().map(|class| class.delay.1).max();
        let heard = |class: &ControlCounts| class.heard.iter().map(|of| of.len() as u64).sum();
        for (name, expected) in [
            ("control.visits", sum(|class| class.visits.iter().sum())),
            ("control.broadcasts", sum(|class| class.broadcasts)),
            ("control.broadcasts_heard", sum(heard)),
            ("out_of_band.created", sum(|class| class.created)),
            ("out_of_band.delivered", sum(|class| class.delivered)),
            ("out_of_band.cycles", sum(|class| class.delay.0)),
            ("out_of_band.longest", longest.unwrap_or(0)),
        ] {
            let found = found.counts.get(name).copied().unwrap_or(0);
            self.same(name, &expected, &found);
        }
    }

    /// D53, D60: rounds and their end, flows released, waits, reservations; by class, requests and flows admitted. Where no class asks there are none of them.
    fn admission(
        &mut self,
        expected: &AdmissionCounts,
        reserved: &ReservationCounts,
        found: &Records,
    ) {
        let mut all: Vec<(String, u64)> = [
            ("admission.rounds", expected.rounds),
            ("admission.released", expected.released),
            ("admission.waits", expected.waits.0),
            ("admission.longest_wait", expected.waits.1),
            ("reservation.requests", reserved.requests),
            ("reservation.begun", reserved.begun),
            ("reservation.waits", reserved.waits.0),
            ("reservation.longest_wait", reserved.waits.1),
        ]
        .map(|(name, count)| (String::from(name), count))
        .into();
        for (class, requests) in expected.requests.iter().enumerate() {
            all.push((format!("admission.requests.{class}"), *requests));
        }
        for (class, admitted) in expected.admitted.iter().enumerate() {
            all.push((format!("admission.admitted.{class}"), *admitted));
        }
        for (name, expected) in all {
            let found = found.counts.get(&*name).copied().unwrap_or(0);
            self.same(&name, &expected, &found);
        }
        let end = found.counts.get("admission.end").copied();
        self.same("admission.end", &expected.end, &end);
    }

    /// D57: counted where a class is bounded.
    fn held(&mut self, expected: u64, found: &Records) {
        let found = found.counts.get("control.held").copied().unwrap_or(0);
        self.same("control.held", &expected, &found);
    }

    /// D67: where no class sets up there are none of them.
    fn set_ups(&mut self, expected: SetUpCounts, found: &Records) {
        for (name, expected) in [
            ("set_up.full", expected.full),
            ("set_up.entries_most", expected.entries_most),
            ("set_up.entries", expected.entries),
            ("set_up.weight", expected.weight),
        ] {
            let found = found.counts.get(name).copied().unwrap_or(0);
            self.same(name, &expected, &found);
        }
    }

    /// D72: where nobody looks there are no claims; waits are counted in any fabric.
    fn claims(&mut self, expected: &ClaimCounts, found: &Records) {
        let made = found.counts.get("claims.made").copied().unwrap_or(0);
        self.same("claims.made", &expected.made, &made);
        let longest = found.counts.get("waits.longest").copied();
        self.same("waits.longest", &Some(expected.longest_wait), &longest);
    }

    /// D58: packets, where they would have left by a channel.
    fn dropped(&mut self, expected: &[u64], found: &Records) {
        for (channel, expected) in expected.iter().enumerate() {
            let lanes = found.channels.dropped(ChannelId::from(channel));
            let found: u64 = lanes.unwrap_or(&[]).iter().sum();
            self.same(&format!("drops before channel {channel}"), expected, &found);
        }
    }

    fn channels(&mut self, expected: &[Vec<u64>], found: &Records) {
        for (channel, expected) in expected.iter().enumerate() {
            let found = found.channels.lanes(ChannelId::from(channel));
            self.same(
                &format!("flits on channel {channel}, by lane"),
                &&expected[..],
                &found,
            );
        }
    }
}

impl Differences {
    /// What was counted, but for the packets of single flows and drops before channels.
    fn records(&mut self, expected: &Outcome, found: &Records) {
        let window = &expected.window;
        self.same("packet-hops", &expected.packet_hops, &found.packet_hops);
        self.same("flit-hops", &expected.flit_hops, &found.flit_hops);
        for (number, (expected, found)) in window.classes.iter().zip(&found.classes).enumerate() {
            self.class(number, expected, found);
        }
        for (number, (expected, found)) in window.hosts.iter().zip(&found.hosts).enumerate() {
            self.host(number, expected, found);
        }
        self.channels(&window.sent, found);
        self.control(&expected.control, found);
        self.admission(&expected.admission, &expected.reservations, found);
        self.held(expected.held, found);
        self.set_ups(expected.set_ups, found);
        self.claims(&expected.claims, found);
    }

    fn flows(&mut self, expected: &[FlowCounts], found: &[FlowCounts]) {
        self.same("flows", &expected.len(), &found.len());
        for (id, (expected, found)) in expected.iter().zip(found).enumerate() {
            self.same(&format!("flow {id}"), expected, found);
        }
    }
}

impl Differences {
    /// What channels have sent again (D74).
    fn repeats(&mut self, expected: &Outcome, found: &Records) {
        let count = |name| found.counts.get(name).copied().unwrap_or(0);
        let found = (count("links.repeats"), count("links.repeated_flits"));
        let expected = (expected.repeats, expected.repeated_flits);
        self.same("repeats and their flits", &expected, &found);
    }
}

/// What differs, in words, but deliveries.
pub(super) fn differences(expected: &Outcome, found: &Found) -> Vec<String> {
    let mut all = Differences(Vec::new());
    let records = &found.records;
    all.same("created", &expected.created, &found.created);
    all.same("rejected", &expected.rejected, &found.rejected);
    all.records(expected, records);
    all.flows(&expected.flows, &found.flows);
    all.repeats(expected, records);
    if let Some(most) = records.counts.get("queues.most") {
        let queued = (records.counts["queues.packet_cycles"], *most);
        all.same("packets in input queues", &expected.queued, &queued);
    }
    if let Some((plan, observed)) = &found.observed {
        observed::compare(&mut all, plan, &expected.deliveries, observed);
    }
    all.0
}

/// What differs in the counts of a whole run, in words.
pub(super) fn of_run(expected: &Outcome, found: &Records, flows: &[FlowCounts]) -> Vec<String> {
    let mut all = Differences(Vec::new());
    all.records(expected, found);
    all.dropped(&expected.window.dropped, found);
    all.repeats(expected, found);
    all.flows(&expected.flows, flows);
    all.0
}

/// Of a class, what was dropped: packets, flits, grants, tagged packets, flits in the window (D58).
type Lost = (u64, u64, u64, u64, u64);

fn expected_lost(class: &ClassCounts) -> Lost {
    (
        class.dropped.0,
        class.dropped.1,
        class.dropped_grants,
        class.tagged_dropped,
        class.window_dropped,
    )
}

fn lost(class: &LossRecord) -> Lost {
    (
        class.packets,
        class.flits,
        class.hops,
        class.tagged,
        class.window_flits,
    )
}
